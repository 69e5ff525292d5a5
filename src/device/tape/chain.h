// SPDX-License-Identifier: Apache-2.0
/* From pixels in an arena through a chain to a sample's place in its batch: orders for passes and ops. */
#ifndef MR_DEVICE_TAPE_CHAIN_H
#define MR_DEVICE_TAPE_CHAIN_H

#include "device/tape/tape.h"
#include "step/axis_cache.h"
#include "step/finish.h"

/* What whoever writes tapes keeps between samples. */
typedef struct mr__tape_writer {
    const mr_hooks *hooks;
    mr__tape *tape;
    mr__finisher finisher; /* whose tables are sent with each tape */
    mr__resample kernels;
    mr__axis_cache axes;
    mr__finish finish;
    bool has_table;
    uint32_t table; /* its place in the tape at hand; 0: samples stay as they are */
    uint64_t out;   /* where the sample at hand goes, in the batch */
} mr__tape_writer;

/* `hooks`, `tape` stay. It stays in its place, too. All zero before. */
void mr__tape_writer_init(mr__tape_writer *writer, const mr_hooks *hooks, mr__tape *tape, const mr__finish *finish);
void mr__tape_writer_fini(mr__tape_writer *writer);

/* Begins the tape, and puts what all its samples share. */
void mr__tape_writer_begin(mr__tape_writer *writer);

/*
 * The chain on `from`, which has the pixels of mr__pass_region(&chain->pass[0]), of the recipe's channels; into the
 * batch at writer->out. MR_ENOMEM: the tape is full. MR_EUNSUPPORTED: there is no kernel for it. With detail.
 */
int mr__tape_chain(mr__tape_writer *writer, const mr__chain *chain, mr__sheet from, mr__detail *detail);

/* A pass whose canvas stays in the arena: its sheet. */
int mr__tape_pass_between(mr__tape_writer *writer, const mr__pass *pass, mr_rect region, mr__sheet *sheet,
                          mr__detail *detail);

/*
 * One op, or several that are one (tables; augmix with its branches): how many it took of the list is in *took. Changes
 * *sheet to what it makes.
 */
int mr__tape_op(mr__tape_writer *writer, const mr__op *ops, size_t count, mr__sheet *sheet, size_t *took,
                mr__detail *detail);

/* Whether there is a kernel for ops of this kind. `doubles`: the device has them. */
bool mr__tape_takes_op(mr__op_kind kind, bool doubles);

/* Erasing in finished numbers, at writer->out. */
int mr__tape_erase_finished(mr__tape_writer *writer, const mr__erase *erase, mr__detail *detail);

#endif
