// SPDX-License-Identifier: Apache-2.0
/*
 * A JPEG's frame, tables and scans, marker by marker: what readers and writers of its entropy-coded data both need.
 *
 * A walk stops at each scan. Whoever walks deals with the scan's data, which begins at walk->at, sets walk->at behind
 * it and goes on.
 */
#ifndef MR_CODEC_JPEG_SCAN_H
#define MR_CODEC_JPEG_SCAN_H

#include "codec/jpeg/coefficients.h"
#include "codec/jpeg/header.h"
#include "codec/jpeg/huffman.h"

enum { MR__JPEG_MCU_MAX = 10 }; /* blocks of an MCU */

/* A table in a DHT segment begins with class and number; this one, in an origin, stands for the optimal one. */
#define MR__JPEG_STANDS_IN 0x80

typedef struct mr__jpeg_scan {
    size_t at;      /* of its marker */
    uint32_t count; /* of components */
    uint8_t component[MR__JPEG_PLANE_MAX];
    uint8_t dc[MR__JPEG_PLANE_MAX], ac[MR__JPEG_PLANE_MAX]; /* numbers of tables */
    uint8_t first, last;                                    /* coefficients */
    uint8_t high, low;                                      /* bits: refined from, to */
    uint32_t mcus_w, mcus_h;
    uint32_t restart; /* MCUs between restart markers; 0: there are none */
} mr__jpeg_scan;

typedef struct mr__jpeg_walk {
    mr__call *call;
    mr__jpeg_coefficients *frame; /* filled in at the frame header, but for blocks */
    size_t at;
    bool stand_ins; /* DHT segments may have tables that stand for optimal ones: see origin.h */
    mr__huffman huffman[2][4];
    bool stands_in[2][4];  /* since the last scan */
    bool impossible[2][4]; /* came, but cannot be */
    uint16_t quant[4][64];
    bool has_quant[4];
    uint32_t restart;
    uint32_t scans;
    int8_t known[MR__JPEG_PLANE_MAX][64]; /* the lowest bit known of each coefficient, -1: none */
    bool interleaved[MR__JPEG_PLANE_MAX]; /* was in a scan that has padding blocks */
    mr__jpeg_scan scan;
} mr__jpeg_walk;

/* Checks that this is a JPEG whose coefficients can be read, and begins at its first marker. */
int mr__jpeg_walk_init(mr__jpeg_walk *walk, mr__call *call, mr__jpeg_coefficients *frame);

/* Up to the next scan, or to the end marker: *more tells which. At the end walk->at is behind it. */
int mr__jpeg_walk_next(mr__jpeg_walk *walk, bool *more);

/* One block of an MCU. */
typedef struct mr__jpeg_unit {
    int16_t *block; /* of the MCU at hand */
    uint32_t step;  /* to the next MCU's, in numbers */
    uint8_t part;   /* which of the scan's components */
} mr__jpeg_unit;

/* The MCU at column x, row y; returns how many blocks it has. */
uint32_t mr__jpeg_scan_units(const mr__jpeg_scan *scan, const mr__jpeg_coefficients *frame, uint32_t x, uint32_t y,
                             mr__jpeg_unit units[MR__JPEG_MCU_MAX]);

/* A bit for each coefficient whose magnitude is at least 1 << low; low is 0 to 14. */
typedef uint64_t mr__jpeg_find(const int16_t *block, uint32_t low);

/* What is done with a scan: a number of MCUs of one row, without a restart among them; and what stands between. */
typedef struct mr__jpeg_visitor {
    int (*mcus)(void *user, uint32_t x, uint32_t y, uint32_t count);
    int (*restart)(void *user, uint32_t number); /* before interval `number`, from 1 on */
} mr__jpeg_visitor;

int mr__jpeg_scan_each(const mr__jpeg_scan *scan, const mr__jpeg_visitor *visitor, void *user);

#endif
