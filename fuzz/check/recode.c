// SPDX-License-Identifier: Apache-2.0
/*
 * What must hold of verifying and recoding, whatever the bytes:
 * 1. What verifies decodes strictly, and each of its tiles is intact, lies in the image and in the file.
 * 2. A second recode makes the same bytes.
 * 3. What was made decodes to the pixels of the source, unless it went through pixels to a lossy form, and verifies, if
 *    the source does. A damaged origin is left out: then what was made decodes, and the source need not.
 * 4. Where the report says that the source can be had back, it comes back byte for byte.
 */
#include "check.h"

#include <string.h>

typedef struct subject {
    const fuzz_setting *setting;
    const uint8_t *bytes;
    size_t nbytes;
    mr_decoder *decoder;
    mr_encoder *encoder;
    mr_encode_options options;
} subject;

/* A copy exactly as long, so that a sanitizer sees a read behind the end. */
static uint8_t *copy_of(const void *bytes, size_t nbytes)
{
    uint8_t *copy = malloc(nbytes);
    FUZZ_REQUIRE(copy != NULL, "the check itself has no memory");
    memcpy(copy, bytes, nbytes);
    return copy;
}

/* 1 */
static void check_tiles(const subject *s, const mr_info *info)
{
    for (uint32_t i = 0; i < info->tiles; i++) {
        mr_tile tile = {.struct_size = sizeof tile};
        int result = mr_decoder_tile(s->decoder, s->bytes, s->nbytes, i, &tile);
        FUZZ_REQUIRE(result == 0 && tile.intact, "tile %u of what verifies: %s", i, mr_decoder_detail(s->decoder));
        FUZZ_REQUIRE(tile.nbytes <= s->nbytes && tile.offset <= s->nbytes - tile.nbytes, "tile %u is at byte %llu", i,
                     (unsigned long long)tile.offset);
        FUZZ_REQUIRE(tile.rect.x < info->width && tile.rect.width <= info->width - tile.rect.x &&
                         tile.rect.y < info->height && tile.rect.height <= info->height - tile.rect.y,
                     "tile %u sticks out", i);
        FUZZ_REQUIRE(tile.kind != NULL && tile.kind[0] != 0, "tile %u has no kind", i);
    }
}

static void check_verified(const subject *s)
{
    mr_info info;
    int result = mr_decoder_verify(s->decoder, s->bytes, s->nbytes);
    if (result != 0)
        return;
    fuzz_outcome decoded = fuzz_decode(s->decoder, s->bytes, s->nbytes, NULL);
    FUZZ_REQUIRE(decoded.result == 0, "what verifies does not decode: %s", decoded.detail);
    fuzz_outcome told = fuzz_info(s->decoder, s->bytes, s->nbytes, &info);
    FUZZ_REQUIRE(told.result == 0, "what verifies has no header: %s", told.detail);
    check_tiles(s, &info);
}

/* 2 */
static void check_again(const subject *s, const uint8_t *made, size_t made_nbytes)
{
    const void *out;
    size_t out_nbytes;
    mr_recode_report report;
    fuzz_outcome again = fuzz_recode(s->encoder, s->bytes, s->nbytes, &s->options, &out, &out_nbytes, &report);
    FUZZ_REQUIRE(again.result == 0, "a second recode fails: %s", again.detail);
    FUZZ_REQUIRE(out_nbytes == made_nbytes && memcmp(out, made, made_nbytes) == 0, "a second recode makes other bytes");
}

/* Whether the source has an origin that what was made of it has not. */
static bool has_lost_origin(const subject *s, const mr_recode_report *report)
{
    mr_info info;
    return fuzz_info(s->decoder, s->bytes, s->nbytes, &info).result == 0 && info.has_origin && !report->has_origin;
}

/* 3 */
static void check_pixels(const subject *s, const uint8_t *made, size_t made_nbytes, const mr_recode_report *report)
{
    fuzz_outcome before = fuzz_decode(s->decoder, s->bytes, s->nbytes, NULL);
    fuzz_outcome after = fuzz_decode(s->decoder, made, made_nbytes, NULL);
    if (before.result == MR_ELIMIT || after.result == MR_ELIMIT)
        return;
    bool left_out = before.result == MR_ECORRUPT && after.result == 0 && has_lost_origin(s, report);
    FUZZ_REQUIRE((before.result == 0) == (after.result == 0) || left_out,
                 "the source: %s (%s); what was made of it: %s (%s)", mr_error_name(before.result), before.detail,
                 mr_error_name(after.result), after.detail);
    if (before.result != 0)
        return;
    bool fits = mr_decoder_verify(s->decoder, s->bytes, s->nbytes) == 0; // an origin that does not is kept in L3
    int verified = mr_decoder_verify(s->decoder, made, made_nbytes);
    FUZZ_REQUIRE(verified == 0 || !fits, "what was made does not verify: %s", mr_decoder_detail(s->decoder));
    if (report->exact || s->options.form == MR_FORM_L3)
        FUZZ_REQUIRE(before.hash == after.hash, "other pixels, %s", report->exact ? "exactly" : "through pixels");
}

/* 4 */
static void check_back(const subject *s, const uint8_t *made, size_t made_nbytes)
{
    const void *out;
    size_t out_nbytes;
    mr_recode_report report;
    mr_encode_options options = {.struct_size = sizeof options, .form = MR_FORM_JPEG};
    fuzz_outcome back = fuzz_recode(s->encoder, made, made_nbytes, &options, &out, &out_nbytes, &report);
    FUZZ_REQUIRE(back.result == 0, "the very JPEG does not come back: %s", back.detail);
    FUZZ_REQUIRE(report.exact && report.has_origin, "the very JPEG does not come back: %s", report.why);
    FUZZ_REQUIRE(out_nbytes == s->nbytes && memcmp(out, s->bytes, out_nbytes) == 0, "another JPEG comes back");
}

static void check_recoded(subject *s, mr_form from)
{
    const void *out;
    size_t out_nbytes;
    mr_recode_report report;
    fuzz_outcome made = fuzz_recode(s->encoder, s->bytes, s->nbytes, &s->options, &out, &out_nbytes, &report);
    if (made.result != 0)
        return;
    FUZZ_REQUIRE(mr_form_probe(out, out_nbytes) == s->options.form, "what was made is of another form");
    FUZZ_REQUIRE(!report.has_origin || report.exact, "an origin of what is not exact");
    uint8_t *copy = copy_of(out, out_nbytes);
    check_again(s, copy, out_nbytes);
    check_pixels(s, copy, out_nbytes, &report);
    if (report.has_origin && from == MR_FORM_JPEG)
        check_back(s, copy, out_nbytes);
    free(copy);
}

mr_encode_options fuzz_draw_recoding(fuzz_draw *draw, mr_form from)
{
    mr_encode_options options = {.struct_size = sizeof options, .form = MR_FORM_L3};
    if (from == MR_FORM_L3 && fuzz_draw_below(draw, 4) != 0)
        options.form = MR_FORM_JPEG;
    options.without_origin = fuzz_draw_below(draw, 4) == 0;
    options.preset = (mr_l3_preset)fuzz_draw_below(draw, 3);
    return options;
}

void fuzz_check_recode(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)
{
    mr_form from = mr_form_probe(bytes, nbytes);
    if ((form != MR_FORM_NONE && from != form) || (from != MR_FORM_JPEG && from != MR_FORM_L3))
        return;
    fuzz_draw draw = fuzz_draw_init(setting, bytes, nbytes);
    fuzz_heap heaps[2] = {{.fill = 0x5a}, {.fill = 0xa5}};
    subject s = {.setting = setting, .bytes = bytes, .nbytes = nbytes};
    s.options = fuzz_draw_recoding(&draw, from);
    s.decoder = fuzz_decoder_new(setting, &heaps[0]);
    s.encoder = fuzz_encoder_new(setting, &heaps[1]);
    check_verified(&s);
    check_recoded(&s, from);
    mr_decoder_free(s.decoder);
    mr_encoder_free(s.encoder);
    FUZZ_REQUIRE(heaps[0].blocks == 0 && heaps[1].blocks == 0, "%lld and %lld blocks are left",
                 (long long)heaps[0].blocks, (long long)heaps[1].blocks);
}
