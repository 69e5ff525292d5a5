// SPDX-License-Identifier: Apache-2.0
/* A decoder that is given the head and the range of a region, and garbage elsewhere, gives that region. */
#include "test.h"

#include "codec/ranges.h"
#include "handles.h"
#include "jpeg_make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define __asan_poison_memory_region(bytes, nbytes)   ((void)(bytes), (void)(nbytes))
#define __asan_unpoison_memory_region(bytes, nbytes) ((void)(bytes), (void)(nbytes))
#endif

typedef struct subject {
    picture_file file;
    mr_form form;
    mr_info info;
    size_t head_nbytes;
    mr_image whole[4]; /* at 1, 1/2, 1/4, 1/8 */
    uint64_t saved, asked;
} subject;

static subject subject_of(picture_file file, mr_form form)
{
    subject s = {.file = file, .form = form, .info = info_of(&file)};
    s.head_nbytes = (size_t)mr__ranges_head(form, s.info.width, s.info.height, 1 << 30);
    assert_true(s.head_nbytes < 100000);
    if (s.head_nbytes > file.nbytes)
        s.head_nbytes = file.nbytes;
    for (uint32_t i = 0; i < 4; i++) {
        const mr_decode_hints hints = {.struct_size = sizeof hints, .reduce = 1u << i};
        s.whole[i] = picture_decode(file.bytes, file.nbytes, &hints);
    }
    return s;
}

static void subject_fini(subject *s)
{
    for (uint32_t i = 0; i < 4; i++)
        mr_image_fini(&s->whole[i], NULL);
    free(s->file.bytes);
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The whole length, with only this in it. The rest may not even be looked at. */
static uint8_t *partial(const subject *s, mr__range range, uint8_t garbage)
{
    uint8_t *bytes = malloc(s->file.nbytes);
    assert_non_null(bytes);
    for (size_t i = 0; i < s->file.nbytes; i++)
        bytes[i] = (uint8_t)(garbage + i * 7);
    memcpy(bytes, s->file.bytes, s->head_nbytes);
    if (range.nbytes != 0)
        memcpy(bytes + range.offset, s->file.bytes + range.offset, (size_t)range.nbytes);
    size_t end = (size_t)(range.offset + range.nbytes);
    __asan_poison_memory_region(bytes + s->head_nbytes, (size_t)range.offset - s->head_nbytes);
    __asan_poison_memory_region(bytes + end, s->file.nbytes - end);
    return bytes;
}

static void check_region(subject *s, uint32_t level, mr_rect region, uint32_t channels)
{
    uint32_t reduce = 1u << level;
    mr_rect full = {region.x * reduce, region.y * reduce, 0, 0};
    full.width = smaller(region.width * reduce, s->info.width - full.x);
    full.height = smaller(region.height * reduce, s->info.height - full.y);
    mr__range range = mr__ranges_of(s->form, s->file.bytes, s->head_nbytes, s->file.nbytes, full);
    assert_true(range.offset >= s->head_nbytes && range.offset + range.nbytes <= s->file.nbytes);
    s->asked += s->file.nbytes;
    s->saved += s->file.nbytes - s->head_nbytes - range.nbytes;
    const mr_decode_hints hints = {
        .struct_size = sizeof hints, .region = region, .reduce = reduce, .channels = channels};
    for (uint8_t garbage = 0; garbage < 2; garbage++) {
        uint8_t *bytes = partial(s, range, garbage * 85);
        mr_image got;
        int result = mr_decoder_decode(decoder, bytes, s->file.nbytes, &hints, &got);
        if (result != 0)
            fail_msg("%u x %u at %u, %u of 1/%u: %s", region.width, region.height, region.x, region.y, reduce,
                     mr_decoder_detail(decoder));
        if (channels == 0 && !picture_is_part(&s->whole[level], region, &got))
            fail_msg("%u x %u at %u, %u of 1/%u: other pixels", region.width, region.height, region.x, region.y,
                     reduce);
        __asan_unpoison_memory_region(bytes, s->file.nbytes);
        free(bytes);
    }
}

/* The middle of a tile needs that tile, and what vectors load behind it. */
static void check_tiles(const subject *s)
{
    for (uint32_t i = 0; i < s->info.tiles; i++) {
        mr_tile tile = {.struct_size = sizeof tile};
        assert_int_equal(mr_decoder_tile(decoder, s->file.bytes, s->file.nbytes, i, &tile), 0);
        mr_rect r = {tile.rect.x + tile.rect.width / 2, tile.rect.y + tile.rect.height / 2, 1, 1};
        if (tile.rect.width < 64 || tile.rect.height < 64)
            continue;
        mr__range range = mr__ranges_of(s->form, s->file.bytes, s->head_nbytes, s->file.nbytes, r);
        bool all = range.offset == s->head_nbytes && range.offset + range.nbytes == s->file.nbytes;
        uint64_t start = tile.offset > s->head_nbytes ? tile.offset : s->head_nbytes, end = tile.offset + tile.nbytes;
        if (all && tile.nbytes < s->file.nbytes / 2)
            fail_msg("tile %u: all is read", i);
        if (!all && end > start)
            assert_int_equal(range.offset, start);
        if (!all && end > start)
            assert_true(range.nbytes >= end - start && range.nbytes <= end - start + 1024);
    }
}

/* Regions whose edges are at, before and behind the edges of tiles, and any others. */
static void check_subject(picture_file file, mr_form form)
{
    static const uint32_t edges[] = {0, 1, 63, 64, 65, 127, 128, 129, 255, 256, 257};
    enum { EDGES = sizeof edges / sizeof *edges };
    subject s = subject_of(file, form);
    uint64_t state = file.nbytes;
    uint32_t rounds = test_quick() ? 60 : 250;
    for (uint32_t i = 0; i < rounds; i++) {
        uint32_t level = i % 5 == 4 ? 1 + i / 5 % 3 : 0;
        const mr_image *whole = &s.whole[level];
        mr_rect r = picture_random_rect(&state, whole->width, whole->height);
        if (i % 3 == 0) {
            uint32_t x = edges[picture_random_below(&state, EDGES)], y = edges[picture_random_below(&state, EDGES)];
            r.x = smaller(x >> level, whole->width - 1);
            r.y = smaller(y >> level, whole->height - 1);
            r.width = smaller(1 + picture_random_below(&state, 130), whole->width - r.x);
            r.height = smaller(1 + picture_random_below(&state, 130), whole->height - r.y);
        }
        if (i % 3 == 1) { // that end there
            uint32_t x = edges[picture_random_below(&state, EDGES)] >> level;
            uint32_t y = edges[picture_random_below(&state, EDGES)] >> level;
            r = (mr_rect){0, 0, smaller(x + 1, whole->width), smaller(y + 1, whole->height)};
            r.x = picture_random_below(&state, r.width);
            r.y = picture_random_below(&state, r.height);
            r.width -= r.x;
            r.height -= r.y;
        }
        check_region(&s, level, r, i % 7 == 6 ? 1 : 0);
    }
    check_region(&s, 0, (mr_rect){0, 0, s.info.width, s.info.height}, 0);
    if (form == MR_FORM_L3)
        check_tiles(&s);
    if (s.file.nbytes > 20000 && (form == MR_FORM_RAW || s.info.tiles > 4))
        assert_true(s.saved > s.asked / 8);
    subject_fini(&s);
}

static const uint32_t sizes[][2] = {{517, 389}, {1500, 300}, {33, 900}, {128, 128}, {9, 7}};
enum { SIZES = sizeof sizes / sizeof *sizes };

static uint8_t profile[5000];

static void raw_images(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SIZES; i++)
        for (uint32_t channels = 1; channels <= 4; channels++) {
            mr_image image = picture_make(sizes[i][0], sizes[i][1], channels, channels == 2 ? 16 : 8, i);
            const mr_encode_options o = {.struct_size = sizeof o,
                                         .form = MR_FORM_RAW,
                                         .icc = i % 2 == 0 ? profile : NULL,
                                         .icc_nbytes = i % 2 == 0 ? sizeof profile : 0};
            check_subject(picture_encode(&image, &o), MR_FORM_RAW);
            mr_image_fini(&image, NULL);
        }
}

static void l3_images_of_pixels(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SIZES; i++)
        for (int preset = MR_L3_DEFAULT; preset <= MR_L3_SMALL; preset++) {
            uint32_t channels = 1 + (i + (uint32_t)preset) % 4;
            mr_image image = picture_make(sizes[i][0], sizes[i][1], channels, i % 3 == 1 ? 16 : 8, i);
            const mr_encode_options o = {.struct_size = sizeof o,
                                         .form = MR_FORM_L3,
                                         .preset = (mr_l3_preset)preset,
                                         .icc = i % 2 == 0 ? profile : NULL,
                                         .icc_nbytes = i % 2 == 0 ? sizeof profile : 0};
            check_subject(picture_encode(&image, &o), MR_FORM_L3);
            mr_image_fini(&image, NULL);
        }
}

static void l3_images_of_coefficients(void **state)
{
    (void)state;
    static const uint8_t factors[] = {0x11, 0x21, 0x22, 0x12, 0x41, 0};
    for (uint32_t i = 0; i < SIZES; i++)
        for (size_t k = 0; k < sizeof factors; k++) {
            make_recipe recipe = {.width = sizes[i][0],
                                  .height = sizes[i][1],
                                  .space = factors[k] == 0 ? PLAIN_GRAY : PLAIN_YCC,
                                  .factors = {factors[k] == 0 ? 0x11 : factors[k], 0x11, 0x11},
                                  .script = i % 2 == 0 ? MAKE_ONE : MAKE_DEFAULT,
                                  .seed = i};
            picture_file jpeg = make_jpeg(&recipe);
            const mr_encode_options o = {
                .struct_size = sizeof o, .form = MR_FORM_L3, .without_origin = (i + k) % 2 == 0};
            const void *bytes;
            size_t nbytes;
            mr_recode_report report = {.struct_size = sizeof report};
            assert_int_equal(mr_encoder_recode(encoder, jpeg.bytes, jpeg.nbytes, &o, &bytes, &nbytes, &report), 0);
            assert_true(report.exact);
            check_subject(picture_copy(bytes, nbytes), MR_FORM_L3);
            free(jpeg.bytes);
        }
}

static void is_rest(mr__range range, size_t head_nbytes, uint64_t nbytes)
{
    assert_int_equal(range.offset, head_nbytes);
    assert_int_equal(range.nbytes, nbytes - head_nbytes);
}

/* Whatever is not understood is read whole: the decoder says what is wrong with it. */
static void heads_that_make_no_sense(void **state)
{
    (void)state;
    static const mr_form forms[] = {MR_FORM_RAW, MR_FORM_L3};
    mr_rect region = {10, 10, 50, 50};
    for (size_t f = 0; f < 2; f++) {
        mr_image image = picture_make(300, 400, 3, 8, 1);
        const mr_encode_options o = {.struct_size = sizeof o, .form = forms[f]};
        picture_file file = picture_encode(&image, &o);
        size_t head = (size_t)mr__ranges_head(forms[f], 300, 400, file.nbytes);
        assert_true(head < 5000);
        assert_true(mr__ranges_of(forms[f], file.bytes, head, file.nbytes, region).nbytes < file.nbytes - head);
        for (size_t i = 0; i < 64; i++) {
            file.bytes[i] ^= 0x10;
            is_rest(mr__ranges_of(forms[f], file.bytes, head, file.nbytes, region), head, file.nbytes);
            file.bytes[i] ^= 0x10;
        }
        for (size_t i = 0; i < 48; i++) { // less of it than there has to be
            picture_file cut = picture_copy(file.bytes, i);
            is_rest(mr__ranges_of(forms[f], cut.bytes, i, file.nbytes, region), i, file.nbytes);
            free(cut.bytes);
        }
        is_rest(mr__ranges_of(forms[f], file.bytes, head, file.nbytes + 1, region), head, file.nbytes + 1);
        static const mr_rect out[] = {{0},
                                      {300, 0, 1, 1},
                                      {0, 400, 1, 1},
                                      {299, 399, 2, 1},
                                      {299, 399, 1, 2},
                                      {1, 0, UINT32_MAX, 1},
                                      {0, 1, 1, UINT32_MAX}};
        for (size_t i = 0; i < sizeof out / sizeof *out; i++)
            is_rest(mr__ranges_of(forms[f], file.bytes, head, file.nbytes, out[i]), head, file.nbytes);
        mr__range none = mr__ranges_of(forms[f], file.bytes, file.nbytes, file.nbytes, region);
        assert_int_equal(none.nbytes, 0);
        free(file.bytes);
        mr_image_fini(&image, NULL);
    }
}

static void what_is_not_worth_it_is_read_whole(void **state)
{
    (void)state;
    uint8_t byte = 0;
    assert_int_equal(mr__ranges_head(MR_FORM_RAW, 100, 100, 30064), 30064);
    assert_int_equal(mr__ranges_head(MR_FORM_RAW, 200, 200, 120064), 64);
    assert_int_equal(mr__ranges_head(MR_FORM_L3, 100, 100, 10000), 10000);
    assert_true(mr__ranges_head(MR_FORM_L3, 500, 375, 100000) < 1000);
    assert_int_equal(mr__ranges_head(MR_FORM_L3, 60000, 60000, 1000000), 1000000); // its head is most of it
    assert_int_equal(mr__ranges_head(MR_FORM_L3, UINT32_MAX, UINT32_MAX, 1000000), 1000000);
    for (int form = MR_FORM_NONE; form < 20; form++)
        if (form != MR_FORM_RAW && form != MR_FORM_L3) {
            assert_int_equal(mr__ranges_head((mr_form)form, 500, 375, 100000), 100000);
            is_rest(mr__ranges_of((mr_form)form, &byte, 1, 100000, (mr_rect){0, 0, 1, 1}), 1, 100000);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raw_images),
        cmocka_unit_test(l3_images_of_pixels),
        cmocka_unit_test(l3_images_of_coefficients),
        cmocka_unit_test(heads_that_make_no_sense),
        cmocka_unit_test(what_is_not_worth_it_is_read_whole),
    };
    return cmocka_run_group_tests(tests, handles_setup, handles_teardown);
}
