// SPDX-License-Identifier: Apache-2.0
/* Stands in until pixel mode is written. */
#include "codec/l3/state.h"

int mr__l3_pixel_state_init(mr__call *call, mr__l3_pixel_state *state)
{
    (void)call;
    (void)state;
    return 0;
}

void mr__l3_pixel_state_fini(mr__l3_pixel_state *state, const mr_hooks *hooks)
{
    mr__buffer_fini(&state->work, hooks);
}

int mr__l3_pixel_decode(mr__call *call, const mr__l3_head *head, const uint64_t *offsets, const mr__request *request,
                        const mr_image *to)
{
    (void)head;
    (void)offsets;
    (void)request;
    (void)to;
    return mr__call_fail(call, MR_EUNSUPPORTED, "L3 image in pixel mode: not there yet");
}

const char *mr__l3_pixel_kind(const mr__l3_head *head, const uint8_t *bytes, size_t nbytes)
{
    (void)head;
    (void)bytes;
    (void)nbytes;
    return "pixel";
}
