// SPDX-License-Identifier: Apache-2.0
/* Forward prediction, portable. */
#include "codec/l3/pixel_forward.h"

#include "base/bytes.h"
#include "codec/l3/pixel_kernels.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#define FORWARD_TARGET

#define FORWARD_NAME(x) x##_u8_c
#define SAMPLE          uint8_t
#define SIGNED          int8_t
#include "codec/l3/pixel_forward_template.h"

#define FORWARD_NAME(x) x##_u16_c
#define SAMPLE          uint16_t
#define SIGNED          int16_t
#include "codec/l3/pixel_forward_template.h"

void mr__l3_forward_init(mr__l3_forward *table, mr__cpu_flags cpu)
{
    *table = (mr__l3_forward){{lift_u8_c, lift_u16_c}, {prefix_u8_c, prefix_u16_c}};
    mr__l3_forward_init_avx2(table, cpu);
}

/*
 * A level takes its four arrays of a quarter each, whose rows have margins and are rounded up: at most
 * 2 * (w / 2 + 128) * (h / 2 + 1) * 2 samples, and the levels below a half of what is above them at most.
 */
size_t mr__l3_forward_work_nbytes(unsigned w, unsigned h, unsigned sample_nbytes)
{
    size_t samples = 0;
    size_t rows = 16 * ((size_t)w + 64 + MR__L3_FORWARD_MARGIN) + 4 * ((size_t)w + 128);
    for (unsigned i = 0; i < MR__L3_LEVEL_MAX; i++) {
        unsigned we = (w + 1) / 2, he = (h + 1) / 2;
        samples += 4 * ((size_t)we + 2 * MR__L3_FORWARD_MARGIN + 32) * he;
        w = we;
        h = he;
    }
    return (samples + rows) * sample_nbytes + 64;
}

size_t mr__l3_forward_groups_max(unsigned w, unsigned h)
{
    size_t groups = 0;
    for (unsigned i = 0; i < MR__L3_LEVEL_MAX; i++) {
        w = (w + 1) / 2;
        h = (h + 1) / 2;
        groups += 3 * (((size_t)w + 31) / 32) * (((size_t)h + 3) / 4);
    }
    return groups + (((size_t)w + 31) / 32) * (((size_t)h + 3) / 4);
}
