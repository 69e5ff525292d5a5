// SPDX-License-Identifier: Apache-2.0
/* What tests of L3's pixel mode share: decoders with each set of kernels, and the reference as judge. */
#ifndef TESTS_SUPPORT_L3_CHECK_H
#define TESTS_SUPPORT_L3_CHECK_H

#include "picture.h"

/* One for each; where the processor lacks a set, its decoder has the best of the rest. */
enum { L3_KERNELS = 5 };
extern const char *const l3_kernel_names[L3_KERNELS];
extern mr_decoder *l3_decoders[L3_KERNELS];

void l3_check_setup(void);
void l3_check_teardown(void);

/* The reference decodes the file to these pixels. */
void l3_check_reference(const picture_file *file, const mr_image *wanted, const char *what);

/* All decoders do with the file what the reference does: the same pixels, or all refuse it. Whether it was taken. */
bool l3_check_agreement(const picture_file *file, const char *what);

#endif
