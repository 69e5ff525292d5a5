// SPDX-License-Identifier: Apache-2.0
/*
 * One task on a tape: from the bytes that the host has read, by a device's kernels, to its place in the batch. Where
 * the device has no kernel for what is stored, the host decodes, and the device does the rest.
 */
#ifndef MR_DEVICE_TAPE_SAMPLE_H
#define MR_DEVICE_TAPE_SAMPLE_H

#include "device/prepare.h"
#include "device/tape/decode.h"

/*
 * After mr__prepare_open. `out` is where it goes, in the batch. On success its number on the tape is in *number. On
 * failure the tape is as it was: MR_ENOMEM: it does not fit, on this tape or on any; MR_EUNSUPPORTED: the device cannot
 * do it; else the sample's own error. With detail in the task.
 */
int mr__tape_sample(mr__tape_writer *writer, mr__hands *hands, mr__errand *errand, uint64_t out, uint32_t *number);

/* Whether devices that play tapes can do this step; `doubles`: this one has numbers of 64 bits. */
bool mr__tape_takes_step(mr_step_kind step, bool doubles);

#endif
