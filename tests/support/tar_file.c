// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "tar_file.h"

#include "base/bytes.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uint8_t *extend(tar_file *tar, size_t nbytes)
{
    uint8_t *bytes = realloc(tar->bytes, tar->nbytes + nbytes + 1);
    assert_non_null(bytes);
    tar->bytes = bytes;
    memset(bytes + tar->nbytes, 0, nbytes);
    tar->nbytes += nbytes;
    return bytes + tar->nbytes - nbytes;
}

void tar_sign(tar_file *tar, size_t header)
{
    unsigned sum = 0;
    memset(tar->bytes + header + 148, ' ', 8);
    for (size_t i = 0; i < 512; i++)
        sum += tar->bytes[header + i];
    snprintf((char *)tar->bytes + header + 148, 8, "%06o", sum);
}

size_t tar_header(tar_file *tar, const char *name, char type, uint64_t nbytes)
{
    size_t at = tar->nbytes, length = strlen(name);
    uint8_t *block = extend(tar, 512);
    memcpy(block, name, length < 100 ? length : 100);
    memcpy(block + 100, "0000640\0000001750\0000001750", 23);
    snprintf((char *)block + 124, 12, "%011llo", (unsigned long long)nbytes);
    memcpy(block + 136, "14000000000", 11);
    block[156] = (uint8_t)type;
    memcpy(block + 257, "ustar\00000somebody", 16);
    tar_sign(tar, at);
    return at;
}

size_t tar_add(tar_file *tar, const char *name, char type, const void *bytes, size_t nbytes)
{
    tar_header(tar, name, type, nbytes);
    size_t at = tar->nbytes;
    uint8_t *to = extend(tar, (nbytes + 511) / 512 * 512);
    memcpy(to, bytes, nbytes);
    return at;
}

size_t tar_add_text(tar_file *tar, const char *name, const char *text)
{
    return tar_add(tar, name, '0', text, strlen(text));
}

void tar_add_zeros(tar_file *tar, size_t nbytes)
{
    extend(tar, nbytes);
}

void tar_end(tar_file *tar)
{
    extend(tar, 1024);
}

void tar_free(tar_file *tar)
{
    free(tar->bytes);
    *tar = (tar_file){NULL, 0};
}

static void scan_into(tar_scanned *s, const mr__file *file, const char *name, mr_broken_policy broken)
{
    mr__index_build build;
    const uint8_t *bytes;
    size_t nbytes;
    atomic_uint_least64_t seen;
    atomic_init(&seen, 0);
    mr__index_build_init(&build, &s->hooks);
    mr__scan scan = {.hooks = &s->hooks,
                     .detail = &s->detail,
                     .path = name,
                     .file = file,
                     .broken = broken,
                     .to = &build,
                     .seen_nbytes = &seen};
    mr__index_head head = {.layout = MR_LAYOUT_TAR, .data_nbytes = file->nbytes};
    s->result = mr__scanner_tar.scan(&scan);
    assert_int_equal(s->result != 0, s->detail.text[0] != '\0');
    if (s->result == 0) {
        assert_int_equal(atomic_load(&seen), file->nbytes);
        s->result = mr__index_build_finish(&build, &head, &bytes, &nbytes);
    }
    if (s->result == 0)
        s->result = mr__index_take(&s->index, &build, "index", &s->detail);
    mr__index_build_fini(&build);
    if (s->result == 0 && mr__index_check(&s->index, "index", &s->detail) != 0)
        fail_msg("%s", s->detail.text);
}

tar_scanned tar_scan_file(const char *path, mr_broken_policy broken, const mr_hooks *hooks)
{
    tar_scanned s = {.result = 0};
    mr__file file;
    assert_int_equal(mr__hooks_init(&s.hooks, hooks), 0);
    if (mr__file_open(&file, path) != 0)
        fail_msg("cannot open %s", path);
    scan_into(&s, &file, path, broken);
    mr__file_close(&file);
    return s;
}

tar_scanned tar_scan_bytes(const void *bytes, size_t nbytes, mr_broken_policy broken, const mr_hooks *hooks)
{
    tar_scanned s = {.result = 0};
    mr__file file = {.fd = memfd_create("test", 0), .nbytes = nbytes};
    assert_true(file.fd >= 0 && write(file.fd, bytes, nbytes) == (ssize_t)nbytes);
    assert_int_equal(mr__hooks_init(&s.hooks, hooks), 0);
    scan_into(&s, &file, "test.tar", broken);
    close(file.fd);
    return s;
}

tar_scanned tar_scan(const tar_file *tar, mr_broken_policy broken)
{
    return tar_scan_bytes(tar->bytes, tar->nbytes, broken, NULL);
}

void tar_scanned_free(tar_scanned *s)
{
    if (s->result != 0)
        return;
    s->index.hooks = &s->hooks; /* it was moved */
    mr__index_close(&s->index);
}

static void describe_label(FILE *to, const mr_label *label)
{
    if (label->kind == MR_LABEL_INT)
        fprintf(to, " %lld", (long long)label->integer);
    else if (label->kind == MR_LABEL_FLOAT)
        fprintf(to, " %g.", label->real);
    else if (label->kind == MR_LABEL_TEXT)
        fprintf(to, " \"%.*s\"", (int)label->count, (const char *)label->values);
    else if (label->kind == MR_LABEL_BYTES)
        fprintf(to, " bytes(%zu)", label->count);
    for (size_t i = 0; i < label->count && (label->kind == MR_LABEL_INTS || label->kind == MR_LABEL_FLOATS); i++) {
        uint64_t bits = mr__load_le64((const uint8_t *)label->values + 8 * i);
        double real;
        memcpy(&real, &bits, sizeof real);
        fprintf(to, "%c", i == 0 ? ' ' : ',');
        if (label->kind == MR_LABEL_INTS)
            fprintf(to, "%lld", (long long)bits);
        else
            fprintf(to, "%g.", real);
    }
}

static void describe_sample(FILE *to, const mr__index *index, uint64_t position, bool places)
{
    const char *key;
    size_t nbytes;
    mr__record record;
    mr_label label;
    mr__member member;
    assert_true(mr__index_key(index, position, &key, &nbytes));
    assert_true(mr__index_record(index, position, &record));
    assert_true(mr__index_label(index, position, &label));
    fprintf(to, "%.*s %s ", (int)nbytes, key, mr_form_name((mr_form)record.form));
    if (places)
        fprintf(to, "%llu", (unsigned long long)record.offset);
    fprintf(to, "+%llu", (unsigned long long)record.nbytes);
    describe_label(to, &label);
    for (uint32_t i = 0; i < mr__index_member_count(index, position); i++) {
        assert_true(mr__index_member(index, position, i, &member));
        fprintf(to, " %.*s@", (int)member.name_nbytes, member.name);
        if (places)
            fprintf(to, "%llu", (unsigned long long)member.offset);
        fprintf(to, "+%llu", (unsigned long long)member.nbytes);
    }
    fputc('\n', to);
}

char *tar_describe(const mr__index *index, bool places)
{
    char *text;
    size_t nbytes;
    FILE *to = open_memstream(&text, &nbytes);
    assert_non_null(to);
    for (uint64_t i = 0; i < index->head.samples; i++)
        describe_sample(to, index, i, places);
    for (uint64_t i = 0; i < mr__index_problem_count(index); i++) {
        uint32_t position;
        int code;
        const char *problem;
        assert_true(mr__index_problem(index, i, &position, &code, &problem));
        fprintf(to, "! %s %s\n", mr_error_name(code), problem);
    }
    fclose(to);
    return text;
}
