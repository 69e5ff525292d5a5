// SPDX-License-Identifier: Apache-2.0
/* Which ops a step may come to, and so whether there are kernels for all of it. */
#include "device/tape/sample.h"

#define OF(kind) (UINT32_C(1) << (kind))

#define COLORS (OF(MR__OP_BRIGHTNESS) | OF(MR__OP_CONTRAST) | OF(MR__OP_SATURATION))
#define LEVELS (OF(MR__OP_POSTERIZE) | OF(MR__OP_SOLARIZE) | OF(MR__OP_EQUALIZE) | OF(MR__OP_AUTOCONTRAST))
/* What the tables of policies are made of. */
#define POLICY (COLORS | LEVELS | OF(MR__OP_INVERT) | OF(MR__OP_SHARPNESS) | OF(MR__OP_WARP) | OF(MR__OP_ERASE))

/* Steps that are not here are passes, or nothing that is done to pixels. */
static const uint32_t ops_of[] = {
    [MR_STEP_USER] = OF(MR__OP_USER),
    [MR_STEP_ROTATE] = OF(MR__OP_WARP),
    [MR_STEP_AFFINE] = OF(MR__OP_WARP),
    [MR_STEP_SHEAR] = OF(MR__OP_WARP),
    [MR_STEP_TRANSLATE] = OF(MR__OP_WARP),
    [MR_STEP_PERSPECTIVE] = OF(MR__OP_WARP),
    [MR_STEP_ELASTIC] = OF(MR__OP_ELASTIC),
    [MR_STEP_BRIGHTNESS] = OF(MR__OP_BRIGHTNESS),
    [MR_STEP_CONTRAST] = OF(MR__OP_CONTRAST),
    [MR_STEP_SATURATION] = OF(MR__OP_SATURATION),
    [MR_STEP_HUE] = OF(MR__OP_HUE),
    [MR_STEP_JITTER] = COLORS | OF(MR__OP_HUE),
    [MR_STEP_GRAYSCALE] = OF(MR__OP_GRAYSCALE),
    [MR_STEP_GAMMA] = OF(MR__OP_GAMMA),
    [MR_STEP_INVERT] = OF(MR__OP_INVERT),
    [MR_STEP_POSTERIZE] = OF(MR__OP_POSTERIZE),
    [MR_STEP_SOLARIZE] = OF(MR__OP_SOLARIZE),
    [MR_STEP_EQUALIZE] = OF(MR__OP_EQUALIZE),
    [MR_STEP_AUTOCONTRAST] = OF(MR__OP_AUTOCONTRAST),
    [MR_STEP_SHARPNESS] = OF(MR__OP_SHARPNESS),
    [MR_STEP_BLUR] = OF(MR__OP_BLUR),
    [MR_STEP_JPEG] = OF(MR__OP_JPEG),
    [MR_STEP_PERMUTE] = OF(MR__OP_PERMUTE),
    [MR_STEP_NOISE] = OF(MR__OP_NOISE),
    [MR_STEP_RANDAUG] = POLICY,
    [MR_STEP_AUTOAUG] = POLICY,
    [MR_STEP_TRIVIALAUG] = POLICY,
    [MR_STEP_AUGMIX] = POLICY | OF(MR__OP_AUGMIX),
    [MR_STEP_ERASE] = OF(MR__OP_ERASE),
    [MR_STEP_CUTOUT] = OF(MR__OP_ERASE),
};

bool mr__tape_takes_step(mr_step_kind step, bool doubles)
{
    uint32_t ops = (size_t)step < sizeof ops_of / sizeof *ops_of ? ops_of[step] : 0;
    for (uint32_t kind = 0; kind < MR__OP_KINDS; kind++)
        if ((ops & OF(kind)) != 0 && !mr__tape_takes_op((mr__op_kind)kind, doubles))
            return false;
    return true;
}
