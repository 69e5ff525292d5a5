// SPDX-License-Identifier: Apache-2.0
/* Opening what has an index already: each time in a process of its own, as a second start is. */
#define _GNU_SOURCE
#include "dataset_race.h"

#include <malloc.h>
#include <millrace/dataset.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct opened {
    double s, rss_before, rss_after;
    uint64_t samples;
} opened;

/* Bytes of this process that are in memory, files that are mapped included. */
static double resident(void)
{
    char line[128];
    double kilobytes = 0;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    if (file == NULL)
        fail("there is no /proc/self/smaps_rollup");
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "Rss:", 4) == 0)
            kilobytes = strtod(line + 4, NULL);
    fclose(file);
    return kilobytes * 1024;
}

static uint64_t open_dataset(const char *path)
{
    mr_dataset *dataset = NULL;
    if (mr_dataset_new(NULL, &dataset) != 0)
        need(NULL);
    if (mr_dataset_open(dataset, &path, 1) != 0)
        fail("%s", mr_dataset_detail(dataset));
    return mr_dataset_count(dataset); /* it is not freed: the process is about to end */
}

static uint64_t walk(const char *path)
{
    return walk_files(path, NULL);
}

static opened open_apart(uint64_t (*act)(const char *path), const char *path)
{
    opened o = {0};
    int pipes[2], status = 1;
    if (pipe(pipes) != 0)
        fail("no pipe can be made");
    pid_t child = fork();
    if (child == 0) {
        o.rss_before = resident();
        double begin = wall_ns();
        o.samples = act(path);
        o.s = (wall_ns() - begin) / 1e9;
        o.rss_after = resident();
        _exit(write(pipes[1], &o, sizeof o) == (ssize_t)sizeof o ? 0 : 1);
    }
    close(pipes[1]);
    if (child < 0 || read(pipes[0], &o, sizeof o) != (ssize_t)sizeof o || waitpid(child, &status, 0) != child ||
        status != 0)
        fail("%s cannot be opened", path);
    close(pipes[0]);
    return o;
}

typedef struct way {
    const char *name;
    uint64_t (*act)(const char *path);
    char path[PATH_NBYTES];
    bool makes_index;
} way;

/* The packed dataset's shards are tar files that can be read without its indexes. */
static void name_tars(const options *o, way *w)
{
    mr_dataset_info info = {.struct_size = sizeof info};
    mr_dataset *dataset = NULL;
    const char *paths[] = {w->path};
    path_in(o, "packed", w->path);
    if (mr_dataset_new(NULL, &dataset) != 0 || mr_dataset_open(dataset, paths, 1) != 0)
        fail("%s cannot be opened", w->path);
    mr_dataset_get_info(dataset, &info);
    mr_dataset_free(dataset);
    size_t used = strlen(w->path);
    snprintf(w->path + used, sizeof w->path - used, "/jpeg/{000000..%06llu}.tar",
             (unsigned long long)(info.shards - 1));
}

void measure_opening(const options *o, results *r)
{
    static way ways[OPENINGS] = {{.name = "packed", .act = open_dataset},
                                 {.name = "folder", .act = open_dataset, .makes_index = true},
                                 {.name = "tar shards", .act = open_dataset, .makes_index = true},
                                 {.name = "a plain walk over the folder's names and sizes", .act = walk}};
    char cache[PATH_NBYTES];
    path_in(o, "cache", cache);
    remove_files(cache);
    path_in(o, "packed", ways[0].path);
    path_in(o, "source", ways[1].path);
    name_tars(o, &ways[2]);
    path_in(o, "source", ways[3].path);
    malloc_trim(0);
    r->opening_count = OPENINGS;
    for (size_t i = 0; i < OPENINGS; i++) {
        opened first = open_apart(ways[i].act, ways[i].path);
        r->openings[i].name = ways[i].name;
        r->openings[i].samples = first.samples;
        r->openings[i].first_s = ways[i].makes_index ? first.s : 0;
    }
    for (unsigned round = 0; round < o->rounds; round++)
        for (size_t i = 0; i < OPENINGS; i++) {
            size_t turn = turn_of(i, round, OPENINGS);
            opened is = open_apart(ways[turn].act, ways[turn].path);
            r->openings[turn].s[round] = is.s;
            r->openings[turn].rss_before[round] = is.rss_before;
            r->openings[turn].rss_after[round] = is.rss_after;
        }
}
