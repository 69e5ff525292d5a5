// SPDX-License-Identifier: Apache-2.0
/* The table of ops. */
#include "step/ops.h"

const mr__op_type *const mr__op_types[MR__OP_KINDS] = {
    [MR__OP_USER] = &mr__op_user,
    [MR__OP_BRIGHTNESS] = &mr__op_brightness,
    [MR__OP_CONTRAST] = &mr__op_contrast,
    [MR__OP_GAMMA] = &mr__op_gamma,
    [MR__OP_INVERT] = &mr__op_invert,
    [MR__OP_POSTERIZE] = &mr__op_posterize,
    [MR__OP_SOLARIZE] = &mr__op_solarize,
    [MR__OP_EQUALIZE] = &mr__op_equalize,
    [MR__OP_AUTOCONTRAST] = &mr__op_autocontrast,
    [MR__OP_SATURATION] = &mr__op_saturation,
    [MR__OP_HUE] = &mr__op_hue,
    [MR__OP_GRAYSCALE] = &mr__op_grayscale,
    [MR__OP_PERMUTE] = &mr__op_permute,
    [MR__OP_AUGMIX] = &mr__op_augmix,
    [MR__OP_SHARPNESS] = &mr__op_sharpness,
    [MR__OP_BLUR] = &mr__op_blur,
    [MR__OP_ELASTIC] = &mr__op_elastic,
    [MR__OP_ERASE] = &mr__op_erase,
    [MR__OP_NOISE] = &mr__op_noise,
    [MR__OP_JPEG] = &mr__op_jpeg,
    [MR__OP_WARP] = &mr__op_warp,
};

mr_rect mr__op_need_all(const mr__op *op, mr_rect part)
{
    (void)part;
    return (mr_rect){0, 0, op->width, op->height};
}
