// SPDX-License-Identifier: Apache-2.0
/*
 * What must hold of the record files of others, whatever the bytes: scanning ends with an index or with an error and
 * its detail; the index is whole, keys differ, and every place in it lies within the file; the same bytes give the same
 * index, whatever stood in new memory, and memory is bounded by their number. What opens with MR_BROKEN_FAIL is the
 * same with MR_BROKEN_SKIP; what does not has a problem there, or is an error too. A record in parts can be joined.
 *
 * A list is its own data. Of a RecordIO file what follows a line "idx" is the .idx beside it.
 */
#define _GNU_SOURCE // memfd_create, memmem
#include "check.h"

#include "base/hash.h"
#include "dataset/recordio_join.h"
#include "dataset/scan.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Windows are constant. A problem has some 200 bytes of text for 8 bytes of a file; buffers grow, and are copied. */
#define MEMORY_NBYTES(nbytes) ((UINT64_C(8) << 20) + 256 * (uint64_t)(nbytes))

typedef struct subject {
    const mr__scanner *scanner;
    mr__file file;
    uint64_t nbytes;
    char path[64], list[64], folder[32];
} subject;

typedef struct outcome {
    int result;
    mr__detail detail;
    uint64_t hash; /* of the index */
    uint64_t problems;
    uint64_t samples;
} outcome;

static void check_parts(const subject *s, const mr__record *record)
{
    mr_hooks hooks;
    mr__buffer from = {NULL, 0}, to = {NULL, 0};
    size_t got, offset, nbytes;
    FUZZ_REQUIRE(mr__hooks_init(&hooks, NULL) == 0 && mr__buffer_reserve(&from, &hooks, (size_t)record->nbytes) == 0 &&
                     mr__file_read(&s->file, record->offset, from.bytes, (size_t)record->nbytes, &got) == 0,
                 "%llu bytes cannot be read", (unsigned long long)record->nbytes);
    int result = mr__recordio_join(from.bytes, got, &hooks, &to, &offset, &nbytes);
    FUZZ_REQUIRE(result == 0, "a record in parts that cannot be joined: %s", mr_error_name(result));
    FUZZ_REQUIRE(nbytes != 0 && offset + nbytes < got, "an image of %zu bytes in %zu", nbytes, got);
    FUZZ_REQUIRE((uint8_t)mr_form_probe(to.bytes + offset, nbytes) == record->form, "another form");
    mr__buffer_fini(&from, &hooks);
    mr__buffer_fini(&to, &hooks);
}

static void check_sample(const mr__index *index, uint64_t position, const subject *s)
{
    uint64_t nbytes = s->file.nbytes;
    mr__record record;
    mr__member member;
    mr_label label;
    const char *key;
    size_t key_nbytes;
    uint64_t found;
    FUZZ_REQUIRE(mr__index_record(index, position, &record) && mr__index_label(index, position, &label) &&
                     mr__index_key(index, position, &key, &key_nbytes),
                 "sample %llu cannot be read", (unsigned long long)position);
    FUZZ_REQUIRE(record.offset <= nbytes && record.nbytes <= nbytes - record.offset, "an image outside the file");
    FUZZ_REQUIRE(record.nbytes != 0, "an image of 0 bytes");
    if (record.parts)
        check_parts(s, &record);
    FUZZ_REQUIRE(key_nbytes != 0, "an empty key");
    FUZZ_REQUIRE(mr__index_find(index, key, key_nbytes, &found) && found == position, "the key %s twice", key);
    uint32_t members = mr__index_member_count(index, position);
    for (uint32_t i = 0; i < members; i++) {
        FUZZ_REQUIRE(mr__index_member(index, position, i, &member), "member %u cannot be read", i);
        FUZZ_REQUIRE(member.offset <= nbytes && member.nbytes <= nbytes - member.offset, "a member outside the file");
    }
}

static void check_made(const uint8_t *bytes, size_t nbytes, const subject *s, outcome *o)
{
    mr__index index;
    mr__detail detail = {""};
    FUZZ_REQUIRE(mr__index_init(&index, bytes, nbytes, "index", &detail) == 0, "%s", detail.text);
    FUZZ_REQUIRE(mr__index_check(&index, "index", &detail) == 0, "%s", detail.text);
    for (uint64_t i = 0; i < index.head.samples; i++)
        check_sample(&index, i, s);
    o->samples = index.head.samples;
    o->problems = mr__index_problem_count(&index);
    o->hash = mr__hash(bytes, nbytes);
    mr__index_close(&index);
}

static outcome scan_once(const subject *s, mr_broken_policy broken, fuzz_heap *heap)
{
    outcome o = {.result = 0};
    mr_hooks given = fuzz_heap_hooks(heap), hooks;
    mr__index_build build;
    mr__index_head head = {.layout = s->scanner->layout, .data_nbytes = s->file.nbytes};
    const uint8_t *bytes;
    size_t nbytes;
    FUZZ_REQUIRE(mr__hooks_init(&hooks, &given) == 0, "hooks");
    mr__index_build_init(&build, &hooks);
    mr__scan scan = {.hooks = &hooks,
                     .detail = &o.detail,
                     .path = s->path,
                     .file = &s->file,
                     .broken = broken,
                     .list = s->list,
                     .to = &build};
    o.result = s->scanner->scan(&scan);
    FUZZ_REQUIRE((o.result != 0) == (o.detail.text[0] != '\0'), "%s with the detail \"%s\"", mr_error_name(o.result),
                 o.detail.text);
    FUZZ_REQUIRE(o.result != MR_EINTERNAL && o.result != MR_EARGUMENT, "%s", o.detail.text);
    if (o.result == 0)
        o.result = mr__index_build_finish(&build, &head, &bytes, &nbytes);
    if (o.result == 0)
        check_made(bytes, nbytes, s, &o);
    mr__index_build_fini(&build);
    FUZZ_REQUIRE(heap->blocks == 0, "%lld blocks are left", (long long)heap->blocks);
    return o;
}

static void require_same(const outcome *a, const outcome *b, const char *why)
{
    FUZZ_REQUIRE(a->result == b->result && a->hash == b->hash && strcmp(a->detail.text, b->detail.text) == 0,
                 "%s: %s \"%s\", %llu samples; %s \"%s\", %llu samples", why, mr_error_name(a->result), a->detail.text,
                 (unsigned long long)a->samples, mr_error_name(b->result), b->detail.text,
                 (unsigned long long)b->samples);
}

static void put_idx(subject *s, const uint8_t *bytes, size_t nbytes)
{
    char path[64];
    memcpy(s->folder, "/tmp/millrace-fuzz-XXXXXX", 26);
    FUZZ_REQUIRE(mkdtemp(s->folder) != NULL, "no folder");
    snprintf(s->path, sizeof s->path, "%s/x.rec", s->folder);
    snprintf(path, sizeof path, "%s/x.idx", s->folder);
    FILE *file = fopen(path, "wb");
    FUZZ_REQUIRE(file != NULL && fwrite(bytes, 1, nbytes, file) == nbytes && fclose(file) == 0, "no .idx");
}

static subject open_subject(const mr__scanner *scanner, const uint8_t *bytes, size_t nbytes)
{
    subject s = {.scanner = scanner, .nbytes = nbytes, .path = "x.tfrecord"};
    const uint8_t *idx = scanner == &mr__scanner_recordio ? memmem(bytes, nbytes, "\nidx\n", 5) : NULL;
    if (idx != NULL) {
        put_idx(&s, idx + 5, nbytes - (size_t)(idx + 5 - bytes));
        nbytes = (size_t)(idx - bytes);
    }
    s.file = (mr__file){.fd = memfd_create("records", MFD_CLOEXEC), .nbytes = nbytes};
    FUZZ_REQUIRE(s.file.fd >= 0, "no memfd");
    FUZZ_REQUIRE(nbytes == 0 || write(s.file.fd, bytes, nbytes) == (ssize_t)nbytes, "writing to a memfd");
    snprintf(s.list, sizeof s.list, "/proc/self/fd/%d", s.file.fd);
    return s;
}

static void close_subject(const subject *s)
{
    char path[64];
    close(s->file.fd);
    if (s->folder[0] == '\0')
        return;
    snprintf(path, sizeof path, "%s/x.idx", s->folder);
    unlink(path);
    rmdir(s->folder);
}

static outcome scan_twice(const subject *s, mr_broken_policy broken)
{
    fuzz_heap first_heap = {.fill = 0x5a}, second_heap = {.fill = 0xc3};
    outcome first = scan_once(s, broken, &first_heap), second = scan_once(s, broken, &second_heap);
    require_same(&first, &second, "twice");
    FUZZ_REQUIRE(first_heap.peak_nbytes <= MEMORY_NBYTES(s->nbytes), "%llu bytes of memory for a file of %llu",
                 (unsigned long long)first_heap.peak_nbytes, (unsigned long long)s->nbytes);
    return first;
}

static void check_records(const mr__scanner *scanner, const uint8_t *bytes, size_t nbytes)
{
    subject s = open_subject(scanner, bytes, nbytes);
    scanner->probe("x", bytes, nbytes < 4096 ? nbytes : 4096, nbytes);
    outcome fail = scan_twice(&s, MR_BROKEN_FAIL), skip = scan_twice(&s, MR_BROKEN_SKIP);
    if (fail.result == 0)
        require_same(&fail, &skip, "one policy, and the other");
    else
        FUZZ_REQUIRE(skip.result != 0 || skip.problems != 0, "\"%s\" is no problem for MR_BROKEN_SKIP",
                     fail.detail.text);
    FUZZ_REQUIRE(fail.problems == 0, "a problem with MR_BROKEN_FAIL");
    close_subject(&s);
}

static void run_failing(const subject *s, const outcome *calm, uint64_t fail_at, bool fail_on)
{
    fuzz_heap heap = {.fill = 0xa5, .fail_at = fail_at, .fail_on = fail_on};
    outcome got = scan_once(s, MR_BROKEN_SKIP, &heap);
    if (got.result != MR_ENOMEM)
        require_same(&got, calm, "an allocation fails");
}

static void check_failing(const mr__scanner *scanner, const fuzz_setting *setting, const uint8_t *bytes, size_t nbytes)
{
    fuzz_draw draw = fuzz_draw_init(setting, bytes, nbytes);
    subject s = open_subject(scanner, bytes, nbytes);
    fuzz_heap heap = {.fill = 0};
    outcome calm = scan_once(&s, MR_BROKEN_SKIP, &heap);
    for (uint64_t i = 1; setting->every && i <= heap.calls; i++) {
        run_failing(&s, &calm, i, false);
        run_failing(&s, &calm, i, true);
    }
    for (int i = 0; i < 3; i++)
        run_failing(&s, &calm, 1 + fuzz_draw_u64(&draw) % (heap.calls + 1), fuzz_draw_below(&draw, 2) == 0);
    close_subject(&s);
}

#define CHECKS(name)                                                                                                   \
    void fuzz_check_##name(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)             \
    {                                                                                                                  \
        (void)setting, (void)form;                                                                                     \
        check_records(&mr__scanner_##name, bytes, nbytes);                                                             \
    }                                                                                                                  \
    void fuzz_check_##name##_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)   \
    {                                                                                                                  \
        (void)form;                                                                                                    \
        check_failing(&mr__scanner_##name, setting, bytes, nbytes);                                                    \
    }

CHECKS(tfrecord)
CHECKS(recordio)
CHECKS(list)
