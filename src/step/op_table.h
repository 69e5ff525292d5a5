// SPDX-License-Identifier: Apache-2.0
/* Ops that are tables: several of them one after the other are one look at each sample. */
#ifndef MR_STEP_OP_TABLE_H
#define MR_STEP_OP_TABLE_H

#include "kernel/color.h"
#include "step/op.h"

/* Runs so many ops, all of them tables, as one, from an image to another, or the same. */
void mr__tables_run(mr__op_tools *tools, const mr__op *ops, size_t count, const mr_image *from, const mr_image *to);

/* Puts a table on top of those of one channel, and of all. */
void mr__tables_put(mr__table_work *work, uint32_t channel, const uint8_t own[256]);
void mr__tables_put_all(mr__table_work *work, const uint8_t own[256]);

/* How often each value stands in each channel of the image, before the tables; counted once. */
void mr__tables_count(mr__table_work *work);

/* How often each value stands in a channel as the tables make it. */
void mr__tables_histogram(mr__table_work *work, uint32_t channel, uint32_t histogram[256]);

/* The least and the largest value of each channel as the tables make it. */
void mr__tables_range(mr__table_work *work, uint8_t range[3][2]);

/* The mean of Pillow's L of the image as the tables make it, rounded. */
uint8_t mr__tables_mean(mr__table_work *work);

/*
 * How many of these ops, from the first on, are the same table for every image; and what they make of all values, one
 * after the other.
 */
size_t mr__tables_known(const mr__op *ops, size_t count, uint8_t table[256]);

#endif
