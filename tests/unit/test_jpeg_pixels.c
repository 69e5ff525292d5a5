// SPDX-License-Identifier: Apache-2.0
/* The kernels of the JPEG back end: the best that this processor has against portable C, on all kinds of input. */
#include "test.h"

#include "kernel/jpeg_pixels.h"
#include "picture.h"

#include <stdlib.h>
#include <string.h>

static mr__jpeg_pixels portable, best;
static uint64_t seed = 1;

static int open_kernels(void **state)
{
    (void)state;
    mr__jpeg_pixels_init(&portable, 0);
    mr__jpeg_pixels_init(&best, mr__cpu_detect());
    return 0;
}

static uint32_t below(uint32_t n)
{
    return picture_random_below(&seed, n);
}

typedef enum taste { TAME, SPARSE, LARGE, WILD, EXTREME, TASTES } taste;

static int16_t coefficient(taste t)
{
    static const int16_t extremes[] = {-32768, -32767, -8193, -8192, -8191, -1, 0, 1, 8191, 8192, 32766, 32767};
    switch (t) {
    case TAME:
        return (int16_t)((int32_t)below(201) - 100);
    case SPARSE:
        return below(20) == 0 ? (int16_t)((int32_t)below(2001) - 1000) : 0;
    case LARGE: // as far as the fast way goes
        return (int16_t)((int32_t)below(16383) - 8191);
    case WILD:
        return (int16_t)picture_random(&seed);
    default:
        return extremes[below(sizeof extremes / sizeof *extremes)];
    }
}

/* Masks of bands: all, low corners, single rows and columns, none, noise. */
static uint64_t random_bands(void)
{
    static const uint64_t masks[] = {UINT64_MAX, 0x0f0f0f0f, 0xff,       0x0101010101010101, 1,   0,
                                     0xffffffff, 0x010307,   0xf0f0f0f0, 0x8080000000008001, 0x80};
    uint32_t i = below(sizeof masks / sizeof *masks + 2);
    if (i < sizeof masks / sizeof *masks)
        return masks[i];
    uint64_t noise = (uint64_t)picture_random(&seed) << 32 | picture_random(&seed);
    return i % 2 ? noise : noise & ((uint64_t)picture_random(&seed) << 32 | picture_random(&seed));
}

enum { OUT = 64 * 64 * 2, CANARY = 0x6b };

typedef struct idct_case {
    size_t pitch, groups, size;
    uint64_t bands;
    bool in_a_row; /* all groups side by side, or one under the other */
} idct_case;

static void run(mr__jpeg_idct *idct, const idct_case *c, const int16_t *coef, uint8_t out[OUT])
{
    int16_t *copy = aligned_alloc(64, 64 * c->pitch * sizeof *copy);
    assert_non_null(copy);
    memcpy(copy, coef, 64 * c->pitch * sizeof *copy);
    memset(out, CANARY, OUT);
    ptrdiff_t stride = (ptrdiff_t)(8 * c->size * (c->in_a_row ? c->groups : 1) + 3);
    ptrdiff_t step = c->in_a_row ? (ptrdiff_t)(8 * c->size) : (ptrdiff_t)c->size * stride;
    idct(copy, c->pitch, c->bands, c->groups, out + 5, stride, step);
    free(copy);
}

static void transforms_agree(void **state)
{
    (void)state;
    static int16_t coef[64 * 64];
    static uint8_t wanted[OUT], got[OUT];
    for (uint32_t i = 0; i < (test_quick() ? 2000 : 20000); i++) {
        size_t kind = i % 4;
        idct_case c = {.pitch = below(2) ? 64 : 16, .size = (size_t)8 >> kind, .in_a_row = below(2) != 0};
        c.groups = 1 + below((uint32_t)c.pitch / 8);
        c.bands = random_bands();
        taste t = (taste)below(TASTES), one = (taste)below(TASTES);
        for (size_t k = 0; k < 64 * c.pitch; k++)
            coef[k] = coefficient(k % 8 == i % 8 ? one : t); // one lane of another taste
        run(portable.idct[kind], &c, coef, wanted);
        run(best.idct[kind], &c, coef, got);
        if (memcmp(wanted, got, OUT) != 0)
            fail_msg("%zu x %zu, pitch %zu, %zu groups, bands %llx, taste %d: another result", c.size, c.size, c.pitch,
                     c.groups, (unsigned long long)c.bands, t);
    }
}

/* Bands that are said to be empty are not looked at, and lanes do not meet. */
static void empty_bands_and_lanes(void **state)
{
    (void)state;
    static int16_t coef[64 * 16], other[64 * 16];
    static uint8_t wanted[OUT], got[OUT];
    for (uint32_t i = 0; i < 400; i++) {
        idct_case c = {.pitch = 16, .groups = 2, .size = (size_t)8 >> i % 4, .bands = random_bands()};
        const mr__jpeg_pixels *table = i & 4 ? &portable : &best;
        for (size_t k = 0; k < 64 * 16; k++) {
            bool there = c.bands >> k / 16 & 1;
            coef[k] = there ? coefficient(SPARSE) : 0;
            other[k] = there ? coef[k] : coefficient(WILD);
        }
        run(table->idct[i % 4], &c, other, got);
        c.bands = UINT64_MAX;
        run(table->idct[i % 4], &c, coef, wanted);
        assert_memory_equal(wanted, got, OUT);
    }
}

/* Quantisers as tables have them, all the same, or any. */
static void random_quantisers(uint16_t quant[64])
{
    static const uint16_t same[] = {1, 2, 16, 255, 256, 8192, 32768, 65535};
    uint32_t kind = below(3);
    uint16_t value = same[below(sizeof same / sizeof *same)];
    for (size_t k = 0; k < 64; k++)
        quant[k] = kind == 0 ? value : (uint16_t)(kind == 1 ? 1 + below(100) : picture_random(&seed));
}

/* Where places in zigzag order lie, by walking along the diagonals. */
static void walk_zigzag(uint8_t natural[64])
{
    size_t k = 0;
    for (int d = 0; d < 15; d++)
        for (int i = 0; i <= d; i++) {
            int v = d % 2 ? i : d - i, u = d - v;
            if (v < 8 && u < 8)
                natural[k++] = (uint8_t)(8 * v + u);
        }
    assert_int_equal(k, 64);
}

/* Some lanes have a first row only: there the short cut is taken. */
static void random_strip(int16_t strip[64 * MR__JPEG_STRIP], uint32_t last, const uint8_t natural[64])
{
    taste t = (taste)below(TASTES), other = (taste)below(TASTES);
    uint32_t others = picture_random(&seed), first_row_only = below(2) ? picture_random(&seed) : 0;
    memset(strip, 0, MR__JPEG_STRIP_NBYTES);
    for (size_t k = 0; k <= last; k++)
        for (size_t i = 0; i < MR__JPEG_STRIP; i++)
            if (natural[k] < 8 || (first_row_only >> i & 1) == 0)
                strip[k * MR__JPEG_STRIP + i] = coefficient(others >> i & 1 ? other : t);
}

enum { STRIP_STRIDE = 128 + 7, STRIP_OUT = 17 * STRIP_STRIDE };

typedef struct strip_case {
    uint16_t quant[64];
    uint32_t last;
    size_t groups, kind;
    ptrdiff_t step;
} strip_case;

/* The strip must be zero afterwards. */
static void run_strip(const mr__jpeg_pixels *table, const strip_case *c, const int16_t *strip, uint8_t out[STRIP_OUT])
{
    static const int16_t zero[64 * MR__JPEG_STRIP];
    int16_t *copy = aligned_alloc(64, MR__JPEG_STRIP_NBYTES);
    assert_non_null(copy);
    memcpy(copy, strip, MR__JPEG_STRIP_NBYTES);
    memset(out, CANARY, STRIP_OUT);
    table->strip[c->kind](copy, c->quant, c->last, c->groups, out + 5, STRIP_STRIDE, c->step);
    assert_memory_equal(copy, zero, MR__JPEG_STRIP_NBYTES);
    free(copy);
}

/* What the transform of units makes of it, when multiplied and in natural order. */
static void run_as_unit(const strip_case *c, const int16_t *strip, const uint8_t natural[64], uint8_t out[STRIP_OUT])
{
    static _Alignas(64) int16_t coef[64 * MR__JPEG_STRIP];
    for (size_t i = 0; i < 64 * MR__JPEG_STRIP; i++) {
        size_t k = i / MR__JPEG_STRIP, lane = i % MR__JPEG_STRIP;
        coef[natural[k] * MR__JPEG_STRIP + lane] = (int16_t)((uint32_t)(uint16_t)strip[i] * c->quant[k]);
    }
    memset(out, CANARY, STRIP_OUT);
    portable.idct[c->kind](coef, MR__JPEG_STRIP, UINT64_MAX, c->groups, out + 5, STRIP_STRIDE, c->step);
}

static void strips_agree(void **state)
{
    (void)state;
    static int16_t strip[64 * MR__JPEG_STRIP];
    static uint8_t wanted[STRIP_OUT], got[2][STRIP_OUT];
    uint8_t natural[64];
    walk_zigzag(natural);
    for (uint32_t i = 0; i < (test_quick() ? 4000 : 40000); i++) {
        strip_case c = {.last = i / 8 % 64, .groups = 1 + i / 4 % 2, .kind = i % 4};
        c.step = (ptrdiff_t)(8 >> c.kind) * (i / 512 % 2 ? STRIP_STRIDE : 8); // the second group below, or beside
        random_quantisers(c.quant);
        random_strip(strip, c.last, natural);
        run_as_unit(&c, strip, natural, wanted);
        run_strip(&portable, &c, strip, got[0]);
        run_strip(&best, &c, strip, got[1]);
        for (size_t k = 0; k < 2; k++)
            if (memcmp(wanted, got[k], STRIP_OUT) != 0)
                fail_msg("strip %u: %s, form %zu, %zu groups, last %u: another result", i, k ? "best" : "portable",
                         c.kind, c.groups, c.last);
    }
}

static void blocks_are_laid(void **state)
{
    (void)state;
    static _Alignas(64) int16_t wanted[64 * MR__JPEG_STRIP], got[64 * MR__JPEG_STRIP];
    for (uint32_t i = 0; i < 3200; i++) {
        size_t count = 1 + i % MR__JPEG_STRIP;
        uint32_t end = below(65), last = 0;
        int16_t *blocks = malloc(64 * count * sizeof *blocks);
        assert_non_null(blocks);
        memset(wanted, 0, sizeof wanted);
        for (uint32_t k = 0; k < 64 * count; k++) {
            blocks[k] = k % 64 < end ? coefficient(i & 16 ? SPARSE : EXTREME) : 0;
            wanted[k % 64 * MR__JPEG_STRIP + k / 64] = blocks[k];
            last = blocks[k] != 0 && k % 64 > last ? k % 64 : last;
        }
        for (size_t k = 0; k < 2; k++) {
            memset(got, 0, sizeof got);
            assert_int_equal((k ? best : portable).lay(blocks, count, got), last);
            assert_memory_equal(got, wanted, sizeof wanted);
        }
        free(blocks);
    }
}

/* One number at a time at its bound and beyond it, at every place. */
static void blocks_are_within(void **state)
{
    (void)state;
    int16_t blocks[3 * 64];
    uint16_t most[64];
    for (uint32_t i = 0; i < 3 * 64; i++) {
        uint16_t bound = (uint16_t)(i % 5 == 0 ? INT16_MAX : below(INT16_MAX));
        const int32_t tries[] = {bound, -bound, bound + 1, -bound - 1, INT16_MIN};
        for (uint32_t n = 0; n < 3 * 64; n++) {
            most[n % 64] = n % 64 == i % 64 ? bound : (uint16_t)below(INT16_MAX);
            blocks[n] = 0;
        }
        for (size_t t = 0; t < sizeof tries / sizeof *tries; t++) {
            blocks[i] = (int16_t)tries[t];
            bool wanted = blocks[i] >= -bound && blocks[i] <= bound;
            assert_int_equal(portable.within(blocks, 3, most), wanted);
            assert_int_equal(best.within(blocks, 3, most), wanted);
            assert_true(best.within(blocks, i / 64, most) && portable.within(blocks, i / 64, most));
        }
    }
}

/* All of Cb and Cr, with the Y that clamp least and most. */
static void all_colors(void **state)
{
    (void)state;
    static const uint8_t lumas[] = {0, 1, 77, 127, 128, 200, 254, 255};
    uint8_t y[256 + MR__JPEG_SLACK], cb[256 + MR__JPEG_SLACK], cr[256 + MR__JPEG_SLACK], wanted[768], got[768];
    for (size_t k = 0; k < sizeof lumas; k++)
        for (int blue = 0; blue < 256; blue++) {
            memset(y, lumas[k], sizeof y);
            memset(cb, blue, sizeof cb);
            for (size_t i = 0; i < sizeof cr; i++)
                cr[i] = (uint8_t)i;
            portable.ycc(y, cb, cr, wanted, 256);
            best.ycc(y, cb, cr, got, 256);
            assert_memory_equal(wanted, got, 768);
        }
}

/* Rows of samples that end, slack included, where the memory ends. */
static uint8_t *noise(size_t n)
{
    static const uint8_t extremes[] = {0, 1, 127, 128, 254, 255};
    uint8_t *row = malloc(n + MR__JPEG_SLACK);
    assert_non_null(row);
    bool extreme = below(2);
    for (size_t i = 0; i < n + MR__JPEG_SLACK; i++)
        row[i] = extreme ? extremes[below(6)] : (uint8_t)below(256);
    return row;
}

/* A line of sums of n / 2 + 2 samples and the neighbours, likewise. */
static int16_t *random_sums(size_t n)
{
    size_t count = n / 2 + 4;
    int16_t *line = malloc(count * sizeof *line + MR__JPEG_SLACK);
    assert_non_null(line);
    bool extreme = below(2);
    for (size_t i = 0; i < count + MR__JPEG_SLACK / 2; i++)
        line[i] = (int16_t)(extreme ? below(2) * 1020 : below(1021));
    return line;
}

enum { ROW_MAX = 300, ROOM = 3 * ROW_MAX + 2 * MR__JPEG_SLACK };

/* Both have filled their room, of which `nbytes` count; the others may be written only by lines of the work area. */
static void compare(const uint8_t wanted[ROOM], const uint8_t got[ROOM], size_t nbytes, bool exactly, const char *what,
                    size_t n)
{
    if (memcmp(wanted, got, exactly ? ROOM : nbytes) != 0)
        fail_msg("%s, %zu: another result", what, n);
    for (size_t i = nbytes + (exactly ? 0 : MR__JPEG_SLACK); i < ROOM; i++)
        if (got[i] != CANARY)
            fail_msg("%s, %zu: writes %zu bytes too many", what, n, i - nbytes + 1);
}

#define BOTH(what, nbytes, exactly, call)                                                                              \
    do {                                                                                                               \
        const mr__jpeg_pixels *t = &portable;                                                                          \
        uint8_t *to = wanted;                                                                                          \
        memset(wanted, CANARY, ROOM);                                                                                  \
        memset(got, CANARY, ROOM);                                                                                     \
        t->call;                                                                                                       \
        t = &best;                                                                                                     \
        to = got;                                                                                                      \
        t->call;                                                                                                       \
        compare(wanted, got, nbytes, exactly, what, n);                                                                \
    } while (0)

static void rows_agree(void **state)
{
    (void)state;
    static _Alignas(64) uint8_t wanted[ROOM], got[ROOM];
    for (size_t i = 1; i <= 4 * ROW_MAX; i++) {
        size_t n = 1 + (i - 1) % ROW_MAX, odd = below(2), times = 1 + below(4), skip = below((uint32_t)times);
        mr__jpeg_bias bias = below(2) ? MR__JPEG_BIAS_H2V1 : MR__JPEG_BIAS_H2V2;
        uint8_t *a = noise(n), *b = noise(n), *c = noise(n);
        int16_t *s = random_sums(n), *z = random_sums(n);
        BOTH("sum", 2 * n, false, sum(a, b, (int16_t *)(void *)to, n));
        BOTH("quadruple", 2 * n, false, quadruple(a, (int16_t *)(void *)to, n));
        BOTH("between", n, false, between(a, b, 1 + (unsigned)odd, to, n));
        BOTH("widen", n, false, widen(s + 1, bias, odd, to, n));
        BOTH("repeat", n, false, repeat(a, times, skip, to, n));
        BOTH("ycc", 3 * n, true, ycc(a, b, c, to, n));
        BOTH("ycc_widen", 3 * n, true, ycc_widen(a, s + 1, z + 1, bias, odd, to, n));
        BOTH("interleave", 3 * n, true, interleave(a, b, c, to, n));
        BOTH("thrice", 3 * n, true, thrice(a, to, n));
        free(a);
        free(b);
        free(c);
        free(s);
        free(z);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transforms_agree), cmocka_unit_test(empty_bands_and_lanes), cmocka_unit_test(strips_agree),
        cmocka_unit_test(blocks_are_laid),  cmocka_unit_test(blocks_are_within),     cmocka_unit_test(all_colors),
        cmocka_unit_test(rows_agree),
    };
    return cmocka_run_group_tests(tests, open_kernels, NULL);
}
