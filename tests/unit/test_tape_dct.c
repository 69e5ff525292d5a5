// SPDX-License-Identifier: Apache-2.0
/*
 * L3's DCT mode by kernels: units as the plain reference reads them, whatever is in them; transforms as the host's, of
 * coefficients that no image has; images whole, in part and reduced, damaged and real ones.
 */
#include "test.h"

#include "jpeg_make.h"
#include "l3_dct.h"
#include "l3_reference_unit.h"
#include "l3_units.h"
#include "opencl_play.h"
#include "shared.h"
#include "taping.h"

#include "kernel/jpeg_pixels.h"
#include "kernel/lane/l3_unit.h"
#include <stdlib.h>
#include <string.h>

static uint64_t seed = 21;

static uint32_t below(uint32_t n)
{
    return picture_random_below(&seed, n);
}

/* Somebody's, or the emulator with lanes in some order. */
static taping next_how(const taping *how)
{
    return how != NULL ? *how : (taping){.seed = below(4)};
}

/* 1. Units, some hundred at once. */

typedef struct units_put {
    const units_sample *samples;
    uint32_t count;
    uint32_t bands;
} units_put;

/* The list of strips is the first row of the sheet; each other one has what became of a unit. */
static int put_units(void *user, mr__tape_writer *writer, mr__sheet *sheet, mr__detail *detail)
{
    const units_put *p = user;
    mr__tape *tape = writer->tape;
    mr__unit_at *list = calloc(p->count, sizeof *list);
    assert_non_null(list);
    (void)detail;
    for (uint32_t i = 0; i < p->count; i++) {
        const units_sample *s = &p->samples[i];
        void *bytes;
        list[i] = (mr__unit_at){mr__tape_put(tape, s->nbytes + MR__UNIT_SLACK, &bytes), (uint32_t)s->nbytes, s->columns,
                                s->rows, p->bands};
        if (bytes != NULL) // what is behind it is anything
            memcpy(bytes, s->bytes, s->nbytes + MR__UNIT_SLACK);
    }
    *sheet = mr__tape_sheet(tape, MR__UNIT_COEF_NBYTES, p->count + 1, 1);
    mr__order_l3_unit order = {.status = mr__tape_status(tape),
                               .units = mr__tape_copy(tape, list, p->count * sizeof *list),
                               .strips = sheet->at,
                               .coef = sheet->at + MR__UNIT_COEF_NBYTES};
    mr__tape_call_of(tape, MR__KERNEL_l3_unit, &order, sizeof order, p->count);
    free(list);
    return 0;
}

/* Whether what came is the unit that the reference reads, or both refuse. */
static bool check_unit(const units_sample *s, const mr__strip *strip, const uint8_t *numbers, uint32_t bands)
{
    static int16_t coef[64][64];
    bool good = l3_reference_unit(coef, s->bytes, s->nbytes, s->columns, s->rows);
    const int16_t *at = (const int16_t *)(const void *)numbers;
    if (good != (strip->there != 0))
        fail_msg("the reference %s a unit of %u x %u, the kernel does not", good ? "takes" : "refuses", s->columns,
                 s->rows);
    assert_true(strip->wide == strip->there && (!good || (strip->there & 1) != 0));
    for (unsigned z = 0; good && z < bands; z++) {
        bool there = (strip->there >> z & 1) != 0;
        for (unsigned lane = 0; lane < 64; lane++)
            if (lane % 8 < s->columns && lane / 8 < s->rows && (there ? at[lane] : 0) != coef[z][lane])
                fail_msg("band %u, block %u: %d, not %d", z, lane, there ? at[lane] : 0, coef[z][lane]);
        at += there ? 64 : 0;
    }
    return good;
}

/* How many of them are good. */
static uint32_t check_units(const taping *how, const units_sample *samples, uint32_t count)
{
    taping with = next_how(how);
    units_put put = {samples, count, below(2) == 0 ? 64 : 1 + below(64)};
    playing_decoded is;
    mr__detail detail;
    uint32_t good = 0;
    int code = playing_sheet(&with, put_units, &put, (uint64_t)count * 40000, &is, &detail);
    if (code != 0)
        fail_msg("%s (%s)", detail.text, mr_error_text(code));
    const uint8_t *bytes = is.image.pixels;
    for (uint32_t i = 0; i < count; i++)
        good += check_unit(&samples[i], (const mr__strip *)(const void *)bytes + i,
                           bytes + (size_t)(i + 1) * MR__UNIT_COEF_NBYTES, put.bands);
    assert_true(is.refused == (good != count));
    free(is.image.pixels);
    return good;
}

enum { UNITS = 100 };

/* Of all kinds: good ones, `damaged` ones, and noise; `rounds` of UNITS each. */
static void check_all_units(const taping *how, uint32_t rounds)
{
    units_sample *samples = calloc(UNITS, sizeof *samples);
    uint32_t good[3] = {0};
    uint64_t random = 1;
    assert_non_null(samples);
    for (uint32_t r = 0; r < 3 * rounds; r++) {
        for (uint32_t i = 0; i < UNITS; i++) {
            if (r % 3 == 2) {
                while (!units_noise(&samples[i], (unsigned)units_random(&random), &random))
                    ;
                samples[i].bytes[samples[i].nbytes - 1] &= (uint8_t)((1u << below(9)) - 1);
            } else {
                units_make(&samples[i], i % KINDS, 1 + below(8), 1 + below(8), &random);
            }
            if (r % 3 == 1)
                units_damage(&samples[i], &random);
        }
        good[r % 3] += check_units(how, samples, UNITS);
    }
    assert_int_equal(good[0], rounds * UNITS);
    assert_in_range(good[1], rounds * UNITS / 50, rounds * UNITS / 2);
    assert_in_range(good[2], rounds * UNITS / 10, rounds * UNITS);
    free(samples);
}

static void units_are_read(void **state)
{
    (void)state;
    check_all_units(NULL, test_quick() ? 1 : 4);
}

/* 2. Transforms. */

enum { STRIPS_MAX = 12 };

/* Strips of one component, as they are sent, and what they say, multiplied, in natural order. */
typedef struct transforming {
    mr__order_idct order;
    mr__strip strips[STRIPS_MAX];
    uint8_t bytes[STRIPS_MAX][64 * 64 * 2];
    _Alignas(64) int16_t coef[STRIPS_MAX][64 * 64];
} transforming;

static int16_t coefficient(uint32_t taste, bool wide)
{
    static const int16_t extremes[] = {-32768, -32767, -8193, -8192, -8191, -1, 0, 1, 8191, 8192, 32766, 32767};
    if (!wide)
        return (int16_t)((int32_t)below(256) - 128);
    if (taste == 0)
        return (int16_t)((int32_t)below(2001) - 1000);
    return taste == 1 ? (int16_t)picture_random(&seed) : extremes[below(12)];
}

/* Some blocks have their first row alone: there the short cut is taken. */
static void make_strip(transforming *t, uint32_t number, uint32_t taste)
{
    uint32_t lanes = t->order.wide * t->order.high, rows = below(3);
    uint64_t narrow = (uint64_t)picture_random(&seed) << 32 | picture_random(&seed), at = 0;
    uint64_t some = narrow * UINT64_C(0x9e3779b97f4a7c15), short_cuts = some * some;
    mr__strip *s = &t->strips[number];
    *s = (mr__strip){.there = taste == 3 ? some & narrow : ~UINT64_C(0) >> below(64), .wide = some};
    for (uint32_t k = 0; k < 64; k++) {
        bool there = (s->there >> k & 1) != 0, wide = (s->wide >> k & 1) != 0;
        for (uint32_t i = 0; i < lanes; i++) {
            bool first_row = rows == 0 || (rows == 1 && (short_cuts >> i % 64 & 1) != 0);
            int16_t value = !there || (first_row && mr__jpeg_natural[k] > 7) ? 0 : coefficient(taste % 3, wide);
            t->coef[number][mr__jpeg_natural[k] * lanes + i] = (int16_t)(uint16_t)((uint32_t)value * t->order.quant[k]);
            if (there && wide)
                memcpy(t->bytes[number] + at + 2 * (size_t)i, &value, 2);
            else if (there)
                t->bytes[number][at + i] = (uint8_t)value;
        }
        at += !there ? 0 : wide ? 2 * (size_t)lanes : lanes;
    }
}

static int put_strips(void *user, mr__tape_writer *writer, mr__sheet *sheet, mr__detail *detail)
{
    transforming *t = user;
    mr__order_idct order = t->order;
    (void)detail;
    for (uint32_t i = 0; i < order.count; i++)
        t->strips[i].at = mr__tape_copy(writer->tape, t->bytes[i], sizeof t->bytes[i]);
    order.strips = mr__tape_copy(writer->tape, t->strips, order.count * sizeof *t->strips);
    *sheet = mr__tape_sheet(writer->tape, order.columns * order.size, order.rows * order.size, 1);
    order.to = sheet->at;
    order.stride = sheet->stride;
    mr__tape_call_of(writer->tape, MR__KERNEL_idct, &order, sizeof order,
                     MR__IDCT_GROUPS(order.count, order.wide, order.high));
    return 0;
}

/* The host's samples of strip `number`, in a plane of whole strips. */
static void transform(transforming *t, uint32_t number, const mr__jpeg_pixels *kernels, uint8_t *plane, size_t stride)
{
    const mr__order_idct *o = &t->order;
    size_t x = (size_t)(number % o->across) * o->wide * o->size, y = (size_t)(number / o->across) * o->high * o->size;
    size_t kind = o->size == 8 ? 0 : o->size == 4 ? 1 : o->size == 2 ? 2 : 3;
    ptrdiff_t step = o->high == 1 ? (ptrdiff_t)8 * (ptrdiff_t)o->size : (ptrdiff_t)(o->size * stride);
    kernels->idct[kind](t->coef[number], (size_t)o->wide * o->high, ~UINT64_C(0), (size_t)o->wide * o->high / 8,
                        plane + y * stride + x, (ptrdiff_t)stride, step);
}

static void check_samples(transforming *t, const playing_decoded *is)
{
    const mr__order_idct *o = &t->order;
    mr__jpeg_pixels kernels;
    size_t stride = (size_t)o->across * o->wide * o->size, height = (size_t)o->count / o->across * o->high * o->size;
    uint8_t *plane = calloc(height, stride);
    assert_non_null(plane);
    mr__jpeg_pixels_init(&kernels, mr__cpu_detect());
    for (uint32_t i = 0; i < o->count; i++)
        transform(t, i, &kernels, plane, stride);
    for (uint32_t y = 0; y < is->image.height; y++) {
        const uint8_t *got = (const uint8_t *)is->image.pixels + (ptrdiff_t)y * is->image.stride;
        const uint8_t *row = plane + (y + (size_t)o->skip_y * o->size) * stride + (size_t)o->skip_x * o->size;
        if (memcmp(got, row, is->image.width) != 0)
            fail_msg("row %u of %u x %u, blocks of %u: other samples", y, is->image.width, is->image.height, o->size);
    }
    free(plane);
}

static void check_transforms(const taping *how, uint32_t rounds)
{
    transforming *t = aligned_alloc(64, (sizeof *t + 63) / 64 * 64);
    assert_non_null(t);
    for (uint32_t r = 0; r < rounds; r++) {
        bool unit = below(2) == 0;
        uint32_t across = 1 + below(3), down = 1 + below(4), wide = unit ? 8 : 16, high = unit ? 8 : 1;
        mr__order_idct *o = &t->order;
        taping with = next_how(how);
        playing_decoded is;
        mr__detail detail;
        *o = (mr__order_idct){.count = across * down, .across = across, .wide = wide, .high = high};
        o->size = 8u >> r % 4;
        o->skip_x = below(wide);
        o->skip_y = below(high);
        o->columns = 1 + below(across * wide - o->skip_x);
        o->rows = 1 + below(down * high - o->skip_y);
        for (uint32_t k = 0, same = below(4); k < 64; k++)
            o->quant[k] = same == 0 ? 1 : (uint16_t)(same == 1 ? 1 + below(100) : picture_random(&seed));
        for (uint32_t i = 0; i < o->count; i++)
            make_strip(t, i, below(4));
        int code = playing_sheet(&with, put_strips, t, 1 << 18, &is, &detail);
        if (code != 0)
            fail_msg("%s (%s)", detail.text, mr_error_text(code));
        check_samples(t, &is);
        free(is.image.pixels);
    }
    free(t);
}

static void transforms_are_the_hosts(void **state)
{
    (void)state;
    check_transforms(NULL, test_quick() ? 100 : 600);
}

/* 3. Images. */

/* Whole, and in parts, at this reduction. */
static void check_file(const taping *how, const picture_file *file, uint32_t reduce, uint32_t regions)
{
    mr_info info = info_of(file);
    taping with = next_how(how);
    with.reduce = reduce;
    assert_true(taping_decode(&with, file->bytes, file->nbytes, (mr_rect){0}));
    for (uint32_t i = 0; i < regions; i++) {
        mr_rect region =
            picture_random_rect(&seed, (info.width + reduce - 1) / reduce, (info.height + reduce - 1) / reduce);
        with = next_how(how);
        with.reduce = reduce;
        assert_true(taping_decode(&with, file->bytes, file->nbytes, region));
    }
}

/* Gray, 4:4:4, 4:2:2, 4:2:0, 4:4:0, 4:1:1, RGB. */
static const struct {
    plain_space space;
    uint8_t first;
} shapes[] = {{PLAIN_GRAY, 0x11}, {PLAIN_YCC, 0x11}, {PLAIN_YCC, 0x21}, {PLAIN_YCC, 0x22},
              {PLAIN_YCC, 0x12},  {PLAIN_YCC, 0x41}, {PLAIN_RGB, 0x11}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static picture_file make_file(size_t shape, uint32_t width, uint32_t height)
{
    make_recipe r = {.width = width, .height = height, .space = shapes[shape].space, .factors = {shapes[shape].first}};
    r.seed = picture_random(&seed);
    r.look = (make_look)below(MAKE_LOOKS);
    r.quality = 1 + (int)below(100);
    r.script = below(2) == 0 ? MAKE_ONE : MAKE_DEFAULT;
    picture_file jpeg = make_jpeg(&r), l3 = dct_make(&jpeg);
    free(jpeg.bytes);
    return l3;
}

static const uint32_t sizes[][2] = {{1, 1},   {2, 3},   {1, 70},  {70, 1},   {5, 4},    {8, 8},
                                    {64, 64}, {65, 17}, {61, 53}, {128, 64}, {131, 66}, {257, 129}};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Every sampling with every size, `few` of them at each reduction but the first. */
static void check_images(const taping *how, uint32_t few)
{
    for (size_t s = 0; s < SHAPES; s++)
        for (size_t i = 0; i < SIZES; i++) {
            picture_file file = make_file(s, sizes[i][0], sizes[i][1]);
            for (uint32_t reduce = 1; reduce <= 8; reduce *= 2)
                if (reduce == 1 || below(few) == 0)
                    check_file(how, &file, reduce, i < 9 ? 2 : 1);
            free(file.bytes);
        }
}

static void images_come_back(void **state)
{
    (void)state;
    check_images(NULL, test_quick() ? 12 : 6);
}

/* Bytes of tiles changed, and their hashes made right: refused by both, or the same pixels. */
static void check_damage(const taping *how, uint32_t rounds)
{
    uint32_t good = 0, bad = 0;
    for (uint32_t r = 0; r < rounds; r++) {
        taping with = next_how(how);
        picture_file file = make_file(below(SHAPES), 30 + below(120), 30 + below(120));
        mr_image image;
        for (uint32_t k = 1 + below(3); k > 0; k--) {
            mr_tile tile = dct_tile(&file, below(info_of(&file).tiles));
            file.bytes[tile.offset + below((uint32_t)tile.nbytes)] ^= (uint8_t)(1u << below(8));
        }
        dct_mend(&file);
        bool takes = mr_decoder_decode(decoder, file.bytes, file.nbytes, NULL, &image) == 0;
        good += takes;
        bad += !takes;
        if (takes)
            assert_true(taping_decode(&with, file.bytes, file.nbytes, (mr_rect){0}));
        else
            taping_damaged(&with, file.bytes, file.nbytes);
        free(file.bytes);
    }
    assert_true(good > rounds / 20 && bad > rounds / 20);
}

static void damage_is_refused(void **state)
{
    (void)state;
    check_damage(NULL, test_quick() ? 40 : 150);
}

static void on_opencl(void **state)
{
    (void)state;
    opencl_play cl;
    mr__detail detail;
    int result = opencl_play_open(&cl, NULL, &detail);
    if (result == MR_EUNSUPPORTED) {
        print_message("%s\n", detail.text);
        skip();
    }
    assert_int_equal(result, 0);
    taping how = {.play = opencl_play_tape, .user = &cl};
    check_all_units(&how, test_quick() ? 2 : 10);
    check_transforms(&how, test_quick() ? 100 : 600);
    check_images(&how, 3);
    check_damage(&how, test_quick() ? 40 : 150);
    opencl_play_close(&cl);
}

/* 4. Photographs: some of them, as JPEG and as L3. */

typedef struct photo_tally {
    uint32_t number;
    double pixels, stored, sent; /* of JPEGs: pixels, bytes of files and of tapes */
} photo_tally;

/* What a JPEG takes of a tape. */
static uint32_t sent_nbytes(const picture_file *file, const mr_info *info)
{
    const mr__finish finish = {.output = {.channels = 3, .width = 1, .height = 1, .dtype = MR_U8}, .depth = 8};
    const mr__tape_source source = {.bytes = file->bytes,
                                    .nbytes = file->nbytes,
                                    .info = info,
                                    .region = {0, 0, info->width, info->height},
                                    .decoder = decoder,
                                    .reduce = 1};
    uint32_t put_nbytes = info->width * info->height * 8 + (1 << 20);
    mr__tape tape;
    mr__tape_writer writer;
    mr__detail detail;
    mr__sheet sheet;
    mr_hooks hooks;
    uint8_t *bytes = aligned_alloc(64, put_nbytes / 64 * 64);
    assert_non_null(bytes);
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    mr__tape_init(&tape, &hooks, bytes, put_nbytes / 64 * 64, UINT32_MAX, 1);
    mr__tape_writer_init(&writer, &hooks, &tape, &finish);
    mr__tape_writer_begin(&writer);
    mr__tape_mark mark = mr__tape_open(&tape);
    assert_int_equal(mr__tape_decode(&writer, &source, &sheet, &detail), 0);
    uint32_t nbytes = tape.put - mark.put;
    mr__tape_writer_fini(&writer);
    mr__tape_fini(&tape);
    free(bytes);
    return nbytes;
}

static void check_photo(const char *path, const picture_file *jpeg, void *user)
{
    photo_tally *t = user;
    mr_info info = info_of(jpeg);
    (void)path;
    if (t->number++ % (test_quick() ? 100 : 25) != 0 || info.color != MR_COLOR_YCBCR)
        return;
    mr_rect part = picture_random_rect(&seed, info.width, info.height);
    part.width = part.width < 200 ? part.width : 200;
    part.height = part.height < 200 ? part.height : 200;
    picture_file l3 = dct_make(jpeg);
    assert_true(taping_decode(&(taping){.seed = 1}, jpeg->bytes, jpeg->nbytes, (mr_rect){0}));
    assert_true(taping_decode(&(taping){.seed = 2}, l3.bytes, l3.nbytes, part));
    t->pixels += (double)info.width * info.height;
    t->stored += (double)jpeg->nbytes;
    t->sent += sent_nbytes(jpeg, &info);
    free(l3.bytes);
}

static void photographs(void **state)
{
    (void)state;
    photo_tally t = {0};
    (void)shared_each("data/imagenet", ".JPEG", check_photo, &t);
    if (t.pixels == 0)
        skip();
    print_message("bytes for each pixel: %.2f of a JPEG, %.2f of a tape with it, 3 of RGB\n", t.stored / t.pixels,
                  t.sent / t.pixels);
    assert_true(t.sent < 2 * t.pixels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_are_read),   cmocka_unit_test(transforms_are_the_hosts),
        cmocka_unit_test(images_come_back), cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(photographs),      cmocka_unit_test(on_opencl),
    };
    return cmocka_run_group_tests(tests, handles_setup, handles_teardown);
}
