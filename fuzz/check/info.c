// SPDX-License-Identifier: Apache-2.0
/*
 * What must hold of a header, whatever the bytes: info, shape and icc say the same twice, take next to no memory
 * whatever size the header claims, and stay within what their comments allow.
 */
#include "check.h"

#include <string.h>

/* What a codec may take for its own state; nothing may depend on the size in the header. */
#define STATE_NBYTES (UINT64_C(2) << 20)

static void check_fields(const mr_info *info, mr_form form)
{
    FUZZ_REQUIRE(info->form == form, "form %d, probed as %d", (int)info->form, (int)form);
    FUZZ_REQUIRE(info->width >= 1 && info->width <= INT32_MAX, "width %u", info->width);
    FUZZ_REQUIRE(info->height >= 1 && info->height <= INT32_MAX, "height %u", info->height);
    FUZZ_REQUIRE(info->channels >= 1 && info->channels <= 4, "channels %u", info->channels);
    FUZZ_REQUIRE(info->depth == 8 || info->depth == 16, "depth %u", info->depth);
    FUZZ_REQUIRE(info->orientation >= 1 && info->orientation <= 8, "orientation %u", info->orientation);
    FUZZ_REQUIRE(info->frames >= 1, "frames %u", info->frames);
    FUZZ_REQUIRE(strcmp(mr_color_name(info->color), "unknown") != 0, "color %d", (int)info->color);
    FUZZ_REQUIRE(info->subsampling <= MR_SUBSAMPLING_OTHER, "subsampling %d", (int)info->subsampling);
}

/* A program built against an older header has a shorter struct: nothing behind its end may be written. */
static void check_short_struct(mr_decoder *decoder, const uint8_t *bytes, size_t nbytes, const mr_info *whole)
{
    mr_info part;
    memset(&part, 0xc3, sizeof part);
    part.struct_size = offsetof(mr_info, channels);
    int result = mr_decoder_info(decoder, bytes, nbytes, &part);
    FUZZ_REQUIRE(result == 0 && part.width == whole->width && part.height == whole->height, "a short mr_info");
    FUZZ_REQUIRE(part.channels == UINT32_C(0xc3c3c3c3), "info wrote behind the end of a short mr_info");
}

static void check_shape(mr_decoder *decoder, const fuzz_setting *setting, const uint8_t *bytes, size_t nbytes,
                        const mr_info *info)
{
    fuzz_draw draw = fuzz_draw_init(setting, bytes, nbytes);
    mr_decode_hints hints = fuzz_draw_hints(&draw);
    fuzz_outcome shape = fuzz_shape(decoder, bytes, nbytes, &hints);
    if (shape.result != 0)
        return;
    uint32_t n = hints.reduce > 1 ? hints.reduce : 1;
    uint32_t width = info->width / n + (info->width % n != 0), height = info->height / n + (info->height % n != 0);
    bool turned = hints.orient && info->orientation >= 5;
    const mr_image *s = &shape.image;
    FUZZ_REQUIRE(s->width == (turned ? height : width) && s->height == (turned ? width : height),
                 "%ux%u reduced by %u is %ux%u", info->width, info->height, n, s->width, s->height);
    FUZZ_REQUIRE(s->channels == (hints.channels != 0 ? hints.channels : info->channels), "channels %u", s->channels);
    FUZZ_REQUIRE(s->depth == (hints.depth != 0 ? hints.depth : info->depth), "depth %u", s->depth);
    hints.region = (mr_rect){s->width - 1, s->height - 1, 2, 1};
    FUZZ_REQUIRE(fuzz_shape(decoder, bytes, nbytes, &hints).result == MR_EARGUMENT, "a region that sticks out");
}

static void check_icc(mr_decoder *decoder, const uint8_t *bytes, size_t nbytes, const mr_info *info)
{
    const void *icc;
    size_t icc_nbytes;
    fuzz_outcome profile = fuzz_icc(decoder, bytes, nbytes, &icc, &icc_nbytes);
    if (profile.result != 0)
        return;
    FUZZ_REQUIRE(info->has_icc == (icc != NULL), "has_icc is %d, the profile has %zu bytes", info->has_icc, icc_nbytes);
    unsigned sum = 0; /* every byte can be read */
    for (size_t i = 0; i < icc_nbytes; i++)
        sum += ((const uint8_t *)icc)[i];
    FUZZ_REQUIRE(sum <= 255 * icc_nbytes, "arithmetic");
}

void fuzz_check_info(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)
{
    mr_form probed = mr_form_probe(bytes, nbytes);
    if (form != MR_FORM_NONE && probed != form)
        return;
    fuzz_heap heap = {.fill = 0x5a};
    mr_decoder *decoder = fuzz_decoder_new(setting, &heap);
    mr_info info, second;
    fuzz_outcome told = fuzz_info(decoder, bytes, nbytes, &info);
    uint64_t calls = heap.calls;
    fuzz_outcome again = fuzz_info(decoder, bytes, nbytes, &second);
    FUZZ_REQUIRE(told.result == again.result && strcmp(told.detail, again.detail) == 0, "info twice: \"%s\", \"%s\"",
                 told.detail, again.detail);
    FUZZ_REQUIRE(heap.calls == calls, "info takes memory each time");
    if (probed == MR_FORM_NONE && nbytes <= setting->limits.nbytes)
        FUZZ_REQUIRE(told.result == MR_EFORMAT, "no form, but %s", mr_error_name(told.result));
    if (told.result == 0) {
        check_fields(&info, probed);
        check_short_struct(decoder, bytes, nbytes, &info);
        check_shape(decoder, setting, bytes, nbytes, &info);
        FUZZ_REQUIRE(heap.peak_nbytes <= STATE_NBYTES, "%llu bytes for a header", (unsigned long long)heap.peak_nbytes);
        check_icc(decoder, bytes, nbytes, &info);
    }
    mr_decoder_free(decoder);
    FUZZ_REQUIRE(heap.blocks == 0, "%lld blocks are left", (long long)heap.blocks);
}
