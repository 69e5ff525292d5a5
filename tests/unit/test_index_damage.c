// SPDX-License-Identifier: Apache-2.0
/* Indexes that are damaged, cut, forged, or of another time. Copies are in memory of exactly their size: ASan sees what
 * is read beyond it, and guard_bytes elsewhere. */
#include "test.h"

#include "base/bytes.h"
#include "dataset/index_file.h"
#include "guard.h"
#include "index_make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const index_case everything = {
    .seed = 11,
    .samples = 7,
    .classes = 3,
    .folders = 3,
    .problems = 3,
    .layout = MR_LAYOUT_FOLDER,
    .members = true,
    .rows = true,
};

static uint8_t *copy_of(const void *bytes, size_t nbytes)
{
    uint8_t *copy = malloc(nbytes != 0 ? nbytes : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, nbytes);
    return copy;
}

/* A file in the heap, to be freed. */
static uint8_t *make(const index_case *of, size_t *nbytes)
{
    mr_hooks hooks;
    mr__index_build build;
    const uint8_t *bytes;
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    assert_int_equal(index_make(of, &hooks, &build, &bytes, nbytes), 0);
    uint8_t *copy = copy_of(bytes, *nbytes);
    mr__index_build_fini(&build);
    return copy;
}

/* Opens, reads all there is, checks. Any error must have words. */
static int use(const uint8_t *bytes, size_t nbytes, mr__detail *detail)
{
    mr__index index;
    memset(detail, 0, sizeof *detail);
    int error = mr__index_init(&index, bytes, nbytes, "used", detail);
    if (error == 0) {
        index_read_all(&index);
        error = mr__index_check(&index, "used", detail);
    }
    assert_int_equal(error == 0, detail->text[0] == '\0');
    mr__index_close(&index);
    return error;
}

static void every_flipped_bit_is_found(void **state)
{
    (void)state;
    mr__detail detail;
    size_t nbytes;
    uint8_t *bytes = make(&everything, &nbytes);
    mr__index open;
    assert_int_equal(use(bytes, nbytes, &detail), 0);
    assert_int_equal(mr__index_init(&open, bytes, nbytes, "open", &detail), 0);
    for (size_t bit = 0; bit < 8 * nbytes; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (use(bytes, nbytes, &detail) == 0)
            fail_msg("bit %zu of byte %zu is not seen", bit % 8, bit / 8);
        assert_contains(detail.text, "used: ");
        // And where it flips in an index that is open.
        index_read_all(&open);
        assert_true(mr__index_check(&open, "open", &detail) != 0);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    free(bytes);
}

/* With hashes that match, nothing stands between what is forged and who reads it. */
static void forged_bits_lead_nowhere(void **state)
{
    (void)state;
    mr__detail detail;
    size_t nbytes, taken = 0;
    uint8_t *bytes = make(&everything, &nbytes);
    for (size_t bit = 0; bit < 8 * nbytes; bit++) {
        uint8_t *forged = copy_of(bytes, nbytes);
        forged[bit / 8] ^= (uint8_t)(1u << bit % 8);
        index_seal(forged, nbytes);
        taken += use(forged, nbytes, &detail) == 0;
        free(forged);
    }
    assert_true(taken > 8 * 48 && taken < 8 * nbytes); // times, hashes, row indexes: some can be anything
    free(bytes);
}

/* Every 8 aligned bytes in turn become a large or a small number. */
static void forged_numbers_lead_nowhere(void **state)
{
    (void)state;
    static const uint64_t numbers[] = {
        0, 1, 7, 8, 63, 64, 255, 0xffffffff, UINT64_C(1) << 61, INT64_MAX, UINT64_MAX - 7, UINT64_MAX};
    mr__detail detail;
    size_t nbytes;
    uint8_t *bytes = make(&everything, &nbytes);
    for (size_t at = 8; at + 8 <= nbytes; at += 4)
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            uint8_t *forged = copy_of(bytes, nbytes);
            mr__store_le64(forged + at, numbers[i]);
            index_seal(forged, nbytes);
            use(forged, nbytes, &detail);
            free(forged);
        }
    free(bytes);
}

static void every_length_is_refused(void **state)
{
    (void)state;
    mr__detail detail;
    guard g;
    size_t nbytes;
    uint8_t *bytes = make(&everything, &nbytes);
    for (size_t n = 0; n < nbytes; n++) {
        const uint8_t *cut = guard_bytes(&g, bytes, n);
        assert_int_equal(use(cut, n, &detail), MR_ETRUNCATED);
        guard_free(&g);
    }
    uint8_t *more = calloc(1, nbytes + 1);
    memcpy(more, bytes, nbytes);
    assert_int_equal(use(more, nbytes + 1, &detail), MR_ECORRUPT);
    // Of a length that the head agrees with, and sections do not.
    for (size_t n = MR__INDEX_HEAD_NBYTES; n < nbytes; n++) {
        uint8_t *cut = copy_of(bytes, n);
        mr__store_le64(cut + 80, n);
        index_seal(cut, n);
        assert_int_equal(use(cut, n, &detail), MR_ECORRUPT);
        free(cut);
    }
    free(more);
    free(bytes);
}

static int with_number(const uint8_t *bytes, size_t nbytes, size_t at, uint8_t value, mr__detail *detail)
{
    uint8_t *forged = copy_of(bytes, nbytes);
    forged[at] = value;
    index_seal(forged, nbytes);
    int error = use(forged, nbytes, detail);
    free(forged);
    return error;
}

static void what_a_newer_millrace_wrote_is_refused_with_words(void **state)
{
    (void)state;
    mr__detail detail;
    size_t nbytes;
    uint8_t *bytes = make(&everything, &nbytes);
    assert_int_equal(with_number(bytes, nbytes, 8, 2, &detail), MR_EUNSUPPORTED);
    assert_contains(detail.text, "an index of version 2, and 1 is known: written by a newer Millrace");
    assert_int_equal(with_number(bytes, nbytes, 10, 8, &detail), MR_EUNSUPPORTED);
    assert_contains(detail.text, "layout 8");
    assert_int_equal(with_number(bytes, nbytes, 16, 4, &detail), MR_EUNSUPPORTED);
    assert_contains(detail.text, "features 4 that are not known: written by a newer Millrace");
    assert_int_equal(with_number(bytes, nbytes, 24, 4, &detail), 0); // ignorable
    assert_int_equal(with_number(bytes, nbytes, 119, 1, &detail), MR_EUNSUPPORTED);
    assert_contains(detail.text, "byte 119");
    assert_int_equal(with_number(bytes, nbytes, 36, 1, &detail), MR_ELIMIT);
    assert_contains(detail.text, "2^32 - 1");
    assert_int_equal(with_number(bytes, nbytes, 128 + 4, 2, &detail), MR_EUNSUPPORTED);
    assert_contains(detail.text, "flags 2");
    assert_int_equal(with_number(bytes, nbytes, 128 + 4, 1, &detail), MR_ECORRUPT);
    assert_contains(detail.text, "cannot be ignorable");
    assert_int_equal(with_number(bytes, nbytes, 12, 65, &detail), MR_ECORRUPT);
    free(bytes);
}

/* The last section, row indexes, becomes one that nobody knows. */
static void unknown_sections(void **state)
{
    (void)state;
    mr__detail detail;
    size_t nbytes;
    uint8_t *bytes = make(&everything, &nbytes);
    size_t last = MR__INDEX_HEAD_NBYTES + (size_t)(bytes[12] - 1) * MR__INDEX_ENTRY_NBYTES;
    assert_int_equal(bytes[last], MR__SECTION_ROW_INDEXES);
    assert_int_equal(with_number(bytes, nbytes, last, 11, &detail), 0);
    bytes[last] = 200;
    index_seal(bytes, nbytes);
    bytes[nbytes - 1] ^= 1;
    assert_int_equal(use(bytes, nbytes, &detail), MR_ECORRUPT);
    assert_contains(detail.text, "section 200 (unknown) of the index is damaged: its hash does not match");
    bytes[nbytes - 1] ^= 1;
    assert_int_equal(with_number(bytes, nbytes, last + 4, 0, &detail), MR_EUNSUPPORTED);
    assert_contains(detail.text, "section 200 of the index is not known, and needed: written by a newer Millrace");
    bytes[last] = MR__SECTION_FOLDERS; // a second time
    bytes[last + 4] = 0;
    index_seal(bytes, nbytes);
    assert_int_equal(use(bytes, nbytes, &detail), MR_ECORRUPT);
    assert_contains(detail.text, "section 9 of the index follows section 9");
    free(bytes);
}

static uint8_t *section_of(uint8_t *bytes, uint32_t number)
{
    for (uint8_t *entry = bytes + MR__INDEX_HEAD_NBYTES;; entry += MR__INDEX_ENTRY_NBYTES)
        if (mr__load_le32(entry) == number)
            return bytes + mr__load_le64(entry + 8);
}

/* The detail says where: the section, the sample's number and key. */
static void a_check_says_what_it_hit(void **state)
{
    (void)state;
    index_case of = {.seed = 4, .samples = 20, .layout = MR_LAYOUT_TAR, .members = true};
    mr__detail detail;
    size_t nbytes;
    char says[96];
    index_sample sample;
    static const struct {
        uint32_t section, at;
        uint8_t value;
        const char *says;
    } cases[] = {
        {MR__SECTION_RECORDS, 48 * 2 + 41, 7, "its state does not exist"},
        {MR__SECTION_RECORDS, 48 * 2 + 40, 7, "the kind of its label does not exist"},
        {MR__SECTION_RECORDS, 48 * 2 + 4, 1, "it lies beyond the end of the data"},
        {MR__SECTION_RECORDS, 48 * 2 + 47, 1, "bits are set that have no meaning"},
        {MR__SECTION_KEYS, 8 * 2 + 7, 1, "the place of its key is impossible"},
        {MR__SECTION_MEMBERS, 8 * 2 + 7, 1, "the number of its members is impossible"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t *bytes = make(&of, &nbytes);
        section_of(bytes, cases[i].section)[cases[i].at] = cases[i].value;
        index_seal(bytes, nbytes);
        assert_int_equal(use(bytes, nbytes, &detail), MR_ECORRUPT);
        assert_contains(detail.text, cases[i].says);
        snprintf(says, sizeof says, "used: section %u (%s) of the index is damaged", cases[i].section,
                 mr__section_name(cases[i].section));
        assert_contains(detail.text, says);
        free(bytes);
    }
    uint8_t *bytes = make(&of, &nbytes);
    section_of(bytes, MR__SECTION_RECORDS)[48 * 2 + 41] = 7;
    index_sample_make(&sample, &of, 2);
    snprintf(says, sizeof says, "sample 2, '%s'", sample.key);
    assert_int_equal(use(bytes, nbytes, &detail), MR_ECORRUPT);
    assert_contains(detail.text, says);
    free(bytes);
}

/* Changes 8 bytes of a section, seals it, and says what comes of it. */
static int with_change(const index_case *of, uint32_t section, size_t at, uint64_t value, mr__detail *detail)
{
    size_t nbytes;
    uint8_t *bytes = make(of, &nbytes);
    mr__store_le64(section_of(bytes, section) + at, value);
    index_seal(bytes, nbytes);
    int error = use(bytes, nbytes, detail);
    free(bytes);
    return error;
}

static void lists_begin_at_zero(void **state)
{
    (void)state;
    static const uint32_t lists[] = {MR__SECTION_KEYS, MR__SECTION_MEMBERS, MR__SECTION_NAMES, MR__SECTION_CLASSES,
                                     MR__SECTION_ROW_INDEXES};
    mr__detail detail;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        bool counted = lists[i] == MR__SECTION_NAMES || lists[i] == MR__SECTION_CLASSES;
        assert_int_equal(with_change(&everything, lists[i], counted ? 8 : 0, 1, &detail), MR_ECORRUPT);
        assert_contains(detail.text, "impossible length");
    }
}

/* A section may not have a byte more, though there is room behind it. */
static void sections_are_as_long_as_they_must_be(void **state)
{
    (void)state;
    mr__detail detail;
    size_t nbytes, tried = 0;
    uint8_t *bytes = make(&everything, &nbytes);
    for (uint32_t i = 0; i + 1 < bytes[12]; i++) {
        uint8_t *entry = bytes + MR__INDEX_HEAD_NBYTES + i * (size_t)MR__INDEX_ENTRY_NBYTES;
        uint64_t length = mr__load_le64(entry + 16);
        if (length % 64 == 0)
            continue;
        mr__store_le64(entry + 16, length + 1);
        index_seal(bytes, nbytes);
        assert_int_equal(use(bytes, nbytes, &detail), MR_ECORRUPT);
        assert_contains(detail.text, mr__section_name(mr__load_le32(entry)));
        mr__store_le64(entry + 16, length);
        tried++;
    }
    assert_true(tried > 5);
    free(bytes);
}

static void texts_end_with_their_zero(void **state)
{
    (void)state;
    mr__detail detail;
    size_t nbytes, length;
    const char *key;
    mr__index index;
    uint8_t *bytes = make(&everything, &nbytes);
    uint8_t *places = section_of(bytes, MR__SECTION_KEYS);
    places[8 * (everything.samples + 1) + mr__load_le64(places + 8) - 1] = 'x';
    index_seal(bytes, nbytes);
    assert_int_equal(mr__index_init(&index, bytes, nbytes, "open", &detail), 0);
    assert_false(mr__index_key(&index, 0, &key, &length));
    assert_true(mr__index_key(&index, 1, &key, &length));
    assert_int_equal(use(bytes, nbytes, &detail), MR_ECORRUPT);
    assert_contains(detail.text, "no zero ends it");
    free(bytes);
}

/* The first label whose values stand in the section is moved by a byte of it. */
static void labels_stand_one_after_the_other(void **state)
{
    (void)state;
    mr__detail detail;
    size_t nbytes;
    uint8_t *bytes = make(&everything, &nbytes);
    uint8_t *record = section_of(bytes, MR__SECTION_RECORDS);
    while (record[40] < MR_LABEL_INTS || mr__load_le64(record + 32) == 0)
        record += MR__INDEX_RECORD_NBYTES;
    uint64_t bits = mr__load_le64(record + 32);
    assert_true(bits >> 40 > 1);
    mr__store_le64(record + 32, bits - (UINT64_C(1) << 40) + 1);
    index_seal(bytes, nbytes);
    assert_int_equal(use(bytes, nbytes, &detail), MR_ECORRUPT);
    assert_contains(detail.text, "its label does not stand behind the one before it");
    free(bytes);
}

static void the_key_map_is_sorted(void **state)
{
    (void)state;
    mr__detail detail;
    size_t nbytes;
    uint8_t *bytes = make(&everything, &nbytes), entry[8];
    uint8_t *map = section_of(bytes, MR__SECTION_KEY_MAP);
    memcpy(entry, map + 8, 8);
    memcpy(map + 8, map + 16, 8);
    memcpy(map + 16, entry, 8);
    index_seal(bytes, nbytes);
    assert_int_equal(use(bytes, nbytes, &detail), MR_ECORRUPT);
    assert_contains(detail.text, "number 2: it is not above the one before it");
    memcpy(map + 16, map + 8, 8); // one twice, another not at all
    index_seal(bytes, nbytes);
    assert_int_equal(use(bytes, nbytes, &detail), MR_ECORRUPT);
    assert_contains(detail.text, "it is not above");
    free(bytes);
}

static void a_sample_has_at_most_256_members(void **state)
{
    (void)state;
    enum { EACH = 200 };
    mr_hooks hooks;
    mr__index_build build;
    mr__index index;
    mr__detail detail;
    const uint8_t *made;
    size_t nbytes;
    static mr__member members[EACH];
    for (int i = 0; i < EACH; i++)
        members[i] = (mr__member){.name = "a", .name_nbytes = 1};
    mr__draft draft = {.key = "k", .key_nbytes = 1, .members = members, .member_count = EACH};
    mr__index_head head = {.layout = MR_LAYOUT_TAR};
    assert_int_equal(mr__hooks_init(&hooks, NULL), 0);
    mr__index_build_init(&build, &hooks);
    assert_int_equal(mr__index_add(&build, &draft), 0);
    assert_int_equal(mr__index_add(&build, &draft), 0);
    assert_int_equal(mr__index_build_finish(&build, &head, &made, &nbytes), 0);
    uint8_t *bytes = copy_of(made, nbytes);
    mr__store_le64(section_of(bytes, MR__SECTION_MEMBERS) + 8, 0); // all 400 to the second
    index_seal(bytes, nbytes);
    assert_int_equal(mr__index_init(&index, bytes, nbytes, "open", &detail), 0);
    assert_int_equal(mr__index_member_count(&index, 1), 0);
    assert_false(mr__index_member(&index, 1, 0, &members[0]));
    assert_int_equal(use(bytes, nbytes, &detail), MR_ECORRUPT);
    assert_contains(detail.text, "the number of its members is impossible");
    mr__index_build_fini(&build);
    free(bytes);
}

static void a_fingerprint_is_that_of_the_samples(void **state)
{
    (void)state;
    mr__detail detail;
    size_t nbytes;
    uint8_t *bytes = make(&everything, &nbytes);
    bytes[88] ^= 1;
    index_seal(bytes, nbytes);
    assert_int_equal(use(bytes, nbytes, &detail), MR_ECORRUPT);
    assert_contains(detail.text, "another fingerprint");
    // It is the same whatever the times are, and another with any other length.
    section_of(bytes, MR__SECTION_RECORDS)[0] ^= 1;
    bytes[88] ^= 1;
    index_seal(bytes, nbytes);
    index_sample sample;
    index_sample_make(&sample, &everything, 0);
    assert_int_equal(sample.draft.record.state, MR_RECORD_PRESENT);
    assert_int_equal(use(bytes, nbytes, &detail), 0);
    section_of(bytes, MR__SECTION_RECORDS)[8] ^= 1;
    index_seal(bytes, nbytes);
    assert_int_equal(use(bytes, nbytes, &detail), MR_ECORRUPT);
    assert_contains(detail.text, "another fingerprint");
    free(bytes);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_flipped_bit_is_found),
        cmocka_unit_test(forged_bits_lead_nowhere),
        cmocka_unit_test(forged_numbers_lead_nowhere),
        cmocka_unit_test(every_length_is_refused),
        cmocka_unit_test(what_a_newer_millrace_wrote_is_refused_with_words),
        cmocka_unit_test(unknown_sections),
        cmocka_unit_test(a_check_says_what_it_hit),
        cmocka_unit_test(lists_begin_at_zero),
        cmocka_unit_test(sections_are_as_long_as_they_must_be),
        cmocka_unit_test(texts_end_with_their_zero),
        cmocka_unit_test(labels_stand_one_after_the_other),
        cmocka_unit_test(the_key_map_is_sorted),
        cmocka_unit_test(a_sample_has_at_most_256_members),
        cmocka_unit_test(a_fingerprint_is_that_of_the_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
