// SPDX-License-Identifier: Apache-2.0
/*
 * From stored bytes to pixels in an arena: one function a form, one table (decode.c). What a form, or one image of it,
 * has no kernel for is decoded on the host, and its pixels are put into the tape (mr__tape_image): MR_EUNSUPPORTED says
 * so.
 */
#ifndef MR_DEVICE_TAPE_DECODE_H
#define MR_DEVICE_TAPE_DECODE_H

#include "codec/handle.h"
#include "device/tape/chain.h"

/* An image that is to be decoded. */
typedef struct mr__tape_source {
    const uint8_t *bytes; /* as far as they were read: what the region needs */
    size_t nbytes;
    const mr_info *info;
    mr_rect region;       /* as stored: before orientation */
    mr_decoder *decoder;  /* of the lane: whose state (parsed headers, entropy tables, scratch) may be used */
    uint32_t reduce;      /* 1; 2, 4, 8: a reduced image, of which `region` then is */
    const uint8_t *index; /* row index of a JPEG; NULL: none */
    size_t index_nbytes;
} mr__tape_source;

/*
 * Calls that decode the region; *sheet is where its pixels will be, with the channels that are stored (of a JPEG: 1 or
 * 3). MR_EUNSUPPORTED: the host is to do it. Any other code is the host decoder's own, with its detail, but need not
 * be: a kernel may refuse (MR_REFUSE) what the host would find wrong, and then the host is asked why.
 *
 * As on the host, forms of coefficients are reduced by their transform, by their own functions; of the others those are
 * asked for the full size, and mr__tape_decode has boxes averaged.
 */
typedef int mr__tape_decode_form(mr__tape_writer *writer, const mr__tape_source *source, mr__sheet *sheet,
                                 mr__detail *detail);

mr__tape_decode_form mr__tape_decode;
mr__tape_decode_form mr__tape_decode_jpeg, mr__tape_decode_raw;

/*
 * Turns a sheet as EXIF's orientation says (0 or 1: as it is), and gives it these channels: gray of RGB is Pillow's L.
 */
int mr__tape_convert(mr__tape_writer *writer, mr__sheet *sheet, uint32_t orientation, uint32_t channels,
                     mr__detail *detail);

/* Whether a region is one, in an image of that size. */
bool mr__tape_is_inside(mr_rect region, uint32_t width, uint32_t height);

/* Whether there is a kernel for images of this form; the steps of any can be done. */
bool mr__tape_takes_form(mr_form form);

#endif
