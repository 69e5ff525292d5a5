// SPDX-License-Identifier: Apache-2.0
/* One block of a tar archive, and pax records. */
#include "test.h"

#include "dataset/tar_header.h"
#include "tar_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mr__tar_header parse(const tar_file *tar)
{
    mr__tar_header header;
    memset(&header, 0xa5, sizeof header);
    mr__tar_parse(tar->bytes, &header);
    return header;
}

static void assert_name(const mr__tar_header *header, const char *name)
{
    assert_int_equal(header->name_nbytes, strlen(name));
    assert_memory_equal(header->name, name, strlen(name));
}

static void types_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        char type;
        mr__tar_kind kind;
        bool has_payload;
    } cases[] = {
        {'0', MR__TAR_FILE, true},      {'\0', MR__TAR_FILE, true},      {'7', MR__TAR_FILE, true},
        {'1', MR__TAR_LINK, false},     {'2', MR__TAR_LINK, false},      {'3', MR__TAR_OTHER, false},
        {'4', MR__TAR_OTHER, false},    {'5', MR__TAR_OTHER, false},     {'6', MR__TAR_OTHER, false},
        {'S', MR__TAR_SPARSE, true},    {'M', MR__TAR_CONTINUED, true},  {'x', MR__TAR_PAX, true},
        {'X', MR__TAR_PAX, true},       {'g', MR__TAR_PAX_GLOBAL, true}, {'L', MR__TAR_LONG_NAME, true},
        {'K', MR__TAR_LONG_LINK, true}, {'V', MR__TAR_OTHER, true},      {'D', MR__TAR_OTHER, true},
        {'\xff', MR__TAR_OTHER, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tar_file tar = {NULL, 0};
        tar_header(&tar, "a.jpg", cases[i].type, 77);
        mr__tar_header header = parse(&tar);
        assert_int_equal(header.kind, cases[i].kind);
        assert_int_equal(header.has_payload, cases[i].has_payload);
        assert_int_equal(header.nbytes, cases[i].has_payload ? 77 : 0);
        assert_name(&header, "a.jpg");
        tar_free(&tar);
    }
}

static void a_slash_at_the_end_is_an_old_folder(void **state)
{
    (void)state;
    tar_file tar = {NULL, 0};
    tar_header(&tar, "folder/", '\0', 77);
    mr__tar_header header = parse(&tar);
    assert_int_equal(header.kind, MR__TAR_OTHER);
    assert_false(header.has_payload);
    tar_free(&tar);
}

static void zeros_are_the_end(void **state)
{
    (void)state;
    tar_file tar = {NULL, 0};
    tar_add_zeros(&tar, 512);
    assert_int_equal(parse(&tar).kind, MR__TAR_END);
    for (size_t i = 0; i < 512; i++) {
        tar.bytes[i] = 1;
        assert_int_equal(parse(&tar).kind, MR__TAR_BAD);
        tar.bytes[i] = 0;
    }
    tar_free(&tar);
}

static void set_size(tar_file *tar, const void *field)
{
    memcpy(tar->bytes + 124, field, 12);
    tar_sign(tar, 0);
}

static void sizes_are_octal_or_of_base_256(void **state)
{
    (void)state;
    static const struct {
        char field[13];
        bool good;
        uint64_t nbytes;
    } cases[] = {
        {"00000000017\0", true, 15},
        {"         17 ", true, 15},
        {"17\0\0\0\0\0\0\0\0\0\0", true, 15},
        {"\0\0\0\0\0\0\0\0\0\0\0\0", true, 0},
        {"            ", true, 0},
        {"777777777777", true, (UINT64_C(1) << 36) - 1},
        {"00000000018\0", false, 0},
        {"0000000001x\0", false, 0},
        {"-0000000001\0", false, 0},
        {"\x80\0\0\0\0\0\0\2\0\0\0\1", true, 0x200000001},
        {"\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff", true, INT64_MAX},
        {"\x80\0\0\0\x80\0\0\0\0\0\0\0", false, 0},
        {"\x80\0\0\1\0\0\0\0\0\0\0\0", false, 0},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", false, 0},
        {"\xff\0\0\0\0\0\0\0\0\0\0\0", false, 0},
    };
    tar_file tar = {NULL, 0};
    tar_header(&tar, "a", '0', 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set_size(&tar, cases[i].field);
        mr__tar_header header = parse(&tar);
        assert_int_equal(header.kind, cases[i].good ? MR__TAR_FILE : MR__TAR_BAD);
        assert_int_equal(header.no_size, !cases[i].good);
        if (cases[i].good)
            assert_int_equal(header.nbytes, cases[i].nbytes);
    }
    tar.bytes[156] = '5'; /* a folder has none, whatever it says */
    tar_sign(&tar, 0);
    assert_int_equal(parse(&tar).kind, MR__TAR_OTHER);
    tar_free(&tar);
}

static void both_sums_are_accepted(void **state)
{
    (void)state;
    tar_file tar = {NULL, 0};
    tar_header(&tar, "\xc3\xa4.jpg", '0', 0);
    assert_int_equal(parse(&tar).kind, MR__TAR_FILE);
    uint32_t sum = parse(&tar).checksum;
    snprintf((char *)tar.bytes + 148, 8, "%06o", sum - 512);
    assert_int_equal(parse(&tar).kind, MR__TAR_FILE);
    snprintf((char *)tar.bytes + 148, 8, "%06o", sum - 256);
    mr__tar_header header = parse(&tar);
    assert_int_equal(header.kind, MR__TAR_BAD);
    assert_int_equal(header.checksum, sum);
    assert_int_equal(header.stored_checksum, sum - 256);
    tar_free(&tar);
}

/* But for the checksum's own field, where a zero before the number may as well be a space, and anything behind it. */
static void every_flipped_bit_is_seen(void **state)
{
    (void)state;
    tar_file tar = {NULL, 0};
    tar_header(&tar, "folder/a.jpg", '0', 12345);
    for (size_t bit = 0; bit < 512 * 8; bit++) {
        tar.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        bool free = bit / 8 == 155 || (bit / 8 >= 148 && bit / 8 < 155 && strchr(" ", tar.bytes[bit / 8]) != NULL);
        if (!free)
            assert_int_equal(parse(&tar).kind, MR__TAR_BAD);
        tar.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    tar_free(&tar);
}

static void prefixes_are_those_of_ustar(void **state)
{
    (void)state;
    char name[101], prefix[156], whole[257];
    memset(name, 'n', 100);
    memset(prefix, 'p', 155);
    name[100] = prefix[155] = '\0';
    tar_file tar = {NULL, 0};
    tar_header(&tar, name, '0', 0);
    memcpy(tar.bytes + 345, prefix, 155);
    tar_sign(&tar, 0);
    mr__tar_header header = parse(&tar);
    snprintf(whole, sizeof whole, "%s/%s", prefix, name);
    assert_name(&header, whole);
    memcpy(tar.bytes + 508, "tar", 4); /* star: 131 bytes */
    tar_sign(&tar, 0);
    header = parse(&tar);
    snprintf(whole, sizeof whole, "%.131s/%s", prefix, name);
    assert_name(&header, whole);
    memcpy(tar.bytes + 257, "ustar  ", 8); /* GNU */
    tar_sign(&tar, 0);
    header = parse(&tar);
    assert_name(&header, name);
    memset(tar.bytes + 257, 0, 8); /* v7 */
    tar_sign(&tar, 0);
    header = parse(&tar);
    assert_name(&header, name);
    tar_free(&tar);
}

static const char *read_pax(const char *text, size_t nbytes, mr__tar_pax *pax, size_t *at)
{
    uint8_t *exact = malloc(nbytes != 0 ? nbytes : 1); /* a sanitizer sees the byte behind it */
    memcpy(exact, text, nbytes);
    *pax = (mr__tar_pax){.path = NULL};
    *at = 0;
    const char *problem = mr__tar_pax_read(exact, nbytes, pax, at);
    static char path[64];
    if (problem == NULL && pax->path != NULL) {
        snprintf(path, sizeof path, "%.*s", (int)pax->path_nbytes, pax->path);
        pax->path = path;
    }
    free(exact);
    return problem;
}

static void pax_records_are_read(void **state)
{
    (void)state;
    mr__tar_pax pax;
    size_t at;
    static const char good[] = "19 path=a=b/\xc3\xa4.jpg\n"
                               "20 size=12345678901\n"
                               "12 comment=\n"
                               "29 SCHILY.xattr.user.x=\n\0\1\n!\n";
    assert_null(read_pax(good, sizeof good - 1, &pax, &at));
    assert_string_equal(pax.path, "a=b/\xc3\xa4.jpg");
    assert_true(pax.has_size && !pax.sparse);
    assert_int_equal(pax.size, 12345678901);
    assert_null(read_pax("", 0, &pax, &at));
    assert_true(pax.path == NULL && !pax.has_size);
    assert_null(read_pax("8 path=\n8 size=\n\0\0\0", 19, &pax, &at));
    assert_true(pax.path == NULL && !pax.has_size);
    assert_null(read_pax("10 path=a\n10 path=b\n", 20, &pax, &at));
    assert_string_equal(pax.path, "b");
    assert_null(read_pax("22 GNU.sparse.major=1\n", 22, &pax, &at));
    assert_true(pax.sparse);
}

static void bad_pax_records_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *word;
        size_t at;
    } cases[] = {
        {"12 comment=\nx", "does not begin with its length", 12},
        {"9", "does not begin with its length", 0},
        {"99999999999999999999 path=a\n", "does not begin with its length", 0},
        {" 9 path=a\n", "does not begin with its length", 0},
        {"11 path=a\n", "longer than the header", 0},
        {"8 path=a\n\n", "does not end where", 0},
        {"0 path=a\n", "does not end where", 0},
        {"4 a=\n", "does not end where", 0},
        {"8 patha\n", "without a keyword", 0},
        {"7 =abc\n", "without a keyword", 0},
        {"11 size=1x\n", "no number", 0},
        {"11 size=-1\n", "no number", 0},
        {"28 size=9223372036854775808\n", "no number", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mr__tar_pax pax;
        size_t at;
        assert_contains(read_pax(cases[i].text, strlen(cases[i].text), &pax, &at), cases[i].word);
        assert_int_equal(at, cases[i].at);
    }
    mr__tar_pax pax;
    size_t at;
    assert_contains(read_pax("12 path=a\0b\n", 12, &pax, &at), "zero");
}

static void the_length_of_a_record_counts_itself(void **state)
{
    (void)state;
    for (size_t value = 0; value < 12000; value++) {
        size_t nbytes = mr__tar_record_nbytes(4, value);
        char digits[24];
        assert_int_equal(nbytes, (size_t)snprintf(digits, sizeof digits, "%zu", nbytes) + 7 + value);
    }
}

static void what_is_formatted_is_parsed(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {0, 1, 511, 512, (UINT64_C(1) << 33) - 1, UINT64_C(1) << 33, INT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint8_t block[512];
        mr__tar_header header;
        unsigned lacks = mr__tar_format(block, "folder/a.jpg", 12, sizes[i], '0');
        mr__tar_parse(block, &header);
        assert_int_equal(header.kind, MR__TAR_FILE);
        assert_name(&header, "folder/a.jpg");
        assert_int_equal(lacks, sizes[i] >> 33 != 0 ? MR__TAR_LACKS_SIZE : 0);
        assert_int_equal(header.nbytes, lacks != 0 ? 0 : sizes[i]);
    }
}

/* Every length of name with a slash at every place, or none. */
static void every_name_fits_or_lacks(void **state)
{
    (void)state;
    char name[270];
    for (size_t nbytes = 1; nbytes <= 262; nbytes++)
        for (size_t slash = 0; slash < nbytes; slash++) {
            uint8_t block[512];
            mr__tar_header header;
            for (size_t i = 0; i < nbytes; i++)
                name[i] = (char)('a' + i % 26);
            name[nbytes] = '\0';
            if (slash != 0)
                name[slash] = '/';
            bool fits =
                nbytes <= 100 || (slash != 0 && slash <= 155 && nbytes - slash - 1 <= 100 && nbytes - slash - 1 != 0);
            unsigned lacks = mr__tar_format(block, name, nbytes, 5, '0');
            mr__tar_parse(block, &header);
            assert_int_equal(header.kind, MR__TAR_FILE);
            assert_int_equal(lacks, fits ? 0 : MR__TAR_LACKS_PATH);
            if (fits)
                assert_name(&header, name);
            else
                assert_name(&header, name + nbytes - 100);
        }
}

static void names_beyond_ascii_lack(void **state)
{
    (void)state;
    uint8_t block[512];
    mr__tar_header header;
    assert_int_equal(mr__tar_format(block, "\xc3\xa4.jpg", 6, 5, '0'), MR__TAR_LACKS_PATH);
    mr__tar_parse(block, &header);
    assert_name(&header, "__.jpg");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_told_apart),        cmocka_unit_test(a_slash_at_the_end_is_an_old_folder),
        cmocka_unit_test(zeros_are_the_end),           cmocka_unit_test(sizes_are_octal_or_of_base_256),
        cmocka_unit_test(both_sums_are_accepted),      cmocka_unit_test(every_flipped_bit_is_seen),
        cmocka_unit_test(prefixes_are_those_of_ustar), cmocka_unit_test(pax_records_are_read),
        cmocka_unit_test(bad_pax_records_are_named),   cmocka_unit_test(the_length_of_a_record_counts_itself),
        cmocka_unit_test(what_is_formatted_is_parsed), cmocka_unit_test(every_name_fits_or_lacks),
        cmocka_unit_test(names_beyond_ascii_lack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
