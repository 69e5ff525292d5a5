// SPDX-License-Identifier: Apache-2.0
#include "png_reference.h"

#include "base/bytes.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

void png_append(picture_file *file, const void *bytes, size_t nbytes)
{
    file->bytes = realloc(file->bytes, file->nbytes + nbytes + 1);
    if (file->bytes == NULL)
        abort();
    if (nbytes != 0)
        memcpy(file->bytes + file->nbytes, bytes, nbytes);
    file->nbytes += nbytes;
}

static uint32_t checksum(const uint8_t *type_and_bytes, size_t nbytes)
{
    return (uint32_t)crc32(0, type_and_bytes, (uInt)nbytes);
}

void png_append_chunk(picture_file *file, const char *type, const void *bytes, size_t nbytes)
{
    uint8_t word[4];
    mr__store_be32(word, (uint32_t)nbytes);
    png_append(file, word, 4);
    size_t at = file->nbytes;
    png_append(file, type, 4);
    png_append(file, bytes, nbytes);
    mr__store_be32(word, checksum(file->bytes + at, nbytes + 4));
    png_append(file, word, 4);
}

void png_begin(picture_file *file, uint32_t width, uint32_t height, uint8_t bit_depth, uint8_t color_type,
               uint8_t interlace)
{
    uint8_t header[13] = {0};
    mr__store_be32(header, width);
    mr__store_be32(header + 4, height);
    header[8] = bit_depth;
    header[9] = color_type;
    header[12] = interlace;
    png_append(file, "\x89PNG\r\n\x1a\n", 8);
    png_append_chunk(file, "IHDR", header, sizeof header);
}

void png_append_rows(picture_file *file, const void *rows, size_t nbytes)
{
    uLongf packed = compressBound((uLong)nbytes);
    uint8_t *to = malloc(packed);
    if (to == NULL || compress(to, &packed, rows, (uLong)nbytes) != Z_OK)
        abort();
    png_append_chunk(file, "IDAT", to, packed);
    free(to);
}

size_t png_find(const picture_file *file, const char *type, size_t nth)
{
    for (size_t at = 8; at + 12 <= file->nbytes; at += 12 + (size_t)mr__load_be32(file->bytes + at))
        if (memcmp(file->bytes + at + 4, type, 4) == 0 && nth-- == 0)
            return at;
    return SIZE_MAX;
}

void png_fix_checksums(picture_file *file)
{
    size_t at = 8;
    while (at + 12 <= file->nbytes) {
        size_t nbytes = mr__load_be32(file->bytes + at);
        if (nbytes > file->nbytes - at - 12)
            return;
        mr__store_be32(file->bytes + at + 8 + nbytes, checksum(file->bytes + at + 4, nbytes + 4));
        at += nbytes + 12;
    }
}

static void write_bytes(png_structp png, png_bytep bytes, size_t nbytes)
{
    png_append(png_get_io_ptr(png), bytes, nbytes);
}

static void flush_nothing(png_structp png)
{
    (void)png;
}

static uint8_t *make_row(const png_spec *spec, uint32_t y, size_t row_nbytes, uint64_t *random)
{
    uint8_t *row = malloc(row_nbytes + 1);
    if (row == NULL)
        abort();
    for (size_t i = 0; i < row_nbytes; i++)
        row[i] = (uint8_t)(i * 3 + y * 5 + (picture_random(random) % 16 == 0 ? picture_random(random) : 0));
    if (spec->color_type == PNG_COLOR_TYPE_PALETTE && spec->palette_entries != 0 && spec->bit_depth == 8)
        for (size_t i = 0; i < row_nbytes; i++)
            row[i] = (uint8_t)(row[i] % spec->palette_entries);
    return row;
}

static void write_palette(png_structp png, png_infop info, const png_spec *spec, uint64_t *random)
{
    png_color palette[256];
    png_byte alpha[256];
    int count = spec->palette_entries != 0 ? spec->palette_entries : 1 << spec->bit_depth;
    for (int i = 0; i < count; i++) {
        palette[i] = (png_color){(png_byte)picture_random(random), (png_byte)picture_random(random), (png_byte)i};
        alpha[i] = (png_byte)picture_random(random);
    }
    png_set_PLTE(png, info, palette, count);
    if (spec->transparent)
        png_set_tRNS(png, info, alpha, count > 1 ? count - 1 : 1, NULL);
}

/* A colour that rows do hold: their first pixel. */
static void write_transparency(png_structp png, png_infop info, const png_spec *spec, const uint8_t *row)
{
    int depth = spec->bit_depth;
    bool rgb = spec->color_type == PNG_COLOR_TYPE_RGB;
    png_uint_16 v[3];
    for (int i = 0; i < 3; i++)
        v[i] = depth == 16 ? mr__load_be16(row + 2 * (rgb ? i : 0)) : (png_uint_16)(row[rgb ? i : 0] >> (8 - depth));
    png_color_16 color = {0, v[0], v[1], v[2], v[0]};
    png_set_tRNS(png, info, NULL, 0, &color);
}

picture_file png_make(const png_spec *spec)
{
    picture_file file = {0};
    uint64_t random = spec->seed;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    if (setjmp(png_jmpbuf(png)))
        abort();
    png_set_write_fn(png, &file, write_bytes, flush_nothing);
    png_set_IHDR(png, info, spec->width, spec->height, spec->bit_depth, spec->color_type, spec->interlaced, 0, 0);
    png_set_compression_level(png, spec->level != 0 ? spec->level : 6);
    png_set_filter(png, 0, spec->filters != 0 ? spec->filters : PNG_ALL_FILTERS);
    if (spec->idat_nbytes != 0)
        png_set_compression_buffer_size(png, spec->idat_nbytes);
    size_t row_nbytes = png_get_rowbytes(png, info);
    uint8_t **rows = calloc(spec->height, sizeof *rows);
    for (uint32_t y = 0; y < spec->height; y++)
        rows[y] = make_row(spec, y, row_nbytes, &random);
    if (spec->color_type == PNG_COLOR_TYPE_PALETTE)
        write_palette(png, info, spec, &random);
    else if (spec->transparent)
        write_transparency(png, info, spec, rows[spec->height / 2]);
    png_set_rows(png, info, rows);
    png_write_png(png, info, PNG_TRANSFORM_IDENTITY, NULL);
    for (uint32_t y = 0; y < spec->height; y++)
        free(rows[y]);
    free(rows);
    png_destroy_write_struct(&png, &info);
    return file;
}

typedef struct source {
    const uint8_t *bytes;
    size_t nbytes;
} source;

static void read_bytes(png_structp png, png_bytep to, size_t nbytes)
{
    source *s = png_get_io_ptr(png);
    if (nbytes > s->nbytes)
        png_error(png, "the file ends");
    memcpy(to, s->bytes, nbytes);
    s->bytes += nbytes;
    s->nbytes -= nbytes;
}

static void be_quiet(png_structp png, png_const_charp text)
{
    (void)png, (void)text;
}

static void jump(png_structp png, png_const_charp text)
{
    (void)text;
    png_longjmp(png, 1);
}

static bool decode_with(png_structp png, png_infop info, png_bytep **rows, mr_image *out)
{
    if (setjmp(png_jmpbuf(png)))
        return false;
    png_read_info(png, info);
    png_set_expand(png);
    const uint16_t one = 1;
    if (*(const uint8_t *)&one == 1)
        png_set_swap(png);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    if (mr_image_init(out, png_get_image_width(png, info), png_get_image_height(png, info), png_get_channels(png, info),
                      png_get_bit_depth(png, info), NULL) != 0)
        return false;
    *rows = calloc(out->height, sizeof **rows);
    for (uint32_t y = 0; y < out->height; y++)
        (*rows)[y] = (png_bytep)out->pixels + (ptrdiff_t)y * out->stride;
    memset(out->pixels, 0, (size_t)out->stride * out->height);
    png_read_image(png, *rows);
    return true;
}

bool png_reference_decode(const void *bytes, size_t nbytes, mr_image *out)
{
    source s = {bytes, nbytes};
    mr_image image = {0};
    png_bytep *rows = NULL;
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, jump, be_quiet);
    png_infop info = png_create_info_struct(png);
    png_set_read_fn(png, &s, read_bytes);
    bool good = decode_with(png, info, &rows, &image);
    png_destroy_read_struct(&png, &info, NULL);
    free(rows);
    if (good)
        *out = image;
    else
        mr_image_fini(&image, NULL);
    return good;
}
