// SPDX-License-Identifier: Apache-2.0
/* Indexes of datasets that are not ours: found again, made anew when something changed, kept where they can be. */
#define _GNU_SOURCE
#include "test.h"

#include "dataset/index.h"
#include "dataset_make.h"
#include "source/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static test_folder folder;

/* What the library had to say. */
static struct {
    int infos, warnings;
    char last[512];
} said;

static void listen(void *user, mr_log_level level, const char *text)
{
    (void)user;
    said.infos += level == MR_LOG_INFO;
    said.warnings += level <= MR_LOG_WARNING;
    snprintf(said.last, sizeof said.last, "%s", text);
}

static const mr_hooks hooks = {.struct_size = sizeof hooks, .log = listen, .log_level = MR_LOG_INFO};

static int setup(void **state)
{
    char path[512];
    (void)state;
    test_folder_init(&folder);
    memset(&said, 0, sizeof said);
    setenv("XDG_CACHE_HOME", test_folder_path(&folder, "cache", path), 1);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    test_folder_fini(&folder);
    return 0;
}

static mr_dataset_options options_of(mr_index_place place)
{
    return (mr_dataset_options){
        .struct_size = sizeof(mr_dataset_options), .hooks = &hooks, .index = place, .threads = 2};
}

/* Opens and checks it; whether the index was made by that. */
static bool open_makes(const made_dataset *m, const mr_dataset_options *options)
{
    mr_dataset *d;
    mr_dataset_info info = {.struct_size = sizeof info};
    if (made_open(m, options, &d) != 0)
        fail_msg("%s: %s", made_name(m->kind), mr_dataset_detail(d));
    assert_int_equal(mr_dataset_get_info(d, &info), 0);
    made_check(m, d);
    mr_dataset_free(d);
    return info.indexed_now;
}

/* Moves a file's time, so that a change is one whatever the file system's clock. */
static void touch(const char *path)
{
    static int hours;
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    struct timespec times[2] = {status.st_atim, status.st_mtim};
    times[1].tv_sec -= 3600 * ++hours;
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void an_index_is_found_again(void **state)
{
    (void)state;
    static const mr_index_place places[] = {MR_INDEX_CACHE, MR_INDEX_BESIDE, MR_INDEX_NONE};
    for (made_kind kind = 0; kind < MADE_PACKED; kind++)
        for (size_t i = 0; i < 3; i++) {
            made_dataset m;
            mr_dataset_options options = options_of(places[i]);
            made_init(&m, &folder, kind);
            assert_true(open_makes(&m, &options));
            assert_int_equal(open_makes(&m, &options), places[i] == MR_INDEX_NONE);
            options.threads = 1;
            assert_int_equal(open_makes(&m, &options), places[i] == MR_INDEX_NONE);
            options.rebuild = true;
            assert_true(open_makes(&m, &options));
            options.rebuild = false;
            options.broken = MR_BROKEN_SKIP;
            assert_true(open_makes(&m, &options));
            assert_int_equal(open_makes(&m, &options), places[i] == MR_INDEX_NONE);
            options.broken = MR_BROKEN_FAIL;
            assert_true(open_makes(&m, &options));
        }
    assert_int_equal(said.warnings, 0);
}

static void where_it_is_kept(void **state)
{
    (void)state;
    made_dataset tar, flat;
    char path[600], name[512];
    struct stat status;
    mr_dataset_options options = options_of(MR_INDEX_BESIDE);
    made_init(&tar, &folder, MADE_TAR);
    made_init(&flat, &folder, MADE_FLAT);
    assert_true(open_makes(&tar, &options));
    assert_true(open_makes(&flat, &options));
    snprintf(path, sizeof path, "%s.mrx", tar.path);
    assert_int_equal(stat(path, &status), 0);
    snprintf(path, sizeof path, "%s/.millrace.mrx", flat.path);
    assert_int_equal(stat(path, &status), 0);
    assert_int_not_equal(stat(test_folder_path(&folder, "cache", name), &status), 0);
    options = options_of(MR_INDEX_CACHE);
    options.index_folder = test_folder_path(&folder, "own/place", name);
    assert_true(open_makes(&tar, &options));
    assert_false(open_makes(&tar, &options));
    assert_int_equal(stat(name, &status), 0);
    assert_int_not_equal(stat(test_folder_path(&folder, "cache", name), &status), 0);
    options.index_folder = NULL;
    assert_true(open_makes(&tar, &options));
    assert_int_equal(stat(test_folder_path(&folder, "cache/millrace/index", name), &status), 0);
}

static void a_shard_that_changed(void **state)
{
    (void)state;
    for (made_kind kind = MADE_TAR; kind < MADE_PACKED; kind++) {
        made_dataset m;
        mr_dataset_options options = options_of(MR_INDEX_CACHE);
        made_init(&m, &folder, kind);
        assert_true(open_makes(&m, &options));
        touch(m.file);
        assert_true(open_makes(&m, &options));
        assert_false(open_makes(&m, &options));
    }
}

static void a_shard_that_changes_while_it_is_open(void **state)
{
    (void)state;
    made_dataset m;
    mr_dataset *d;
    mr_reader *reader;
    const void *bytes;
    size_t nbytes;
    made_init(&m, &folder, MADE_TAR);
    d = made_open_well(&m);
    assert_int_equal(mr_reader_new(d, &reader), 0);
    touch(m.file);
    assert_int_equal(mr_reader_record(reader, 0, 0, &bytes, &nbytes), MR_ECORRUPT);
    assert_contains(mr_reader_detail(reader), "x-0.tar was changed while it was in use: open the dataset again");
    assert_int_equal(truncate(m.file, 1024), 0);
    assert_int_equal(mr_reader_record(reader, 0, 0, &bytes, &nbytes), MR_ETRUNCATED);
    assert_contains(mr_reader_detail(reader), "x-0.tar: 1024 bytes, but its index is of");
    assert_int_equal(unlink(m.file), 0);
    assert_int_equal(mr_reader_record(reader, 0, 0, &bytes, &nbytes), MR_EIO);
    assert_contains(mr_reader_detail(reader), "x-0.tar: No such file");
    mr_reader_free(reader);
    mr_dataset_free(d);
    made_init(&m, &folder, MADE_TAR);
    d = made_open_well(&m);
    assert_int_equal(mr_reader_new(d, &reader), 0);
    assert_int_equal(mr_reader_record(reader, 0, 0, &bytes, &nbytes), 0); // now it is kept open
    assert_int_equal(truncate(m.file, 1024), 0);
    assert_int_equal(mr_reader_record(reader, 5, 0, &bytes, &nbytes), MR_ETRUNCATED);
    assert_contains(mr_reader_detail(reader), "ends at byte");
    mr_reader_free(reader);
    mr_dataset_free(d);
}

static uint64_t count_of(const made_dataset *m, const mr_dataset_options *options, bool *made)
{
    mr_dataset *d;
    mr_dataset_info info = {.struct_size = sizeof info};
    if (made_open(m, options, &d) != 0)
        fail_msg("%s", mr_dataset_detail(d));
    assert_int_equal(mr_dataset_get_info(d, &info), 0);
    mr_dataset_free(d);
    *made = info.indexed_now;
    return info.samples;
}

static void a_folder_that_changed(void **state)
{
    (void)state;
    static const mr_index_place places[] = {MR_INDEX_CACHE, MR_INDEX_BESIDE};
    for (size_t i = 0; i < 2; i++) {
        made_dataset m;
        bool made;
        char path[512];
        mr_dataset_options options = options_of(places[i]);
        made_init(&m, &folder, MADE_IMAGE_FOLDER);
        assert_true(open_makes(&m, &options));
        test_folder_write(&folder, "image-folder/dog/new.png", "x", 1);
        touch(test_folder_path(&folder, "image-folder/dog", path));
        assert_int_equal(count_of(&m, &options, &made), MADE_SAMPLES + 1);
        assert_true(made);
        assert_int_equal(count_of(&m, &options, &made), MADE_SAMPLES + 1);
        assert_false(made);
        test_folder_write(&folder, "image-folder/fox/new.png", "x", 1);
        assert_int_equal(count_of(&m, &options, &made), MADE_SAMPLES + 2);
        assert_true(made);
        assert_int_equal(unlink(test_folder_path(&folder, "image-folder/fox/new.png", path)), 0);
        assert_int_equal(rmdir(test_folder_path(&folder, "image-folder/fox", path)), 0);
        assert_int_equal(unlink(test_folder_path(&folder, "image-folder/dog/new.png", path)), 0);
        touch(test_folder_path(&folder, "image-folder/dog", path));
        assert_true(open_makes(&m, &options));
        assert_false(open_makes(&m, &options));
    }
}

static void an_image_that_was_written_anew(void **state)
{
    (void)state;
    made_dataset m;
    mr_dataset *d;
    mr_reader *reader;
    const void *bytes = NULL;
    size_t nbytes = 0;
    char path[512];
    mr_dataset_options options = options_of(MR_INDEX_CACHE);
    made_init(&m, &folder, MADE_IMAGE_FOLDER);
    assert_true(open_makes(&m, &options));
    touch(test_folder_path(&folder, "image-folder/dog/2.png", path));
    assert_int_equal(made_open(&m, &options, &d), 0);
    assert_int_equal(mr_reader_new(d, &reader), 0);
    assert_int_equal(mr_reader_record(reader, 2, 0, &bytes, &nbytes), 0);
    test_folder_write(&folder, "image-folder/dog/2.png", "shorter", 7);
    assert_int_equal(mr_reader_record(reader, 2, 0, &bytes, &nbytes), 0);
    assert_int_equal(nbytes, 7);
    assert_memory_equal(bytes, "shorter", 7);
    static const uint8_t longer[70000] = {1, 2, 3};
    test_folder_write(&folder, "image-folder/dog/2.png", longer, sizeof longer);
    assert_int_equal(mr_reader_record(reader, 2, 0, &bytes, &nbytes), 0);
    assert_int_equal(nbytes, sizeof longer);
    assert_memory_equal(bytes, longer, sizeof longer);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mr_reader_record(reader, 2, 0, &bytes, &nbytes), MR_EIO);
    assert_contains(mr_reader_detail(reader), "dog/2.png: No such file");
    assert_int_equal(mr_reader_record(reader, 3, 0, &bytes, &nbytes), 0);
    assert_string_equal(mr_reader_detail(reader), "");
    mr_reader_free(reader);
    mr_dataset_free(d);
}

static void a_list_that_changed(void **state)
{
    (void)state;
    static const made_kind kinds[] = {MADE_TSV, MADE_JSONL, MADE_LIST};
    for (size_t i = 0; i < 3; i++) {
        made_dataset m;
        mr_dataset_options options = options_of(MR_INDEX_CACHE);
        made_init(&m, &folder, kinds[i]);
        assert_true(open_makes(&m, &options));
        touch(m.list);
        assert_true(open_makes(&m, &options));
        assert_false(open_makes(&m, &options));
    }
}

/* One folder, two lists or none: each has an index of its own samples. */
static void another_list(void **state)
{
    (void)state;
    made_dataset m, without;
    bool made;
    char path[512];
    mr_dataset_options options = options_of(MR_INDEX_CACHE);
    made_init(&m, &folder, MADE_TSV);
    without = m;
    without.list[0] = '\0';
    test_folder_write(&folder, "short.tsv", "3.png\t1\n", 8);
    assert_int_equal(count_of(&m, &options, &made), MADE_SAMPLES);
    snprintf(m.list, sizeof m.list, "%s", test_folder_path(&folder, "short.tsv", path));
    assert_int_equal(count_of(&m, &options, &made), 1);
    assert_true(made);
    assert_int_equal(count_of(&m, &options, &made), 1);
    assert_false(made);
    assert_int_equal(count_of(&without, &options, &made), MADE_SAMPLES);
    assert_true(made);
}

static void a_list_that_changes_while_it_is_open(void **state)
{
    (void)state;
    made_dataset m;
    mr_reader *reader;
    const void *bytes;
    size_t nbytes;
    made_init(&m, &folder, MADE_JSONL);
    mr_dataset *d = made_open_well(&m);
    assert_int_equal(mr_reader_new(d, &reader), 0);
    touch(m.list);
    assert_int_equal(mr_reader_member(reader, 0, 0, &bytes, &nbytes), MR_ECORRUPT);
    assert_contains(mr_reader_detail(reader), "jsonl/list was changed while it was in use");
    assert_int_equal(mr_reader_record(reader, 0, 0, &bytes, &nbytes), 0);
    mr_reader_free(reader);
    mr_dataset_free(d);
}

static void what_lies_beside_changed(void **state)
{
    (void)state;
    made_dataset rec, ten;
    mr_dataset *d;
    bool made;
    char path[512];
    mr_sample sample = {.struct_size = sizeof sample};
    mr_dataset_options options = options_of(MR_INDEX_CACHE);
    made_init(&rec, &folder, MADE_RECORDIO);
    made_init(&ten, &folder, MADE_CIFAR_10);
    assert_true(open_makes(&rec, &options));
    test_folder_write(&folder, "recordio/train.idx", "first\t0\n", 8);
    assert_int_equal(count_of(&rec, &options, &made), MADE_SAMPLES);
    assert_true(made);
    assert_int_equal(made_open(&rec, &options, &d), 0);
    assert_int_equal(mr_dataset_sample(d, 0, &sample), 0);
    assert_string_equal(sample.key, "first");
    mr_dataset_free(d);
    touch(test_folder_path(&folder, "recordio/train.idx", path));
    count_of(&rec, &options, &made);
    assert_true(made);
    assert_true(open_makes(&ten, &options));
    assert_false(open_makes(&ten, &options));
    test_folder_write(&folder, "cifar-10/batches.meta.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n", 20);
    assert_true(open_makes(&ten, &options));
    assert_false(open_makes(&ten, &options));
}

static uint8_t *read_whole(const char *path, size_t *nbytes)
{
    uint8_t *bytes = malloc(1 << 16);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    *nbytes = fread(bytes, 1, 1 << 16, file);
    fclose(file);
    return bytes;
}

/* Cut anywhere, or with a bit of its head or table flipped: it is as if there were none. */
static void a_damaged_index_is_made_anew(void **state)
{
    (void)state;
    static const made_kind kinds[] = {MADE_TAR, MADE_IMAGE_FOLDER};
    for (size_t k = 0; k < 2; k++) {
        made_dataset m;
        size_t nbytes, cuts = 0;
        char name[64], path[512];
        mr_dataset_options options = options_of(MR_INDEX_BESIDE);
        made_init(&m, &folder, kinds[k]);
        assert_true(open_makes(&m, &options));
        snprintf(name, sizeof name, "%s/%s", made_name(kinds[k]), k == 0 ? "x-0.tar.mrx" : ".millrace.mrx");
        uint8_t *bytes = read_whole(test_folder_path(&folder, name, path), &nbytes);
        for (size_t cut = 0; cut < nbytes; cut += 31, cuts++) {
            test_folder_write(&folder, name, bytes, cut);
            assert_true(open_makes(&m, &options));
        }
        size_t head = MR__INDEX_HEAD_NBYTES + (size_t)bytes[12] * MR__INDEX_ENTRY_NBYTES;
        for (size_t i = 0; i < head; i += 13, cuts++) {
            bytes[i] ^= 16;
            test_folder_write(&folder, name, bytes, nbytes);
            assert_true(open_makes(&m, &options));
            bytes[i] ^= 16;
        }
        assert_int_equal(said.infos, cuts);
        said.infos = 0;
        assert_contains(said.last, "made anew");
        test_folder_write(&folder, name, bytes, nbytes);
        assert_false(open_makes(&m, &options));
        free(bytes);
    }
    assert_int_equal(said.warnings, 0);
}

/* Behind its head nothing is checked when it is opened; whatever stands there, nothing worse comes of it than errors.
 */
static void damage_behind_the_head_is_harmless(void **state)
{
    (void)state;
    made_dataset m;
    size_t nbytes;
    char path[512];
    mr_dataset_options options = options_of(MR_INDEX_BESIDE);
    made_init(&m, &folder, MADE_TAR);
    assert_true(open_makes(&m, &options));
    uint8_t *bytes = read_whole(test_folder_path(&folder, "tar/x-0.tar.mrx", path), &nbytes);
    for (size_t i = 128 + 32 * (size_t)bytes[12]; i < nbytes; i++) {
        mr_dataset *d;
        mr_reader *reader;
        const void *got;
        size_t got_nbytes;
        uint64_t found;
        mr_sample sample = {.struct_size = sizeof sample};
        bytes[i] ^= 0xff;
        test_folder_write(&folder, "tar/x-0.tar.mrx", bytes, nbytes);
        bytes[i] ^= 0xff;
        if (made_open(&m, &options, &d) == 0) {
            assert_int_equal(mr_reader_new(d, &reader), 0);
            for (uint64_t n = 0; n < MADE_SAMPLES; n++) {
                (void)mr_dataset_sample(d, n, &sample);
                (void)mr_dataset_find(d, "s3", &found);
                if (mr_reader_record(reader, n, 0, &got, &got_nbytes) != 0)
                    assert_true(mr_reader_detail(reader)[0] != '\0');
                if (mr_reader_member(reader, n, 0, &got, &got_nbytes) != 0)
                    assert_true(mr_reader_detail(reader)[0] != '\0');
            }
            mr_reader_free(reader);
        }
        mr_dataset_free(d);
    }
    free(bytes);
}

static void a_cache_that_cannot_be_written(void **state)
{
    (void)state;
    made_dataset m;
    char path[512];
    mr_dataset_options options = options_of(MR_INDEX_CACHE);
    made_init(&m, &folder, MADE_BRACES);
    test_folder_write(&folder, "cache", "a file", 6);
    assert_true(open_makes(&m, &options));
    assert_int_equal(said.warnings, 1); // for three shards
    assert_contains(said.last, "cannot be written (Not a directory)");
    assert_true(open_makes(&m, &options));
    assert_int_equal(unlink(test_folder_path(&folder, "cache", path)), 0);
    assert_true(open_makes(&m, &options));
    assert_false(open_makes(&m, &options));
}

static void which_folder_is_the_cache(void **state)
{
    (void)state;
    made_dataset m;
    char path[512], before[512];
    struct stat status;
    mr_dataset_options options = options_of(MR_INDEX_CACHE);
    const char *home = getenv("HOME");
    snprintf(before, sizeof before, "%s", home != NULL ? home : "");
    made_init(&m, &folder, MADE_FLAT);
    setenv("XDG_CACHE_HOME", "relative", 1);
    setenv("HOME", test_folder_path(&folder, "home", path), 1);
    assert_true(open_makes(&m, &options));
    assert_int_equal(stat(test_folder_path(&folder, "home/.cache/millrace/index", path), &status), 0);
    assert_int_not_equal(stat("relative", &status), 0);
    assert_false(open_makes(&m, &options));
    unsetenv("HOME");
    assert_true(open_makes(&m, &options));
    assert_true(open_makes(&m, &options));
    unsetenv("XDG_CACHE_HOME");
    assert_true(open_makes(&m, &options));
    assert_int_equal(said.warnings, 0);
    setenv("HOME", before, 1);
}

static void while_another_writes_the_same_index(void **state)
{
    (void)state;
    made_dataset m;
    char path[600];
    mr__publication other;
    mr_dataset_options options = options_of(MR_INDEX_BESIDE);
    made_init(&m, &folder, MADE_TAR);
    snprintf(path, sizeof path, "%s.mrx", m.path);
    assert_int_equal(mr__publication_begin(&other, &mr__disk_real, NULL, path), 0);
    assert_true(open_makes(&m, &options));
    assert_int_equal(said.warnings, 0);
    assert_int_equal(said.infos, 1);
    assert_contains(said.last, "by another");
    mr__publication_abandon(&other);
    assert_true(open_makes(&m, &options));
    assert_false(open_makes(&m, &options));
}

/* Processes that index the same shards at once, one kind of them in another way. */
static void several_processes_at_once(void **state)
{
    (void)state;
    enum { PROCESSES = 4, ROUNDS = 12 };
    made_dataset m;
    pid_t children[PROCESSES];
    made_init(&m, &folder, MADE_BRACES);
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] != 0)
            continue;
        int bad = 0;
        for (int n = 0; n < ROUNDS; n++) {
            mr_dataset *d;
            mr_dataset_options options = options_of(MR_INDEX_BESIDE);
            options.rebuild = n % 3 == 0;
            options.broken = i % 2 == 0 ? MR_BROKEN_FAIL : MR_BROKEN_SKIP;
            bad += made_open(&m, &options, &d) != 0 || mr_dataset_count(d) != MADE_SAMPLES;
            mr_dataset_free(d);
        }
        _exit(bad != 0 || said.warnings != 0);
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    mr_dataset *d = made_open_well(&m);
    made_check(&m, d);
    mr_dataset_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_index_is_found_again, setup, teardown),
        cmocka_unit_test_setup_teardown(where_it_is_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(a_shard_that_changed, setup, teardown),
        cmocka_unit_test_setup_teardown(a_shard_that_changes_while_it_is_open, setup, teardown),
        cmocka_unit_test_setup_teardown(a_folder_that_changed, setup, teardown),
        cmocka_unit_test_setup_teardown(an_image_that_was_written_anew, setup, teardown),
        cmocka_unit_test_setup_teardown(a_list_that_changed, setup, teardown),
        cmocka_unit_test_setup_teardown(another_list, setup, teardown),
        cmocka_unit_test_setup_teardown(a_list_that_changes_while_it_is_open, setup, teardown),
        cmocka_unit_test_setup_teardown(what_lies_beside_changed, setup, teardown),
        cmocka_unit_test_setup_teardown(a_damaged_index_is_made_anew, setup, teardown),
        cmocka_unit_test_setup_teardown(damage_behind_the_head_is_harmless, setup, teardown),
        cmocka_unit_test_setup_teardown(a_cache_that_cannot_be_written, setup, teardown),
        cmocka_unit_test_setup_teardown(which_folder_is_the_cache, setup, teardown),
        cmocka_unit_test_setup_teardown(while_another_writes_the_same_index, setup, teardown),
        cmocka_unit_test_setup_teardown(several_processes_at_once, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
