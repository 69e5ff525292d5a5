// SPDX-License-Identifier: Apache-2.0
#ifndef MILLRACE_CODEC_H
#define MILLRACE_CODEC_H

#include <millrace/image.h>

/* A form: one stored encoding of an image. Found by content, never by a file's name. */
typedef enum mr_form {
    MR_FORM_NONE = 0,
    MR_FORM_JPEG = 1,
    MR_FORM_PNG = 2,
    MR_FORM_WEBP = 3,
    MR_FORM_PNM = 4,
    MR_FORM_RAW = 5,
    MR_FORM_L3 = 6
} mr_form;

/* How the samples are stored, before anything is done to them. */
typedef enum mr_color {
    MR_COLOR_GRAY = 1,
    MR_COLOR_RGB = 2,
    MR_COLOR_YCBCR = 3,
    MR_COLOR_CMYK = 4,
    MR_COLOR_YCCK = 5,
    MR_COLOR_PALETTE = 6
} mr_color;

typedef enum mr_subsampling {
    MR_SUBSAMPLING_NONE = 0, /* no chroma, or none stored apart */
    MR_SUBSAMPLING_444 = 1,
    MR_SUBSAMPLING_422 = 2,
    MR_SUBSAMPLING_420 = 3,
    MR_SUBSAMPLING_440 = 4,
    MR_SUBSAMPLING_411 = 5,
    MR_SUBSAMPLING_410 = 6,
    MR_SUBSAMPLING_441 = 7,
    MR_SUBSAMPLING_OTHER = 8
} mr_subsampling;

/* What a header says. */
typedef struct mr_info {
    size_t struct_size;
    mr_form form;
    uint32_t width; /* as stored: the orientation is not applied */
    uint32_t height;
    uint32_t channels; /* that a decode without hints gives */
    uint32_t depth;    /* likewise: 8 or 16 */
    mr_color color;
    mr_subsampling subsampling;
    uint32_t orientation; /* EXIF (not XMP), 1 to 8; 1 when there is none or it is broken */
    bool progressive;     /* a progressive JPEG, an interlaced PNG */
    bool lossless;        /* PNG, PNM, raw, lossless WebP, L3 in pixel mode */
    bool has_icc;
    uint32_t frames;       /* 1; more in an animation, of which the first is decoded */
    uint32_t tiles;        /* of L3; 0 where a form has none */
    bool has_origin;       /* of L3 made from a JPEG: the very JPEG can be written again */
    uint64_t extra_nbytes; /* of L3: what stands beside the image, an ICC profile and the origin */
} mr_info;

/* One tile of an image that is stored in tiles. */
typedef struct mr_tile {
    size_t struct_size;
    mr_rect rect;     /* the pixels it holds, as stored */
    uint64_t offset;  /* of its first byte in the stored image */
    uint64_t nbytes;  /* stored */
    const char *kind; /* a word or two on how it is coded: "constant", "lz", "lifting", "dct", ...; static text */
    bool intact;      /* its checksum matches */
} mr_tile;

/* What an L3 encoder aims at: one bitstream, three choices. */
typedef enum mr_l3_preset { MR_L3_DEFAULT = 0, MR_L3_FAST = 1, MR_L3_SMALL = 2 } mr_l3_preset;

/* What mr_encoder_recode did. */
typedef struct mr_recode_report {
    size_t struct_size;
    bool exact;             /* recoded without going through pixels: the same coefficients */
    bool has_origin;        /* the source file can be written again, byte for byte: proven */
    uint64_t origin_nbytes; /* what that takes, of the whole */
    const char *why;        /* why not exact, or why without origin, for a person; "" otherwise. The encoder's */
} mr_recode_report;

/* Checked before anything is allocated. 0 takes the default in brackets; UINT64_MAX is no limit. */
typedef struct mr_limits {
    size_t struct_size;
    uint64_t pixels;        /* width x height [2^28] */
    uint64_t nbytes;        /* of the stored image [2^30] */
    uint64_t scans;         /* of a progressive image [100]; doc/jpeg.md: they bound the work of all scans, too */
    uint64_t memory_nbytes; /* all that a handle may hold at once, pixels and working memory [2^31] */
} mr_limits;

typedef struct mr_decode_hints {
    size_t struct_size;
    /*
     * Only this part, in the coordinates of the image that the other hints give (reduced, oriented): the result equals
     * that part of the whole, bit for bit. All zero: everything.
     */
    mr_rect region;
    uint32_t
        reduce; /* 2, 4, 8: the size divided by this, rounded up; 0 and 1: full size. JPEG does it by its transform */
    uint32_t channels;   /* 1 to 4; 0: as stored. Gray from a YCbCr JPEG is its Y */
    uint32_t depth;      /* 8 or 16; 0: as stored */
    bool orient;         /* apply the EXIF orientation */
    bool accept_damaged; /* give what could be decoded of a damaged or truncated image, the rest as the decoder fills it
                          */
    /*
     * What mr_decoder_index gave for these very bytes: a region then begins in the middle of them. NULL: none. One that
     * is damaged or of other bytes is an error; with accept_damaged it is not used, and that is a warning. Hashes are
     * no signatures: an index is to be trusted as its JPEG is, since who forges it can change pixels, though no more.
     */
    const void *index;
    size_t index_nbytes;
    /*
     * Numbers as they are stored instead of what they are shown as, for masks of classes: of a PNG with a palette the
     * indices, of gray with less than 8 bits what is not spread to 0 to 255. With 1 channel of 8 bits; whatever else is
     * stored or asked for is as without it.
     */
    bool values;
} mr_decode_hints;

/* Who decodes a JPEG. Both give the same pixels; libjpeg-turbo is slower, and takes kinds that ours does not. */
typedef enum mr_jpeg_choice {
    MR_JPEG_EITHER = 0, /* ours; libjpeg-turbo what ours is not for, and what is damaged where damage is accepted */
    /*
     * Ours alone: the rest is MR_EUNSUPPORTED, and damage is an error also with accept_damaged, since only
     * libjpeg-turbo makes pixels of it.
     */
    MR_JPEG_OWN = 1,
    MR_JPEG_LIBJPEG = 2
} mr_jpeg_choice;

typedef struct mr_decoder_options {
    size_t struct_size;
    const mr_hooks *hooks;   /* NULL: defaults */
    const mr_limits *limits; /* NULL: defaults */
    mr_jpeg_choice jpeg;
} mr_decoder_options;

/*
 * Decodes one image after the other, keeping its working memory between them.
 *
 * Threads: one at a time; any number of decoders side by side.
 * Ownership: mr_decoder_free frees it and all it gave out.
 * Limits: those of its options, checked before memory is taken.
 */
typedef struct mr_decoder mr_decoder;

/*
 * How to encode. PNM has no place for an orientation or an ICC profile: it takes them and leaves them out, so that one
 * set of options does for every form; who minds looks at `form` and says so.
 */
typedef struct mr_encode_options {
    size_t struct_size;
    mr_form form;               /* which must be given */
    uint32_t quality;           /* 1 to 100 for lossy forms; 0: 90 */
    mr_subsampling subsampling; /* of JPEG; 0: 4:2:0 */
    bool progressive;           /* JPEG: progressive; PNG: not supported */
    bool lossless;              /* WebP */
    uint32_t effort;            /* 1 (fast) to 9 (small) for PNG and WebP; 0: 6 */
    uint32_t orientation;       /* stored with the image; 0 and 1: none */
    const void *icc;            /* an ICC profile to store; NULL: none */
    size_t icc_nbytes;
    mr_l3_preset preset; /* of L3's pixel mode */
    bool without_origin; /* L3 from JPEG: leave out what it takes to write that JPEG again */
    uint32_t threads;    /* that L3 may use for one image; 0: 1. The bytes are the same for any number */
} mr_encode_options;

typedef struct mr_encoder_options {
    size_t struct_size;
    const mr_hooks *hooks;
    const mr_limits *limits; /* pixels and memory_nbytes apply */
} mr_encoder_options;

/*
 * Encodes one image after the other, keeping its working memory between them.
 *
 * Threads: one at a time; any number of encoders side by side.
 * Ownership: mr_encoder_free frees it and all it gave out.
 * Limits: those of its options.
 */
typedef struct mr_encoder mr_encoder;

MR_BEGIN_DECLS

/* "jpeg", "png", ...; "none" for MR_FORM_NONE and anything unknown. */
MR_API const char *mr_form_name(mr_form form);

/* The form for a name or a file ending without its dot ("jpeg", "JPG", "ppm"); MR_FORM_NONE when there is none. */
MR_API mr_form mr_form_from_name(const char *name);

/* The form these first bytes belong to (32 are enough), or MR_FORM_NONE. */
MR_API mr_form mr_form_probe(const void *bytes, size_t nbytes);

/* "4:2:0", "none", "other". */
MR_API const char *mr_subsampling_name(mr_subsampling subsampling);

/* "gray", "rgb", "ycbcr", "cmyk", "ycck", "palette". */
MR_API const char *mr_color_name(mr_color color);

MR_API int mr_decoder_new(const mr_decoder_options *options, mr_decoder **out);
MR_API void mr_decoder_free(mr_decoder *decoder);

/* Reads the header alone. Set info->struct_size before the call. */
MR_API int mr_decoder_info(mr_decoder *decoder, const void *bytes, size_t nbytes, mr_info *info);

/* The shape a decode with these hints will have (stride of rows without gaps, no pixels), from the header alone. */
MR_API int mr_decoder_shape(mr_decoder *decoder, const void *bytes, size_t nbytes, const mr_decode_hints *hints,
                            mr_image *shape);

/* Decodes; the pixels are the decoder's and stay until its next call. `hints` may be NULL. */
MR_API int mr_decoder_decode(mr_decoder *decoder, const void *bytes, size_t nbytes, const mr_decode_hints *hints,
                             mr_image *out);

/*
 * Decodes into the caller's pixels; `to` has the shape that mr_decoder_shape gives, with any stride. After a failure
 * its contents are undefined.
 */
MR_API int mr_decoder_decode_into(mr_decoder *decoder, const void *bytes, size_t nbytes, const mr_decode_hints *hints,
                                  const mr_image *to);

/* The ICC profile; *out is the decoder's and stays until its next call, NULL with 0 bytes when there is none. */
MR_API int mr_decoder_icc(mr_decoder *decoder, const void *bytes, size_t nbytes, const void **out, size_t *out_nbytes);

/*
 * A JPEG's row index (doc/format-jpeg-index.md): at most 512 bytes, with which a region is decoded without reading what
 * stands before it. To be kept beside the JPEG and given with the hints. *out is the decoder's and stays until its next
 * call; NULL with 0 bytes where there is none to be had (other forms; progressive and other JPEGs of several scans; one
 * row of blocks; what only libjpeg-turbo decodes; DC values beyond 16 bits). Reads all of the image: damage is an
 * error. Each use costs a hash of the whole JPEG, so that it is of little use for regions near the top of the image.
 */
MR_API int mr_decoder_index(mr_decoder *decoder, const void *bytes, size_t nbytes, const void **out,
                            size_t *out_nbytes);

/* What the last call failed of, for a person: "truncated JPEG: ..."; "" after a success. */
MR_API const char *mr_decoder_detail(const mr_decoder *decoder);

/*
 * Warnings of the last call: harmless oddities and, with accept_damaged, the damage. The first 16 are logged too, and
 * that there are more.
 */
MR_API uint32_t mr_decoder_warnings(const mr_decoder *decoder);

/*
 * Checks the whole stored image: every checksum, every tile decoded, every section read, the JPEG of an origin written.
 * 0, or an error whose detail says what is wrong and where. For forms without checksums: that it decodes without
 * damage.
 */
MR_API int mr_decoder_verify(mr_decoder *decoder, const void *bytes, size_t nbytes);

/* One tile, 0 to info.tiles - 1, in the order they are stored. Set tile->struct_size before the call. */
MR_API int mr_decoder_tile(mr_decoder *decoder, const void *bytes, size_t nbytes, uint32_t number, mr_tile *tile);

/* Gives back the working memory that is kept between calls, and so what the decoder gave out. */
MR_API void mr_decoder_trim(mr_decoder *decoder);

MR_API int mr_encoder_new(const mr_encoder_options *options, mr_encoder **out);
MR_API void mr_encoder_free(mr_encoder *encoder);

/* Encodes; *out is the encoder's and stays until its next call. */
MR_API int mr_encoder_encode(mr_encoder *encoder, const mr_image *image, const mr_encode_options *options,
                             const void **out, size_t *out_nbytes);

/*
 * From one stored form to another, without going through pixels where the two allow it: a JPEG to L3 in DCT mode, and
 * such an L3 back to the very JPEG. Otherwise decodes and encodes, and the report says why. The ICC profile and the
 * orientation go along unless the options give others; an origin brings back the JPEG as it was, whatever else the L3
 * was given. `report` may be NULL.
 */
MR_API int mr_encoder_recode(mr_encoder *encoder, const void *bytes, size_t nbytes, const mr_encode_options *options,
                             const void **out, size_t *out_nbytes, mr_recode_report *report);

MR_API const char *mr_encoder_detail(const mr_encoder *encoder);

MR_END_DECLS

#endif
