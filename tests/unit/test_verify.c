// SPDX-License-Identifier: Apache-2.0
/* Every flipped bit of a packed dataset is found, in the right file, and the sample named that it hit. */
#include "test.h"

#include "failing.h"
#include "pack_make.h"
#include "tar_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static test_folder folder;

/* A sample of the tar that is packed; `kind` PACK_KINDS is no image. */
static void add_sample(tar_file *tar, const char *key, pack_kind kind, const char *label, const char *json)
{
    char name[64];
    picture_file file =
        kind != PACK_KINDS ? pack_image(kind, 3, 2, strlen(label)) : picture_copy("\xff\xd8\xff\xe0 no more", 12);
    snprintf(name, sizeof name, "%s.%s", key, kind != PACK_KINDS ? pack_ending(kind) : "jpg");
    tar_add(tar, name, '0', file.bytes, file.nbytes);
    snprintf(name, sizeof name, "%s.cls", key);
    tar_add_text(tar, name, label);
    snprintf(name, sizeof name, "%s.json", key);
    if (json != NULL)
        tar_add_text(tar, name, json);
    free(file.bytes);
}

static const mr_pack_form forms[] = {{sizeof *forms, .form = MR_FORM_NONE}, {sizeof *forms, .form = MR_FORM_RAW}};

/* Four samples, of which one is refused: labels of three kinds, one other member. */
static int setup(void **state)
{
    (void)state;
    tar_file tar = {0};
    const mr_pack_options options = {
        .struct_size = sizeof options, .forms = forms, .form_count = 2, .max_bad = 500000, .threads = 1};
    test_folder_init_in_memory(&folder);
    add_sample(&tar, "deep/one", PACK_PNG_3, "7", NULL);
    add_sample(&tar, "two", PACK_PNG_1, "a word", "{\"boxes\": []}");
    add_sample(&tar, "bad", PACK_KINDS, "3", NULL);
    add_sample(&tar, "four", PACK_PNG_3, "1.5 2", NULL);
    tar_end(&tar);
    test_folder_write(&folder, "source.tar", tar.bytes, tar.nbytes);
    tar_free(&tar);
    mr_dataset *source = pack_open(&folder, "source.tar", MR_LAYOUT_TAR);
    mr_pack_report report = pack_run(source, &folder, "one", &options);
    assert_int_equal(report.refused, 1);
    mr_pack_options each = options;
    each.shard_samples = 1;
    pack_run(source, &folder, "many", &each);
    mr_dataset_free(source);
    assert_int_equal(pack_verify(&folder, "one", NULL) + pack_verify(&folder, "many", NULL), 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    test_folder_fini(&folder);
    return 0;
}

/* What was found, in their order, as text. */
typedef struct findings {
    size_t count;
    mr_finding first;
    char path[512], form[32], key[64], survivors[64], text[16384];
} findings;

static void note(void *user, const mr_finding *f)
{
    findings *to = user;
    if (to->count++ == 0) {
        to->first = *f;
        snprintf(to->path, sizeof to->path, "%s", f->path);
        snprintf(to->form, sizeof to->form, "%s", f->form != NULL ? f->form : "");
        snprintf(to->key, sizeof to->key, "%s", f->key != NULL ? f->key : "");
        snprintf(to->survivors, sizeof to->survivors, "%s", f->survivors);
    }
    assert_true(f->text[0] != '\0' && f->code < 0);
    size_t used = strlen(to->text);
    snprintf(to->text + used, sizeof to->text - used, "%s %d %lld %s %s %s\n", f->path, f->code, (long long)f->ordinal,
             f->key != NULL ? f->key : "-", f->survivors, f->text);
}

static int verify(const char *name, findings *found, mr_verify_options options, mr_verify_report *report)
{
    char path[512], detail[256];
    *found = (findings){0};
    options.struct_size = sizeof options;
    options.found = note;
    options.found_user = found;
    *report = (mr_verify_report){.struct_size = sizeof *report};
    if (options.threads == 0)
        options.threads = 1;
    int result = mr_dataset_verify(test_folder_path(&folder, name, path), &options, report, detail, sizeof detail);
    assert_true((result != 0) == (detail[0] != '\0'));
    assert_true(result != 0 || report->findings == found->count);
    return result;
}

static void find(const char *name, findings *found)
{
    mr_verify_report report;
    assert_int_equal(verify(name, found, (mr_verify_options){.threads = 1}, &report), 0);
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* --- What stands where in a shard --------------------------------------------------------------------------------- */

enum { SHARD_MAX = 1 << 15 };

/* For each byte of a shard: whose it is, and whether the sample is to be named. */
typedef struct owner {
    int8_t ordinal; /* -1: nobody's */
    bool image;     /* else it stands around it, and the image is whole */
} owner;

static size_t map_owners(const char *name, uint32_t form, owner *map)
{
    mr_dataset *d = pack_open(&folder, name, MR_LAYOUT_PACKED);
    mr_record record = {.struct_size = sizeof record};
    mr_member member = {.struct_size = sizeof member};
    mr_sample sample = {.struct_size = sizeof sample};
    uint64_t at = 0;
    for (uint64_t i = 0; i < mr_dataset_count(d); i++) {
        assert_int_equal(mr_dataset_record(d, i, form, &record), 0);
        assert_int_equal(mr_dataset_sample(d, i, &sample), 0);
        if (record.state != MR_RECORD_PRESENT)
            continue;
        uint64_t end = (record.offset + record.nbytes + 511) / 512 * 512 + 1024; /* its label has a block */
        for (uint32_t k = 0; form == 0 && k < sample.members; k++) {
            assert_int_equal(mr_dataset_member(d, i, k, &member), 0);
            end = (member.offset + member.nbytes + 511) / 512 * 512;
        }
        assert_true(end < SHARD_MAX);
        for (; at < end; at++)
            map[at] = (owner){(int8_t)i, false};
        for (uint64_t k = 0; k < record.nbytes; k++)
            map[record.offset + k].image = true;
    }
    for (uint64_t end = at + 1024; at < end; at++)
        map[at] = (owner){-1, false};
    mr_dataset_free(d);
    return at;
}

static const char *const keys[] = {"deep/one", "two", "bad", "four"};

static void expect_in_tar(const findings *f, owner is, const char *other, const char *where)
{
    bool named = is.ordinal >= 0;
    if (!is.image)
        other = "original raw";
    if (f->count != 1 || (named && (f->first.ordinal != (uint64_t)is.ordinal || strcmp(f->key, keys[is.ordinal]) != 0 ||
                                    strcmp(f->survivors, other) != 0)))
        fail_msg("%s: sample %d: found %s", where, is.ordinal, f->text);
    if (!named && f->first.ordinal != UINT64_MAX)
        fail_msg("%s: nobody's, but found %s", where, f->text);
}

static void write_byte(const char *path, size_t at, uint8_t byte)
{
    int fd = open(path, O_WRONLY);
    assert_true(fd >= 0 && pwrite(fd, &byte, 1, (off_t)at) == 1);
    close(fd);
}

/* All bits of a file (of a tar every third, if it is not to take long), one after the other; `map` of a tar. */
static void flip_file(const char *name, const char *form, const char *other, const owner *map)
{
    char where[256], whole[128], path[512];
    snprintf(whole, sizeof whole, "one/%s", name);
    picture_file file = pack_load(&folder, whole);
    test_folder_path(&folder, whole, path);
    size_t step = test_long() ? 1 : test_quick() ? 61 : map != NULL ? 3 : 1;
    for (size_t bit = 0; bit < file.nbytes * 8; bit += step) {
        findings f;
        write_byte(path, bit / 8, (uint8_t)(file.bytes[bit / 8] ^ 1 << bit % 8));
        find("one", &f);
        write_byte(path, bit / 8, file.bytes[bit / 8]);
        snprintf(where, sizeof where, "%s, bit %zu of byte %zu", name, bit % 8, bit / 8);
        if (f.count == 0 || !ends_with(f.path, whole) || strcmp(f.form, form) != 0)
            fail_msg("%s: %zu findings: %s", where, f.count, f.text);
        if (map != NULL)
            expect_in_tar(&f, map[bit / 8], other, where);
    }
    free(file.bytes);
    assert_int_equal(pack_verify(&folder, "one", NULL), 0);
}

static void every_bit_of_shards(void **state)
{
    (void)state;
    static owner map[SHARD_MAX];
    picture_file file = pack_load(&folder, "one/original/000000.tar");
    assert_int_equal(map_owners("one", 0, map), file.nbytes);
    free(file.bytes);
    flip_file("original/000000.tar", "original", "raw", map);
    map_owners("one", 1, map);
    flip_file("raw/000000.tar", "raw", "original", map);
}

static void every_bit_of_indexes(void **state)
{
    (void)state;
    flip_file("original/000000.mrx", "original", "", NULL);
    flip_file("raw/000000.mrx", "raw", "", NULL);
}

static void every_bit_of_its_own_files(void **state)
{
    (void)state;
    flip_file("dataset.json", "", "", NULL);
    flip_file("quarantine.jsonl", "", "", NULL);
}

static const char *const files[] = {"dataset.json",        "quarantine.jsonl", "original/000000.tar",
                                    "original/000000.mrx", "raw/000000.tar",   "raw/000000.mrx"};

static void expect_file(const char *name, const char *what)
{
    findings f;
    find("bad", &f);
    if (f.count == 0 || !ends_with(f.path, name))
        fail_msg("%s %s: %s", name, what, f.text);
}

static void files_cut_and_grown(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char name[128];
        snprintf(name, sizeof name, "one/%s", files[i]);
        picture_file file = pack_load(&folder, name);
        const size_t lengths[] = {0, 1, 127, 512, file.nbytes / 2, file.nbytes - 512, file.nbytes - 1, file.nbytes + 1};
        snprintf(name, sizeof name, "bad/%s", files[i]);
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
            uint8_t *longer = calloc(1, file.nbytes + 1);
            memcpy(longer, file.bytes, file.nbytes);
            pack_remove(&folder, "bad");
            pack_copy(&folder, "one", "bad");
            size_t length = lengths[k] <= file.nbytes + 1 ? lengths[k] : 2; /* one that is shorter than 512 */
            test_folder_write(&folder, name, longer, length);
            expect_file(name, "cut or grown");
            free(longer);
        }
        free(file.bytes);
    }
}

/* What lies behind the cut is lost, sample by sample; what lies before it is not. */
static void a_shard_that_ends_early(void **state)
{
    (void)state;
    findings f;
    mr_verify_report report;
    mr_record record = {.struct_size = sizeof record};
    mr_dataset *d = pack_open(&folder, "one", MR_LAYOUT_PACKED);
    assert_int_equal(mr_dataset_record(d, 1, 1, &record), 0);
    mr_dataset_free(d);
    pack_remove(&folder, "bad");
    pack_copy(&folder, "one", "bad");
    picture_file file = pack_load(&folder, "one/raw/000000.tar");
    test_folder_write(&folder, "bad/raw/000000.tar", file.bytes, (size_t)record.offset + 5);
    free(file.bytes);
    assert_int_equal(verify("bad", &f, (mr_verify_options){.threads = 1}, &report), 0);
    assert_int_equal(report.damaged_samples, 2);
    assert_int_equal(report.lost_samples, 0);
    assert_contains(f.text, "two original");
    assert_contains(f.text, "four original");
    assert_null(strstr(f.text, "deep/one"));
}

static void files_that_are_missing(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char name[128], path[512];
        findings f;
        mr_verify_report report;
        pack_remove(&folder, "bad");
        pack_copy(&folder, "one", "bad");
        snprintf(name, sizeof name, "bad/%s", files[i]);
        remove(test_folder_path(&folder, name, path));
        if (i != 0)
            expect_file(name, "missing");
        else
            assert_int_equal(verify("bad", &f, (mr_verify_options){.threads = 1}, &report), MR_EIO);
    }
}

static void swap(const char *a, const char *b)
{
    char one[512], other[512], third[512];
    test_folder_path(&folder, a, one);
    test_folder_path(&folder, b, other);
    test_folder_path(&folder, "third", third);
    assert_int_equal(rename(one, third) | rename(other, one) | rename(third, other), 0);
}

/* Good shards, and good records, in each other's places. */
static void shards_that_are_swapped(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"raw/000000", "raw/000003"}, {"original/000001", "original/000003"}};
    for (size_t i = 0; i < 2; i++) {
        char names[4][64];
        findings f;
        for (int k = 0; k < 4; k++)
            snprintf(names[k], sizeof *names, "bad/%s.%s", pairs[i][k % 2], k < 2 ? "tar" : "mrx");
        pack_remove(&folder, "bad");
        pack_copy(&folder, "many", "bad");
        swap(names[0], names[1]);
        find("bad", &f);
        assert_true(f.count >= 2);
        swap(names[2], names[3]);
        find("bad", &f);
        assert_true(f.count >= 2 && ends_with(f.path, names[2]));
    }
}

static void records_that_are_swapped(void **state)
{
    (void)state;
    mr_record one = {.struct_size = sizeof one}, other = one;
    findings f;
    mr_reader *reader;
    const void *bytes;
    size_t nbytes;
    mr_dataset *d = pack_open(&folder, "one", MR_LAYOUT_PACKED);
    assert_int_equal(mr_dataset_record(d, 0, 1, &one) | mr_dataset_record(d, 3, 1, &other), 0);
    mr_dataset_free(d);
    assert_int_equal(one.nbytes, other.nbytes);
    pack_remove(&folder, "bad");
    pack_copy(&folder, "one", "bad");
    picture_file file = pack_load(&folder, "one/raw/000000.tar");
    picture_file copy = picture_copy(file.bytes, file.nbytes);
    memcpy(copy.bytes + one.offset, file.bytes + other.offset, (size_t)one.nbytes);
    memcpy(copy.bytes + other.offset, file.bytes + one.offset, (size_t)one.nbytes);
    test_folder_write(&folder, "bad/raw/000000.tar", copy.bytes, copy.nbytes);
    free(file.bytes);
    free(copy.bytes);
    find("bad", &f);
    assert_int_equal(f.count, 2);
    assert_string_equal(f.key, "deep/one");
    assert_contains(f.text, "four");
    d = pack_open(&folder, "bad", MR_LAYOUT_PACKED);
    assert_int_equal(mr_reader_new(d, &reader), 0);
    assert_int_equal(mr_reader_record(reader, 3, 1, &bytes, &nbytes), MR_ECORRUPT);
    assert_contains(mr_reader_detail(reader), "four");
    assert_int_equal(mr_reader_record(reader, 3, 0, &bytes, &nbytes), 0);
    mr_reader_free(reader);
    mr_dataset_free(d);
}

/* A sample that is hit twice, in both forms, is one sample, and lost; a tar is named though its index is hit too. */
static void damage_is_counted_once(void **state)
{
    (void)state;
    findings f;
    mr_verify_report report;
    char path[512];
    mr_record record = {.struct_size = sizeof record};
    pack_remove(&folder, "bad");
    pack_copy(&folder, "one", "bad");
    mr_dataset *d = pack_open(&folder, "one", MR_LAYOUT_PACKED);
    for (uint32_t form = 0; form < 2; form++) {
        assert_int_equal(mr_dataset_record(d, 3, form, &record), 0);
        test_folder_path(&folder, form == 0 ? "bad/original/000000.tar" : "bad/raw/000000.tar", path);
        write_byte(path, (size_t)record.offset, 1);
        write_byte(path, (size_t)record.offset - 512, 1);
    }
    mr_dataset_free(d);
    assert_int_equal(verify("bad", &f, (mr_verify_options){.threads = 1}, &report), 0);
    assert_int_equal(f.count, 4);
    assert_int_equal(report.damaged_samples, 1);
    assert_int_equal(report.lost_samples, 1);
    write_byte(test_folder_path(&folder, "bad/original/000000.mrx", path), 200, 0xa5);
    find("bad", &f);
    assert_contains(f.text, "bad/original/000000.mrx -");
    assert_contains(f.text, "bad/original/000000.tar -");
}

/* --- The report --------------------------------------------------------------------------------------------------- */

static void damage_many(void)
{
    static const char *const hit[] = {"bad/original/000001.tar", "bad/raw/000003.tar", "bad/raw/000000.mrx",
                                      "bad/original/000003.mrx"};
    char path[512];
    pack_remove(&folder, "bad");
    pack_copy(&folder, "many", "bad");
    for (size_t i = 0; i < sizeof hit / sizeof *hit; i++)
        write_byte(test_folder_path(&folder, hit[i], path), 520 - 300 * (i >= 2), 0xa5);
    remove(test_folder_path(&folder, "bad/raw/000001.tar", path));
}

/* However a run was stopped, the next goes on, and tells the same. */
static void a_run_goes_on(void **state)
{
    (void)state;
    findings all, f;
    mr_verify_report report;
    char path[512];
    damage_many();
    find("bad", &all);
    assert_true(all.count >= 5);
    const mr_verify_options options = {.report = test_folder_path(&folder, "report", path)};
    assert_int_equal(verify("bad", &f, options, &report), 0);
    assert_string_equal(f.text, all.text);
    picture_file whole = pack_load(&folder, "report");
    for (size_t nbytes = 0; nbytes <= whole.nbytes;
         nbytes += nbytes < 100 || nbytes + 20 > whole.nbytes || test_long() ? 1 : 17) {
        size_t lines = 0;
        for (size_t i = 0; i < nbytes; i++)
            lines += whole.bytes[i] == '\n';
        test_folder_write(&folder, "report", whole.bytes, nbytes);
        assert_int_equal(verify("bad", &f, options, &report), 0);
        assert_string_equal(f.text, all.text);
        bool complete = nbytes == whole.nbytes; /* then it is a run of its own */
        assert_int_equal(report.files_before, lines > 1 && !complete ? lines - 1 : 0);
        picture_file now = pack_load(&folder, "report");
        assert_int_equal(now.nbytes, whole.nbytes);
        assert_memory_equal(now.bytes, whole.bytes, whole.nbytes);
        free(now.bytes);
    }
    test_folder_write(&folder, "report", whole.bytes, whole.nbytes);
    assert_int_equal(verify("one", &f, options, &report), MR_EARGUMENT);
    free(whole.bytes);
    remove(path);
}

static bool stop(void *user, const mr_progress *progress)
{
    assert_string_equal(progress->verb, "verifying");
    ++*(int *)user;
    return false;
}

static void the_hook_stops_it(void **state)
{
    (void)state;
    if (test_quick())
        skip();
    findings all, f;
    mr_verify_report report;
    char path[512];
    int calls = 0;
    damage_many();
    /* The last shard takes as long as it takes until the hook is called. */
    assert_int_equal(truncate(test_folder_path(&folder, "bad/raw/000003.tar", path), (off_t)24 << 30), 0);
    find("bad", &all);
    const mr_verify_options plain = {.report = test_folder_path(&folder, "report", path)};
    mr_verify_options options = plain;
    options.progress = stop;
    options.progress_user = &calls;
    assert_int_equal(verify("bad", &f, options, &report), MR_ECLOSED);
    assert_true(calls != 0 && f.count == 0);
    assert_int_equal(verify("bad", &f, plain, &report), 0);
    assert_int_equal(report.files_before, 7);
    assert_string_equal(f.text, all.text);
    remove(path);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    findings all, f;
    mr_verify_report report;
    damage_many();
    find("bad", &all);
    assert_int_equal(verify("bad", &f, (mr_verify_options){.threads = 3}, &report), 0);
    assert_string_equal(f.text, all.text);
}

/* Without memory it is an error; damage is never made of it, and none is lost by it. */
typedef struct scarce {
    const char *report, *text;
} scarce;

static int verify_with(const mr_hooks *hooks, void *arg)
{
    const scarce *s = arg;
    findings f;
    mr_verify_report report;
    if (s->report != NULL)
        remove(s->report);
    int result = verify("bad", &f, (mr_verify_options){.hooks = hooks, .report = s->report}, &report);
    if (result == 0)
        assert_string_equal(f.text, s->text);
    findings again;
    if (result != 0 && s->report != NULL) {
        assert_int_equal(verify("bad", &again, (mr_verify_options){.report = s->report}, &report), 0);
        assert_string_equal(again.text, s->text);
    }
    return result;
}

static void memory_that_fails(void **state)
{
    (void)state;
    findings all;
    char path[512];
    damage_many();
    find("bad", &all);
    failing_run(verify_with, &(scarce){NULL, all.text});
    failing_run(verify_with, &(scarce){test_folder_path(&folder, "report", path), all.text});
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bit_of_shards),        cmocka_unit_test(every_bit_of_indexes),
        cmocka_unit_test(every_bit_of_its_own_files), cmocka_unit_test(files_cut_and_grown),
        cmocka_unit_test(a_shard_that_ends_early),    cmocka_unit_test(files_that_are_missing),
        cmocka_unit_test(shards_that_are_swapped),    cmocka_unit_test(records_that_are_swapped),
        cmocka_unit_test(damage_is_counted_once),     cmocka_unit_test(a_run_goes_on),
        cmocka_unit_test(the_hook_stops_it),          cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(memory_that_fails),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
