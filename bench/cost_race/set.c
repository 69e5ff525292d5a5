// SPDX-License-Identifier: Apache-2.0
/* Images whose bytes do not tell their pixels: a third of one size and any quality, a third of one length and any size,
 * a third of any; every third of each progressive. */
#include "cost_race.h"

#include "common.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIKE_WIDTH = 768, ALIKE_NBYTES = 90000 };

typedef struct maker {
    mr_decoder *decoder;
    mr_resizer *resizer;
    mr_encoder *encoder;
    item_set photos;
    uint64_t state;
} maker;

static uint32_t draw(maker *m, uint32_t n)
{
    m->state = m->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((m->state >> 33) % n);
}

/* Evenly by its logarithm. */
static uint32_t draw_log(maker *m, double low, double high)
{
    return (uint32_t)(low * pow(high / low, draw(m, 10000) / 1e4));
}

static mr_image paint(maker *m)
{
    mr_image image = {640, 480, 3, 8, 640 * 3, need(malloc((size_t)640 * 480 * 3))};
    uint32_t noise = 1 + draw(m, 120), slope = 1 + draw(m, 5);
    for (size_t i = 0; i < (size_t)640 * 480 * 3; i++)
        ((uint8_t *)image.pixels)[i] = (uint8_t)((i / 3 % 640 * slope / 8 + i / 1920 / 2 + draw(m, noise)) & 255);
    return image;
}

/* The next photograph, of this size; free its pixels. */
static mr_image take(maker *m, size_t number, uint32_t width, uint32_t height)
{
    mr_image from, to = {width, height, 3, 8, (ptrdiff_t)width * 3, need(malloc((size_t)width * height * 3))};
    mr_decode_hints hints = {.struct_size = sizeof hints, .channels = 3, .depth = 8};
    bool painted = m->photos.count == 0;
    if (painted) {
        from = paint(m);
    } else {
        const item *photo = &m->photos.items[number % m->photos.count];
        must(mr_decoder_decode(m->decoder, photo->bytes, photo->nbytes, &hints, &from), photo->path,
             mr_decoder_detail(m->decoder));
    }
    must(mr_resizer_resize(m->resizer, &from, NULL, &to), "resize", mr_resizer_detail(m->resizer));
    if (painted)
        free(from.pixels);
    return to;
}

static size_t encode(maker *m, const mr_image *image, uint32_t quality, bool progressive, const void **bytes)
{
    mr_encode_options how = {.struct_size = sizeof how,
                             .form = MR_FORM_JPEG,
                             .quality = quality,
                             .subsampling = quality > 90 ? MR_SUBSAMPLING_444 : MR_SUBSAMPLING_420,
                             .progressive = progressive};
    size_t nbytes = 0;
    must(mr_encoder_encode(m->encoder, image, &how, bytes, &nbytes), "encode", "");
    return nbytes;
}

/* With the highest quality that is not longer than ALIKE_NBYTES. */
static size_t encode_alike(maker *m, const mr_image *image, bool progressive, const void **bytes)
{
    uint32_t low = 1, high = 100;
    while (low < high) {
        uint32_t middle = (low + high + 1) / 2;
        if (encode(m, image, middle, progressive, bytes) <= ALIKE_NBYTES)
            low = middle;
        else
            high = middle - 1;
    }
    return encode(m, image, low, progressive, bytes);
}

static void write_file(const char *path, const void *bytes, size_t nbytes)
{
    FILE *file = fopen(path, "wb");
    must(file != NULL && fwrite(bytes, 1, nbytes, file) == nbytes && fclose(file) == 0 ? 0 : MR_EIO, path, "");
}

/* Of the logarithms. */
static double correlation(const double *x, const double *y, size_t n)
{
    double sx = 0, sy = 0, xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < n; i++) {
        sx += x[i];
        sy += y[i];
        xx += x[i] * x[i];
        yy += y[i] * y[i];
        xy += x[i] * y[i];
    }
    return (xy - sx * sy / (double)n) / sqrt((xx - sx * sx / (double)n) * (yy - sy * sy / (double)n));
}

static size_t make_one(maker *m, size_t i, uint32_t *pixels, const char *path)
{
    uint32_t width = i % 3 == 0 ? ALIKE_WIDTH : draw_log(m, 240, 1800), height = width * 3 / 4;
    bool progressive = i / 3 % 3 == 0;
    const void *bytes;
    mr_image image = take(m, i, width, height);
    size_t nbytes = i % 3 == 1 ? encode_alike(m, &image, progressive, &bytes)
                               : encode(m, &image, 10 + draw(m, 89), progressive, &bytes);
    write_file(path, bytes, nbytes);
    free(image.pixels);
    *pixels = width * height;
    return nbytes;
}

void make_set(const char *photos, const char *folder, const options *o)
{
    maker m = {.state = o->seed};
    double *lengths = need(malloc(o->images * sizeof *lengths)), *areas = need(malloc(o->images * sizeof *areas));
    must(mr_decoder_new(NULL, &m.decoder), "decoder", "");
    must(mr_resizer_new(NULL, &m.resizer), "resizer", "");
    must(mr_encoder_new(NULL, &m.encoder), "encoder", "");
    if (photos != NULL)
        set_add(&m.photos, m.decoder, photos);
    for (size_t i = 0; i < o->images; i++) {
        char path[4096];
        uint32_t pixels;
        snprintf(path, sizeof path, "%s/%06zu.jpg", folder, i);
        lengths[i] = log((double)make_one(&m, i, &pixels, path));
        areas[i] = log((double)pixels);
    }
    printf(
        "%zu JPEG files of %s, a third of them progressive. Correlation of the logarithms of bytes and pixels: %.2f\n",
        (size_t)o->images, photos != NULL ? photos : "painted images", correlation(lengths, areas, o->images));
    set_free(&m.photos);
    mr_decoder_free(m.decoder);
    mr_resizer_free(m.resizer);
    mr_encoder_free(m.encoder);
    free(lengths);
    free(areas);
}
