// SPDX-License-Identifier: Apache-2.0
/*
 * The kernels of one instruction set, for every size of a pixel, out of sub_row, average_row, paeth_row and
 * paeth_two_rows, which the file that includes this has as inline functions. A constant `pixel` makes their loops
 * short.
 */
#ifndef CODEC_PNG_UNFILTER_KERNELS_H
#define CODEC_PNG_UNFILTER_KERNELS_H

#define UNFILTER_KERNELS_OF(pixel, isa, target)                                                                        \
    target static void sub##pixel##_u8_##isa(uint8_t *to, const uint8_t *from, const uint8_t *above, size_t nbytes)    \
    {                                                                                                                  \
        (void)above;                                                                                                   \
        sub_row(to, from, nbytes, pixel);                                                                              \
    }                                                                                                                  \
    target static void average##pixel##_u8_##isa(uint8_t *to, const uint8_t *from, const uint8_t *above,               \
                                                 size_t nbytes)                                                        \
    {                                                                                                                  \
        average_row(to, from, above, nbytes, pixel);                                                                   \
    }                                                                                                                  \
    target static void paeth##pixel##_u8_##isa(uint8_t *to, const uint8_t *from, const uint8_t *above, size_t nbytes)  \
    {                                                                                                                  \
        paeth_row(to, from, above, nbytes, pixel);                                                                     \
    }                                                                                                                  \
    target static void paeth_pair##pixel##_u8_##isa(uint8_t *const to[], const uint8_t *const from[],                  \
                                                    const uint8_t *above, size_t nbytes)                               \
    {                                                                                                                  \
        paeth_two_rows(to, from, above, nbytes, pixel);                                                                \
    }                                                                                                                  \
    target static void paeth_quad##pixel##_u8_##isa(uint8_t *const to[], const uint8_t *const from[],                  \
                                                    const uint8_t *above, size_t nbytes)                               \
    {                                                                                                                  \
        paeth_two_rows(to, from, above, nbytes, pixel);                                                                \
        paeth_two_rows(to + 2, from + 2, to[1], nbytes, pixel);                                                        \
    }

/* `target` is the attribute that lets the compiler use the instruction set; it may be empty. */
#define UNFILTER_KERNELS(isa, target)                                                                                  \
    UNFILTER_KERNELS_OF(1, isa, target)                                                                                \
    UNFILTER_KERNELS_OF(2, isa, target)                                                                                \
    UNFILTER_KERNELS_OF(3, isa, target)                                                                                \
    UNFILTER_KERNELS_OF(4, isa, target)                                                                                \
    UNFILTER_KERNELS_OF(6, isa, target)                                                                                \
    UNFILTER_KERNELS_OF(8, isa, target)

#define UNFILTER_FILL_OF(table, pixel, isa)                                                                            \
    (table)->sub[pixel] = sub##pixel##_u8_##isa;                                                                       \
    (table)->average[pixel] = average##pixel##_u8_##isa;                                                               \
    (table)->paeth[pixel] = paeth##pixel##_u8_##isa;                                                                   \
    (table)->paeth_pair[pixel] = paeth_pair##pixel##_u8_##isa;                                                         \
    (table)->paeth_quad[pixel] = paeth_quad##pixel##_u8_##isa

/* All of them into the table, and `up`, which does not depend on the pixel. */
#define UNFILTER_FILL(table, isa)                                                                                      \
    do {                                                                                                               \
        (table)->up = up_u8_##isa;                                                                                     \
        UNFILTER_FILL_OF(table, 1, isa);                                                                               \
        UNFILTER_FILL_OF(table, 2, isa);                                                                               \
        UNFILTER_FILL_OF(table, 3, isa);                                                                               \
        UNFILTER_FILL_OF(table, 4, isa);                                                                               \
        UNFILTER_FILL_OF(table, 6, isa);                                                                               \
        UNFILTER_FILL_OF(table, 8, isa);                                                                               \
    } while (0)

#endif
