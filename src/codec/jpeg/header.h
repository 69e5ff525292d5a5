// SPDX-License-Identifier: Apache-2.0
/* A JPEG file's markers, by our own eyes: what a header says, without libjpeg and without memory. */
#ifndef MR_CODEC_JPEG_HEADER_H
#define MR_CODEC_JPEG_HEADER_H

#include "codec/codec.h"

/* Markers, the second byte of each. */
enum {
    MR__JPEG_TEM = 0x01,
    MR__JPEG_SOF0 = 0xc0, /* baseline */
    MR__JPEG_SOF1 = 0xc1, /* extended sequential */
    MR__JPEG_SOF2 = 0xc2, /* progressive */
    MR__JPEG_DHT = 0xc4,
    MR__JPEG_JPG = 0xc8,
    MR__JPEG_SOF9 = 0xc9,  /* sequential, arithmetic */
    MR__JPEG_SOF10 = 0xca, /* progressive, arithmetic */
    MR__JPEG_DAC = 0xcc,
    MR__JPEG_SOF15 = 0xcf,
    MR__JPEG_RST0 = 0xd0,
    MR__JPEG_RST7 = 0xd7,
    MR__JPEG_SOI = 0xd8,
    MR__JPEG_EOI = 0xd9,
    MR__JPEG_SOS = 0xda,
    MR__JPEG_DHP = 0xde,
    MR__JPEG_EXP = 0xdf,
    MR__JPEG_APP0 = 0xe0,
    MR__JPEG_APP1 = 0xe1,
    MR__JPEG_APP2 = 0xe2,
    MR__JPEG_APP14 = 0xee,
    MR__JPEG_JPG0 = 0xf0, /* from here on reserved, but for comments */
    MR__JPEG_COM = 0xfe
};

#define MR__JPEG_COMPONENT_MAX 4

typedef struct mr__jpeg_component {
    uint8_t id;
    uint8_t h; /* sampling factors, 1 to 4 */
    uint8_t v;
} mr__jpeg_component;

typedef struct mr__jpeg_header {
    uint32_t width;
    uint32_t height;
    uint8_t frame; /* the SOF marker; 0 until one is seen */
    uint8_t component_count;
    mr__jpeg_component component[MR__JPEG_COMPONENT_MAX];
    bool has_jfif;
    bool has_adobe;
    uint8_t adobe_transform;
    bool has_exif;
    uint32_t orientation;
    bool has_icc;
    size_t scan_at; /* the first SOS marker */
} mr__jpeg_header;

/* One marker and what belongs to it. */
typedef struct mr__jpeg_segment {
    uint8_t marker;
    size_t at;            /* of its FF */
    const uint8_t *bytes; /* after the length */
    size_t nbytes;
    bool has_no_length; /* one that cannot be; libjpeg, which passes over such a segment, takes it for empty */
} mr__jpeg_segment;

/* The segment at or after *at, which is moved behind it. Bytes before the marker are passed over, as libjpeg does. */
int mr__jpeg_next_segment(mr__call *call, size_t *at, mr__jpeg_segment *segment);

/* Reads up to the first scan. */
int mr__jpeg_header_read(mr__call *call, mr__jpeg_header *header);

/* By the rules that libjpeg goes by. */
mr_color mr__jpeg_header_color(const mr__jpeg_header *header);

/*
 * Where fill bytes stand in front of a stuffed one in the image data (ff ff 00), which no encoder writes: libjpeg's
 * pixels would depend on how its data comes in. The length of the file: nowhere. The header must be good.
 */
size_t mr__jpeg_find_fill(mr__call *call);
int mr__jpeg_fail_fill(mr__call *call, size_t at);

/*
 * Where data of several scans can be said to end, when damage is accepted: before a segment behind the first scan that
 * its end cuts; else where it does. Such a segment is worth nothing, and libjpeg would stumble over it, while the scans
 * before it are whole.
 */
size_t mr__jpeg_usable(mr__call *call);

/* The APP2 segments that hold an ICC profile begin so, then come a number from 1 and how many there are. */
#define MR__JPEG_ICC_TAG      "ICC_PROFILE"
#define MR__JPEG_ICC_OVERHEAD ((size_t)14)

/* The codec's info, icc and holds. */
int mr__jpeg_info(mr__call *call, mr_info *info);
int mr__jpeg_icc(mr__call *call, mr__buffer *buffer, size_t *nbytes);
int mr__jpeg_holds(mr__call *call, const mr_info *info);

#endif
