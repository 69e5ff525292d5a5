// SPDX-License-Identifier: Apache-2.0
/*
 * What must hold of a decode, whatever the bytes:
 * 1. It has the shape that mr_decoder_shape gives, or fails as that does.
 * 2. A second one says and gives the same, and takes no memory unless there is damage to look at.
 * 3. It does not depend on what stood in new memory, and takes no more of it than the limit.
 * 4. mr_decoder_decode_into gives the same in rows with gaps, from the top or from below, and leaves the gaps alone.
 * 5. If the whole decodes, so does each region of it, and equals that part.
 * 6. What decodes strictly decodes the same with accept_damaged.
 * 7. The orientation applied is mr_image_orient.
 */
#include "check.h"

#include <string.h>

#define GAP      ((size_t)24)
#define GAP_BYTE 0xd7

/* Codec states and small change, which the limit does not count. */
#define SLACK_NBYTES (UINT64_C(4) << 20)

/* One input with two decoders, whose heaps fill new memory differently. */
typedef struct subject {
    const uint8_t *bytes;
    size_t nbytes;
    fuzz_draw draw;
    fuzz_heap heap[2];
    mr_decoder *decoder[2];
} subject;

static void require_equal(const fuzz_outcome *a, const fuzz_outcome *b, const char *what)
{
    FUZZ_REQUIRE(a->result == b->result, "%s: %s (%s) and %s (%s)", what, mr_error_name(a->result), a->detail,
                 mr_error_name(b->result), b->detail);
    FUZZ_REQUIRE(strcmp(a->detail, b->detail) == 0, "%s: \"%s\" and \"%s\"", what, a->detail, b->detail);
    FUZZ_REQUIRE(a->warnings == b->warnings, "%s: %u and %u warnings", what, a->warnings, b->warnings);
    if (a->result == 0)
        FUZZ_REQUIRE(fuzz_same_shape(&a->image, &b->image) && a->hash == b->hash, "%s: other pixels", what);
}

/* 1 */
static void check_shape(subject *s, const mr_decode_hints *hints, const fuzz_outcome *whole)
{
    fuzz_outcome shape = fuzz_shape(s->decoder[1], s->bytes, s->nbytes, hints);
    if (shape.result != 0) {
        FUZZ_REQUIRE(whole->result == shape.result, "shape: %s (%s), decode: %s (%s)", mr_error_name(shape.result),
                     shape.detail, mr_error_name(whole->result), whole->detail);
        return;
    }
    if (whole->result != 0)
        return;
    FUZZ_REQUIRE(fuzz_same_shape(&shape.image, &whole->image), "shape: %ux%u, %u x %u bits; decode: %ux%u, %u x %u",
                 shape.image.width, shape.image.height, shape.image.channels, shape.image.depth, whole->image.width,
                 whole->image.height, whole->image.channels, whole->image.depth);
}

/* 2 */
static fuzz_outcome check_again(subject *s, const mr_decode_hints *hints, const fuzz_outcome *whole)
{
    uint64_t calls = s->heap[0].calls;
    fuzz_outcome again = fuzz_decode(s->decoder[0], s->bytes, s->nbytes, hints);
    require_equal(whole, &again, "the same decode twice");
    if (whole->result == 0 && whole->warnings == 0)
        FUZZ_REQUIRE(s->heap[0].calls == calls, "a second decode of the same image took memory %llu times",
                     (unsigned long long)(s->heap[0].calls - calls));
    return again;
}

/* 3 */
static void check_fill(subject *s, const mr_decode_hints *hints, const fuzz_outcome *whole)
{
    fuzz_outcome other = fuzz_decode(s->decoder[1], s->bytes, s->nbytes, hints);
    require_equal(whole, &other, "the same decode with other bytes in new memory");
}

static bool gap_is_whole(const uint8_t *gap, size_t nbytes)
{
    for (size_t i = 0; i < nbytes; i++)
        if (gap[i] != GAP_BYTE)
            return false;
    return true;
}

/* 4 */
static void check_into(subject *s, const mr_decode_hints *hints, const fuzz_outcome *whole)
{
    mr_image to = whole->image;
    size_t row = mr_image_row_nbytes(&to), step = row + GAP, nbytes = GAP + step * to.height;
    uint8_t *memory = malloc(nbytes);
    FUZZ_REQUIRE(memory != NULL, "the check itself has no memory");
    memset(memory, GAP_BYTE, nbytes);
    to.pixels = memory + GAP;
    to.stride = (ptrdiff_t)step;
    if (fuzz_draw_below(&s->draw, 2) == 0)
        to = mr_image_upside_down(&to);
    int result = mr_decoder_decode_into(s->decoder[1], s->bytes, s->nbytes, hints, &to);
    FUZZ_REQUIRE(result == 0, "decode succeeds, decode_into does not: %s", mr_decoder_detail(s->decoder[1]));
    FUZZ_REQUIRE(mr_image_hash(&to) == whole->hash, "decode_into gives other pixels, stride %td", to.stride);
    for (uint32_t y = 0; y <= to.height; y++)
        FUZZ_REQUIRE(gap_is_whole(memory + step * y, GAP), "decode_into wrote beside row %u", y);
    free(memory);
}

/* 5 */
static void check_region(subject *s, const mr_decode_hints *hints, const fuzz_outcome *whole)
{
    mr_decode_hints part = *hints;
    mr_image crop;
    part.region = fuzz_draw_region(&s->draw, whole->image.width, whole->image.height);
    mr_rect r = part.region;
    fuzz_outcome region = fuzz_decode(s->decoder[1], s->bytes, s->nbytes, &part);
    FUZZ_REQUIRE(region.result == 0, "the whole decodes, region %u,%u %ux%u does not: %s", r.x, r.y, r.width, r.height,
                 region.detail);
    FUZZ_REQUIRE(mr_image_crop(&whole->image, r, &crop) == 0, "no such region");
    FUZZ_REQUIRE(fuzz_same_shape(&crop, &region.image), "region %u,%u %ux%u has another shape", r.x, r.y, r.width,
                 r.height);
    FUZZ_REQUIRE(mr_image_hash(&crop) == region.hash, "region %u,%u %ux%u is not that part of the whole", r.x, r.y,
                 r.width, r.height);
}

/* A region of what does not decode as a whole: it may, or may not. */
static void try_region(subject *s, const mr_decode_hints *hints)
{
    mr_decode_hints part = *hints;
    fuzz_outcome shape = fuzz_shape(s->decoder[1], s->bytes, s->nbytes, hints);
    if (shape.result != 0)
        return;
    part.region = fuzz_draw_region(&s->draw, shape.image.width, shape.image.height);
    fuzz_decode(s->decoder[1], s->bytes, s->nbytes, &part);
}

/* 6 */
static void check_damaged(subject *s, const mr_decode_hints *hints, const fuzz_outcome *whole)
{
    mr_decode_hints other = *hints;
    other.accept_damaged = !hints->accept_damaged;
    fuzz_outcome second = fuzz_decode(s->decoder[1], s->bytes, s->nbytes, &other);
    const fuzz_outcome *strict = hints->accept_damaged ? &second : whole;
    const fuzz_outcome *accepting = hints->accept_damaged ? whole : &second;
    if (strict->result == 0)
        require_equal(strict, accepting, "strict and accept_damaged");
    else if (accepting->result == 0)
        FUZZ_REQUIRE(accepting->warnings != 0, "damage was accepted without a warning: %s", strict->detail);
}

/* 7 */
static void check_orient(subject *s, const mr_decode_hints *hints, const fuzz_outcome *whole)
{
    mr_decode_hints stored = *hints;
    mr_info info;
    mr_image turned;
    stored.orient = false;
    fuzz_outcome told = fuzz_info(s->decoder[1], s->bytes, s->nbytes, &info);
    FUZZ_REQUIRE(told.result == 0, "decode succeeds, info does not: %s", told.detail);
    fuzz_outcome plain = fuzz_decode(s->decoder[1], s->bytes, s->nbytes, &stored);
    FUZZ_REQUIRE(plain.result == 0, "decodes only with its orientation applied: %s", plain.detail);
    const mr_image *w = &whole->image;
    FUZZ_REQUIRE(mr_image_init(&turned, w->width, w->height, w->channels, w->depth, NULL) == 0, "no memory");
    FUZZ_REQUIRE(mr_image_orient(&plain.image, info.orientation, &turned) == 0, "orientation %u", info.orientation);
    FUZZ_REQUIRE(mr_image_hash(&turned) == whole->hash, "orientation %u gives other pixels", info.orientation);
    mr_image_fini(&turned, NULL);
}

static void check_all(subject *s, const fuzz_setting *setting, const mr_decode_hints *hints)
{
    fuzz_outcome whole = fuzz_decode(s->decoder[0], s->bytes, s->nbytes, hints);
    uint64_t limit = setting->limits.memory_nbytes;
    if (limit != 0)
        FUZZ_REQUIRE(s->heap[0].peak_nbytes <= limit + SLACK_NBYTES, "%llu bytes were taken, the limit is %llu",
                     (unsigned long long)s->heap[0].peak_nbytes, (unsigned long long)limit);
    check_shape(s, hints, &whole);
    whole = check_again(s, hints, &whole);
    check_fill(s, hints, &whole);
    check_damaged(s, hints, &whole);
    if (whole.result != 0) {
        try_region(s, hints);
        return;
    }
    check_into(s, hints, &whole);
    check_region(s, hints, &whole);
    if (hints->orient)
        check_orient(s, hints, &whole);
}

void fuzz_check_decode(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)
{
    if (form != MR_FORM_NONE && mr_form_probe(bytes, nbytes) != form)
        return;
    subject s = {.bytes = bytes, .nbytes = nbytes, .heap = {{.fill = 0x5a}, {.fill = 0xa5}}};
    s.draw = fuzz_draw_init(setting, bytes, nbytes);
    for (int i = 0; i < 2; i++)
        s.decoder[i] = fuzz_decoder_new(setting, &s.heap[i]);
    mr_decode_hints hints = fuzz_draw_hints(&s.draw);
    check_all(&s, setting, &hints);
    for (int i = 0; i < 2; i++) {
        mr_decoder_free(s.decoder[i]);
        FUZZ_REQUIRE(s.heap[i].blocks == 0, "%lld blocks are left", (long long)s.heap[i].blocks);
    }
}
