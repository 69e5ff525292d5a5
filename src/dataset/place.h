// SPDX-License-Identifier: Apache-2.0
/* What a record's hash is mixed with: a good record in the wrong place is found. */
#ifndef MR_DATASET_PLACE_H
#define MR_DATASET_PLACE_H

#include <stdint.h>

static inline uint64_t mr__record_seed(uint64_t shard, uint64_t position)
{
    return shard << 32 | position;
}

#endif
