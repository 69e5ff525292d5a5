// SPDX-License-Identifier: Apache-2.0
/* L3 to and from other stored forms without pixels: which ways there are. */
#include "codec/l3/state.h"

#include <string.h>

static int check_tiles(mr__call *call, const mr__l3_head *head, const uint64_t *offsets)
{
    int result = 0;
    for (size_t i = 0; result == 0 && i < mr__l3_tile_count(head); i++) {
        const uint8_t *bytes;
        size_t nbytes;
        result = mr__l3_tile_open(call, head, offsets, i, false, &bytes, &nbytes);
    }
    return result;
}

/* What the options want otherwise. An origin is read with the profile that it was made with: one goes with the other.
 */
static void change_tail(mr__l3_tail *tail, const mr_encode_options *options, mr_recode_report *report)
{
    bool is_other = options->icc != NULL && (tail->icc == NULL || options->icc_nbytes != tail->icc_nbytes ||
                                             memcmp(options->icc, tail->icc, tail->icc_nbytes) != 0);
    if (is_other && tail->origin != NULL && !options->without_origin)
        report->why = "another ICC profile was asked for, and the origin goes with the one that was there";
    if (is_other || options->without_origin)
        tail->origin = NULL;
    if (is_other) {
        tail->icc = options->icc;
        tail->icc_nbytes = options->icc_nbytes;
    }
}

/* L3 to L3 in DCT mode, perhaps with another orientation or profile, or without the origin: the tiles stay as they are.
 */
static int rewrite(mr__call *call, const mr__l3_head *head, const uint64_t *offsets, const mr_encode_options *options,
                   mr__buffer *out, size_t *out_nbytes, mr_recode_report *report)
{
    mr__l3_tail tail;
    mr__detail damage;
    uint8_t *to = NULL;
    int result = check_tiles(call, head, offsets);
    if (result == 0) // an origin that is left out may be damaged
        result = options->without_origin ? mr__l3_tail_read_mild(call, head, &tail, &damage)
                                         : mr__l3_tail_read(call, head, &tail);
    if (result != 0)
        return result;
    change_tail(&tail, options, report);
    *out_nbytes = 0;
    result = mr__l3_append(call, out, out_nbytes, (size_t)head->tail_at, &to);
    if (result != 0)
        return result;
    memcpy(to, call->bytes, (size_t)head->tail_at);
    mr__l3_head_change(to, head->head_nbytes, options->orientation != 0 ? options->orientation : head->orientation,
                       &tail);
    report->exact = true;
    report->has_origin = tail.origin != NULL;
    report->origin_nbytes =
        mr__l3_tail_nbytes(&(mr__l3_tail){.origin = tail.origin, .origin_nbytes = tail.origin_nbytes});
    return mr__l3_tail_write(call, &tail, out, out_nbytes);
}

static int recode_l3(mr__call *call, const mr_encode_options *options, mr__buffer *out, size_t *out_nbytes,
                     mr_recode_report *report)
{
    const mr__l3_head *head = &mr__l3_state_of(call)->head;
    const uint64_t *offsets = NULL;
    int result = mr__l3_open(call, &offsets);
    if (result != 0)
        return result;
    if (head->mode == MR__L3_PIXEL)
        return mr__call_fail(call, MR_EUNSUPPORTED, "the L3 image is in pixel mode: it has no coefficients");
    if (options->form == MR_FORM_L3)
        return rewrite(call, head, offsets, options, out, out_nbytes, report);
    if (options->quality != 0 || options->subsampling != MR_SUBSAMPLING_NONE || options->progressive)
        return mr__call_fail(
            call, MR_EUNSUPPORTED,
            "a quality, subsampling or progressive coding was asked for: its coefficients do not stay");
    return mr__l3_to_jpeg(call, head, offsets, options, out, out_nbytes, report);
}

int mr__l3_recode(mr__call *call, mr_form from, const mr_encode_options *options, mr__buffer *out, size_t *out_nbytes,
                  mr_recode_report *report)
{
    if (from == MR_FORM_JPEG && options->form == MR_FORM_L3) {
        int result = mr__l3_dct_recode(call, from, options, out, out_nbytes, report);
        // libjpeg-turbo is milder than we are: whether the image is damaged is for the way through pixels to say
        return result == MR_ECORRUPT || result == MR_ETRUNCATED ? MR_EUNSUPPORTED : result;
    }
    if (from == MR_FORM_L3 && (options->form == MR_FORM_JPEG || options->form == MR_FORM_L3))
        return recode_l3(call, options, out, out_nbytes, report);
    return mr__call_fail(call, MR_EUNSUPPORTED, "%s", ""); // nothing that would have to be explained
}
