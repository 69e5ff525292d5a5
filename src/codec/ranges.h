// SPDX-License-Identifier: Apache-2.0
/*
 * Which bytes of a stored image a region needs, so that a reader can leave out the rest. What is read is put where it
 * stands in the whole; the decoder, given that region, looks at nothing else. (What it then does not see, it does not
 * check: a reader who wants every hash checked reads all.)
 */
#ifndef MR_CODEC_RANGES_H
#define MR_CODEC_RANGES_H

#include "base/error.h"
#include <millrace/codec.h>

typedef struct mr__range {
    uint64_t offset, nbytes;
} mr__range;

/*
 * The beginning that has to be there before the other question can be asked, of an image of this form, size and stored
 * length. nbytes: this form is always read whole, or this image is not worth the trouble.
 */
uint64_t mr__ranges_head(mr_form form, uint32_t width, uint32_t height, uint64_t nbytes);

/*
 * What is needed for the region (in stored coordinates) besides the head, whose bytes are given; one range, which may
 * be empty; also for a decode of it at reduced size. Everything behind the head where that is little more, for the
 * whole image (of which all is checked), and for a head that makes no sense: the decoder will say what is wrong.
 */
mr__range mr__ranges_of(mr_form form, const uint8_t *head, size_t head_nbytes, uint64_t nbytes, mr_rect region);

#endif
