// SPDX-License-Identifier: Apache-2.0
#ifndef MR_CODEC_VIEW_H
#define MR_CODEC_VIEW_H

#include <millrace/codec.h>

/*
 * As mr_decoder_decode, but where the stored bytes have the pixels just as they are asked for (8-bit raw), *out points
 * into those bytes, and nothing is copied. The pixels are to be read only, and stay as long as the bytes do.
 */
int mr__decoder_view(mr_decoder *decoder, const void *bytes, size_t nbytes, const mr_decode_hints *hints,
                     mr_image *out);

/* Whether something in the last call went beyond limits.memory_nbytes. */
bool mr__decoder_refused(const mr_decoder *decoder);

#endif
