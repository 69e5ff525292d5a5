// SPDX-License-Identifier: Apache-2.0
#include "scanned.h"

#include "test.h"

#include <string.h>

static void check_index(scanned *s, const mr__file *file, const mr__scanner *scanner)
{
    const mr__index_head head = {
        .layout = scanner->layout, .data_nbytes = file->nbytes, .data_mtime_ns = file->mtime_ns};
    const uint8_t *bytes = NULL;
    size_t nbytes = 0;
    mr__detail detail = {""};
    int result = mr__index_build_finish(&s->build, &head, &bytes, &nbytes);
    if (result != 0) {
        assert_int_equal(result, MR_ENOMEM);
        s->result = result;
        return;
    }
    if (mr__index_init(&s->index, bytes, nbytes, "index", &detail) != 0 ||
        mr__index_check(&s->index, "index", &detail) != 0)
        fail_msg("%s", detail.text);
}

void scanned_init_by(scanned *s, const scanned_how *how)
{
    char path[512], list[512];
    mr__file file;
    atomic_uint_least64_t seen = 0;
    atomic_bool stop = how->stop;
    memset(s, 0, sizeof *s);
    assert_int_equal(mr__hooks_init(&s->hooks, how->hooks), 0);
    assert_int_equal(mr__file_open(&file, test_folder_path(how->folder, how->name, path)), 0);
    mr__index_build_init(&s->build, &s->hooks);
    mr__scan scan = {.hooks = &s->hooks,
                     .detail = &s->detail,
                     .path = path,
                     .file = &file,
                     .broken = how->broken,
                     .list = how->list != NULL ? test_folder_path(how->folder, how->list, list) : NULL,
                     .to = &s->build,
                     .seen_nbytes = &seen,
                     .stop = &stop};
    s->result = how->scanner->scan(&scan);
    s->seen_nbytes = seen;
    assert_int_equal(s->result != 0, s->detail.text[0] != '\0'); // an error has words, a success none
    if (s->result != MR_ENOMEM)
        check_index(s, &file, how->scanner);
    if (s->result == 0)
        assert_true(seen <= file.nbytes);
    mr__file_close(&file);
}

void scanned_init(scanned *s, const mr__scanner *scanner, const test_folder *folder, const char *name,
                  mr_broken_policy broken)
{
    scanned_init_by(s, &(scanned_how){.scanner = scanner, .folder = folder, .name = name, .broken = broken});
}

void scanned_fini(scanned *s)
{
    mr__index_close(&s->index);
    mr__index_build_fini(&s->build);
}

void scanned_expect(const scanned *s, uint64_t samples, uint64_t problems)
{
    const char *text = "";
    int code;
    uint32_t position;
    if (s->result != 0)
        fail_msg("%s", s->detail.text);
    if (s->index.head.samples != samples || mr__index_problem_count(&s->index) != problems) {
        for (uint64_t i = 0; mr__index_problem(&s->index, i, &position, &code, &text); i++)
            print_error("problem: %s\n", text);
        fail_msg("%llu samples and %llu problems, not %llu and %llu", (unsigned long long)s->index.head.samples,
                 (unsigned long long)mr__index_problem_count(&s->index), (unsigned long long)samples,
                 (unsigned long long)problems);
    }
}

void scanned_expect_key(const scanned *s, uint64_t position, const char *key)
{
    const char *found;
    size_t nbytes;
    assert_true(mr__index_key(&s->index, position, &found, &nbytes));
    assert_string_equal(found, key);
    assert_int_equal(nbytes, strlen(key));
}

mr__record scanned_record(const scanned *s, uint64_t position)
{
    mr__record record;
    assert_true(mr__index_record(&s->index, position, &record));
    return record;
}

mr_label scanned_label(const scanned *s, uint64_t position)
{
    mr_label label;
    assert_true(mr__index_label(&s->index, position, &label));
    return label;
}

void scanned_expect_int(const scanned *s, uint64_t position, int64_t label)
{
    mr_label found = scanned_label(s, position);
    assert_int_equal(found.kind, MR_LABEL_INT);
    assert_true(found.integer == label);
}

void scanned_expect_problem(const scanned *s, uint64_t number, int code, const char *part)
{
    uint32_t position;
    int found;
    const char *text;
    assert_true(mr__index_problem(&s->index, number, &position, &found, &text));
    assert_contains(text, part);
    assert_int_equal(found, code);
}

mr__member scanned_member(const scanned *s, uint64_t position, uint32_t number, const char *name)
{
    mr__member member;
    assert_true(mr__index_member(&s->index, position, number, &member));
    assert_string_equal(member.name, name);
    return member;
}

void bytes_add(made_bytes *b, const void *data, size_t nbytes)
{
    assert_true(nbytes <= sizeof b->data - b->nbytes);
    if (nbytes != 0)
        memcpy(b->data + b->nbytes, data, nbytes);
    b->nbytes += nbytes;
}

void bytes_add_text(made_bytes *b, const char *text)
{
    bytes_add(b, text, strlen(text));
}

void bytes_add_le(made_bytes *b, uint64_t value, size_t nbytes)
{
    for (size_t i = 0; i < nbytes; i++)
        bytes_add(b, &(uint8_t){(uint8_t)(value >> 8 * i)}, 1);
}

void bytes_add_f32(made_bytes *b, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bytes_add_le(b, bits, 4);
}

void bytes_add_jpeg(made_bytes *b, size_t nbytes)
{
    static const uint8_t head[] = {0xff, 0xd8, 0xff, 0xe0, 0, 16, 'J', 'F', 'I', 'F', 0, 1, 1};
    for (size_t i = 0; i < nbytes; i++)
        bytes_add(b, i < sizeof head ? &head[i] : &(uint8_t){(uint8_t)(i * 31)}, 1);
}
