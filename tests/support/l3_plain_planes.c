// SPDX-License-Identifier: Apache-2.0
/* Predictors and blocks of the plain encoder: doc/format-l3.md, "Planes" to "Prefix", the other way round. */
#include "l3_plain_planes.h"

#include "picture.h"

#include <stdlib.h>
#include <string.h>

enum { CONSTANT, LIFTING, PREFIX };

typedef struct group {
    uint16_t residual[4][32];
    bool has_selectors;
    uint8_t selectors;
} group;

/* The groups of a channel in their order. */
typedef struct groups {
    const l3_plain_plane *plane;
    uint32_t selector_count; /* selectors that may be chosen: 3 or 4 */
    group *group;
    size_t count, capacity;
} groups;

static uint32_t below(const l3_plain_plane *plane, uint32_t n)
{
    return picture_random_below(plane->random, n);
}

/* --- Predictors --- */

static unsigned avg(unsigned a, unsigned b)
{
    return (a + b + 1) >> 1;
}

static int clamp(int v, int count)
{
    return v < 0 ? 0 : v >= count ? count - 1 : v;
}

static int level_side(uint32_t side, unsigned level)
{
    return (int)((side + (1u << level) - 1) >> level);
}

/* A sample of a level: every 2^level-th of the channel. */
static unsigned at(const l3_plain_plane *p, unsigned level, int x, int y)
{
    x = clamp(x, level_side(p->w, level));
    y = clamp(y, level_side(p->h, level));
    return p->samples[((size_t)y << level) * p->w + ((size_t)x << level)];
}

/* D's sample, clamped to D. */
static unsigned at_d(const l3_plain_plane *p, unsigned level, int x, int y)
{
    x = clamp(x, level_side(p->w, level) / 2);
    y = clamp(y, level_side(p->h, level) / 2);
    return at(p, level, 2 * x + 1, 2 * y + 1);
}

/* A grid: what is at (x, y), and what is predicted there with a selector. */
typedef struct grid {
    enum { GRID_BASE, GRID_D, GRID_B, GRID_C, GRID_PREFIX } what;
    unsigned level;
    int w, h;
} grid;

static unsigned sample_of(const l3_plain_plane *p, grid g, int x, int y)
{
    int right = g.what == GRID_D || g.what == GRID_B, down = g.what == GRID_D || g.what == GRID_C;
    int scale = g.what == GRID_BASE || g.what == GRID_PREFIX ? 1 : 2;
    return at(p, g.level, scale * x + right, scale * y + down);
}

static unsigned predict_base(const l3_plain_plane *p, grid g, int x, int y)
{
    if (y > 0)
        return at(p, g.level, x, y - 1);
    return x > 0 ? at(p, g.level, x - 1, 0) : 1u << (p->depth - 1);
}

static unsigned predict_lifted(const l3_plain_plane *p, grid g, int x, int y, unsigned selector)
{
    unsigned up = g.level + 1, h, v;
    int wo = level_side(p->w, g.level) / 2, ho = level_side(p->h, g.level) / 2;
    if (g.what == GRID_D)
        return avg(avg(at(p, up, x, y), at(p, up, x + 1, y + 1)), avg(at(p, up, x + 1, y), at(p, up, x, y + 1)));
    if (g.what == GRID_B) {
        h = avg(at(p, up, x, y), at(p, up, x + 1, y));
        v = ho == 0 ? h : avg(at_d(p, g.level, x, y - 1), at_d(p, g.level, x, y));
    } else {
        v = avg(at(p, up, x, y), at(p, up, x, y + 1));
        h = wo == 0 ? v : avg(at_d(p, g.level, x - 1, y), at_d(p, g.level, x, y));
    }
    return selector == 0 ? avg(h, v) : selector == 1 ? h : v;
}

static unsigned predict_prefix(const l3_plain_plane *p, int x, int y, unsigned selector)
{
    int n = y > 0 ? (int)at(p, 0, x, y - 1) : 1 << (p->depth - 1);
    int west = x > 0 ? (int)at(p, 0, x - 1, y) : n, corner = x > 0 && y > 0 ? (int)at(p, 0, x - 1, y - 1) : n;
    int slope = p->depth == 8 ? (int8_t)(n - corner) : (int16_t)(n - corner);
    int gentle = (slope - (slope & 1)) / 2;
    int predicted[4] = {n, west, west + n - corner, west + gentle};
    return (unsigned)predicted[selector];
}

static unsigned predict(const l3_plain_plane *p, grid g, int x, int y, unsigned selector)
{
    if (g.what == GRID_BASE)
        return predict_base(p, g, x, y);
    return g.what == GRID_PREFIX ? predict_prefix(p, x, y, selector) : predict_lifted(p, g, x, y, selector);
}

/* --- Groups --- */

static group *add_group(groups *list)
{
    if (list->count == list->capacity) {
        list->capacity = 2 * list->capacity + 16;
        list->group = realloc(list->group, list->capacity * sizeof *list->group);
        if (list->group == NULL)
            abort();
    }
    group *g = &list->group[list->count++];
    memset(g, 0, sizeof *g);
    return g;
}

static void make_group(groups *list, grid of, int left, int top)
{
    const l3_plain_plane *p = list->plane;
    group *g = add_group(list);
    bool wild = below(p, 2) == 0; // beyond the edges stands anything
    unsigned mask = (1u << p->depth) - 1;
    g->has_selectors = of.what != GRID_BASE && of.what != GRID_D;
    for (unsigned block = 0; g->has_selectors && block < 4; block++)
        g->selectors |= (uint8_t)(below(p, list->selector_count) << 2 * block);
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 32; x++) {
            unsigned selector = g->selectors >> 2 * (x / 8) & 3;
            unsigned residual = wild ? below(p, mask + 1) : 0;
            if (left + x < of.w && top + y < of.h)
                residual = sample_of(p, of, left + x, top + y) - predict(p, of, left + x, top + y, selector);
            g->residual[y][x] = (uint16_t)(residual & mask);
        }
}

static void make_row(groups *list, grid of, int top)
{
    for (int left = 0; top < of.h && left < of.w; left += 32)
        make_group(list, of, left, top);
}

static void make_lifting(groups *list, unsigned levels)
{
    const l3_plain_plane *p = list->plane;
    grid base = {GRID_BASE, levels, level_side(p->w, levels), level_side(p->h, levels)};
    for (int top = 0; top < base.h; top += 4)
        make_row(list, base, top);
    for (unsigned level = levels; level-- > 0;) {
        int w = level_side(p->w, level), h = level_side(p->h, level);
        for (int top = 0; top < (h + 1) / 2; top += 4) {
            make_row(list, (grid){GRID_D, level, w / 2, h / 2}, top);
            make_row(list, (grid){GRID_B, level, w / 2, (h + 1) / 2}, top);
            make_row(list, (grid){GRID_C, level, (w + 1) / 2, h / 2}, top);
        }
    }
}

static void make_prefix(groups *list)
{
    grid whole = {GRID_PREFIX, 0, (int)list->plane->w, (int)list->plane->h};
    for (int top = 0; top < whole.h; top += 4)
        make_row(list, whole, top);
}

/* --- Blocks --- */

/* Bits that grow. */
typedef struct bits {
    l3_out out;
    size_t count;
} bits;

static void put_bits(bits *to, unsigned value, unsigned count)
{
    for (unsigned i = 0; i < count; i++, to->count++) {
        if (to->count % 8 == 0)
            l3_out_number(&to->out, 0, 1);
        to->out.bytes[to->count / 8] |= (uint8_t)((value >> i & 1) << to->count % 8);
    }
}

typedef struct streams {
    const l3_plain_plane *plane;
    unsigned layers;
    bits headers, selectors, low, layer[7];
} streams;

/* One block: its width, and each number as low bits and quotient. */
typedef struct block {
    unsigned header, k;
    unsigned low[4][8], quotient[4][8];
} block;

/* Tries a header on 32 residuals of a byte. With layers, the same residual may go round 256 another way. */
static bool try_header(const streams *s, const uint8_t bytes[4][8], unsigned header, block *b)
{
    unsigned k = header > 8 ? header - 8 : header, most = header > 8 ? s->layers : 0;
    b->header = header;
    b->k = k;
    for (unsigned i = 0; i < 32; i++) {
        unsigned y = i / 8, x = i % 8;
        int r = (int8_t)bytes[y][x];
        if (header > 8)
            r += 256 * ((int)below(s->plane, 3) - 1);
        unsigned size = (unsigned)(r < 0 ? ~r : r), quotient = k == 0 ? size : size >> (k - 1);
        if (quotient > most && header > 8) { // the short way, then
            r = (int8_t)bytes[y][x];
            size = (unsigned)(r < 0 ? ~r : r);
            quotient = size >> (k - 1);
        }
        if (quotient > most || (k == 0 && r != 0))
            return false;
        unsigned small = k == 0 ? 0 : size & ((1u << (k - 1)) - 1);
        b->low[y][x] = (r < 0 ? ~small : small) & ((1u << k) - 1);
        b->quotient[y][x] = quotient;
    }
    return true;
}

static void choose_block(const streams *s, const group *g, unsigned number, bool high, block *b)
{
    uint8_t bytes[4][8];
    for (unsigned i = 0; i < 32; i++) {
        unsigned r = g->residual[i / 8][8 * number + i % 8], carry = r & 0x80;
        bytes[i / 8][i % 8] = (uint8_t)(high ? (r + (carry << 1)) >> 8 : r);
    }
    unsigned least = 0;
    while (!try_header(s, bytes, least, b))
        least++; // 8 always does
    unsigned tries = s->layers != 0 ? below(s->plane, 6) : 0;
    for (unsigned i = 0; i < tries; i++)
        if (try_header(s, bytes, 9 + below(s->plane, 7), b))
            return;
    unsigned wider = below(s->plane, 4) == 0 ? below(s->plane, 9 - least) : 0;
    (void)try_header(s, bytes, least + wider, b);
}

static unsigned count_ones(const block *b)
{
    unsigned ones = 0;
    for (unsigned i = 0; b->header > 8 && i < 32; i++)
        ones += b->quotient[i / 8][i % 8] > 0;
    return ones;
}

static void put_block(streams *s, const block *b)
{
    static const unsigned rows[4] = {0, 2, 1, 3};
    put_bits(&s->headers, b->header, 4);
    for (unsigned i = 0; i < 32; i++)
        put_bits(&s->low, b->low[rows[i / 8]][i % 8], b->k);
    for (unsigned j = 1; b->header > 8 && j <= s->layers; j++)
        for (unsigned i = 0; i < 32; i++)
            if (b->quotient[i % 4][i / 4] >= j - 1)
                put_bits(&s->layer[j], b->quotient[i % 4][i / 4] >= j, 1);
}

static void put_pair(streams *s, const group *g, unsigned pair, bool high)
{
    block b[2];
    do {
        choose_block(s, g, 2 * pair, high, &b[0]);
        choose_block(s, g, 2 * pair + 1, high, &b[1]);
    } while (count_ones(&b[0]) + count_ones(&b[1]) > 57);
    put_block(s, &b[0]);
    put_block(s, &b[1]);
}

/* One plane; its length goes to `entry`. */
static void put_plane(const groups *list, unsigned layers, bool high, l3_out *entry, l3_out *body)
{
    streams s = {.plane = list->plane, .layers = layers};
    size_t start = body->nbytes;
    for (size_t i = 0; i < list->count; i++) {
        put_pair(&s, &list->group[i], 0, high);
        put_pair(&s, &list->group[i], 1, high);
        if (list->group[i].has_selectors && !high)
            put_bits(&s.selectors, list->group[i].selectors, 8);
    }
    for (unsigned j = 2; j <= layers; j++)
        l3_out_number(body, s.layer[j].out.nbytes, 2);
    bits *parts[9] = {&s.headers, &s.selectors, &s.low};
    for (unsigned j = 1; j <= 6; j++)
        parts[j + 2] = &s.layer[j];
    for (unsigned i = 0; i < 9; i++) {
        l3_out_bytes(body, parts[i]->out.bytes, parts[i]->out.nbytes);
        free(parts[i]->out.bytes);
    }
    l3_out_number(entry, body->nbytes - start, 3);
}

static bool is_constant(const l3_plain_plane *plane)
{
    for (size_t i = 1; i < (size_t)plane->w * plane->h; i++)
        if (plane->samples[i] != plane->samples[0])
            return false;
    return true;
}

void l3_plain_channel(const l3_plain_plane *plane, l3_out *entry, l3_out *body)
{
    if (is_constant(plane) && below(plane, 2) == 0) {
        l3_out_number(entry, CONSTANT, 1);
        l3_out_number(entry, plane->depth / 8, 3);
        l3_out_number(entry, 0, plane->depth == 16 ? 3 : 0);
        l3_out_number(body, plane->samples[0], plane->depth / 8);
        return;
    }
    bool lifts = below(plane, 3) != 0;
    unsigned layers = below(plane, 3), levels = lifts ? 1 + below(plane, 5) : 0;
    groups list = {.plane = plane, .selector_count = lifts ? 3 : 4};
    if (lifts)
        make_lifting(&list, levels);
    else
        make_prefix(&list);
    l3_out_number(entry, (lifts ? LIFTING : PREFIX) | layers << 2 | levels << 4, 1);
    put_plane(&list, 3 * layers, false, entry, body);
    if (plane->depth == 16)
        put_plane(&list, 3 * layers, true, entry, body);
    free(list.group);
}
