// SPDX-License-Identifier: Apache-2.0
/*
 * An L3 image in DCT mode to a JPEG: its coefficients, and then the very file by its origin, or a plain one without.
 * Every tile is needed, so a damaged one is an error.
 */
#include "codec/l3/state.h"

#include "base/size.h"

#include <string.h>

enum { FACTOR_MAX = 4 };

typedef struct job {
    mr__call *call;
    mr__l3_dct_decoder *decoder;
    const mr__l3_head *head;
    const uint64_t *offsets;
    mr__jpeg_coefficients coefficients;
} job;

static const uint8_t natural_order[64] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
};

/* Frame header and tables, from the head; its sampling factors times `across` and `down`. */
static void fill_frame(job *j, uint32_t across, uint32_t down)
{
    const mr__l3_head *head = j->head;
    mr__jpeg_coefficients *c = &j->coefficients;
    *c = (mr__jpeg_coefficients){.width = head->width,
                                 .height = head->height,
                                 .components = head->channels,
                                 .color = (mr__jpeg_color)head->color,
                                 .hmax = (uint8_t)(head->hmax * across),
                                 .vmax = (uint8_t)(head->vmax * down),
                                 .orientation = head->orientation};
    memcpy(c->quant, head->quant, sizeof head->quant);
    uint32_t mcus_w = mr__ceil_div(head->width, 8u * c->hmax), mcus_h = mr__ceil_div(head->height, 8u * c->vmax);
    bool is_gray = head->channels == 1; // whose blocks are not in MCUs
    for (uint32_t i = 0; i < head->channels; i++) {
        const mr__l3_component *from = &head->component[i];
        uint32_t h = from->h * across, v = from->v * down;
        c->plane[i] = (mr__jpeg_plane){.id = (uint8_t)(c->color == MR__JPEG_RGB ? (unsigned)"RGB"[i] : i + 1),
                                       .h = (uint8_t)h,
                                       .v = (uint8_t)v,
                                       .table = from->table,
                                       .blocks_w = from->blocks_w,
                                       .blocks_h = from->blocks_h,
                                       .padded_w = is_gray ? from->blocks_w : mcus_w * h,
                                       .padded_h = is_gray ? from->blocks_h : mcus_h * v};
    }
}

/* A JPEG has at most 65535 x 65535 pixels: nothing here can overflow 64 bits. */
static int place_blocks(job *j, mr__buffer *buffer)
{
    mr__jpeg_coefficients *c = &j->coefficients;
    uint64_t blocks = 0;
    for (uint32_t i = 0; i < c->components; i++)
        blocks += (uint64_t)c->plane[i].padded_w * c->plane[i].padded_h;
    size_t nbytes;
    if (!mr__size_mul((size_t)blocks, 64 * sizeof(int16_t), &nbytes))
        return mr__call_fail(j->call, MR_ELIMIT, "the coefficients of this l3 do not fit the address space");
    int result = mr__call_reserve(j->call, buffer, nbytes);
    if (result != 0)
        return result;
    int16_t *at = (int16_t *)buffer->bytes;
    for (uint32_t i = 0; i < c->components; i++) {
        c->plane[i].blocks = at;
        at += (size_t)c->plane[i].padded_w * c->plane[i].padded_h * 64;
    }
    return 0;
}

/* From frequency by frequency to block by block. */
static void place_unit(void *opaque, const mr__l3_dct_place *unit)
{
    const job *j = opaque;
    const mr__l3_unit *from = &j->decoder->unit;
    const mr__jpeg_plane *plane = &j->coefficients.plane[unit->component];
    size_t left = (size_t)unit->x * MR__L3_UNIT_BLOCKS, top = (size_t)unit->y * MR__L3_UNIT_BLOCKS;
    for (unsigned y = 0; y < unit->rows; y++)
        for (unsigned x = 0; x < unit->columns; x++) {
            int16_t *block = plane->blocks + ((top + y) * plane->padded_w + left + x) * 64;
            for (unsigned i = 0; i < 64; i++) {
                unsigned n = natural_order[i];
                block[i] = from->bands >> n & 1 ? from->coef[n][y * MR__L3_UNIT_BLOCKS + x] : 0;
            }
        }
}

static int read_tiles(job *j)
{
    int result = 0;
    for (size_t i = 0; result == 0 && i < mr__l3_tile_count(j->head); i++)
        result = mr__l3_dct_tile_read(j->call, j->decoder, j->head, j->offsets, i, place_unit, j);
    return result;
}

/* Whether the options ask for something that the very file does not have. */
static bool asks_for_other(const mr__l3_head *head, const mr__l3_tail *tail, const mr_encode_options *o)
{
    bool same_icc = o->icc == NULL || (o->icc_nbytes == tail->icc_nbytes && tail->icc != NULL &&
                                       memcmp(o->icc, tail->icc, o->icc_nbytes) == 0);
    return !same_icc || (o->orientation != 0 && o->orientation != head->orientation);
}

/* Frame and coefficients. */
static int read_all(job *j, uint32_t across, uint32_t down)
{
    fill_frame(j, across, down);
    int result = place_blocks(j, &mr__l3_state_of(j->call)->dct.recoder.work.blocks);
    return result != 0 ? result : read_tiles(j);
}

/*
 * The very file. The origin's first byte is what the head's sampling factors are multiplied by. *is_origin: what failed
 * is the origin, and not a tile.
 */
static int write_very(job *j, const mr__l3_tail *tail, mr__buffer *out, size_t *out_nbytes, bool *is_origin)
{
    uint32_t across = tail->origin_nbytes != 0 ? tail->origin[0] & 15 : 0;
    uint32_t down = tail->origin_nbytes != 0 ? tail->origin[0] >> 4 : 0;
    *is_origin = true;
    if (across * j->head->hmax < 1 || down * j->head->vmax < 1 || across * j->head->hmax > FACTOR_MAX ||
        down * j->head->vmax > FACTOR_MAX)
        return mr__call_fail(j->call, MR_ECORRUPT,
                             "damaged L3 image: the origin at byte %zu gives sampling factors that no JPEG has",
                             (size_t)(tail->origin - j->call->bytes));
    int result = read_all(j, across, down);
    *is_origin = result == 0;
    if (result != 0)
        return result;
    j->coefficients.progressive = j->head->progressive;
    return mr__jpeg_origin_write(j->call, &j->coefficients, tail->icc, tail->icc_nbytes, tail->origin + 1,
                                 tail->origin_nbytes - 1, out, out_nbytes);
}

/* A plain one with the same coefficients. */
static int write_plain(job *j, const mr__l3_tail *tail, const mr_encode_options *options, mr__buffer *out,
                       size_t *out_nbytes)
{
    bool has_icc = options->icc != NULL;
    int result = read_all(j, 1, 1);
    if (result != 0)
        return result;
    if (options->orientation != 0)
        j->coefficients.orientation = options->orientation;
    return mr__jpeg_coefficients_write(j->call, &j->coefficients, has_icc ? options->icc : tail->icc,
                                       has_icc ? options->icc_nbytes : tail->icc_nbytes, out, out_nbytes);
}

/* The very file where that is asked for and can be; *done says so. What is wrong with an origin goes to `damage`. */
static int try_very(job *j, const mr__l3_tail *tail, const mr_encode_options *options, mr__buffer *out,
                    size_t *out_nbytes, bool *done, mr__detail *damage)
{
    bool is_origin;
    *done = tail->origin != NULL && !options->without_origin && !asks_for_other(j->head, tail, options);
    if (!*done)
        return 0;
    int result = write_very(j, tail, out, out_nbytes, &is_origin);
    if (result != MR_ECORRUPT || !is_origin)
        return result;
    *done = false;
    *damage = *j->call->detail;
    mr__detail_clear(j->call->detail);
    return 0;
}

/* Why it is a plain one. A damage's words leave room for what follows them. */
static const char *say_why(mr__l3_dct_recoder *recoder, const mr__l3_tail *tail, const mr__detail *damage)
{
    if (damage->text[0] != '\0') {
        (void)mr__fail(&recoder->why, MR_ECORRUPT,
                       "the origin is damaged: %.160s; this is a JPEG with the same coefficients", damage->text);
        return recoder->why.text;
    }
    return tail->origin == NULL
               ? "the L3 image has no origin: this is a JPEG with the same coefficients"
               : "what was asked for is not what the origin has: this is a JPEG with the same coefficients";
}

static job job_of(mr__call *call, const mr__l3_head *head, const uint64_t *offsets)
{
    return (job){.call = call, .decoder = &mr__l3_state_of(call)->dct.decoder, .head = head, .offsets = offsets};
}

int mr__l3_to_jpeg(mr__call *call, const mr__l3_head *head, const uint64_t *offsets, const mr_encode_options *options,
                   mr__buffer *out, size_t *out_nbytes, mr_recode_report *report)
{
    job j = job_of(call, head, offsets);
    mr__l3_tail tail;
    mr__detail damage;
    *out_nbytes = 0;
    int result = mr__l3_tail_read_mild(call, head, &tail, &damage);
    if (result == 0)
        result = try_very(&j, &tail, options, out, out_nbytes, &report->has_origin, &damage);
    if (result != 0)
        return result;
    report->exact = true;
    if (report->has_origin) {
        report->origin_nbytes =
            mr__l3_tail_nbytes(&(mr__l3_tail){.origin = tail.origin, .origin_nbytes = tail.origin_nbytes});
        return 0;
    }
    report->why = say_why(&mr__l3_state_of(call)->dct.recoder, &tail, &damage);
    *out_nbytes = 0;
    return write_plain(&j, &tail, options, out, out_nbytes);
}

int mr__l3_origin_verify(mr__call *call, const mr__l3_head *head, const uint64_t *offsets, const mr__l3_tail *tail)
{
    job j = job_of(call, head, offsets);
    size_t nbytes = 0;
    bool is_origin;
    return write_very(&j, tail, &mr__l3_state_of(call)->dct.recoder.very, &nbytes, &is_origin);
}
