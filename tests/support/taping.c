// SPDX-License-Identifier: Apache-2.0
#include "taping.h"

#include "test.h"

#include "picture.h"
#include "step/ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 64 };

static void compare(const uint8_t *got, const uint8_t *wanted, size_t nbytes, const char *what, const mr_image *image,
                    uint64_t key)
{
    for (size_t i = 0; i < nbytes; i++)
        if (got[i] != wanted[i])
            fail_msg("%s on %u x %u x %u, key %llu: byte %zu of %zu is %u, not %u", what, image->width, image->height,
                     image->channels, (unsigned long long)key, i, nbytes, got[i], wanted[i]);
}

/* What the host makes of it; NULL: it refuses. */
static uint8_t *host_bytes(mr_recipe *recipe, const mr_image *image, uint64_t key, size_t nbytes)
{
    mr_applier *applier;
    uint8_t *bytes = malloc(nbytes + 1);
    assert_non_null(bytes);
    assert_int_equal(mr_applier_new(recipe, NULL, &applier), 0);
    int result = mr_applier_run(applier, image, 1, 0, key, bytes);
    mr_applier_free(applier);
    if (result != 0)
        free(bytes);
    return result == 0 ? bytes : NULL;
}

bool taping_recipe(const taping *how, const char *text, const mr_image *image, uint64_t key)
{
    mr_recipe *recipe;
    mr__detail detail;
    mr_output output = {.struct_size = sizeof output};
    assert_int_equal(mr_recipe_new(NULL, &recipe), 0);
    if (mr_recipe_parse(recipe, text) != 0 || mr_recipe_output(recipe, &output) != 0)
        fail_msg("%s: %s", text, mr_recipe_detail(recipe));
    size_t nbytes = output.sample_nbytes;
    uint8_t *wanted = host_bytes(recipe, image, key, nbytes);
    if (wanted != NULL) {
        uint8_t *got = aligned_alloc(64, (nbytes + GUARD + 63) / 64 * 64);
        assert_non_null(got);
        memset(got, 0x5a, nbytes + GUARD);
        int result = playing_recipe(how, recipe, image, key, got, nbytes, &detail);
        if (result != 0)
            fail_msg("%s: %s (%s)", text, detail.text, mr_error_text(result));
        compare(got, wanted, nbytes, text, image, key);
        for (size_t i = 0; i < GUARD; i++)
            assert_int_equal(got[nbytes + i], 0x5a);
        free(got);
    }
    bool compared = wanted != NULL;
    free(wanted);
    mr_recipe_free(recipe);
    return compared;
}

static mr_info info_of(const void *bytes, size_t nbytes, int *code)
{
    mr_decoder *decoder;
    mr_info info = {.struct_size = sizeof info};
    assert_int_equal(mr_decoder_new(NULL, &decoder), 0);
    *code = mr_decoder_info(decoder, bytes, nbytes, &info);
    mr_decoder_free(decoder);
    return info;
}

bool taping_decode(const taping *how, const void *bytes, size_t nbytes, mr_rect region)
{
    int code;
    mr_info info = info_of(bytes, nbytes, &code);
    uint32_t reduce = how->reduce != 0 ? how->reduce : 1;
    assert_int_equal(code, 0);
    if (region.width == 0)
        region = (mr_rect){0, 0, (info.width + reduce - 1) / reduce, (info.height + reduce - 1) / reduce};
    playing_decoded is;
    mr__detail detail;
    code = playing_decode(how, bytes, nbytes, &info, region, &is, &detail);
    if (code == MR_EUNSUPPORTED)
        return false;
    if (code != 0)
        fail_msg("%u x %u at %u, %u: %s (%s)", region.width, region.height, region.x, region.y, detail.text,
                 mr_error_text(code));
    assert_false(is.refused);
    mr_decoder *decoder;
    mr_image wanted;
    mr_decode_hints hints = {
        .struct_size = sizeof hints, .region = region, .reduce = reduce, .channels = is.image.channels, .depth = 8};
    assert_int_equal(mr_decoder_new(NULL, &decoder), 0);
    assert_int_equal(mr_decoder_decode(decoder, bytes, nbytes, &hints, &wanted), 0);
    assert_int_equal(wanted.width, is.image.width);
    assert_int_equal(wanted.height, is.image.height);
    for (uint32_t y = 0; y < wanted.height; y++)
        compare((uint8_t *)is.image.pixels + (ptrdiff_t)y * is.image.stride,
                (uint8_t *)wanted.pixels + (ptrdiff_t)y * wanted.stride, mr_image_row_nbytes(&wanted), "a row", &wanted,
                y);
    mr_decoder_free(decoder); // whose pixels they were
    free(is.image.pixels);
    return true;
}

void taping_damaged(const taping *how, const void *bytes, size_t nbytes)
{
    int code;
    mr_info info = info_of(bytes, nbytes, &code);
    mr_decoder *decoder;
    mr_image host;
    if (code != 0)
        return;
    playing_decoded is;
    mr__detail detail;
    int played = playing_decode(how, bytes, nbytes, &info, (mr_rect){0, 0, info.width, info.height}, &is, &detail);
    mr_decode_hints hints = {.struct_size = sizeof hints};
    assert_int_equal(mr_decoder_new(NULL, &decoder), 0);
    code = mr_decoder_decode(decoder, bytes, nbytes, &hints, &host);
    if (code != 0 && played == 0)
        assert_true(is.refused);
    mr_decoder_free(decoder);
    free(is.image.pixels);
}

/* What is written is played, and compared with `wanted`. */
static void compare_sheet(const taping *how, playing_write *write, void *user, const mr_image *from,
                          const mr_image *wanted, const char *what)
{
    playing_decoded is;
    mr__detail detail;
    int result = playing_sheet(how, write, user, mr_image_row_nbytes(from) * from->height, &is, &detail);
    if (result != 0)
        fail_msg("%s: %s (%s)", what, detail.text, mr_error_text(result));
    assert_false(is.refused);
    picture_compare(&is.image, wanted, what);
    free(is.image.pixels);
}

typedef struct op_list {
    const mr_image *image;
    const mr__op *ops;
    size_t count;
} op_list;

static int write_ops(void *user, mr__tape_writer *writer, mr__sheet *sheet, mr__detail *detail)
{
    const op_list *list = user;
    int result = 0;
    *sheet = mr__tape_image(writer->tape, list->image);
    for (size_t i = 0, took; i < list->count && result == 0; i += took)
        result = mr__tape_op(writer, list->ops + i, list->count - i, sheet, &took, detail);
    return result;
}

void taping_ops(const taping *how, const mr__op *ops, size_t count, const mr_image *image)
{
    mr_hooks hooks;
    mr__op_tools *tools;
    mr__detail detail;
    mr_image part, wanted;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    assert_int_equal(mr__op_tools_new(&hooks, mr__cpu_detect(), &tools), 0);
    assert_int_equal(mr_image_crop(image, ops->from, &part), 0);
    assert_int_equal(mr_image_init(&wanted, part.width, part.height, part.channels, 8, NULL), 0);
    assert_int_equal(mr_image_copy(&part, &wanted), 0);
    mr_image made = wanted;
    assert_int_equal(mr__ops_run(tools, ops, count, false, &made, &detail), 0);
    op_list list = {&part, ops, count};
    compare_sheet(how, write_ops, &list, &part, &made, mr__op_types[ops->kind]->name);
    mr_image_fini(&wanted, NULL);
    mr__op_tools_free(tools);
}

typedef struct conversion {
    const mr_image *image;
    uint32_t orientation, channels;
} conversion;

static int write_conversion(void *user, mr__tape_writer *writer, mr__sheet *sheet, mr__detail *detail)
{
    const conversion *to = user;
    *sheet = mr__tape_image(writer->tape, to->image);
    return mr__tape_convert(writer, sheet, to->orientation, to->channels, detail);
}

void taping_convert(const taping *how, const mr_image *image, uint32_t orientation, uint32_t channels)
{
    mr_image turned, wanted;
    conversion to = {image, orientation, channels};
    uint32_t o = orientation != 0 ? orientation : 1;
    uint32_t width = o >= 5 ? image->height : image->width, height = o >= 5 ? image->width : image->height;
    char what[80];
    assert_int_equal(mr_image_init(&turned, width, height, image->channels, 8, NULL), 0);
    assert_int_equal(mr_image_init(&wanted, width, height, channels, 8, NULL), 0);
    assert_int_equal(mr_image_orient(image, o, &turned), 0);
    assert_int_equal(mr_image_convert(&turned, &wanted), 0);
    snprintf(what, sizeof what, "orientation %u, %u channels to %u", orientation, image->channels, channels);
    compare_sheet(how, write_conversion, &to, image, &wanted, what);
    mr_image_fini(&turned, NULL);
    mr_image_fini(&wanted, NULL);
}
