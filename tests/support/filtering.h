// SPDX-License-Identifier: Apache-2.0
/* What tests of filters share: the images that goldens are of, and ops run on a part of one. */
#ifndef TESTS_SUPPORT_FILTERING_H
#define TESTS_SUPPORT_FILTERING_H

#include "step/ops.h"

/* Noise (0), black and white (1), slopes (2): as tests/golden/filter_golden.py makes them. mr_image_fini it. */
mr_image filtering_picture(uint32_t width, uint32_t height, uint32_t channels, uint32_t kind);

/*
 * What an op makes of a part of an image, which it is given what it needs of, and no byte more. Its kind and parameters
 * are the caller's, and the size stays. mr_image_fini the result.
 */
mr_image filtering_part(mr__op op, const mr_image *image, mr_rect part, mr__cpu_flags cpu);
mr_image filtering_whole(mr__op op, const mr_image *image, mr__cpu_flags cpu);

/* Random parts, made with and without this processor's instructions: each is that part of the whole. */
void filtering_check_parts(mr__op op, const mr_image *image, uint64_t *seed);

/* Samples that differ from those wanted, by one; more fails. */
size_t filtering_count_near(const mr_image *got, const uint8_t *wanted);

#endif
