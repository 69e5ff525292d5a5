// SPDX-License-Identifier: Apache-2.0
#include "race.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/*
 * Where all write. As malloc gives large blocks, 16 bytes behind the start of a page: on whole cache lines
 * libjpeg-turbo's colour kernels would store around the cache, which for images that fit into it is up to a fifth
 * slower.
 */
typedef struct desk {
    uint8_t *memory[2];
    uint8_t *out;
    uint8_t *whole;
} desk;
enum { PAGE = 4096, OFF_PAGE = 16 };

race_racer *race_add(bench_race *race, bool (*decode)(const race_racer *racer, const race_turn *turn), const void *with,
                     const char *format, ...)
{
    if (race->racer_count == RACERS_MAX)
        abort();
    race_racer *r = race->racer[race->racer_count++] = need(calloc(1, sizeof *r));
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->name, sizeof r->name, format, arguments);
    va_end(arguments);
    r->decode = decode;
    r->with = with;
    return r;
}

bool race_cut(const race_turn *t)
{
    mr_image view;
    return mr_image_crop(&t->whole, t->part, &view) == 0 && mr_image_copy(&view, &t->to) == 0;
}

static race_turn turn_of(const bench_race *race, const item_set *set, size_t i, unsigned round, const desk *d)
{
    const item *it = &set->items[i];
    mr_rect all = {0, 0, it->shape.width, it->shape.height};
    mr_rect part = race->regions ? region_draw(race->seed, i, round, all.width, all.height) : all;
    return (race_turn){.it = it,
                       .part = part,
                       .to = part_image(&it->shape, part, d->out),
                       .whole = part_image(&it->shape, all, d->whole)};
}

static size_t image_nbytes(const mr_image *image)
{
    return mr_image_row_nbytes(image) * image->height;
}

/* Every racer decodes it, and those who claim the same pixels give the same. */
static bool verify(bench_race *race, const race_turn *t)
{
    const race_racer *first = NULL;
    uint64_t expected = 0;
    for (size_t k = 0; k < race->racer_count; k++) {
        const race_racer *r = race->racer[k];
        memset(t->to.pixels, 0x55, image_nbytes(&t->to));
        if (!r->decode(r, t)) {
            if (first != NULL && r->decoder != NULL)
                fprintf(stderr, "%s: %s: %s: %s\n", race->program, t->it->path, r->name, mr_decoder_detail(r->decoder));
            race->left_out++;
            return false;
        }
        if (r->inexact)
            continue;
        uint64_t hash = mr_image_hash(&t->to);
        if (first == NULL) {
            first = r;
            expected = hash;
        } else if (hash != expected) {
            fprintf(stderr, "%s: %s: %s gives other pixels than %s\n", race->program, t->it->path, r->name,
                    first->name);
            race->different++;
            return false;
        }
    }
    return true;
}

static void verify_all(bench_race *race, item_set *set, const desk *d)
{
    unsigned rounds = race->regions ? race->rounds : 1; // whole images are the same in every round
    for (size_t i = 0; i < set->count; i++) {
        item *it = &set->items[i];
        bool good = !it->left_out && race->images < race->most;
        for (unsigned round = 0; good && round < rounds; round++) {
            race_turn t = turn_of(race, set, i, round, d);
            good = verify(race, &t);
        }
        it->left_out = !good;
        race->images += good;
        race->images_of[it->kind] += good;
    }
}

/* The end of the batch that begins with image i: images of one kind. */
static size_t batch_end(const bench_race *race, const item_set *set, size_t i)
{
    size_t taken = 0, most = race->batch != 0 ? race->batch : 1, end = i;
    for (; end < set->count && taken < most && set->items[end].kind == set->items[i].kind; end++)
        taken += !set->items[end].left_out;
    return end;
}

static void time_racer(race_racer *r, const race_turn *turns, size_t count, unsigned round)
{
    double start = thread_ns();
    for (size_t i = 0; i < count; i++)
        r->decode(r, &turns[i]); // which was seen to succeed
    r->ns[turns->it->kind][round] += thread_ns() - start;
}

static void time_round(bench_race *race, const item_set *set, const desk *d, unsigned round)
{
    race_turn *turns = need(calloc(race->batch != 0 ? race->batch : 1, sizeof *turns));
    size_t batch = round, end;
    for (size_t i = 0; i < set->count; i = end) {
        size_t count = 0;
        end = batch_end(race, set, i);
        for (size_t k = i; k < end; k++)
            if (!set->items[k].left_out)
                turns[count++] = turn_of(race, set, k, round, d);
        for (size_t k = 0; k < count; k++)
            race->pixel_nbytes[turns->it->kind][round] += (double)image_nbytes(&turns[k].to);
        for (size_t k = 0; count != 0 && k < race->racer_count; k++) {
            race_racer *r = race->racer[(k + batch) % race->racer_count];
            if (!r->untimed)
                time_racer(r, turns, count, round);
        }
        batch++;
    }
    free(turns);
}

/* Room for the largest image; all touched once, so that no racer pays for the pages. */
static bool desk_init(desk *d, const item_set *set)
{
    size_t most = 0;
    for (size_t i = 0; i < set->count; i++) {
        size_t nbytes = image_nbytes(&set->items[i].shape);
        if (!set->items[i].left_out && nbytes > most)
            most = nbytes;
    }
    if (most == 0)
        return false;
    most = (most + OFF_PAGE + PAGE - 1) / PAGE * PAGE;
    for (int i = 0; i < 2; i++)
        d->memory[i] = memset(need(aligned_alloc(PAGE, most)), i + 1, most);
    d->out = d->memory[0] + OFF_PAGE;
    d->whole = d->memory[1] + OFF_PAGE;
    return true;
}

bool race_run(bench_race *race, item_set *set)
{
    desk d;
    places before;
    if (!desk_init(&d, set))
        return false;
    verify_all(race, set, &d);
    pin_thread(&before);
    for (unsigned round = 0; race->images != 0 && round < race->rounds; round++)
        time_round(race, set, &d, round);
    unpin_thread(&before);
    free(d.memory[0]);
    free(d.memory[1]);
    return race->images != 0;
}

void race_free(bench_race *race)
{
    for (size_t k = 0; k < race->racer_count; k++) {
        mr_decoder_free(race->racer[k]->decoder);
        free(race->racer[k]);
    }
    race->racer_count = 0;
}

static double sum_of(const double series[KINDS][ROUNDS_MAX], unsigned kind, unsigned round)
{
    double sum = 0;
    for (unsigned k = 0; k < KINDS; k++)
        if (kind == KINDS || kind == k)
            sum += series[k][round];
    return sum;
}

double race_ms(const bench_race *race, const race_racer *r, unsigned kind)
{
    double values[ROUNDS_MAX], images = (double)(kind == KINDS ? race->images : race->images_of[kind]);
    for (unsigned i = 0; i < race->rounds; i++)
        values[i] = sum_of(r->ns, kind, i) / images / 1e6;
    return median(values, race->rounds);
}

double race_mb_per_s(const bench_race *race, const race_racer *r, unsigned kind)
{
    double values[ROUNDS_MAX];
    for (unsigned i = 0; i < race->rounds; i++)
        values[i] = sum_of(race->pixel_nbytes, kind, i) * 1e3 / sum_of(r->ns, kind, i);
    return median(values, race->rounds);
}

double race_times(const bench_race *race, const race_racer *r, const race_racer *than, unsigned kind, double range[2])
{
    double values[ROUNDS_MAX];
    for (unsigned i = 0; i < race->rounds; i++)
        values[i] = sum_of(than->ns, kind, i) / sum_of(r->ns, kind, i);
    double middle = median(values, race->rounds); // which sorts them
    if (range != NULL) {
        range[0] = values[0];
        range[1] = values[race->rounds - 1];
    }
    return middle;
}
