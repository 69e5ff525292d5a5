// SPDX-License-Identifier: Apache-2.0
#include "picture.h"

#include "test.h"

#include <stdlib.h>
#include <string.h>

uint32_t picture_random(uint64_t *state)
{
    // SplitMix64: any seed will do, also 0.
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) >> 32);
}

uint32_t picture_random_below(uint64_t *state, uint32_t n)
{
    return (uint32_t)((uint64_t)picture_random(state) * n >> 32);
}

void picture_noise(uint8_t *bytes, size_t nbytes, uint32_t seed)
{
    for (size_t i = 0; i < nbytes; i++) {
        seed = seed * 1664525 + 1013904223;
        bytes[i] = (uint8_t)(seed >> 24);
    }
}

mr_rect picture_random_rect(uint64_t *state, uint32_t width, uint32_t height)
{
    mr_rect r = {picture_random_below(state, width), picture_random_below(state, height), 0, 0};
    r.width = 1 + picture_random_below(state, width - r.x);
    r.height = 1 + picture_random_below(state, height - r.y);
    return r;
}

/* 16 bits of colour at a place; the low byte is noise, so that a lost or swapped byte is seen. */
static uint32_t color_at(uint32_t x, uint32_t y, uint32_t c, uint64_t *state)
{
    uint32_t slope = x * (700 + 211 * c) + y * (300 + 97 * c);
    uint32_t edge = ((x / 5 + y / 3 + c) & 1) * 9000;
    return (slope + edge + picture_random(state) % 3000) & 0xffff;
}

static uint32_t alpha_at(uint32_t x, uint32_t y, uint64_t *state)
{
    uint32_t kind = (x / 4 + y / 6) % 3;
    return kind == 0 ? 0 : kind == 1 ? 0xffff : picture_random(state) & 0xffff;
}

mr_image picture_make(uint32_t width, uint32_t height, uint32_t channels, uint32_t depth, uint64_t seed)
{
    mr_image image;
    assert_int_equal(mr_image_init(&image, width, height, channels, depth, NULL), 0);
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            for (uint32_t c = 0; c < channels; c++) {
                bool alpha = channels % 2 == 0 && c == channels - 1;
                uint32_t v = alpha ? alpha_at(x, y, &seed) : color_at(x, y, c, &seed);
                uint8_t *row = (uint8_t *)image.pixels + (ptrdiff_t)y * image.stride;
                if (depth == 8)
                    row[x * channels + c] = (uint8_t)(v >> 8);
                else
                    ((uint16_t *)(void *)row)[x * channels + c] = (uint16_t)v;
            }
    return image;
}

static const uint8_t *pixel_at(const mr_image *image, uint32_t x, uint32_t y)
{
    return (const uint8_t *)image->pixels + (ptrdiff_t)y * image->stride + (size_t)x * mr_image_pixel_nbytes(image);
}

static bool same_shape(const mr_image *a, const mr_image *b)
{
    return a->width == b->width && a->height == b->height && a->channels == b->channels && a->depth == b->depth;
}

uint32_t picture_same_rows(const mr_image *a, const mr_image *b)
{
    uint32_t y = 0;
    while (y < a->height && memcmp(pixel_at(a, 0, y), pixel_at(b, 0, y), mr_image_row_nbytes(a)) == 0)
        y++;
    return y;
}

bool picture_is_zero_from(const mr_image *image, uint32_t y)
{
    for (; y < image->height; y++)
        for (size_t i = 0; i < mr_image_row_nbytes(image); i++)
            if (pixel_at(image, 0, y)[i] != 0)
                return false;
    return true;
}

bool picture_same(const mr_image *a, const mr_image *b)
{
    return same_shape(a, b) && picture_same_rows(a, b) == a->height;
}

bool picture_is_part(const mr_image *whole, mr_rect region, const mr_image *part)
{
    mr_image view;
    return mr_image_crop(whole, region, &view) == 0 && picture_same(&view, part);
}

void picture_compare(const mr_image *got, const mr_image *wanted, const char *what)
{
    if (!same_shape(got, wanted))
        fail_msg("%s: %u x %u x %u, %u bits; not %u x %u x %u, %u bits", what, got->width, got->height, got->channels,
                 got->depth, wanted->width, wanted->height, wanted->channels, wanted->depth);
    uint32_t x = 0, y = picture_same_rows(got, wanted);
    if (y == got->height)
        return;
    while (memcmp(pixel_at(got, x, y), pixel_at(wanted, x, y), mr_image_pixel_nbytes(got)) == 0)
        x++;
    fail_msg("%s: the pixel at %u, %u is another", what, x, y);
}

picture_file picture_copy(const void *bytes, size_t nbytes)
{
    picture_file file = {malloc(nbytes != 0 ? nbytes : 1), nbytes};
    assert_non_null(file.bytes);
    if (nbytes != 0)
        memcpy(file.bytes, bytes, nbytes);
    return file;
}

picture_file picture_encode_with(mr_encoder *with, const mr_image *image, const mr_encode_options *options)
{
    const void *bytes;
    size_t nbytes;
    int result = mr_encoder_encode(with, image, options, &bytes, &nbytes);
    if (result != 0)
        fail_msg("encode: %s: %s", mr_error_name(result), mr_encoder_detail(with));
    return picture_copy(bytes, nbytes);
}

picture_file picture_encode(const mr_image *image, const mr_encode_options *options)
{
    mr_encoder *own;
    assert_int_equal(mr_encoder_new(NULL, &own), 0);
    picture_file file = picture_encode_with(own, image, options);
    mr_encoder_free(own);
    return file;
}

mr_image picture_decode(const void *bytes, size_t nbytes, const mr_decode_hints *hints)
{
    mr_decoder *decoder;
    mr_image out, copy;
    assert_int_equal(mr_decoder_new(NULL, &decoder), 0);
    int result = mr_decoder_decode(decoder, bytes, nbytes, hints, &out);
    if (result != 0)
        fail_msg("decode: %s: %s", mr_error_name(result), mr_decoder_detail(decoder));
    assert_int_equal(mr_image_init(&copy, out.width, out.height, out.channels, out.depth, NULL), 0);
    assert_int_equal(mr_image_copy(&out, &copy), 0);
    mr_decoder_free(decoder);
    return copy;
}

int picture_try(mr_decoder *with, const void *bytes, size_t nbytes, const mr_decode_hints *hints)
{
    mr_image out;
    int result = mr_decoder_decode(with, bytes, nbytes, hints, &out);
    if (result != 0)
        assert_true(mr_decoder_detail(with)[0] != '\0');
    else
        (void)mr_image_hash(&out);
    return result;
}
