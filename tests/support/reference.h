// SPDX-License-Identifier: Apache-2.0
/* What decode hints mean, done the plain way: everything whole, then one pixel at a time. */
#ifndef TESTS_SUPPORT_REFERENCE_H
#define TESTS_SUPPORT_REFERENCE_H

#include <millrace/codec.h>

/*
 * Makes what a decode with these hints gives of the whole stored image, where reducing is averaging. The region must
 * lie inside. Free `out` with mr_image_fini.
 */
void reference_decode(const mr_image *stored, uint32_t orientation, const mr_decode_hints *hints, mr_image *out);

#endif
