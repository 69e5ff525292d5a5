// SPDX-License-Identifier: Apache-2.0
/* The compressed image data into filtered rows. */
#ifndef MR_CODEC_PNG_INFLATE_H
#define MR_CODEC_PNG_INFLATE_H

#include "codec/png/chunks.h"

#include <libdeflate.h>

/*
 * Deflate makes at most 258 bytes of 2 bits (a match of the greatest length, with codes of one bit each): data of n
 * bytes cannot hold more than 1032 n.
 */
#define MR__DEFLATE_RATIO_MAX 1032

/*
 * Fills raw[0, raw_nbytes). What libdeflate does not accept is looked at again by zlib, byte by byte: to say what is
 * wrong and where, and with accept_damaged to keep what there is (the rest is zero).
 */
int mr__png_inflate(mr__call *call, struct libdeflate_decompressor *decompressor, const mr__png_data *data,
                    bool accept_damaged, uint8_t *raw, size_t raw_nbytes);

/* The profile in an iCCP chunk. */
int mr__png_inflate_icc(mr__call *call, mr__span chunk, mr__buffer *buffer, size_t *nbytes);

#endif
