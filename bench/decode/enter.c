// SPDX-License-Identifier: Apache-2.0
/* Who takes part. */
#include "decode.h"

#include <string.h>

static bool decode_ours(const race_racer *r, const race_turn *t)
{
    mr_decode_hints hints = {.struct_size = sizeof hints, .region = t->part};
    return mr_decoder_decode_into(r->decoder, t->it->bytes, t->it->nbytes, &hints, &t->to) == 0;
}

static bool decode_whole(const race_racer *r, const race_turn *t)
{
    const bench_peer *peer = r->with;
    return peer->decode(t->it->bytes, t->it->nbytes, &t->to) != PEER_FAILED;
}

static bool decode_and_cut(const race_racer *r, const race_turn *t)
{
    const bench_peer *peer = r->with;
    return peer->decode(t->it->bytes, t->it->nbytes, &t->whole) != PEER_FAILED && race_cut(t);
}

static bool decode_part(const race_racer *r, const race_turn *t)
{
    const bench_peer *peer = r->with;
    return peer->decode_region(t->it->bytes, t->it->nbytes, t->part, &t->to);
}

static bool copy_pixels(const race_racer *r, const race_turn *t)
{
    (void)r;
    memcpy(t->to.pixels, t->whole.pixels, mr_image_row_nbytes(&t->to) * t->to.height);
    return true;
}

static void enter(bench_race *race, mr_form form)
{
    race_add(race, decode_ours, NULL, "millrace")->decoder = decoder_under("", MR_JPEG_EITHER);
    for (size_t i = 0; i < peer_count; i++) {
        const bench_peer *peer = peers[i];
        if (peer->form != form)
            continue;
        if (race->regions)
            race_add(race, decode_and_cut, peer, "%s, whole then crop", peer->name);
        else
            race_add(race, decode_whole, peer, "%s", peer->name);
        if (race->regions && peer->decode_region != NULL)
            race_add(race, decode_part, peer, "%s, its own crop", peer->name)->inexact = true;
    }
    race_add(race, copy_pixels, NULL, "memcpy")->inexact = true;
}

bool form_race_run(form_race *f, item_set *set, mr_form form, const options *o)
{
    *f = (form_race){
        .form = form,
        .race = {.program = "decode", .rounds = o->rounds, .most = o->images, .regions = o->regions, .seed = o->seed}};
    enter(&f->race, form);
    for (size_t i = 0; i < set->count; i++)
        set->items[i].left_out = set->items[i].form != form;
    return race_run(&f->race, set);
}
