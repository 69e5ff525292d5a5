// SPDX-License-Identifier: Apache-2.0
/*
 * JPEG on a tape: our own entropy decoder on the host, kernels from the coefficients on. It decodes as it does for
 * pixels (region, row index, reduced size, errors), but gives its strips of 16 blocks away where it would transform
 * them. What it is not for is the host's to decode: MR_EUNSUPPORTED.
 *
 * What is sent. Coefficients as they are, 16 bits each, are more bytes than the pixels: nothing would be gained on a
 * link. Of a strip only those places are sent that are not zero in all of its 16 blocks, and a place whose numbers are
 * all of 8 bits as bytes (most are, but for the lowest frequencies). On photographs that is about half of the pixels
 * (the test unit.tape_dct prints it). It costs the host one look at what lies in its first-level cache; lanes of the
 * device read side by side. To send only what is not zero, with masks, would be a third less, but takes the host as
 * long for each number as the entropy decoder spends on it, or nearly; and it is the host that this way of decoding
 * waits for, long before any link.
 *
 * The decoder keeps its own strips, and does not read into the tape: it writes numbers here and there and wants zeros
 * around them, which is slow in memory that a device shares. The tape is written once, from front to back.
 */
#include "codec/jpeg/direct.h"
#include "device/tape/decode.h"
#include "device/tape/decode_dct.h"
#include "device/tape/flow.h"
#include "kernel/lane/jpeg_pixels.h"

#include <string.h>

typedef struct taking {
    mr__tape *tape;
    mr__tape_flow flow;
    const mr_rect *region;
    mr__jpeg_layout layout;
    mr__tape_dct dct;
    mr__strip *list[MR__JPEG_PARTS_MAX];
    uint16_t quant[MR__JPEG_PARTS_MAX][64];
    mr__detail *detail;
} taking;

static int fail_room(taking *t)
{
    return mr__fail(t->detail, MR_ENOMEM, "it does not fit into the device's memory");
}

/* Lists of strips that have nothing yet. */
static int begin(void *user, const mr__direct_job *job)
{
    taking *t = user;
    t->layout = job->rows.layout;
    mr__tape_dct_init(&t->dct, &t->layout, job->rows.parts, *t->region);
    for (uint32_t i = 0; i < t->dct.parts; i++) {
        mr__tape_dct_part *p = &t->dct.part[i];
        void *bytes;
        memcpy(t->quant[i], job->frame.quant[job->frame.plane[i].table], sizeof t->quant[i]);
        mr__tape_dct_grid(&t->dct, i, MR__JPEG_STRIP, 1, job->rows.part[i].left, p->blocks.y);
        p->quant = t->quant[i];
        p->strips = mr__tape_put(t->tape, (size_t)p->count * sizeof(mr__strip), &bytes);
        if (bytes == NULL)
            return fail_room(t);
        memset(bytes, 0, (size_t)p->count * sizeof(mr__strip));
        t->list[i] = bytes;
    }
    return 0;
}

/* The numbers of one place, if there are any; how many bytes they took. */
static uint32_t pack_place(const int16_t from[MR__JPEG_STRIP], uint64_t bit, mr__strip *strip, uint8_t *to)
{
    uint16_t any = 0, high = 0;
    for (size_t i = 0; i < MR__JPEG_STRIP; i++) {
        any |= (uint16_t)from[i];
        high |= (uint16_t)(from[i] + 128) & 0xff00;
    }
    if (any == 0)
        return 0;
    strip->there |= bit;
    if (high != 0) {
        strip->wide |= bit;
        memcpy(to, from, MR__JPEG_STRIP * sizeof *from);
        return MR__JPEG_STRIP * sizeof *from;
    }
    for (size_t i = 0; i < MR__JPEG_STRIP; i++)
        to[i] = (uint8_t)from[i];
    return MR__JPEG_STRIP;
}

static int take_strip(void *user, const mr__direct_strip *from)
{
    taking *t = user;
    const mr__tape_dct_part *p = &t->dct.part[from->part];
    if (from->x >= p->blocks.x + p->blocks.width)
        return 0; // what only fills up an MCU
    mr__strip *strip = &t->list[from->part][mr__tape_dct_number(p, from->x, from->y)];
    uint8_t *to = mr__tape_flow_ask(&t->flow, MR__JPEG_STRIP_NBYTES);
    uint32_t nbytes = 0;
    if (to == NULL)
        return fail_room(t);
    for (uint32_t k = 0; k <= from->last; k++)
        nbytes += pack_place(from->coef + (size_t)k * MR__JPEG_STRIP, UINT64_C(1) << k, strip, to + nbytes);
    strip->at = mr__tape_flow_took(&t->flow, nbytes);
    return 0;
}

static int read_strips(mr__call *call, const mr__tape_source *source, taking *t)
{
    mr__handle *handle = (mr__handle *)source->decoder; // its first member
    mr__direct_sink sink = {begin, take_strip, t};
    const mr__codec *codec;
    mr_info info;
    mr__request request = {.info = &info,
                           .region = source->region,
                           .reduce = source->reduce > 1 ? source->reduce : 1,
                           .index = source->index,
                           .index_nbytes = source->index != NULL ? source->index_nbytes : 0};
    int result = mr__call_open(call, &handle->states, &codec, &info);
    if (result == 0 && codec != &mr__codec_jpeg)
        result = mr__call_fail(call, MR_EINTERNAL, "%s was taken for JPEG", call->name);
    if (result == 0)
        result = mr__call_check_pixels(call, info.width, info.height);
    if (result == 0)
        result = codec->holds(call, &info);
    if (result == 0)
        result = mr__jpeg_give(call, &request, info.channels == 1 ? 1 : 3, &sink);
    return result;
}

int mr__tape_decode_jpeg(mr__tape_writer *w, const mr__tape_source *source, mr__sheet *sheet, mr__detail *detail)
{
    mr__handle *handle = (mr__handle *)source->decoder;
    mr__call call = mr__handle_call(handle, source->bytes, source->nbytes);
    taking t = {.tape = w->tape, .flow = {.tape = w->tape}, .region = &source->region, .detail = detail};
    call.detail = detail;
    int result = read_strips(&call, source, &t);
    (void)mr__handle_end(handle, &call, result);
    mr__tape_flow_end(&t.flow);
    if (mr__tape_code(w->tape) == 0 && (result == MR_ENOMEM || result == MR_ELIMIT))
        return mr__fail(detail, MR_EUNSUPPORTED, "out of memory to read coefficients; the host may need less");
    if (result == 0)
        *sheet = mr__tape_dct_lay(w->tape, &t.dct, NULL);
    return result;
}
