// SPDX-License-Identifier: Apache-2.0
/* Records of every layout, by the two halves of a fetch with each way of reading between them. */
#include "test.h"

#include "dataset/fetch.h"
#include "dataset_make.h"
#include "pack_make.h"
#include "source/read_ahead.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct scene {
    test_folder folder;
    made_dataset made;
    mr_dataset *d;
    mr__fetch fetch;
    mr__read read;
    mr__detail detail;
} scene;

static void set_scene(scene *s, made_kind kind)
{
    *s = (scene){0};
    test_folder_init(&s->folder);
    made_init(&s->made, &s->folder, kind);
    s->d = made_open_well(&s->made);
}

static void clear_scene(scene *s)
{
    mr__fetch_fini(&s->fetch, &s->d->hooks);
    mr__buffer_fini(&s->read.buffer, &s->d->hooks);
    mr_dataset_free(s->d);
    test_folder_fini(&s->folder);
}

/* Reads so many bytes of the record that was begun, from `at` on, to where they stand in the whole. */
static mr__fetched read_part(scene *s, size_t at, size_t nbytes, bool direct)
{
    const mr__fetch *f = &s->fetch;
    s->read = (mr__read){.path = f->path,
                         .file = &f->file,
                         .file_path = f->shard_path,
                         .part = true,
                         .direct = direct,
                         .offset = f->offset + at,
                         .nbytes = nbytes,
                         .at = at,
                         .room = (size_t)f->nbytes,
                         .buffer = s->read.buffer,
                         .whole = s->read.whole};
    if (!mr__read_now(&s->read, &s->d->hooks)) {
        mr__read_ahead *ahead;
        mr__read *taken;
        assert_int_equal(mr__read_ahead_new(&s->d->hooks, MR__READ_AHEAD_AUTO, 1, &ahead), 0);
        assert_int_equal(mr__read_ahead_submit(ahead, &s->read), 0);
        assert_int_equal(mr__read_ahead_take(ahead, &taken), 0);
        mr__read_ahead_free(ahead);
    }
    return (mr__fetched){s->read.bytes, s->read.got, s->read.error, s->read.file_nbytes, s->read.file_mtime_ns};
}

static void check_sample(scene *s, size_t i, bool direct)
{
    const void *bytes;
    size_t nbytes;
    mr__fetch *f = &s->fetch;
    assert_int_equal(mr__fetch_begin(s->d, f, i, 0, &s->detail), 0);
    assert_true((f->shard_path == NULL) == (f->path != NULL));
    mr__fetched is = read_part(s, 0, (size_t)f->nbytes, direct);
    assert_int_equal(mr__fetch_end(s->d, f, &is, &bytes, &nbytes, &s->detail), 0);
    assert_true(made_bytes_are(&s->made, i, bytes, nbytes));
    assert_int_equal(f->file.fd, -1);

    assert_int_equal(mr__fetch_begin(s->d, f, i, 0, &s->detail), 0);
    size_t head = (size_t)f->nbytes / 3, from = (size_t)f->nbytes / 2, count = (size_t)f->nbytes - from;
    is = read_part(s, 0, head, direct);
    assert_int_equal(mr__fetch_part(s->d, f, &is, 0, head, &s->detail), 0);
    is = read_part(s, from, count, direct);
    assert_int_equal(mr__fetch_part(s->d, f, &is, from, count, &s->detail), 0);
    is = read_part(s, head, from - head, direct); // and what was left out: all is there then
    assert_int_equal(mr__fetch_part(s->d, f, &is, head, from - head, &s->detail), 0);
    is.bytes = s->read.whole;
    is.got = (size_t)f->nbytes;
    if (mr__fetch_has_parts(f))
        assert_true(made_bytes_are(&s->made, i, s->read.whole, (size_t)f->nbytes));
    assert_int_equal(mr__fetch_end(s->d, f, &is, &bytes, &nbytes, &s->detail), 0);
    assert_true(made_bytes_are(&s->made, i, bytes, nbytes));
}

static void every_layout(void **state)
{
    (void)state;
    for (int kind = 0; kind < MADE_KINDS; kind++) {
        scene s;
        set_scene(&s, (made_kind)kind);
        for (size_t i = 0; i < MADE_SAMPLES; i++) {
            check_sample(&s, i, false);
            mr__buffer_fini(&s.read.buffer, &s.d->hooks);
            check_sample(&s, i, true);
            mr__buffer_fini(&s.read.buffer, &s.d->hooks);
        }
        clear_scene(&s);
    }
}

/* What a part that is not there is called, and where it ends. */
static void parts_that_are_missing(void **state)
{
    (void)state;
    scene s;
    set_scene(&s, MADE_TAR);
    mr__fetch *f = &s.fetch;
    assert_int_equal(mr__fetch_begin(s.d, f, 1, 0, &s.detail), 0);
    mr__fetched is = read_part(&s, 10, 20, false);
    is.got = 7;
    assert_int_equal(mr__fetch_part(s.d, f, &is, 10, 20, &s.detail), MR_ETRUNCATED);
    char end[64];
    snprintf(end, sizeof end, "ends at byte %llu,", (unsigned long long)f->offset + 17);
    assert_non_null(strstr(s.detail.text, end));
    is.error = 5;
    assert_int_equal(mr__fetch_part(s.d, f, &is, 10, 20, &s.detail), MR_EIO);
    assert_true(f->unread);
    mr__fetch_leave(f);
    mr__fetch_leave(f);
    assert_int_equal(f->file.fd, -1);
    clear_scene(&s);
}

/* A file of a folder that has another length or time than when it was indexed. */
static void parts_of_files_that_changed(void **state)
{
    (void)state;
    scene s;
    set_scene(&s, MADE_FLAT);
    mr__fetch *f = &s.fetch;
    assert_int_equal(mr__fetch_begin(s.d, f, 0, 0, &s.detail), 0);
    mr__fetched is = read_part(&s, 10, 20, false);
    assert_int_equal(mr__fetch_part(s.d, f, &is, 10, 20, &s.detail), 0);
    assert_int_equal(truncate(f->path, (long)f->nbytes + 1), 0);
    is = read_part(&s, 30, 20, false);
    assert_int_equal(mr__fetch_part(s.d, f, &is, 30, 20, &s.detail), MR_ECORRUPT);
    assert_true(f->unread);
    mr__fetch_leave(f);
    clear_scene(&s);
}

/* A damaged record is found by its hash, and a part of it is not looked at. */
static void only_the_whole_has_a_hash(void **state)
{
    (void)state;
    scene s;
    const void *bytes;
    size_t nbytes;
    set_scene(&s, MADE_PACKED);
    mr__fetch *f = &s.fetch;
    assert_int_equal(mr__fetch_begin(s.d, f, 0, 0, &s.detail), 0);
    mr__fetched is = read_part(&s, 0, (size_t)f->nbytes, false);
    s.read.bytes[12] ^= 1;
    assert_int_equal(mr__fetch_part(s.d, f, &is, 0, (size_t)f->nbytes, &s.detail), 0);
    assert_int_equal(mr__fetch_end(s.d, f, &is, &bytes, &nbytes, &s.detail), MR_ECORRUPT);
    clear_scene(&s);
}

static void row_indexes_are_at_hand(void **state)
{
    (void)state;
    test_folder folder;
    test_folder_init(&folder);
    pack_make_folder(&folder, "source", 2 * PACK_KINDS, 90);
    mr_dataset *source = pack_open(&folder, "source", MR_LAYOUT_AUTO);
    const mr_pack_options options = {.struct_size = sizeof options};
    pack_run(source, &folder, "packed", &options);
    mr_dataset *d = pack_open(&folder, "packed", MR_LAYOUT_AUTO);
    size_t with = 0;
    mr__fetch fetch = {0};
    for (uint64_t i = 0; i < d->samples; i++) {
        mr_record record = {.struct_size = sizeof record};
        mr__detail detail;
        const void *bytes;
        size_t nbytes;
        if (mr__fetch_begin(d, &fetch, i, 0, &detail) != 0)
            continue;
        assert_true(mr__fetch_row_index(&fetch, &bytes, &nbytes));
        assert_int_equal(mr_dataset_record(d, i, 0, &record), 0);
        assert_int_equal(nbytes, record.row_index_nbytes);
        if (nbytes != 0)
            assert_memory_equal(bytes, record.row_index, nbytes);
        with += nbytes != 0;
        mr__fetch_leave(&fetch);
    }
    assert_true(with >= 2);
    mr__fetch_fini(&fetch, &d->hooks);
    mr_dataset_free(d);
    mr_dataset_free(source);
    test_folder_fini(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layout),
        cmocka_unit_test(parts_that_are_missing),
        cmocka_unit_test(parts_of_files_that_changed),
        cmocka_unit_test(only_the_whole_has_a_hash),
        cmocka_unit_test(row_indexes_are_at_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
