// SPDX-License-Identifier: Apache-2.0
#include "codec/codec.h"

static bool probe(const uint8_t *bytes, size_t nbytes)
{
    (void)bytes, (void)nbytes;
    return false;
}

const mr__codec mr__codec_raw = {.form = MR_FORM_RAW, .name = "raw", .endings = "raw", .probe = probe};
