// SPDX-License-Identifier: Apache-2.0
/*
 * What must hold when memory runs out: a call succeeds with the same pixels, or fails with MR_ENOMEM, or fails as it
 * would have anyway; the handle goes on working; nothing is left behind.
 *
 * Where the setting can arm the libraries (wrap.c), their allocations are counted and failed as ours are, and the peak
 * of both together is held against the limit.
 */
#include "check.h"

#include <string.h>

/* What the limit does not count: codec states, a library's small change. */
#define SLACK_NBYTES (UINT64_C(4) << 20)

/* One call on a handle, the same in every run. */
typedef struct scene {
    const fuzz_setting *setting;
    const uint8_t *bytes;
    size_t nbytes;
    mr_decode_hints hints;
    fuzz_picture picture;
    mr_encode_options options;
    fuzz_outcome (*act)(const struct scene *scene, void *handle, fuzz_heap *heap);
    void *(*open)(const struct scene *scene, fuzz_heap *heap);
    void (*close)(void *handle);
} scene;

static void *open_decoder(const scene *s, fuzz_heap *heap)
{
    return fuzz_decoder_new(s->setting, heap);
}

static void *open_own(const scene *s, fuzz_heap *heap)
{
    return fuzz_decoder_new_jpeg(s->setting, heap, MR_JPEG_OWN);
}

static void close_decoder(void *handle)
{
    mr_decoder_free(handle);
}

static void *open_encoder(const scene *s, fuzz_heap *heap)
{
    return fuzz_encoder_new(s->setting, heap);
}

static void close_encoder(void *handle)
{
    mr_encoder_free(handle);
}

static fuzz_outcome act_decode(const scene *s, void *handle, fuzz_heap *heap)
{
    (void)heap;
    return fuzz_decode(handle, s->bytes, s->nbytes, &s->hints);
}

static uint64_t hash_bytes(const void *bytes, size_t nbytes)
{
    mr_image row = {.width = (uint32_t)nbytes, .height = 1, .channels = 1, .depth = 8, .stride = (ptrdiff_t)nbytes};
    row.pixels = (void *)(uintptr_t)bytes;
    return nbytes == 0 ? 0 : mr_image_hash(&row);
}

static fuzz_outcome act_icc(const scene *s, void *handle, fuzz_heap *heap)
{
    (void)heap;
    const void *icc;
    size_t icc_nbytes;
    fuzz_outcome outcome = fuzz_icc(handle, s->bytes, s->nbytes, &icc, &icc_nbytes);
    outcome.hash = hash_bytes(icc, icc_nbytes);
    return outcome;
}

static void arm(const scene *s, fuzz_heap *heap)
{
    if (s->setting->arm != NULL)
        s->setting->arm(heap);
}

/* libwebp's encoder, short of memory, tries fewer ways and makes other bytes, of the same pixels. */
static bool makes_do(const scene *s)
{
    return s->setting->arm != NULL && s->picture.memory != NULL && s->picture.options.form == MR_FORM_WEBP;
}

/* What the bytes decode to, with all the memory there is. */
static uint64_t hash_pixels(const scene *s, const void *bytes, size_t nbytes, fuzz_heap *heap)
{
    arm(s, NULL);
    fuzz_heap calm = {.fill = 0};
    mr_decoder *decoder = fuzz_decoder_new(s->setting, &calm);
    fuzz_outcome outcome = fuzz_decode(decoder, bytes, nbytes, NULL);
    FUZZ_REQUIRE(outcome.result == 0 || outcome.result == MR_ELIMIT, "what was encoded does not decode: %s",
                 outcome.detail);
    mr_decoder_free(decoder);
    arm(s, heap);
    return outcome.hash;
}

static fuzz_outcome act_encode(const scene *s, void *handle, fuzz_heap *heap)
{
    const void *out;
    size_t out_nbytes;
    fuzz_outcome outcome = fuzz_encode(handle, &s->picture, &out, &out_nbytes);
    if (outcome.result == 0)
        outcome.hash = makes_do(s) ? hash_pixels(s, out, out_nbytes, heap) : hash_bytes(out, out_nbytes);
    return outcome;
}

static fuzz_outcome act_recode(const scene *s, void *handle, fuzz_heap *heap)
{
    (void)heap;
    const void *out;
    size_t out_nbytes;
    mr_recode_report report;
    fuzz_outcome outcome = fuzz_recode(handle, s->bytes, s->nbytes, &s->options, &out, &out_nbytes, &report);
    if (outcome.result == 0)
        outcome.hash = hash_bytes(out, out_nbytes);
    return outcome;
}

static bool same(const fuzz_outcome *a, const fuzz_outcome *b)
{
    return a->result == b->result && strcmp(a->detail, b->detail) == 0 && (a->result != 0 || a->hash == b->hash);
}

static bool contains(const uint8_t *bytes, size_t nbytes, const char *tag)
{
    for (size_t i = 0; i + 4 <= nbytes; i++)
        if (memcmp(bytes + i, tag, 4) == 0)
            return true;
    return false;
}

/*
 * libwebp 1.2.4 as patched by Debian 12 frees what a local variable happens to hold when VP8LHuffmanTablesAllocate has
 * no memory (github.com/webmproject/libwebp pull 12 mends it): lossless data and alpha are spared. And with its
 * greatest effort, which 8 and 9 are, its encoder leaks a block when memory runs out.
 */
static bool library_breaks(const scene *s)
{
    if (s->picture.memory != NULL)
        return s->picture.options.form == MR_FORM_WEBP && s->picture.options.effort >= 8;
    return mr_form_probe(s->bytes, s->nbytes) == MR_FORM_WEBP &&
           (contains(s->bytes, s->nbytes, "VP8L") || contains(s->bytes, s->nbytes, "ALPH"));
}

/* The undisturbed run: what it gives, how many allocations it takes. */
static fuzz_outcome run_calm(const scene *s, uint64_t *calls)
{
    fuzz_heap heap = {.fill = 0x5a, .spare = library_breaks(s)};
    arm(s, &heap);
    void *handle = s->open(s, &heap);
    fuzz_outcome outcome = s->act(s, handle, &heap);
    *calls = heap.calls;
    uint64_t limit = s->setting->limits.memory_nbytes;
    if (limit != 0)
        FUZZ_REQUIRE(heap.peak_nbytes <= limit + SLACK_NBYTES, "%llu bytes were taken, the limit is %llu",
                     (unsigned long long)heap.peak_nbytes, (unsigned long long)limit);
    s->close(handle);
    arm(s, NULL);
    FUZZ_REQUIRE(heap.blocks == 0, "%lld blocks are left", (long long)heap.blocks);
    return outcome;
}

static void require_calm(const fuzz_outcome *got, const fuzz_outcome *calm, uint64_t fail_at, bool fail_on)
{
    FUZZ_REQUIRE(got->result == MR_ENOMEM || got->result == calm->result,
                 "allocation %llu fails%s: %s (%s); without that: %s (%s)", (unsigned long long)fail_at,
                 fail_on ? " and all after it" : "", mr_error_name(got->result), got->detail,
                 mr_error_name(calm->result), calm->detail);
    if (got->result == 0)
        FUZZ_REQUIRE(got->hash == calm->hash, "allocation %llu fails and the result is another",
                     (unsigned long long)fail_at);
}

static void run_failing(const scene *s, const fuzz_outcome *calm, uint64_t fail_at, bool fail_on)
{
    fuzz_heap heap = {.fill = 0xa5, .fail_at = fail_at, .fail_on = fail_on, .spare = library_breaks(s)};
    arm(s, &heap);
    void *handle = s->open(s, &heap);
    if (handle != NULL) {
        fuzz_outcome got = s->act(s, handle, &heap);
        require_calm(&got, calm, fail_at, fail_on);
        heap.fail_at = 0;
        fuzz_outcome after = s->act(s, handle, &heap);
        FUZZ_REQUIRE(same(&after, calm),
                     "after allocation %llu has failed, with memory again: %s (%s); before: %s (%s)",
                     (unsigned long long)fail_at, mr_error_name(after.result), after.detail,
                     mr_error_name(calm->result), calm->detail);
        s->close(handle);
    }
    arm(s, NULL);
    FUZZ_REQUIRE(heap.blocks == 0, "allocation %llu fails: %lld blocks are left", (unsigned long long)fail_at,
                 (long long)heap.blocks);
}

/* Some of the allocations, drawn, or each, once and for good. */
static void check_scene(const scene *s, fuzz_draw draw)
{
    uint64_t calls;
    fuzz_outcome calm = run_calm(s, &calls);
    for (uint64_t fail_at = 1; s->setting->every && fail_at <= calls; fail_at++) {
        run_failing(s, &calm, fail_at, false);
        run_failing(s, &calm, fail_at, true);
    }
    for (int i = 0; i < 3; i++) {
        uint64_t fail_at = 1 + fuzz_draw_u64(&draw) % (calls + 1);
        run_failing(s, &calm, fail_at, fuzz_draw_below(&draw, 2) == 0);
    }
}

static void check_decode(const fuzz_setting *setting, const uint8_t *bytes, size_t nbytes,
                         void *(*open)(const scene *scene, fuzz_heap *heap))
{
    fuzz_draw draw = fuzz_draw_init(setting, bytes, nbytes);
    scene s = {.setting = setting, .bytes = bytes, .nbytes = nbytes, .hints = fuzz_draw_hints(&draw)};
    s.act = act_decode;
    s.open = open;
    s.close = close_decoder;
    fuzz_heap heap = {.fill = 0};
    mr_decoder *decoder = fuzz_decoder_new(setting, &heap);
    fuzz_outcome shape = fuzz_shape(decoder, bytes, nbytes, &s.hints);
    if (shape.result == 0 && fuzz_draw_below(&draw, 2) == 0)
        s.hints.region = fuzz_draw_region(&draw, shape.image.width, shape.image.height);
    mr_decoder_free(decoder);
    check_scene(&s, draw);
}

void fuzz_check_decode_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)
{
    if (form == MR_FORM_NONE || mr_form_probe(bytes, nbytes) == form)
        check_decode(setting, bytes, nbytes, open_decoder);
}

void fuzz_check_jpeg_own_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)
{
    (void)form;
    if (mr_form_probe(bytes, nbytes) == MR_FORM_JPEG)
        check_decode(setting, bytes, nbytes, open_own);
}

void fuzz_check_info_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)
{
    if (form != MR_FORM_NONE && mr_form_probe(bytes, nbytes) != form)
        return;
    scene s = {.setting = setting, .bytes = bytes, .nbytes = nbytes};
    s.act = act_icc;
    s.open = open_decoder;
    s.close = close_decoder;
    check_scene(&s, fuzz_draw_init(setting, bytes, nbytes));
}

void fuzz_check_recode_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)
{
    mr_form from = mr_form_probe(bytes, nbytes);
    if ((form != MR_FORM_NONE && from != form) || (from != MR_FORM_JPEG && from != MR_FORM_L3))
        return;
    fuzz_draw draw = fuzz_draw_init(setting, bytes, nbytes);
    scene s = {.setting = setting, .bytes = bytes, .nbytes = nbytes, .options = fuzz_draw_recoding(&draw, from)};
    s.act = act_recode;
    s.open = open_encoder;
    s.close = close_encoder;
    check_scene(&s, draw);
}

void fuzz_check_roundtrip_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)
{
    scene s = {.setting = setting, .bytes = bytes, .nbytes = nbytes};
    if (!fuzz_picture_init(&s.picture, bytes, nbytes))
        return;
    s.act = act_encode;
    s.open = open_encoder;
    s.close = close_encoder;
    if (form == MR_FORM_NONE || form == s.picture.options.form)
        check_scene(&s, fuzz_draw_init(setting, bytes, nbytes));
    fuzz_picture_fini(&s.picture);
}
