// SPDX-License-Identifier: Apache-2.0
/*
 * Packing JPEG files as they are, beside `cp -r`; and to L3, beside the encoder alone. All are followed by a sync, and
 * begin after one: nobody pays for what another left to be written.
 */
#define _GNU_SOURCE
#include "dataset_race.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct race {
    const options *o;
    char source[PATH_NBYTES], out[PATH_NBYTES], cache[PATH_NBYTES], threads[16];
} race;

static void race_init(race *r, const options *o, const char *source)
{
    r->o = o;
    path_in(o, source, r->source);
    path_in(o, "out", r->out);
    path_in(o, "cache", r->cache);
    snprintf(r->threads, sizeof r->threads, "%u", o->threads);
}

/* Nothing of an earlier turn is there: neither its files nor the index of the source. */
static void prepare(const race *r, bool dropped)
{
    remove_files(r->out);
    remove_files(r->cache);
    sync();
    if (dropped)
        drop_files(r->source);
    else
        warm_files(r->source);
}

static void time_command(const race *r, bool dropped, const char *const *arguments, runner *to, unsigned round)
{
    prepare(r, dropped);
    double begin = wall_ns(), core = core_s();
    run_command(r->o, arguments);
    sync();
    to->wall_s[round] = (wall_ns() - begin) / 1e9;
    to->core_s[round] = core_s() - core;
}

static void run_jpeg(const race *r, bool dropped, contest *c)
{
    const char *const copy[] = {"cp", "-r", r->source, r->out, NULL};
    const char *const pack[] = {r->o->millrace, "pack", r->source,   "-o",       r->out,
                                "--forms",      "jpeg", "--threads", r->threads, NULL};
    const char *const bare[] = {r->o->millrace, "pack",     r->source,        "-o",         r->out, "--forms", "jpeg",
                                "--threads",    r->threads, "--no-row-index", "--no-check", NULL};
    const char *const *const commands[] = {copy, pack, bare};
    runner_add(c, "cp -r");
    runner_add(c, "millrace pack");
    runner_add(c, "millrace pack --no-row-index --no-check");
    c->samples = walk_files(r->source, &c->nbytes);
    for (unsigned round = 0; round < r->o->rounds; round++)
        for (size_t i = 0; i < c->count; i++) {
            size_t turn = turn_of(i, round, c->count);
            time_command(r, dropped, commands[turn], &c->runners[turn], round);
        }
}

/* Threads that do nothing but encode. */
typedef struct encoders {
    const item_set *set;
    uint64_t count; /* images, the set's over and over */
    _Atomic uint64_t next;
    _Atomic uint64_t core_ns; /* of all threads */
} encoders;

static void *encode(void *arg)
{
    const mr_encode_options how = {sizeof how, .form = MR_FORM_L3};
    encoders *e = arg;
    mr_encoder *encoder = NULL;
    const void *bytes;
    size_t nbytes;
    double begin = thread_ns();
    if (mr_encoder_new(NULL, &encoder) != 0)
        need(NULL);
    for (uint64_t i; (i = atomic_fetch_add(&e->next, 1)) < e->count;) {
        const item *it = &e->set->items[i % e->set->count];
        if (mr_encoder_recode(encoder, it->bytes, it->nbytes, &how, &bytes, &nbytes, NULL) != 0)
            fail("%s: %s", it->path, mr_encoder_detail(encoder));
    }
    mr_encoder_free(encoder);
    atomic_fetch_add(&e->core_ns, (uint64_t)(thread_ns() - begin));
    return NULL;
}

/* The time it would take if nothing but encoders ran, on all cores to the last moment. */
static void time_encoders(const race *r, const item_set *set, uint64_t count, runner *to, unsigned round)
{
    encoders e = {.set = set, .count = count};
    pthread_t *threads = need(malloc(r->o->threads * sizeof *threads));
    for (unsigned i = 0; i < r->o->threads; i++)
        if (pthread_create(&threads[i], NULL, encode, &e) != 0)
            fail("no thread can be started");
    for (unsigned i = 0; i < r->o->threads; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    to->core_s[round] = (double)atomic_load(&e.core_ns) / 1e9;
    to->wall_s[round] = to->core_s[round] / r->o->threads;
}

static void run_l3(const race *r, const item_set *set, contest *c)
{
    const char *const pack[] = {r->o->millrace, "pack", r->source,   "-o",       r->out,
                                "--forms",      "l3",   "--threads", r->threads, NULL};
    runner *alone = runner_add(c, "encoders alone"), *packing = runner_add(c, "millrace pack --forms l3");
    c->samples = walk_files(r->source, &c->nbytes);
    for (unsigned round = 0; round < r->o->rounds; round++)
        for (size_t i = 0; i < 2; i++)
            if (turn_of(i, round, 2) == 0)
                time_encoders(r, set, c->samples, alone, round);
            else
                time_command(r, false, pack, packing, round);
}

/* The images whose records are about 100 kB; all, where there are none. */
static void write_records(const options *o, const item_set *set)
{
    item_set some = {.items = need(malloc(set->count * sizeof *some.items))};
    char path[PATH_NBYTES];
    for (size_t i = 0; i < set->count; i++)
        if (set->items[i].nbytes >= 90000 && set->items[i].nbytes <= 110000)
            some.items[some.count++] = set->items[i];
    path_in(o, "records", path);
    write_source(path, some.count != 0 ? &some : set, 0, o->records);
    free(some.items);
}

/* What the other parts look at: both packed. */
static void keep_packed(const options *o, const char *source, const char *out)
{
    char from[PATH_NBYTES], to[PATH_NBYTES];
    path_in(o, source, from);
    path_in(o, out, to);
    run_command(o, (const char *const[]){o->millrace, "pack", from, "-o", to, "--forms", "jpeg", NULL});
}

void measure_pack(const options *o, const item_set *set, results *to)
{
    race r;
    race_init(&r, o, "l3");
    write_source(r.source, set, o->l3_nbytes, 0);
    run_l3(&r, set, contest_add(to, "pack to L3, source in memory", 0.9));
    remove_files(r.source);
    race_init(&r, o, "source");
    write_source(r.source, set, o->size_nbytes, 0);
    run_jpeg(&r, false, contest_add(to, "pack JPEG as it is, source in memory", 0.8));
    run_jpeg(&r, true, contest_add(to, "pack JPEG as it is, source dropped from memory", 0.8));
    remove_files(r.out);
    remove_files(r.cache);
    write_records(o, set);
    keep_packed(o, "source", "packed");
    keep_packed(o, "records", "packed-records");
}
