// SPDX-License-Identifier: Apache-2.0
/* Calls of the library, each held against what the headers promise of every call. */
#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void fuzz_fail(const char *file, int line, const char *holds, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s:%d: does not hold: %s\n    ", file, line, holds);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    abort();
}

fuzz_setting fuzz_setting_small(void)
{
    return (fuzz_setting){.limits = {.struct_size = sizeof(mr_limits),
                                     .pixels = UINT64_C(1) << 15,
                                     .nbytes = UINT64_C(1) << 20,
                                     .scans = 20,
                                     .memory_nbytes = UINT64_C(1) << 26}};
}

mr_decoder *fuzz_decoder_new(const fuzz_setting *setting, fuzz_heap *heap)
{
    return fuzz_decoder_new_jpeg(setting, heap, MR_JPEG_EITHER);
}

mr_decoder *fuzz_decoder_new_jpeg(const fuzz_setting *setting, fuzz_heap *heap, mr_jpeg_choice choice)
{
    mr_hooks hooks = fuzz_heap_hooks(heap);
    mr_decoder_options options = {
        .struct_size = sizeof options, .hooks = &hooks, .limits = &setting->limits, .jpeg = choice};
    mr_decoder *decoder = NULL;
    int result = mr_decoder_new(&options, &decoder);
    FUZZ_REQUIRE((result == 0) == (decoder != NULL), "mr_decoder_new: %s", mr_error_name(result));
    FUZZ_REQUIRE(result == 0 || result == MR_ENOMEM, "mr_decoder_new: %s", mr_error_name(result));
    return decoder;
}

mr_encoder *fuzz_encoder_new(const fuzz_setting *setting, fuzz_heap *heap)
{
    mr_hooks hooks = fuzz_heap_hooks(heap);
    mr_encoder_options options = {.struct_size = sizeof options, .hooks = &hooks, .limits = &setting->limits};
    mr_encoder *encoder = NULL;
    int result = mr_encoder_new(&options, &encoder);
    FUZZ_REQUIRE((result == 0) == (encoder != NULL), "mr_encoder_new: %s", mr_error_name(result));
    FUZZ_REQUIRE(result == 0 || result == MR_ENOMEM, "mr_encoder_new: %s", mr_error_name(result));
    return encoder;
}

/* The code is of the list, the detail there when it has to be, and one line without a full stop. */
static void take_detail(fuzz_outcome *outcome, const char *call, const char *detail)
{
    FUZZ_REQUIRE(detail != NULL, "%s gives no detail text at all", call);
    snprintf(outcome->detail, sizeof outcome->detail, "%s", detail);
    int r = outcome->result;
    FUZZ_REQUIRE(r <= 0 && strcmp(mr_error_name(r), "MR_E?") != 0, "%s returned %d", call, r);
    FUZZ_REQUIRE(r != MR_EINTERNAL, "%s: %s", call, detail);
    FUZZ_REQUIRE((r == 0) == (detail[0] == 0), "%s returned %s with the detail \"%s\"", call, mr_error_name(r), detail);
    FUZZ_REQUIRE(strpbrk(detail, "\n\r\t") == NULL, "%s: the detail is not one line: \"%s\"", call, detail);
}

static const mr_image untouched = {7, 7, 77, 777, 7777, (void *)&untouched};

static void take_image(fuzz_outcome *outcome, const mr_image *image, const char *call)
{
    if (outcome->result == 0)
        outcome->image = *image;
    else
        FUZZ_REQUIRE(memcmp(image, &untouched, sizeof untouched) == 0, "%s failed but wrote its result", call);
}

fuzz_outcome fuzz_decode(mr_decoder *decoder, const uint8_t *bytes, size_t nbytes, const mr_decode_hints *hints)
{
    mr_image image = untouched;
    fuzz_outcome outcome = {.result = mr_decoder_decode(decoder, bytes, nbytes, hints, &image)};
    take_detail(&outcome, "mr_decoder_decode", mr_decoder_detail(decoder));
    take_image(&outcome, &image, "mr_decoder_decode");
    outcome.warnings = mr_decoder_warnings(decoder);
    if (outcome.result == 0) {
        FUZZ_REQUIRE(mr_image_is_valid(&image), "the decoded image is not valid");
        outcome.hash = mr_image_hash(&image);
    }
    return outcome;
}

fuzz_outcome fuzz_shape(mr_decoder *decoder, const uint8_t *bytes, size_t nbytes, const mr_decode_hints *hints)
{
    mr_image image = untouched;
    fuzz_outcome outcome = {.result = mr_decoder_shape(decoder, bytes, nbytes, hints, &image)};
    take_detail(&outcome, "mr_decoder_shape", mr_decoder_detail(decoder));
    take_image(&outcome, &image, "mr_decoder_shape");
    if (outcome.result == 0) {
        FUZZ_REQUIRE(image.pixels == NULL, "a shape has no pixels");
        FUZZ_REQUIRE(image.stride == (ptrdiff_t)mr_image_row_nbytes(&image), "the shape's stride is not a row's bytes");
    }
    return outcome;
}

fuzz_outcome fuzz_info(mr_decoder *decoder, const uint8_t *bytes, size_t nbytes, mr_info *info)
{
    unsigned char before[sizeof *info];
    memset(info, 0xc3, sizeof *info);
    info->struct_size = sizeof *info;
    memcpy(before, info, sizeof *info);
    fuzz_outcome outcome = {.result = mr_decoder_info(decoder, bytes, nbytes, info)};
    take_detail(&outcome, "mr_decoder_info", mr_decoder_detail(decoder));
    outcome.warnings = mr_decoder_warnings(decoder);
    if (outcome.result != 0)
        FUZZ_REQUIRE(memcmp(info, before, sizeof *info) == 0, "mr_decoder_info failed but wrote its result");
    return outcome;
}

fuzz_outcome fuzz_icc(mr_decoder *decoder, const uint8_t *bytes, size_t nbytes, const void **icc, size_t *icc_nbytes)
{
    const void *found = &untouched;
    size_t found_nbytes = 7777;
    fuzz_outcome outcome = {.result = mr_decoder_icc(decoder, bytes, nbytes, &found, &found_nbytes)};
    take_detail(&outcome, "mr_decoder_icc", mr_decoder_detail(decoder));
    *icc = NULL;
    *icc_nbytes = 0;
    if (outcome.result == 0) {
        FUZZ_REQUIRE((found == NULL) == (found_nbytes == 0), "an ICC profile of %zu bytes", found_nbytes);
        *icc = found;
        *icc_nbytes = found_nbytes;
    } else {
        FUZZ_REQUIRE(found == &untouched && found_nbytes == 7777, "mr_decoder_icc failed but wrote its result");
    }
    return outcome;
}

fuzz_outcome fuzz_encode(mr_encoder *encoder, const fuzz_picture *picture, const void **out, size_t *out_nbytes)
{
    const void *made = &untouched;
    size_t made_nbytes = 7777;
    fuzz_outcome outcome = {.result =
                                mr_encoder_encode(encoder, &picture->image, &picture->options, &made, &made_nbytes)};
    take_detail(&outcome, "mr_encoder_encode", mr_encoder_detail(encoder));
    if (outcome.result == 0) {
        FUZZ_REQUIRE(made != NULL && made_nbytes != 0, "mr_encoder_encode made nothing");
        *out = made;
        *out_nbytes = made_nbytes;
    } else {
        FUZZ_REQUIRE(made == &untouched && made_nbytes == 7777, "mr_encoder_encode failed but wrote its result");
    }
    return outcome;
}

fuzz_outcome fuzz_recode(mr_encoder *encoder, const uint8_t *bytes, size_t nbytes, const mr_encode_options *options,
                         const void **out, size_t *out_nbytes, mr_recode_report *report)
{
    const void *made = &untouched;
    size_t made_nbytes = 7777;
    *report = (mr_recode_report){.struct_size = sizeof *report};
    fuzz_outcome outcome = {.result = mr_encoder_recode(encoder, bytes, nbytes, options, &made, &made_nbytes, report)};
    take_detail(&outcome, "mr_encoder_recode", mr_encoder_detail(encoder));
    if (outcome.result == 0) {
        FUZZ_REQUIRE(made != NULL && made_nbytes != 0, "mr_encoder_recode made nothing");
        FUZZ_REQUIRE(report->why != NULL, "a report without a reason");
        *out = made;
        *out_nbytes = made_nbytes;
    } else {
        FUZZ_REQUIRE(made == &untouched && made_nbytes == 7777, "mr_encoder_recode failed but wrote its result");
    }
    return outcome;
}

bool fuzz_same_shape(const mr_image *a, const mr_image *b)
{
    return a->width == b->width && a->height == b->height && a->channels == b->channels && a->depth == b->depth;
}
