// SPDX-License-Identifier: Apache-2.0
/* What DCT mode keeps between images, and its ways in. */
#include "codec/l3/state.h"

int mr__l3_dct_state_init(mr__call *call, mr__l3_dct_state *state)
{
    mr__l3_dct_decoder_init(&state->decoder, call->cpu);
    return 0;
}

void mr__l3_dct_state_fini(mr__l3_dct_state *state, const mr_hooks *hooks)
{
    mr__l3_dct_decoder_fini(&state->decoder, hooks);
    mr__l3_dct_recoder_fini(&state->recoder, hooks);
}

/* As the JPEG codec: any reduction, by the transform; gray only where there is a plane of it. */
bool mr__l3_dct_gives(const mr_info *info, uint32_t channels, uint32_t depth, uint32_t reduce)
{
    (void)reduce;
    return depth == 8 && (channels == 3 || (channels == 1 && info->color != MR_COLOR_RGB));
}

int mr__l3_dct_decode(mr__call *call, const mr__l3_head *head, const uint64_t *offsets, const mr__request *request,
                      const mr_image *to)
{
    return mr__l3_dct_decode_with(call, &mr__l3_state_of(call)->dct.decoder, head, offsets, request, to);
}
