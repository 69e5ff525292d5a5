// SPDX-License-Identifier: Apache-2.0
/* The head of an L3 image: doc/format-l3.md, "Head". The order of checks here is the order there. */
#include "base/bytes.h"
#include "base/hash.h"
#include "base/size.h"
#include "codec/l3/l3.h"

#include <string.h>

enum {
    AT_VERSION = 8,
    AT_MODE = 10,
    AT_CHANNELS = 11,
    AT_DEPTH = 12,
    AT_ORIENTATION = 13,
    AT_SIZE_NBYTES = 14,
    AT_FLAGS = 15,
    AT_WIDTH = 16,
    AT_HEIGHT = 20,
    AT_TILE_WIDTH = 24,
    AT_TILE_HEIGHT = 26,
    AT_MODE_NBYTES = 28,
    AT_TAIL_NBYTES = 32,
    AT_MODE_PART = 40,
    HASH_NBYTES = 8,
    TILE_HASH_NBYTES = 4,
    VERSION = 1,
    FLAG_ICC = 1,
    FLAG_ORIGIN = 2,
    DCT_SIDE_MAX = 65535,
    TILE_PIXELS_MAX = 1 << 18
};
#define SIDE_MAX 0x7fffffffu

static const uint8_t magic[8] = {0x8a, 'M', 'R', 'L', '\r', '\n', 0x1a, '\n'};

bool mr__l3_probe(const uint8_t *bytes, size_t nbytes)
{
    return nbytes >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

static int check_start(mr__call *call)
{
    if (call->nbytes < AT_MODE_PART + HASH_NBYTES)
        return mr__call_fail(call, MR_ETRUNCATED, "truncated L3 image: its head is %d bytes at least, the data %zu",
                             AT_MODE_PART + HASH_NBYTES, call->nbytes);
    if (!mr__l3_probe(call->bytes, call->nbytes))
        return mr__call_fail(call, MR_EFORMAT, "not an L3 image: its first bytes are others");
    uint32_t version = mr__load_le16(call->bytes + AT_VERSION);
    if (version != VERSION)
        return mr__call_fail(call, MR_EUNSUPPORTED, "L3 image of version %u at byte %d; only %d is known", version,
                             AT_VERSION, VERSION);
    return 0;
}

static void load_fields(const uint8_t *b, mr__l3_head *head)
{
    head->mode = b[AT_MODE];
    head->channels = b[AT_CHANNELS];
    head->depth = b[AT_DEPTH];
    head->orientation = b[AT_ORIENTATION];
    head->size_nbytes = b[AT_SIZE_NBYTES];
    head->has_icc = (b[AT_FLAGS] & FLAG_ICC) != 0;
    head->has_origin = (b[AT_FLAGS] & FLAG_ORIGIN) != 0;
    head->width = mr__load_le32(b + AT_WIDTH);
    head->height = mr__load_le32(b + AT_HEIGHT);
    head->tile_width = mr__load_le16(b + AT_TILE_WIDTH);
    head->tile_height = mr__load_le16(b + AT_TILE_HEIGHT);
    head->tail_nbytes = mr__load_le64(b + AT_TAIL_NBYTES);
}

/* Where things are, by the fields alone: only what the length of the head follows from is looked at. */
static int find_index(mr__call *call, mr__l3_head *head)
{
    uint32_t part = mr__load_le32(call->bytes + AT_MODE_NBYTES);
    bool possible = head->tile_width != 0 && head->tile_height != 0 && head->size_nbytes >= 1 &&
                    head->size_nbytes <= 4 && part <= MR__L3_DCT_PART_MAX;
    uint64_t tiles = 0;
    if (possible) {
        head->tiles_x = mr__ceil_div(head->width, head->tile_width);
        head->tiles_y = mr__ceil_div(head->height, head->tile_height);
        tiles = (uint64_t)head->tiles_x * head->tiles_y;
    }
    if (tiles == 0 || tiles > MR__L3_TILES_MAX)
        return mr__call_fail(call, MR_ECORRUPT,
                             "damaged L3 image: the sizes at bytes %d and %d to %d cannot be those of an image",
                             AT_SIZE_NBYTES, AT_WIDTH, AT_TAIL_NBYTES - 1);
    head->sizes = call->bytes + AT_MODE_PART + part;
    head->head_nbytes = AT_MODE_PART + part + (size_t)tiles * (head->size_nbytes + TILE_HASH_NBYTES) + HASH_NBYTES;
    if (call->nbytes < head->head_nbytes)
        return mr__call_fail(call, MR_ETRUNCATED, "truncated L3 image: the head ends at byte %zu, the data at %zu",
                             head->head_nbytes, call->nbytes);
    head->hashes = head->sizes + (size_t)tiles * head->size_nbytes;
    return 0;
}

static int check_hash(mr__call *call, const mr__l3_head *head)
{
    size_t at = head->head_nbytes - HASH_NBYTES;
    if (mr__load_le64(call->bytes + at) != mr__hash(call->bytes, at))
        return mr__call_fail(call, MR_ECORRUPT, "damaged L3 image: the head's hash at byte %zu does not match", at);
    return 0;
}

static int fail_value(mr__call *call, const char *what, uint32_t value, int at, const char *range)
{
    return mr__call_fail(call, MR_ECORRUPT, "damaged L3 image: %s %u at byte %d; it can be %s", what, value, at, range);
}

/* What both modes have. */
static int check_common(mr__call *call, const mr__l3_head *head)
{
    uint32_t flags = call->bytes[AT_FLAGS];
    if (head->mode != MR__L3_PIXEL && head->mode != MR__L3_DCT)
        return fail_value(call, "mode", head->mode, AT_MODE, "1 or 2");
    if (head->orientation < 1 || head->orientation > 8)
        return fail_value(call, "orientation", head->orientation, AT_ORIENTATION, "1 to 8");
    if ((flags & ~(uint32_t)(FLAG_ICC | FLAG_ORIGIN)) != 0)
        return mr__call_fail(call, MR_ECORRUPT, "damaged L3 image: a reserved bit of byte %d is set", AT_FLAGS);
    if (flags != 0 && head->tail_nbytes == 0)
        return mr__call_fail(call, MR_ECORRUPT,
                             "damaged L3 image: byte %d says that the tail has a section, byte %d that there is none",
                             AT_FLAGS, AT_TAIL_NBYTES);
    return 0;
}

static bool is_tile_side(uint32_t side)
{
    return side >= 32 && side <= 1024 && (side & (side - 1)) == 0;
}

static int check_pixel(mr__call *call, const mr__l3_head *head)
{
    if (head->channels < 1 || head->channels > 4)
        return fail_value(call, "channels", head->channels, AT_CHANNELS, "1 to 4");
    if (head->depth != 8 && head->depth != 16)
        return fail_value(call, "depth", head->depth, AT_DEPTH, "8 or 16");
    if (head->width > SIDE_MAX)
        return fail_value(call, "width", head->width, AT_WIDTH, "1 to 2^31-1");
    if (head->height > SIDE_MAX)
        return fail_value(call, "height", head->height, AT_HEIGHT, "1 to 2^31-1");
    if (!is_tile_side(head->tile_width))
        return fail_value(call, "tile width", head->tile_width, AT_TILE_WIDTH, "a power of two, 32 to 1024");
    if (!is_tile_side(head->tile_height))
        return fail_value(call, "tile height", head->tile_height, AT_TILE_HEIGHT, "a power of two, 32 to 1024");
    if (head->tile_width * head->tile_height > TILE_PIXELS_MAX)
        return mr__call_fail(call, MR_ECORRUPT,
                             "damaged L3 image: tiles of %u x %u at byte %d; they can have %d pixels", head->tile_width,
                             head->tile_height, AT_TILE_WIDTH, TILE_PIXELS_MAX);
    if (head->sizes != call->bytes + AT_MODE_PART)
        return mr__call_fail(call, MR_ECORRUPT, "damaged L3 image: pixel mode has no mode part, as byte %d says",
                             AT_MODE_NBYTES);
    if (head->has_origin)
        return mr__call_fail(call, MR_ECORRUPT, "damaged L3 image: pixel mode has no origin, as byte %d says",
                             AT_FLAGS);
    return 0;
}

static int check_dct(mr__call *call, mr__l3_head *head)
{
    if (head->channels != 1 && head->channels != 3)
        return fail_value(call, "components", head->channels, AT_CHANNELS, "1 or 3 in DCT mode");
    if (head->depth != 8)
        return fail_value(call, "depth", head->depth, AT_DEPTH, "8 in DCT mode");
    if (head->width > DCT_SIDE_MAX)
        return fail_value(call, "width", head->width, AT_WIDTH, "1 to 65535 in DCT mode");
    if (head->height > DCT_SIDE_MAX)
        return fail_value(call, "height", head->height, AT_HEIGHT, "1 to 65535 in DCT mode");
    const uint8_t *part = call->bytes + AT_MODE_PART;
    mr__l3_head stated = *head;
    int result = mr__l3_dct_part_read(call, head, part, (size_t)(head->sizes - part));
    if (result != 0)
        return result;
    mr__l3_head_complete(head);
    if (head->tile_width != stated.tile_width || head->tile_height != stated.tile_height)
        return mr__call_fail(call, MR_ECORRUPT,
                             "damaged L3 image: tiles of %u x %u at byte %d; its sampling takes %u x %u",
                             stated.tile_width, stated.tile_height, AT_TILE_WIDTH, head->tile_width, head->tile_height);
    return 0;
}

static uint32_t load_size(const mr__l3_head *head, size_t tile)
{
    const uint8_t *at = head->sizes + tile * head->size_nbytes;
    uint32_t size = 0;
    for (uint32_t i = head->size_nbytes; i-- > 0;)
        size = size << 8 | at[i];
    return size;
}

int mr__l3_head_read(mr__call *call, mr__l3_head *head)
{
    *head = (mr__l3_head){0};
    int result = check_start(call);
    if (result != 0)
        return result;
    load_fields(call->bytes, head);
    result = find_index(call, head);
    if (result == 0)
        result = check_hash(call, head);
    if (result == 0)
        result = check_common(call, head);
    if (result == 0)
        result = head->mode == MR__L3_PIXEL ? check_pixel(call, head) : check_dct(call, head);
    head->tail_at = head->head_nbytes;
    for (size_t i = 0; result == 0 && i < mr__l3_tile_count(head); i++)
        head->tail_at += load_size(head, i); // at most 2^26 times 2^32
    return result;
}

int mr__l3_head_check_length(mr__call *call, const mr__l3_head *head, bool accept_damaged)
{
    uint64_t end = head->tail_at + head->tail_nbytes;
    if (end < head->tail_at)
        end = UINT64_MAX;
    if (call->nbytes == end)
        return 0;
    bool is_short = call->nbytes < end;
    const char *what = is_short ? "truncated" : "damaged";
    if (accept_damaged) {
        mr__call_warn(call, "%s L3 image: it ends at byte %zu, and should at byte %llu", what, call->nbytes,
                      (unsigned long long)end);
        return 0;
    }
    return mr__call_fail(call, is_short ? MR_ETRUNCATED : MR_ECORRUPT,
                         "%s L3 image: it ends at byte %zu, and should at byte %llu", what, call->nbytes,
                         (unsigned long long)end);
}

void mr__l3_head_offsets(const mr__l3_head *head, uint64_t *offsets)
{
    uint64_t at = head->head_nbytes;
    size_t tiles = mr__l3_tile_count(head);
    for (size_t i = 0; i < tiles; i++) {
        offsets[i] = at;
        at += load_size(head, i);
    }
    offsets[tiles] = at;
}

uint64_t mr__l3_head_offset(const mr__l3_head *head, size_t tile)
{
    uint64_t at = head->head_nbytes;
    for (size_t i = 0; i < tile; i++)
        at += load_size(head, i);
    return at;
}

void mr__l3_head_complete(mr__l3_head *head)
{
    if (head->mode == MR__L3_DCT) {
        head->hmax = head->component[0].h;
        head->vmax = head->component[0].v;
        head->tile_width = 8 * MR__L3_UNIT_BLOCKS * head->hmax;
        head->tile_height = 8 * MR__L3_UNIT_BLOCKS * head->vmax;
        for (uint32_t i = 0; i < head->channels; i++) {
            mr__l3_component *c = &head->component[i];
            c->blocks_w = mr__ceil_div(head->width * c->h, 8 * head->hmax);
            c->blocks_h = mr__ceil_div(head->height * c->v, 8 * head->vmax);
        }
    }
    head->tiles_x = mr__ceil_div(head->width, head->tile_width);
    head->tiles_y = mr__ceil_div(head->height, head->tile_height);
}

static void store_fields(uint8_t *b, const mr__l3_head *head, uint32_t size_nbytes, uint32_t mode_nbytes,
                         uint64_t tail_nbytes)
{
    memcpy(b, magic, sizeof magic);
    mr__store_le16(b + AT_VERSION, VERSION);
    b[AT_MODE] = (uint8_t)head->mode;
    b[AT_CHANNELS] = (uint8_t)head->channels;
    b[AT_DEPTH] = (uint8_t)head->depth;
    b[AT_ORIENTATION] = (uint8_t)head->orientation;
    b[AT_SIZE_NBYTES] = (uint8_t)size_nbytes;
    b[AT_FLAGS] = (uint8_t)((head->has_icc ? FLAG_ICC : 0) | (head->has_origin ? FLAG_ORIGIN : 0));
    mr__store_le32(b + AT_WIDTH, head->width);
    mr__store_le32(b + AT_HEIGHT, head->height);
    mr__store_le16(b + AT_TILE_WIDTH, (uint16_t)head->tile_width);
    mr__store_le16(b + AT_TILE_HEIGHT, (uint16_t)head->tile_height);
    mr__store_le32(b + AT_MODE_NBYTES, mode_nbytes);
    mr__store_le64(b + AT_TAIL_NBYTES, tail_nbytes);
}

/* The fewest bytes that hold every length. */
static uint32_t size_nbytes_of(const uint32_t *lengths, size_t count)
{
    uint32_t all = 0;
    for (size_t i = 0; i < count; i++)
        all |= lengths[i];
    return all >> 24 != 0 ? 4 : all >> 16 != 0 ? 3 : all >> 8 != 0 ? 2 : 1;
}

int mr__l3_head_write(mr__call *call, const mr__l3_head *head, const uint32_t *lengths, const uint32_t *hashes,
                      uint64_t tail_nbytes, mr__buffer *out, size_t *out_nbytes)
{
    uint8_t part[MR__L3_DCT_PART_MAX], *b;
    size_t part_nbytes = head->mode == MR__L3_DCT ? mr__l3_dct_part_write(head, part) : 0;
    size_t tiles = mr__l3_tile_count(head);
    if (tiles == 0 || tiles > MR__L3_TILES_MAX)
        return mr__call_fail(call, MR_EUNSUPPORTED, "an L3 image of %u x %u would have %zu tiles; it can have 2^26",
                             head->width, head->height, tiles);
    uint32_t size_nbytes = size_nbytes_of(lengths, tiles);
    size_t at = AT_MODE_PART + part_nbytes, nbytes = at + tiles * (size_nbytes + TILE_HASH_NBYTES) + HASH_NBYTES;
    int result = mr__l3_append(call, out, out_nbytes, nbytes, &b);
    if (result != 0)
        return result;
    store_fields(b, head, size_nbytes, (uint32_t)part_nbytes, tail_nbytes);
    if (part_nbytes != 0)
        memcpy(b + AT_MODE_PART, part, part_nbytes);
    for (size_t i = 0; i < tiles; i++)
        for (uint32_t k = 0; k < size_nbytes; k++)
            b[at++] = (uint8_t)(lengths[i] >> 8 * k);
    for (size_t i = 0; i < tiles; i++, at += TILE_HASH_NBYTES)
        mr__store_le32(b + at, hashes[i]);
    mr__store_le64(b + at, mr__hash(b, at));
    return 0;
}

void mr__l3_head_change(uint8_t *bytes, size_t head_nbytes, uint32_t orientation, const mr__l3_tail *tail)
{
    size_t at = head_nbytes - HASH_NBYTES;
    bytes[AT_ORIENTATION] = (uint8_t)orientation;
    bytes[AT_FLAGS] = (uint8_t)((tail->icc != NULL ? FLAG_ICC : 0) | (tail->origin != NULL ? FLAG_ORIGIN : 0));
    mr__store_le64(bytes + AT_TAIL_NBYTES, mr__l3_tail_nbytes(tail));
    mr__store_le64(bytes + at, mr__hash(bytes, at));
}
