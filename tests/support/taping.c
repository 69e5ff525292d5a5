// SPDX-License-Identifier: Apache-2.0
#include "taping.h"

#include "test.h"

#include "kernel/lane/emulate.h"
#include "kernel/lane/pass.h"
#include "step/augment.h"
#include "step/recipe.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_NBYTES = 64 << 20, GUARD = 64 };

/* A tape with its arena. */
typedef struct deck {
    mr_hooks hooks;
    mr__tape tape;
    mr__tape_writer writer;
    uint8_t *arena;
    mr__detail detail;
} deck;

static void deck_init(deck *d, const mr__finish *finish, uint32_t nbytes)
{
    memset(d, 0, sizeof *d);
    assert_int_equal(mr__hooks_init(&d->hooks, NULL), 0);
    d->arena = mr__alloc(&d->hooks, nbytes);
    assert_non_null(d->arena);
    memset(d->arena, 0xa5, nbytes);
    mr__tape_init(&d->tape, &d->hooks, d->arena, nbytes, nbytes, 4);
    d->tape.guard = GUARD;
    mr__tape_writer_init(&d->writer, &d->hooks, &d->tape, finish);
    mr__tape_writer_begin(&d->writer);
}

static void deck_fini(deck *d)
{
    mr__tape_writer_fini(&d->writer);
    mr__tape_fini(&d->tape);
    mr__free(&d->hooks, d->arena);
}

static void deck_play(deck *d, const taping *how, uint8_t *out, size_t out_nbytes)
{
    int result = mr__tape_end(&d->tape);
    if (result == 0 && how->play != NULL) {
        result = how->play(how->user, &d->tape, d->arena, out, out_nbytes, &d->detail);
    } else if (result == 0) {
        mr__emulation emulation = {&d->hooks, how->seed};
        result = mr__emulate(&emulation, d->tape.launches, d->tape.launch_count, d->arena, out, &d->detail);
    }
    if (result != 0)
        fail_msg("a tape was not played: %s (%s)", d->detail.text, mr_error_text(result));
}

static uint32_t arena_for(const mr_image *image)
{
    uint64_t more = 40 * (uint64_t)image->width * image->height * image->channels;
    return more + ARENA_NBYTES < UINT32_MAX ? (uint32_t)(more + ARENA_NBYTES) : UINT32_MAX;
}

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

/* The chain that the applier had. */
static void resolve(const mr_recipe *recipe, const mr_image *image, uint64_t key, mr__chain *chain)
{
    mr__detail detail;
    uint32_t *draws = calloc(mr__recipe_draw_count(recipe) + 1, sizeof *draws);
    assert_non_null(draws);
    mr__recipe_draw(recipe, 1, 0, key, draws);
    assert_int_equal(mr__recipe_resolve(recipe, draws, image->width, image->height, NULL, chain, &detail), 0);
    free(draws);
}

static void play_recipe(const taping *how, const mr_recipe *recipe, const mr_image *image, uint64_t key, uint8_t *out,
                        size_t nbytes, const char *text)
{
    mr__finish finish;
    mr__chain *chain = malloc(sizeof *chain);
    mr_image part;
    deck *d = malloc(sizeof *d);
    assert_non_null(chain);
    assert_non_null(d);
    resolve(recipe, image, key, chain);
    mr__detail detail;
    assert_int_equal(mr__recipe_finish(recipe, &finish, &detail), 0);
    assert_int_equal(mr_image_crop(image, mr__pass_region(&chain->pass[0]), &part), 0);
    deck_init(d, &finish, arena_for(image));
    (void)mr__tape_open(&d->tape);
    mr__sheet sheet = mr__tape_image(&d->tape, &part);
    int result = mr__tape_chain(&d->writer, chain, sheet, &d->detail);
    if (result != 0)
        fail_msg("%s: %s (%s)", text, d->detail.text, mr_error_text(result));
    (void)mr__tape_close(&d->tape);
    deck_play(d, how, out, nbytes);
    assert_false(mr__tape_refused(d->arena, 0));
    deck_fini(d);
    free(d);
    free(chain);
}

bool taping_recipe(const taping *how, const char *text, const mr_image *image, uint64_t key)
{
    mr_recipe *recipe;
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
        play_recipe(how, recipe, image, key, got, nbytes, text);
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

/* A place that copies a sheet into the batch, as it is. */
static void copy_out(mr__tape *tape, mr__sheet sheet)
{
    mr__order_place place = {.to_row = sheet.width * sheet.channels,
                             .to_pixel = sheet.channels,
                             .to_plane = 1,
                             .number_nbytes = 1,
                             .from = sheet,
                             .canvas_width = sheet.width,
                             .canvas_height = sheet.height,
                             .width = sheet.width,
                             .height = sheet.height};
    mr__tape_call_of(tape, MR__KERNEL_place, &place, sizeof place,
                     MR__CANVAS_GROUPS(sheet.width, (uint64_t)sheet.height));
}

typedef struct decoded {
    int code; /* of writing the tape */
    bool refused;
    mr_image image; /* pixels are malloc'ed */
} decoded;

static decoded play_decode(const taping *how, const void *bytes, size_t nbytes, const mr_info *info, mr_rect region)
{
    mr__finish finish = {.output = {.channels = 3, .width = 1, .height = 1}, .depth = 8};
    decoded is = {0};
    mr__sheet sheet = {0};
    mr_decoder *decoder;
    deck *d = malloc(sizeof *d);
    assert_non_null(d);
    assert_int_equal(mr_decoder_new(NULL, &decoder), 0);
    mr_image whole = {info->width, info->height, 4, 8, 0, NULL};
    deck_init(d, &finish, arena_for(&whole));
    mr__tape_source source = {.bytes = bytes, .nbytes = nbytes, .info = info, .region = region, .decoder = decoder};
    (void)mr__tape_open(&d->tape);
    is.code = mr__tape_decode(&d->writer, &source, &sheet, &d->detail);
    is.code = is.code == 0 ? mr__tape_code(&d->tape) : is.code;
    if (is.code == 0) {
        copy_out(&d->tape, sheet);
        (void)mr__tape_close(&d->tape);
        is.image = (mr_image){sheet.width, sheet.height, sheet.channels, 8, 0, NULL};
        size_t row = mr_image_row_nbytes(&is.image);
        is.image.stride = (ptrdiff_t)row;
        is.image.pixels = malloc(row * sheet.height + 1);
        assert_non_null(is.image.pixels);
        deck_play(d, how, is.image.pixels, row * sheet.height);
        is.refused = mr__tape_refused(d->arena, 0);
    }
    mr_decoder_free(decoder);
    deck_fini(d);
    free(d);
    return is;
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
    assert_int_equal(code, 0);
    if (region.width == 0)
        region = (mr_rect){0, 0, info.width, info.height};
    decoded is = play_decode(how, bytes, nbytes, &info, region);
    if (is.code == MR_EUNSUPPORTED)
        return false;
    assert_int_equal(is.code, 0);
    assert_false(is.refused);
    mr_decoder *decoder;
    mr_image wanted;
    mr_decode_hints hints = {.struct_size = sizeof hints, .region = region, .channels = is.image.channels, .depth = 8};
    assert_int_equal(mr_decoder_new(NULL, &decoder), 0);
    assert_int_equal(mr_decoder_decode(decoder, bytes, nbytes, &hints, &wanted), 0);
    assert_int_equal(wanted.width, is.image.width);
    assert_int_equal(wanted.height, is.image.height);
    for (uint32_t y = 0; y < wanted.height; y++)
        compare((uint8_t *)is.image.pixels + (ptrdiff_t)y * is.image.stride,
                (uint8_t *)wanted.pixels + (ptrdiff_t)y * wanted.stride, mr_image_row_nbytes(&wanted), "a row", &wanted,
                y);
    mr_image_fini(&wanted, NULL);
    mr_decoder_free(decoder);
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
    decoded is = play_decode(how, bytes, nbytes, &info, (mr_rect){0, 0, info.width, info.height});
    mr_decode_hints hints = {.struct_size = sizeof hints};
    assert_int_equal(mr_decoder_new(NULL, &decoder), 0);
    code = mr_decoder_decode(decoder, bytes, nbytes, &hints, &host);
    if (code != 0 && is.code == 0)
        assert_true(is.refused);
    if (code == 0)
        mr_image_fini(&host, NULL);
    mr_decoder_free(decoder);
    free(is.image.pixels);
}
