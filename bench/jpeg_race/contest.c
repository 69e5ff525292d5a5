// SPDX-License-Identifier: Apache-2.0
/* Who takes part in which mode, and with which images. */
#include "jpeg_race.h"

#include <stdlib.h>
#include <string.h>

const mode_facts mode_facts_of[MODES] = {
    [WHOLE] = {.name = "whole", .text = "whole images", .target = 1.85},
    [REGION] = {.name = "region", .text = "regions as RandomResizedCrop draws them", .target = 1.85, .regions = true},
    [INDEX] = {.name = "index", .text = "the same regions, with the row index", .target = 2.1, .regions = true},
    [HALF] = {.name = "reduce2", .text = "reduced to 1/2", .reduce = 2},
    [QUARTER] = {.name = "reduce4", .text = "reduced to 1/4", .reduce = 4},
    [EIGHTH] = {.name = "reduce8", .text = "reduced to 1/8", .reduce = 8},
    [PROGRESSIVE] = {.name = "progressive", .text = "the same coefficients in progressive files", .target = 1.5},
    [GRAY] = {.name = "gray", .text = "gray of colour images", .channels = 1},
};

static mr_decode_hints hints_of(const race_racer *r, const race_turn *t)
{
    return (mr_decode_hints){
        .struct_size = sizeof(mr_decode_hints), .region = t->part, .reduce = r->reduce, .channels = t->to.channels};
}

static bool decode_ours(const race_racer *r, const race_turn *t)
{
    mr_decode_hints hints = hints_of(r, t);
    return mr_decoder_decode_into(r->decoder, t->it->bytes, t->it->nbytes, &hints, &t->to) == 0;
}

static bool decode_by_index(const race_racer *r, const race_turn *t)
{
    mr_decode_hints hints = hints_of(r, t);
    hints.index = t->it->index;
    hints.index_nbytes = t->it->index_nbytes;
    return mr_decoder_decode_into(r->decoder, t->it->bytes, t->it->nbytes, &hints, &t->to) == 0;
}

/* The readers are the racers' own, behind a pointer that does not say so. */
static libjpeg_reader *reader_of(const race_racer *r)
{
    return (libjpeg_reader *)(uintptr_t)r->with;
}

static bool read_whole(const race_racer *r, const race_turn *t)
{
    return libjpeg_read(reader_of(r), t->it->bytes, t->it->nbytes, r->reduce, &t->to) == PEER_DECODED;
}

static bool read_and_cut(const race_racer *r, const race_turn *t)
{
    return libjpeg_read(reader_of(r), t->it->bytes, t->it->nbytes, r->reduce, &t->whole) == PEER_DECODED && race_cut(t);
}

static bool read_part(const race_racer *r, const race_turn *t)
{
    return libjpeg_read_region(reader_of(r), t->it->bytes, t->it->nbytes, t->part, &t->to);
}

static void enter_library(contest *c, const libjpeg *library, bool is_reference)
{
    bool regions = mode_facts_of[c->mode].regions;
    race_racer *r = race_add(&c->race, regions ? read_and_cut : read_whole, NULL, "%s%s", library->name,
                             regions ? ", whole then crop" : "");
    r->with = need(libjpeg_reader_new(library));
    r->reduce = mode_facts_of[c->mode].reduce;
    r->untimed = c->mode == INDEX; // it is timed in the other mode of regions; here it is the reference alone
    if (regions) {
        r = race_add(&c->race, read_part, NULL, "%s, its own crop", library->name);
        r->with = need(libjpeg_reader_new(library));
        r->inexact = true;
    }
    if (is_reference)
        c->reference = r;
}

static void enter_ours(contest *c, const char *mask)
{
    const char *of = mask[0] != '\0' ? " under " : "";
    race_racer *r = race_add(&c->race, c->mode == INDEX ? decode_by_index : decode_ours, NULL, "millrace%s%s%s", of,
                             mask, c->mode == INDEX ? " with index" : "");
    r->decoder = decoder_under(mask, MR_JPEG_OWN);
    r->reduce = mode_facts_of[c->mode].reduce;
}

static void enter(contest *c, const options *o)
{
    for (size_t i = 0; i < o->library_count; i++)
        enter_library(c, &o->library[i], i == 0);
    if (o->mask_count == 0)
        enter_ours(c, "");
    for (size_t i = 0; i < o->mask_count; i++)
        enter_ours(c, o->masks[i]);
}

/* A file as the mode wants it: its bytes and its path are still the other set's. */
static bool adapt(item *it, mode m, mr_decoder *decoder)
{
    mr_decode_hints hints = {.struct_size = sizeof hints};
    hints.reduce = mode_facts_of[m].reduce;
    hints.channels = mode_facts_of[m].channels;
    it->index = NULL;
    it->left_out = false;
    if (m == GRAY && it->shape.channels == 1)
        return false; // which they are anyway
    return mr_decoder_shape(decoder, it->bytes, it->nbytes, &hints, &it->shape) == 0;
}

static void add_index(contest *c, item *it, mr_decoder *decoder)
{
    const void *made = NULL;
    size_t nbytes = 0;
    if (mr_decoder_index(decoder, it->bytes, it->nbytes, &made, &nbytes) != 0 || made == NULL)
        return;
    it->index = memcpy(need(malloc(nbytes)), made, nbytes);
    it->index_nbytes = nbytes;
    c->indexed++;
}

static void take_files(contest *c, item_set *files, const item_set *from)
{
    mr_decoder *decoder = decoder_under("", MR_JPEG_EITHER);
    files->items = need(calloc(from->count + 1, sizeof *files->items));
    for (size_t i = 0; i < from->count; i++) {
        item it = from->items[i];
        if (!adapt(&it, c->mode, decoder))
            continue;
        if (c->mode == PROGRESSIVE && (it.bytes = make_progressive(it.bytes, it.nbytes, &it.nbytes)) == NULL)
            continue;
        if (c->mode == INDEX)
            add_index(c, &it, decoder);
        files->items[files->count++] = it;
    }
    mr_decoder_free(decoder);
}

static void leave_files(const contest *c, item_set *files)
{
    for (size_t i = 0; i < files->count; i++) {
        free(files->items[i].index);
        if (c->mode == PROGRESSIVE)
            free(files->items[i].bytes);
    }
    free(files->items);
}

/* Readers and decoders go; the racers stay, for their times. */
static void leave_racers(contest *c)
{
    for (size_t k = 0; k < c->race.racer_count; k++) {
        race_racer *r = c->race.racer[k];
        libjpeg_reader_free(reader_of(r));
        r->with = NULL;
    }
}

static void run(contest *c, const item_set *from, const options *o)
{
    item_set files = {.count = 0};
    take_files(c, &files, from);
    enter(c, o);
    if (c->mode == INDEX && c->indexed == 0)
        snprintf(c->note, sizeof c->note, "no index: this build makes none of these files");
    else if (!race_run(&c->race, &files))
        snprintf(c->note, sizeof c->note, "no images that all decode%s", c->mode == GRAY ? ", or all gray" : "");
    leave_racers(c);
    leave_files(c, &files);
}

void run_set(contests *all, const jpeg_set *set, const options *o)
{
    for (mode m = 0; m < MODES; m++) {
        if (!o->modes[m])
            continue;
        contest *c = need(calloc(1, sizeof *c));
        *c = (contest){.mode = m,
                       .race = {.program = "jpeg",
                                .rounds = o->rounds,
                                .batch = 32,
                                .most = SIZE_MAX,
                                .regions = mode_facts_of[m].regions,
                                .seed = o->seed}};
        snprintf(c->set, sizeof c->set, "%s", set->name);
        all->list = need(realloc(all->list, (all->count + 1) * sizeof(contest *)));
        all->list[all->count++] = c;
        run(c, &set->files, o);
    }
}

void contests_free(contests *all)
{
    for (size_t i = 0; i < all->count; i++) {
        race_free(&all->list[i]->race);
        free(all->list[i]);
    }
    free(all->list);
}

const race_racer *first_of_ours(const contest *c)
{
    for (size_t k = 0; k < c->race.racer_count; k++)
        if (c->race.racer[k]->decoder != NULL)
            return c->race.racer[k];
    return NULL;
}

bool target_met(const contest *c)
{
    return race_times(&c->race, first_of_ours(c), c->reference, KINDS, NULL) >= mode_facts_of[c->mode].target;
}
