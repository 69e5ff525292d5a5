// SPDX-License-Identifier: Apache-2.0
/* Where L3 comes in: the only file here that knows its calls. */
#include "coder.h"

bool l3_is_there(void)
{
    return mr_form_from_name("l3") != MR_FORM_NONE;
}

const char *l3_masks(void)
{
    return "portable,avx2-slowpdep,avx2";
}

bool l3_encode(mr_encoder **encoder, const l3_how *how, const mr_image *image, const void *jpeg, size_t jpeg_nbytes,
               blob *out, const char **why)
{
    (void)how, (void)image, (void)jpeg, (void)jpeg_nbytes, (void)out;
    (void)encoder;
    *why = "this build does not know how";
    return false;
}
