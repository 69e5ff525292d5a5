// SPDX-License-Identifier: Apache-2.0
/* The L3 form in the codec table. */
#include "codec/l3/state.h"

#include <string.h>

static int state_init(mr__call *call, void *state)
{
    mr__l3_state *s = state;
    int result = mr__l3_pixel_state_init(call, &s->pixel);
    return result != 0 ? result : mr__l3_dct_state_init(call, &s->dct);
}

static void state_fini(void *state, const mr_hooks *hooks)
{
    mr__l3_state *s = state;
    mr__buffer_fini(&s->offsets, hooks);
    mr__l3_pixel_state_fini(&s->pixel, hooks);
    mr__l3_dct_state_fini(&s->dct, hooks);
    mr__buffer_fini(&s->encode.index, hooks);
    mr__buffer_fini(&s->encode.work, hooks);
    mr__buffer_fini(&s->encode.tiles, hooks);
}

static mr_subsampling subsampling_of(const mr__l3_head *head)
{
    if (head->mode != MR__L3_DCT || head->channels == 1)
        return MR_SUBSAMPLING_NONE;
    if (head->hmax == 4)
        return MR_SUBSAMPLING_411;
    if (head->hmax == 2)
        return head->vmax == 2 ? MR_SUBSAMPLING_420 : MR_SUBSAMPLING_422;
    return head->vmax == 2 ? MR_SUBSAMPLING_440 : MR_SUBSAMPLING_444;
}

static mr_color color_of(const mr__l3_head *head)
{
    if (head->channels <= 2)
        return MR_COLOR_GRAY;
    return head->mode == MR__L3_DCT && head->color == MR__L3_YCBCR ? MR_COLOR_YCBCR : MR_COLOR_RGB;
}

static int read_info(mr__call *call, mr_info *info)
{
    mr__l3_head *head = &mr__l3_state_of(call)->head;
    int result = mr__l3_head_read(call, head);
    if (result != 0)
        return result;
    info->width = head->width;
    info->height = head->height;
    info->channels = head->channels;
    info->depth = head->depth;
    info->color = color_of(head);
    info->subsampling = subsampling_of(head);
    info->orientation = head->orientation;
    info->progressive = head->progressive;
    info->lossless = head->mode == MR__L3_PIXEL;
    info->has_icc = head->has_icc;
    info->tiles = (uint32_t)mr__l3_tile_count(head);
    info->has_origin = head->has_origin;
    info->extra_nbytes = head->tail_nbytes;
    return 0;
}

static int read_icc(mr__call *call, mr__buffer *buffer, size_t *nbytes)
{
    const mr__l3_head *head = &mr__l3_state_of(call)->head;
    mr__l3_tail tail = {0};
    int result = mr__l3_head_check_length(call, head, false);
    if (result == 0)
        result = mr__l3_tail_read(call, head, &tail);
    if (result == 0)
        result = mr__call_reserve(call, buffer, tail.icc_nbytes);
    if (result != 0)
        return result;
    memcpy(buffer->bytes, tail.icc, tail.icc_nbytes);
    *nbytes = tail.icc_nbytes;
    return 0;
}

/* Pixel mode gives what it has; its info is the lossless one. */
static bool gives(const mr_info *info, uint32_t channels, uint32_t depth, uint32_t reduce)
{
    if (info->lossless)
        return channels == info->channels && depth == info->depth && reduce == 1;
    return mr__l3_dct_gives(info, channels, depth, reduce);
}

static int holds(mr__call *call, const mr_info *info)
{
    (void)info;
    return mr__l3_head_check_length(call, &mr__l3_state_of(call)->head, false);
}

const mr__codec mr__codec_l3 = {.form = MR_FORM_L3,
                                .name = "l3",
                                .endings = "l3",
                                .state_nbytes = sizeof(mr__l3_state),
                                .state_init = state_init,
                                .state_fini = state_fini,
                                .probe = mr__l3_probe,
                                .info = read_info,
                                .icc = read_icc,
                                .gives = gives,
                                .holds = holds,
                                .ranges_head = mr__l3_ranges_head,
                                .ranges_of = mr__l3_ranges_of,
                                .decode = mr__l3_decode,
                                .encode = mr__l3_pixel_encode,
                                .tile = mr__l3_tile,
                                .verify = mr__l3_verify,
                                .recode = mr__l3_recode};
