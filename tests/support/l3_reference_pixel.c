// SPDX-License-Identifier: Apache-2.0
/* doc/format-l3.md, "Pixel mode", in its order. */
#include "l3_reference.h"

#include <lz4.h>
#include <stdlib.h>
#include <string.h>

/* A tile on its way, and a channel of it. */
typedef struct tile {
    l3_bytes bytes;
    unsigned w, h, channels, depth;
    uint16_t *to;
} tile;

enum { CONSTANT, LIFTING, PREFIX };

/* 4 rows of 32 residuals. */
typedef uint8_t group[4][32];

typedef struct channel {
    unsigned w, h, depth;
    unsigned predictor, layers, levels;
    size_t groups, chosen; /* how many, and of how many of them there are selectors */
    group *low, *high;     /* residuals */
    uint8_t *selectors;
    uint16_t *samples; /* w x h */
} channel;

static unsigned ceil_div(unsigned a, unsigned b)
{
    return (a + b - 1) / b;
}

/* --- Residuals: groups of blocks --- */

static unsigned bit_at(l3_bytes bytes, size_t i)
{
    return i / 8 < bytes.left ? bytes.at[i / 8] >> i % 8 & 1 : 0;
}

/* The streams of a plane, and how many bits of each have been used. */
typedef struct streams {
    l3_bytes headers, low, layer[7];
    size_t used[7];
} streams;

static unsigned header_of(l3_bytes headers, size_t block)
{
    return headers.at[block / 2] >> block % 2 * 4 & 15;
}

static unsigned width_of(unsigned header)
{
    return header > 8 ? header - 8 : header;
}

static bool has_layers(unsigned header)
{
    return header > 8;
}

/* Signed numbers of k bits: rows 0 and 2, then rows 1 and 3. */
static int low_bits(l3_bytes low, size_t start, unsigned k, unsigned column, unsigned row)
{
    size_t half = start + row % 2 * 16 * k, number = row / 2 * 8 + column;
    int value = 0;
    for (unsigned i = 0; i < k; i++)
        value |= (int)bit_at(low, half + number * k + i) << i;
    return k > 0 && value >> (k - 1) != 0 ? value - (1 << k) : value;
}

/* The masks of the layers of a pair of blocks. */
static const char *read_masks(streams *s, unsigned layers, const unsigned header[2], bool mask[7][64])
{
    unsigned ones = 0;
    memset(mask, 0, 7 * sizeof *mask);
    for (unsigned i = 0; i < 64; i++)
        if (has_layers(header[i / 32])) {
            mask[1][i] = bit_at(s->layer[1], s->used[1]++) != 0;
            ones += mask[1][i];
        }
    for (unsigned j = 2; j <= layers; j++)
        for (unsigned i = 0; i < 64; i++)
            if (mask[j - 1][i])
                mask[j][i] = bit_at(s->layer[j], s->used[j]++) != 0;
    return ones > 57 ? "a mask of more than 57 ones" : NULL;
}

static const char *read_pair(streams *s, unsigned layers, size_t pair, group to)
{
    unsigned header[2] = {header_of(s->headers, 2 * pair), header_of(s->headers, 2 * pair + 1)};
    bool mask[7][64];
    const char *why = read_masks(s, layers, header, mask);
    for (unsigned block = 0; block < 2; block++) {
        unsigned k = width_of(header[block]), left = (unsigned)(pair % 2 * 16 + block * 8);
        for (unsigned row = 0; row < 4; row++)
            for (unsigned column = 0; column < 8; column++) {
                int v = low_bits(s->low, s->used[0], k, column, row), q = 0;
                for (unsigned j = 1; j <= layers; j++)
                    q += mask[j][32 * block + 4 * column + row];
                int more = q > 0 ? q << (k - 1) : 0;
                to[row][left + column] = (uint8_t)(v >= 0 ? v + more : v - more);
            }
        s->used[0] += 32 * k;
    }
    return why;
}

/* All of a stream's bits are used, and those left over in its last byte are 0. */
static bool is_used_up(l3_bytes stream, size_t used)
{
    if ((used + 7) / 8 != stream.left)
        return false;
    for (size_t i = used; i < 8 * stream.left; i++)
        if (bit_at(stream, i) != 0)
            return false;
    return true;
}

static const char *read_plane(l3_bytes plane, const channel *c, group *to, uint8_t *selectors)
{
    streams s = {0};
    size_t lengths[7] = {0}, low_nbytes = 0;
    for (unsigned j = 2; j <= c->layers; j++)
        lengths[j] = (size_t)l3_bytes_number(&plane, 2);
    s.headers = l3_bytes_part(&plane, 2 * c->groups);
    l3_bytes chosen = l3_bytes_part(&plane, selectors != NULL ? c->chosen : 0);
    if (chosen.ended)
        return "a plane shorter than its headers";
    if (selectors != NULL)
        memcpy(selectors, chosen.at, c->chosen);
    for (size_t i = 0; i < 4 * c->groups; i++) {
        unsigned header = header_of(s.headers, i);
        low_nbytes += 4 * width_of(header);
        lengths[1] += has_layers(header) ? 4 : 0;
    }
    if (c->layers == 0 && lengths[1] != 0)
        return "a block with layers in a plane without";
    s.low = l3_bytes_part(&plane, low_nbytes);
    for (unsigned j = 1; j <= 6; j++)
        s.layer[j] = l3_bytes_part(&plane, lengths[j]);
    if (plane.ended || plane.left != 0)
        return "a plane of another length";
    const char *why = NULL;
    for (size_t pair = 0; why == NULL && pair < 2 * c->groups; pair++)
        why = read_pair(&s, c->layers, pair, to[pair / 2]);
    for (unsigned j = 2; why == NULL && j <= c->layers; j++)
        if (!is_used_up(s.layer[j], s.used[j]))
            why = "a layer of another length";
    return why;
}

/* The residual in column x and row y of the grid whose group that is; x and y count from the grid's corner. */
static unsigned residual(const channel *c, size_t first, unsigned x, unsigned y)
{
    size_t number = first + x / 32;
    unsigned low = c->low[number][y % 4][x % 32];
    if (c->depth == 8)
        return low;
    return 256u * c->high[number][y % 4][x % 32] + (unsigned)(int8_t)low;
}

/* The selector of the block of column x, in the row of groups whose selectors begin at `first`. */
static unsigned selector(const channel *c, size_t first, unsigned x)
{
    return c->selectors[first + x / 32] >> x % 32 / 8 * 2 & 3;
}

/* --- Lifting --- */

static unsigned avg(unsigned a, unsigned b)
{
    return (a + b + 1) >> 1;
}

/* An array of samples; coordinates beyond it are clamped. */
typedef struct array {
    unsigned w, h;
    uint16_t *samples;
} array;

static unsigned at(array a, int x, int y)
{
    x = x < 0 ? 0 : x >= (int)a.w ? (int)a.w - 1 : x;
    y = y < 0 ? 0 : y >= (int)a.h ? (int)a.h - 1 : y;
    return a.samples[(size_t)y * a.w + (size_t)x];
}

static void set(array a, unsigned x, unsigned y, unsigned depth, unsigned value)
{
    a.samples[(size_t)y * a.w + x] = (uint16_t)(depth == 8 ? value & 255 : value);
}

/* Where a level's groups and selectors are: those of each row of groups, D's first, then B's, then C's. */
typedef struct place {
    size_t group, selector; /* the first of the level */
    unsigned groups_odd, groups_even;
    unsigned rows_d; /* of groups, of D and of C */
} place;

static size_t group_d(place p, unsigned row)
{
    return p.group + (size_t)row * (2 * p.groups_odd + p.groups_even);
}

static size_t group_b(place p, unsigned row)
{
    return group_d(p, row) + (row < p.rows_d ? p.groups_odd : 0);
}

static size_t group_c(place p, unsigned row)
{
    return group_d(p, row) + (size_t)2 * p.groups_odd;
}

static size_t selector_b(place p, unsigned row)
{
    return p.selector + (size_t)row * (p.groups_odd + p.groups_even);
}

static void lift_base(const channel *c, array base)
{
    for (unsigned y = 0; y < base.h; y++)
        for (unsigned x = 0; x < base.w; x++) {
            unsigned before = y > 0   ? at(base, (int)x, (int)y - 1)
                              : x > 0 ? at(base, (int)x - 1, 0)
                                      : 1u << (c->depth - 1);
            set(base, x, y, c->depth, before + residual(c, (size_t)(y / 4) * ceil_div(base.w, 32), x, y));
        }
}

static void lift_d(const channel *c, place p, array a, array d)
{
    for (unsigned y = 0; y < d.h; y++)
        for (unsigned x = 0; x < d.w; x++) {
            int i = (int)x, j = (int)y;
            unsigned predicted = avg(avg(at(a, i, j), at(a, i + 1, j + 1)), avg(at(a, i + 1, j), at(a, i, j + 1)));
            set(d, x, y, c->depth, predicted + residual(c, group_d(p, y / 4), x, y));
        }
}

static unsigned predict(unsigned chosen, unsigned h, unsigned v)
{
    return chosen == 0 ? avg(h, v) : chosen == 1 ? h : v;
}

static void lift_b(const channel *c, place p, array a, array d, array b)
{
    for (unsigned y = 0; y < b.h; y++)
        for (unsigned x = 0; x < b.w; x++) {
            int i = (int)x, j = (int)y;
            unsigned h = avg(at(a, i, j), at(a, i + 1, j)), v = d.h == 0 ? h : avg(at(d, i, j - 1), at(d, i, j));
            unsigned predicted = predict(selector(c, selector_b(p, y / 4), x), h, v);
            set(b, x, y, c->depth, predicted + residual(c, group_b(p, y / 4), x, y));
        }
}

static void lift_c(const channel *c, place p, array a, array d, array to)
{
    for (unsigned y = 0; y < to.h; y++)
        for (unsigned x = 0; x < to.w; x++) {
            int i = (int)x, j = (int)y;
            unsigned v = avg(at(a, i, j), at(a, i, j + 1)), h = d.w == 0 ? v : avg(at(d, i - 1, j), at(d, i, j));
            unsigned predicted = predict(selector(c, selector_b(p, y / 4) + p.groups_odd, x), h, v);
            set(to, x, y, c->depth, predicted + residual(c, group_c(p, y / 4), x, y));
        }
}

/* A level of w x h from the one below it, `a`; c->samples takes the result. `spare` has room for D, B and C. */
static void lift_level(const channel *c, place p, array a, unsigned w, unsigned h, uint16_t *spare)
{
    size_t quarter = (size_t)a.w * a.h;
    array d = {w / 2, h / 2, spare}, b = {w / 2, a.h, spare + quarter}, odd = {a.w, h / 2, spare + 2 * quarter};
    array to = {w, h, c->samples};
    lift_d(c, p, a, d);
    lift_b(c, p, a, d, b);
    lift_c(c, p, a, d, odd);
    for (unsigned y = 0; y < h; y++)
        for (unsigned x = 0; x < w; x++) {
            array from = y % 2 == 0 ? (x % 2 == 0 ? a : b) : (x % 2 == 0 ? odd : d);
            set(to, x, y, c->depth, at(from, (int)x / 2, (int)y / 2));
        }
}

static unsigned shrink(unsigned side, unsigned times)
{
    return times == 0 ? side : shrink((side + 1) / 2, times - 1);
}

/* The groups of a level, and of how many of them there are selectors. */
static place next_place(place p, unsigned w, unsigned h)
{
    unsigned rows_b = ceil_div((h + 1) / 2, 4);
    p.groups_odd = ceil_div(w / 2, 32);
    p.groups_even = ceil_div((w + 1) / 2, 32);
    p.rows_d = ceil_div(h / 2, 4);
    size_t b = (size_t)rows_b * p.groups_odd, cc = (size_t)p.rows_d * p.groups_even;
    p.group += (size_t)p.rows_d * p.groups_odd + b + cc;
    p.selector += b + cc;
    return p;
}

static const char *lift(const channel *c)
{
    unsigned w = shrink(c->w, c->levels), h = shrink(c->h, c->levels);
    for (size_t i = 0; i < 4 * c->chosen; i++)
        if ((c->selectors[i / 4] >> i % 4 * 2 & 3) == 3)
            return "a selector of 3";
    size_t quarter = (size_t)shrink(c->w, 1) * shrink(c->h, 1);
    uint16_t *spare = malloc(4 * quarter * sizeof *spare);
    if (spare == NULL)
        return "memory";
    array a = {w, h, c->samples};
    place p = {.group = (size_t)ceil_div(w, 32) * ceil_div(h, 4)};
    lift_base(c, a);
    for (unsigned level = c->levels; level-- > 0;) {
        w = shrink(c->w, level);
        h = shrink(c->h, level);
        place next = next_place(p, w, h), here = next;
        here.group = p.group;
        here.selector = p.selector;
        a.samples = memcpy(spare + 3 * quarter, c->samples, (size_t)a.w * a.h * sizeof *spare);
        lift_level(c, here, a, w, h, spare);
        a = (array){w, h, c->samples};
        p = next;
    }
    free(spare);
    return NULL;
}

/* --- Prefix --- */

static void prefix(const channel *c)
{
    array to = {c->w, c->h, c->samples};
    int modulo = 1 << c->depth, half = modulo / 2;
    for (unsigned y = 0; y < c->h; y++)
        for (unsigned x = 0; x < c->w; x++) {
            int i = (int)x, j = (int)y;
            int n = y > 0 ? (int)at(to, i, j - 1) : half;
            int west = x > 0 ? (int)at(to, i - 1, j) : n, corner = x > 0 && y > 0 ? (int)at(to, i - 1, j - 1) : n;
            int d = (n - corner + modulo) % modulo;
            d = d >= half ? d - modulo : d;
            size_t first = (size_t)(y / 4) * ceil_div(c->w, 32);
            int gentle = (d + modulo) / 2 - half; // d / 2, rounded down
            int predicted[4] = {n, west, west + n - corner, west + gentle};
            set(to, x, y, c->depth, (unsigned)(predicted[selector(c, first, x)] + modulo) + residual(c, first, x, y));
        }
}

/* --- Planes --- */

static void count_groups(channel *c)
{
    if (c->predictor == PREFIX) {
        c->groups = c->chosen = (size_t)ceil_div(c->w, 32) * ceil_div(c->h, 4);
        return;
    }
    place p = {.group = (size_t)ceil_div(shrink(c->w, c->levels), 32) * ceil_div(shrink(c->h, c->levels), 4)};
    for (unsigned level = c->levels; level-- > 0;)
        p = next_place(p, shrink(c->w, level), shrink(c->h, level));
    c->groups = p.group;
    c->chosen = p.selector;
}

static const char *decode_constant(const channel *c, l3_bytes low, l3_bytes high)
{
    if (low.left != c->depth / 8 || high.left != 0)
        return "a constant channel of another length";
    uint16_t sample = (uint16_t)l3_bytes_number(&low, c->depth / 8);
    for (size_t i = 0; i < (size_t)c->w * c->h; i++)
        c->samples[i] = sample;
    return NULL;
}

static const char *decode_residuals(channel *c, l3_bytes low, l3_bytes high)
{
    count_groups(c);
    c->low = calloc(2 * c->groups, sizeof *c->low);
    c->selectors = calloc(c->chosen + 1, 1);
    if (c->low == NULL || c->selectors == NULL)
        return "memory";
    c->high = c->low + c->groups;
    const char *why = read_plane(low, c, c->low, c->selectors);
    if (why == NULL && c->depth == 16)
        why = read_plane(high, c, c->high, NULL);
    if (why == NULL && c->predictor == LIFTING)
        why = lift(c);
    else if (why == NULL)
        prefix(c);
    return why;
}

static const char *decode_channel(tile *t, unsigned method, l3_bytes low, l3_bytes high, uint16_t *samples)
{
    channel c = {.w = t->w, .h = t->h, .depth = t->depth, .samples = samples};
    c.predictor = method & 3;
    c.layers = 3 * (method >> 2 & 3);
    c.levels = method >> 4 & 7;
    if (method >> 7 != 0 || c.predictor > PREFIX || c.layers > 6)
        return "a method that is not known";
    if (c.predictor == LIFTING ? c.levels < 1 || c.levels > 5 : c.levels != 0)
        return "levels";
    if (c.predictor == CONSTANT)
        return c.layers != 0 ? "a constant channel with layers" : decode_constant(&c, low, high);
    const char *why = decode_residuals(&c, low, high);
    free(c.low);
    free(c.selectors);
    return why;
}

/* What the values of a channel stand for. */
typedef struct remapping {
    unsigned count, first, step;
    uint8_t value[256];
} remapping;

static const char *read_remapping(l3_bytes *bytes, unsigned kind, remapping *r)
{
    *r = (remapping){.step = 1};
    if (kind == 2) {
        r->first = (unsigned)l3_bytes_number(bytes, 2);
        r->step = (unsigned)l3_bytes_number(bytes, 2);
        return r->step == 0 ? "a step of 0" : NULL;
    }
    l3_bytes bitmap = l3_bytes_part(bytes, 32);
    for (unsigned i = 0; i < 256; i++)
        if (bit_at(bitmap, i) != 0)
            r->value[r->count++] = (uint8_t)i;
    return r->count == 0 ? "a bitmap without a value" : NULL;
}

/* From channels to pixels: green, then remapping. */
static const char *join_channels(const tile *t, unsigned color, unsigned kind, const remapping *remap,
                                 const uint16_t *samples)
{
    size_t pixels = (size_t)t->w * t->h;
    unsigned mask = (1u << t->depth) - 1, half = 1u << (t->depth - 1);
    for (size_t i = 0; i < pixels; i++)
        for (unsigned c = 0; c < t->channels; c++) {
            unsigned v = samples[c * pixels + i];
            if (color == 1 && (c == 0 || c == 2))
                v = (v + samples[pixels + i] - half) & mask;
            if (kind == 1 && v >= remap[c].count)
                return "a value beyond those that occur";
            if (kind == 1)
                v = remap[c].value[v];
            else if (kind == 2)
                v = (remap[c].first + remap[c].step * v) & mask;
            t->to[i * t->channels + c] = (uint16_t)v;
        }
    return NULL;
}

static const char *decode_planes(tile *t, uint16_t *samples)
{
    unsigned flags = (unsigned)l3_bytes_number(&t->bytes, 1), color = flags & 3, kind = flags >> 2 & 3;
    unsigned method[4];
    uint64_t length[4][2] = {{0}};
    remapping remap[4];
    const char *why = NULL;
    if (t->bytes.ended || flags >> 4 != 0 || color > 1 || (color == 1 && t->channels < 3) ||
        (kind != 0 && kind != t->depth / 8))
        return "colour or remapping";
    for (unsigned c = 0; why == NULL && kind != 0 && c < t->channels; c++)
        why = read_remapping(&t->bytes, kind, &remap[c]);
    for (unsigned c = 0; c < t->channels; c++) {
        method[c] = (unsigned)l3_bytes_number(&t->bytes, 1);
        for (unsigned i = 0; i < t->depth / 8; i++)
            length[c][i] = l3_bytes_number(&t->bytes, 3);
    }
    for (unsigned c = 0; why == NULL && c < t->channels; c++) {
        l3_bytes low = l3_bytes_part(&t->bytes, length[c][0]), high = l3_bytes_part(&t->bytes, length[c][1]);
        why = t->bytes.ended ? "a tile shorter than its planes"
                             : decode_channel(t, method[c], low, high, samples + (size_t)c * t->w * t->h);
    }
    if (why == NULL && t->bytes.left != 0)
        why = "a tile longer than its planes";
    return why != NULL ? why : join_channels(t, color, kind, remap, samples);
}

/* --- Tiles --- */

static const char *decode_stored(tile *t)
{
    size_t samples = (size_t)t->w * t->h * t->channels;
    if (t->bytes.left != samples * (t->depth / 8))
        return "a stored tile of another length";
    for (size_t i = 0; i < samples; i++)
        t->to[i] = (uint16_t)l3_bytes_number(&t->bytes, t->depth / 8);
    return NULL;
}

static const char *decode_one_pixel(tile *t)
{
    tile one = *t;
    one.w = one.h = 1;
    const char *why = decode_stored(&one);
    for (size_t i = t->channels; why == NULL && i < (size_t)t->w * t->h * t->channels; i++)
        t->to[i] = t->to[i - t->channels];
    return why;
}

static const char *decode_lz(tile *t, uint8_t *pixels)
{
    size_t row = (size_t)t->w * t->channels * (t->depth / 8), nbytes = row * t->h;
    uint64_t filter = l3_bytes_number(&t->bytes, 1);
    if (t->bytes.ended || filter > 1)
        return "the beginning of an LZ tile";
    int got = LZ4_decompress_safe((const char *)t->bytes.at, (char *)pixels, (int)t->bytes.left, (int)nbytes);
    if (got < 0 || (size_t)got != nbytes)
        return "LZ data";
    for (size_t i = row; filter == 1 && i < nbytes; i++)
        pixels[i] = (uint8_t)(pixels[i] + pixels[i - row]);
    t->bytes = (l3_bytes){pixels, nbytes, false};
    return decode_stored(t);
}

const char *l3_reference_tile(l3_bytes bytes, unsigned w, unsigned h, unsigned channels, unsigned depth, uint16_t *to)
{
    tile t = {bytes, w, h, channels, depth, to};
    uint64_t kind = l3_bytes_number(&t.bytes, 1);
    uint16_t *room = malloc((size_t)w * h * channels * sizeof *room);
    const char *why;
    if (room == NULL)
        why = "memory";
    else if (t.bytes.ended || kind > 3)
        why = "a kind of tile that is not known";
    else if (kind == 0)
        why = decode_one_pixel(&t);
    else if (kind == 1)
        why = decode_planes(&t, room);
    else if (kind == 2)
        why = decode_lz(&t, (uint8_t *)room);
    else
        why = decode_stored(&t);
    free(room);
    return why;
}
