// SPDX-License-Identifier: Apache-2.0
/* dtype(f16): what the numbers of a batch are. */
#include "step/step.h"

static int settle(mr_step *step, mr__detail *detail)
{
    if ((unsigned)step->dtype > MR_BF16)
        return mr__fail(detail, MR_EARGUMENT, "dtype: none has the number %u; there are u8, f32, f16 and bf16",
                        (unsigned)step->dtype);
    return 0;
}

static int shape_of(const mr_step *step, mr__shape *shape, mr__detail *detail)
{
    if (step->dtype == MR_U8 && shape->depth == 16)
        return mr__fail(detail, MR_EARGUMENT,
                        "dtype(u8) of samples of 16 bits: dtype(f32), or convert() to 8 bits before");
    return 0;
}

const mr__step_type mr__step_dtype = {
    .kind = MR_STEP_DTYPE,
    .name = "dtype",
    .settle = settle,
    .shape = shape_of,
};
