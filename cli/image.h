// SPDX-License-Identifier: Apache-2.0
/* From a name to an image: what info, convert, hash and decode begin with. */
#ifndef CLI_IMAGE_H
#define CLI_IMAGE_H

#include "command.h"
#include "file.h"

/* A decoder, the file it reads, and what went wrong with it. */
typedef struct opened {
    mr_decoder *decoder;
    input in;
    uint8_t index[512 + 1]; /* a row index that was given: one byte more than there can be */
    size_t index_nbytes;
    uint64_t limit;  /* on the bytes of a file; UINT64_MAX: none */
    int code;        /* MR_E..., of the last failure */
    char error[320]; /* its sentence */
} opened;

/* False, with a complaint, when there is no memory or the row index that was named cannot be read. `hooks` may be NULL.
 */
bool opened_init(opened *o, const settings *s, const mr_hooks *hooks);
void opened_fini(opened *o);

/*
 * Each returns 0 or o->code. No more than the first few bytes are read of what is no image, nothing further of a file
 * above the limit, and of a stream no more than the limit.
 */
int opened_read(opened *o, const char *name);
int opened_info(opened *o, mr_info *info);
int opened_verify(opened *o);
int opened_tile(opened *o, uint32_t number, mr_tile *tile);
int opened_decode(opened *o, const settings *s, mr_image *image);
int opened_index(opened *o, const void **index, size_t *nbytes);

/* What went wrong, in words of the command: the library names its own fields, who typed a line knows its options. */
void explain(int code, const char *detail, char *text, size_t nbytes);

/* Fails with an errno, as if reading had. */
int opened_fail(opened *o, int number);

/* Reads as much of a file as its header needs. */
int opened_read_info(opened *o, const char *name, mr_info *info);

#endif
