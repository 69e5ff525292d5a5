// SPDX-License-Identifier: Apache-2.0
/* Memory that ends, or begins, at a page that cannot be touched: what reads or writes beyond it does not go unseen. */
#ifndef TESTS_SUPPORT_GUARD_H
#define TESTS_SUPPORT_GUARD_H

#include <millrace/image.h>

typedef struct guard {
    uint8_t *map;
    size_t nbytes;
} guard;

/* A copy of the bytes whose last one is the last of its page. */
const uint8_t *guard_bytes(guard *g, const void *bytes, size_t nbytes);

/* Pixels of the shape of `like`: each row ends at such a page, or, with `at_start`, begins behind one. */
mr_image guard_image(guard *g, const mr_image *like, bool at_start);

void guard_free(guard *g);

#endif
