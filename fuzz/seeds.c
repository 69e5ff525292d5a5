// SPDX-License-Identifier: Apache-2.0
/*
 * Seeds for the fuzzer: a few hundred small images in every form and variety that the plain libraries and our own
 * encoder can write, and inputs of the round trip. `fuzz_seeds FOLDER` writes them.
 */
#include "seeds_index.h"
#include "seeds_manifest.h"
#include "seeds_recipe.h"
#include "seeds_tar.h"

#include <millrace/millrace.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <png.h>

#include "seeds_records.h"

static const char *folder;
static int written;

static void save(const char *name, const void *bytes, size_t nbytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, nbytes, file) != nbytes || fclose(file) != 0) {
        fprintf(stderr, "fuzz_seeds: cannot write %s\n", path);
        exit(1);
    }
    written++;
}

/* Smooth in one channel, busy in another, flat in places: every branch of a coder has something to do. */
static uint8_t sample(uint32_t x, uint32_t y, uint32_t c)
{
    uint32_t noise = (x * 2654435761u ^ y * 40503u * 977u ^ c * 31u) >> 24;
    if (x / 8 % 2 == 1 && y / 8 % 2 == 1)
        return (uint8_t)(40 * c);
    return (uint8_t)(c == 1 ? noise : 5 * x + 3 * y + (noise & 7));
}

static void fill(uint8_t *row, uint32_t nbytes, uint32_t channels, uint32_t y)
{
    for (uint32_t i = 0; i < nbytes; i++)
        row[i] = sample(i / channels, y, i % channels);
}

/* What a JPEG becomes in L3, with its origin and without. */
static void save_l3(const char *name, const void *bytes, size_t nbytes)
{
    mr_encoder *encoder;
    if (mr_encoder_new(NULL, &encoder) != 0)
        exit(1);
    for (int without = 0; without < 2; without++) {
        const mr_encode_options options = {
            .struct_size = sizeof options, .form = MR_FORM_L3, .without_origin = without != 0};
        char l3_name[160];
        const void *out;
        size_t out_nbytes;
        snprintf(l3_name, sizeof l3_name, "l3-%s-%s.l3", without ? "bare" : "origin", name);
        if (mr_encoder_recode(encoder, bytes, nbytes, &options, &out, &out_nbytes, NULL) == 0)
            save(l3_name, out, out_nbytes);
    }
    mr_encoder_free(encoder);
}

typedef struct jpeg_kind {
    J_COLOR_SPACE in;
    J_COLOR_SPACE stored;
    int channels;
    int h;
    int v;
    bool progressive;
    bool arithmetic;
    int restart;
    int quality;   /* below 25 quantisers are of 16 bits */
    bool separate; /* a scan for each component */
} jpeg_kind;

static void set_scans(struct jpeg_compress_struct *c, const jpeg_kind *kind, jpeg_scan_info scans[3])
{
    if (kind->progressive)
        jpeg_simple_progression(c);
    if (!kind->separate)
        return;
    for (int i = 0; i < kind->channels; i++)
        scans[i] = (jpeg_scan_info){1, {i}, 0, 63, 0, 0};
    c->scan_info = scans;
    c->num_scans = kind->channels;
}

static void save_jpeg(const jpeg_kind *kind, uint32_t width, uint32_t height)
{
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    unsigned char *out = NULL;
    unsigned long nbytes = 0;
    uint8_t row[4 * 64];
    char name[128];
    jpeg_scan_info scans[3];
    c.err = jpeg_std_error(&errors);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &out, &nbytes);
    c.image_width = width;
    c.image_height = height;
    c.input_components = kind->channels;
    c.in_color_space = kind->in;
    jpeg_set_defaults(&c);
    jpeg_set_colorspace(&c, kind->stored);
    jpeg_set_quality(&c, kind->quality, kind->quality >= 25);
    c.comp_info[0].h_samp_factor = kind->h;
    c.comp_info[0].v_samp_factor = kind->v;
    c.restart_interval = (unsigned)kind->restart;
    c.arith_code = kind->arithmetic;
    set_scans(&c, kind, scans);
    jpeg_start_compress(&c, TRUE);
    while (c.next_scanline < height) {
        JSAMPROW rows[1] = {row};
        fill(row, width * (uint32_t)kind->channels, (uint32_t)kind->channels, c.next_scanline);
        jpeg_write_scanlines(&c, rows, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    snprintf(name, sizeof name, "jpeg-%d-%dx%d-%s%s-r%d-q%d-%ux%u.jpg", (int)kind->stored, kind->h, kind->v,
             kind->separate      ? "separate"
             : kind->progressive ? "progressive"
                                 : "baseline",
             kind->arithmetic ? "-arithmetic" : "", kind->restart, kind->quality, width, height);
    save(name, out, nbytes);
    save_l3(name, out, nbytes);
    free(out);
}

static void save_jpegs(void)
{
    static const int factors[][2] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}, {4, 2}, {1, 4}, {3, 1}, {2, 4}};
    for (int p = 0; p < 2; p++) {
        bool progressive = p != 0;
        for (int i = 0; i < 9; i++) {
            jpeg_kind color = {
                .in = JCS_RGB, .stored = JCS_YCbCr, .channels = 3, .quality = 85, .progressive = progressive};
            color.h = factors[i][0];
            color.v = factors[i][1];
            save_jpeg(&color, 37, 29);
            color.restart = 2;
            color.quality = 40;
            save_jpeg(&color, 17, 40);
            color.quality = 3;
            color.separate = !progressive;
            save_jpeg(&color, 21, 19);
        }
        save_jpeg(&(jpeg_kind){JCS_GRAYSCALE, JCS_GRAYSCALE, 1, 1, 1, progressive, false, 0, 90, false}, 33, 9);
        save_jpeg(&(jpeg_kind){JCS_GRAYSCALE, JCS_GRAYSCALE, 1, 2, 2, progressive, false, 2, 9, false}, 31, 33);
        save_jpeg(&(jpeg_kind){JCS_RGB, JCS_RGB, 3, 2, 1, progressive, false, 0, 90, false}, 27, 22);
        save_jpeg(&(jpeg_kind){JCS_RGB, JCS_RGB, 3, 1, 1, progressive, false, 0, 90, false}, 12, 12);
        save_jpeg(&(jpeg_kind){JCS_CMYK, JCS_CMYK, 4, 1, 1, progressive, false, 0, 90, false}, 16, 16);
        save_jpeg(&(jpeg_kind){JCS_CMYK, JCS_YCCK, 4, 2, 2, progressive, false, 0, 90, false}, 23, 18);
        save_jpeg(&(jpeg_kind){JCS_RGB, JCS_YCbCr, 3, 2, 2, progressive, true, 1, 75, false}, 24, 24);
    }
}

/* What libpng has written so far. */
typedef struct sink {
    uint8_t bytes[65536];
    size_t nbytes;
} sink;

static void put(png_structp png, png_bytep bytes, size_t nbytes)
{
    sink *s = png_get_io_ptr(png);
    if (nbytes > sizeof s->bytes - s->nbytes)
        png_error(png, "too large for a seed");
    memcpy(s->bytes + s->nbytes, bytes, nbytes);
    s->nbytes += nbytes;
}

static void put_nothing(png_structp png)
{
    (void)png;
}

static void set_extras(png_structp png, png_infop info, int type, int depth)
{
    png_color palette[256];
    png_byte alpha[256];
    png_color_16 clear = {.red = 1, .green = 2, .blue = 3, .gray = 1};
    for (int i = 0; i < 256; i++) {
        palette[i] = (png_color){(png_byte)i, (png_byte)(255 - i), (png_byte)(i * 7)};
        alpha[i] = (png_byte)(i * 3);
    }
    int colors = depth < 8 ? 1 << depth : 256;
    if (type == PNG_COLOR_TYPE_PALETTE) {
        png_set_PLTE(png, info, palette, colors);
        png_set_tRNS(png, info, alpha, colors / 2, NULL);
    } else if ((type & PNG_COLOR_MASK_ALPHA) == 0) {
        png_set_tRNS(png, info, NULL, 0, &clear);
    }
}

static void save_png(int type, int depth, int interlace, int extras, uint32_t width, uint32_t height)
{
    static sink s;
    char name[128];
    uint8_t row[8 * 64];
    s.nbytes = 0;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    if (setjmp(png_jmpbuf(png)) == 0) {
        png_set_write_fn(png, &s, put, put_nothing);
        png_set_benign_errors(png, 1);
        png_set_IHDR(png, info, width, height, depth, type, interlace, 0, 0);
        png_set_filter(png, 0, PNG_ALL_FILTERS);
        if (extras || type == PNG_COLOR_TYPE_PALETTE)
            set_extras(png, info, type, depth);
        png_write_info(png, info);
        int passes = png_set_interlace_handling(png);
        for (int pass = 0; pass < passes; pass++)
            for (uint32_t y = 0; y < height; y++) {
                fill(row, sizeof row, png_get_channels(png, info), y);
                png_write_row(png, row);
            }
        png_write_end(png, NULL);
        snprintf(name, sizeof name, "png-t%d-d%d-i%d-e%d-%ux%u.png", type, depth, interlace, extras, width, height);
        save(name, s.bytes, s.nbytes);
    }
    png_destroy_write_struct(&png, &info);
}

static void save_pngs(void)
{
    static const int types[][6] = {{0, 1, 2, 4, 8, 16}, {2, 8, 16}, {3, 1, 2, 4, 8}, {4, 8, 16}, {6, 8, 16}};
    for (int t = 0; t < 5; t++)
        for (int d = 1; d < 6 && types[t][d] != 0; d++)
            for (int interlace = 0; interlace < 2; interlace++)
                for (int extras = 0; extras < 2; extras++)
                    save_png(types[t][0], types[t][d], interlace, extras, 3 + 9u * (unsigned)d, 11);
}

static void save_encoded(mr_encoder *encoder, uint32_t channels, uint32_t depth, const mr_encode_options *options,
                         const char *what)
{
    uint8_t pixels[20 * 4 * 2 * 15];
    mr_image image = {.width = 19, .height = 14, .channels = channels, .depth = depth, .pixels = pixels};
    const void *out;
    size_t out_nbytes;
    char name[128];
    image.stride = (ptrdiff_t)mr_image_row_nbytes(&image);
    for (uint32_t y = 0; y < image.height; y++)
        fill(pixels + image.stride * y, (uint32_t)image.stride, channels, y);
    if (mr_encoder_encode(encoder, &image, options, &out, &out_nbytes) != 0)
        return; /* the form does not have it */
    snprintf(name, sizeof name, "%s-%s-%u-%u", mr_form_name(options->form), what, channels, depth);
    save(name, out, out_nbytes);
}

/* Every form of the table, so that a new one has seeds without a word here. */
static void save_own(void)
{
    static const uint8_t profile[132] = {0, 0, 0, 132, 's', 'e', 'e', 'd'};
    mr_encoder *encoder;
    if (mr_encoder_new(NULL, &encoder) != 0)
        exit(1);
    for (int form = 1; strcmp(mr_form_name((mr_form)form), "none") != 0; form++)
        for (uint32_t channels = 1; channels <= 4; channels++)
            for (uint32_t depth = 8; depth <= 16; depth += 8) {
                mr_encode_options options = {.struct_size = sizeof options, .form = (mr_form)form};
                save_encoded(encoder, channels, depth, &options, "plain");
                options.lossless = true;
                save_encoded(encoder, channels, depth, &options, "lossless");
                options.orientation = 6;
                options.icc = profile;
                options.icc_nbytes = sizeof profile;
                save_encoded(encoder, channels, depth, &options, "metadata");
                options.lossless = false;
                save_encoded(encoder, channels, depth, &options, "lossy-metadata");
            }
    mr_encoder_free(encoder);
}

/* Pixels that make every kind of tile, and images of several tiles. */
static uint32_t kind_of_pixel(int kind, uint32_t x, uint32_t y, uint32_t c)
{
    switch (kind) {
    case 0:
        return 77; /* constant */
    case 1:
        return (x / 6 + y / 9) % 3 * 100; /* a mask */
    case 2:
        return (sample(x, y, c) / 5) * 5; /* a histogram with holes */
    case 3:
        return 2 * x + y; /* a slope */
    case 4:
        return (x * 2654435761u ^ y * 2246822519u ^ c * 3266489917u) >> 13; /* noise */
    default:
        return sample(x, y, 0) + 3 * c;
    }
}

/* 40 shapes: five sizes, the largest of several tiles, by depth and channels. */
static mr_image paint(uint8_t *pixels, int kind, uint32_t shape)
{
    static const uint32_t sizes[][2] = {{1, 1}, {7, 3}, {33, 31}, {160, 9}, {150, 140}};
    mr_image image = {.width = sizes[shape / 8][0], .height = sizes[shape / 8][1], .channels = 1 + shape % 4};
    image.depth = shape / 4 % 2 == 0 ? 8 : 16;
    image.stride = (ptrdiff_t)mr_image_row_nbytes(&image);
    image.pixels = pixels;
    uint32_t wide = image.depth / 8, step = image.channels * wide;
    for (uint32_t y = 0; y < image.height; y++)
        for (uint32_t i = 0; i < image.width * step; i++) {
            uint32_t value = kind_of_pixel(kind, i / step, y, i % step / wide);
            *pixels++ = (uint8_t)(value >> (wide == 2 && i % 2 == 1 ? 8 : 0));
        }
    return image;
}

static void save_l3s(void)
{
    uint8_t *pixels = malloc((size_t)150 * 140 * 8);
    mr_encoder *encoder;
    if (pixels == NULL || mr_encoder_new(NULL, &encoder) != 0)
        exit(1);
    for (uint32_t i = 0; i < 6 * 40 * 3; i++) {
        int kind = (int)(i / 120), preset = (int)(i % 3);
        mr_image image = paint(pixels, kind, i / 3 % 40);
        const mr_encode_options options = {
            .struct_size = sizeof options, .form = MR_FORM_L3, .preset = (mr_l3_preset)preset};
        char name[96];
        const void *out;
        size_t out_nbytes;
        snprintf(name, sizeof name, "l3-pixel-%d-%ux%u-%u-%u-%d.l3", kind, image.width, image.height, image.channels,
                 image.depth, preset);
        if (mr_encoder_encode(encoder, &image, &options, &out, &out_nbytes) == 0)
            save(name, out, out_nbytes);
    }
    mr_encoder_free(encoder);
    free(pixels);
}

static void save_pnms(void)
{
    static const char *const texts[] = {
        "P1 3 2 1 0 1 0 1 0",
        "P1\n# a comment\n9 2\n101010101\n010101010\n",
        "P2\n3 2\n255\n0 1 2 253 254 255\n",
        "P2 2 2 65535 0 1 65534 65535\n",
        "P3 1 2 15 1 2 3 15 14 13\n",
        "P4 9 2\n\xaa\x80\x55\x00",
        "P5 2 2 7\n\x01\x02\x03\x07",
        "P6 1 1 1000\n\x01\x02\x03\x04\x00\x05",
        "P7\nWIDTH 1\nHEIGHT 2\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n12345678",
        "P7\nWIDTH 1\nHEIGHT 2\nDEPTH 2\nMAXVAL 255\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\n1234",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char name[32];
        snprintf(name, sizeof name, "pnm-text-%zu.pnm", i);
        save(name, texts[i], strlen(texts[i]));
    }
    save("pnm-binary.pgm", "P5 3 2 255\n\0\1\2\375\376\377", 17);
}

static void save_jsons(void)
{
    static const char *const texts[] = {
        "{}",
        "[]",
        "[1,-2.5e+10,0.1,true,false,null,\"a\"]",
        "{\"a\":{\"b\":[[],{}]},\"\\u00e9\\n\":\"\\ud83d\\ude00\\\"\"}",
        "[\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\", 123456789012345678901234567890, 1e400, 4.9e-324]",
        "[{\"bbox\":[1,2,3,4],\"category_id\":3,\"iscrowd\":1,\"area\":12.5,\"keypoints\":[1,2,2]},{}]",
        "{\"annotations\":[{\"bbox\":[1,2,3,4],\"bbox_mode\":0}],\"width\":64,\"height\":48,\"label\":7}",
        "{\"boxes\":[[1,2,3,4],null],\"labels\":[1,2],\"keypoints\":[[1,2,3],[[4,5,6]]],\"format\":\"xyxy\"}",
        "{\"objects\":{\"bbox\":[[1,2,3,4]],\"category\":[5],\"area\":[1],\"iscrowd\":[0]}}",
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char name[32];
        snprintf(name, sizeof name, "json-%zu.json", i);
        save(name, texts[i], strlen(texts[i]));
    }
}

/* Choices for picture.c, all forms and shapes, and some pixels. */
static void save_roundtrips(void)
{
    for (int i = 0; i < 104; i++) {
        uint8_t bytes[200];
        char name[32];
        for (size_t k = 0; k < sizeof bytes; k++)
            bytes[k] = sample((uint32_t)k, (uint32_t)i, (uint32_t)k % 3);
        memcpy(bytes,
               (uint8_t[]){(uint8_t)(i < 80 ? i : 120 + i), 80, 3, (uint8_t)(i / 5), 6, 1, 11, 7, (uint8_t)(i / 5), 0,
                           0, 9},
               12);
        snprintf(name, sizeof name, "roundtrip-%d", i);
        save(name, bytes, sizeof bytes);
    }
}

static void save_states(void)
{
    static const char *const texts[] = {
        "{\"millrace_state\": 1, \"seed\": 18446744073709551615, \"epoch\": 7, \"position\": 1024, \"global_batch\": "
        "256, "
        "\"samples\": 50000, \"dataset\": \"0123456789abcdef\", \"recipe\": \"0000000000000001\", "
        "\"order\": \"ffffffffffffffff\"}",
        "{\"order\":\"000000000000000a\",\"recipe\":\"0000000000000009\",\"dataset\":\"0000000000000008\",\"samples\":"
        "6,"
        "\"global_batch\":5,\"position\":4,\"epoch\":3,\"seed\":2,\"millrace_state\":1}\n",
        "{\"millrace_state\": 2, \"cursor\": [{}, 1]}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char name[32];
        snprintf(name, sizeof name, "state-%zu", i + 1);
        save(name, texts[i], strlen(texts[i]));
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: fuzz_seeds FOLDER\n");
        return 2;
    }
    folder = argv[1];
    fuzz_seeds_records(save);
    fuzz_seeds_manifest(save);
    fuzz_seeds_recipe(save);
    fuzz_seeds_policy(save);
    save_states();
    save_jpegs();
    save_pngs();
    save_pnms();
    save_own();
    save_l3s();
    fuzz_seeds_index(save);
    save_roundtrips();
    save_jsons();
    fuzz_seeds_tar(save);
    printf("%d seeds in %s\n", written, folder);
    return 0;
}
