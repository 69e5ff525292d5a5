// SPDX-License-Identifier: Apache-2.0
/* Every processor's kernels of L3's pixel mode give the portable ones' bytes, on noise and at every edge. */
#include "test.h"

#include "codec/l3/pixel_kernels.h"
#include "cpu/cpu.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 400, GROUPS_MAX = 48, ROWS_MAX = 32, SELECTORS = 64 };

static const char *const levels[] = {"avx2-slowpdep", "avx2", "avx512", "neon"};

static uint32_t draw(uint64_t *seed, uint32_t below)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33) % below;
}

static void fill(uint8_t *bytes, size_t nbytes, uint64_t *seed)
{
    bool extreme = draw(seed, 3) == 0;
    for (size_t i = 0; i < nbytes; i++)
        bytes[i] = (uint8_t)(extreme ? 127 + draw(seed, 3) : draw(seed, 256));
}

/* Rows with the room that kernels may use around them, and not a byte more: a sanitizer sees who leaves it. */
typedef struct arena {
    uint8_t *row[ROWS_MAX];
    size_t count;
} arena;

static void *row_new(arena *a, size_t w, size_t size, uint64_t *seed)
{
    size_t inside = (w + MR__L3_GROUP_W - 1) / MR__L3_GROUP_W * MR__L3_GROUP_W * size;
    size_t all = MR__L3_ROW_BEFORE + inside + MR__L3_ROW_BEHIND;
    uint8_t *room = aligned_alloc(32, all);
    assert_non_null(room);
    assert_true(a->count < ROWS_MAX);
    fill(room, all, seed);
    a->row[a->count++] = room;
    return room + MR__L3_ROW_BEFORE;
}

static void arena_free(arena *a)
{
    while (a->count > 0)
        free(a->row[--a->count]);
}

/* Runs `body` for each instruction set that this processor has, beside the portable kernels. */
typedef void comparison(const mr__l3_pixel_kernels *c, const mr__l3_pixel_kernels *variant, uint64_t *seed);

static void compare(comparison *body)
{
    mr__l3_pixel_kernels c, variant;
    mr__l3_pixel_kernels_init_c(&c);
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        mr__cpu_flags mask;
        uint64_t seed = 1;
        assert_true(mr__cpu_mask_from_text(levels[i], &mask));
        mr__l3_pixel_kernels_init(&variant, mr__cpu_detect() & mask);
        for (unsigned round = 0; round < ROUNDS; round++)
            body(&c, &variant, &seed);
    }
}

typedef struct streams {
    uint8_t headers[2 * GROUPS_MAX];
    uint8_t low[GROUPS_MAX * 128 + MR__L3_STREAM_SLACK];
    uint8_t masks[GROUPS_MAX * 16 + MR__L3_STREAM_SLACK];
    uint8_t layer[MR__L3_LAYER_MAX + 1][GROUPS_MAX * 16 + MR__L3_STREAM_SLACK];
} streams;

static mr__l3_stream streams_fill(streams *s, bool layered, uint64_t *seed)
{
    fill((uint8_t *)s, sizeof *s, seed);
    bool sparse = draw(seed, 2);
    for (size_t i = 0; i < sizeof s->headers; i++)
        s->headers[i] = layered ? (uint8_t)draw(seed, 256) : (uint8_t)(draw(seed, 9) | draw(seed, 9) << 4);
    for (size_t i = 0; sparse && i < sizeof s->masks; i++)
        s->masks[i] &= (uint8_t)draw(seed, 256);
    mr__l3_stream stream = {.headers = s->headers, .low = s->low, .masks = s->masks};
    for (unsigned j = 2; j <= MR__L3_LAYER_MAX; j++) {
        stream.layer[j] = s->layer[j];
        stream.at[j] = draw(seed, 64);
    }
    return stream;
}

static void compare_groups(const mr__l3_pixel_kernels *c, const mr__l3_pixel_kernels *variant, uint64_t *seed)
{
    static streams s;
    for (unsigned kind = 0; kind < 3; kind++) {
        mr__l3_stream start = streams_fill(&s, kind != 0, seed), ends[2] = {start, start};
        unsigned count = 1 + draw(seed, GROUPS_MAX);
        size_t pitch = MR__L3_GROUP_W * (count + draw(seed, 3));
        arena a = {.count = 0};
        uint8_t *rows[2] = {row_new(&a, 4 * pitch, 1, seed), row_new(&a, 4 * pitch, 1, seed)};
        c->groups[kind](&ends[0], count, rows[0], pitch);
        variant->groups[kind](&ends[1], count, rows[1], pitch);
        for (unsigned y = 0; y < MR__L3_BLOCK_H; y++)
            assert_memory_equal(rows[0] + y * pitch, rows[1] + y * pitch, MR__L3_GROUP_W * count);
        assert_ptr_equal(ends[0].headers, ends[1].headers);
        assert_ptr_equal(ends[0].low, ends[1].low);
        assert_ptr_equal(ends[0].masks, ends[1].masks);
        assert_memory_equal(ends[0].at, ends[1].at, sizeof start.at);
        assert_int_equal(ends[0].crowd & MR__L3_CROWDED, ends[1].crowd & MR__L3_CROWDED);
        arena_free(&a);
    }
}

static void groups(void **state)
{
    (void)state;
    compare(compare_groups);
}

/* A mask with more ones than a load can serve is noticed, whichever pair it is in. */
static void crowds(void **state)
{
    (void)state;
    static streams s;
    mr__l3_pixel_kernels table;
    mr__l3_pixel_kernels_init(&table, mr__cpu_detect());
    uint64_t seed = 5;
    for (unsigned pair = 0; pair < 8; pair++) {
        for (unsigned ones = 56; ones <= 64; ones++) {
            mr__l3_stream stream = streams_fill(&s, true, &seed);
            uint8_t rows[4 * 4 * MR__L3_GROUP_W] __attribute__((aligned(32)));
            uint64_t mask = ones == 64 ? UINT64_MAX : (UINT64_C(1) << ones) - 1;
            memset(s.headers, 0x99, sizeof s.headers);
            memset(s.masks, 0, sizeof s.masks);
            memcpy(s.masks + 8 * pair, &mask, sizeof mask);
            table.groups[1](&stream, 4, rows, sizeof rows / 4);
            assert_int_equal((stream.crowd & MR__L3_CROWDED) != 0, ones > 57);
        }
    }
}

/* What a call of lift has beside its results. */
static void lift_fill(mr__l3_lift *l, arena *a, size_t size, uint8_t *selectors, uint64_t *seed)
{
    unsigned w = 1 + draw(seed, draw(seed, 2) ? 1024 : 70);
    l->we = (w + 1) / 2;
    l->wo = w / 2;
    l->rows_b = 1 + draw(seed, draw(seed, 2) ? 4 : 1) % 4;
    if (draw(seed, 2))
        l->rows_b = 4;
    l->rows_d = l->rows_b - (draw(seed, 4) == 0);
    for (unsigned y = 0; y <= l->rows_b; y++)
        l->a[y] = y > l->rows_d ? l->a[y - 1] : row_new(a, l->we, size, seed);
    const uint8_t **residuals[] = {&l->rd, &l->rb, &l->rc, &l->hd, &l->hb, &l->hc};
    l->pitch = (l->we + 31u) / 32 * 32;
    for (unsigned i = 0; i < 6; i++)
        *residuals[i] = row_new(a, 4 * l->pitch, 1, seed);
    for (unsigned i = 0; i < SELECTORS; i++)
        selectors[i] = (uint8_t)(draw(seed, 3) | draw(seed, 3) << 2 | draw(seed, 3) << 4 | draw(seed, 3) << 6);
    l->sb = selectors;
    l->sc = selectors + SELECTORS / 2;
    l->d[0] = draw(seed, 3) == 0 ? NULL : row_new(a, l->we, size, seed);
}

static void compare_lift(const mr__l3_pixel_kernels *c, const mr__l3_pixel_kernels *variant, uint64_t *seed)
{
    for (unsigned depth = 0; depth < 2; depth++) {
        size_t size = depth + 1;
        uint8_t selectors[SELECTORS];
        arena inputs = {.count = 0}, outputs = {.count = 0}, work = {.count = 0};
        mr__l3_lift l[2];
        lift_fill(&l[0], &inputs, size, selectors, seed);
        l[1] = l[0];
        unsigned w = l[0].we + l[0].wo;
        for (unsigned v = 0; v < 2; v++) {
            for (unsigned y = 0; y < l->rows_b + l->rows_d; y++)
                l[v].to[y] = row_new(&outputs, w, size, seed);
            for (unsigned y = 1; y <= l->rows_d; y++)
                l[v].d[y] = row_new(&work, l->we, size, seed);
        }
        c->lift[depth](&l[0]);
        variant->lift[depth](&l[1]);
        for (unsigned y = 0; y < l->rows_b + l->rows_d; y++)
            assert_memory_equal(l[0].to[y], l[1].to[y], (w + 1) * size);
        if (l->rows_d != 0)
            assert_memory_equal(l[0].d[l->rows_d], l[1].d[l->rows_d], l->wo * size);
        arena_free(&inputs);
        arena_free(&outputs);
        arena_free(&work);
    }
}

static void lift(void **state)
{
    (void)state;
    compare(compare_lift);
}

static void compare_base(const mr__l3_pixel_kernels *c, const mr__l3_pixel_kernels *variant, uint64_t *seed)
{
    for (unsigned depth = 0; depth < 2; depth++) {
        unsigned w = 1 + draw(seed, 200);
        arena a = {.count = 0};
        const uint8_t *low = row_new(&a, w, 1, seed), *high = row_new(&a, w, 1, seed);
        const void *above = draw(seed, 3) == 0 ? NULL : row_new(&a, w, depth + 1, seed);
        void *to[2] = {row_new(&a, w, depth + 1, seed), row_new(&a, w, depth + 1, seed)};
        c->base[depth](above, low, high, w, to[0]);
        variant->base[depth](above, low, high, w, to[1]);
        assert_memory_equal(to[0], to[1], (w + 1) * (depth + 1));
        arena_free(&a);
    }
}

static void base(void **state)
{
    (void)state;
    compare(compare_base);
}

static void compare_prefix(const mr__l3_pixel_kernels *c, const mr__l3_pixel_kernels *variant, uint64_t *seed)
{
    for (unsigned depth = 0; depth < 2; depth++) {
        uint8_t selectors[SELECTORS];
        arena a = {.count = 0};
        mr__l3_prefix p[2] = {{.w = 1 + draw(seed, draw(seed, 2) ? 1024 : 70), .rows = 1 + draw(seed, 4)}};
        size_t size = depth + 1;
        fill(selectors, sizeof selectors, seed);
        p->s = selectors;
        p->pitch = (p->w + 31u) / 32 * 32;
        p->r = row_new(&a, 4 * p->pitch, 1, seed);
        p->h = row_new(&a, 4 * p->pitch, 1, seed);
        p->above = draw(seed, 3) == 0 ? NULL : row_new(&a, p->w, size, seed);
        p[1] = p[0];
        for (unsigned i = 0; i < 2 * p->rows; i++)
            p[i % 2].to[i / 2] = row_new(&a, p->w, size, seed);
        c->prefix[depth](&p[0]);
        variant->prefix[depth](&p[1]);
        for (unsigned y = 0; y < p->rows; y++)
            assert_memory_equal(p[0].to[y], p[1].to[y], (p->w + 1) * size);
        arena_free(&a);
    }
}

static void prefix(void **state)
{
    (void)state;
    compare(compare_prefix);
}

static void compare_pack_of(const mr__l3_pixel_kernels *c, const mr__l3_pixel_kernels *variant, unsigned depth,
                            unsigned channels, uint64_t *seed)
{
    unsigned n = 1 + draw(seed, draw(seed, 2) ? 1024 : 70), first = draw(seed, 40);
    size_t nbytes = (size_t)n * channels * (depth + 1);
    for (unsigned green = 0; green <= (channels >= 3); green++) {
        arena a = {.count = 0};
        const void *channel[4] = {NULL};
        for (unsigned i = 0; i < channels; i++)
            channel[i] = (uint8_t *)row_new(&a, n + first, depth + 1, seed) + first * (depth + 1);
        uint8_t *to[2] = {malloc(nbytes), malloc(nbytes + 1)};
        to[1][nbytes] = 0x5a;
        c->pack[depth][channels][green](channel, n, to[0]);
        variant->pack[depth][channels][green](channel, n, to[1]);
        assert_memory_equal(to[0], to[1], nbytes);
        assert_int_equal(to[1][nbytes], 0x5a);
        free(to[0]);
        free(to[1]);
        arena_free(&a);
    }
}

static void compare_pack(const mr__l3_pixel_kernels *c, const mr__l3_pixel_kernels *variant, uint64_t *seed)
{
    for (unsigned depth = 0; depth < 2; depth++)
        for (unsigned channels = 1; channels <= 4; channels++)
            compare_pack_of(c, variant, depth, channels, seed);
}

static void pack(void **state)
{
    (void)state;
    compare(compare_pack);
}

static void compare_remap(const mr__l3_pixel_kernels *c, const mr__l3_pixel_kernels *variant, uint64_t *seed)
{
    for (unsigned depth = 0; depth < 2; depth++) {
        unsigned n = 1 + draw(seed, draw(seed, 2) ? 1024 : 70), first = draw(seed, 40);
        size_t size = depth + 1, skip = first * size;
        arena a = {.count = 0};
        mr__l3_remap remap = {.count = 1 + draw(seed, 256), .first = draw(seed, 65536), .step = draw(seed, 65536)};
        fill(remap.value, remap.count, seed);
        uint8_t *from = row_new(&a, n + first, size, seed), *green = row_new(&a, n + first, size, seed);
        bool has_green = draw(seed, 2), outside = draw(seed, 3) == 0;
        for (size_t i = 0; depth == 0 && i < n; i++)
            from[skip + i] = (uint8_t)(draw(seed, remap.count) - (has_green ? green[skip + i] - 128u : 0));
        if (outside) // one sample, at any place, may be beyond the values
            from[skip + draw(seed, n)]++;
        void *to[2] = {row_new(&a, n, size, seed), row_new(&a, n, size, seed)};
        bool good = c->remap[depth](from + skip, has_green ? green + skip : NULL, n, &remap, to[0]);
        assert_int_equal(variant->remap[depth](from + skip, has_green ? green + skip : NULL, n, &remap, to[1]), good);
        if (good)
            assert_memory_equal(to[0], to[1], n * size);
        arena_free(&a);
    }
}

static void remap(void **state)
{
    (void)state;
    compare(compare_remap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(groups), cmocka_unit_test(crowds), cmocka_unit_test(lift),
                                       cmocka_unit_test(base),   cmocka_unit_test(prefix), cmocka_unit_test(pack),
                                       cmocka_unit_test(remap)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
