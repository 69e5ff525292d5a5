// SPDX-License-Identifier: Apache-2.0
/* What is checked of every form: each uses `decoder` of handles.h, and fails the test with a word. */
#ifndef TESTS_SUPPORT_CHECK_H
#define TESTS_SUPPORT_CHECK_H

#include "handles.h"

/* Both are refused with this code and a detail that has `part` in it, and write nothing. */
void check_refused(const picture_file *file, const mr_decode_hints *hints, int code, const char *part);
void check_not_encoded(mr_encoder *with, const mr_image *image, const mr_encode_options *options, int code,
                       const char *part);

/* A decode with these hints (or NULL) is `wanted`. */
void check_decode(const picture_file *file, const mr_decode_hints *hints, const mr_image *wanted, const char *what);

/* A decode with these hints is that part of `whole`; `what` says which file it is. */
void check_region(const picture_file *file, mr_decode_hints hints, mr_rect region, const mr_image *whole,
                  const char *what);

/* Every region there is, with no other hint; for small images. */
void check_every_region(const picture_file *file, const mr_image *whole);

/* Every number of channels and every depth is what mr_image_convert makes of the `natural` pixels. */
void check_conversions(const picture_file *file, const mr_image *natural, const char *what);

/* A decode into rows with gaps, upright and upside down, gives `wanted` and leaves all around it as it was. */
void check_target(const picture_file *file, const mr_decode_hints *hints, const mr_image *wanted);

/* The file tells this orientation and has this profile (NULL: none), without a warning. */
void check_metadata(const picture_file *file, uint32_t orientation, const void *icc, size_t icc_nbytes);

/* Once a decoder has decoded a file, it takes no memory to do it again nor to read its header, and frees all it took.
 */
void check_memory_is_kept(const picture_file *file, const mr_decode_hints *hints);

#endif
