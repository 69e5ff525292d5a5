// SPDX-License-Identifier: Apache-2.0
#include "index.h"

#include "common.h"
#include "dataset/index.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void fail(const char *what)
{
    fprintf(stderr, "index: %s\n", what);
    exit(1);
}

/* Resident bytes of this process, files that are mapped included. */
static uint64_t resident(void)
{
    char line[128];
    unsigned long long kilobytes = 0;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    if (file == NULL)
        fail("there is no /proc/self/smaps_rollup");
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "Rss:", 4) == 0)
            kilobytes = strtoull(line + 4, NULL, 10);
    fclose(file);
    return kilobytes * 1024;
}

/* The file's pages leave the memory; nobody may have it mapped. */
static void drop_pages(const char *path)
{
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fsync(fd) != 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0)
        fail("the file's pages cannot be dropped");
    close(fd);
}

static void open_index(mr__index *index, const char *path, const options *o)
{
    mr__detail detail;
    if (mr__index_open(index, path, &detail) != 0)
        fail(detail.text);
    if (o->random && madvise((void *)(uintptr_t)index->bytes, index->nbytes, MADV_RANDOM) != 0)
        fail("madvise failed");
}

static uint64_t draw(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = (*state ^ *state >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void read_one(const mr__index *index, uint64_t position)
{
    mr__record record;
    if (!mr__index_record(index, position, &record) || record.offset != position * 115000)
        fail("a record is not as it was written");
}

static void find_one(const mr__index *index, uint64_t position)
{
    char key[KEY_NBYTES + 1];
    uint64_t found;
    write_key(position, key);
    if (!mr__index_find(index, key, KEY_NBYTES, &found) || found != position)
        fail("a key is not found");
}

/* The same positions for the same seed: a second run finds the pages of the first. */
static spread time_each(const mr__index *index, uint64_t count, uint64_t seed,
                        void (*act)(const mr__index *index, uint64_t position))
{
    double *times = need(malloc((size_t)(count + 1) * sizeof *times));
    for (uint64_t i = 0; i < count; i++) {
        uint64_t position = draw(&seed) % index->head.samples;
        double begin = wall_ns();
        act(index, position);
        times[i] = wall_ns() - begin;
    }
    spread s = {0, 0};
    if (count != 0) {
        s.p50 = quantile(times, (size_t)count, 0.5);
        s.p99 = quantile(times, (size_t)count, 0.99);
    }
    free(times);
    return s;
}

static double time_open(const char *path, const options *o, mr__index *index)
{
    double begin = wall_ns();
    open_index(index, path, o);
    return wall_ns() - begin;
}

static void measure_cold(const char *path, const options *o, figures *f)
{
    mr__index index;
    drop_pages(path);
    f->open_cold_ns = time_open(path, o, &index);
    f->read_cold = time_each(&index, o->cold, o->seed, read_one);
    f->find_cold = time_each(&index, o->cold, o->seed + 1, find_one);
    mr__index_close(&index);
}

static void measure_warm(const char *path, const options *o, figures *f)
{
    enum { OPENS = 21 };
    double times[OPENS];
    mr__index index;
    for (int i = 0; i < OPENS; i++) {
        times[i] = time_open(path, o, &index);
        mr__index_close(&index);
    }
    f->open_warm_ns = median(times, OPENS);
    f->rss_before = resident();
    open_index(&index, path, o);
    f->rss_open = resident();
    time_each(&index, o->reads, o->seed, read_one);
    f->rss_read = resident();
    f->read = time_each(&index, o->reads, o->seed, read_one);
    time_each(&index, o->finds, o->seed + 1, find_one);
    f->rss_find = resident();
    f->find = time_each(&index, o->finds, o->seed + 1, find_one);
    f->file_nbytes = index.nbytes;
    mr__index_close(&index);
}

void measure_index(const char *path, const options *o, figures *f)
{
    mr__index index;
    mr__detail detail;
    if (o->check) {
        double begin = wall_ns();
        open_index(&index, path, o);
        if (mr__index_check(&index, path, &detail) != 0)
            fail(detail.text);
        mr__index_close(&index);
        f->check_s = (wall_ns() - begin) / 1e9;
    }
    f->samples = o->samples;
    f->reads = o->reads;
    f->finds = o->finds;
    f->cold = o->cold;
    measure_cold(path, o, f);
    measure_warm(path, o, f);
}
