// SPDX-License-Identifier: Apache-2.0
/*
 * Decodes the middle of an image, whatever its form, and prints its mean colour.
 *
 *     cc examples/decode.c -o decode $(pkg-config --cflags --libs millrace)
 *     ./decode photo.jpg
 */
#include <millrace/millrace.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned char *read_file(const char *name, size_t *nbytes)
{
    FILE *file = fopen(name, "rb");
    unsigned char *bytes = NULL;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
        long size = ftell(file);
        rewind(file);
        bytes = size > 0 ? malloc((size_t)size) : NULL;
        *nbytes = bytes != NULL ? fread(bytes, 1, (size_t)size, file) : 0;
    }
    if (file != NULL)
        fclose(file);
    return bytes;
}

/* The middle half of the image, upright, as 8-bit RGB. */
static int decode_middle(mr_decoder *decoder, const void *bytes, size_t nbytes, mr_image *image)
{
    mr_decode_hints hints = {.struct_size = sizeof hints, .orient = true, .channels = 3, .depth = 8};
    mr_image whole;
    int result = mr_decoder_shape(decoder, bytes, nbytes, &hints, &whole);
    if (result != 0)
        return result;
    hints.region = (mr_rect){whole.width / 4, whole.height / 4, (whole.width + 1) / 2, (whole.height + 1) / 2};
    return mr_decoder_decode(decoder, bytes, nbytes, &hints, image);
}

static void print_mean(const mr_image *image)
{
    unsigned long long sum[3] = {0};
    for (uint32_t y = 0; y < image->height; y++) {
        const unsigned char *row = (const unsigned char *)image->pixels + (ptrdiff_t)y * image->stride;
        for (uint32_t x = 0; x < image->width; x++)
            for (int c = 0; c < 3; c++)
                sum[c] += row[3 * (size_t)x + (size_t)c];
    }
    double count = (double)image->width * image->height;
    printf("%u x %u, mean colour %.1f %.1f %.1f\n", image->width, image->height, (double)sum[0] / count,
           (double)sum[1] / count, (double)sum[2] / count);
}

int main(int argc, char **argv)
{
    size_t nbytes = 0;
    unsigned char *bytes = argc == 2 ? read_file(argv[1], &nbytes) : NULL;
    if (bytes == NULL) {
        fprintf(stderr, argc == 2 ? "cannot read %s\n" : "usage: %s FILE\n", argv[argc == 2]);
        return 2;
    }
    mr_decoder *decoder = NULL;
    mr_image image;
    int result = mr_decoder_new(NULL, &decoder);
    if (result == 0)
        result = decode_middle(decoder, bytes, nbytes, &image);
    if (result == 0)
        print_mean(&image);
    else
        fprintf(stderr, "%s: %s\n", argv[1], decoder != NULL ? mr_decoder_detail(decoder) : mr_error_text(result));
    mr_decoder_free(decoder);
    free(bytes);
    return result != 0;
}
