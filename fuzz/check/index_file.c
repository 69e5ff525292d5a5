// SPDX-License-Identifier: Apache-2.0
/*
 * What must hold of an index file (src/dataset/index.h), whatever the bytes:
 * 1. It opens, or there is an error with its words.
 * 2. When it is open, everything that is read of it lies inside of it.
 * 3. What mr__index_check takes can be read without an exception, and comes out byte for byte when it is built again.
 * All of it twice: of the bytes, and of a copy in which lengths, places and hashes are made right, so that nothing
 * stands between what is forged and who reads it.
 */
#include "check.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "dataset/index.h"

#include <string.h>

enum { MOST = 4096, HASH_AT = 120, PROBLEM_MOST = 500 /* bytes of text that a build keeps */ };

/* Where this lies inside of the index; `zero`: with a zero behind it that is inside, too. */
static void require_inside(const mr__index *index, const void *at, size_t nbytes, bool zero)
{
    const uint8_t *bytes = at, *end = index->bytes + index->nbytes;
    FUZZ_REQUIRE(bytes >= index->bytes && bytes <= end && nbytes <= (size_t)(end - bytes), "%zu bytes outside", nbytes);
    FUZZ_REQUIRE(!zero || (bytes + nbytes < end && bytes[nbytes] == 0), "no zero behind %zu bytes", nbytes);
}

/* Everything of a sample; what is damaged counts as a fault. */
typedef struct reading {
    mr__draft draft;
    mr__member members[MR__MEMBER_MAX];
    int faults;
} reading;

static void read_sample(const mr__index *index, uint64_t position, reading *to)
{
    mr__draft *draft = &to->draft;
    uint64_t found;
    *draft = (mr__draft){.members = to->members, .member_count = mr__index_member_count(index, position)};
    to->faults = !mr__index_record(index, position, &draft->record);
    if (!mr__index_label(index, position, &draft->label))
        to->faults++;
    else if (draft->label.count != 0)
        require_inside(index, draft->label.values, draft->label.count * (draft->label.kind <= MR_LABEL_FLOATS ? 8 : 1),
                       false);
    if (!mr__index_row_index(index, position, &draft->row_index, &draft->row_index_nbytes))
        to->faults++;
    else if (draft->row_index_nbytes != 0)
        require_inside(index, draft->row_index, draft->row_index_nbytes, false);
    if (!mr__index_key(index, position, &draft->key, &draft->key_nbytes)) {
        to->faults++;
    } else {
        require_inside(index, draft->key, draft->key_nbytes, true);
        if (!mr__index_find(index, draft->key, draft->key_nbytes, &found) || found > position)
            to->faults++; // of two equal keys the first is found
    }
    FUZZ_REQUIRE(draft->member_count <= MR__MEMBER_MAX, "%zu members", draft->member_count);
    for (uint32_t i = 0; i < draft->member_count; i++) {
        if (mr__index_member(index, position, i, &to->members[i]))
            require_inside(index, to->members[i].name, to->members[i].name_nbytes, true);
        else
            to->faults++;
    }
}

/* Reads all there is, or a part of what a damaged file says it has; returns how much of it is damaged. */
static int read_all(const mr__index *index)
{
    static reading r;
    const char *text;
    size_t nbytes;
    int64_t mtime_ns;
    uint32_t position;
    int code, faults = 0;
    for (uint64_t i = 0; i < index->head.samples && i < MOST; i++) {
        read_sample(index, i, &r);
        faults += r.faults;
    }
    read_sample(index, index->head.samples, &r);
    FUZZ_REQUIRE(r.faults >= 4, "there is a sample behind the last");
    for (uint64_t i = 0; i < mr__index_class_count(index) && i < MOST; i++) {
        if (mr__index_class(index, i, &text, &nbytes))
            require_inside(index, text, nbytes, true);
        else
            faults++;
    }
    for (uint64_t i = 0; i < mr__index_folder_count(index) && i < MOST; i++) {
        if (mr__index_folder(index, i, &text, &mtime_ns))
            require_inside(index, text, strlen(text), true);
        else
            faults++;
    }
    for (uint64_t i = 0; i < mr__index_problem_count(index) && i < MOST; i++) {
        if (mr__index_problem(index, i, &position, &code, &text))
            require_inside(index, text, strlen(text), true);
        else
            faults++;
    }
    require_inside(index, mr__index_key_map(index), (size_t)index->head.samples * 8, false);
    return faults;
}

/* Adds to a build what an index has. */
static int add_all(mr__index_build *build, const mr__index *index)
{
    static reading r;
    const char *text = NULL;
    size_t nbytes = 0;
    int64_t mtime_ns = 0;
    uint32_t position = 0;
    int code = 0, error = 0;
    for (uint64_t i = 0; i < index->head.samples && error == 0; i++) {
        read_sample(index, i, &r);
        error = mr__index_add(build, &r.draft);
    }
    for (uint64_t i = 0; i < mr__index_class_count(index) && error == 0; i++) {
        mr__index_class(index, i, &text, &nbytes);
        error = mr__index_add_class(build, text, nbytes);
    }
    for (uint64_t i = 0; i < mr__index_folder_count(index) && error == 0; i++) {
        mr__index_folder(index, i, &text, &mtime_ns);
        error = mr__index_add_folder(build, text, mtime_ns);
    }
    for (uint64_t i = 0; i < mr__index_problem_count(index) && error == 0; i++) {
        mr__index_problem(index, i, &position, &code, &text);
        error = mr__index_add_problem(build, position, code, "%s", text);
    }
    return error;
}

/* Whether a build cannot make it: sections and features that are not known, a text that is cut, a name twice. */
static bool is_foreign(const mr__index *index)
{
    uint32_t sections = mr__load_le32(index->bytes + 12), known = 0, position;
    const char *text;
    int code;
    for (int i = 1; i <= MR__INDEX_KNOWN; i++)
        known += index->sections[i].bytes != NULL;
    if (known != sections || index->head.ignorable != 0)
        return true;
    for (uint64_t i = 0; mr__index_problem(index, i, &position, &code, &text); i++)
        if (strlen(text) > PROBLEM_MOST)
            return true;
    return false;
}

/* Builds it again from what is read of it. */
static int rebuild(const mr__index *index, fuzz_heap *heap, uint64_t *names)
{
    mr_hooks given = fuzz_heap_hooks(heap), hooks;
    mr__index_build build;
    mr__index_head head = index->head;
    const uint8_t *bytes = NULL;
    size_t nbytes = 0;
    FUZZ_REQUIRE(mr__hooks_init(&hooks, &given) == 0, "hooks");
    mr__index_build_init(&build, &hooks);
    int error = add_all(&build, index);
    *names = build.names;
    if (error == 0)
        error = mr__index_build_finish(&build, &head, &bytes, &nbytes);
    if (error == 0 && build.names == index->sections[6].count)
        FUZZ_REQUIRE(nbytes == index->nbytes && memcmp(bytes, index->bytes, nbytes) == 0, "built again it is another");
    mr__index_build_fini(&build);
    FUZZ_REQUIRE(heap->blocks == 0, "%lld blocks are left", (long long)heap->blocks);
    return error;
}

/* 1 to 3; true where it is whole, and a build can make it. */
static bool check_bytes(const uint8_t *bytes, size_t nbytes, mr__index *index)
{
    mr__detail detail = {""};
    int error = mr__index_init(index, bytes, nbytes, "x.mrx", &detail);
    FUZZ_REQUIRE((error == 0) == (detail.text[0] == '\0'), "%s with '%s'", mr_error_name(error), detail.text);
    FUZZ_REQUIRE(error == 0 || error == MR_EFORMAT || error == MR_ETRUNCATED || error == MR_ECORRUPT ||
                     error == MR_EUNSUPPORTED || error == MR_ELIMIT,
                 "%s", mr_error_name(error));
    if (error != 0)
        return false;
    int faults = read_all(index);
    error = mr__index_check(index, "x.mrx", &detail);
    FUZZ_REQUIRE((error == 0) == (detail.text[0] == '\0'), "%s with '%s'", mr_error_name(error), detail.text);
    FUZZ_REQUIRE(error == 0 || error == MR_ECORRUPT, "%s", mr_error_name(error));
    FUZZ_REQUIRE(error != 0 || faults == 0, "what passed the check has %d faults", faults);
    return error == 0 && !is_foreign(index);
}

/* Lengths that add up to the file, the places that follow from them, and the hashes of it all. */
static void mend(uint8_t *bytes, size_t nbytes)
{
    uint32_t sections = nbytes < MR__INDEX_HEAD_NBYTES ? 0 : mr__load_le32(bytes + 12);
    size_t end = MR__INDEX_HEAD_NBYTES + sections * (size_t)MR__INDEX_ENTRY_NBYTES;
    if (sections == 0 || sections > MR__INDEX_SECTION_MAX || end > nbytes)
        return;
    mr__store_le64(bytes + 80, nbytes);
    for (uint32_t i = 0; i < sections; i++) {
        uint8_t *entry = bytes + MR__INDEX_HEAD_NBYTES + i * (size_t)MR__INDEX_ENTRY_NBYTES;
        uint64_t length = mr__load_le64(entry + 16);
        end += (0 - end) % 64;
        if (end > nbytes)
            return;
        if (length > nbytes - end || i + 1 == sections)
            length = nbytes - end;
        mr__store_le64(entry + 8, end);
        mr__store_le64(entry + 16, length);
        mr__store_le64(entry + 24, mr__hash(bytes + end, (size_t)length));
        end += (size_t)length;
    }
    mr__hasher hasher;
    mr__hasher_init(&hasher);
    mr__hasher_add(&hasher, bytes, HASH_AT);
    mr__hasher_add(&hasher, bytes + MR__INDEX_HEAD_NBYTES, sections * (size_t)MR__INDEX_ENTRY_NBYTES);
    mr__store_le64(bytes + HASH_AT, mr__hasher_value(&hasher));
}

/* So that a check of contents is reached as well: the fingerprint that the samples have. */
static void mend_fingerprint(uint8_t *bytes, size_t nbytes)
{
    mr__index index;
    mr__detail detail;
    uint64_t fingerprint;
    if (mr__index_init(&index, bytes, nbytes, "x.mrx", &detail) != 0 || !mr__index_fingerprint(&index, &fingerprint))
        return;
    mr__store_le64(bytes + 88, fingerprint);
    mend(bytes, nbytes);
}

/* A copy of its very size, for the sanitizer to see what is read behind it. */
static uint8_t *copy_mended(const uint8_t *bytes, size_t nbytes)
{
    uint8_t *copy = malloc(nbytes != 0 ? nbytes : 1);
    FUZZ_REQUIRE(copy != NULL, "no memory");
    if (nbytes != 0)
        memcpy(copy, bytes, nbytes);
    mend(copy, nbytes);
    mend_fingerprint(copy, nbytes);
    return copy;
}

void fuzz_check_index_file(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)
{
    (void)setting;
    (void)form;
    mr__index index;
    uint8_t *mended = copy_mended(bytes, nbytes);
    const uint8_t *both[] = {bytes, mended};
    for (int i = 0; i < 2; i++) {
        fuzz_heap heap = {.fill = 0x5a};
        uint64_t names;
        if (check_bytes(both[i], nbytes, &index))
            FUZZ_REQUIRE(rebuild(&index, &heap, &names) == 0, "it cannot be built again");
    }
    free(mended);
}

void fuzz_check_index_file_failing(const fuzz_setting *setting, mr_form form, const uint8_t *bytes, size_t nbytes)
{
    (void)form;
    mr__index index;
    uint64_t names;
    fuzz_draw draw = fuzz_draw_init(setting, bytes, nbytes);
    uint8_t *mended = copy_mended(bytes, nbytes);
    if (check_bytes(mended, nbytes, &index)) {
        fuzz_heap calm = {.fill = 0x5a};
        FUZZ_REQUIRE(rebuild(&index, &calm, &names) == 0, "it cannot be built again");
        uint64_t each = setting->every ? calm.calls : 3;
        for (uint64_t i = 1; i <= each; i++) {
            fuzz_heap heap = {.fill = 0xa5, .fail_on = fuzz_draw_below(&draw, 2) == 0};
            heap.fail_at = setting->every ? i : 1 + fuzz_draw_u64(&draw) % calm.calls;
            int error = rebuild(&index, &heap, &names);
            FUZZ_REQUIRE(error == MR_ENOMEM, "allocation %llu fails: %s", (unsigned long long)heap.fail_at,
                         mr_error_name(error));
        }
    }
    free(mended);
}
