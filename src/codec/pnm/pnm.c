// SPDX-License-Identifier: Apache-2.0
#include "codec/pnm/pnm.h"

#include "base/bytes.h"
#include "base/size.h"

#include <stdio.h>
#include <string.h>

/* P7 has to be followed by a line end: "P7 332" is another format, an old thumbnail. */
static bool probe(const uint8_t *bytes, size_t nbytes)
{
    if (nbytes < 3 || bytes[0] != 'P' || bytes[1] < '1' || bytes[1] > '7')
        return false;
    return bytes[1] == '7' ? bytes[2] == '\n' : mr__pnm_is_space(bytes[2]) || bytes[2] == '#';
}

static int read_info(mr__call *call, mr_info *info)
{
    mr__pnm_header header;
    int result = mr__pnm_parse(call, &header);
    if (result != 0)
        return result;
    info->width = header.width;
    info->height = header.height;
    info->channels = header.channels;
    info->depth = mr__pnm_depth(&header);
    info->color = header.channels <= 2 ? MR_COLOR_GRAY : MR_COLOR_RGB;
    info->lossless = true;
    return 0;
}

enum { HEADER_MAX = 128 };

/* PGM, PPM, or PAM where there is alpha. */
static size_t write_header(char *text, const mr_image *image)
{
    unsigned maxval = image->depth == 8 ? 255 : 65535;
    int nbytes;
    if (image->channels % 2 == 0)
        nbytes =
            snprintf(text, HEADER_MAX, "P7\nWIDTH %u\nHEIGHT %u\nDEPTH %u\nMAXVAL %u\nTUPLTYPE %s_ALPHA\nENDHDR\n",
                     image->width, image->height, image->channels, maxval, image->channels == 2 ? "GRAYSCALE" : "RGB");
    else
        nbytes = snprintf(text, HEADER_MAX, "P%c\n%u %u\n%u\n", image->channels == 1 ? '5' : '6', image->width,
                          image->height, maxval);
    return (size_t)nbytes;
}

static void write_row(uint8_t *to, const uint8_t *from, size_t nbytes, uint32_t depth)
{
    if (depth == 8) {
        memcpy(to, from, nbytes);
        return;
    }
    const uint16_t *samples = (const uint16_t *)(const void *)from;
    for (size_t i = 0; i < nbytes / 2; i++)
        mr__store_be16(to + 2 * i, samples[i]);
}

static int encode(mr__call *call, const mr_image *image, const mr_encode_options *options, mr__buffer *out,
                  size_t *out_nbytes)
{
    (void)options; // PNM has no place for an orientation or a profile; mr_encode_options says so
    char text[HEADER_MAX];
    size_t text_nbytes = write_header(text, image), row_nbytes = mr_image_row_nbytes(image), nbytes;
    if (!mr__size_mul_add(row_nbytes, image->height, text_nbytes, &nbytes))
        return mr__call_fail(call, MR_ELIMIT, "a PNM of %u x %u does not fit the address space", image->width,
                             image->height);
    int result = mr__call_reserve(call, out, nbytes);
    if (result != 0)
        return result;
    memcpy(out->bytes, text, text_nbytes);
    for (uint32_t y = 0; y < image->height; y++)
        write_row(out->bytes + text_nbytes + y * row_nbytes,
                  (const uint8_t *)image->pixels + (ptrdiff_t)y * image->stride, row_nbytes, image->depth);
    *out_nbytes = nbytes;
    return 0;
}

const mr__codec mr__codec_pnm = {.form = MR_FORM_PNM,
                                 .name = "pnm",
                                 .endings = "pnm pbm pgm ppm pam",
                                 .probe = probe,
                                 .info = read_info,
                                 .holds = mr__pnm_holds,
                                 .decode = mr__pnm_decode,
                                 .encode = encode};
