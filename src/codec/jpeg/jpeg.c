// SPDX-License-Identifier: Apache-2.0
/*
 * JPEG. The pixels are by our own decoder (direct.h), or by libjpeg-turbo (turbo.h): what ours is not for, what is
 * damaged where damage is accepted, and all when the decoder was told so.
 */
#include "codec/jpeg/header.h"
#include "codec/jpeg/index.h"
#include "codec/jpeg/turbo.h"

static bool probe(const uint8_t *bytes, size_t nbytes)
{
    return nbytes >= 3 && bytes[0] == 0xff && bytes[1] == MR__JPEG_SOI && bytes[2] == 0xff;
}

/* Any reduction, by the transform. Gray only where there is a luma plane: Pillow's luma of RGB is another one. */
static bool gives(const mr_info *info, uint32_t channels, uint32_t depth, uint32_t reduce)
{
    bool has_luma = info->color == MR_COLOR_GRAY || info->color == MR_COLOR_YCBCR;
    (void)reduce;
    return depth == 8 && (channels == 3 || (channels == 1 && has_luma));
}

static void state_fini(void *opaque, const mr_hooks *hooks)
{
    mr__jpeg_state *state = opaque;
    mr__turbo_fini(&state->turbo, hooks);
    mr__buffer_fini(&state->rows, hooks);
    mr__direct_fini(&state->direct, hooks);
}

/* libjpeg-turbo's turn. Our own memory is kept for the next image, unless it stands in the way of this one. */
static int hand_over(mr__call *call, const mr__request *request, const mr_image *to)
{
    mr__jpeg_state *state = call->state;
    mr__detail_clear(call->detail);
    uint32_t warnings = call->warnings;
    int result = mr__turbo_decode(call, request, to);
    if (result != MR_ELIMIT && result != MR_ENOMEM)
        return result;
    mr__direct_fini(&state->direct, call->hooks);
    mr__detail_clear(call->detail);
    call->warnings = warnings;
    return mr__turbo_decode(call, request, to);
}

/*
 * With an index that is good, as far as one can tell without reading: where damage is accepted and reading shows that
 * it is not, it is left out.
 */
static int decode_checked(mr__call *call, mr__request *request, const mr_image *to)
{
    mr__jpeg_state *state = call->state;
    if (call->jpeg == MR_JPEG_LIBJPEG)
        return mr__turbo_decode(call, request, to);
    uint32_t warnings = call->warnings;
    int result = mr__direct_decode(call, &state->direct, request, to);
    bool is_damaged = result == MR_ECORRUPT || result == MR_ETRUNCATED;
    if (is_damaged && request->accept_damaged && request->index != NULL) {
        call->warnings = warnings;
        mr__call_warn(call, "%s. The row index is not used", call->detail->text);
        mr__detail_clear(call->detail);
        request->index = NULL;
        return decode_checked(call, request, to);
    }
    bool no_room = result == MR_ELIMIT && mr__meter_refused(call->meter); // libjpeg-turbo may need less
    bool hands_over = result == MR_EUNSUPPORTED || no_room || (is_damaged && request->accept_damaged);
    if (!hands_over || call->jpeg == MR_JPEG_OWN)
        return result;
    call->warnings = warnings;
    return hand_over(call, request, to);
}

static int decode(mr__call *call, const mr__request *asked, const mr_image *to)
{
    mr__request request = *asked;
    int result = mr__jpeg_index_check(call, &request);
    return result == 0 ? decode_checked(call, &request, to) : result;
}

int mr__jpeg_give(mr__call *call, const mr__request *asked, uint32_t channels, const mr__direct_sink *sink)
{
    mr__jpeg_state *state = call->state;
    mr__request request = *asked;
    if (call->jpeg == MR_JPEG_LIBJPEG)
        return mr__call_fail(call, MR_EUNSUPPORTED,
                             "JPEGs are to be decoded by libjpeg-turbo, which gives pixels only");
    int result = mr__jpeg_index_check(call, &request);
    return result == 0 ? mr__direct_give(call, &state->direct, &request, channels, sink) : result;
}

const mr__codec mr__codec_jpeg = {
    .form = MR_FORM_JPEG,
    .name = "jpeg",
    .endings = "jpg jpeg jpe jfif",
    .state_nbytes = sizeof(mr__jpeg_state),
    .state_fini = state_fini,
    .probe = probe,
    .info = mr__jpeg_info,
    .icc = mr__jpeg_icc,
    .gives = gives,
    .holds = mr__jpeg_holds,
    .decode = decode,
    .encode = mr__turbo_encode,
    .index = mr__jpeg_index_make,
};
