// SPDX-License-Identifier: Apache-2.0
/* A JPEG's coefficients: ours and libjpeg's, and files that libjpeg writes in every way it can. */
#ifndef TESTS_SUPPORT_JPEG_COEFS_H
#define TESTS_SUPPORT_JPEG_COEFS_H

#include "codec/handle.h"
#include "codec/jpeg/coefficients.h"
#include "jpeg_plain.h"

/* What a call needs, kept between calls. All zero before coefs_open. */
typedef struct coefs_tool {
    mr__handle *handle;
    mr__jpeg_coefficients_work work;
    mr__buffer origin, out;
} coefs_tool;

/* hooks and limits may be NULL. */
int coefs_open(coefs_tool *tool, const mr_hooks *hooks, const mr_limits *limits);
void coefs_close(coefs_tool *tool);

/* The functions under test, each one call. What failed is in coefs_detail. */
int coefs_read(coefs_tool *tool, const picture_file *file, mr__jpeg_coefficients *out);
int coefs_origin(coefs_tool *tool, const picture_file *file, const mr__jpeg_coefficients *c, const picture_file *icc,
                 picture_file *origin);
int coefs_restore(coefs_tool *tool, mr__jpeg_coefficients *c, const picture_file *icc, const picture_file *origin,
                  picture_file *file);
int coefs_write(coefs_tool *tool, mr__jpeg_coefficients *c, const picture_file *icc, picture_file *file);
const char *coefs_detail(const coefs_tool *tool);

/* libjpeg read the same: 0; it failed: -1; it warned and read the same: 1; something differs: 2. */
int coefs_compare(const picture_file *file, const mr__jpeg_coefficients *c);

/* Whether two have the same shape, quantisers and blocks that carry pixels. */
bool coefs_same(const mr__jpeg_coefficients *a, const mr__jpeg_coefficients *b);

/* A scan of libjpeg's: components (their number and which), first and last coefficient, bits from, bits to. */
typedef struct coefs_scan {
    int count, component[4];
    int first, last, high, low;
} coefs_scan;

/* The same coefficients, coded otherwise by libjpeg; free() the bytes. */
typedef struct coefs_coding {
    bool optimal;
    bool progressive; /* libjpeg's usual scans */
    int restart;
    const coefs_scan *scans; /* or these */
    int scan_count;
} coefs_coding;
picture_file coefs_transcode(const picture_file *file, const coefs_coding *coding);

#endif
