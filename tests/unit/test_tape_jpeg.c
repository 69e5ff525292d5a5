// SPDX-License-Identifier: Apache-2.0
/*
 * JPEGs on a tape: kernels make of our decoder's coefficients what the host makes of them, whole, in part and reduced,
 * whatever the sampling, the script of scans and the order of lanes; what is not for our decoder is left to the host.
 */
#include "test.h"

#include "jpeg_make.h"
#include "opencl_play.h"
#include "taping.h"

#include "kernel/lane/emulate.h"
#include "kernel/lane/jpeg_pixels.h"
#include <stdlib.h>
#include <string.h>

static uint64_t seed = 11;

static uint32_t below(uint32_t n)
{
    return picture_random_below(&seed, n);
}

/* Whole, then in parts; at every reduction where there is more than one. True: by kernels. */
static bool check(const taping *how, const make_recipe *r, uint32_t regions)
{
    char text[200];
    picture_file file = make_jpeg(r);
    taping with = *how;
    with.seed = how->play == NULL ? below(3) : 0;
    uint32_t reduce = how->reduce != 0 ? how->reduce : 1;
    bool took = taping_decode(&with, file.bytes, file.nbytes, (mr_rect){0});
    for (uint32_t i = 0; i < regions; i++) {
        uint32_t width = (r->width + reduce - 1) / reduce, height = (r->height + reduce - 1) / reduce;
        mr_rect region = picture_random_rect(&seed, width, height);
        if (taping_decode(&with, file.bytes, file.nbytes, region) != took)
            fail_msg("%s: a part is not decoded as the whole is", make_text(r, text, sizeof text));
    }
    free(file.bytes);
    return took;
}

static void must(const taping *how, const make_recipe *r, uint32_t regions)
{
    char text[200];
    if (!check(how, r, regions))
        fail_msg("%s: not by kernels", make_text(r, text, sizeof text));
}

/* Gray, 4:4:4, 4:2:2, 4:2:0, 4:4:0, 4:1:1, RGB, thirds, and components that each have their own. */
static const struct {
    plain_space space;
    uint8_t factors[3];
} shapes[] = {
    {PLAIN_GRAY, {0x11}}, {PLAIN_YCC, {0x11}}, {PLAIN_YCC, {0x21}}, {PLAIN_YCC, {0x22}},
    {PLAIN_YCC, {0x12}},  {PLAIN_YCC, {0x41}}, {PLAIN_RGB, {0x11}}, {PLAIN_YCC, {0x22, 0x21, 0x12}},
    {PLAIN_YCC, {0x31}},  {PLAIN_YCC, {0x14}}, {PLAIN_RGB, {0x21}}, {PLAIN_YCC, {0x22, 0x11, 0x22}},
    {PLAIN_GRAY, {0x22}},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static make_recipe recipe_of(size_t shape, uint32_t width, uint32_t height)
{
    make_recipe r = {.width = width, .height = height, .space = shapes[shape].space};
    memcpy(r.factors, shapes[shape].factors, 3);
    r.seed = picture_random(&seed);
    r.look = (make_look)below(MAKE_LOOKS);
    r.quality = 1 + (int)below(100);
    return r;
}

static const uint32_t sizes[][2] = {{1, 1},   {2, 3},   {1, 37},  {37, 1},  {5, 4},    {8, 8},
                                    {16, 16}, {17, 33}, {61, 53}, {130, 7}, {257, 64}, {300, 41}};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Every sampling with every size; one of `each` at every reduction but the first. */
static void check_shapes(taping how, uint32_t each)
{
    for (size_t s = 0; s < SHAPES; s++)
        for (size_t i = 0; i < SIZES; i++)
            for (how.reduce = 1; how.reduce <= 8; how.reduce *= 2) {
                make_recipe r = recipe_of(s, sizes[i][0], sizes[i][1]);
                if (how.reduce == 1 || below(each) == 0)
                    must(&how, &r, 2);
            }
}

/* Scans, restarts and Huffman tables, which the host reads: what they come to is the same. */
static void check_scripts(taping how, uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++)
        for (int script = 0; script < MAKE_SCRIPTS; script++) {
            make_recipe r = recipe_of(below(SHAPES), 1 + below(150), 1 + below(90));
            r.script = (make_script)script;
            r.restart = below(2) == 0 ? 1 + (int)below(9) : 0;
            r.restart_rows = below(2) == 0;
            r.optimised = below(2) == 0;
            r.long_codes = below(3) == 0;
            how.reduce = 1u << below(4);
            if (make_fits(&r))
                must(&how, &r, 2);
        }
}

/* Quantisers so coarse, and contrasts so hard, that sums leave their range: what our decoder takes is the same. */
static void check_extremes(taping how, uint32_t rounds)
{
    uint32_t took = 0;
    for (uint32_t i = 0; i < rounds; i++) {
        make_recipe r = recipe_of(below(SHAPES), 20 + below(60), 20 + below(60));
        r.look = i % 2 == 0 ? MAKE_EXTREME : MAKE_STRIPES;
        r.coarse = true;
        r.quality = 1 + (int)below(3);
        r.script = i % 3 == 0 ? MAKE_DEFAULT : MAKE_ONE;
        how.reduce = 1u << below(4);
        took += check(&how, &r, 1);
    }
    assert_true(took > rounds / 4);
}

static void all_shapes(void **state)
{
    (void)state;
    check_shapes((taping){0}, test_quick() ? 6 : 2);
}

static void all_scripts(void **state)
{
    (void)state;
    check_scripts((taping){0}, test_quick() ? 2 : 8);
}

static void extremes(void **state)
{
    (void)state;
    check_extremes((taping){0}, test_quick() ? 20 : 60);
}

/* From the middle of the file, and by an index that is another's. */
static void by_row_index(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 12; i++) {
        mr_decoder *decoder;
        const void *index;
        taping how = {.reduce = 1u << below(4)};
        make_recipe r = recipe_of(below(6), 60 + below(100), 100 + below(200));
        r.restart = i % 3 == 0 ? 5 : 0;
        picture_file file = make_jpeg(&r);
        assert_int_equal(mr_decoder_new(NULL, &decoder), 0);
        assert_int_equal(mr_decoder_index(decoder, file.bytes, file.nbytes, &index, &how.index_nbytes), 0);
        how.index = index;
        assert_true(how.index_nbytes != 0);
        for (uint32_t k = 0; k < 6; k++) {
            mr_rect region = picture_random_rect(&seed, (r.width + how.reduce - 1) / how.reduce,
                                                 (r.height + how.reduce - 1) / how.reduce);
            assert_true(taping_decode(&how, file.bytes, file.nbytes, region));
        }
        mr_decoder_free(decoder);
        free(file.bytes);
    }
}

static int code_of(const picture_file *file, const taping *how)
{
    mr_decoder *decoder;
    mr_info info = {.struct_size = sizeof info};
    playing_decoded is;
    mr__detail detail;
    assert_int_equal(mr_decoder_new(NULL, &decoder), 0);
    int code = mr_decoder_info(decoder, file->bytes, file->nbytes, &info);
    mr_decoder_free(decoder);
    if (code == 0)
        code = playing_decode(how, file->bytes, file->nbytes, &info, (mr_rect){0, 0, info.width, info.height}, &is,
                              &detail);
    if (code == 0)
        free(is.image.pixels);
    else
        assert_true(detail.text[0] != 0 || info.width == 0);
    return code;
}

static void what_is_the_hosts(void **state)
{
    (void)state;
    const make_recipe arithmetic = {.width = 40, .height = 30, .space = PLAIN_YCC, .arithmetic = true};
    const make_recipe cmyk = {.width = 40, .height = 30, .space = PLAIN_CMYK};
    const plain_recipe unrefined = {
        .width = 40, .height = 30, .space = PLAIN_YCC, .progressive = true, .unrefined = true};
    picture_file files[] = {make_jpeg(&arithmetic), make_jpeg(&cmyk), plain_encode(&unrefined)};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(code_of(&files[i], &(taping){0}), MR_EUNSUPPORTED);
        free(files[i].bytes);
    }
}

/* Cut, and with bytes changed: whatever the host says no to, the tape does as well. */
static void damage(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < (test_quick() ? 100 : 400); i++) {
        make_recipe r = recipe_of(below(6), 10 + below(60), 10 + below(60));
        r.script = below(3) == 0 ? MAKE_DEFAULT : MAKE_ONE;
        r.restart = (int)below(4);
        picture_file file = make_jpeg(&r);
        for (uint32_t k = below(3); k > 0; k--)
            file.bytes[below((uint32_t)file.nbytes)] ^= (uint8_t)(1u << below(8));
        if (below(2) == 0)
            file.nbytes = 1 + below((uint32_t)file.nbytes);
        taping_damaged(&(taping){.seed = i % 3}, file.bytes, file.nbytes);
        free(file.bytes);
    }
}

/* Writes a tape of so many bytes for a JPEG, and takes it back. */
static int code_of_tape(const picture_file *file, mr_decoder *decoder, uint32_t nbytes)
{
    const mr__finish finish = {.output = {.channels = 3, .width = 1, .height = 1, .dtype = MR_U8}, .depth = 8};
    mr_info info = {.struct_size = sizeof info};
    mr_hooks hooks;
    mr__tape tape;
    mr__tape_writer writer;
    mr__detail detail;
    mr__sheet sheet;
    uint8_t *bytes = aligned_alloc(64, nbytes);
    assert_non_null(bytes);
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    assert_int_equal(mr_decoder_info(decoder, file->bytes, file->nbytes, &info), 0);
    mr__tape_init(&tape, &hooks, bytes, nbytes, 1 << 20, 1);
    mr__tape_writer_init(&writer, &hooks, &tape, &finish);
    mr__tape_writer_begin(&writer);
    mr__tape_mark mark = mr__tape_open(&tape);
    mr__tape_source source = {.bytes = file->bytes,
                              .nbytes = file->nbytes,
                              .info = &info,
                              .region = {0, 0, info.width, info.height},
                              .decoder = decoder};
    int code = mr__tape_decode(&writer, &source, &sheet, &detail);
    code = code == 0 ? mr__tape_code(&tape) : code;
    mr__tape_drop(&tape, mark);
    assert_int_equal(tape.put, mark.put);
    mr__tape_writer_fini(&writer);
    mr__tape_fini(&tape);
    free(bytes);
    return code;
}

/* Tapes of every length: what does not fit is said, and taken back. */
static void what_does_not_fit(void **state)
{
    (void)state;
    const make_recipe r = {.width = 150, .height = 90, .space = PLAIN_YCC, .factors = {0x22}, .look = MAKE_NOISE};
    picture_file file = make_jpeg(&r);
    mr_decoder *decoder;
    bool fitted = false;
    assert_int_equal(mr_decoder_new(NULL, &decoder), 0);
    for (uint32_t nbytes = 64; nbytes < 200000; nbytes += 64 * (1 + below(40))) {
        int code = code_of_tape(&file, decoder, nbytes);
        assert_true(code == 0 || (code == MR_ENOMEM && !fitted));
        fitted = code == 0;
    }
    assert_true(fitted);
    mr_decoder_free(decoder);
    free(file.bytes);
}

/* What our decoder has no memory for, libjpeg-turbo may have: the tape is not what is full. */
static void a_decoder_without_memory(void **state)
{
    (void)state;
    const make_recipe r = {.width = 150, .height = 90, .space = PLAIN_YCC, .script = MAKE_DEFAULT};
    picture_file file = make_jpeg(&r);
    mr_limits limits = {.struct_size = sizeof limits, .memory_nbytes = 40000};
    mr_decoder_options options = {.struct_size = sizeof options, .limits = &limits};
    mr_decoder *decoder;
    assert_int_equal(mr_decoder_new(&options, &decoder), 0);
    assert_int_equal(code_of_tape(&file, decoder, 1 << 20), MR_EUNSUPPORTED);
    mr_decoder_free(decoder);
    options = (mr_decoder_options){.struct_size = sizeof options, .jpeg = MR_JPEG_LIBJPEG};
    assert_int_equal(mr_decoder_new(&options, &decoder), 0);
    assert_int_equal(code_of_tape(&file, decoder, 1 << 20), MR_EUNSUPPORTED);
    mr_decoder_free(decoder);
    free(file.bytes);
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
    check_shapes(how, 6);
    check_scripts(how, 2);
    check_extremes(how, 20);
    opencl_play_close(&cl);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_shapes),   cmocka_unit_test(all_scripts),       cmocka_unit_test(extremes),
        cmocka_unit_test(by_row_index), cmocka_unit_test(what_is_the_hosts), cmocka_unit_test(damage),
        cmocka_unit_test(on_opencl),    cmocka_unit_test(what_does_not_fit), cmocka_unit_test(a_decoder_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
