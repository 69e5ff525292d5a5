// SPDX-License-Identifier: Apache-2.0
/*
 * What must hold of a tar shard, whatever the bytes: scanning ends with an index or with an error and its detail; the
 * index is whole, keys differ, and every place in it lies within the shard; the same bytes give the same index,
 * whatever stood in new memory. What opens with MR_BROKEN_FAIL is the same with MR_BROKEN_SKIP; what does not has a
 * problem there.
 */
#define _GNU_SOURCE // memfd_create
#include "check.h"

#include "base/hash.h"
#include "dataset/scan.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Window and walk are constant; the rest grows with the shard: a sample has at least 1 KiB there. */
#define MEMORY_NBYTES(nbytes) ((UINT64_C(4) << 20) + 16 * (uint64_t)(nbytes))

typedef struct outcome {
    int result;
    mr__detail detail;
    uint64_t hash; /* of the index */
    uint64_t problems;
    uint64_t samples;
} outcome;

static void check_sample(const mr__index *index, uint64_t position, uint64_t nbytes)
{
    mr__record record;
    mr__member member;
    mr_label label;
    const char *key;
    size_t key_nbytes;
    uint64_t found;
    FUZZ_REQUIRE(mr__index_record(index, position, &record) && mr__index_label(index, position, &label) &&
                     mr__index_key(index, position, &key, &key_nbytes),
                 "sample %llu cannot be read", (unsigned long long)position);
    FUZZ_REQUIRE(record.offset <= nbytes && record.nbytes <= nbytes - record.offset, "an image outside the shard");
    FUZZ_REQUIRE(record.offset % 512 == 0 && record.offset >= 512, "an image at byte %llu",
                 (unsigned long long)record.offset);
    FUZZ_REQUIRE(key_nbytes != 0 && memchr(key, '\0', key_nbytes) == NULL, "a key with a zero, or of 0 bytes");
    FUZZ_REQUIRE(mr__index_find(index, key, key_nbytes, &found) && found == position, "a key that is not found");
    uint32_t members = mr__index_member_count(index, position);
    FUZZ_REQUIRE(members <= MR__MEMBER_MAX, "%u members", members);
    for (uint32_t i = 0; i < members; i++) {
        FUZZ_REQUIRE(mr__index_member(index, position, i, &member), "member %u cannot be read", i);
        FUZZ_REQUIRE(member.offset <= nbytes && member.nbytes <= nbytes - member.offset, "a member outside the shard");
        FUZZ_REQUIRE(member.name_nbytes != 0, "a member without a name");
    }
}

static void check_index(const uint8_t *bytes, size_t nbytes, uint64_t shard_nbytes, outcome *o)
{
    mr__index index;
    mr__detail detail = {""};
    FUZZ_REQUIRE(mr__index_init(&index, bytes, nbytes, "index", &detail) == 0, "%s", detail.text);
    FUZZ_REQUIRE(mr__index_check(&index, "index", &detail) == 0, "%s", detail.text);
    for (uint64_t i = 0; i < index.head.samples; i++)
        check_sample(&index, i, shard_nbytes);
    o->samples = index.head.samples;
    o->problems = mr__index_problem_count(&index);
    o->hash = mr__hash(bytes, nbytes);
    mr__index_close(&index);
}

static outcome scan_shard(const mr__file *file, mr_broken_policy broken, fuzz_heap *heap)
{
    outcome o = {.result = 0};
    mr_hooks given = fuzz_heap_hooks(heap), hooks;
    mr__index_build build;
    mr__index_head head = {.layout = MR_LAYOUT_TAR, .data_nbytes = file->nbytes};
    const uint8_t *bytes;
    size_t nbytes;
    FUZZ_REQUIRE(mr__hooks_init(&hooks, &given) == 0, "hooks");
    mr__index_build_init(&build, &hooks);
    mr__scan scan = {
        .hooks = &hooks, .detail = &o.detail, .path = "x.tar", .file = file, .broken = broken, .to = &build};
    o.result = mr__scanner_tar.scan(&scan);
    FUZZ_REQUIRE((o.result != 0) == (o.detail.text[0] != '\0'), "%s with the detail \"%s\"", mr_error_name(o.result),
                 o.detail.text);
    if (o.result == 0)
        o.result = mr__index_build_finish(&build, &head, &bytes, &nbytes);
    if (o.result == 0)
        check_index(bytes, nbytes, file->nbytes, &o);
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

static mr__file open_bytes(const uint8_t *bytes, size_t nbytes)
{
    mr__file file = {.fd = memfd_create("tar", MFD_CLOEXEC), .nbytes = nbytes};
    FUZZ_REQUIRE(file.fd >= 0, "no memfd");
    FUZZ_REQUIRE(nbytes == 0 || write(file.fd, bytes, nbytes) == (ssize_t)nbytes, "writing to a memfd");
    return file;
}

static outcome scan_twice(const mr__file *file, mr_broken_policy broken)
{
    fuzz_heap first_heap = {.fill = 0x5a}, second_heap = {.fill = 0xc3};
    outcome first = scan_shard(file, broken, &first_heap), second = scan_shard(file, broken, &second_heap);
    require_same(&first, &second, "twice");
    FUZZ_REQUIRE(first_heap.peak_nbytes <= MEMORY_NBYTES(file->nbytes), "%llu bytes of memory for a shard of %llu",
                 (unsigned long long)first_heap.peak_nbytes, (unsigned long long)file->nbytes);
    return first;
}

void fuzz_check_tar(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)
{
    (void)setting, (void)form;
    mr__file file = open_bytes(bytes, nbytes);
    mr__scanner_tar.probe("x", bytes, nbytes, nbytes);
    outcome fail = scan_twice(&file, MR_BROKEN_FAIL), skip = scan_twice(&file, MR_BROKEN_SKIP);
    if (fail.result == 0)
        require_same(&fail, &skip, "one policy, and the other");
    else
        FUZZ_REQUIRE(skip.result == fail.result || (skip.result == 0 && skip.problems != 0),
                     "%s \"%s\" is no problem for MR_BROKEN_SKIP: %s \"%s\"", mr_error_name(fail.result),
                     fail.detail.text, mr_error_name(skip.result), skip.detail.text);
    FUZZ_REQUIRE(fail.problems == 0, "a problem with MR_BROKEN_FAIL");
    close(file.fd);
}

static void run_failing(const mr__file *file, const outcome *calm, uint64_t fail_at, bool fail_on)
{
    fuzz_heap heap = {.fill = 0xa5, .fail_at = fail_at, .fail_on = fail_on};
    outcome got = scan_shard(file, MR_BROKEN_SKIP, &heap);
    if (got.result != MR_ENOMEM)
        require_same(&got, calm, "an allocation fails");
}

void fuzz_check_tar_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)
{
    (void)form;
    fuzz_draw draw = fuzz_draw_init(setting, bytes, nbytes);
    mr__file file = open_bytes(bytes, nbytes);
    fuzz_heap heap = {.fill = 0};
    outcome calm = scan_shard(&file, MR_BROKEN_SKIP, &heap);
    for (uint64_t i = 1; setting->every && i <= heap.calls; i++) {
        run_failing(&file, &calm, i, false);
        run_failing(&file, &calm, i, true);
    }
    for (int i = 0; i < 3; i++)
        run_failing(&file, &calm, 1 + fuzz_draw_u64(&draw) % (heap.calls + 1), fuzz_draw_below(&draw, 2) == 0);
    close(file.fd);
}
