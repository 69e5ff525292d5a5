// SPDX-License-Identifier: Apache-2.0
#include "jpeg_make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

enum { SCANS_MAX = 100, MCU_BLOCKS_MAX = 10 };

typedef struct scan_list {
    jpeg_scan_info scans[SCANS_MAX];
    int count;
} scan_list;

static int count_of(const make_recipe *r)
{
    return r->space == PLAIN_GRAY ? 1 : r->space == PLAIN_CMYK || r->space == PLAIN_YCCK ? 4 : 3;
}

static int across_of(const make_recipe *r, int i)
{
    return r->factors[i] != 0 ? r->factors[i] >> 4 : 1;
}

static int down_of(const make_recipe *r, int i)
{
    return r->factors[i] != 0 ? r->factors[i] & 15 : 1;
}

bool make_fits(const make_recipe *r)
{
    int count = count_of(r), blocks = 0;
    if (count == 1 || r->script == MAKE_SEPARATE || r->script == MAKE_BACKWARD || r->script == MAKE_DC_APART)
        return true;
    for (int i = r->script == MAKE_LUMA_APART; i < count; i++)
        blocks += across_of(r, i) * down_of(r, i);
    return blocks <= MCU_BLOCKS_MAX;
}

/* Components `from` and `count - 1` after it. */
static void add_scan(scan_list *l, int from, int count, int first, int last, int high, int low)
{
    jpeg_scan_info *s = &l->scans[l->count++];
    *s = (jpeg_scan_info){.comps_in_scan = count, .Ss = first, .Se = last, .Ah = high, .Al = low};
    for (int i = 0; i < count; i++)
        s->component_index[i] = from + i;
}

static void approximate(scan_list *l, int n)
{
    add_scan(l, 0, n, 0, 0, 0, 2);
    for (int i = 0; i < n; i++)
        add_scan(l, i, 1, 1, 63, 0, 3);
    for (int low = 2; low >= 0; low--) {
        for (int i = n - 1; i >= 0; i--)
            add_scan(l, i, 1, 1, 63, low + 1, low);
        if (low < 2)
            add_scan(l, 0, n, 0, 0, low + 1, low);
    }
}

static void write_script(scan_list *l, make_script script, int n)
{
    int wide = n == 1 ? 1 : 3;
    l->count = 0;
    if (script == MAKE_SEPARATE)
        for (int i = 0; i < n; i++)
            add_scan(l, i, 1, 0, 63, 0, 0);
    if (script == MAKE_BACKWARD)
        for (int i = n - 1; i >= 0; i--)
            add_scan(l, i, 1, 0, 63, 0, 0);
    if (script == MAKE_LUMA_APART)
        add_scan(l, 0, 1, 0, 63, 0, 0);
    if (script == MAKE_LUMA_APART && n > 1)
        add_scan(l, 1, n - 1, 0, 63, 0, 0);
    if (script == MAKE_SPECTRAL || script == MAKE_DC_FIRST || script == MAKE_MANY)
        add_scan(l, 0, n, 0, 0, 0, 0);
    if (script == MAKE_DC_APART)
        for (int i = 0; i < n; i++)
            add_scan(l, i, 1, 0, 0, 0, 0);
    if (script == MAKE_APPROXIMATION)
        approximate(l, n);
    for (int i = n - 1; i >= 0; i--) {
        if (script == MAKE_SPECTRAL) {
            add_scan(l, i, 1, 6, 63, 0, 0);
            add_scan(l, i, 1, 1, 5, 0, 0);
        }
        if (script == MAKE_DC_FIRST || script == MAKE_DC_APART)
            add_scan(l, i, 1, 1, 63, 0, 0);
        for (int k = 1; script == MAKE_MANY && k < 64; k += wide)
            add_scan(l, i, 1, k, k + wide - 1, 0, 0);
    }
}

/* One code of each length from 5 to 15, and 16 bits for all others, with the symbols in the opposite order. */
static void lengthen(JHUFF_TBL *table)
{
    int n = 0, longer;
    for (int i = 1; i <= 16; i++)
        n += table->bits[i];
    longer = n > 15 ? 15 : n;
    for (int i = 0; i < n / 2; i++) {
        UINT8 kept = table->huffval[i];
        table->huffval[i] = table->huffval[n - 1 - i];
        table->huffval[n - 1 - i] = kept;
    }
    for (int i = 1; i <= 16; i++)
        table->bits[i] = i <= longer && i > 4 ? 1 : 0;
    table->bits[16] = (UINT8)(n - (longer > 4 ? longer - 4 : 0));
}

static void set_options(j_compress_ptr c, const make_recipe *r, scan_list *scans)
{
    static const J_COLOR_SPACE spaces[] = {JCS_GRAYSCALE, JCS_YCbCr, JCS_RGB, JCS_CMYK, JCS_YCCK};
    c->image_width = r->width;
    c->image_height = r->height;
    c->input_components = count_of(r);
    c->in_color_space = spaces[r->space];
    jpeg_set_defaults(c);
    jpeg_set_colorspace(c, spaces[r->space]);
    jpeg_set_quality(c, r->quality != 0 ? r->quality : 85, !r->coarse);
    for (int i = 0; i < c->num_components; i++) {
        c->comp_info[i].h_samp_factor = across_of(r, i);
        c->comp_info[i].v_samp_factor = down_of(r, i);
        if (r->ids[i] != 0)
            c->comp_info[i].component_id = r->ids[i];
    }
    c->raw_data_in = TRUE;
    c->arith_code = r->arithmetic;
    c->optimize_coding = r->optimised && !r->arithmetic;
    for (int i = 0; r->long_codes && i < 2; i++) {
        lengthen(c->dc_huff_tbl_ptrs[i]);
        lengthen(c->ac_huff_tbl_ptrs[i]);
    }
    c->restart_interval = r->restart_rows ? 0 : (unsigned)r->restart;
    c->restart_in_rows = r->restart_rows ? r->restart : 0;
    c->write_Adobe_marker = c->write_Adobe_marker && !r->no_adobe;
    c->write_JFIF_header = c->write_JFIF_header && !r->no_jfif;
    write_script(scans, r->script, c->num_components);
    c->scan_info = scans->count != 0 ? scans->scans : NULL;
    c->num_scans = scans->count;
    if (r->script == MAKE_DEFAULT)
        jpeg_simple_progression(c);
}

static uint8_t sample_at(const make_recipe *r, uint32_t c, uint32_t x, uint32_t y, uint64_t *random)
{
    uint32_t slope = (x * (3 + c) + y * (5 - c)) / 2, patch = x / (5 + c) * 7 + y / (11 - c) * 13;
    switch (r->look) {
    case MAKE_SMOOTH:
        return (uint8_t)(40 + slope / 2 % 160);
    case MAKE_NOISE:
        return (uint8_t)picture_random(random);
    case MAKE_EXTREME:
        return picture_random(random) & 1 ? 255 : 0;
    case MAKE_SATURATED:
        return (patch ^ patch >> 2 ^ r->seed) & 1 ? 255 : 0;
    case MAKE_STRIPES:
        return (((r->seed + c) & 1 ? x : y) >> (r->seed >> 1 & 3) & 1) ? 255 : 0;
    case MAKE_BLACK:
        return 0;
    case MAKE_WHITE:
        return 255;
    default:
        return (uint8_t)(slope + ((x / 7 + y / 5 + c) & 1) * 60 + picture_random_below(random, 70));
    }
}

/* Rows of samples of one component, enough for a row of MCUs. */
typedef struct component_rows {
    uint8_t *bytes;
    JSAMPROW row[4 * DCTSIZE];
} component_rows;

static void fill_rows(const make_recipe *r, const jpeg_component_info *info, uint32_t mcu_row, component_rows *to,
                      uint64_t *random)
{
    uint32_t high = (uint32_t)info->v_samp_factor * DCTSIZE;
    // Blocks that only fill an MCU up are libjpeg's to make; it may look at their samples.
    size_t wide = ((size_t)info->width_in_blocks + (size_t)info->h_samp_factor) * DCTSIZE;
    if (to->bytes == NULL)
        to->bytes = calloc(high, wide);
    for (uint32_t y = 0; y < high; y++) {
        to->row[y] = to->bytes + y * wide;
        for (uint32_t x = 0; x < info->width_in_blocks * DCTSIZE; x++)
            to->row[y][x] = sample_at(r, (uint32_t)info->component_index, x, mcu_row * high + y, random);
    }
}

static void write_samples(j_compress_ptr c, const make_recipe *r)
{
    component_rows rows[4] = {{.bytes = NULL}};
    uint64_t random = r->seed;
    JSAMPARRAY planes[4];
    for (uint32_t m = 0; c->next_scanline < c->image_height; m++) {
        for (int i = 0; i < c->num_components; i++) {
            fill_rows(r, &c->comp_info[i], m, &rows[i], &random);
            planes[i] = rows[i].row;
        }
        jpeg_write_raw_data(c, planes, (JDIMENSION)(c->max_v_samp_factor * DCTSIZE));
    }
    for (int i = 0; i < c->num_components; i++)
        free(rows[i].bytes);
}

/* The least EXIF: a big-endian TIFF of one entry. */
static void write_orientation(j_compress_ptr c, uint8_t orientation)
{
    const uint8_t exif[] = {'E',  'x',  'i',  'f', 0, 0, 'M', 'M', 0, 42,          0, 0, 0, 8, 0, 1,
                            0x01, 0x12, 0x00, 3,   0, 0, 0,   1,   0, orientation, 0, 0, 0, 0, 0, 0};
    if (orientation != 0)
        jpeg_write_marker(c, JPEG_APP0 + 1, exif, sizeof exif);
}

static void give_up(j_common_ptr c)
{
    c->err->output_message(c);
    abort();
}

/* It warns of coarse quantisers. */
static void stay_silent(j_common_ptr c, int level)
{
    (void)c;
    (void)level;
}

picture_file make_jpeg(const make_recipe *r)
{
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr error;
    unsigned char *made = NULL;
    unsigned long made_nbytes = 0;
    scan_list scans;
    c.err = jpeg_std_error(&error);
    error.error_exit = give_up;
    error.emit_message = stay_silent;
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &made, &made_nbytes);
    set_options(&c, r, &scans);
    jpeg_start_compress(&c, TRUE);
    write_orientation(&c, r->orientation);
    write_samples(&c, r);
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    picture_file file = picture_copy(made, made_nbytes);
    free(made);
    return file;
}

const char *make_text(const make_recipe *r, char *text, size_t nbytes)
{
    snprintf(text, nbytes,
             "%ux%u space %d factors %02x %02x %02x %02x look %d script %d quality %d%s%s%s restart %d%s seed %llu",
             r->width, r->height, r->space, r->factors[0], r->factors[1], r->factors[2], r->factors[3], r->look,
             r->script, r->quality, r->coarse ? " coarse" : "", r->optimised ? " optimised" : "",
             r->arithmetic ? " arithmetic" : "", r->restart, r->restart_rows ? " rows" : "",
             (unsigned long long)r->seed);
    return text;
}

size_t make_frame_at(const picture_file *file)
{
    size_t at = 2;
    while (at + 4 < file->nbytes) {
        uint8_t marker = file->bytes[at + 1];
        if (marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc)
            return at;
        at += 2 + (size_t)(file->bytes[at + 2] << 8 | file->bytes[at + 3]);
    }
    abort();
}
