// SPDX-License-Identifier: Apache-2.0
/*
 * The codec table. A codec is one folder and one line in table.c.
 *
 * Invariants every codec keeps:
 * 1. It reads nothing outside call->bytes[0, call->nbytes) and writes nothing outside `to`.
 * 2. It allocates through call->hooks, which keep limits->memory_nbytes (base/meter.h), and charges what a library
 * takes by malloc; nothing at all in a second decode of the same size, where the library it stands on allows that.
 * 3. A failure has a detail that names the form, what is wrong and at which byte.
 * 4. Decoding a region gives exactly that region of the whole decode.
 */
#ifndef MR_CODEC_CODEC_H
#define MR_CODEC_CODEC_H

#include "base/error.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/meter.h"
#include "codec/ranges.h"
#include "cpu/cpu.h"

#include <millrace/codec.h>

/* One call of a decoder or an encoder, as its codec sees it. */
typedef struct mr__call {
    const char *name;     /* of the form; "image" before it is known */
    const uint8_t *bytes; /* the stored image; NULL when encoding */
    size_t nbytes;
    const mr_hooks *hooks;
    const mr_limits *limits; /* no zeros left */
    mr__cpu_flags cpu;
    mr_jpeg_choice jpeg; /* who decodes JPEGs */
    mr__detail *detail;
    uint32_t warnings;
    mr__meter *meter;        /* that the hooks go through */
    uint64_t kept_nbytes;    /* alive when the call began: kept from earlier images */
    uint64_t library_nbytes; /* charged until the call ends */
    void *state;             /* the codec's own, kept between calls */
} mr__call;

/* Fails the call: `return mr__call_fail(call, MR_ECORRUPT, "damaged PNG: ... at byte %zu", offset);` */
#define mr__call_fail(call, ...) mr__fail((call)->detail, __VA_ARGS__)

/* Counts a warning and logs it; of one call the first 16, and then a line that says there are more. */
__attribute__((format(printf, 2, 3))) void mr__call_warn(mr__call *call, const char *format, ...);

/* The way to working memory. MR_ELIMIT or MR_ENOMEM, with detail. */
int mr__call_reserve(mr__call *call, mr__buffer *buffer, size_t nbytes);

/* After an allocation failed: MR_ELIMIT if the meter refused it, else MR_ENOMEM, with detail. */
int mr__call_no_memory(mr__call *call);

/* Before many allocations: MR_ELIMIT if this much more would not fit. */
int mr__call_fits(mr__call *call, uint64_t nbytes);

/* Puts what a library will take by malloc on the meter, by estimate, until the call ends; MR_ELIMIT if it does not fit.
 */
int mr__call_charge(mr__call *call, uint64_t nbytes);

/* What is asked of a codec's decode, in stored coordinates: orientation is dealt with outside. */
typedef struct mr__request {
    const mr_info *info; /* as the codec's own info gave it */
    mr_rect region;      /* never empty, always inside the (reduced) image */
    uint32_t reduce;     /* 1, or what `gives` agreed to */
    bool accept_damaged;
    const uint8_t *index; /* of the codec's own making, or of anyone's; NULL: none */
    size_t index_nbytes;
    bool values; /* mr_decode_hints.values */
} mr__request;

typedef struct mr__codec {
    mr_form form;
    const char *name;    /* as users write it */
    const char *endings; /* of file names, separated by spaces; the first is the usual one */

    /* State kept by a decoder or encoder between calls; cleared memory of state_nbytes before state_init. */
    size_t state_nbytes;
    int (*state_init)(mr__call *call, void *state); /* may be NULL; on failure state_fini is called as well */
    void (*state_fini)(void *state, const mr_hooks *hooks);

    /* Whether these first bytes are of this form. */
    bool (*probe)(const uint8_t *bytes, size_t nbytes);

    /* Parses the header into a cleared struct; allocates nothing. */
    int (*info)(mr__call *call, mr_info *info);

    /* The ICC profile, into *buffer. NULL where the form has none; called only if info said has_icc. */
    int (*icc)(mr__call *call, mr__buffer *buffer, size_t *nbytes);

    /*
     * Whether decode can give this shape by itself. NULL: only the info's channels and depth at full size. The table's
     * caller converts and reduces what the codec does not.
     */
    bool (*gives)(const mr_info *info, uint32_t channels, uint32_t depth, uint32_t reduce);

    /*
     * Whether the stored bytes can hold the image at all, told before any memory is taken for it. NULL: no telling.
     * MR_ETRUNCATED with detail when they cannot. Not called where damage is accepted.
     */
    int (*holds)(mr__call *call, const mr_info *info);

    /*
     * mr__ranges_head and mr__ranges_of, of an image that is worth it; false: all of it. The decoder looks at nothing
     * else. Both NULL: always read whole.
     */
    uint64_t (*ranges_head)(uint32_t width, uint32_t height);
    bool (*ranges_of)(const uint8_t *head, size_t head_nbytes, uint64_t nbytes, mr_rect region, mr__range *range);

    /* Decodes request->region into `to`, which has its size, any stride, and channels and depth the codec gives. */
    int (*decode)(mr__call *call, const mr__request *request, const mr_image *to);

    /*
     * Where the region lies in call->bytes, as `decode` would give it: fills pixels and stride of *image, whose shape
     * is given. False: it does not lie there. NULL: never. After `holds` has said 0.
     */
    bool (*view)(mr__call *call, const mr__request *request, mr_image *image);

    /* NULL: cannot encode. Channels or depth the form does not have are MR_EUNSUPPORTED, with a word on what it has. */
    int (*encode)(mr__call *call, const mr_image *image, const mr_encode_options *options, mr__buffer *out,
                  size_t *out_nbytes);

    /* What mr_decoder_index gives, into *buffer; NULL where the form has none. 0 bytes: none for this image. */
    int (*index)(mr__call *call, mr__buffer *buffer, size_t *nbytes);

    /* Of forms with tiles, else NULL. */
    int (*tile)(mr__call *call, uint32_t number, mr_tile *tile);

    /* Checks what a decode of the whole does not look at; NULL: there is nothing. */
    int (*verify)(mr__call *call);

    /*
     * From call->bytes to options->form, one of the two being this form, without pixels. NULL: never. The codec of the
     * new form is asked, or if it has no such slot that of the old one. Of the options, zeros are what was not asked
     * for: orientation 0 and icc NULL mean the source's. MR_EUNSUPPORTED with detail when this image cannot be: the
     * caller then goes through pixels and reports the detail as the reason.
     */
    int (*recode)(mr__call *call, mr_form from, const mr_encode_options *options, mr__buffer *out, size_t *out_nbytes,
                  mr_recode_report *report);
} mr__codec;

extern const mr__codec mr__codec_jpeg;
extern const mr__codec mr__codec_png;
extern const mr__codec mr__codec_webp;
extern const mr__codec mr__codec_pnm;
extern const mr__codec mr__codec_raw;
extern const mr__codec mr__codec_l3;

/* The table, in the order in which probes are tried. */
extern const mr__codec *const mr__codecs[];
extern const size_t mr__codec_count;

const mr__codec *mr__codec_of_form(mr_form form);
const mr__codec *mr__codec_probe(const uint8_t *bytes, size_t nbytes);

/* One state a codec, made when first needed. */
#define MR__CODEC_MAX 16
typedef struct mr__states {
    void *state[MR__CODEC_MAX];
} mr__states;

int mr__states_get(mr__states *states, const mr__codec *codec, mr__call *call);
void mr__states_fini(mr__states *states, const mr_hooks *hooks);

/* Width x height against limits->pixels, and each against what an mr_image can be. */
int mr__call_check_pixels(mr__call *call, uint32_t width, uint32_t height);

#endif
