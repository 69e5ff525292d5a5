// SPDX-License-Identifier: Apache-2.0
/* See bench/README.md. */
#include "device_kernels.h"

#include <stdlib.h>
#include <string.h>

static void usage(FILE *file)
{
    fprintf(file, "usage: device-kernels [OPTION...] FOLDER\n"
                  "  --rounds N   over all images, after one that is not counted [5]\n"
                  "  --images N   JPEG files of the folder, at most [64]\n"
                  "  --batch N    images of a tape, at most [16]\n"
                  "  --arena MIB  of the device's memory [512]\n"
                  "  --device N   of OpenCL's [0]\n");
}

/* RGB of 8 bits, from JPEG files that become L3 in DCT mode. */
static bool fits(const item *it, mr_encoder *encoder)
{
    const mr_encode_options options = {.struct_size = sizeof options, .form = MR_FORM_L3, .without_origin = true};
    mr_recode_report report = {.struct_size = sizeof report};
    const void *bytes;
    size_t nbytes;
    return it->form == MR_FORM_JPEG && it->shape.channels == 3 &&
           mr_encoder_recode(encoder, it->bytes, it->nbytes, &options, &bytes, &nbytes, &report) == 0 && report.exact;
}

static void shelf_fill(shelf *s, const char *folder, size_t most)
{
    mr_decoder *decoder = decoder_under("", MR_JPEG_EITHER);
    mr_encoder *encoder;
    if (mr_encoder_new(NULL, &encoder) != 0)
        need(NULL);
    set_add(&s->files, decoder, folder);
    s->pixels = need(calloc(s->files.count + 1, sizeof *s->pixels));
    for (size_t i = 0; i < s->files.count && s->count < most; i++) {
        item kept = s->files.items[i];
        mr_image *pixels = &s->pixels[s->count];
        if (!fits(&kept, encoder))
            continue;
        if (mr_image_init(pixels, kept.shape.width, kept.shape.height, 3, 8, NULL) != 0 ||
            mr_decoder_decode_into(decoder, kept.bytes, kept.nbytes, NULL, pixels) != 0)
            give_up(kept.path, mr_decoder_detail(decoder));
        s->files.items[i] = s->files.items[s->count]; // those that are taken come first
        s->files.items[s->count++] = kept;
        s->megapixels += (double)pixels->width * pixels->height / 1e6;
    }
    if (s->count == 0)
        give_up(folder, "no JPEG file that is good for this");
    s->megapixels /= (double)s->count;
    mr_encoder_free(encoder);
    mr_decoder_free(decoder);
}

static void shelf_empty(shelf *s)
{
    for (size_t i = 0; i < s->count; i++)
        mr_image_fini(&s->pixels[i], NULL);
    free(s->pixels);
    set_free(&s->files);
}

int main(int argc, char **argv)
{
    static session s = {.rounds = 5, .batch = 16};
    size_t images = 64;
    stand_options options = {.arena_nbytes = 512u << 20, .out_nbytes = 64 << 20};
    mr__detail detail = {0};
    int i = 1;
    for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
        const char *value = argv[i + 1];
        if (strcmp(argv[i], "--rounds") == 0)
            s.rounds = (unsigned)number_from_text(value, 1, ROUNDS_MAX);
        else if (strcmp(argv[i], "--images") == 0)
            images = number_from_text(value, 1, 100000);
        else if (strcmp(argv[i], "--batch") == 0)
            s.batch = number_from_text(value, 1, 64);
        else if (strcmp(argv[i], "--arena") == 0)
            options.arena_nbytes = (uint32_t)number_from_text(value, 1, 4000) << 20;
        else if (strcmp(argv[i], "--device") == 0)
            options.number = (uint32_t)number_from_text(value, 0, 64);
        else
            break;
    }
    if (i + 1 != argc || argv[i][0] == '-') {
        bool help = i < argc && strcmp(argv[i], "--help") == 0;
        usage(help ? stdout : stderr);
        return help ? 0 : 2;
    }
    options.samples = (uint32_t)s.batch;
    int result = stand_open(&s.st, &options, true, &detail);
    if (result != 0) {
        fprintf(stderr, "device-kernels: %s\n", detail.text);
        return result == MR_EUNSUPPORTED ? 77 : 2;
    }
    shelf_fill(&s.shelf, argv[i], images);
    printf("%s: %zu images of %.2f megapixels\n", argv[i], s.shelf.count, s.shelf.megapixels);
    keep_freed_memory();
    run_decoders(&s);
    run_recipes(&s);
    shelf_empty(&s.shelf);
    stand_close(&s.st);
    return 0;
}
