// SPDX-License-Identifier: Apache-2.0
/*
 * What must hold of an encode, whatever the pixels and options:
 * 1. It succeeds, or the form does not have what was asked (MR_EUNSUPPORTED) or it makes no sense (MR_EARGUMENT).
 * 2. Its bytes are of the form asked for, and info gives back size, orientation and ICC profile.
 * 3. A lossless one decodes to the same pixels.
 * 4. A second one makes the same bytes and takes no memory.
 */
#include "check.h"

#include <string.h>

/* 2 */
static void check_header(mr_decoder *decoder, const fuzz_picture *picture, const void *bytes, size_t nbytes,
                         mr_info *info)
{
    const mr_encode_options *o = &picture->options;
    const void *icc;
    size_t icc_nbytes;
    FUZZ_REQUIRE(mr_form_probe(bytes, nbytes) == o->form, "what was encoded as %s is not probed as that",
                 mr_form_name(o->form));
    fuzz_outcome told = fuzz_info(decoder, bytes, nbytes, info);
    FUZZ_REQUIRE(told.result == 0, "the header of our own %s: %s", mr_form_name(o->form), told.detail);
    FUZZ_REQUIRE(info->width == picture->image.width && info->height == picture->image.height, "%ux%u became %ux%u",
                 picture->image.width, picture->image.height, info->width, info->height);
    if (o->form == MR_FORM_PNM) /* has no place for the rest */
        return;
    FUZZ_REQUIRE(info->orientation == (o->orientation != 0 ? o->orientation : 1), "orientation %u became %u",
                 o->orientation, info->orientation);
    fuzz_outcome profile = fuzz_icc(decoder, bytes, nbytes, &icc, &icc_nbytes);
    FUZZ_REQUIRE(profile.result == 0, "the ICC profile of our own %s: %s", mr_form_name(o->form), profile.detail);
    FUZZ_REQUIRE(icc_nbytes == o->icc_nbytes && (icc_nbytes == 0 || memcmp(icc, o->icc, icc_nbytes) == 0),
                 "an ICC profile of %zu bytes came back as another of %zu", o->icc_nbytes, icc_nbytes);
}

/* 3 */
static void check_pixels(mr_decoder *decoder, const fuzz_picture *picture, const void *bytes, size_t nbytes,
                         const mr_info *info)
{
    mr_decode_hints hints = {
        .struct_size = sizeof hints, .channels = picture->image.channels, .depth = picture->image.depth};
    fuzz_outcome back = fuzz_decode(decoder, bytes, nbytes, &hints);
    FUZZ_REQUIRE(back.result == 0, "our own %s does not decode: %s", mr_form_name(info->form), back.detail);
    FUZZ_REQUIRE(back.warnings == 0, "our own %s has %u warnings", mr_form_name(info->form), back.warnings);
    FUZZ_REQUIRE(info->lossless ==
                     (info->form != MR_FORM_JPEG && (info->form != MR_FORM_WEBP || picture->options.lossless)),
                 "lossless is %d", info->lossless);
    if (info->lossless)
        FUZZ_REQUIRE(mr_image_hash(&picture->image) == back.hash, "%s gives other pixels back",
                     mr_form_name(info->form));
}

/* 4. `made` is a copy of the first bytes. */
static void check_again(mr_encoder *encoder, const fuzz_heap *heap, const fuzz_picture *picture, const void *made,
                        size_t made_nbytes)
{
    const void *out;
    size_t out_nbytes;
    uint64_t calls = heap->calls;
    fuzz_outcome again = fuzz_encode(encoder, picture, &out, &out_nbytes);
    FUZZ_REQUIRE(again.result == 0, "a second encode fails: %s", again.detail);
    FUZZ_REQUIRE(out_nbytes == made_nbytes && memcmp(out, made, made_nbytes) == 0, "a second encode makes other bytes");
    FUZZ_REQUIRE(heap->calls == calls, "a second encode of the same image took memory %llu times",
                 (unsigned long long)(heap->calls - calls));
}

static void check_encoded(const fuzz_setting *setting, mr_encoder *encoder, const fuzz_heap *heap,
                          const fuzz_picture *picture, const void *out, size_t out_nbytes)
{
    fuzz_heap other = {.fill = 0xa5};
    mr_decoder *decoder = fuzz_decoder_new(setting, &other);
    void *made = malloc(out_nbytes); /* exactly as long, so that a sanitizer sees a read behind the end */
    mr_info info;
    FUZZ_REQUIRE(made != NULL, "the check itself has no memory");
    memcpy(made, out, out_nbytes);
    check_header(decoder, picture, made, out_nbytes, &info);
    check_pixels(decoder, picture, made, out_nbytes, &info);
    check_again(encoder, heap, picture, made, out_nbytes);
    free(made);
    mr_decoder_free(decoder);
    FUZZ_REQUIRE(other.blocks == 0, "%lld blocks are left", (long long)other.blocks);
}

void fuzz_check_roundtrip(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)
{
    fuzz_picture picture;
    if (!fuzz_picture_init(&picture, bytes, nbytes))
        return;
    if (form == MR_FORM_NONE || form == picture.options.form) {
        fuzz_heap heap = {.fill = 0x5a};
        const void *out;
        size_t out_nbytes;
        mr_encoder *encoder = fuzz_encoder_new(setting, &heap);
        fuzz_outcome made = fuzz_encode(encoder, &picture, &out, &out_nbytes);
        int r = made.result;
        FUZZ_REQUIRE(r == 0 || r == MR_EUNSUPPORTED || r == MR_EARGUMENT, "encoding %s: %s",
                     mr_form_name(picture.options.form), made.detail);
        if (r == 0)
            check_encoded(setting, encoder, &heap, &picture, out, out_nbytes);
        mr_encoder_free(encoder);
        FUZZ_REQUIRE(heap.blocks == 0, "%lld blocks are left", (long long)heap.blocks);
    }
    fuzz_picture_fini(&picture);
}
