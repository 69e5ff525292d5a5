// SPDX-License-Identifier: Apache-2.0
/* What the steps that warp have in common: rotate, affine, shear, translate, perspective. */
#ifndef MR_STEP_WARPS_H
#define MR_STEP_WARPS_H

#include "step/step.h"

/* Angles are within this, to both sides: ten turns. */
#define MR__DEGREES 3600.0

/* And those of shear: at 90 degrees nothing is left. */
#define MR__SHEAR 89.0

/* Sampling and center: defaults and checks. */
int mr__step_settle_warp(mr_step *step, mr_sampling sampling, mr__detail *detail);

/* That shear has two ranges of degrees; that translate is two parts of 1. */
int mr__step_check_shear(const mr_step *step, mr__detail *detail);
int mr__step_check_translate(const mr_step *step, mr__detail *detail);

/* A whole number of pixels: round(low + (high - low) d 2^-32), to even, with -low = high = part * side. */
double mr__step_draw_move(double part, uint32_t side, uint32_t draw);

#endif
