// SPDX-License-Identifier: Apache-2.0
/* Every op there is. */
#ifndef MR_STEP_OPS_H
#define MR_STEP_OPS_H

#include "step/op.h"

extern const mr__op_type mr__op_user;
extern const mr__op_type mr__op_brightness, mr__op_contrast, mr__op_gamma, mr__op_invert, mr__op_posterize,
    mr__op_solarize, mr__op_equalize, mr__op_autocontrast, mr__op_saturation, mr__op_hue, mr__op_grayscale,
    mr__op_permute;
extern const mr__op_type mr__op_augmix;
extern const mr__op_type mr__op_sharpness, mr__op_blur, mr__op_elastic;
extern const mr__op_type mr__op_jpeg, mr__op_noise, mr__op_erase;
extern const mr__op_type mr__op_warp;

#endif
