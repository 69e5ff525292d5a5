// SPDX-License-Identifier: Apache-2.0
/*
 * One image through the kernels of a device: a tape is written for it, played, and what came out is given back. It
 * knows no test framework, so that bench/ has it too; taping.h compares with it.
 */
#ifndef TESTS_SUPPORT_PLAYING_H
#define TESTS_SUPPORT_PLAYING_H

#include "device/tape/chain.h"
#include "device/tape/decode.h"
#include "kernel/lane/emulate.h"
#include <millrace/millrace.h>

/* Who plays tapes: `arena` has tape->nbytes, of which the host has written the first tape->put. NULL: the emulator. */
typedef int playing_play(void *user, const mr__tape *tape, uint8_t *arena, uint8_t *out, size_t out_nbytes,
                         mr__detail *detail);

typedef struct playing {
    playing_play *play; /* NULL: the emulator, with `seed` */
    void *user;
    uint64_t seed;
    mr__kernel_function *guest; /* for the emulator, where MR__KERNEL_GUEST is called */
    uint32_t reduce;            /* of decoders: what the image is reduced by; 0: not */
    const uint8_t *index;       /* and a JPEG's row index; NULL: none */
    size_t index_nbytes;
} playing;

/*
 * A recipe on an image, into `out` of nbytes, which is 64-byte aligned. The code is that of writing the tape (among
 * them MR_EUNSUPPORTED: there is no kernel for it) or of playing it, with detail; MR_ECORRUPT: a kernel has refused.
 */
int playing_recipe(const playing *how, const mr_recipe *recipe, const mr_image *image, uint64_t key, uint8_t *out,
                   size_t nbytes, mr__detail *detail);

/* The same of a tape of one's own: `writer` is for the recipe's finish (mr__recipe_finish). Only the calls are made. */
int playing_put_recipe(mr__tape_writer *writer, const mr_recipe *recipe, const mr_image *image, uint64_t key,
                       mr__detail *detail);

/* What came of a region of stored bytes. */
typedef struct playing_decoded {
    bool refused;
    mr_image image; /* 8 bits, rows without gaps; pixels are malloc'ed */
} playing_decoded;

/* Puts an image on a tape: *sheet is where its pixels will be. */
typedef int playing_write(void *user, mr__tape_writer *writer, mr__sheet *sheet, mr__detail *detail);

/*
 * What calls that somebody writes make of an image; as above, but that refusing is no error. `nbytes` is what they put
 * and want as room, about. On failure `out` is all zero.
 */
int playing_sheet(const playing *how, playing_write *write, void *user, uint64_t nbytes, playing_decoded *out,
                  mr__detail *detail);

/* A region of a stored image, by mr__tape_decode. */
int playing_decode(const playing *how, const void *bytes, size_t nbytes, const mr_info *info, mr_rect region,
                   playing_decoded *out, mr__detail *detail);

#endif
