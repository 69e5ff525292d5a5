// SPDX-License-Identifier: Apache-2.0
#include "jpeg_plain.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

typedef struct plain_error {
    struct jpeg_error_mgr base;
    jmp_buf jump;
} plain_error;

static void jump_out(j_common_ptr cinfo)
{
    longjmp(((plain_error *)cinfo->err)->jump, 1);
}

static void stay_silent(j_common_ptr cinfo)
{
    (void)cinfo;
}

bool plain_has_arithmetic(void)
{
#ifdef C_ARITH_CODING_SUPPORTED
    return true;
#else
    return false;
#endif
}

static int component_count(plain_space space)
{
    return space == PLAIN_GRAY ? 1 : space == PLAIN_CMYK || space == PLAIN_YCCK ? 4 : 3;
}

/* A row with slopes, edges and noise in every component, so that no neighbour is like another. */
static void make_row(const plain_recipe *r, uint32_t y, uint8_t *row, uint64_t *random)
{
    int count = component_count(r->space);
    for (uint32_t x = 0; x < r->width; x++)
        for (int c = 0; c < count; c++) {
            uint32_t slope = (x * (uint32_t)(3 + c) + y * (uint32_t)(5 - c)) / 2;
            uint32_t edge = ((x / 7 + y / 5 + (uint32_t)c) & 1) * 60;
            *row++ = r->flat ? 128 : (uint8_t)(slope + edge + picture_random_below(random, 70));
        }
}

static J_COLOR_SPACE stored_space(plain_space space)
{
    static const J_COLOR_SPACE spaces[] = {JCS_GRAYSCALE, JCS_YCbCr, JCS_RGB, JCS_CMYK, JCS_YCCK};
    return spaces[space];
}

static void set_options(j_compress_ptr c, const plain_recipe *r, jpeg_scan_info scans[4])
{
    c->image_width = r->width;
    c->image_height = r->height;
    c->input_components = component_count(r->space);
    c->in_color_space = r->space == PLAIN_YCCK ? JCS_CMYK : stored_space(r->space);
    jpeg_set_defaults(c);
    jpeg_set_colorspace(c, stored_space(r->space));
    jpeg_set_quality(c, r->quality != 0 ? r->quality : 85, TRUE);
    for (int i = 0; i < c->num_components; i++) {
        int factors = r->factors[i] != 0 ? r->factors[i] : 0x11;
        c->comp_info[i].h_samp_factor = factors >> 4;
        c->comp_info[i].v_samp_factor = factors & 15;
    }
    c->restart_interval = (unsigned)r->restart;
    c->arith_code = r->arithmetic;
    c->optimize_coding = r->flat && !r->arithmetic;
    if (r->no_adobe)
        c->write_Adobe_marker = FALSE;
    if (r->no_jfif)
        c->write_JFIF_header = FALSE;
    if (r->progressive)
        jpeg_simple_progression(c);
    if (r->unrefined)
        c->num_scans = c->num_components == 1 ? 1 : c->num_scans / 2;
    if (r->separate && !r->progressive) {
        for (int i = 0; i < c->num_components; i++)
            scans[i] = (jpeg_scan_info){.comps_in_scan = 1, .component_index = {i}, .Se = 63};
        c->scan_info = scans;
        c->num_scans = c->num_components;
    }
}

picture_file plain_encode(const plain_recipe *r)
{
    struct jpeg_compress_struct c;
    plain_error error;
    unsigned char *made = NULL;
    unsigned long made_nbytes = 0;
    jpeg_scan_info scans[4];
    uint8_t *row = malloc((size_t)r->width * 4);
    uint64_t random = r->seed;
    c.err = jpeg_std_error(&error.base);
    error.base.error_exit = jump_out;
    if (setjmp(error.jump) != 0) {
        char text[JMSG_LENGTH_MAX];
        error.base.format_message((j_common_ptr)&c, text);
        fprintf(stderr, "plain_encode: %s\n", text);
        abort();
    }
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &made, &made_nbytes);
    set_options(&c, r, scans);
    jpeg_start_compress(&c, TRUE);
    for (uint32_t y = 0; y < r->height; y++) {
        make_row(r, y, row, &random);
        jpeg_write_scanlines(&c, &row, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    free(row);
    picture_file result = picture_copy(made, made_nbytes);
    free(made);
    return result;
}

int plain_decode(const uint8_t *bytes, size_t nbytes, uint32_t reduce, uint32_t channels, mr_image *out)
{
    struct jpeg_decompress_struct c;
    plain_error error;
    *out = (mr_image){0};
    c.err = jpeg_std_error(&error.base);
    error.base.error_exit = jump_out;
    error.base.output_message = stay_silent;
    if (setjmp(error.jump) != 0) {
        jpeg_destroy_decompress(&c);
        mr_image_fini(out, NULL);
        return -1;
    }
    jpeg_create_decompress(&c);
    jpeg_mem_src(&c, bytes, nbytes);
    jpeg_read_header(&c, TRUE);
    c.scale_num = 1;
    c.scale_denom = reduce;
    c.out_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_CMYK;
    jpeg_start_decompress(&c);
    if (mr_image_init(out, c.output_width, c.output_height, channels, 8, NULL) != 0)
        abort();
    while (c.output_scanline < c.output_height) {
        JSAMPROW row = (uint8_t *)out->pixels + (ptrdiff_t)c.output_scanline * out->stride;
        jpeg_read_scanlines(&c, &row, 1);
    }
    int warnings = (int)error.base.num_warnings;
    jpeg_destroy_decompress(&c);
    return warnings;
}

/* Written as the formula reads, with true rounding, not as our own: paper shines through what ink and black leave. */
static uint8_t shine(uint32_t stored_ink, uint32_t stored_black)
{
    uint32_t ink = 255 - stored_ink, black = 255 - stored_black, left = 255 - black;
    return (uint8_t)(left - (2 * ink * left + 255) / 510);
}

int plain_decode_cmyk(const uint8_t *bytes, size_t nbytes, uint32_t reduce, mr_image *out)
{
    mr_image cmyk;
    *out = (mr_image){0};
    int warnings = plain_decode(bytes, nbytes, reduce, 4, &cmyk);
    if (warnings < 0)
        return warnings;
    if (mr_image_init(out, cmyk.width, cmyk.height, 3, 8, NULL) != 0)
        abort();
    for (uint32_t y = 0; y < cmyk.height; y++)
        for (uint32_t x = 0; x < cmyk.width; x++) {
            const uint8_t *from = (const uint8_t *)cmyk.pixels + (ptrdiff_t)y * cmyk.stride + 4 * x;
            uint8_t *to = (uint8_t *)out->pixels + (ptrdiff_t)y * out->stride + 3 * x;
            for (int k = 0; k < 3; k++)
                to[k] = shine(from[k], from[3]);
        }
    mr_image_fini(&cmyk, NULL);
    return warnings;
}
