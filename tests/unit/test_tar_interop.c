// SPDX-License-Identifier: Apache-2.0
/* Our shards read by GNU tar, Python's tarfile and webdataset, and theirs read by us: tests/support/tar_interop.py. */
#include "test.h"

#include "dataset/tar_write.h"
#include "tar_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static mr_hooks hooks;
static test_folder folder;

static int setup(void **state)
{
    (void)state;
    test_folder_init(&folder);
    return mr__hooks_init(&hooks, NULL);
}

static int teardown(void **state)
{
    (void)state;
    test_folder_fini(&folder);
    return 0;
}

static const char *python(void)
{
    const char *given = getenv("MILLRACE_PYTHON");
    return given != NULL && given[0] != '\0' ? given : "python3";
}

static void need_python(void)
{
    char command[600];
    snprintf(command, sizeof command, "%s -c 'import tarfile' 2>/dev/null", python());
    if (system(command) == 0)
        return;
    print_message("no %s: other people's tar is not compared\n", python());
    skip();
}

static FILE *run(const char *arguments)
{
    char command[2000];
    snprintf(command, sizeof command, "PYTHONUTF8=1 %s %s/tests/support/tar_interop.py %s", python(),
             MILLRACE_SOURCE_ROOT, arguments);
    FILE *output = popen(command, "r");
    assert_non_null(output);
    return output;
}

/* A payload is its name, again and again. */
static void add(FILE *shard, FILE *what, size_t *position, const char *name, size_t nbytes, size_t alignment)
{
    mr__buffer buffer = {NULL, 0};
    size_t used = 0, name_nbytes = strlen(name), position_in = *position;
    assert_int_equal(mr__tar_write_head(&buffer, &hooks, &used, position_in, name, name_nbytes, nbytes, alignment), 0);
    if (alignment != 0)
        assert_int_equal((position_in + used) % alignment, 0);
    assert_int_equal(mr__buffer_grow(&buffer, &hooks, used, used + nbytes), 0);
    for (size_t i = 0; i < nbytes; i++)
        buffer.bytes[used + i] = (uint8_t)name[i % name_nbytes];
    used += nbytes;
    assert_int_equal(mr__tar_write_padding(&buffer, &hooks, &used, nbytes), 0);
    assert_int_equal(fwrite(buffer.bytes, 1, used, shard), used);
    fprintf(what, "%s\t%zu\n", name, nbytes);
    *position += used;
    mr__buffer_fini(&buffer, &hooks);
}

static void write_shard(const char *shard_path, const char *what_path, size_t alignment)
{
    static const size_t lengths[] = {0, 1, 511, 512, 513, 4096, 70000};
    FILE *shard = fopen(shard_path, "wb"), *what = fopen(what_path, "wb");
    mr__buffer buffer = {NULL, 0};
    size_t position = 0, used = 0;
    char name[1200];
    assert_true(shard != NULL && what != NULL);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        snprintf(name, sizeof name, "plain/%zu.jpg", i);
        add(shard, what, &position, name, lengths[i], alignment);
        snprintf(name, sizeof name, "plain/%zu.cls", i);
        add(shard, what, &position, name, 1, 0);
    }
    for (size_t n = 60; n <= 250; n += 10) { /* cut into prefix and name, or not to be cut */
        snprintf(name, sizeof name, "%0*d/%0*d.jpg", (int)n, 5, (int)n / 2, 7);
        add(shard, what, &position, name, n, alignment);
        snprintf(name, sizeof name, "%0*d.jpg", (int)n, 6);
        add(shard, what, &position, name, n, alignment);
    }
    snprintf(name, sizeof name, "%0200d/%0200d/%0200d/%0200d/%0200d.png", 1, 2, 3, 4, 5);
    add(shard, what, &position, name, 9, alignment);
    add(shard, what, &position, "b\xc3\xa4\xc3\xb6/\xe4\xb8\xad\xe6\x96\x87.jpg", 700, alignment);
    add(shard, what, &position, "sp ace=1/%2E \"x\".jpg", 700, alignment);
    assert_int_equal(mr__tar_write_end(&buffer, &hooks, &used), 0);
    fwrite(buffer.bytes, 1, used, shard);
    mr__buffer_fini(&buffer, &hooks);
    assert_int_equal(fclose(shard) | fclose(what), 0);
}

static void ours_are_read_by_others(void **state)
{
    (void)state;
    need_python();
    for (size_t alignment = 0; alignment <= 4096; alignment += 4096) {
        char shard[512], what[512], arguments[1100];
        test_folder_path(&folder, alignment != 0 ? "aligned.tar" : "plain.tar", shard);
        test_folder_path(&folder, "what.txt", what);
        write_shard(shard, what, alignment);
        snprintf(arguments, sizeof arguments, "read %s %s", shard, what);
        assert_int_equal(pclose(run(arguments)), 0);
        tar_scanned s = tar_scan_file(shard, MR_BROKEN_FAIL, NULL);
        assert_int_equal(s.result, 0);
        assert_int_equal(s.index.head.samples, 7 + 20 * 2 + 3);
        tar_scanned_free(&s);
    }
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 16);
    assert_true(file != NULL && text != NULL);
    assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
    fclose(file);
    return text;
}

/* An image has its key in it, behind the magic. */
static void check_places(const char *path, const mr__index *index)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    for (uint64_t i = 0; i < index->head.samples; i++) {
        mr__record record;
        const char *key;
        size_t key_nbytes;
        char bytes[1024];
        assert_true(mr__index_record(index, i, &record));
        assert_true(mr__index_key(index, i, &key, &key_nbytes));
        long magic = record.form == MR_FORM_PNG ? 16 : 4;
        assert_int_equal(fseek(file, (long)record.offset + magic, SEEK_SET), 0);
        assert_int_equal(fread(bytes, 1, key_nbytes, file), key_nbytes);
        assert_memory_equal(bytes, key, key_nbytes);
    }
    fclose(file);
}

static void others_are_read_by_us(void **state)
{
    (void)state;
    need_python();
    char arguments[600], name[100], what[100];
    int count = 0;
    snprintf(arguments, sizeof arguments, "write %s", folder.path);
    FILE *list = run(arguments);
    while (fscanf(list, "%99s %99s", name, what) == 2) {
        char path[512], buffer[512];
        char *expected = read_text(test_folder_path(&folder, what, buffer));
        tar_scanned s = tar_scan_file(test_folder_path(&folder, name, path), MR_BROKEN_FAIL, NULL);
        if (s.result != 0)
            fail_msg("%s", s.detail.text);
        char *text = tar_describe(&s.index, false);
        if (strcmp(text, expected) != 0)
            fail_msg("%s:\n%s\nand should be:\n%s", name, text, expected);
        check_places(path, &s.index);
        free(text);
        free(expected);
        tar_scanned_free(&s);
        count++;
    }
    assert_int_equal(pclose(list), 0);
    assert_true(count >= 5);
    print_message("%d shards of others\n", count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ours_are_read_by_others),
        cmocka_unit_test(others_are_read_by_us),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
