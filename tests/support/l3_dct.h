// SPDX-License-Identifier: Apache-2.0
/* What tests of L3's DCT mode share. */
#ifndef TESTS_SUPPORT_L3_DCT_H
#define TESTS_SUPPORT_L3_DCT_H

#include "check.h"

/* Recodes with this encoder, which must go without pixels; free() the bytes. `options` may be NULL. */
picture_file dct_recode(mr_encoder *with, const picture_file *from, mr_form form, const mr_encode_options *options,
                        mr_recode_report *report);

/* An L3 image from a JPEG, with `encoder`. */
picture_file dct_make(const picture_file *jpeg);

/*
 * Recodes without pixels, or says why not: what mr_encoder_recode reports when it goes through pixels. The result is
 * the codec's, the detail in `why`.
 */
int dct_try(const picture_file *jpeg, const mr_encode_options *options, char why[256]);

/* The tiles of an L3 image. */
mr_tile dct_tile(const picture_file *file, uint32_t number);

/* Makes the hashes of head and tiles right again after bytes of them were changed. */
void dct_mend(picture_file *file);

/* A tile's length in the index, of file->bytes[14] bytes. */
uint8_t *dct_length_of(picture_file *file, size_t tile);

/* Every reduction, with 1 and 3 channels, whole and in regions: the pixels of the JPEG, as its codec decodes them. */
void dct_check_pixels(const picture_file *jpeg, const picture_file *l3, uint32_t regions, uint64_t *random,
                      const char *what);

#endif
