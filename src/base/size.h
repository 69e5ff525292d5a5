// SPDX-License-Identifier: Apache-2.0
/* Checked arithmetic on sizes that come from outside. Each returns false, and writes nothing, where the result does not
 * fit. */
#ifndef MR_BASE_SIZE_H
#define MR_BASE_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool mr__size_add(size_t a, size_t b, size_t *sum)
{
    if (a > SIZE_MAX - b)
        return false;
    *sum = a + b;
    return true;
}

static inline bool mr__size_mul(size_t a, size_t b, size_t *product)
{
    if (b != 0 && a > SIZE_MAX / b)
        return false;
    *product = a * b;
    return true;
}

/* a * b + c */
static inline bool mr__size_mul_add(size_t a, size_t b, size_t c, size_t *result)
{
    size_t product;
    return mr__size_mul(a, b, &product) && mr__size_add(product, c, result);
}

static inline uint32_t mr__ceil_div(uint32_t a, uint32_t b)
{
    return a / b + (a % b != 0);
}

#endif
