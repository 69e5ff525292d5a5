// SPDX-License-Identifier: Apache-2.0
/*
 * The race. For each image all racers decode it one after the other, in an order that turns from image to image and
 * round to round, so that nobody always finds the bytes in the cache and what else the machine does meets all alike.
 * Time is that of this thread's processor.
 */
#include "decode.h"

#include <stdlib.h>
#include <string.h>

/* Where the racers write: the result, and the whole image for those who must decode it all first. */
typedef struct desk {
    mr_decoder *decoder;
    uint8_t *out;
    uint8_t *whole;
} desk;

static mr_rect all_of(const item *it)
{
    return (mr_rect){0, 0, it->shape.width, it->shape.height};
}

static bool decode_ours(const desk *d, const item *it, mr_rect part, const mr_image *to)
{
    mr_decode_hints hints = {.struct_size = sizeof hints, .region = part};
    return mr_decoder_decode_into(d->decoder, it->bytes, it->nbytes, &hints, to) == 0;
}

static bool run_racer(const bench_racer *r, const desk *d, const item *it, mr_rect part, const mr_image *to)
{
    mr_image whole = part_image(&it->shape, all_of(it), d->whole), view;
    switch (r->kind) {
    case RACER_MILLRACE:
        return decode_ours(d, it, part, to);
    case RACER_WHOLE:
        return r->peer->decode(it->bytes, it->nbytes, to) != PEER_FAILED;
    case RACER_CROP:
        return r->peer->decode(it->bytes, it->nbytes, &whole) != PEER_FAILED &&
               mr_image_crop(&whole, part, &view) == 0 && mr_image_copy(&view, to) == 0;
    case RACER_OWN_REGION:
        return r->peer->decode_region(it->bytes, it->nbytes, part, to);
    case RACER_MEMCPY:
        memcpy(to->pixels, d->whole, mr_image_row_nbytes(to) * to->height);
        return true;
    }
    return false;
}

static mr_rect part_of(const item_set *set, size_t i, unsigned round, const options *o)
{
    const item *it = &set->items[i];
    return o->regions ? region_draw(o->seed, i, round, it->shape.width, it->shape.height) : all_of(it);
}

/* Every racer decodes it, and those who claim the same pixels give the same. */
static void verify(bench_race *race, item *it, const desk *d, mr_rect part)
{
    mr_image to = part_image(&it->shape, part, d->out);
    uint64_t ours = 0;
    it->left_out = true;
    for (size_t r = 0; r < race->racer_count; r++) {
        const bench_racer *racer = &race->racer[r];
        if (!run_racer(racer, d, it, part, &to)) {
            race->left_out++;
            return;
        }
        uint64_t hash = mr_image_hash(&to);
        if (r == 0)
            ours = hash;
        else if (racer->kind != RACER_OWN_REGION && racer->kind != RACER_MEMCPY && hash != ours) {
            fprintf(stderr, "decode: %s: %s gives other pixels than Millrace\n", it->path, racer->name);
            race->different++;
            return;
        }
    }
    it->left_out = false;
    race->images++;
}

static void time_image(bench_race *race, const item *it, const desk *d, mr_rect part, unsigned round, size_t turn)
{
    mr_image to = part_image(&it->shape, part, d->out);
    for (size_t k = 0; k < race->racer_count; k++) {
        bench_racer *racer = &race->racer[(k + turn) % race->racer_count];
        double start = thread_ns();
        run_racer(racer, d, it, part, &to);
        racer->ns[round] += thread_ns() - start;
    }
    race->pixel_nbytes[round] += (double)mr_image_row_nbytes(&to) * to.height;
}

static void add_racer(bench_race *race, racer_kind kind, const bench_peer *peer, const char *name, const char *how)
{
    bench_racer *r = &race->racer[race->racer_count++];
    *r = (bench_racer){.kind = kind, .peer = peer};
    snprintf(r->name, sizeof r->name, "%s%s", name, how);
    r->ns = calloc(race->rounds, sizeof *r->ns);
}

static void add_racers(bench_race *race, const options *o)
{
    add_racer(race, RACER_MILLRACE, NULL, "millrace", "");
    for (size_t i = 0; i < peer_count; i++) {
        if (peers[i]->form != race->form)
            continue;
        add_racer(race, o->regions ? RACER_CROP : RACER_WHOLE, peers[i], peers[i]->name,
                  o->regions ? ", whole then crop" : "");
        if (o->regions && peers[i]->decode_region != NULL)
            add_racer(race, RACER_OWN_REGION, peers[i], peers[i]->name, ", its own crop");
    }
    add_racer(race, RACER_MEMCPY, NULL, "memcpy", "");
}

/* Room for the largest image of the form; all touched once, so that no racer pays for the pages. */
static bool desk_init(desk *d, mr_decoder *decoder, const item_set *set, mr_form form)
{
    size_t most = 0;
    for (size_t i = 0; i < set->count; i++) {
        const mr_image *shape = &set->items[i].shape;
        size_t nbytes = mr_image_row_nbytes(shape) * shape->height;
        if (set->items[i].form == form && nbytes > most)
            most = nbytes;
    }
    most = (most + 63) / 64 * 64;
    *d = (desk){decoder, most != 0 ? aligned_alloc(64, most) : NULL, most != 0 ? aligned_alloc(64, most) : NULL};
    if (d->out == NULL || d->whole == NULL)
        return false;
    memset(d->out, 1, most);
    memset(d->whole, 2, most);
    return true;
}

static void desk_fini(desk *d)
{
    free(d->out);
    free(d->whole);
}

bool race_run(bench_race *race, item_set *set, mr_decoder *decoder, mr_form form, const options *o)
{
    desk d;
    *race = (bench_race){.form = form, .rounds = o->rounds};
    race->pixel_nbytes = calloc(o->rounds, sizeof *race->pixel_nbytes);
    add_racers(race, o);
    if (desk_init(&d, decoder, set, form)) {
        for (size_t i = 0; i < set->count; i++) {
            item *it = &set->items[i];
            if (it->form == form && race->images < o->images)
                verify(race, it, &d, part_of(set, i, 0, o));
            else
                it->left_out = true;
        }
        for (unsigned round = 0; round < o->rounds; round++)
            for (size_t i = 0; i < set->count; i++)
                if (!set->items[i].left_out)
                    time_image(race, &set->items[i], &d, part_of(set, i, round, o), round, i + round);
    }
    desk_fini(&d);
    return race->images != 0;
}

void race_free(bench_race *race)
{
    for (size_t r = 0; r < race->racer_count; r++)
        free(race->racer[r].ns);
    free(race->pixel_nbytes);
}

/* The median over the rounds of numerator / denominator; a NULL numerator is the constant. */
static double median_ratio(const bench_race *race, const double *numerator, double constant, const double *denominator)
{
    double values[ROUNDS_MAX];
    for (unsigned i = 0; i < race->rounds; i++)
        values[i] = (numerator != NULL ? numerator[i] : constant) / denominator[i];
    return median(values, race->rounds);
}

double race_mb_per_s(const bench_race *race, size_t racer)
{
    return median_ratio(race, race->pixel_nbytes, 0, race->racer[racer].ns) * 1e3;
}

double race_images_per_s(const bench_race *race, size_t racer)
{
    return median_ratio(race, NULL, (double)race->images, race->racer[racer].ns) * 1e9;
}

double race_ratio(const bench_race *race, size_t racer)
{
    return median_ratio(race, race->racer[racer].ns, 0, race->racer[0].ns);
}
