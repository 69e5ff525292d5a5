// SPDX-License-Identifier: Apache-2.0
/* Many readers of one dataset at once, and more shards than files that may be open. */
#include "test.h"

#include "base/thread.h"
#include "dataset_make.h"
#include "tar_file.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>

enum { THREADS = 8, ROUNDS = 60, SHARDS = 40 };

static test_folder folder;

static int setup(void **state)
{
    (void)state;
    test_folder_init(&folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    test_folder_fini(&folder);
    return 0;
}

typedef struct work {
    const made_dataset *m;
    mr_dataset *d;
    uint64_t seed;
    int wrong;
} work;

/* What is wrong is counted: a test must not fail in a thread of its own. */
static void read_at_random(void *arg)
{
    work *w = arg;
    mr_reader *reader;
    if (mr_reader_new(w->d, &reader) != 0) {
        w->wrong = 1000;
        return;
    }
    for (int n = 0; n < ROUNDS; n++) {
        uint32_t i = picture_random_below(&w->seed, MADE_SAMPLES);
        const void *bytes;
        size_t nbytes;
        uint64_t found = 99;
        mr_sample sample = {.struct_size = sizeof sample};
        mr_record record = {.struct_size = sizeof record};
        w->wrong += mr_dataset_sample(w->d, i, &sample) != 0 || sample.members != w->m->members;
        w->wrong += mr_dataset_find(w->d, sample.key, &found) != 0 || found != i;
        w->wrong += mr_dataset_record(w->d, i, 0, &record) != 0;
        w->wrong += mr_reader_record(reader, i, 0, &bytes, &nbytes) != 0 || !made_bytes_are(w->m, i, bytes, nbytes);
        if (w->m->members != 0)
            w->wrong += mr_reader_member(reader, i, 0, &bytes, &nbytes) != 0 || nbytes == 0;
        if (w->m->kind == MADE_PACKED)
            w->wrong += mr_reader_record(reader, i, 1, &bytes, &nbytes) != 0;
    }
    mr_reader_free(reader);
}

static void side_by_side(const made_dataset *m, mr_dataset *d, void (*run)(void *arg))
{
    mr__thread threads[THREADS];
    work works[THREADS];
    for (uint64_t i = 0; i < THREADS; i++) {
        works[i] = (work){.m = m, .d = d, .seed = i + 1};
        assert_int_equal(mr__thread_start(&threads[i], "reader", run, &works[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        mr__thread_join(&threads[i]);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(works[i].wrong, 0);
}

static void all_layouts(void **state)
{
    (void)state;
    for (made_kind kind = 0; kind < MADE_KINDS; kind++) {
        made_dataset m;
        made_init(&m, &folder, kind);
        mr_dataset *d = made_open_well(&m);
        side_by_side(&m, d, read_at_random);
        made_check(&m, d);
        mr_dataset_free(d);
    }
}

/* Opens the same files, with their index beside them, over and over. */
static void open_over_and_over(void *arg)
{
    work *w = arg;
    for (int n = 0; n < 6; n++) {
        mr_dataset *d;
        const mr_dataset_options options = {
            .struct_size = sizeof options, .index = MR_INDEX_BESIDE, .threads = 2, .rebuild = w->seed % 2 == 0};
        w->wrong += made_open(w->m, &options, &d) != 0 || mr_dataset_count(d) != MADE_SAMPLES;
        mr_dataset_free(d);
    }
}

static void opening_at_once(void **state)
{
    (void)state;
    static const made_kind kinds[] = {MADE_SHARDS, MADE_IMAGE_FOLDER};
    for (size_t i = 0; i < 2; i++) {
        made_dataset m;
        made_init(&m, &folder, kinds[i]);
        side_by_side(&m, NULL, open_over_and_over);
        mr_dataset *d = made_open_well(&m);
        made_check(&m, d);
        mr_dataset_free(d);
    }
}

static size_t open_files(void)
{
    size_t count = 0;
    DIR *dir = opendir("/proc/self/fd");
    assert_non_null(dir);
    while (readdir(dir) != NULL)
        count++;
    closedir(dir);
    return count - 3; // . and .. and this one
}

/* A sample in each of many shards: s0 to s39 with the images 0 to 5 in turn. */
static void make_shards(char path[512])
{
    for (int i = 0; i < SHARDS; i++) {
        char name[32];
        tar_file tar = {0};
        snprintf(name, sizeof name, "s%d.png", i);
        const picture_file *image = made_image((size_t)i % MADE_SAMPLES);
        tar_add(&tar, name, '0', image->bytes, image->nbytes);
        tar_end(&tar);
        snprintf(name, sizeof name, "many/%02d.tar", i);
        test_folder_write(&folder, name, tar.bytes, tar.nbytes);
        tar_free(&tar);
    }
    test_folder_path(&folder, "many", path);
}

static void read_many(void *arg)
{
    work *w = arg;
    mr_reader *reader;
    if (mr_reader_new(w->d, &reader) != 0) {
        w->wrong = 1000;
        return;
    }
    for (int n = 0; n < 3 * SHARDS; n++) {
        uint32_t i = w->seed != 0 ? picture_random_below(&w->seed, SHARDS) : (uint32_t)n % SHARDS;
        const void *bytes;
        size_t nbytes;
        w->wrong += mr_reader_record(reader, i, 0, &bytes, &nbytes) != 0 ||
                    !made_bytes_are(w->m, i % MADE_SAMPLES, bytes, nbytes);
    }
    mr_reader_free(reader);
}

/* Two datasets, so that each leaves room for the other. */
static void more_shards_than_files(void **state)
{
    (void)state;
    made_dataset m = {.kind = MADE_SHARDS, .layout = MR_LAYOUT_TAR};
    mr_dataset *d[2];
    struct rlimit before, few;
    for (size_t i = 0; i < MADE_SAMPLES; i++)
        made_image(i);
    make_shards(m.path);
    size_t files = open_files();
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = 20;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    for (int i = 0; i < 2; i++)
        d[i] = made_open_well(&m);
    for (int i = 0; i < 2; i++) {
        work w = {.m = &m, .d = d[i]};
        read_many(&w);
        assert_int_equal(w.wrong, 0);
        assert_in_range(open_files(), files, files + 10);
    }
    mr_dataset_free(d[0]);
    few.rlim_cur = 40;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    side_by_side(&m, d[1], read_many);
    assert_in_range(open_files(), files, files + 10);
    mr_dataset_free(d[1]);
    assert_int_equal(open_files(), files);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    d[0] = made_open_well(&m);
    work w = {.m = &m, .d = d[0]};
    read_many(&w);
    assert_int_equal(w.wrong, 0);
    assert_int_equal(open_files(), files + SHARDS); // with room they all stay open
    mr_dataset_free(d[0]);
    assert_int_equal(open_files(), files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_layouts),
        cmocka_unit_test(opening_at_once),
        cmocka_unit_test(more_shards_than_files),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
