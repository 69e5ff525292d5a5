// SPDX-License-Identifier: Apache-2.0
/*
 * The chunks of a PNG.
 *
 * What is refused and what is only counted as a warning, in the order of the file (libpng's choices unless said):
 * 1. Before the image data, a critical chunk (IHDR, PLTE of a palette image, IDAT) that is damaged, missing, twice
 * there or out of order is an error; so is a critical chunk of an unknown kind, and anything that is no chunk.
 * 2. An ancillary chunk that is damaged or out of place is ignored, with a warning.
 * 3. Image data that is damaged or too short is an error; more of it than the image needs, a warning, and what is too
 *    much is not looked at (libpng looks for its end, which a small file can put very far). Damage behind the last row,
 *    such as a wrong Adler-32, is an error here, where libpng warns and Pillow does not look.
 * 4. After the image data everything is at most a warning, as no pixel depends on it: a missing IEND too, which Pillow
 *    passes over and libpng's png_read_end refuses; and bytes after IEND.
 * 5. Of a palette, what is beyond 2^depth entries is ignored; an index beyond its end is black, with one warning.
 */
#ifndef MR_CODEC_PNG_CHUNKS_H
#define MR_CODEC_PNG_CHUNKS_H

#include "codec/codec.h"

enum { MR__PNG_GRAY = 0, MR__PNG_RGB = 2, MR__PNG_PALETTE = 3, MR__PNG_GRAY_ALPHA = 4, MR__PNG_RGB_ALPHA = 6 };

#define MR__PNG_SIGNATURE "\x89PNG\r\n\x1a\n"

enum { MR__PNG_SIGNATURE_NBYTES = 8, MR__PNG_CHUNK_NBYTES = 12 /* length, type, checksum */ };

/* Bytes of the stored image; NULL and 0 when the chunk is not there. */
typedef struct mr__span {
    const uint8_t *bytes;
    size_t nbytes;
} mr__span;

/* What stands before the image data. */
typedef struct mr__png {
    uint32_t width;
    uint32_t height;
    uint32_t bit_depth;
    uint32_t color_type;
    bool interlaced;
    mr__span palette;      /* PLTE: 3 bytes an entry */
    mr__span transparency; /* tRNS */
    mr__span icc;          /* iCCP */
    mr__span exif;         /* eXIf */
    uint32_t frames;       /* of an animation; else 1 */
    size_t data_at;        /* offset of the first IDAT chunk */
} mr__png;

/* Reads up to the first IDAT; warns if told to. */
int mr__png_parse(mr__call *call, bool warn, mr__png *png);

/* Looks for an eXIf behind the image data, where some writers put it. Silent: what is broken there, it has not got. */
void mr__png_find_exif(const mr__call *call, mr__png *png);

/* How much compressed image data there is, by the headers of its chunks alone. */
size_t mr__png_data_nbytes(const mr__call *call, const mr__png *png);

/* The compressed image data. */
typedef struct mr__png_data {
    mr__span span; /* where it stands if there is one IDAT, else in the buffer */
    const mr__png *png;
    bool cut; /* the file ends inside it */
} mr__png_data;

/*
 * Gathers the IDAT chunks, checks their checksums, and warns about what is odd behind them. With accept_damaged, the
 * damage is a warning.
 */
int mr__png_gather(mr__call *call, const mr__png *png, bool accept_damaged, mr__buffer *buffer, mr__png_data *data);

/* The offset in the file of byte `at` of the gathered data. */
size_t mr__png_data_offset(const mr__call *call, const mr__png *png, size_t at);

/* Samples of a stored pixel: 1 to 4. */
uint32_t mr__png_samples(const mr__png *png);

/* Bytes of `width` stored pixels without the filter byte. A width up to 2^31 of 64 bits fits. */
uint64_t mr__png_row_nbytes(const mr__png *png, uint32_t width);

#endif
