// SPDX-License-Identifier: Apache-2.0
/* Stands in until DCT mode is written. */
#include "codec/l3/state.h"

int mr__l3_dct_state_init(mr__call *call, mr__l3_dct_state *state)
{
    (void)call;
    (void)state;
    return 0;
}

void mr__l3_dct_state_fini(mr__l3_dct_state *state, const mr_hooks *hooks)
{
    mr__buffer_fini(&state->work, hooks);
}

int mr__l3_dct_decode(mr__call *call, const mr__l3_head *head, const uint64_t *offsets, const mr__request *request,
                      const mr_image *to)
{
    (void)head;
    (void)offsets;
    (void)request;
    (void)to;
    return mr__call_fail(call, MR_EUNSUPPORTED, "L3 image in DCT mode: not there yet");
}

bool mr__l3_dct_gives(const mr_info *info, uint32_t channels, uint32_t depth, uint32_t reduce)
{
    return channels == info->channels && depth == 8 && reduce == 1;
}

int mr__l3_dct_recode(mr__call *call, mr_form from, const mr_encode_options *options, mr__buffer *out,
                      size_t *out_nbytes, mr_recode_report *report)
{
    (void)from;
    (void)options;
    (void)out;
    (void)out_nbytes;
    (void)report;
    return mr__call_fail(call, MR_EUNSUPPORTED, "L3 image in DCT mode: not there yet");
}

int mr__l3_to_jpeg(mr__call *call, const mr__l3_head *head, const uint64_t *offsets, const mr_encode_options *options,
                   mr__buffer *out, size_t *out_nbytes, mr_recode_report *report)
{
    (void)head;
    (void)offsets;
    (void)options;
    (void)out;
    (void)out_nbytes;
    (void)report;
    return mr__call_fail(call, MR_EUNSUPPORTED, "L3 image in DCT mode: not there yet");
}
