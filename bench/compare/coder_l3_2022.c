// SPDX-License-Identifier: Apache-2.0
#include "coder.h"
#include "l3_2022.h"

static bool encode(const mr_image *image, blob *out)
{
    out->bytes = l3_2022_encode(image, l3_2022_side(image->width, image->height), &out->nbytes);
    return out->bytes != NULL;
}

static bool decode(void *state, const blob *stored, const mr_image *to)
{
    (void)state;
    return l3_2022_decode(&l3_2022_portable, stored->bytes, stored->nbytes, to);
}

static bool decode_fast(void *state, const blob *stored, const mr_image *to)
{
    (void)state;
    return l3_2022_decode(l3_2022_avx2, stored->bytes, stored->nbytes, to);
}

static const char made[] = "as published, with the repairs; patches of 32, of 64 from 1280x720 pixels on";
const coder coder_l3_2022 = {.name = "l3-2022", .made = made, .encode = encode, .decode = decode};
static const coder fast = {.name = "l3-2022", .made = made, .encode = encode, .decode = decode_fast};

const coder *coder_l3_2022_fast(void)
{
    return l3_2022_avx2 != NULL && l3_2022_can_avx2() ? &fast : NULL;
}
