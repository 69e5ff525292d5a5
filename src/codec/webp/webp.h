// SPDX-License-Identifier: Apache-2.0
/*
 * WebP on libwebp. The container is walked here, so that errors have their byte and nothing is copied; libwebp gets
 * only the chunks of one picture ("ALPH" and "VP8 ", or "VP8L"), which its decoder takes without a RIFF header.
 *
 * Metadata counts if the VP8X header announces it, as for libwebp's own demuxer and so for Pillow.
 */
#ifndef MR_CODEC_WEBP_WEBP_H
#define MR_CODEC_WEBP_WEBP_H

#include "codec/codec.h"

/* Bytes [at, at + nbytes) of the file; nbytes 0: there is none. */
typedef struct mr__webp_span {
    size_t at;
    size_t nbytes;
} mr__webp_span;

/* A still picture: the only one of a file, or the first frame of an animation. */
typedef struct mr__webp_picture {
    mr__webp_span chunks; /* for libwebp: from the header of ALPH, VP8 or VP8L to the end of the pixels */
    mr__webp_span alpha;  /* the payload of ALPH; not for VP8L */
    mr__webp_span pixels; /* the payload of VP8 or VP8L */
    uint32_t width;
    uint32_t height;
    bool lossless;
    bool has_alpha; /* an ALPH chunk, or VP8L's flag */
} mr__webp_picture;

typedef struct mr__webp_file {
    uint32_t width; /* of the canvas */
    uint32_t height;
    uint32_t flags; /* of VP8X; 0 without */
    bool extended;  /* has VP8X */
    mr__webp_picture picture;
    uint32_t x; /* where the picture lies on the canvas */
    uint32_t y;
    uint32_t frames;
    mr__webp_span icc;
    mr__webp_span exif;
    size_t stated_end; /* of the file, by its RIFF header */
    size_t torn_at;    /* the chunk header after the picture that does not fit the file; 0: all do */
} mr__webp_file;

enum { MR__WEBP_ANIMATION = 0x02, MR__WEBP_EXIF = 0x08, MR__WEBP_ALPHA = 0x10, MR__WEBP_ICC = 0x20 };

/*
 * Walks the chunks. Fails where libwebp would find no picture; a file that ends early after the picture's header is
 * not a failure here: stated_end tells.
 */
int mr__webp_walk(mr__call *call, mr__webp_file *file);

/* Whether a decode gives alpha. */
bool mr__webp_has_alpha(const mr__webp_file *file);

/* What a decoder or an encoder keeps. */
typedef struct mr__webp_state {
    mr__buffer scratch; /* the part decoded when it is more than the part asked for */
} mr__webp_state;

int mr__webp_decode(mr__call *call, const mr__request *request, const mr_image *to);

int mr__webp_encode(mr__call *call, const mr_image *image, const mr_encode_options *options, mr__buffer *out,
                    size_t *out_nbytes);

#endif
