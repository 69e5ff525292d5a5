// SPDX-License-Identifier: Apache-2.0
/* Writing that lasts: every call fails in turn, the power goes at every point, and nothing half-written is seen. */
#include "test.h"

#include "base/memory.h"
#include "base/rng.h"
#include "failing.h"
#include "faulty_disk.h"
#include "files.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NEW_NBYTES = 5000, OLD_NBYTES = 3000, PIECE_NBYTES = 1700 };

typedef struct stage {
    test_folder folder;
    char target[512], temporary[512];
    uint8_t old_bytes[OLD_NBYTES], new_bytes[NEW_NBYTES];
} stage;

static void fill(uint8_t *bytes, size_t nbytes, uint64_t seed)
{
    mr__rng rng;
    mr__rng_init(&rng, seed, 0, 0, 0);
    for (size_t i = 0; i < nbytes; i++)
        bytes[i] = (uint8_t)(mr__rng_u32(&rng) | 1); // never a zero that a lost sector would have, too
}

static void set_stage(stage *s)
{
    test_folder_init(&s->folder);
    test_folder_path(&s->folder, "published", s->target);
    test_folder_path(&s->folder, ".published.tmp", s->temporary);
    fill(s->old_bytes, OLD_NBYTES, 1);
    fill(s->new_bytes, NEW_NBYTES, 2);
}

static void begin_with(const stage *s, bool old)
{
    remove(s->temporary);
    if (old)
        test_folder_write(&s->folder, "published", s->old_bytes, OLD_NBYTES);
    else
        remove(s->target);
}

/* -1: there is no such file. */
static long read_file(const char *path, uint8_t *bytes, size_t most)
{
    FILE *stream = fopen(path, "rb");
    if (stream == NULL)
        return -1;
    size_t got = fread(bytes, 1, most, stream);
    fclose(stream);
    return (long)got;
}

typedef enum seen { SEEN_NOTHING, SEEN_OLD, SEEN_NEW, SEEN_MIXTURE } seen;

static seen look(const stage *s, const char *path)
{
    static uint8_t bytes[NEW_NBYTES + OLD_NBYTES];
    long got = read_file(path, bytes, sizeof bytes);
    if (got < 0)
        return SEEN_NOTHING;
    if (got == OLD_NBYTES && memcmp(bytes, s->old_bytes, OLD_NBYTES) == 0)
        return SEEN_OLD;
    if (got == NEW_NBYTES && memcmp(bytes, s->new_bytes, NEW_NBYTES) == 0)
        return SEEN_NEW;
    return SEEN_MIXTURE;
}

typedef int publisher(const mr__disk *disk, const stage *s);

static int publish(const mr__disk *disk, const stage *s)
{
    mr__publication p;
    int error = mr__publication_begin(&p, disk, NULL, s->target);
    if (error != 0)
        return error;
    for (size_t at = 0; at < NEW_NBYTES && error == 0; at += PIECE_NBYTES) {
        size_t nbytes = NEW_NBYTES - at < PIECE_NBYTES ? NEW_NBYTES - at : PIECE_NBYTES;
        error = mr__publication_write(&p, s->new_bytes + at, nbytes);
    }
    int finished = mr__publication_finish(&p); // also after a failed write: it must not publish
    mr__publication_abandon(&p);
    return error != 0 ? error : finished;
}

/* What a careless writer does: the same without the sync of the file. */
static int publish_unsynced(const mr__disk *disk, const stage *s)
{
    mr__disk_file *file;
    int error = disk->create(disk, s->temporary, &file);
    if (error != 0)
        return error;
    error = disk->write(disk, file, s->new_bytes, NEW_NBYTES);
    int closed = disk->close(disk, file);
    if (error == 0)
        error = closed;
    if (error == 0)
        error = disk->rename(disk, s->temporary, s->target);
    return error != 0 ? error : disk->sync_folder(disk, s->folder.path);
}

/* Another: the folder is not synced. */
static int publish_without_folder(const mr__disk *disk, const stage *s)
{
    mr__disk_file *file;
    int error = disk->create(disk, s->temporary, &file);
    if (error != 0)
        return error;
    error = disk->write(disk, file, s->new_bytes, NEW_NBYTES);
    if (error == 0)
        error = disk->sync(disk, file);
    int closed = disk->close(disk, file);
    if (error == 0)
        error = closed;
    return error != 0 ? error : disk->rename(disk, s->temporary, s->target);
}

/* A third: a sync that failed is tried again. */
static int publish_stubborn(const mr__disk *disk, const stage *s)
{
    mr__disk_file *file;
    int error = disk->create(disk, s->temporary, &file);
    if (error != 0)
        return error;
    error = disk->write(disk, file, s->new_bytes, NEW_NBYTES);
    if (error == 0 && disk->sync(disk, file) != 0)
        error = disk->sync(disk, file);
    disk->close(disk, file);
    if (error == 0)
        error = disk->rename(disk, s->temporary, s->target);
    return error != 0 ? error : disk->sync_folder(disk, s->folder.path);
}

static size_t count_calls(const stage *s, publisher *publish_it)
{
    faulty_disk faulty;
    faulty_disk_init(&faulty);
    begin_with(s, false);
    assert_int_equal(publish_it(&faulty.disk, s), 0);
    assert_int_equal(look(s, s->target), SEEN_NEW);
    size_t calls = faulty.calls;
    faulty_disk_fini(&faulty);
    return calls;
}

static void every_failing_call_leaves_old_or_new(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    static const int errors[] = {EIO, ENOSPC, EDQUOT};
    size_t calls = count_calls(&s, publish);
    assert_true(calls >= 8);
    for (size_t nth = 1; nth <= calls; nth++)
        for (size_t kind = 0; kind < 12; kind++) {
            faulty_disk faulty;
            faulty_disk_init(&faulty);
            bool old = kind % 2 != 0, for_ever = kind % 4 >= 2;
            int error = errors[kind / 4];
            begin_with(&s, old);
            faulty_disk_fail(&faulty, (faulty_fault){nth, error, 700, for_ever});
            assert_int_equal(publish(&faulty.disk, &s), error);
            // Renamed is renamed; what fails later only leaves it open whether that lasts.
            bool renamed = faulty.each[FAULTY_CLOSE] != 0 && faulty.each[FAULTY_REMOVE] == 0;
            seen expected = renamed && nth > calls - 2 ? SEEN_NEW : old ? SEEN_OLD : SEEN_NOTHING;
            assert_int_equal(look(&s, s.target), expected);
            if (!for_ever)
                assert_int_equal(look(&s, s.temporary), SEEN_NOTHING);
            faulty_disk_fini(&faulty);
        }
    test_folder_fini(&s.folder);
}

/* The power goes at every call, with bytes of a write on their way; counts what is seen then. */
static void cut_power(const stage *s, publisher *publish_it, size_t seeds, size_t counts[4])
{
    size_t calls = count_calls(s, publish_it);
    memset(counts, 0, 4 * sizeof *counts);
    for (size_t seed = 0; seed < seeds; seed++) {
        faulty_disk faulty;
        faulty_disk_init(&faulty);
        bool old = seed % 2 != 0;
        size_t nth = 1 + seed / 2 % (calls + 1); // the last: it is done before
        begin_with(s, old);
        faulty_disk_fail(&faulty, (faulty_fault){nth, EIO, seed * 37 % PIECE_NBYTES, true});
        int result = publish_it(&faulty.disk, s);
        faulty_disk_crash(&faulty, seed);
        seen after = look(s, s->target);
        counts[after]++;
        if (publish_it == publish) {
            assert_true(after != SEEN_MIXTURE);
            assert_int_equal(result == 0, nth > calls);
            if (result == 0)
                assert_int_equal(after, SEEN_NEW); // what was said to be published is
            assert_true(after != (old ? SEEN_NOTHING : SEEN_OLD));
        }
        assert_int_equal(faulty.disk.remove(&faulty.disk, s->target), EIO);
        faulty_disk_fini(&faulty);
    }
}

static void a_power_cut_leaves_old_or_new(void **state)
{
    (void)state;
    stage s;
    size_t counts[4];
    set_stage(&s);
    cut_power(&s, publish, test_quick() ? 1000 : 6000, counts);
    assert_true(counts[SEEN_NOTHING] != 0 && counts[SEEN_OLD] != 0 && counts[SEEN_NEW] != 0);
    test_folder_fini(&s.folder);
}

/* The same loop sees what is wrong with others: the disk is as bad as it has to be. */
static void careless_writers_are_seen(void **state)
{
    (void)state;
    stage s;
    size_t counts[4];
    set_stage(&s);
    cut_power(&s, publish_unsynced, 600, counts);
    assert_true(counts[SEEN_MIXTURE] > 50);
    cut_power(&s, publish_without_folder, 600, counts);
    assert_int_equal(counts[SEEN_MIXTURE], 0);
    assert_true(counts[SEEN_NEW] < 600 / 6); // one in six cuts comes after the end, and the rename is often lost
    test_folder_fini(&s.folder);
}

static void a_sync_that_is_tried_again_is_seen(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    size_t torn = 0;
    for (size_t seed = 0; seed < 50; seed++) {
        faulty_disk faulty;
        faulty_disk_init(&faulty);
        begin_with(&s, false);
        faulty_disk_fail(&faulty, (faulty_fault){.nth = 3, .error = EIO});
        assert_int_equal(publish_stubborn(&faulty.disk, &s), 0);
        faulty_disk_crash(&faulty, seed);
        torn += look(&s, s.target) != SEEN_NEW;
        faulty_disk_fini(&faulty);
    }
    assert_true(torn > 25);
    test_folder_fini(&s.folder);
}

/* The next who publishes after a cut is not in the way of what the last one left. */
static void publishing_again_after_a_cut(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    for (size_t seed = 0; seed < 200; seed++) {
        faulty_disk faulty;
        faulty_disk_init(&faulty);
        faulty_disk_fail(&faulty, (faulty_fault){1 + seed % 8, EIO, 900, true});
        begin_with(&s, seed % 2 != 0);
        publish(&faulty.disk, &s);
        faulty_disk_crash(&faulty, seed);
        faulty_disk_fini(&faulty);
        faulty_disk_init(&faulty);
        assert_int_equal(publish(&faulty.disk, &s), 0);
        struct stat before, after;
        assert_int_equal(stat(s.target, &before), 0);
        faulty_disk_crash(&faulty, seed);
        faulty_disk_fini(&faulty);
        assert_int_equal(stat(s.target, &after), 0);
        assert_int_equal(after.st_ino, before.st_ino); // nothing was to be done to it
        assert_int_equal(look(&s, s.target), SEEN_NEW);
        assert_int_equal(look(&s, s.temporary), SEEN_NOTHING);
    }
    test_folder_fini(&s.folder);
}

/* A file that is appended to with a sync in between keeps the sectors that were whole at the sync, and no others. */
static void what_was_synced_stays(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    size_t beyond = 0, touched = 0;
    for (size_t seed = 0; seed < 300; seed++) {
        faulty_disk faulty;
        mr__disk_file *file;
        uint8_t after[NEW_NBYTES];
        faulty_disk_init(&faulty);
        begin_with(&s, false);
        const mr__disk *disk = &faulty.disk;
        assert_int_equal(disk->create(disk, s.target, &file), 0);
        assert_int_equal(disk->write(disk, file, s.new_bytes, 1000), 0);
        assert_int_equal(disk->sync(disk, file), 0);
        assert_int_equal(disk->sync_folder(disk, s.folder.path), 0);
        assert_int_equal(disk->write(disk, file, s.new_bytes + 1000, NEW_NBYTES - 1000), 0);
        faulty_disk_crash(&faulty, seed);
        assert_int_equal(disk->write(disk, file, s.new_bytes, 1), EIO);
        assert_int_equal(disk->close(disk, file), EIO);
        long got = read_file(s.target, after, sizeof after);
        assert_true(got >= 1000 && got <= NEW_NBYTES);
        assert_memory_equal(after, s.new_bytes, 512);
        touched += memcmp(after + 512, s.new_bytes + 512, 1000 - 512) != 0;
        beyond += got > 1000;
        faulty_disk_fini(&faulty);
    }
    assert_true(touched > 30 && touched < 200 && beyond > 100);
    test_folder_fini(&s.folder);
}

/* One file, renamed twice: after the cut it has one name or none, and each of them is seen. */
static void a_file_never_has_two_names(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    char paths[3][512];
    size_t named[4] = {0};
    for (size_t i = 0; i < 3; i++)
        test_folder_path(&s.folder, (const char *[]){"a", "b", "c"}[i], paths[i]);
    for (size_t seed = 0; seed < 100; seed++) {
        faulty_disk faulty;
        mr__disk_file *file;
        faulty_disk_init(&faulty);
        const mr__disk *disk = &faulty.disk;
        assert_int_equal(disk->create(disk, paths[0], &file), 0);
        assert_int_equal(disk->rename(disk, paths[0], paths[1]), 0);
        assert_int_equal(disk->rename(disk, paths[1], paths[2]), 0);
        assert_int_equal(disk->close(disk, file), 0);
        faulty_disk_crash(&faulty, seed);
        faulty_disk_fini(&faulty);
        size_t names = 0, which = 3;
        for (size_t i = 0; i < 3; i++)
            if (remove(paths[i]) == 0) {
                names++;
                which = i;
            }
        assert_true(names <= 1);
        named[which]++;
    }
    assert_true(named[0] != 0 && named[1] != 0 && named[2] != 0 && named[3] != 0);
    test_folder_fini(&s.folder);
}

enum { CROWD = 4, EACH = 6 };

typedef struct writer {
    const mr__disk *disk;
    const stage *s;
    size_t number;
    size_t published; /* how many it was told are */
} writer;

static const char *crowd_path(const stage *s, size_t writer_number, size_t i, char path[600])
{
    snprintf(path, 600, "%s/file-%zu-%zu", s->folder.path, writer_number, i);
    return path;
}

static void publish_several(void *arg)
{
    writer *w = arg;
    char path[600];
    for (size_t i = 0; i < EACH; i++)
        if (mr__disk_publish(w->disk, NULL, crowd_path(w->s, w->number, i, path), w->s->new_bytes, NEW_NBYTES) == 0)
            w->published = i + 1;
}

static void several_threads_publish_while_the_power_goes(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    char path[600];
    for (size_t seed = 0; seed < 60; seed++) {
        faulty_disk faulty;
        writer writers[CROWD];
        mr__thread threads[CROWD];
        faulty_disk_init(&faulty);
        faulty_disk_fail(&faulty, (faulty_fault){1 + seed * 3 % 160, EIO, seed * 31 % NEW_NBYTES, true});
        for (size_t i = 0; i < CROWD; i++) {
            writers[i] = (writer){&faulty.disk, &s, i, 0};
            assert_int_equal(mr__thread_start(&threads[i], "writer", publish_several, &writers[i]), 0);
        }
        for (size_t i = 0; i < CROWD; i++)
            mr__thread_join(&threads[i]);
        faulty_disk_crash(&faulty, seed);
        for (size_t i = 0; i < CROWD * EACH; i++) {
            seen after = look(&s, crowd_path(&s, i / EACH, i % EACH, path));
            assert_true(after == SEEN_NEW || (after == SEEN_NOTHING && i % EACH >= writers[i / EACH].published));
            remove(path);
        }
        faulty_disk_fini(&faulty);
    }
    test_folder_fini(&s.folder);
}

static void a_place_is_published_by_one_at_a_time(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    begin_with(&s, true);
    mr__publication first, second;
    assert_int_equal(mr__publication_begin(&first, &mr__disk_real, NULL, s.target), 0);
    assert_int_equal(mr__publication_begin(&second, &mr__disk_real, NULL, s.target), EBUSY);
    mr__publication_abandon(&second); // there is nothing
    assert_int_equal(mr__publication_write(&first, s.new_bytes, NEW_NBYTES), 0);
    assert_int_equal(look(&s, s.target), SEEN_OLD);
    assert_int_equal(mr__publication_finish(&first), 0);
    assert_int_equal(look(&s, s.target), SEEN_NEW);
    assert_int_equal(mr__publication_begin(&second, &mr__disk_real, NULL, s.target), 0);
    mr__publication_abandon(&second);
    mr__publication_abandon(&second);
    assert_int_equal(look(&s, s.target), SEEN_NEW);
    assert_int_equal(look(&s, s.temporary), SEEN_NOTHING);
    test_folder_fini(&s.folder);
}

typedef struct racer {
    const stage *s;
    atomic_bool *stop;
    atomic_size_t published, wrong;
} racer;

static void race(void *arg)
{
    racer *r = arg;
    while (!atomic_load(r->stop)) {
        int error = publish(&mr__disk_real, r->s);
        atomic_fetch_add(&r->published, error == 0);
        if (error != 0 && error != EBUSY)
            atomic_fetch_add(&r->wrong, 1);
    }
}

/* Ranks of one training that write the same cache. */
static void those_who_publish_at_once_never_mix(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    begin_with(&s, true);
    atomic_bool stop = false;
    racer racers[3];
    mr__thread threads[3];
    for (size_t i = 0; i < 3; i++) {
        racers[i].s = &s;
        racers[i].stop = &stop;
        atomic_init(&racers[i].published, 0);
        atomic_init(&racers[i].wrong, 0);
        assert_int_equal(mr__thread_start(&threads[i], "racer", race, &racers[i]), 0);
    }
    size_t mixtures = 0, looks = 0;
    while (looks < 300 || atomic_load(&racers[0].published) < 5) {
        seen now = look(&s, s.target);
        mixtures += now != SEEN_OLD && now != SEEN_NEW;
        looks++;
    }
    atomic_store(&stop, true);
    for (size_t i = 0; i < 3; i++) {
        mr__thread_join(&threads[i]);
        assert_int_equal(racers[i].wrong, 0);
    }
    assert_int_equal(mixtures, 0);
    assert_int_equal(look(&s, s.target), SEEN_NEW);
    test_folder_fini(&s.folder);
}

static void odd_places(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    char path[512];
    const mr__disk *disk = &mr__disk_real;
    assert_int_equal(mr__disk_publish(disk, NULL, "", "x", 1), EISDIR);
    assert_int_equal(mr__disk_publish(disk, NULL, "/", "x", 1), EISDIR);
    assert_int_equal(mr__disk_publish(disk, NULL, test_folder_path(&s.folder, "none/x", path), "x", 1), ENOENT);
    assert_int_equal(mkdir(test_folder_path(&s.folder, "folder", path), 0777), 0);
    assert_int_equal(mr__disk_publish(disk, NULL, path, "x", 1), EISDIR);
    assert_int_equal(look(&s, test_folder_path(&s.folder, ".folder.tmp", path)), SEEN_NOTHING);
    // What somebody laid at the temporary name is not followed, and not waited for.
    test_folder_write(&s.folder, "precious", s.old_bytes, OLD_NBYTES);
    assert_int_equal(symlink(test_folder_path(&s.folder, "precious", path), s.temporary), 0);
    assert_int_equal(mr__disk_publish(disk, NULL, s.target, "x", 1), ELOOP);
    assert_int_equal(look(&s, path), SEEN_OLD);
    assert_int_equal(remove(s.temporary), 0);
    assert_int_equal(mkfifo(s.temporary, 0600), 0);
    assert_int_equal(mr__disk_publish(disk, NULL, s.target, "x", 1), ENXIO);
    assert_int_equal(remove(s.temporary), 0);
    // A name without a folder is in the working folder.
    char before[512];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(s.folder.path), 0);
    assert_int_equal(mr__disk_publish(disk, NULL, "published", s.new_bytes, NEW_NBYTES), 0);
    assert_int_equal(chdir(before), 0);
    assert_int_equal(look(&s, s.target), SEEN_NEW);
    test_folder_fini(&s.folder);
}

static void folders_are_made_with_those_on_the_way(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    char path[512];
    const mr__disk *disk = &mr__disk_real;
    struct stat status;
    static const char *const names[] = {"a", "a", "b/c//d", "b/c//d/", "e//", "b/./f/../g"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(disk->make_folder(disk, test_folder_path(&s.folder, names[i], path)), 0);
        assert_int_equal(stat(path, &status), 0);
        assert_true(S_ISDIR(status.st_mode));
    }
    test_folder_write(&s.folder, "file", "x", 1);
    assert_int_equal(disk->make_folder(disk, test_folder_path(&s.folder, "file", path)), ENOTDIR);
    assert_int_equal(disk->make_folder(disk, test_folder_path(&s.folder, "file/below", path)), ENOTDIR);
    assert_int_equal(disk->make_folder(disk, "."), 0);
    assert_int_equal(disk->make_folder(disk, "/"), 0);
    assert_int_equal(disk->make_folder(disk, ""), ENOENT);
    char *endless = malloc(100000);
    memset(endless, 'x', 99999);
    endless[99999] = '\0';
    assert_int_equal(disk->make_folder(disk, endless), ENAMETOOLONG);
    assert_int_equal(disk->sync_folder(disk, s.target), ENOENT);
    assert_int_equal(disk->remove(disk, s.target), 0);
    assert_int_equal(mr__disk_publish(disk, NULL, endless, "x", 1), ENAMETOOLONG);
    free(endless);
    test_folder_fini(&s.folder);
}

/* A disk that is really full: the limit of the process on file sizes gives a short write, then EFBIG. */
static void a_write_that_stops_short_goes_on_until_it_fails(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    begin_with(&s, true);
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = (struct rlimit){2000, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int error = mr__disk_publish(&mr__disk_real, NULL, s.target, s.new_bytes, NEW_NBYTES);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(error, EFBIG);
    assert_int_equal(look(&s, s.target), SEEN_OLD);
    assert_int_equal(look(&s, s.temporary), SEEN_NOTHING);
    test_folder_fini(&s.folder);
}

/* Large enough that storing begins before the end, in pieces that end anywhere. */
static void a_large_file_comes_out_whole(void **state)
{
    (void)state;
    enum { LARGE_NBYTES = 20 << 20, LARGE_PIECE = 3000001 };
    stage s;
    mr__publication p;
    uint8_t *bytes = malloc(LARGE_NBYTES), *read = malloc(LARGE_NBYTES + 1);
    assert_true(bytes != NULL && read != NULL);
    set_stage(&s);
    fill(bytes, LARGE_NBYTES, 3);
    assert_int_equal(mr__publication_begin(&p, &mr__disk_real, NULL, s.target), 0);
    for (size_t at = 0; at < LARGE_NBYTES; at += LARGE_PIECE) {
        size_t left = LARGE_NBYTES - at;
        assert_int_equal(mr__publication_write(&p, bytes + at, left < LARGE_PIECE ? left : LARGE_PIECE), 0);
    }
    assert_int_equal(mr__publication_finish(&p), 0);
    assert_int_equal(read_file(s.target, read, LARGE_NBYTES + 1), LARGE_NBYTES);
    assert_memory_equal(read, bytes, LARGE_NBYTES);
    free(bytes);
    free(read);
    test_folder_fini(&s.folder);
}

static int publish_failing(const mr_hooks *hooks, void *arg)
{
    const stage *s = arg;
    begin_with(s, true);
    int error = mr__disk_publish(&mr__disk_real, hooks, s->target, s->new_bytes, NEW_NBYTES);
    assert_int_equal(look(s, s->target), error == 0 ? SEEN_NEW : SEEN_OLD);
    assert_int_equal(look(s, s->temporary), SEEN_NOTHING);
    return error == ENOMEM ? MR_ENOMEM : error;
}

static void without_memory_nothing_is_left(void **state)
{
    (void)state;
    stage s;
    set_stage(&s);
    failing_run(publish_failing, &s);
    test_folder_fini(&s.folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_failing_call_leaves_old_or_new),
        cmocka_unit_test(a_power_cut_leaves_old_or_new),
        cmocka_unit_test(careless_writers_are_seen),
        cmocka_unit_test(a_sync_that_is_tried_again_is_seen),
        cmocka_unit_test(publishing_again_after_a_cut),
        cmocka_unit_test(what_was_synced_stays),
        cmocka_unit_test(a_file_never_has_two_names),
        cmocka_unit_test(several_threads_publish_while_the_power_goes),
        cmocka_unit_test(a_place_is_published_by_one_at_a_time),
        cmocka_unit_test(those_who_publish_at_once_never_mix),
        cmocka_unit_test(odd_places),
        cmocka_unit_test(folders_are_made_with_those_on_the_way),
        cmocka_unit_test(a_write_that_stops_short_goes_on_until_it_fails),
        cmocka_unit_test(a_large_file_comes_out_whole),
        cmocka_unit_test(without_memory_nothing_is_left),
    };
    signal(SIGXFSZ, SIG_IGN); // so that it is an error and no signal
    return cmocka_run_group_tests(tests, NULL, NULL);
}
