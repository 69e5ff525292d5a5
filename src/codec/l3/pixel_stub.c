// SPDX-License-Identifier: Apache-2.0
/* Stands in until pixel mode is written. */
#include "codec/l3/state.h"

int mr__l3_pixel_encode(mr__call *call, const mr_image *image, const mr_encode_options *options, mr__buffer *out,
                        size_t *out_nbytes)
{
    (void)image;
    (void)options;
    (void)out;
    (void)out_nbytes;
    return mr__call_fail(call, MR_EUNSUPPORTED, "L3 image in pixel mode: not there yet");
}
