// SPDX-License-Identifier: Apache-2.0
/* The container of L3 before its tiles, against doc/format-l3.md. */
#include "test.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "check.h"
#include "codec/l3/l3.h"
#include "l3_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A call of our own, to see inside. */
typedef struct bench {
    mr_hooks hooks;
    mr_limits limits;
    mr__detail detail;
    mr__meter meter;
    mr__call call;
} bench;

static void set_up(bench *b, const picture_file *file)
{
    assert_int_equal(mr__hooks_init(&b->hooks, NULL), 0);
    assert_int_equal(mr__limits_init(&b->limits, NULL), 0);
    mr__meter_init(&b->meter, &b->hooks, UINT64_MAX);
    b->call = (mr__call){.name = "l3", .hooks = &b->hooks, .limits = &b->limits, .detail = &b->detail};
    b->call.meter = &b->meter;
    b->call.bytes = file->bytes;
    b->call.nbytes = file->nbytes;
}

static mr__l3_head read_head(const picture_file *file)
{
    bench b;
    mr__l3_head head;
    set_up(&b, file);
    assert_int_equal(mr__l3_head_read(&b.call, &head), 0);
    assert_int_equal(mr__l3_head_check_length(&b.call, &head, false), 0);
    return head;
}

static void a_head_of_pixel_mode_is_read(void **state)
{
    (void)state;
    l3_spec spec = l3_spec_pixel();
    picture_file file = l3_file_make(&spec);
    mr__l3_head head = read_head(&file);
    assert_int_equal(head.mode, MR__L3_PIXEL);
    assert_true(head.width == 150 && head.height == 70 && head.tile_width == 64 && head.tile_height == 64);
    assert_true(head.tiles_x == 3 && head.tiles_y == 2 && head.channels == 3 && head.depth == 8);
    uint64_t offsets[7], at = l3_spec_head_nbytes(&spec);
    mr__l3_head_offsets(&head, offsets);
    for (size_t i = 0; i <= 6; i++) {
        assert_int_equal(offsets[i], at);
        at += l3_spec_tile_nbytes(i);
    }
    assert_int_equal(offsets[6], head.tail_at);
    mr_rect last = mr__l3_tile_rect(&head, 5);
    assert_true(last.x == 128 && last.y == 64 && last.width == 22 && last.height == 6);
    mr_info info = info_of(&file);
    assert_true(info.form == MR_FORM_L3 && info.lossless && !info.progressive && !info.has_icc && !info.has_origin);
    assert_true(info.tiles == 6 && info.color == MR_COLOR_RGB && info.subsampling == MR_SUBSAMPLING_NONE);
    free(file.bytes);
}

static void a_head_of_dct_mode_is_read(void **state)
{
    (void)state;
    l3_spec spec = l3_spec_dct();
    picture_file file = l3_file_make(&spec);
    mr__l3_head head = read_head(&file);
    assert_true(head.mode == MR__L3_DCT && head.tiles_x == 2 && head.tiles_y == 2 && head.color == MR__L3_YCBCR);
    assert_true(head.hmax == 2 && head.vmax == 2 && head.tables == 2 && head.progressive);
    assert_true(head.component[0].blocks_w == 25 && head.component[0].blocks_h == 18);
    assert_true(head.component[2].blocks_w == 13 && head.component[2].blocks_h == 9 && head.component[2].table == 1);
    assert_true(head.quant[0][0] == 2 && head.quant[0][63] == 65 && head.quant[1][0] == 257);
    mr_info info = info_of(&file);
    assert_true(!info.lossless && info.progressive && info.color == MR_COLOR_YCBCR && info.orientation == 6);
    assert_true(info.subsampling == MR_SUBSAMPLING_420 && info.tiles == 4);
    free(file.bytes);
}

/* Reads the head, writes it anew, and has the same bytes. */
static void check_written(const l3_spec *spec)
{
    picture_file file = l3_file_make(spec);
    mr__l3_head head = read_head(&file), made = head;
    uint32_t lengths[600], hashes[600];
    size_t tiles = mr__l3_tile_count(&head), nbytes = 0;
    assert_true(tiles <= 600);
    for (size_t i = 0; i < tiles; i++) {
        lengths[i] = l3_spec_tile_nbytes(i);
        hashes[i] = mr__load_le32(head.hashes + 4 * i);
    }
    // what follows from the rest is found again
    made.tiles_x = made.tiles_y = 0;
    if (made.mode == MR__L3_DCT)
        made.hmax = made.vmax = made.tile_width = made.tile_height = 0;
    mr__l3_head_complete(&made);
    bench b;
    mr__buffer out = {0};
    set_up(&b, &file);
    assert_int_equal(mr__l3_head_write(&b.call, &made, lengths, hashes, spec->tail_nbytes, &out, &nbytes), 0);
    assert_int_equal(nbytes, head.head_nbytes);
    assert_memory_equal(out.bytes, file.bytes, nbytes);
    mr__buffer_fini(&out, &b.hooks);
    free(file.bytes);
}

static void what_is_read_is_written_again(void **state)
{
    (void)state;
    l3_spec pixel = l3_spec_pixel(), dct = l3_spec_dct();
    pixel.size_nbytes = 1;
    for (pixel.channels = 1; pixel.channels <= 4; pixel.channels++)
        for (pixel.depth = 8; pixel.depth <= 16; pixel.depth += 8)
            for (pixel.width = 1; pixel.width < 700; pixel.width = pixel.width * 2 + 1)
                check_written(&pixel);
    check_written(&dct);
    static const struct {
        uint8_t sampling;
        uint32_t tile_width, tile_height;
        mr_subsampling subsampling;
    } all[] = {{0x11, 64, 64, MR_SUBSAMPLING_444},
               {0x12, 128, 64, MR_SUBSAMPLING_422},
               {0x22, 128, 128, MR_SUBSAMPLING_420},
               {0x21, 64, 128, MR_SUBSAMPLING_440},
               {0x14, 256, 64, MR_SUBSAMPLING_411}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        dct.part[2] = all[i].sampling;
        dct.tile_width = all[i].tile_width;
        dct.tile_height = all[i].tile_height;
        check_written(&dct);
        picture_file file = l3_file_make(&dct);
        mr_info info = info_of(&file);
        assert_int_equal(info.subsampling, all[i].subsampling);
        free(file.bytes);
    }
    l3_spec one = {.mode = 2, .channels = 1, .depth = 8, .orientation = 1, .width = 30000, .height = 60};
    one.tile_width = one.tile_height = 64;
    one.size_nbytes = 1;
    one.part_nbytes = 2 + 2 + 65;
    memset(one.part, 9, sizeof one.part);
    memcpy(one.part, (uint8_t[]){0, 1, 0x11, 0, 1}, 5);
    check_written(&one);
}

/* The smallest number of bytes that holds every length. */
static void lengths_take_few_bytes(void **state)
{
    (void)state;
    static const uint32_t most[] = {0, 255, 256, 65535, 65536, 0xffffff, 0x1000000, 0xffffffff};
    picture_file none = {0};
    for (size_t i = 0; i < 8; i++) {
        bench b;
        mr__buffer out = {0};
        size_t nbytes = 0;
        mr__l3_head head = {.mode = 1, .channels = 1, .depth = 8, .orientation = 1, .width = 64, .height = 40};
        head.tile_width = head.tile_height = 32;
        mr__l3_head_complete(&head);
        set_up(&b, &none);
        const uint32_t lengths[4] = {0, most[i], 0, 0}, hashes[4] = {1, 2, 3, 4};
        assert_int_equal(mr__l3_head_write(&b.call, &head, lengths, hashes, 0, &out, &nbytes), 0);
        assert_int_equal(out.bytes[14], i / 2 + 1);
        assert_int_equal(nbytes, 40 + 4 * (4 + i / 2 + 1) + 8);
        b.call.bytes = out.bytes;
        b.call.nbytes = nbytes;
        assert_int_equal(mr__l3_head_read(&b.call, &head), 0);
        assert_true(head.tail_at == nbytes + most[i]);
        mr__buffer_fini(&out, &b.hooks);
    }
}

/* Tries a file by every way that looks at its head. */
static void check_head_refused(const picture_file *file, int code, const char *part)
{
    mr_decode_hints accept = {.struct_size = sizeof accept, .accept_damaged = true};
    mr_tile tile = {.struct_size = sizeof tile};
    mr_info info = {.struct_size = sizeof info};
    assert_int_equal(mr_decoder_info(decoder, file->bytes, file->nbytes, &info), code);
    assert_contains(mr_decoder_detail(decoder), part);
    assert_int_equal(picture_try(decoder, file->bytes, file->nbytes, NULL), code);
    assert_int_equal(picture_try(decoder, file->bytes, file->nbytes, &accept), code);
    assert_int_equal(mr_decoder_verify(decoder, file->bytes, file->nbytes), code);
    assert_int_equal(mr_decoder_tile(decoder, file->bytes, file->nbytes, 0, &tile), code);
    assert_contains(mr_decoder_detail(decoder), part);
}

static void every_flipped_bit_of_the_head_is_an_error(void **state)
{
    (void)state;
    l3_spec specs[2] = {l3_spec_pixel(), l3_spec_dct()};
    for (size_t s = 0; s < 2; s++) {
        picture_file file = l3_file_make(&specs[s]);
        for (size_t bit = 0; bit < l3_spec_head_nbytes(&specs[s]) * 8; bit++) {
            file.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            mr_info info = {.struct_size = sizeof info};
            int result = mr_decoder_info(decoder, file.bytes, file.nbytes, &info);
            if (bit < 64)
                assert_int_equal(result, MR_EFORMAT);
            else if (bit < 80)
                assert_int_equal(result, MR_EUNSUPPORTED);
            else
                assert_true(result == MR_ECORRUPT || result == MR_ETRUNCATED);
            file.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        read_head(&file);
        free(file.bytes);
    }
}

/* Heads whose hash is right, but whose fields are not. */
typedef struct field_case {
    size_t at;
    uint8_t value;
    const char *word;
} field_case;

static void check_fields(const l3_spec *spec, const field_case *cases, size_t count)
{
    picture_file good = l3_file_make(spec);
    for (size_t i = 0; i < count; i++) {
        picture_file file = picture_copy(good.bytes, good.nbytes);
        file.bytes[cases[i].at] = cases[i].value;
        l3_file_fix(&file);
        check_head_refused(&file, MR_ECORRUPT, cases[i].word);
        free(file.bytes);
    }
    free(good.bytes);
}

static void every_field_is_checked(void **state)
{
    (void)state;
    static const field_case pixel[] = {
        {10, 0, "mode 0 at byte 10"},
        {10, 3, "mode 3"},
        {10, 255, "mode 255"},
        {11, 0, "channels 0 at byte 11"},
        {11, 5, "channels 5"},
        {12, 0, "depth 0 at byte 12"},
        {12, 9, "depth 9"},
        {13, 0, "orientation 0 at byte 13"},
        {13, 9, "orientation 9"},
        {14, 0, "the sizes at bytes 14"},
        {14, 5, "the sizes at bytes 14"},
        {15, 4, "a reserved bit of byte 15"},
        {15, 8, "a reserved bit of byte 15"},
        {15, 16, "a reserved bit of byte 15"},
        {15, 32, "a reserved bit of byte 15"},
        {15, 64, "a reserved bit of byte 15"},
        {15, 128, "a reserved bit of byte 15"},
        {15, 1, "byte 15 says that the tail has a section"},
        {15, 2, "byte 15 says that the tail has a section"},
        {16, 0, "the sizes"},
        {20, 0, "the sizes"},
        {24, 65, "tile width 65 at byte 24"},
        {26, 96, "tile height 96 at byte 26"},
    };
    static const field_case dct[] = {
        {11, 2, "components 2 at byte 11"},
        {11, 4, "components 4"},
        {12, 16, "depth 16 at byte 12"},
        {40, 0x80, "a colour that its components cannot have at byte 40"},
        {40, 3, "a colour"},
        {40, 0x41, "a colour"},
        {41, 0, "no quantisation tables"},
        {41, 4, "more than components"},
        {42, 0x24, "sampling factors that L3 does not have at byte 42"},
        {42, 0x41, "sampling factors"},
        {42, 0x33, "sampling factors"},
        {42, 0x00, "sampling factors"},
        {42, 0x21, "tiles of 128 x 128 at byte 24; its sampling takes 64 x 128"},
        {43, 2, "a quantisation table that is not there at byte 43"},
        {44, 0x12, "sampling factors that L3 does not have at byte 44"},
        {46, 0x21, "sampling factors that L3 does not have at byte 46"},
        {47, 255, "that is not there at byte 47"},
        {48, 0, "neither 1 nor 2 bytes at byte 48"},
        {48, 3, "neither 1 nor 2 bytes"},
        {49, 0, "a quantisation value of 0 at byte 49"},
        {113, 3, "neither 1 nor 2 bytes at byte 113"},
        {113, 1, "too short or too long"},
        {41, 1, "not there at byte 45"},
        {41, 3, "too short or too long, at byte 242"},
        {24, 64, "tiles of 64 x 128"},
    };
    l3_spec spec = l3_spec_pixel(), other = l3_spec_dct();
    check_fields(&spec, pixel, sizeof pixel / sizeof *pixel);
    check_fields(&other, dct, sizeof dct / sizeof *dct);
}

/* Specs whose every length fits, but which cannot be. */
static void sizes_out_of_range_are_refused(void **state)
{
    (void)state;
    l3_spec all[7];
    for (size_t i = 0; i < 7; i++)
        all[i] = l3_spec_pixel();
    all[0].tile_width = 16;
    all[1].tile_height = 2048;
    all[2].part_nbytes = 4;
    all[3] = l3_spec_dct();
    all[3].part_nbytes--;
    all[4] = l3_spec_dct();
    all[4].width = 65536;
    all[5] = l3_spec_dct();
    all[5].height = 65536;
    uint8_t tail[24];
    all[6].tail = tail;
    all[6].tail_nbytes = l3_file_section(tail, "ORIG", NULL, 0);
    all[6].flags = 2;
    static const char *const words[] = {"tile width 16",           "tile height 2048", "pixel mode has no mode part",
                                        "a mode part that",        "width 65536",      "height 65536",
                                        "pixel mode has no origin"};
    for (size_t i = 0; i < 7; i++) {
        picture_file file = l3_file_make(&all[i]);
        check_head_refused(&file, MR_ECORRUPT, words[i]);
        free(file.bytes);
    }
}

/* Nothing is multiplied beyond 64 bits, nor taken memory for, before it is known to fit. */
static void huge_heads_are_refused(void **state)
{
    (void)state;
    l3_spec spec = l3_spec_pixel();
    picture_file file = l3_file_make(&spec);
    mr__store_le32(file.bytes + 16, 0xffffffff);
    mr__store_le32(file.bytes + 20, 0xffffffff);
    check_head_refused(&file, MR_ECORRUPT, "the sizes at bytes 14");
    mr__store_le32(file.bytes + 16, 64 << 13);
    mr__store_le32(file.bytes + 20, 64 << 13);
    check_head_refused(&file, MR_ETRUNCATED, "truncated L3 image: the head ends at byte 402653232, the data at ");
    mr__store_le32(file.bytes + 20, (64 << 13) + 1);
    check_head_refused(&file, MR_ECORRUPT, "the sizes at bytes 14");
    mr__store_le32(file.bytes + 28, 0xffffffff);
    check_head_refused(&file, MR_ECORRUPT, "the sizes at bytes 14");
    free(file.bytes);
    file = l3_file_make(&spec);
    mr__store_le64(file.bytes + 32, UINT64_MAX);
    l3_file_fix(&file);
    check_refused(&file, NULL, MR_ETRUNCATED, "should at byte 18446744073709551615");
    free(file.bytes);
}

static void every_other_length_is_an_error_that_says_how_much(void **state)
{
    (void)state;
    l3_spec specs[2] = {l3_spec_pixel(), l3_spec_dct()};
    for (size_t s = 0; s < 2; s++) {
        picture_file good = l3_file_make(&specs[s]);
        size_t head_nbytes = l3_spec_head_nbytes(&specs[s]);
        for (size_t nbytes = 0; nbytes < good.nbytes; nbytes++) {
            picture_file file = picture_copy(good.bytes, nbytes);
            int expected = nbytes < 8 ? MR_EFORMAT : MR_ETRUNCATED;
            mr_info info = {.struct_size = sizeof info};
            assert_int_equal(mr_decoder_info(decoder, file.bytes, nbytes, &info), nbytes < head_nbytes ? expected : 0);
            assert_int_equal(picture_try(decoder, file.bytes, nbytes, NULL), expected);
            assert_int_equal(mr_decoder_verify(decoder, file.bytes, nbytes), expected);
            free(file.bytes);
        }
        picture_file file = {calloc(1, good.nbytes + 1), good.nbytes + 1};
        memcpy(file.bytes, good.bytes, good.nbytes);
        check_refused(&file, NULL, MR_ECORRUPT, "damaged L3 image: it ends at byte ");
        free(file.bytes);
        free(good.bytes);
    }
}

/* Which tile, where, and whether it is whole. */
static void tiles_are_told_one_by_one(void **state)
{
    (void)state;
    l3_spec spec = l3_spec_pixel();
    picture_file file = l3_file_make(&spec);
    uint64_t at = l3_spec_head_nbytes(&spec);
    file.bytes[file.nbytes - 1] ^= 1;
    for (uint32_t i = 0; i < 6; i++) {
        mr_tile tile = {.struct_size = sizeof tile};
        assert_int_equal(mr_decoder_tile(decoder, file.bytes, file.nbytes, i, &tile), 0);
        assert_int_equal(tile.offset, at);
        assert_int_equal(tile.nbytes, l3_spec_tile_nbytes(i));
        assert_true(tile.rect.x == i % 3 * 64 && tile.rect.y == i / 3 * 64);
        assert_int_equal(tile.rect.width, i % 3 == 2 ? 22 : 64);
        assert_int_equal(tile.rect.height, i / 3 == 1 ? 6 : 64);
        assert_int_equal(tile.intact, i != 5);
        assert_true(tile.kind != NULL && tile.kind[0] != '\0');
        assert_int_equal(mr_decoder_warnings(decoder), 0);
        at += tile.nbytes;
    }
    mr_tile tile = {.struct_size = sizeof tile};
    assert_int_equal(mr_decoder_tile(decoder, file.bytes, file.nbytes, 6, &tile), MR_EARGUMENT);
    assert_contains(mr_decoder_detail(decoder), "tile 6: the image has 6");
    assert_int_equal(mr_decoder_tile(decoder, file.bytes, file.nbytes, 0, NULL), MR_EARGUMENT);
    assert_int_equal(mr_decoder_tile(NULL, file.bytes, file.nbytes, 0, &tile), MR_EARGUMENT);
    tile.struct_size = 0;
    assert_int_equal(mr_decoder_tile(decoder, file.bytes, file.nbytes, 0, &tile), MR_EARGUMENT);
    tile.struct_size = sizeof tile;
    assert_int_equal(mr_decoder_tile(decoder, "P5 1 1 255 x", 12, 0, &tile), MR_EUNSUPPORTED);
    assert_contains(mr_decoder_detail(decoder), "pnm is not stored in tiles");
    free(file.bytes);
}

/* The bytes behind the end are there, and right, but not the file's. */
static void a_tile_that_is_cut_is_not_intact(void **state)
{
    (void)state;
    l3_spec spec = l3_spec_dct();
    picture_file file = l3_file_make(&spec);
    size_t last = file.nbytes - l3_spec_tile_nbytes(3);
    for (size_t nbytes = last; nbytes <= file.nbytes; nbytes++)
        for (uint32_t i = 2; i < 4; i++) {
            mr_tile tile = {.struct_size = sizeof tile};
            assert_int_equal(mr_decoder_tile(decoder, file.bytes, nbytes, i, &tile), 0);
            assert_int_equal(tile.intact, i == 2 || nbytes == file.nbytes);
        }
    free(file.bytes);
}

/* Before any tile is decoded. */
static void every_flipped_bit_of_a_tile_names_it(void **state)
{
    (void)state;
    l3_spec spec = l3_spec_pixel();
    picture_file file = l3_file_make(&spec);
    size_t at = l3_spec_head_nbytes(&spec);
    for (size_t i = 0; i < 6; i++) {
        char word[96];
        snprintf(word, sizeof word,
                 "damaged L3 image: tile %zu (column %zu, row %zu) at byte %zu: its hash does not match", i, i % 3,
                 i / 3, at);
        for (size_t bit = 0; bit < l3_spec_tile_nbytes(i) * 8; bit++) {
            file.bytes[at + bit / 8] ^= (uint8_t)(1 << bit % 8);
            assert_int_equal(mr_decoder_verify(decoder, file.bytes, file.nbytes), MR_ECORRUPT);
            assert_string_equal(mr_decoder_detail(decoder), word);
            file.bytes[at + bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        at += l3_spec_tile_nbytes(i);
    }
    assert_int_equal(at, file.nbytes);
    free(file.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_of_pixel_mode_is_read),
        cmocka_unit_test(a_head_of_dct_mode_is_read),
        cmocka_unit_test(what_is_read_is_written_again),
        cmocka_unit_test(lengths_take_few_bytes),
        cmocka_unit_test(every_flipped_bit_of_the_head_is_an_error),
        cmocka_unit_test(every_field_is_checked),
        cmocka_unit_test(sizes_out_of_range_are_refused),
        cmocka_unit_test(huge_heads_are_refused),
        cmocka_unit_test(every_other_length_is_an_error_that_says_how_much),
        cmocka_unit_test(tiles_are_told_one_by_one),
        cmocka_unit_test(a_tile_that_is_cut_is_not_intact),
        cmocka_unit_test(every_flipped_bit_of_a_tile_names_it),
    };
    return cmocka_run_group_tests(tests, handles_setup, handles_teardown);
}
