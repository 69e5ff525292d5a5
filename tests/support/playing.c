// SPDX-License-Identifier: Apache-2.0
#include "playing.h"

#include "kernel/lane/pass.h"
#include "step/augment.h"
#include "step/recipe.h"
#include <stdlib.h>
#include <string.h>

/* An arena is as small as may do, since all of it is written before use; what does not fit is tried with more. */
enum { FIRST_NBYTES = 1 << 20, TIMES_MORE = 4, GUARD = 64 };

/* A tape with its arena. */
typedef struct deck {
    mr_hooks hooks;
    mr__tape tape;
    mr__tape_writer writer;
    uint8_t *arena;
} deck;

static void deck_free(deck *d)
{
    if (d == NULL)
        return;
    mr__tape_writer_fini(&d->writer);
    mr__tape_fini(&d->tape);
    free(d->arena);
    free(d);
}

static deck *deck_new(const mr__finish *finish, uint64_t nbytes)
{
    deck *d = nbytes <= UINT32_MAX ? calloc(1, sizeof *d) : NULL;
    if (d == NULL || mr__hooks_init(&d->hooks, NULL) != 0 || (d->arena = aligned_alloc(4096, nbytes)) == NULL) {
        deck_free(d);
        return NULL;
    }
    memset(d->arena, 0xa5, nbytes); // nobody may count on zeros
    mr__tape_init(&d->tape, &d->hooks, d->arena, (uint32_t)nbytes, (uint32_t)nbytes, 4);
    d->tape.guard = GUARD;
    mr__tape_writer_init(&d->writer, &d->hooks, &d->tape, finish);
    mr__tape_writer_begin(&d->writer);
    (void)mr__tape_open(&d->tape);
    return d;
}

/* MR_ENOMEM comes back alone, since the caller tries again. */
static int deck_play(deck *d, const playing *how, uint8_t *out, size_t out_nbytes, mr__detail *detail)
{
    (void)mr__tape_close(&d->tape);
    int result = mr__tape_end(&d->tape);
    if (result != 0)
        return mr__fail(detail, result, "the tape does not fit");
    if (how->play != NULL)
        return how->play(how->user, &d->tape, d->arena, out, out_nbytes, detail);
    mr__emulation emulation = {.hooks = &d->hooks, .seed = how->seed, .guest = how->guest};
    mr__tape_fence(&d->tape, d->arena);
    result = mr__emulate(&emulation, d->tape.launches, d->tape.launch_count, d->arena, out, detail);
    mr__tape_unfence(&d->tape, d->arena);
    return result;
}

static uint64_t arena_for(uint64_t nbytes)
{
    return (5 * nbytes + FIRST_NBYTES + 4095) / 4096 * 4096;
}

/* The next size to try; 0: none. */
static uint64_t arena_after(uint64_t nbytes)
{
    const uint64_t most = UINT32_MAX / 4096 * 4096;
    if (nbytes == most)
        return 0;
    return nbytes < most / TIMES_MORE ? nbytes * TIMES_MORE : most;
}

/* 1. Recipes. */

static int put_chain(mr__tape_writer *writer, const mr__chain *chain, const mr_image *image, mr__detail *detail)
{
    mr_image part;
    int result = mr_image_crop(image, mr__pass_region(&chain->pass[0]), &part);
    if (result != 0)
        return mr__fail(detail, result, "the recipe looks beyond the image");
    mr__sheet sheet = mr__tape_image(writer->tape, &part);
    return mr__tape_chain(writer, chain, sheet, detail);
}

int playing_put_recipe(mr__tape_writer *writer, const mr_recipe *recipe, const mr_image *image, uint64_t key,
                       mr__detail *detail)
{
    uint32_t *draws = calloc(mr__recipe_draw_count(recipe) + 1, sizeof *draws);
    mr__chain *chain = malloc(sizeof *chain);
    int result = MR_ENOMEM;
    if (draws != NULL && chain != NULL) {
        mr__recipe_draw(recipe, 1, 0, key, draws);
        result = mr__recipe_resolve(recipe, draws, image->width, image->height, NULL, chain, detail);
        if (result == 0)
            result = put_chain(writer, chain, image, detail);
    }
    free(draws);
    free(chain);
    return result;
}

static int play_recipe(const playing *how, const mr_recipe *recipe, const mr_image *image, uint64_t key,
                       uint64_t arena_nbytes, uint8_t *out, size_t nbytes, mr__detail *detail)
{
    mr__finish finish;
    int result = mr__recipe_finish(recipe, &finish, detail);
    if (result != 0)
        return result;
    deck *d = deck_new(&finish, arena_nbytes);
    if (d == NULL)
        return mr__fail(detail, MR_ENOMEM, "out of memory for an arena");
    result = playing_put_recipe(&d->writer, recipe, image, key, detail);
    if (result == 0)
        result = deck_play(d, how, out, nbytes, detail);
    if (result == 0 && mr__tape_refused(d->arena, 0))
        result = mr__fail(detail, MR_ECORRUPT, "a kernel has refused its order");
    deck_free(d);
    return result;
}

int playing_recipe(const playing *how, const mr_recipe *recipe, const mr_image *image, uint64_t key, uint8_t *out,
                   size_t nbytes, mr__detail *detail)
{
    int result;
    uint64_t arena_nbytes = arena_for((uint64_t)image->width * image->height * image->channels + nbytes);
    do
        result = play_recipe(how, recipe, image, key, arena_nbytes, out, nbytes, detail);
    while (result == MR_ENOMEM && (arena_nbytes = arena_after(arena_nbytes)) != 0);
    return result;
}

/* 2. Decoders. */

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
                     MR__PLACE_GROUPS(sheet.width, (uint64_t)sheet.height));
}

static int play_sheet(deck *d, const playing *how, mr__sheet sheet, playing_decoded *out, mr__detail *detail)
{
    mr_image image = {sheet.width, sheet.height, sheet.channels, 8, 0, NULL};
    size_t row = mr_image_row_nbytes(&image), nbytes = row * sheet.height;
    image.stride = (ptrdiff_t)row;
    image.pixels = aligned_alloc(64, nbytes / 64 * 64 + 64);
    if (image.pixels == NULL)
        return mr__fail(detail, MR_ENOMEM, "out of memory for pixels");
    copy_out(&d->tape, sheet);
    int result = deck_play(d, how, image.pixels, nbytes, detail);
    if (result == 0)
        *out = (playing_decoded){mr__tape_refused(d->arena, 0), image};
    else
        free(image.pixels);
    return result;
}

static int write_and_play(const playing *how, playing_write *write, void *user, uint64_t arena_nbytes,
                          playing_decoded *out, mr__detail *detail)
{
    const mr__finish finish = {.output = {.channels = 3, .width = 1, .height = 1, .dtype = MR_U8}, .depth = 8};
    mr__sheet sheet = {0};
    deck *d = deck_new(&finish, arena_nbytes);
    if (d == NULL)
        return mr__fail(detail, MR_ENOMEM, "out of memory for an arena");
    int result = write(user, &d->writer, &sheet, detail);
    if (result == 0)
        result = mr__tape_code(&d->tape);
    if (result == 0)
        result = play_sheet(d, how, sheet, out, detail);
    deck_free(d);
    return result;
}

int playing_sheet(const playing *how, playing_write *write, void *user, uint64_t nbytes, playing_decoded *out,
                  mr__detail *detail)
{
    int result;
    uint64_t arena_nbytes = arena_for(nbytes);
    *out = (playing_decoded){0};
    do
        result = write_and_play(how, write, user, arena_nbytes, out, detail);
    while (result == MR_ENOMEM && (arena_nbytes = arena_after(arena_nbytes)) != 0);
    return result;
}

static int write_source(void *user, mr__tape_writer *writer, mr__sheet *sheet, mr__detail *detail)
{
    const mr__tape_source *source = user;
    return mr__tape_decode(writer, source, sheet, detail);
}

int playing_decode(const playing *how, const void *bytes, size_t nbytes, const mr_info *info, mr_rect region,
                   playing_decoded *out, mr__detail *detail)
{
    mr__tape_source source = {.bytes = bytes,
                              .nbytes = nbytes,
                              .info = info,
                              .region = region,
                              .reduce = how->reduce != 0 ? how->reduce : 1,
                              .index = how->index,
                              .index_nbytes = how->index_nbytes};
    *out = (playing_decoded){0};
    int result = mr_decoder_new(NULL, &source.decoder);
    if (result != 0)
        return mr__fail(detail, result, "no decoder could be made");
    uint64_t pixels = (uint64_t)info->width * info->height;
    result = playing_sheet(how, write_source, &source, 4 * pixels + nbytes, out, detail);
    mr_decoder_free(source.decoder);
    return result;
}
