// SPDX-License-Identifier: Apache-2.0
/* One tile of pixel mode, encoded: constant, planes, LZ or stored, whichever is shortest. */
#include "base/bytes.h"
#include "codec/l3/pixel_encode.h"
#include "codec/l3/pixel_remap.h"

#include <lz4.h>
#include <lz4hc.h>
#include <string.h>

enum {
    KIND_CONSTANT = 0,
    KIND_PLANES = 1,
    KIND_LZ = 2,
    KIND_STORED = 3,
    COLOR_LESS_GREEN = 1,
    LZ_EFFORT = 6,
    /* Of a hundred pixels, how many must be like the one on their left before LZ is tried. */
    LZ_ALIKE = 50
};

/* The tile at hand: its pixels in rows without gaps. */
typedef struct tile {
    const mr__l3_pixel_plan *plan;
    mr__l3_tile_work *work;
    unsigned w, h;
    size_t pixel_nbytes, row_nbytes, nbytes;
} tile;

/* The next nbytes of the working memory, from a cache line on; `lead` bytes are left before what is returned. */
static void *carve(uint8_t *memory, size_t *at, size_t nbytes, size_t lead)
{
    uint8_t *part = memory != NULL ? memory + *at + lead : NULL;
    *at += (nbytes + 63) / 64 * 64;
    return part;
}

/* Lays out what a tile of the largest size takes; with memory NULL only the sum is of use. */
static size_t lay_out(mr__l3_tile_work *work, const mr__l3_pixel_plan *plan, uint8_t *memory)
{
    size_t at = 0;
    const unsigned w = plan->tile_w, h = plan->tile_h;
    const size_t pitch = w + 2 * MR__L3_FORWARD_MARGIN, nbytes = plan->sample_nbytes;
    const size_t groups = mr__l3_forward_groups_max(w, h), pixels = (size_t)w * h * plan->channels * nbytes;
    work->pixels = carve(memory, &at, pixels, 0);
    for (unsigned i = 0; i < 6; i++) {
        void *samples = carve(memory, &at, pitch * h * nbytes, MR__L3_FORWARD_MARGIN * nbytes);
        *(i < 4 ? &work->channel[i] : &work->less[i - 4]) = (mr__l3_samples){samples, pitch, 0, 0};
        work->coded[i].bytes = carve(memory, &at, 2 * MR__L3_PLANE_NBYTES_MAX(groups), 0);
    }
    for (unsigned i = 0; i < 2; i++) {
        mr__l3_residuals *r = &work->residuals[i];
        r->low = carve(memory, &at, groups * MR__L3_GROUP_WORDS * 8, 0);
        r->high = carve(memory, &at, groups * MR__L3_GROUP_WORDS * 8, 0);
        r->selectors = carve(memory, &at, groups, 0);
    }
    for (unsigned i = 0; i < 3; i++)
        work->headers[i] = carve(memory, &at, groups * 4, 0);
    work->forward = carve(memory, &at, mr__l3_forward_work_nbytes(w, h, plan->sample_nbytes), 0);
    work->scratch = carve(memory, &at, MR__L3_PLANE_SCRATCH_MAX(groups) + pixels, 0);
    int fast = LZ4_sizeofState(), small = LZ4_sizeofStateHC();
    work->lz = carve(memory, &at, (size_t)(fast > small ? fast : small), 0);
    return at;
}

size_t mr__l3_tile_work_nbytes(const mr__l3_pixel_plan *plan)
{
    mr__l3_tile_work work;
    return lay_out(&work, plan, NULL);
}

void mr__l3_tile_work_init(mr__l3_tile_work *work, const mr__l3_pixel_plan *plan, uint8_t *memory)
{
    lay_out(work, plan, memory);
}

size_t mr__l3_tile_nbytes_max(const mr__l3_pixel_plan *plan)
{
    return 1 + (size_t)plan->tile_w * plan->tile_h * plan->channels * plan->sample_nbytes;
}

static bool is_big_endian(void)
{
    return __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__;
}

/* The tile's pixels as `stored` has them. */
static void load_pixels(const tile *t, const mr_image *image, mr_rect rect)
{
    uint8_t *to = t->work->pixels;
    for (unsigned y = 0; y < t->h; y++, to += t->row_nbytes) {
        const uint8_t *from = (const uint8_t *)image->pixels + (ptrdiff_t)(rect.y + y) * image->stride;
        memcpy(to, from + (size_t)rect.x * t->pixel_nbytes, t->row_nbytes);
        for (size_t i = 0; t->plan->sample_nbytes == 2 && is_big_endian() && i < t->row_nbytes; i += 2) {
            uint8_t first = to[i];
            to[i] = to[i + 1];
            to[i + 1] = first;
        }
    }
}

static bool is_constant(const tile *t)
{
    return memcmp(t->work->pixels, t->work->pixels + t->pixel_nbytes, t->nbytes - t->pixel_nbytes) == 0;
}

static void split_channels(const tile *t)
{
    const unsigned channels = t->plan->channels, nbytes = t->plan->sample_nbytes;
    mr__l3_samples *channel = t->work->channel;
    for (unsigned c = 0; c < channels; c++) {
        channel[c].w = t->w;
        channel[c].h = t->h;
    }
    for (unsigned y = 0; y < t->h; y++) {
        void *to[4] = {NULL};
        for (unsigned c = 0; c < channels; c++)
            to[c] = (uint8_t *)channel[c].samples + y * channel[c].pitch * nbytes;
        t->plan->split.row[nbytes - 1][channels](t->work->pixels + y * t->row_nbytes, t->w, to);
    }
}

#define SUBTRACT(type, half)                                                                                           \
    for (unsigned y = 0; y < from->h; y++) {                                                                           \
        const type *a = (const type *)from->samples + y * from->pitch;                                                 \
        const type *b = (const type *)green->samples + y * green->pitch;                                               \
        type *o = (type *)to->samples + y * to->pitch;                                                                 \
        for (unsigned x = 0; x < from->w; x++)                                                                         \
            o[x] = (type)(a[x] - b[x] + (half));                                                                       \
    }

static void subtract_green(const mr__l3_samples *from, const mr__l3_samples *green, unsigned sample_nbytes,
                           mr__l3_samples *to)
{
    to->w = from->w;
    to->h = from->h;
    if (sample_nbytes == 1) {
        SUBTRACT(uint8_t, 0x80u)
    } else {
        SUBTRACT(uint16_t, 0x8000u)
    }
}

/* How much a channel changes from a sample to the one on its right, on every fourth row. */
#define ROUGHNESS(type, sign)                                                                                          \
    for (unsigned y = 0; y < c->h; y += 4) {                                                                           \
        const type *row = (const type *)c->samples + y * c->pitch;                                                     \
        for (unsigned x = 1; x < c->w; x++) {                                                                          \
            int d = (sign)(type)(row[x] - row[x - 1]);                                                                 \
            sum += (unsigned)(d < 0 ? -d : d);                                                                         \
        }                                                                                                              \
    }

static uint64_t roughness_of(const mr__l3_samples *c, unsigned sample_nbytes)
{
    uint64_t sum = 0;
    if (sample_nbytes == 1) {
        ROUGHNESS(uint8_t, int8_t)
    } else {
        ROUGHNESS(uint16_t, int16_t)
    }
    return sum;
}

/* Codes the channels with or without green in the first and third; returns what they take. */
static size_t encode_channels(const tile *t, bool less_green, unsigned from, unsigned step)
{
    size_t nbytes = 0;
    for (unsigned c = from; c < t->plan->channels; c += step) {
        bool less = less_green && (c == 0 || c == 2);
        const mr__l3_samples *channel = less ? &t->work->less[c / 2] : &t->work->channel[c];
        nbytes += mr__l3_channel_encode(t->plan, t->work, channel, &t->work->coded[less ? 4 + c / 2 : c]);
    }
    return nbytes;
}

/* By estimate; the small preset codes both and knows. Every channel is coded at the end. */
static bool choose_color(const tile *t)
{
    if (t->plan->channels < 3) {
        encode_channels(t, false, 0, 1);
        return false;
    }
    mr__l3_tile_work *work = t->work;
    const unsigned nbytes = t->plan->sample_nbytes;
    for (unsigned i = 0; i < 2; i++)
        subtract_green(&work->channel[2 * i], &work->channel[1], nbytes, &work->less[i]);
    if (t->plan->preset != MR_L3_SMALL) {
        uint64_t with = roughness_of(&work->channel[0], nbytes) + roughness_of(&work->channel[2], nbytes);
        bool less_green = roughness_of(&work->less[0], nbytes) + roughness_of(&work->less[1], nbytes) < with;
        encode_channels(t, less_green, 0, 1);
        return less_green;
    }
    encode_channels(t, false, 1, 2);
    size_t with = mr__l3_channel_encode(t->plan, work, &work->channel[0], &work->coded[0]) +
                  mr__l3_channel_encode(t->plan, work, &work->channel[2], &work->coded[2]);
    size_t without = mr__l3_channel_encode(t->plan, work, &work->less[0], &work->coded[4]) +
                     mr__l3_channel_encode(t->plan, work, &work->less[1], &work->coded[5]);
    return without < with;
}

static void store_le24(uint8_t *to, size_t v)
{
    mr__store_le16(to, (uint16_t)v);
    to[2] = (uint8_t)(v >> 16);
}

/* The tile as planes, if that is shorter than `limit`; else 0. */
static size_t encode_planes(const tile *t, size_t limit, uint8_t *to)
{
    const mr__l3_pixel_plan *plan = t->plan;
    split_channels(t);
    uint8_t remap[4 * MR__L3_REMAP_NBYTES];
    size_t remap_nbytes = 0;
    unsigned remapped = mr__l3_remap(plan, t->work->channel, remap, &remap_nbytes);
    bool less_green = choose_color(t);
    uint8_t head[2 + sizeof remap + 4 * 7];
    size_t at = 2 + remap_nbytes, nbytes = 0;
    head[0] = KIND_PLANES;
    head[1] = (uint8_t)((less_green ? COLOR_LESS_GREEN : 0) | remapped << 2);
    memcpy(head + 2, remap, remap_nbytes);
    const mr__l3_coded *coded[4];
    for (unsigned c = 0; c < plan->channels; c++) {
        coded[c] = &t->work->coded[less_green && (c == 0 || c == 2) ? 4 + c / 2 : c];
        head[at] = coded[c]->method;
        store_le24(head + at + 1, coded[c]->low_nbytes);
        if (plan->sample_nbytes == 2)
            store_le24(head + at + 4, coded[c]->high_nbytes);
        at += plan->sample_nbytes == 2 ? 7 : 4;
        nbytes += coded[c]->low_nbytes + coded[c]->high_nbytes;
    }
    if (at + nbytes >= limit)
        return 0;
    memcpy(to, head, at);
    for (unsigned c = 0; c < plan->channels; c++) {
        memcpy(to + at, coded[c]->bytes, coded[c]->low_nbytes + coded[c]->high_nbytes);
        at += coded[c]->low_nbytes + coded[c]->high_nbytes;
    }
    return at;
}

/* Whether many pixels are like the one on their left: a drawing, a mask, a screenshot. */
static bool is_flat(const tile *t)
{
    size_t alike = 0, seen = 0;
    for (unsigned y = 0; y < t->h; y += 2)
        for (unsigned x = 1; x < t->w; x += 3, seen++) {
            const uint8_t *p = t->work->pixels + y * t->row_nbytes + x * t->pixel_nbytes;
            alike += memcmp(p, p - t->pixel_nbytes, t->pixel_nbytes) == 0;
        }
    return seen > 0 && alike * 100 >= seen * LZ_ALIKE;
}

/* The pixels through LZ4, in `limit` bytes at most; 0 when they do not fit. */
static size_t compress(const tile *t, const uint8_t *from, size_t limit, uint8_t *to)
{
    int room = limit < 3 ? 0 : (int)limit - 2, nbytes = 0;
    if (room > 0 && t->plan->preset == MR_L3_FAST)
        nbytes = LZ4_compress_fast_extState(t->work->lz, (const char *)from, (char *)to + 2, (int)t->nbytes, room, 1);
    else if (room > 0)
        nbytes = LZ4_compress_HC_extStateHC(t->work->lz, (const char *)from, (char *)to + 2, (int)t->nbytes, room,
                                            LZ_EFFORT);
    return nbytes > 0 ? (size_t)nbytes + 2 : 0;
}

/* The tile as LZ, both ways, where that is shorter than `limit`; else `limit` unchanged. */
static size_t encode_lz(const tile *t, size_t limit, uint8_t *to)
{
    uint8_t *less_above = t->work->scratch, *trial = t->work->coded[0].bytes;
    memcpy(less_above, t->work->pixels, t->row_nbytes);
    for (size_t i = t->row_nbytes; i < t->nbytes; i++)
        less_above[i] = (uint8_t)(t->work->pixels[i] - t->work->pixels[i - t->row_nbytes]);
    for (unsigned filter = 0; filter < 2; filter++) {
        size_t nbytes = compress(t, filter == 0 ? t->work->pixels : less_above, limit - 1, trial);
        if (nbytes == 0)
            continue;
        limit = nbytes;
        memcpy(to, trial, nbytes);
        to[0] = KIND_LZ;
        to[1] = (uint8_t)filter;
    }
    return limit;
}

size_t mr__l3_tile_encode(const mr__l3_pixel_plan *plan, mr__l3_tile_work *work, const mr_image *image, mr_rect rect,
                          uint8_t *to)
{
    const size_t pixel_nbytes = (size_t)plan->channels * plan->sample_nbytes;
    const tile t = {plan,
                    work,
                    rect.width,
                    rect.height,
                    pixel_nbytes,
                    rect.width * pixel_nbytes,
                    (size_t)rect.width * rect.height * pixel_nbytes};
    load_pixels(&t, image, rect);
    if (is_constant(&t)) {
        to[0] = KIND_CONSTANT;
        memcpy(to + 1, work->pixels, pixel_nbytes);
        return 1 + pixel_nbytes;
    }
    size_t nbytes = encode_planes(&t, 1 + t.nbytes, to);
    if (nbytes == 0) {
        to[0] = KIND_STORED;
        memcpy(to + 1, work->pixels, t.nbytes);
        nbytes = 1 + t.nbytes;
    }
    return is_flat(&t) ? encode_lz(&t, nbytes, to) : nbytes;
}
