// SPDX-License-Identifier: Apache-2.0
/* Records of about 100 kB at random, from the page cache: packed and as files, by position and by key. */
#define _GNU_SOURCE
#include "dataset_race.h"

#include <errno.h>
#include <fcntl.h>
#include <millrace/dataset.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* An opened dataset, and for the plain reads beside it its files. */
typedef struct readable {
    mr_dataset *dataset;
    mr_reader *reader;
    uint64_t count;
    int *fds; /* of shards, by number; NULL: a file for each image, which is opened when it is read */
    size_t fd_count;
    uint8_t *room;
    size_t room_nbytes;
} readable;

static void open_readable(readable *a, const char *folder, bool packed)
{
    mr_dataset_info info = {.struct_size = sizeof info};
    char path[PATH_NBYTES];
    if (mr_dataset_new(NULL, &a->dataset) != 0)
        need(NULL);
    if (mr_dataset_open(a->dataset, &folder, 1) != 0)
        fail("%s", mr_dataset_detail(a->dataset));
    if (mr_reader_new(a->dataset, &a->reader) != 0)
        need(NULL);
    mr_dataset_get_info(a->dataset, &info);
    a->count = info.samples;
    a->room_nbytes = 1 << 20;
    a->room = need(malloc(a->room_nbytes));
    if (!packed)
        return;
    a->fd_count = (size_t)info.files;
    a->fds = need(malloc(a->fd_count * sizeof *a->fds));
    for (size_t i = 0; i < a->fd_count; i++) {
        mr_dataset_file(a->dataset, i, path, sizeof path);
        a->fds[i] = open(path, O_RDONLY);
    }
}

static void close_readable(readable *a)
{
    for (size_t i = 0; i < a->fd_count; i++)
        close(a->fds[i]);
    free(a->fds);
    free(a->room);
    mr_reader_free(a->reader);
    mr_dataset_free(a->dataset);
}

static void read_position(readable *a, uint64_t ordinal)
{
    const void *bytes;
    size_t nbytes;
    if (mr_reader_record(a->reader, ordinal, 0, &bytes, &nbytes) != 0)
        fail("%s", mr_reader_detail(a->reader));
}

static void read_key(readable *a, uint64_t ordinal)
{
    mr_sample sample = {.struct_size = sizeof sample};
    uint64_t found;
    if (mr_dataset_sample(a->dataset, ordinal, &sample) != 0 || mr_dataset_find(a->dataset, sample.key, &found) != 0 ||
        found != ordinal)
        fail("a key is not found");
    read_position(a, found);
}

static void read_into_room(readable *a, int fd, off_t at, size_t nbytes)
{
    if (nbytes > a->room_nbytes) {
        a->room = need(realloc(a->room, nbytes));
        a->room_nbytes = nbytes;
    }
    if (pread(fd, a->room, nbytes, at) != (ssize_t)nbytes)
        fail("a record cannot be read");
}

/* The same bytes with nothing looked at: what the system alone takes. */
static void read_plainly(readable *a, uint64_t ordinal)
{
    mr_record record = {.struct_size = sizeof record};
    char path[PATH_NBYTES];
    struct stat status;
    if (mr_dataset_record(a->dataset, ordinal, 0, &record) != 0)
        fail("a record is not found");
    if (a->fds != NULL) {
        read_into_room(a, a->fds[record.file], (off_t)record.offset, (size_t)record.nbytes);
        return;
    }
    mr_dataset_file(a->dataset, record.file, path, sizeof path);
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &status) != 0)
        fail("%s: %s", path, strerror(errno));
    read_into_room(a, fd, 0, (size_t)status.st_size);
    close(fd);
}

static uint64_t draw(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = (*state ^ *state >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void time_reads(const options *o, readable *a, void (*act)(readable *a, uint64_t ordinal), reading *to,
                       unsigned round)
{
    double *ns = need(malloc((size_t)o->reads * sizeof *ns));
    uint64_t state = o->seed + round; /* the same records for everyone */
    for (uint64_t i = 0; i < o->reads; i++) {
        uint64_t ordinal = draw(&state) % a->count;
        double begin = wall_ns();
        act(a, ordinal);
        ns[i] = wall_ns() - begin;
    }
    to->p50[round] = quantile(ns, (size_t)o->reads, 0.5);
    to->p90[round] = quantile(ns, (size_t)o->reads, 0.9);
    to->p99[round] = quantile(ns, (size_t)o->reads, 0.99);
    free(ns);
}

static double median_nbytes(const readable *a)
{
    double *nbytes = need(malloc((size_t)a->count * sizeof *nbytes));
    for (uint64_t i = 0; i < a->count; i++) {
        mr_record record = {.struct_size = sizeof record};
        mr_dataset_record(a->dataset, i, 0, &record);
        nbytes[i] = (double)record.nbytes;
    }
    double is = median(nbytes, (size_t)a->count);
    free(nbytes);
    return is;
}

void measure_reading(const options *o, results *r)
{
    static const struct {
        const char *name;
        bool packed, aimed;
        void (*act)(readable *a, uint64_t ordinal);
    } ways[READINGS] = {
        {"packed, plain pread", true, false, read_plainly},
        {"packed, by position", true, true, read_position},
        {"packed, by key", true, true, read_key},
        {"folder, plain open and read", false, false, read_plainly},
        {"folder, by position", false, false, read_position},
        {"folder, by key", false, false, read_key},
    };
    readable packed = {.dataset = NULL}, folder = {.dataset = NULL};
    char path[PATH_NBYTES];
    path_in(o, "packed-records", path);
    warm_files(path);
    open_readable(&packed, path, true);
    path_in(o, "records", path);
    warm_files(path);
    open_readable(&folder, path, false);
    r->reading_count = READINGS;
    r->record_nbytes = median_nbytes(&packed);
    read_key(&packed, 0); /* the first sorts */
    read_key(&folder, 0);
    for (unsigned round = 0; round < o->rounds; round++)
        for (size_t i = 0; i < READINGS; i++) {
            size_t turn = turn_of(i, round, READINGS);
            r->readings[turn].name = ways[turn].name;
            r->readings[turn].aimed = ways[turn].aimed;
            time_reads(o, ways[turn].packed ? &packed : &folder, ways[turn].act, &r->readings[turn], round);
        }
    close_readable(&packed);
    close_readable(&folder);
}
