// SPDX-License-Identifier: Apache-2.0
#include "codec/png/expand.h"

#include "base/bytes.h"
#include "codec/png/unfilter.h"

#include <string.h>

uint32_t mr__png_channels(const mr__png *png)
{
    uint32_t colors = png->color_type == MR__PNG_PALETTE ? 3 : mr__png_samples(png);
    return colors + (png->transparency.bytes != NULL ? 1 : 0);
}

uint32_t mr__png_depth(const mr__png *png)
{
    return png->bit_depth == 16 ? 16 : 8;
}

static mr_image one_row(void *pixels, uint32_t width, uint32_t channels, uint32_t depth)
{
    mr_image row = {.width = width, .height = 1, .channels = channels, .depth = depth, .pixels = pixels};
    row.stride = (ptrdiff_t)mr_image_row_nbytes(&row);
    return row;
}

static uint32_t palette_count(const mr__png *png)
{
    return (uint32_t)(png->palette.nbytes / 3);
}

/* The natural pixel of a one-sample value. */
static void natural_pixel(const mr__png *png, uint32_t value, uint8_t pixel[4])
{
    mr__span alpha = png->transparency;
    if (png->color_type == MR__PNG_PALETTE) {
        memset(pixel, 0, 3); // an index beyond the palette is black, as libpng has it
        if (value < palette_count(png))
            memcpy(pixel, png->palette.bytes + (size_t)3 * value, 3);
        pixel[3] = value < alpha.nbytes ? alpha.bytes[value] : 255;
        return;
    }
    uint32_t most = (1u << png->bit_depth) - 1;
    pixel[0] = (uint8_t)(value * (255 / most));
    if (alpha.bytes != NULL)
        pixel[1] = value == (mr__load_be16(alpha.bytes) & most) ? 0 : 255;
}

/* The table is an image of 256 pixels: converting it converts all that is made with it. */
static void make_table(mr__expand *e)
{
    uint8_t natural[256 * 4] = {0}, wanted[256 * 4];
    uint32_t channels = mr__png_channels(e->png), values = 1u << e->png->bit_depth;
    for (uint32_t i = 0; i < values; i++) {
        uint8_t pixel[4];
        natural_pixel(e->png, i, pixel);
        memcpy(natural + (size_t)i * channels, pixel, channels);
    }
    mr_image from = one_row(natural, values, channels, 8), to = one_row(wanted, values, e->channels, 8);
    mr_image_convert(&from, &to);
    for (uint32_t i = 0; i < values; i++)
        memcpy(e->table[i], wanted + (size_t)i * e->channels, e->channels);
}

/* Where the two rows are, which not every image needs. */
static int reserve_rows(mr__expand *e, mr__call *call, mr__buffer *rows)
{
    size_t row = (size_t)e->png->width * MR__PNG_PIXEL_MAX;
    int result = mr__call_reserve(call, rows, 2 * row);
    if (result == 0) {
        e->natural = rows->bytes;
        e->made = rows->bytes + row;
    }
    return result;
}

int mr__expand_init(mr__expand *e, mr__call *call, const mr__png *png, uint32_t channels, uint32_t depth,
                    mr__buffer *rows)
{
    *e = (mr__expand){.png = png, .channels = channels, .depth = depth};
    bool natural = channels == mr__png_channels(png) && depth == mr__png_depth(png);
    e->watch = png->color_type == MR__PNG_PALETTE && palette_count(png) < 1u << png->bit_depth;
    e->plain = natural && png->bit_depth == 8 && png->color_type != MR__PNG_PALETTE && png->transparency.bytes == NULL;
    e->by_table = !e->plain && mr__png_samples(png) == 1 && png->bit_depth <= 8;
    if (e->by_table)
        make_table(e);
    bool at_once = natural || e->by_table;
    return at_once && !png->interlaced ? 0 : reserve_rows(e, call, rows);
}

void mr__expand_values(mr__expand *e)
{
    for (uint32_t i = 0; i < 256 && e->by_table && e->channels == 1; i++)
        e->table[i][0] = (uint8_t)i;
}

/* Inlined with constant bits and channels, so that each becomes a loop of its own. */
static inline __attribute__((always_inline)) void look_up(const mr__expand *e, uint8_t *to, const uint8_t *from,
                                                          uint32_t x, uint32_t count, uint32_t bits, uint32_t channels)
{
    uint32_t mask = (1u << bits) - 1, per_byte = 8 / bits;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = x + i;
        uint32_t value = from[at / per_byte] >> (8 - bits - at % per_byte * bits) & mask;
        memcpy(to + (size_t)i * channels, e->table[value], channels);
    }
}

static void look_up_any(const mr__expand *e, uint8_t *to, const uint8_t *from, uint32_t x, uint32_t count)
{
    look_up(e, to, from, x, count, e->png->bit_depth, e->channels);
}

static void look_up_bytes(const mr__expand *e, uint8_t *to, const uint8_t *from, uint32_t x, uint32_t count)
{
    if (e->channels == 3)
        look_up(e, to, from, x, count, 8, 3);
    else if (e->channels == 4)
        look_up(e, to, from, x, count, 8, 4);
    else
        look_up_any(e, to, from, x, count);
}

static void watch_indices(mr__expand *e, const uint8_t *from, uint32_t x, uint32_t count)
{
    uint32_t bits = e->png->bit_depth, mask = (1u << bits) - 1, per_byte = 8 / bits, most = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = x + i;
        uint32_t value = from[at / per_byte] >> (8 - bits - at % per_byte * bits) & mask;
        most = value > most ? value : most;
    }
    e->out_of_range |= most >= palette_count(e->png);
}

/* Samples from big-endian to the machine's order; transparent pixels are those whose stored bytes equal tRNS. */
static void copy_samples(uint8_t *to, const uint8_t *from, size_t count, uint32_t depth)
{
    if (depth == 8) {
        memcpy(to, from, count);
        return;
    }
    uint16_t *samples = (uint16_t *)(void *)to;
    for (size_t i = 0; i < count; i++)
        samples[i] = mr__load_be16(from + 2 * i);
}

static bool is_transparent(const mr__png *png, const uint8_t *pixel, uint32_t samples)
{
    const uint8_t *key = png->transparency.bytes; // two bytes a sample at any depth
    for (uint32_t s = 0; s < samples; s++) {
        bool same = png->bit_depth == 16 ? memcmp(pixel + 2 * s, key + 2 * s, 2) == 0 : pixel[s] == key[2 * s + 1];
        if (!same)
            return false;
    }
    return true;
}

static void add_alpha(const mr__png *png, uint8_t *to, const uint8_t *from, uint32_t count)
{
    uint32_t samples = mr__png_samples(png), nbytes = png->bit_depth / 8, pixel = samples * nbytes;
    for (uint32_t i = 0; i < count; i++, from += pixel, to += pixel + nbytes) {
        copy_samples(to, from, samples, png->bit_depth);
        memset(to + pixel, is_transparent(png, from, samples) ? 0 : 255, nbytes);
    }
}

/* Natural pixels of bit depths 8 and 16. */
static void expand_natural(const mr__png *png, uint8_t *to, const uint8_t *from, uint32_t count)
{
    if (png->transparency.bytes != NULL)
        add_alpha(png, to, from, count);
    else
        copy_samples(to, from, (size_t)count * mr__png_samples(png), png->bit_depth);
}

void mr__expand_row(mr__expand *e, uint8_t *to, const uint8_t *from, uint32_t x, uint32_t count)
{
    const mr__png *png = e->png;
    if (e->watch)
        watch_indices(e, from, x, count);
    if (e->by_table && png->bit_depth == 8) {
        look_up_bytes(e, to, from, x, count);
        return;
    }
    if (e->by_table) {
        look_up_any(e, to, from, x, count);
        return;
    }
    from += (size_t)x * mr__png_samples(png) * (png->bit_depth / 8);
    if (e->channels == mr__png_channels(png) && e->depth == mr__png_depth(png)) {
        expand_natural(png, to, from, count);
        return;
    }
    expand_natural(png, e->natural, from, count);
    mr_image natural = one_row(e->natural, count, mr__png_channels(png), mr__png_depth(png));
    mr_image wanted = one_row(to, count, e->channels, e->depth);
    mr_image_convert(&natural, &wanted);
}
