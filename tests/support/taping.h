// SPDX-License-Identifier: Apache-2.0
/* What a device's kernels make of images and recipes, beside what the host makes of them. */
#ifndef TESTS_SUPPORT_TAPING_H
#define TESTS_SUPPORT_TAPING_H

#include "playing.h"

typedef playing_play taping_play;
typedef playing taping;

/*
 * Runs a recipe on an image as mr_applier does, and by kernels; the test fails where a byte differs, or where the tape
 * cannot be written. Returns false when the host refuses the image (too small for the recipe), and then nothing is
 * compared.
 */
bool taping_recipe(const taping *how, const char *recipe, const mr_image *image, uint64_t key);

/* Decodes a region (all zero: the whole) by kernels, and compares with the host's decoder. False: MR_EUNSUPPORTED. */
bool taping_decode(const taping *how, const void *bytes, size_t nbytes, mr_rect region);

/* The same, of bytes that are damaged: nothing is compared where the host says no; then the kernels must have too. */
void taping_damaged(const taping *how, const void *bytes, size_t nbytes);

/* Runs ops, whose parts are set, on the pixels of ops[0].from: as mr__ops_run does, and by kernels. */
void taping_ops(const taping *how, const mr__op *ops, size_t count, const mr_image *image);

/* Turns and converts an image as mr_image_orient (0: not at all) and mr_image_convert do, and by kernels. */
void taping_convert(const taping *how, const mr_image *image, uint32_t orientation, uint32_t channels);

#endif
