// SPDX-License-Identifier: Apache-2.0
/* Tar shards into an index: which members make a sample, and what becomes of damage. */
#include "test.h"

#include "tar_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char jpeg[] = "\xff\xd8\xff\xe0 not much of a JPEG, but it begins like one";
static const char png[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR, and so on";

static size_t add_jpeg(tar_file *tar, const char *name)
{
    return tar_add(tar, name, '0', jpeg, sizeof jpeg - 1);
}

static size_t add_png(tar_file *tar, const char *name)
{
    return tar_add(tar, name, '0', png, sizeof png - 1);
}

/* Scans, and frees the archive. */
static void expect(tar_file *tar, mr_broken_policy broken, bool places, const char *expected)
{
    tar_scanned s = tar_scan(tar, broken);
    if (s.result != 0)
        fail_msg("%s", s.detail.text);
    char *text = tar_describe(&s.index, places);
    assert_string_equal(text, expected);
    free(text);
    tar_scanned_free(&s);
    tar_free(tar);
}

/* It fails so; with MR_BROKEN_SKIP, this comes out. Frees the archive. */
static void expect_broken(tar_file *tar, int code, const char *detail, const char *skipped)
{
    tar_scanned s = tar_scan(tar, MR_BROKEN_FAIL);
    assert_int_equal(s.result, code);
    assert_contains(s.detail.text, "test.tar: ");
    assert_contains(s.detail.text, detail);
    expect(tar, MR_BROKEN_SKIP, false, skipped);
}

static void members_of_one_key_are_a_sample(void **state)
{
    (void)state;
    tar_file tar = {NULL, 0};
    add_jpeg(&tar, "a/0001.jpg");
    tar_add_text(&tar, "a/0001.cls", "7");
    tar_add_text(&tar, "a/0001.json", "{}");
    tar_add_text(&tar, "b/0001.cls", "8\n");
    add_png(&tar, "b/0001.PNG");
    add_jpeg(&tar, "b/0002.jpg");
    tar_end(&tar);
    expect(&tar, MR_BROKEN_FAIL, true,
           "a/0001 jpeg 512+47 7 json@2560+2\n"
           "b/0001 png 4608+27 8\n"
           "b/0002 jpeg 5632+47\n");
}

static void names_are_taken_apart_at_the_first_dot(void **state)
{
    (void)state;
    tar_file tar = {NULL, 0};
    add_jpeg(&tar, "./x.y/k.left.JPG");
    add_jpeg(&tar, "./x.y/k.right.jpg");
    tar_add_text(&tar, "./x.y/k.Left.Txt", "t");
    expect(&tar, MR_BROKEN_FAIL, false, "./x.y/k jpeg +47 right.jpg@+47 left.txt@+1\n");
}

static void some_members_are_passed_over(void **state)
{
    (void)state;
    static const char *const names[] = {"README",   ".hidden.jpg", "._a.jpg", "a/._b.jpg", "a/.jpg", "x.y/noext",
                                        "__meta__", "__m__/x.jpg", "a.",      "__a.b__",   "folder/"};
    tar_file tar = {NULL, 0};
    add_jpeg(&tar, "a.jpg");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        tar_add_text(&tar, names[i], "passed over");
    tar_header(&tar, "dir", '5', 99);
    tar_header(&tar, "a.link", '2', 99);
    tar_header(&tar, "a.hard", '1', 99);
    tar_header(&tar, "a.fifo", '6', 0);
    tar_add(&tar, "a.label", 'V', "a volume label", 14);
    tar_add_text(&tar, "a.cls", "3");
    add_jpeg(&tar, "__a__.jpg");
    tar_end(&tar);
    expect(&tar, MR_BROKEN_FAIL, false, "a jpeg +47 3\n__a__ jpeg +47\n");
}

static size_t add_link(tar_file *tar, const char *name, char type, const char *to)
{
    size_t at = tar_header(tar, name, type, 0);
    memcpy(tar->bytes + at + 157, to, strlen(to));
    tar_sign(tar, at);
    return at;
}

static void links_to_images_are_told(void **state)
{
    (void)state;
    tar_file tar = {NULL, 0};
    add_jpeg(&tar, "a.jpg");
    add_link(&tar, "b.JPG", '1', "a.jpg");
    add_link(&tar, "c.left.png", '2', "../x\ty");
    add_link(&tar, "d.CLS", '2', "a.cls");
    add_link(&tar, "d.txt", '2', "a.txt"); /* and these in silence */
    add_link(&tar, "d.mask.png", '1', "a.mask.png");
    add_link(&tar, "d.a.name.of.some.length.up.to.its.mask.png", '1', "a.mask.png");
    add_link(&tar, ".hidden.jpg", '1', "a.jpg");
    add_link(&tar, "folder", '2', "a.jpg");
    add_jpeg(&tar, "e.jpg");
    expect_broken(&tar, MR_EUNSUPPORTED,
                  "b.JPG is a link to a.jpg: WebDataset has no links; write the tar with --hard-dereference; --broken",
                  "a jpeg +47\ne jpeg +47\n"
                  "! MR_EUNSUPPORTED b.JPG is a link to a.jpg: WebDataset has no links; write the tar with "
                  "--hard-dereference\n"
                  "! MR_EUNSUPPORTED c.left.png is a link to ../x?y: WebDataset has no links; write the tar with -h\n"
                  "! MR_EUNSUPPORTED d.CLS is a link to a.cls: WebDataset has no links; write the tar with -h\n");
    char name[160];
    memset(name, 'n', sizeof name);
    memcpy(name + 150, ".png", 5);
    tar_add(&tar, "././@LongLink", 'L', name, 155);
    memset(name, 'm', 100); /* a field that is full has no zero at its end */
    name[100] = '\0';
    add_link(&tar, "likeness", '1', name);
    tar_scanned s = tar_scan(&tar, MR_BROKEN_FAIL);
    assert_int_equal(s.result, MR_EUNSUPPORTED);
    assert_contains(s.detail.text, "nnn.png is a link to ...mmm");
    tar_free(&tar);
}

static void the_image_is_the_first_that_is_no_mask(void **state)
{
    (void)state;
    tar_file tar = {NULL, 0};
    add_png(&tar, "a.seg.png");
    add_png(&tar, "a.left.mask.png");
    add_png(&tar, "a.mask.webp");
    add_jpeg(&tar, "a.jpeg");
    add_png(&tar, "a.png");
    add_png(&tar, "b.bitmask.png"); /* not a mask by that name */
    add_png(&tar, "c.img.l3");      /* another form than its name says */
    tar_add_text(&tar, "d.ppm", "nothing");
    tar_add_text(&tar, "e.jpg", "");
    expect(&tar, MR_BROKEN_FAIL, false,
           "a jpeg +47 seg.png@+27 left.mask.png@+27 mask.webp@+27 png@+27\n"
           "b png +27\n"
           "c png +27\n"
           "d none +7\n"
           "e none +0\n");
}

static void labels_are_what_their_text_says(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *label;
    } cases[] = {
        {"0", " 0"},
        {" -12\r\n", " -12"},
        {"+007", " 7"},
        {"9223372036854775807", " 9223372036854775807"},
        {"-9223372036854775808", " -9223372036854775808"},
        {"9223372036854775808", " \"9223372036854775808\""},
        {"-99999999999999999999", " \"-99999999999999999999\""},
        {"1 +99999999999999999999", " \"1 +99999999999999999999\""},
        {"99999999999999999999.0", " 1e+20."},
        {"0.25", " 0.25."},
        {"-1e3\n", " -1000."},
        {"1 2 3", " 1,2,3"},
        {"1,2 , 3\t-4", " 1,2,3,-4"},
        {"1, 2.5", " 1.,2.5."},
        {"+1 2.5", " 1.,2.5."},
        {"cat", " \"cat\""},
        {"\n a cat\n", " \"a cat\""},
        {"", " \"\""},
        {" \n", " \"\""},
        {"1,", " \"1,\""},
        {",1", " \",1\""},
        {"1,,2", " \"1,,2\""},
        {"1 x", " \"1 x\""},
        {"nan", " \"nan\""},
        {"inf", " \"inf\""},
        {"1e999", " \"1e999\""},
        {"0x10", " \"0x10\""},
        {"1.", " \"1.\""},
        {".5", " \".5\""},
        {"1e", " \"1e\""},
        {"-", " \"-\""},
        {"[1, 2]", " \"[1, 2]\""},
        {"1.0000000000000000000000000000000000000000000000000000000000001", " 1."},
        {"1.00000000000000000000000000000000000000000000000000000000000000",
         " \"1.00000000000000000000000000000000000000000000000000000000000000\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[128];
        tar_file tar = {NULL, 0};
        add_jpeg(&tar, "a.jpg");
        tar_add_text(&tar, "a.cls", cases[i].text);
        snprintf(line, sizeof line, "a jpeg +47%s\n", cases[i].label);
        expect(&tar, MR_BROKEN_FAIL, false, line);
    }
    tar_file tar = {NULL, 0};
    add_jpeg(&tar, "a.jpg");
    tar_add(&tar, "a.cls", '0', "a\0b", 3);
    expect(&tar, MR_BROKEN_FAIL, false, "a jpeg +47 bytes(3)\n");
}

static void labels_have_a_limit(void **state)
{
    (void)state;
    char *text = malloc(65537);
    memset(text, 'x', 65537);
    tar_file tar = {NULL, 0};
    tar_add(&tar, "a.cls", '0', text, 65537);
    add_jpeg(&tar, "a.jpg");
    expect_broken(&tar, MR_ELIMIT, "the cls of sample \"a\" has 65537 bytes",
                  "a jpeg +47\n! MR_ELIMIT the cls of sample \"a\" has 65537 bytes: more than 65536\n");
    memset(text, '1', 65536);
    for (size_t i = 1; i < 65536; i += 2)
        text[i] = ' ';
    add_jpeg(&tar, "a.jpg");
    tar_add(&tar, "a.cls", '0', text, 65536);
    tar_scanned s = tar_scan(&tar, MR_BROKEN_FAIL);
    mr_label label;
    assert_int_equal(s.result, 0);
    assert_true(mr__index_label(&s.index, 0, &label));
    assert_int_equal(label.kind, MR_LABEL_INTS);
    assert_int_equal(label.count, 32768);
    tar_scanned_free(&s);
    tar_free(&tar);
    free(text);
}

static void a_sample_needs_an_image(void **state)
{
    (void)state;
    tar_file tar = {NULL, 0};
    add_jpeg(&tar, "a.jpg");
    tar_add_text(&tar, "b.cls", "1");
    add_png(&tar, "b.seg.png");
    add_jpeg(&tar, "c.jpg");
    expect_broken(&tar, MR_ECORRUPT, "sample \"b\" has no image, only \"cls\" and others",
                  "a jpeg +47\nc jpeg +47\n! MR_ECORRUPT sample \"b\" has no image, only \"cls\" and others\n");
}

/* The first stays; and one that was left out does not count as there. */
static void a_key_comes_once(void **state)
{
    (void)state;
    tar_file tar = {NULL, 0};
    tar_add_text(&tar, "b.txt", "no image");
    add_jpeg(&tar, "a.jpg");
    tar_add_text(&tar, "a.cls", "1");
    add_jpeg(&tar, "b.jpg");
    add_jpeg(&tar, "a.jpg");
    tar_add_text(&tar, "a.cls", "2");
    tar_scanned s = tar_scan(&tar, MR_BROKEN_SKIP);
    assert_int_equal(s.result, 0);
    char *text = tar_describe(&s.index, false);
    assert_contains(text, "a jpeg +47 1\nb jpeg +47\n! MR_ECORRUPT sample \"b\" has no image");
    assert_contains(text, "! MR_ECORRUPT the key \"a\" comes a second time");
    free(text);
    tar_scanned_free(&s);
    tar_free(&tar);
}

static void a_member_comes_once(void **state)
{
    (void)state;
    tar_file tar = {NULL, 0};
    add_jpeg(&tar, "a.jpg");
    tar_add_text(&tar, "a.json", "{}");
    tar_add_text(&tar, "a.cls", "1");
    tar_add_text(&tar, "a.CLS", "2");
    tar_add_text(&tar, "a.json", "{ }");
    add_png(&tar, "a.JPG");
    expect_broken(&tar, MR_ECORRUPT, "a second \"a.CLS\" before byte 3584",
                  "a jpeg +47 1 json@+2\n! MR_ECORRUPT a second \"a.CLS\" before byte 3584\n"
                  "! MR_ECORRUPT a second \"a.json\" before byte 4608\n"
                  "! MR_ECORRUPT a second \"a.JPG\" before byte 5632\n");
}

static void many_samples_are_one_pass(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    tar_file tar = {malloc((size_t)MANY * 1024), 0};
    for (int i = 0; i < MANY; i++) { /* every other one again */
        tar_file one = {NULL, 0};
        char name[32];
        snprintf(name, sizeof name, "%08d.jpg", i % (MANY / 2));
        add_jpeg(&one, name);
        memcpy(tar.bytes + tar.nbytes, one.bytes, one.nbytes);
        tar.nbytes += one.nbytes;
        tar_free(&one);
    }
    tar_scanned s = tar_scan(&tar, MR_BROKEN_SKIP);
    assert_int_equal(s.result, 0);
    assert_int_equal(s.index.head.samples, MANY / 2);
    assert_int_equal(mr__index_problem_count(&s.index), MANY / 2);
    tar_scanned_free(&s);
    tar_free(&tar);
}

static void members_have_a_limit(void **state)
{
    (void)state;
    tar_file tar = {NULL, 0};
    for (int i = 0; i < MR__MEMBER_MAX + 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "a.%d.txt", i);
        tar_add_text(&tar, name, "");
    }
    tar_add_text(&tar, "a.cls", "1");
    add_jpeg(&tar, "a.jpg");
    tar_add_text(&tar, "a.more.txt", "");
    tar_scanned s = tar_scan(&tar, MR_BROKEN_SKIP);
    assert_int_equal(s.result, 0);
    assert_int_equal(s.index.head.samples, 1);
    assert_int_equal(mr__index_member_count(&s.index, 0), MR__MEMBER_MAX);
    assert_int_equal(mr__index_problem_count(&s.index), 1);
    tar_scanned_free(&s);
    s = tar_scan(&tar, MR_BROKEN_FAIL);
    assert_int_equal(s.result, MR_ELIMIT);
    tar_free(&tar);
}

static void add_pax(tar_file *tar, char type, const char *records)
{
    tar_add(tar, "././@PaxHeader", type, records, strlen(records));
}

static void long_names_are_read(void **state)
{
    (void)state;
    char name[320], text[400];
    memset(name, 'n', sizeof name);
    memcpy(name + 300, ".jpg", 5);
    tar_file tar = {NULL, 0};
    tar_add(&tar, "././@LongLink", 'K', "somewhere", 10);
    tar_add(&tar, "././@LongLink", 'L', name, 305);
    add_jpeg(&tar, "likeness.jpg");
    add_pax(&tar, 'g', "15 comment=abc\n");
    snprintf(text, sizeof text, "28 mtime=1350244992.0239602\n314 path=%s\n", name);
    text[28 + 9 + 5] = 'm';
    add_pax(&tar, 'x', text);
    add_jpeg(&tar, "likeness.jpg");
    add_jpeg(&tar, "last.jpg");
    char expected[1000];
    snprintf(expected, sizeof expected, "%.300s jpeg +47\n%.5sm%.294s jpeg +47\nlast jpeg +47\n", name, name, name);
    expect(&tar, MR_BROKEN_FAIL, false, expected);
}

static void a_pax_size_counts(void **state)
{
    (void)state;
    tar_file tar = {NULL, 0};
    add_pax(&tar, 'x', "12 size=700\n");
    tar_header(&tar, "a.jpg", '0', 0);
    tar_add_zeros(&tar, 1024);
    add_jpeg(&tar, "b.jpg");
    expect(&tar, MR_BROKEN_FAIL, true, "a none 1536+700\nb jpeg 3072+47\n");
}

static void names_have_a_limit(void **state)
{
    (void)state;
    char name[4098];
    memset(name, 'n', sizeof name);
    memcpy(name + 4092, ".jpg", 5);
    tar_file tar = {NULL, 0};
    tar_add(&tar, "././@LongLink", 'L', name, 4097);
    add_jpeg(&tar, "likeness.jpg");
    tar_scanned s = tar_scan(&tar, MR_BROKEN_FAIL);
    assert_int_equal(s.result, 0);
    tar_scanned_free(&s);
    tar_free(&tar);
    memcpy(name + 4093, ".jpg", 5);
    add_jpeg(&tar, "a.jpg");
    add_jpeg(&tar, "b.jpg");
    tar_add(&tar, "././@LongLink", 'L', name, 4098);
    add_jpeg(&tar, "likeness.jpg");
    expect_broken(
        &tar, MR_ELIMIT, "a name of 4097 bytes at byte 2048, of at most 4096",
        "a jpeg +47\n! MR_ELIMIT a name of 4097 bytes at byte 2048, of at most 4096; the last 6144 bytes of the "
        "shard are left out, and sample \"b\"\n");
}

static void pax_headers_have_a_limit(void **state)
{
    (void)state;
    enum { MANY = (1 << 20) + 1 };
    char *zeros = calloc(1, MANY);
    tar_file tar = {NULL, 0};
    tar_add(&tar, "p", 'x', zeros, MANY - 1);
    add_jpeg(&tar, "a.jpg");
    expect(&tar, MR_BROKEN_FAIL, false, "a jpeg +47\n");
    tar_add(&tar, "p", 'x', zeros, MANY);
    add_jpeg(&tar, "a.jpg");
    expect_broken(&tar, MR_ELIMIT, "at byte 0 has 1048577 bytes, of at most 1048576",
                  "! MR_ELIMIT the pax header or long name at byte 0 has 1048577 bytes, of at most 1048576; the last "
                  "1050624 bytes of the shard are left out\n");
    free(zeros);
}

static void bad_pax_headers_lose_the_rest(void **state)
{
    (void)state;
    tar_file tar = {NULL, 0};
    add_jpeg(&tar, "a.jpg");
    add_pax(&tar, 'x', "12 comment=\n9 pathabc\n");
    add_jpeg(&tar, "b.jpg");
    expect_broken(
        &tar, MR_ECORRUPT, "damaged pax header at byte 1548: a record",
        "! MR_ECORRUPT damaged pax header at byte 1548: a record that does not end where its length says; the "
        "last 2048 bytes of the shard are left out, and sample \"a\"\n");
    add_pax(&tar, 'g', "10 path=a\n");
    add_jpeg(&tar, "b.jpg");
    expect_broken(
        &tar, MR_EUNSUPPORTED, "at byte 512 has a path or size for all members",
        "! MR_EUNSUPPORTED the pax header at byte 512 has a path or size for all members; the last 2048 bytes "
        "of the shard are left out\n");
}

static void sparse_files_are_refused(void **state)
{
    (void)state;
    tar_file tar = {NULL, 0};
    add_jpeg(&tar, "a.jpg");
    size_t at = tar_header(&tar, "b.jpg", 'S', 512);
    tar.bytes[at + 482] = 1;
    tar_sign(&tar, at);
    tar_add_zeros(&tar, 1024 + 512); /* two blocks of map, one of data */
    tar.bytes[at + 512 + 504] = 1;
    add_pax(&tar, 'x', "22 GNU.sparse.major=1\n");
    tar_add_text(&tar, "c.txt", "c");
    tar_add_text(&tar, "d.jpg", "d"); /* that header does not count for this one */
    tar_add(&tar, "e.jpg", 'M', "e", 1);
    expect_broken(
        &tar, MR_EUNSUPPORTED, "\"b.jpg\" at byte 1024 is stored with holes (sparse), which is not supported",
        "a jpeg +47\nd none +1\n"
        "! MR_EUNSUPPORTED \"b.jpg\" at byte 1024 is stored with holes (sparse), which is not supported\n"
        "! MR_EUNSUPPORTED \"c.txt\" at byte 4096 is stored with holes (sparse), which is not supported\n"
        "! MR_EUNSUPPORTED \"e.jpg\" at byte 6144 is continued from another volume, which is not supported\n");
    tar_header(&tar, "b.jpg", 'S', 0);
    tar.bytes[482] = 1;
    tar_sign(&tar, 0);
    expect_broken(&tar, MR_ETRUNCATED, "the shard ends in the map of the sparse file at byte 0",
                  "! MR_ETRUNCATED the shard ends in the map of the sparse file at byte 0; the last 512 bytes of the "
                  "shard are left out\n");
}

static void damage_names_its_byte(void **state)
{
    (void)state;
    tar_file tar = {NULL, 0};
    add_jpeg(&tar, "a.jpg");
    add_jpeg(&tar, "b.jpg");
    add_jpeg(&tar, "c.jpg");
    tar.bytes[2048 + 5]++;
    expect_broken(
        &tar, MR_ECORRUPT, "no tar header at byte 2048: its checksum would be 4409, and says 4408",
        "a jpeg +47\n! MR_ECORRUPT no tar header at byte 2048: its checksum would be 4409, and says 4408; the "
        "last 1024 bytes of the shard are left out, and sample \"b\"\n");
    add_jpeg(&tar, "a.jpg");
    size_t at = tar_header(&tar, "b.jpg", '0', 5);
    tar.bytes[at + 124] = 'x';
    tar_sign(&tar, at);
    tar_end(&tar);
    expect_broken(&tar, MR_ECORRUPT, "the tar header at byte 1024 has a size that is no number",
                  "! MR_ECORRUPT the tar header at byte 1024 has a size that is no number; the last 1536 bytes of the "
                  "shard are left out, and sample \"a\"\n");
    tar_add_zeros(&tar, 600);
    tar.bytes[0] = 'x';
    expect_broken(&tar, MR_EFORMAT, "not a tar archive",
                  "! MR_EFORMAT not a tar archive: the checksum of its first block "
                  "is 0, not 376; the last 600 bytes of the shard are left out\n");
    expect_broken(&tar, MR_ETRUNCATED, "an empty file",
                  "! MR_ETRUNCATED an empty file is no tar archive; the last 0 bytes of the shard are left out\n");
}

static void zeros_end_it(void **state)
{
    (void)state;
    tar_file tar = {NULL, 0};
    tar_end(&tar);
    expect(&tar, MR_BROKEN_FAIL, false, "");
    add_jpeg(&tar, "a.jpg");
    tar_add_zeros(&tar, 200001); /* more than is looked at together, and no whole block at the end */
    expect(&tar, MR_BROKEN_FAIL, false, "a jpeg +47\n");
}

/* A header that became zeros, two tars one behind the other: the rest is not lost in silence. */
static void something_behind_the_end_is_told(void **state)
{
    (void)state;
    tar_file tar = {NULL, 0};
    add_jpeg(&tar, "a.jpg");
    add_jpeg(&tar, "b.jpg");
    add_jpeg(&tar, "c.jpg");
    memset(tar.bytes + 2048, 0, 512);
    expect_broken(
        &tar, MR_ECORRUPT,
        "the tar ends at byte 2048, and 47 bytes behind that are not zero: were two tars joined (cat, tar "
        "-A)? tar -xi unpacks all of it; --broken=skip leaves it out",
        "a jpeg +47\n! MR_ECORRUPT the tar ends at byte 2048, and 47 bytes behind that are not zero: were two "
        "tars joined (cat, tar -A)? tar -xi unpacks all of it; the last 1024 bytes of the shard are left "
        "out, and sample \"b\"\n");
    for (size_t zeros = 1024; zeros < 200000; zeros += 65024) { /* also far behind it, to the last byte */
        add_jpeg(&tar, "a.jpg");
        tar_add_zeros(&tar, zeros);
        tar.bytes[tar.nbytes - 1] = 1;
        tar_scanned s = tar_scan(&tar, MR_BROKEN_FAIL);
        assert_int_equal(s.result, MR_ECORRUPT);
        assert_contains(s.detail.text, "the tar ends at byte 1024, and 1 bytes behind that are not zero");
        tar_free(&tar);
    }
}

/* Cut at every byte: whole blocks are taken as tar takes them, and with MR_BROKEN_SKIP all samples before it stay. */
static void every_cut_is_seen(void **state)
{
    (void)state;
    tar_file tar = {NULL, 0};
    add_jpeg(&tar, "a.jpg");
    tar_add_text(&tar, "a.cls", "1");
    add_jpeg(&tar, "b.jpg");
    tar_add_text(&tar, "b.cls", "2");
    size_t whole = tar.nbytes;
    tar_end(&tar);
    for (size_t nbytes = 1; nbytes <= tar.nbytes; nbytes++) {
        tar_file cut = {malloc(nbytes), nbytes};
        memcpy(cut.bytes, tar.bytes, nbytes);
        tar_scanned s = tar_scan(&cut, MR_BROKEN_FAIL);
        size_t in_member = nbytes % 1024, payload = nbytes / 1024 % 2 == 0 ? 47 : 1;
        bool good =
            nbytes >= whole ? nbytes >= whole + 512 || nbytes == whole : in_member == 0 || in_member >= 512 + payload;
        assert_int_equal(s.result, good ? 0 : MR_ETRUNCATED);
        tar_scanned_free(&s);
        s = tar_scan(&cut, MR_BROKEN_SKIP);
        assert_int_equal(s.result, 0);
        assert_int_equal(mr__index_problem_count(&s.index), !good);
        /* a sample counts once the next one is begun, or all was well to the end */
        size_t begun = nbytes >= 2048 + 512 + 47 ? 2 : nbytes >= 512 + 47;
        size_t samples = good ? begun : nbytes >= 2048 + 512 ? 1 : 0;
        if (s.index.head.samples != samples)
            fail_msg("cut at %zu: %llu samples, not %zu", nbytes, (unsigned long long)s.index.head.samples, samples);
        tar_scanned_free(&s);
        tar_free(&cut);
    }
    tar_free(&tar);
}

static void a_cut_payload_is_named(void **state)
{
    (void)state;
    tar_file tar = {NULL, 0};
    add_jpeg(&tar, "a.jpg");
    tar_header(&tar, "a.json", '0', 10000);
    tar_add_zeros(&tar, 700);
    expect_broken(&tar, MR_ETRUNCATED, "the shard ends in \"a.json\": 700 of its 10000 bytes are there, from byte 1536",
                  "! MR_ETRUNCATED the shard ends in \"a.json\": 700 of its 10000 bytes are there, from byte 1536; the "
                  "last 1212 bytes of the shard are left out, and sample \"a\"\n");
    tar_header(&tar, "a.jpg", '0', 0);
    memcpy(tar.bytes + 124, "\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff", 12);
    tar_sign(&tar, 0);
    expect_broken(
        &tar, MR_ETRUNCATED, "0 of its 9223372036854775807 bytes",
        "! MR_ETRUNCATED the shard ends in \"a.jpg\": 0 of its 9223372036854775807 bytes are there, from byte "
        "512; the last 512 bytes of the shard are left out\n");
}

static void compressed_shards_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t nbytes;
        const char *word;
    } cases[] = {
        {"\x1f\x8b\x08", 3, "compressed by gzip"},
        {"\x28\xb5\x2f\xfd", 4, "unpack it (unzstd)"},
        {"BZh9", 4, "bunzip2"},
        {"\xfd"
         "7zXZ\0",
         6, "unxz"},
        {"\x04\x22\x4d\x18", 4, "compressed by lz4"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t pad = 0; pad < 2000; pad += 1999)
            for (int broken = MR_BROKEN_FAIL; broken <= MR_BROKEN_SKIP; broken++) {
                tar_file tar = {NULL, 0};
                tar_add_zeros(&tar, cases[i].nbytes + pad);
                memcpy(tar.bytes, cases[i].bytes, cases[i].nbytes);
                tar_scanned s = tar_scan(&tar, (mr_broken_policy)broken);
                assert_int_equal(s.result, MR_EUNSUPPORTED);
                assert_contains(s.detail.text, cases[i].word);
                tar_free(&tar);
            }
}

static void hostile_names_do_not_reach_a_terminal(void **state)
{
    (void)state;
    char name[101];
    memset(name, 'n', 100);
    memcpy(name + 80, "\x1b[31m", 5);
    memcpy(name + 92, ".txt", 5);
    tar_file tar = {NULL, 0};
    tar_add_text(&tar, name, "");
    expect_broken(&tar, MR_ECORRUPT, "nnn?[31mnnn",
                  "! MR_ECORRUPT sample \"...nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
                  "nnnnnnnnnnnnnnnnnnnnnnnnnnn?[31mnnnnnnn\" has no image, only \"txt\"\n");
}

/* Nor do long names push out of a message what can be done. */
static void what_to_do_is_said_whatever_the_names(void **state)
{
    (void)state;
    test_folder folder;
    char path[512], name[201];
    tar_file tar = {NULL, 0};
    test_folder_init(&folder);
    memset(name, 'k', 90);
    memcpy(name + 90, ".txt", 5);
    add_jpeg(&tar, "a.jpg");
    tar_add_text(&tar, name, "");
    memset(name, 'n', 196);
    memcpy(name + 196, ".tar", 5);
    test_folder_write(&folder, name, tar.bytes, tar.nbytes);
    tar_scanned s = tar_scan_file(test_folder_path(&folder, name, path), MR_BROKEN_FAIL, NULL);
    assert_int_equal(s.result, MR_ECORRUPT);
    assert_contains(s.detail.text, "nnn.tar: sample \"...kkkkk");
    const char *end = strrchr(s.detail.text, ';');
    assert_non_null(end);
    assert_string_equal(end, "; --broken=skip leaves it out");
    tar_scanned_free(&s);
    tar_free(&tar);
    test_folder_fini(&folder);
}

static void probes(void **state)
{
    (void)state;
    tar_file tar = {NULL, 0};
    add_jpeg(&tar, "a.jpg");
    assert_true(mr__scanner_tar.probe("x", tar.bytes, tar.nbytes, tar.nbytes));
    assert_false(mr__scanner_tar.probe("x", tar.bytes, 511, tar.nbytes));
    assert_true(mr__scanner_tar.probe("x.tar", tar.bytes, 0, 0));
    assert_true(mr__scanner_tar.probe("x.TAR.GZ", tar.bytes, 3, 3));
    assert_false(mr__scanner_tar.probe(".tar", tar.bytes, 3, 3));
    assert_false(mr__scanner_tar.probe("x.jpg", tar.bytes + 512, 512, 512));
    tar.bytes[0]++;
    assert_false(mr__scanner_tar.probe("x", tar.bytes, tar.nbytes, tar.nbytes));
    memset(tar.bytes, 0, 512);
    assert_false(mr__scanner_tar.probe("x", tar.bytes, tar.nbytes, tar.nbytes));
    tar_free(&tar);
}

static void it_can_be_stopped(void **state)
{
    (void)state;
    mr_hooks hooks;
    mr__detail detail = {""};
    mr__index_build build;
    atomic_bool stop;
    atomic_init(&stop, true);
    mr__file file = MR__FILE_NONE;
    mr__hooks_init(&hooks, NULL);
    mr__index_build_init(&build, &hooks);
    mr__scan scan = {.hooks = &hooks, .detail = &detail, .path = "x.tar", .file = &file, .to = &build, .stop = &stop};
    assert_int_equal(mr__scanner_tar.scan(&scan), MR_ECLOSED);
    assert_string_equal(detail.text, "x.tar: stopped while it was scanned");
    atomic_store(&stop, false);
    file.nbytes = 5; /* and reading fails */
    assert_int_equal(mr__scanner_tar.scan(&scan), MR_EIO);
    mr__index_build_fini(&build);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_of_one_key_are_a_sample),
        cmocka_unit_test(names_are_taken_apart_at_the_first_dot),
        cmocka_unit_test(some_members_are_passed_over),
        cmocka_unit_test(links_to_images_are_told),
        cmocka_unit_test(the_image_is_the_first_that_is_no_mask),
        cmocka_unit_test(labels_are_what_their_text_says),
        cmocka_unit_test(labels_have_a_limit),
        cmocka_unit_test(a_sample_needs_an_image),
        cmocka_unit_test(a_key_comes_once),
        cmocka_unit_test(a_member_comes_once),
        cmocka_unit_test(many_samples_are_one_pass),
        cmocka_unit_test(members_have_a_limit),
        cmocka_unit_test(long_names_are_read),
        cmocka_unit_test(a_pax_size_counts),
        cmocka_unit_test(names_have_a_limit),
        cmocka_unit_test(pax_headers_have_a_limit),
        cmocka_unit_test(bad_pax_headers_lose_the_rest),
        cmocka_unit_test(sparse_files_are_refused),
        cmocka_unit_test(damage_names_its_byte),
        cmocka_unit_test(zeros_end_it),
        cmocka_unit_test(something_behind_the_end_is_told),
        cmocka_unit_test(every_cut_is_seen),
        cmocka_unit_test(a_cut_payload_is_named),
        cmocka_unit_test(compressed_shards_are_refused),
        cmocka_unit_test(hostile_names_do_not_reach_a_terminal),
        cmocka_unit_test(what_to_do_is_said_whatever_the_names),
        cmocka_unit_test(probes),
        cmocka_unit_test(it_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
