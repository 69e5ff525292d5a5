// SPDX-License-Identifier: Apache-2.0
/*
 * What a tile of planes consists of. Everything that bounds the decoding is settled here: once a plane has been read,
 * its headers, selectors, low bits and layer 1 are known to be as long as its blocks need them.
 */
#include "base/bytes.h"
#include "base/size.h"
#include "codec/l3/pixel_planes.h"

#include <string.h>

#define EACH(byte) ((uint64_t)(byte)*UINT64_C(0x0101010101010101))

/* A cursor over the bytes of a tile. */
typedef struct reader {
    const uint8_t *at, *end;
} reader;

/* The next nbytes, or NULL when they are not there. */
static const uint8_t *take(reader *r, size_t nbytes)
{
    if ((size_t)(r->end - r->at) < nbytes)
        return NULL;
    r->at += nbytes;
    return r->at - nbytes;
}

static const char too_short[] = "it ends before its planes";

/* What a plane holds, in groups. */
typedef struct extent {
    uint32_t groups, selectors;
} extent;

static extent measure(const mr__l3_channel *channel, uint32_t w, uint32_t h)
{
    if (channel->predictor == MR__L3_PREFIX)
        return (extent){mr__l3_group_count(w, h), mr__l3_group_count(w, h)};
    extent e = {0, 0};
    for (uint32_t i = 0; i < channel->levels; i++) {
        uint32_t we = (w + 1) / 2, he = (h + 1) / 2, wo = w / 2, ho = h / 2;
        uint32_t b = mr__l3_group_count(wo, he), c = mr__l3_group_count(we, ho);
        e.selectors += b + c;
        e.groups += mr__l3_group_count(wo, ho) + b + c;
        w = we;
        h = he;
    }
    e.groups += mr__l3_group_count(w, h);
    return e;
}

/* Sums over the headers of a plane: the widths of its blocks, and how many have layers. */
typedef struct sums {
    uint32_t width, layered;
} sums;

static uint32_t sum_bytes(uint64_t x)
{
    return (uint32_t)(x * EACH(1) >> 56);
}

/* Eight bytes, the part of them that is there. */
static uint64_t load_part(const uint8_t *bytes, size_t left)
{
    uint64_t x = mr__load_le64(bytes);
    return left >= 8 ? x : x & ((UINT64_C(1) << 8 * left) - 1);
}

static sums sum_headers(const uint8_t *headers, size_t nbytes)
{
    sums s = {0, 0};
    for (size_t i = 0; i < nbytes; i += 8) {
        uint64_t x = load_part(headers + i, nbytes - i), low = x & EACH(15), high = x >> 4 & EACH(15);
        uint64_t layered = ((low + EACH(7)) >> 4 & EACH(1)) + ((high + EACH(7)) >> 4 & EACH(1)); // 9 and more
        s.layered += sum_bytes(layered);
        s.width += sum_bytes(low + high - 8 * layered);
    }
    return s;
}

/* Lifting knows three selectors. */
static bool has_selector_3(const uint8_t *selectors, size_t nbytes)
{
    uint64_t found = 0;
    for (size_t i = 0; i < nbytes; i += 8) {
        uint64_t x = load_part(selectors + i, nbytes - i);
        found |= x & x >> 1 & EACH(0x55);
    }
    return found != 0;
}

static const char *find_layers(mr__l3_plane *plane, uint32_t layers, const uint8_t *lengths, reader *r)
{
    for (uint32_t j = 2; j <= layers; j++) {
        size_t nbytes = mr__load_le16(lengths + 2 * (j - 2));
        plane->limit[j] = 8 * nbytes;
        plane->stream.layer[j] = take(r, nbytes);
        if (plane->stream.layer[j] == NULL)
            return "a layer is longer than its plane";
    }
    return r->at == r->end ? NULL : "a plane is longer than its parts";
}

/* `selectors` is NULL for a high plane, which has none. */
static const char *read_plane(mr__l3_plane *plane, const mr__l3_channel *channel, extent e, const uint8_t **selectors,
                              reader r)
{
    uint32_t layers = channel->layers, selector_nbytes = selectors != NULL ? e.selectors : 0;
    *plane = (mr__l3_plane){0};
    const uint8_t *lengths = take(&r, layers != 0 ? 2 * (layers - 1) : 0);
    const uint8_t *headers = lengths != NULL ? take(&r, (size_t)2 * e.groups) : NULL;
    const uint8_t *chosen = headers != NULL ? take(&r, selector_nbytes) : NULL;
    if (chosen == NULL)
        return "a plane is shorter than its headers";
    sums s = sum_headers(headers, (size_t)2 * e.groups);
    if (s.layered != 0 && layers == 0)
        return "a block has layers in a plane without";
    if (channel->predictor == MR__L3_LIFTING && has_selector_3(chosen, selector_nbytes))
        return "a selector is 3";
    plane->stream.headers = headers;
    plane->stream.low = take(&r, (size_t)4 * s.width);
    plane->stream.masks = plane->stream.low != NULL ? take(&r, (size_t)4 * s.layered) : NULL;
    if (plane->stream.masks == NULL)
        return "a plane is shorter than its blocks";
    if (selectors != NULL)
        *selectors = chosen;
    return find_layers(plane, layers, lengths, &r);
}

static const char *read_method(mr__l3_channel *channel, uint32_t method)
{
    static const uint8_t layers[4] = {0, 3, 6, 0};
    uint32_t levels = method >> 4 & 7, choice = method >> 2 & 3;
    channel->predictor = method & 3;
    channel->layers = layers[choice];
    channel->levels = levels;
    if (method >> 7 != 0 || channel->predictor > MR__L3_PREFIX || choice == 3)
        return "a method that is not known";
    if (channel->predictor == MR__L3_LIFTING ? levels < 1 || levels > 5 : levels != 0)
        return "levels of lifting that cannot be";
    if (channel->predictor == MR__L3_CONSTANT && choice != 0)
        return "a constant channel with layers";
    return NULL;
}

static const char *read_constant(mr__l3_channel *channel, reader low, reader high, uint32_t depth)
{
    if (low.end - low.at != depth / 8 || high.at != high.end)
        return "a constant channel of another length";
    channel->constant = depth == 8 ? *low.at : mr__load_le16(low.at);
    return NULL;
}

static const char *read_channel(mr__l3_planes *planes, mr__l3_channel *channel, const uint8_t *entry, reader *r)
{
    const char *why = read_method(channel, entry[0]);
    if (why != NULL)
        return why;
    reader plane[2];
    for (uint32_t i = 0; i < 2; i++) {
        plane[i].at = take(r, i < planes->depth / 8 ? mr__load_le24(entry + 1 + 3 * i) : 0);
        plane[i].end = r->at;
        if (plane[i].at == NULL)
            return too_short;
    }
    if (channel->predictor == MR__L3_CONSTANT)
        return read_constant(channel, plane[0], plane[1], planes->depth);
    extent e = measure(channel, planes->w, planes->h);
    why = read_plane(&channel->plane[0], channel, e, &channel->selectors, plane[0]);
    if (why == NULL && planes->depth == 16)
        why = read_plane(&channel->plane[1], channel, e, NULL, plane[1]);
    return why;
}

static const char *read_bitmap(mr__l3_remap *remap, reader *r)
{
    const uint8_t *bitmap = take(r, 32);
    if (bitmap == NULL)
        return too_short;
    memset(remap, 0, sizeof *remap);
    for (uint32_t i = 0; i < 256; i++)
        if ((bitmap[i / 8] >> i % 8 & 1) != 0)
            remap->value[remap->count++] = (uint8_t)i;
    return remap->count != 0 ? NULL : "a channel is remapped to no value at all";
}

static const char *read_steps(mr__l3_remap *remap, reader *r)
{
    const uint8_t *steps = take(r, 4);
    if (steps == NULL)
        return too_short;
    remap->first = mr__load_le16(steps);
    remap->step = mr__load_le16(steps + 2);
    return remap->step != 0 ? NULL : "a channel is remapped by steps of 0";
}

static const char *read_colour(mr__l3_planes *planes, reader *r)
{
    const uint8_t *flags = take(r, 1);
    if (flags == NULL)
        return too_short;
    uint32_t colour = *flags & 3, remapping = *flags >> 2 & 3;
    if (*flags >> 4 != 0)
        return "a reserved bit is set";
    if (colour > 1 || (colour == 1 && planes->channels < 3))
        return "a colour that it cannot have";
    if (remapping != 0 && remapping != planes->depth / 8)
        return "a remapping that it cannot have";
    planes->green = colour == 1;
    planes->is_remapped = remapping != 0;
    const char *why = NULL;
    for (uint32_t c = 0; why == NULL && planes->is_remapped && c < planes->channels; c++)
        why = planes->depth == 8 ? read_bitmap(&planes->remap[c], r) : read_steps(&planes->remap[c], r);
    return why;
}

const char *mr__l3_planes_read(mr__l3_planes *planes, const uint8_t *bytes, size_t nbytes)
{
    reader r = {bytes + 1, bytes + nbytes}; // behind the kind
    const char *why = read_colour(planes, &r);
    if (why != NULL)
        return why;
    size_t entry_nbytes = planes->depth == 8 ? 4 : 7;
    const uint8_t *entries = take(&r, entry_nbytes * planes->channels);
    if (entries == NULL)
        return too_short;
    for (uint32_t c = 0; why == NULL && c < planes->channels; c++)
        why = read_channel(planes, &planes->channel[c], entries + entry_nbytes * c, &r);
    if (why == NULL && r.at != r.end)
        why = "it goes on behind its planes";
    return why;
}

bool mr__l3_plane_within(const mr__l3_plane *plane, uint32_t layers)
{
    bool within = (plane->stream.crowd & MR__L3_CROWDED) == 0;
    for (uint32_t j = 2; j <= layers; j++)
        within &= plane->stream.at[j] <= plane->limit[j];
    return within;
}

bool mr__l3_plane_ended(const mr__l3_plane *plane, uint32_t layers)
{
    for (uint32_t j = 2; j <= layers; j++) {
        uint64_t at = plane->stream.at[j], limit = plane->limit[j];
        if (limit - at >= 8 || (limit != at && plane->stream.layer[j][at / 8] >> at % 8 != 0))
            return false;
    }
    return true;
}
