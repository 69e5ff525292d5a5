// SPDX-License-Identifier: Apache-2.0
/* L3's DCT mode against the JPEG codec: the same pixels, whole, in regions, reduced, gray; and what damage does. */
#include "test.h"

#include "jpeg_plain.h"
#include "l3_dct.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Sampling factors that DCT mode takes, as they are and as multiples. */
static const plain_recipe kinds[] = {
    {.space = PLAIN_GRAY},
    {.space = PLAIN_YCC},
    {.space = PLAIN_YCC, .factors = {0x21}},
    {.space = PLAIN_YCC, .factors = {0x22}},
    {.space = PLAIN_YCC, .factors = {0x12}},
    {.space = PLAIN_YCC, .factors = {0x41}},
    {.space = PLAIN_RGB},
    {.space = PLAIN_GRAY, .factors = {0x22}},
    {.space = PLAIN_YCC, .factors = {0x22, 0x22, 0x22}, .separate = true},
    {.space = PLAIN_YCC, .factors = {0x21, 0x21, 0x21}},
    {.space = PLAIN_YCC, .factors = {0x22, 0x12, 0x12}},
    {.space = PLAIN_YCC, .factors = {0x22, 0x21, 0x21}},
    {.space = PLAIN_YCC, .factors = {0x42, 0x21, 0x21}, .separate = true},
    {.space = PLAIN_YCC, .factors = {0x42, 0x12, 0x12}, .separate = true},
    {.space = PLAIN_RGB, .factors = {0x22}},
};
enum { KINDS = sizeof kinds / sizeof *kinds, PLAIN_KINDS = 7 };

static const uint32_t sides[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 130};
enum { SIDES = sizeof sides / sizeof *sides };

static void check_recipe(const plain_recipe *recipe, uint32_t regions, uint64_t *random)
{
    char what[128];
    picture_file jpeg = plain_encode(recipe), l3 = dct_make(&jpeg);
    snprintf(what, sizeof what, "%ux%u, space %d, factors %02x %02x, quality %d, restart %d%s", recipe->width,
             recipe->height, (int)recipe->space, recipe->factors[0], recipe->factors[1], recipe->quality,
             recipe->restart, recipe->progressive ? ", progressive" : "");
    dct_check_pixels(&jpeg, &l3, regions, random, what);
    free(jpeg.bytes);
    free(l3.bytes);
}

/* Every width with some heights, for every kind. */
static void sizes(void **state)
{
    (void)state;
    uint64_t random = 1;
    uint32_t step = test_quick() ? 7 : 1;
    for (uint32_t k = 0; k < KINDS; k++)
        for (uint32_t i = k % step; i < SIDES * 3; i += step) {
            plain_recipe r = kinds[k];
            r.width = sides[i / 3];
            r.height = sides[(i * 7 + k) % SIDES];
            r.seed = i;
            r.progressive = !r.separate && i % 5 == 4;
            check_recipe(&r, 3, &random);
        }
}

/* Several tiles each way, so that regions begin and end in all kinds of places. */
static void regions_across_tiles(void **state)
{
    (void)state;
    uint64_t random = 2;
    for (uint32_t k = 0; k < PLAIN_KINDS; k++) {
        plain_recipe r = kinds[k];
        r.width = 64 * 5 + 13 + 200 * (r.factors[0] >> 5);
        r.height = 64 * 4 + 29;
        check_recipe(&r, test_quick() ? 10 : 60, &random);
    }
}

/* Regions whose edges lie on, before and behind the edges of tiles, where context comes from the neighbours. */
static void regions_at_tile_edges(void **state)
{
    (void)state;
    static const uint32_t edges[] = {0, 1, 62, 63, 64, 65, 126, 127, 128, 129, 130, 255, 256, 257, 290};
    enum { EDGES = sizeof edges / sizeof *edges };
    for (uint32_t k = 1; k < PLAIN_KINDS - 1; k++) {
        plain_recipe r = kinds[k];
        r.width = r.height = 300;
        picture_file jpeg = plain_encode(&r), l3 = dct_make(&jpeg);
        mr_image whole = picture_decode(jpeg.bytes, jpeg.nbytes, NULL);
        for (uint32_t i = 0; i < EDGES; i++)
            for (uint32_t j = 0; j < EDGES; j++) {
                uint32_t far = edges[(i + j) % EDGES], x = edges[i], y = edges[j];
                mr_rect one = {x, y, 1, 1}, more = {x, y, far > x ? far - x : 300 - x, far > y ? far - y : 300 - y};
                check_region(&l3, (mr_decode_hints){0}, one, &whole, "one pixel");
                check_region(&l3, (mr_decode_hints){0}, more, &whole, "edges");
            }
        mr_image_fini(&whole, NULL);
        free(jpeg.bytes);
        free(l3.bytes);
    }
}

static void qualities(void **state)
{
    (void)state;
    uint64_t random = 3;
    for (int quality = 1; quality <= 100; quality += test_quick() ? 9 : 1) {
        plain_recipe r = kinds[1 + quality % 5];
        r.width = 150;
        r.height = 77;
        r.quality = quality;
        r.seed = (uint64_t)quality;
        check_recipe(&r, 1, &random);
    }
}

static void restarts_and_scans(void **state)
{
    (void)state;
    uint64_t random = 4;
    for (uint32_t k = 0; k < PLAIN_KINDS; k++)
        for (int i = 0; i < 6; i++) {
            plain_recipe r = kinds[k];
            r.width = 131;
            r.height = 70;
            r.restart = (int[]){0, 1, 3, 7, 1000, 2}[i];
            r.progressive = i >= 4;
            r.separate = i == 3;
            check_recipe(&r, 1, &random);
        }
    plain_recipe flat = {.width = 200, .height = 150, .space = PLAIN_YCC, .factors = {0x22}, .flat = true};
    check_recipe(&flat, 2, &random);
}

static void rows_with_gaps(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < PLAIN_KINDS; k++) {
        plain_recipe r = kinds[k];
        r.width = 141;
        r.height = 139;
        picture_file jpeg = plain_encode(&r), l3 = dct_make(&jpeg);
        mr_decode_hints hints = {.struct_size = sizeof hints, .channels = 3, .region = {5, 9, 133, 128}};
        mr_image wanted = picture_decode(jpeg.bytes, jpeg.nbytes, &hints);
        check_target(&l3, &hints, &wanted);
        check_memory_is_kept(&l3, &hints);
        mr_image_fini(&wanted, NULL);
        free(jpeg.bytes);
        free(l3.bytes);
    }
}

/* A decoder that has seen one image has nothing of it left for the next. */
static void images_in_turn(void **state)
{
    (void)state;
    uint64_t random = 5;
    picture_file jpeg[4], l3[4];
    for (uint32_t i = 0; i < 4; i++) {
        plain_recipe r = kinds[(uint32_t[]){3, 0, 1, 5}[i]];
        r.width = (uint32_t[]){300, 20, 129, 64}[i];
        r.height = (uint32_t[]){100, 200, 300, 1}[i];
        jpeg[i] = plain_encode(&r);
        l3[i] = dct_make(&jpeg[i]);
    }
    for (uint32_t i = 0; i < 8; i++)
        dct_check_pixels(&jpeg[i % 4], &l3[i % 4], 2, &random, "in turn");
    for (uint32_t i = 0; i < 4; i++) {
        free(jpeg[i].bytes);
        free(l3[i].bytes);
    }
}

/* The file ends where a page does that cannot be read. */
static void end_at_unmapped_page(void **state)
{
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    mr_encode_options bare = {.struct_size = sizeof bare, .without_origin = true};
    for (uint32_t k = 0; k < PLAIN_KINDS; k++) {
        plain_recipe r = kinds[k];
        r.width = 90;
        r.height = 70;
        r.quality = k % 2 ? 95 : 20;
        picture_file jpeg = plain_encode(&r), l3 = dct_recode(encoder, &jpeg, MR_FORM_L3, &bare, NULL);
        size_t room = (l3.nbytes + page - 1) / page * page;
        uint8_t *map = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(map != MAP_FAILED);
        assert_int_equal(mprotect(map + room, page, PROT_NONE), 0);
        picture_file at_end = {map + room - l3.nbytes, l3.nbytes};
        memcpy(at_end.bytes, l3.bytes, l3.nbytes);
        uint64_t random = 6;
        dct_check_pixels(&jpeg, &at_end, 3, &random, "at the end of a page");
        picture_file back = dct_recode(encoder, &at_end, MR_FORM_JPEG, NULL, NULL);
        munmap(map, room + page);
        free(back.bytes);
        free(jpeg.bytes);
        free(l3.bytes);
    }
}

static void threads_give_the_same_bytes(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < PLAIN_KINDS; k++) {
        plain_recipe r = kinds[k];
        r.width = 333;
        r.height = 700;
        picture_file jpeg = plain_encode(&r), one = dct_make(&jpeg);
        for (uint32_t threads = 2; threads <= 5; threads++) {
            mr_encode_options o = {.threads = threads};
            picture_file some = dct_recode(encoder, &jpeg, MR_FORM_L3, &o, NULL);
            assert_int_equal(some.nbytes, one.nbytes);
            assert_memory_equal(some.bytes, one.bytes, one.nbytes);
            free(some.bytes);
        }
        free(jpeg.bytes);
        free(one.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(regions_across_tiles),
        cmocka_unit_test(regions_at_tile_edges),
        cmocka_unit_test(qualities),
        cmocka_unit_test(restarts_and_scans),
        cmocka_unit_test(rows_with_gaps),
        cmocka_unit_test(images_in_turn),
        cmocka_unit_test(end_at_unmapped_page),
        cmocka_unit_test(threads_give_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, handles_setup, handles_teardown);
}
