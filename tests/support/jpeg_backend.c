// SPDX-License-Identifier: Apache-2.0
#include "jpeg_backend.h"

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

typedef struct backend_error {
    struct jpeg_error_mgr base;
    jmp_buf jump;
} backend_error;

static void jump_out(j_common_ptr cinfo)
{
    longjmp(((backend_error *)cinfo->err)->jump, 1);
}

static void stay_silent(j_common_ptr cinfo)
{
    (void)cinfo;
}

static void stay_silent_at(j_common_ptr cinfo, int level)
{
    (void)cinfo;
    (void)level;
}

static void *take(size_t nbytes)
{
    void *p = aligned_alloc(64, (nbytes + 63) / 64 * 64);
    assert_non_null(p);
    memset(p, 0x5a, nbytes);
    return p;
}

static void read_plane(j_decompress_ptr c, jvirt_barray_ptr array, const jpeg_component_info *info, backend_plane *to)
{
    to->blocks_w = info->width_in_blocks;
    to->blocks_h = info->height_in_blocks;
    to->blocks = take((size_t)to->blocks_w * to->blocks_h * 64 * sizeof *to->blocks);
    for (uint32_t y = 0; y < to->blocks_h; y++) {
        JBLOCKARRAY row = c->mem->access_virt_barray((j_common_ptr)c, array, y, 1, FALSE);
        int16_t *out = to->blocks + (size_t)y * to->blocks_w * 64;
        for (uint32_t i = 0; i < to->blocks_w * 64; i++)
            out[i] = (int16_t)(row[0][i / 64][i % 64] * info->quant_table->quantval[i % 64]);
    }
}

bool backend_read(const picture_file *file, backend_source *out)
{
    struct jpeg_decompress_struct c;
    backend_error error;
    memset(out, 0, sizeof *out);
    c.err = jpeg_std_error(&error.base);
    error.base.error_exit = jump_out;
    error.base.output_message = stay_silent;
    if (setjmp(error.jump) != 0) {
        jpeg_destroy_decompress(&c);
        backend_free(out);
        return false;
    }
    jpeg_create_decompress(&c);
    jpeg_mem_src(&c, file->bytes, file->nbytes);
    jpeg_read_header(&c, TRUE);
    bool known = c.num_components == 1 || c.num_components == 3;
    jvirt_barray_ptr *arrays = known ? jpeg_read_coefficients(&c) : NULL;
    for (int k = 0; known && k < c.num_components; k++) {
        out->frame.h[k] = (uint8_t)c.comp_info[k].h_samp_factor;
        out->frame.v[k] = (uint8_t)c.comp_info[k].v_samp_factor;
        read_plane(&c, arrays[k], &c.comp_info[k], &out->plane[k]);
    }
    out->frame.width = c.image_width;
    out->frame.height = c.image_height;
    out->frame.parts = (uint32_t)c.num_components;
    out->frame.rgb = c.jpeg_color_space == JCS_RGB;
    jpeg_destroy_decompress(&c);
    return known;
}

void backend_free(backend_source *source)
{
    for (size_t k = 0; k < MR__JPEG_PARTS_MAX; k++)
        free(source->plane[k].blocks);
    memset(source, 0, sizeof *source);
}

/* Lanes `at` to `at + 7` from 8 blocks of a row, of which some may lie beyond the edge: those are zero. */
static uint64_t fill_group(const backend_plane *plane, uint32_t x, uint32_t y, int16_t *coef, size_t pitch, size_t at)
{
    uint64_t bands = 0;
    for (size_t i = 0; i < 8; i++) {
        bool inside = x + i < plane->blocks_w && y < plane->blocks_h;
        const int16_t *block = inside ? plane->blocks + ((size_t)y * plane->blocks_w + x + i) * 64 : NULL;
        for (size_t b = 0; b < 64; b++) {
            int16_t value = inside ? block[b] : 0;
            coef[b * pitch + at + i] = value;
            bands |= (uint64_t)(value != 0) << b;
        }
    }
    return bands;
}

/* Bands that are zero are rubbish for the kernel, which must not look at them. */
static void spoil_empty(int16_t *coef, size_t pitch, uint64_t bands)
{
    for (size_t b = 0; b < 64; b++)
        if (!(bands >> b & 1))
            memset(coef + b * pitch, 0x77, pitch * sizeof *coef);
}

/* The samples of one part, in a plane, or in a ring of `rows` rows of blocks. */
typedef struct part_samples {
    const backend_plane *plane;
    mr__jpeg_idct *idct;
    size_t size;
    mr_rect blocks; /* of the whole region */
    uint32_t rows;
    uint32_t done; /* rows of blocks from the top */
    uint8_t *bytes;
    ptrdiff_t stride;
} part_samples;

static uint8_t *place_of(const part_samples *p, uint32_t x, uint32_t y)
{
    return p->bytes + x * p->size + (ptrdiff_t)(y % p->rows * p->size) * p->stride;
}

/* 8 x 8 blocks at x, y of the region's blocks, or the part of them that there is. */
static void transform_unit(const part_samples *p, uint32_t x, uint32_t y)
{
    int16_t *coef = take(64 * 64 * sizeof *coef);
    uint64_t bands = 0;
    uint32_t rows = p->blocks.height - y < 8 ? p->blocks.height - y : 8;
    for (uint32_t r = 0; r < rows; r++)
        bands |= fill_group(p->plane, p->blocks.x + x, p->blocks.y + y + r, coef, 64, 8 * (size_t)r);
    spoil_empty(coef, 64, bands);
    p->idct(coef, 64, bands, rows, place_of(p, x, y), p->stride, (ptrdiff_t)p->size * p->stride);
    free(coef);
}

/* Up to 16 blocks of one row. */
static void transform_strip(const part_samples *p, uint32_t x, uint32_t y)
{
    int16_t *coef = take(64 * 16 * sizeof *coef);
    size_t groups = p->blocks.width - x > 8 ? 2 : 1;
    uint64_t bands = 0;
    for (uint32_t g = 0; g < groups; g++)
        bands |= fill_group(p->plane, p->blocks.x + x + 8 * g, p->blocks.y + y, coef, 16, 8 * (size_t)g);
    spoil_empty(coef, 16, bands);
    p->idct(coef, 16, bands, groups, place_of(p, x, y), p->stride, (ptrdiff_t)(8 * p->size));
    free(coef);
}

/* All rows of blocks before `until`, which is counted from the top of the image. */
static void transform_until(part_samples *p, uint32_t until, backend_way way)
{
    uint32_t high = way == BACKEND_UNITS ? 8 : 1, wide = way == BACKEND_UNITS ? 8 : 16;
    for (; p->blocks.y + p->done < until; p->done += high)
        for (uint32_t x = 0; x < p->blocks.width; x += wide)
            if (way == BACKEND_UNITS)
                transform_unit(p, x, p->done);
            else
                transform_strip(p, x, p->done);
}

enum { BAND = 13, RING_ROWS = BAND + 3 };

static part_samples open_part(const mr__jpeg_pixels *kernels, const backend_source *source,
                              const mr__jpeg_layout *layout, uint32_t k, backend_way way, mr_rect region)
{
    const mr__jpeg_part *part = &layout->part[k];
    part_samples p = {.plane = &source->plane[k], .idct = kernels->idct[part->idct], .size = part->size};
    p.blocks = mr__jpeg_layout_blocks(layout, k, region);
    p.rows = way == BACKEND_RING ? RING_ROWS : p.blocks.height;
    p.stride = (ptrdiff_t)((p.blocks.width + 7) / 8 * 8 * p.size);
    p.bytes = take((size_t)p.stride * p.rows * p.size + MR__JPEG_SLACK);
    return p;
}

static mr__jpeg_samples samples_of(const part_samples *p, backend_way way)
{
    mr__jpeg_samples s = {.samples = p->bytes, .stride = p->stride};
    s.left = p->blocks.x * (uint32_t)p->size;
    s.top = p->blocks.y * (uint32_t)p->size;
    s.ring = way == BACKEND_RING ? p->rows * (uint32_t)p->size : 0;
    return s;
}

void backend_decode(const mr__jpeg_pixels *kernels, const backend_source *source, const mr__jpeg_layout *layout,
                    backend_way way, mr_rect region, const mr_image *to)
{
    uint32_t count = to->channels == 1 ? 1 : layout->parts, high = way == BACKEND_RING ? BAND : region.height;
    part_samples parts[MR__JPEG_PARTS_MAX];
    mr__jpeg_samples samples[MR__JPEG_PARTS_MAX];
    void *work = take(mr__jpeg_assemble_nbytes(region.width));
    for (uint32_t k = 0; k < count; k++) {
        parts[k] = open_part(kernels, source, layout, k, way, region);
        samples[k] = samples_of(&parts[k], way);
    }
    for (uint32_t y = 0; y < region.height; y += high) {
        mr_rect band = {region.x, region.y + y, region.width, region.height - y < high ? region.height - y : high};
        mr_image rows;
        assert_int_equal(mr_image_crop(to, (mr_rect){0, y, band.width, band.height}, &rows), 0);
        for (uint32_t k = 0; k < count; k++) {
            mr_rect blocks = mr__jpeg_layout_blocks(layout, k, band);
            transform_until(&parts[k], blocks.y + blocks.height, way);
        }
        mr__jpeg_assemble(kernels, layout, samples, band, work, &rows);
    }
    for (uint32_t k = 0; k < count; k++)
        free(parts[k].bytes);
    free(work);
}

/* Quantisers and the coefficients that go with them, so that products reach, and do not leave, 16 bits. */
static const uint16_t wild_quantisers[] = {1, 3, 16, 200, 255, 256, 257, 1000, 4096, 8191, 8192, 16384, 32767};

static int16_t wild_coefficient(uint64_t *random, uint32_t quantiser)
{
    int32_t most = 32767 / (int32_t)quantiser, least = -(32768 / (int32_t)quantiser);
    most = most > 1023 ? 1023 : most;
    least = least < -1023 ? -1023 : least;
    switch (picture_random_below(random, 4)) {
    case 0:
        return (int16_t)most;
    case 1:
        return (int16_t)least;
    default:
        return (int16_t)(least + (int32_t)picture_random_below(random, (uint32_t)(most - least + 1)));
    }
}

/* Anything from the constant term alone to all 64; some have the first row only, where there is a short cut. */
static void wild_block(uint64_t *random, const UINT16 *quantisers, JCOEF *block)
{
    static const uint64_t kinds[] = {1, 0xff, UINT64_MAX, 0x010101, 0x0f0f0f0f, 0x1010101010, 0xff000000ff};
    uint64_t bands = kinds[picture_random_below(random, sizeof kinds / sizeof *kinds)];
    uint32_t share = picture_random_below(random, 5);
    for (size_t b = 0; b < 64; b++) {
        bool filled = (bands >> b & 1) && (b == 0 || picture_random_below(random, 4) < share);
        block[b] = filled ? wild_coefficient(random, quantisers[b]) : 0;
    }
}

static void wild_fill(j_compress_ptr c, jvirt_barray_ptr arrays[3], uint64_t *random)
{
    for (int k = 0; k < c->num_components; k++) {
        const jpeg_component_info *info = &c->comp_info[k];
        const UINT16 *quantisers = c->quant_tbl_ptrs[info->quant_tbl_no]->quantval;
        for (uint32_t y = 0; y < info->height_in_blocks; y++) {
            JBLOCKARRAY row = c->mem->access_virt_barray((j_common_ptr)c, arrays[k], y, 1, TRUE);
            for (uint32_t x = 0; x < info->width_in_blocks; x++)
                wild_block(random, quantisers, row[0][x]);
        }
    }
}

static void wild_setup(j_compress_ptr c, uint32_t width, uint32_t height, uint8_t factors, uint64_t *random)
{
    unsigned quantisers[64];
    c->image_width = width;
    c->image_height = height;
    c->input_components = factors == 0 ? 1 : 3;
    c->in_color_space = factors == 0 ? JCS_GRAYSCALE : JCS_YCbCr;
    jpeg_set_defaults(c);
    for (int t = 0; t < 2; t++) {
        for (size_t i = 0; i < 64; i++)
            quantisers[i] = wild_quantisers[picture_random_below(random, sizeof wild_quantisers / sizeof(uint16_t))];
        jpeg_add_quant_table(c, t, quantisers, 100, FALSE);
    }
    if (factors != 0) {
        c->comp_info[0].h_samp_factor = factors >> 4;
        c->comp_info[0].v_samp_factor = factors & 15;
    }
    c->optimize_coding = TRUE;
}

picture_file backend_wild(uint32_t width, uint32_t height, uint8_t factors, uint64_t seed)
{
    struct jpeg_compress_struct c;
    backend_error error;
    unsigned char *made = NULL;
    unsigned long made_nbytes = 0;
    jvirt_barray_ptr arrays[3] = {NULL};
    c.err = jpeg_std_error(&error.base);
    error.base.error_exit = jump_out;
    if (setjmp(error.jump) != 0) {
        error.base.output_message((j_common_ptr)&c);
        abort();
    }
    error.base.emit_message = stay_silent_at; // it warns of coarse quantisers
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &made, &made_nbytes);
    wild_setup(&c, width, height, factors, &seed);
    for (int k = 0; k < c.num_components; k++)
        arrays[k] = c.mem->request_virt_barray((j_common_ptr)&c, JPOOL_IMAGE, TRUE, width / 8 + 8, height / 8 + 8, 4);
    jpeg_write_coefficients(&c, arrays);
    wild_fill(&c, arrays, &seed);
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    picture_file result = picture_copy(made, made_nbytes);
    free(made);
    return result;
}
