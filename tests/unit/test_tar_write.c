// SPDX-License-Identifier: Apache-2.0
/* The blocks that our shards have around payloads: read again by the scanner, byte by byte where it matters. */
#include "test.h"

#include "dataset/tar_write.h"
#include "tar_file.h"

#include <millrace/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mr_hooks hooks;

static int setup(void **state)
{
    (void)state;
    return mr__hooks_init(&hooks, NULL);
}

typedef struct shard {
    mr__buffer buffer;
    size_t used;
} shard;

/* Head, payload and padding. Returns where the payload begins. */
static size_t add(shard *s, const char *name, const char *text, size_t alignment)
{
    size_t nbytes = strlen(text);
    assert_int_equal(mr__tar_write_head(&s->buffer, &hooks, &s->used, s->used, name, strlen(name), nbytes, alignment),
                     0);
    size_t at = s->used;
    assert_int_equal(mr__buffer_grow(&s->buffer, &hooks, s->used, s->used + nbytes), 0);
    memcpy(s->buffer.bytes + at, text, nbytes);
    s->used += nbytes;
    assert_int_equal(mr__tar_write_padding(&s->buffer, &hooks, &s->used, nbytes), 0);
    assert_int_equal(s->used % 512, 0);
    return at;
}

static void expect(shard *s, const char *expected)
{
    assert_int_equal(mr__tar_write_end(&s->buffer, &hooks, &s->used), 0);
    tar_scanned scanned = tar_scan_bytes(s->buffer.bytes, s->used, MR_BROKEN_FAIL, NULL);
    if (scanned.result != 0)
        fail_msg("%s", scanned.detail.text);
    char *text = tar_describe(&scanned.index, true);
    assert_string_equal(text, expected);
    free(text);
    tar_scanned_free(&scanned);
    mr__buffer_fini(&s->buffer, &hooks);
}

static void plain_members_have_one_block(void **state)
{
    (void)state;
    shard s = {.used = 0};
    assert_int_equal(add(&s, "a.jpg", "P5 1 1 1\nx", 0), 512);
    assert_int_equal(add(&s, "a.cls", "-3", 0), 1536);
    expect(&s, "a pnm 512+10 -3\n");
}

/* What a member of ours is, to the byte: mode, owner, time, no names, magic, checksum. */
static void the_header_is_this(void **state)
{
    (void)state;
    shard s = {.used = 0};
    add(&s, "a.jpg", "12345", 0);
    static const char fields[] = "0000644\0"
                                 "0000000\0"
                                 "0000000\0"
                                 "00000000005\0"
                                 "00000000000\0"
                                 "010122\0 0";
    assert_string_equal((char *)s.buffer.bytes, "a.jpg");
    assert_memory_equal(s.buffer.bytes + 100, fields, 157 - 100);
    assert_memory_equal(s.buffer.bytes + 257, "ustar\00000", 8);
    for (size_t i = 157; i < 257; i++)
        assert_int_equal(s.buffer.bytes[i], 0);
    for (size_t i = 265; i < 512; i++)
        assert_int_equal(s.buffer.bytes[i], i >= 329 && i < 345 && i != 336 && i != 344 ? '0' : 0);
    mr__buffer_fini(&s.buffer, &hooks);
}

/* Each position within an alignment, each kind of name: the payload is aligned, in as few blocks as there can be. */
static void payloads_are_aligned(void **state)
{
    (void)state;
    char name[4097];
    for (size_t position = 0; position < 8192; position += 512)
        for (size_t length = 5; length <= 4096; length += length < 1200 ? 1 : 97) {
            memset(name, 'n', sizeof name);
            memcpy(name + length - 4, ".jpg", 5);
            mr__buffer buffer = {NULL, 0};
            size_t used = 7; /* what is there already stays */
            assert_int_equal(mr__buffer_reserve(&buffer, &hooks, used), 0);
            memcpy(buffer.bytes, "already", 7);
            assert_int_equal(mr__tar_write_head(&buffer, &hooks, &used, position, name, length, 1, 4096), 0);
            assert_memory_equal(buffer.bytes, "already", 7);
            size_t nbytes = used - 7, record = length > 100 ? mr__tar_record_nbytes(4, length) : 0;
            assert_int_equal((position + nbytes) % 4096, 0);
            bool plain = record == 0 && (position + 512) % 4096 == 0;
            assert_true(plain ? nbytes == 512 : nbytes >= 1536 + (record > 512 ? (record - 1) / 512 * 512 : 0));
            assert_true(nbytes <= 1024 + record + 12 + 4096 + 512);
            mr__buffer_fini(&buffer, &hooks);
        }
}

static void names_and_comments_share_a_header(void **state)
{
    (void)state;
    char name[300], expected[600];
    memset(name, 'n', sizeof name);
    memcpy(name + 290, ".jpg", 5);
    shard s = {.used = 0};
    assert_int_equal(add(&s, name, "one", 4096), 4096);
    assert_int_equal(add(&s, "b.jpg", "two", 4096), 8192);
    assert_int_equal(add(&s, "\xc3\xa4.jpg", "three", 4096), 12288);
    assert_int_equal(add(&s, "\xff.jpg", "four", 0), 12288 + 512 + 1536);
    assert_int_equal(add(&s, "\xff.cls", "4", 4096), 16384);
    int kinds[256] = {0};
    for (size_t at = 0; at < s.used;) {
        mr__tar_header header;
        mr__tar_parse(s.buffer.bytes + at, &header);
        kinds[header.kind]++;
        at += 512 + mr__tar_round(header.nbytes);
    }
    assert_int_equal(kinds[MR__TAR_FILE], 5);
    assert_int_equal(kinds[MR__TAR_PAX], 5);
    snprintf(expected, sizeof expected,
             "%.290s none 4096+3\nb none 8192+3\n\xc3\xa4 none 12288+5\n\xff none 14336+4 4\n", name);
    expect(&s, expected);
}

/* A record of 501 to 511 bytes leaves no room for a comment in its block. */
static void a_comment_that_does_not_fit_takes_a_round_more(void **state)
{
    (void)state;
    char name[600];
    memset(name, 'n', sizeof name);
    for (size_t record = 490; record <= 530; record++) {
        mr__buffer buffer = {NULL, 0};
        size_t used = 0, length = record - 10; /* "NNN path=" and the line end */
        assert_int_equal(mr__tar_record_nbytes(4, length), record);
        assert_int_equal(mr__tar_write_head(&buffer, &hooks, &used, 4096 - 1536, name, length, 1, 4096), 0);
        assert_int_equal(used, record <= 500 || record == 512 ? 1536 : 1536 + 4096);
        mr__tar_pax pax = {.path = NULL};
        size_t at;
        assert_null(mr__tar_pax_read(buffer.bytes + 512, used - 1024, &pax, &at));
        assert_int_equal(pax.path_nbytes, length);
        mr__buffer_fini(&buffer, &hooks);
    }
}

static void sizes_from_8_gib_on_have_a_record(void **state)
{
    (void)state;
    for (int large = 0; large < 2; large++)
        for (size_t alignment = 0; alignment <= 4096; alignment += 4096) {
            mr__buffer buffer = {NULL, 0};
            size_t used = 0, at;
            uint64_t nbytes = (UINT64_C(1) << 33) - 1 + (uint64_t)large;
            assert_int_equal(mr__tar_write_head(&buffer, &hooks, &used, 3584, "a.jpg", 5, nbytes, alignment), 0);
            mr__tar_pax pax = {.path = NULL};
            if (large) {
                assert_int_equal(used, alignment == 0 ? 1536 : 512 + 4096);
                assert_null(mr__tar_pax_read(buffer.bytes + 512, used - 1024, &pax, &at));
                assert_true(pax.has_size && pax.path == NULL);
                assert_int_equal(pax.size, nbytes);
            } else {
                assert_int_equal(used, 512);
            }
            mr__buffer_fini(&buffer, &hooks);
        }
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    char name[4097];
    memset(name, 'n', sizeof name);
    static const struct {
        uint64_t position;
        size_t name_nbytes;
        uint64_t nbytes;
        size_t alignment;
    } cases[] = {
        {0, 0, 1, 0},   {0, 4097, 1, 0}, {1, 3, 1, 0},          {511, 3, 1, 0},      {0, 3, 1, 1},
        {0, 3, 1, 256}, {0, 3, 1, 1536}, {0, 3, UINT64_MAX, 0}, {0, 3, 1, 1u << 20},
    };
    mr__buffer buffer = {NULL, 0};
    size_t used = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(mr__tar_write_head(&buffer, &hooks, &used, cases[i].position, name, cases[i].name_nbytes,
                                            cases[i].nbytes, cases[i].alignment),
                         MR_EARGUMENT);
    assert_int_equal(mr__tar_write_head(&buffer, &hooks, &used, 0, "a\0b", 3, 1, 0), MR_EARGUMENT);
    assert_int_equal(used, 0);
    mr__buffer_fini(&buffer, &hooks);
}

static void padding_goes_to_the_next_block(void **state)
{
    (void)state;
    for (uint64_t nbytes = 0; nbytes < 1100; nbytes++) {
        mr__buffer buffer = {NULL, 0};
        size_t used = 0;
        assert_int_equal(mr__tar_write_padding(&buffer, &hooks, &used, nbytes), 0);
        assert_int_equal((nbytes + used) % 512, 0);
        assert_true(used < 512);
        mr__buffer_fini(&buffer, &hooks);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_members_have_one_block),
        cmocka_unit_test(the_header_is_this),
        cmocka_unit_test(payloads_are_aligned),
        cmocka_unit_test(names_and_comments_share_a_header),
        cmocka_unit_test(a_comment_that_does_not_fit_takes_a_round_more),
        cmocka_unit_test(sizes_from_8_gib_on_have_a_record),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(padding_goes_to_the_next_block),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
