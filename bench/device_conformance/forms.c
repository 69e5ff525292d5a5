// SPDX-License-Identifier: Apache-2.0
#include "conformance.h"

#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A row: how images are stored. */
typedef struct stored {
    const char *name;
    mr_encode_options options;
    uint32_t channels, depth;
    picture what;
    bool from_jpeg; /* `options` make a JPEG, which becomes an L3 in DCT mode */
} stored;

#define SIZED .struct_size = sizeof(mr_encode_options)
#define JPEG(...)                                                                                                      \
    {                                                                                                                  \
        SIZED, .form = MR_FORM_JPEG, __VA_ARGS__                                                                       \
    }
#define L3(...)                                                                                                        \
    {                                                                                                                  \
        SIZED, .form = MR_FORM_L3, __VA_ARGS__                                                                         \
    }
#define SAMPLING(sub) .subsampling = MR_SUBSAMPLING_##sub

static const stored rows[] = {
    {"jpeg 4:4:4", JPEG(SAMPLING(444), .quality = 90), 3, 8, PICTURE_MIXED, false},
    {"jpeg 4:2:2", JPEG(SAMPLING(422), .quality = 80), 3, 8, PICTURE_MIXED, false},
    {"jpeg 4:2:0", JPEG(SAMPLING(420), .quality = 85), 3, 8, PICTURE_MIXED, false},
    {"jpeg 4:4:0", JPEG(SAMPLING(440), .quality = 75), 3, 8, PICTURE_MIXED, false},
    {"jpeg 4:1:1", JPEG(SAMPLING(411), .quality = 75), 3, 8, PICTURE_MIXED, false},
    {"jpeg gray", JPEG(.quality = 90), 1, 8, PICTURE_MIXED, false},
    {"jpeg 4:2:0, noise, best quality", JPEG(SAMPLING(420), .quality = 100), 3, 8, PICTURE_NOISE, false},
    {"jpeg 4:4:4, flat, worst quality", JPEG(SAMPLING(444), .quality = 1), 3, 8, PICTURE_FLAT, false},
    {"jpeg 4:2:0 progressive", JPEG(SAMPLING(420), .quality = 85, .progressive = true), 3, 8, PICTURE_MIXED, false},
    {"jpeg 4:4:4 progressive", JPEG(SAMPLING(444), .quality = 60, .progressive = true), 3, 8, PICTURE_MIXED, false},
    {"png rgb", {SIZED, .form = MR_FORM_PNG}, 3, 8, PICTURE_MIXED, false},
    {"png gray", {SIZED, .form = MR_FORM_PNG}, 1, 8, PICTURE_MIXED, false},
    {"png rgba", {SIZED, .form = MR_FORM_PNG}, 4, 8, PICTURE_MIXED, false},
    {"png rgb of 16 bits", {SIZED, .form = MR_FORM_PNG}, 3, 16, PICTURE_MIXED, false},
    {"webp", {SIZED, .form = MR_FORM_WEBP, .quality = 80}, 3, 8, PICTURE_MIXED, false},
    {"webp lossless", {SIZED, .form = MR_FORM_WEBP, .lossless = true}, 4, 8, PICTURE_MIXED, false},
    {"pnm rgb", {SIZED, .form = MR_FORM_PNM}, 3, 8, PICTURE_MIXED, false},
    {"pnm gray", {SIZED, .form = MR_FORM_PNM}, 1, 8, PICTURE_MIXED, false},
    {"raw rgb", {SIZED, .form = MR_FORM_RAW}, 3, 8, PICTURE_MIXED, false},
    {"raw gray", {SIZED, .form = MR_FORM_RAW}, 1, 8, PICTURE_MIXED, false},
    {"raw rgba", {SIZED, .form = MR_FORM_RAW}, 4, 8, PICTURE_MIXED, false},
    {"raw rgb of 16 bits", {SIZED, .form = MR_FORM_RAW}, 3, 16, PICTURE_MIXED, false},
    {"l3 pixel", L3(.preset = MR_L3_DEFAULT), 3, 8, PICTURE_MIXED, false},
    {"l3 pixel, fast", L3(.preset = MR_L3_FAST), 3, 8, PICTURE_MIXED, false},
    {"l3 pixel, small", L3(.preset = MR_L3_SMALL), 3, 8, PICTURE_MIXED, false},
    {"l3 pixel, noise", L3(.preset = MR_L3_DEFAULT), 3, 8, PICTURE_NOISE, false},
    {"l3 pixel, flat", L3(.preset = MR_L3_DEFAULT), 3, 8, PICTURE_FLAT, false},
    {"l3 pixel gray", L3(.preset = MR_L3_DEFAULT), 1, 8, PICTURE_MIXED, false},
    {"l3 pixel gray and alpha", L3(.preset = MR_L3_DEFAULT), 2, 8, PICTURE_MIXED, false},
    {"l3 pixel rgba", L3(.preset = MR_L3_SMALL), 4, 8, PICTURE_MIXED, false},
    {"l3 pixel of 16 bits", L3(.preset = MR_L3_DEFAULT), 3, 16, PICTURE_MIXED, false},
    {"l3 dct 4:4:4", JPEG(SAMPLING(444), .quality = 90), 3, 8, PICTURE_MIXED, true},
    {"l3 dct 4:2:2", JPEG(SAMPLING(422), .quality = 80), 3, 8, PICTURE_MIXED, true},
    {"l3 dct 4:2:0", JPEG(SAMPLING(420), .quality = 85), 3, 8, PICTURE_MIXED, true},
    {"l3 dct 4:4:0", JPEG(SAMPLING(440), .quality = 75), 3, 8, PICTURE_MIXED, true},
    {"l3 dct 4:1:1", JPEG(SAMPLING(411), .quality = 75), 3, 8, PICTURE_MIXED, true},
    {"l3 dct gray", JPEG(.quality = 90), 1, 8, PICTURE_MIXED, true},
    {"l3 dct 4:2:0, noise, best quality", JPEG(SAMPLING(420), .quality = 100), 3, 8, PICTURE_NOISE, true},
    {"l3 dct 4:4:4, flat, worst quality", JPEG(SAMPLING(444), .quality = 1), 3, 8, PICTURE_FLAT, true},
    {"l3 dct 4:2:0 of a progressive one", JPEG(SAMPLING(420), .progressive = true), 3, 8, PICTURE_MIXED, true},
};

static const size sizes[] = {{61, 53},  {1, 1},   {1, 37},   {37, 1},   {130, 67}, {64, 64}, {2, 2},    {8, 8},
                             {257, 31}, {16, 16}, {7, 1031}, {7680, 5}, {3, 4320}, {17, 9},  {509, 127}};
static const size large = {7680, 4320};

/* A stored image and the part of it that is wanted. */
typedef struct part {
    const uint8_t *bytes;
    size_t nbytes;
    mr_info info;
    mr_rect region; /* of the image that `reduce` gives */
    uint32_t reduce;
} part;

static int make_on_host(const backend *b, const part *p, uint64_t *hash, mr__detail *detail)
{
    mr_decoder *decoder;
    mr_image image;
    mr_decode_hints hints = {.struct_size = sizeof hints, .region = p->region, .reduce = p->reduce, .depth = 8};
    if (setenv("MILLRACE_CPU", b->mask, 1) != 0 || (b->mask[0] == 0 && unsetenv("MILLRACE_CPU") != 0))
        return mr__fail(detail, MR_ENOMEM, "the environment");
    int code = mr_decoder_new(NULL, &decoder);
    (void)unsetenv("MILLRACE_CPU");
    if (code != 0)
        return mr__fail(detail, code, "no decoder");
    code = mr_decoder_decode(decoder, p->bytes, p->nbytes, &hints, &image);
    if (code == 0)
        *hash = mr_image_hash(&image);
    else
        (void)mr__fail(detail, code, "%s", mr_decoder_detail(decoder));
    mr_decoder_free(decoder);
    return code;
}

typedef struct writing {
    const part *part;
    mr_decoder *decoder;
} writing;

static int write_part(void *user, mr__tape_writer *writer, mr__sheet *sheet, mr__detail *detail)
{
    const writing *w = user;
    const part *p = w->part;
    mr__tape_source source = {.bytes = p->bytes,
                              .nbytes = p->nbytes,
                              .info = &p->info,
                              .region = p->region,
                              .decoder = w->decoder,
                              .reduce = p->reduce};
    return mr__tape_decode(writer, &source, sheet, detail);
}

static int make_part(backend *b, const void *what, uint64_t *hash, mr__detail *detail)
{
    writing w = {.part = what};
    playing_decoded out;
    if (b->mask != NULL)
        return make_on_host(b, what, hash, detail);
    int code = mr_decoder_new(NULL, &w.decoder);
    if (code != 0)
        return mr__fail(detail, code, "no decoder");
    uint64_t pixels = (uint64_t)w.part->info.width * w.part->info.height;
    code = playing_sheet(&b->how, write_part, &w, 4 * pixels + w.part->nbytes, &out, detail);
    if (code == 0 && out.refused)
        code = mr__fail(detail, MR_ECORRUPT, "a kernel has refused it");
    if (code == 0)
        *hash = mr_image_hash(&out.image);
    free(out.image.pixels);
    mr_decoder_free(w.decoder);
    return code;
}

/* Stored bytes, which stay with the encoder; NULL: the form does not take such images. */
static const uint8_t *store(mr_encoder *first, mr_encoder *second, const stored *how, size z, uint64_t seed,
                            size_t *nbytes)
{
    const void *bytes = NULL;
    mr_image image = paint(z.width, z.height, how->channels, how->depth, how->what, seed);
    int code = mr_encoder_encode(first, &image, &how->options, &bytes, nbytes);
    mr_encode_options l3 = {SIZED, .form = MR_FORM_L3, .without_origin = true};
    mr_recode_report report = {.struct_size = sizeof report};
    if (code == 0 && how->from_jpeg)
        code = mr_encoder_recode(second, bytes, *nbytes, &l3, &bytes, nbytes, &report);
    if (code == 0 && how->from_jpeg && !report.exact)
        give_up(how->name, "it did not become an L3 in DCT mode");
    mr_image_fini(&image, NULL);
    if (code != 0)
        give_up(how->name, mr_encoder_detail(first));
    return bytes;
}

static uint32_t divided(uint32_t side, uint32_t by)
{
    return (side + by - 1) / by;
}

/* The whole, then parts that begin and end anywhere. */
static mr_rect region_of(const part *p, unsigned number)
{
    uint32_t width = divided(p->info.width, p->reduce), height = divided(p->info.height, p->reduce);
    mr_rect r = {0, 0, width, height};
    if (number == 0)
        return r;
    uint64_t draw = mr__hash_seeded(&r, sizeof r, number);
    r.x = (uint32_t)((draw & 0xffff) * width >> 16);
    r.y = (uint32_t)((draw >> 16 & 0xffff) * height >> 16);
    r.width = 1 + (uint32_t)((draw >> 32 & 0xffff) * (width - r.x) >> 16);
    r.height = 1 + (uint32_t)((draw >> 48) * (height - r.y) >> 16);
    return r;
}

static void try_parts(session *s, part *p, unsigned regions)
{
    char label[120];
    for (unsigned i = 0; i < regions; i++) {
        p->region = region_of(p, i);
        (void)snprintf(label, sizeof label, "%u x %u at %u, %u of %u x %u, a %uth", p->region.width, p->region.height,
                       p->region.x, p->region.y, p->info.width, p->info.height, p->reduce);
        row_try(s, make_part, p, label);
    }
}

static void try_size(session *s, const stored *how, size z, unsigned regions, uint64_t seed)
{
    mr_encoder *first, *second;
    mr_decoder *decoder;
    part p = {.info = {.struct_size = sizeof p.info}};
    if (mr_encoder_new(NULL, &first) != 0 || mr_encoder_new(NULL, &second) != 0 || mr_decoder_new(NULL, &decoder) != 0)
        give_up(how->name, "out of memory");
    p.bytes = store(first, second, how, z, seed, &p.nbytes);
    if (mr_decoder_info(decoder, p.bytes, p.nbytes, &p.info) != 0)
        give_up(how->name, mr_decoder_detail(decoder));
    bool takes = mr__tape_takes_form(how->options.form); // by the transform, or boxes: as on the host
    for (p.reduce = 1; p.reduce <= (takes && regions > 1 ? 8 : 1); p.reduce *= 2)
        try_parts(s, &p, p.reduce == 1 ? regions : 2);
    mr_decoder_free(decoder);
    mr_encoder_free(first);
    mr_encoder_free(second);
}

static void run_row(session *s, const stored *how)
{
    const size_t count = sizeof sizes / sizeof *sizes;
    if (!row_begin(s, how->name))
        return;
    for (size_t i = 0; i < (s->quick ? 4 : count); i++)
        try_size(s, how, sizes[i], s->quick ? 2 : 4, i + 1);
    row_end(s);
}

/* One image of 8K, of those that devices decode. */
static void run_large(session *s)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const stored *how = &rows[i];
        char name[64];
        bool takes = mr__tape_takes_form(how->options.form) && how->depth == 8 && how->what == PICTURE_MIXED;
        (void)snprintf(name, sizeof name, "%s, 8K", how->name);
        if (!takes || how->channels != 3 || !row_begin(s, name))
            continue;
        s->spare = s->oclgrind;
        try_size(s, how, large, 1, 99);
        s->spare = false;
        row_end(s);
    }
}

void run_forms(session *s)
{
    table_head(s, "form");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        run_row(s, &rows[i]);
    if (!s->quick)
        run_large(s);
}
