// SPDX-License-Identifier: Apache-2.0
/* Verifying a packed dataset, beside reading its shards from beginning to end by as many threads. */
#define _GNU_SOURCE
#include "dataset_race.h"

#include <errno.h>
#include <fcntl.h>
#include <millrace/pack.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 4 << 20 };

typedef struct shards {
    const char *folder;
    uint64_t count;
    _Atomic uint64_t next, nbytes;
} shards;

static void read_shard(shards *s, uint64_t number, void *chunk)
{
    char path[PATH_NBYTES + 32];
    ssize_t got = 1;
    snprintf(path, sizeof path, "%s/jpeg/%06llu.tar", s->folder, (unsigned long long)number);
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        fail("%s: %s", path, strerror(errno));
    for (off_t at = 0; got > 0; at += got) {
        got = pread(fd, chunk, CHUNK, at);
        if (got < 0)
            fail("%s: %s", path, strerror(errno));
        atomic_fetch_add(&s->nbytes, (uint64_t)got);
    }
    close(fd);
}

static void *read_shards(void *arg)
{
    shards *s = arg;
    void *chunk = need(malloc(CHUNK));
    for (uint64_t i; (i = atomic_fetch_add(&s->next, 1)) < s->count;)
        read_shard(s, i, chunk);
    free(chunk);
    return NULL;
}

static uint64_t read_all(const options *o, const char *folder, uint64_t count)
{
    shards s = {.folder = folder, .count = count};
    pthread_t *threads = need(malloc(o->threads * sizeof *threads));
    for (unsigned i = 0; i < o->threads; i++)
        if (pthread_create(&threads[i], NULL, read_shards, &s) != 0)
            fail("no thread can be started");
    for (unsigned i = 0; i < o->threads; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    return atomic_load(&s.nbytes);
}

static uint64_t verify_all(const options *o, const char *folder)
{
    const mr_verify_options how = {sizeof how, .threads = o->threads};
    mr_verify_report report = {.struct_size = sizeof report};
    char detail[512];
    if (mr_dataset_verify(folder, &how, &report, detail, sizeof detail) != 0)
        fail("%s", detail);
    if (report.findings != 0)
        fail("%s is damaged", folder);
    return report.nbytes;
}

static void take_turn(const options *o, contest *c, size_t turn, unsigned round, const char *folder, uint64_t count)
{
    double begin = wall_ns(), core = core_s();
    if (turn == 0)
        c->nbytes = read_all(o, folder, count);
    else
        verify_all(o, folder);
    c->runners[turn].wall_s[round] = (wall_ns() - begin) / 1e9;
    c->runners[turn].core_s[round] = core_s() - core;
}

static void run(const options *o, contest *c, bool dropped, const char *folder, const mr_dataset_info *info)
{
    c->samples = info->samples;
    runner_add(c, "sequential read");
    runner_add(c, "verify");
    sync();
    warm_files(folder);
    for (unsigned round = 0; round < o->rounds; round++)
        for (size_t i = 0; i < 2; i++) {
            if (dropped)
                drop_files(folder);
            take_turn(o, c, turn_of(i, round, 2), round, folder, info->shards);
        }
}

void measure_verify(const options *o, results *r)
{
    mr_dataset_info info = {.struct_size = sizeof info};
    mr_dataset *dataset = NULL;
    char folder[PATH_NBYTES];
    const char *paths[] = {folder};
    path_in(o, "packed", folder);
    if (mr_dataset_new(NULL, &dataset) != 0)
        need(NULL);
    if (mr_dataset_open(dataset, paths, 1) != 0 || mr_dataset_get_info(dataset, &info) != 0)
        fail("%s", mr_dataset_detail(dataset));
    mr_dataset_free(dataset);
    run(o, contest_add(r, "verify, shards in memory", 0.8), false, folder, &info);
    run(o, contest_add(r, "verify, shards dropped from memory", 0.8), true, folder, &info);
}
