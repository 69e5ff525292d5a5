// SPDX-License-Identifier: Apache-2.0
#ifndef MR_DATASET_CIFAR_H
#define MR_DATASET_CIFAR_H

#include "base/error.h"
#include "base/memory.h"
#include "cpu/cpu.h"

#include <stdint.h>

enum {
    MR__CIFAR_SIDE = 32,
    MR__CIFAR_NBYTES = 3 * MR__CIFAR_SIDE * MR__CIFAR_SIDE, /* planes of red, green and blue */
};

/*
 * What a record that is `planar` stores, as an image that decoders read: the raw form (doc/format-raw.md), interleaved.
 * *nbytes are in out->bytes then. MR_ENOMEM.
 */
int mr__cifar_wrap(const uint8_t planes[MR__CIFAR_NBYTES], mr__cpu_flags cpu, const mr_hooks *hooks, mr__buffer *out,
                   size_t *nbytes);

#endif
