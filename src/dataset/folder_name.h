// SPDX-License-Identifier: Apache-2.0
/* Names as Python orders them, and which of them are images. */
#ifndef MR_DATASET_FOLDER_NAME_H
#define MR_DATASET_FOLDER_NAME_H

#include <millrace/codec.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Below 0, 0 or above it: by code point, as Python compares the str that it makes of file names. For UTF-8 that is the
 * order of bytes; a byte that is not UTF-8 counts as U+DC80 to U+DCFF (PEP 383).
 */
int mr__name_compare(const char *a, const char *b);

typedef int mr__name_order(const void *context, uint32_t a, uint32_t b);

/* Sorts `items` in place, equal ones as they stand; `spare` has room for as many. */
void mr__name_sort(uint32_t *items, uint32_t *spare, size_t count, mr__name_order *order, const void *context);

/* By its ending: torchvision's IMG_EXTENSIONS, l3 and those of raw, in any case. *form is a guess, or MR_FORM_NONE. */
bool mr__name_is_image(const char *name, mr_form *form);

#endif
