// SPDX-License-Identifier: Apache-2.0
/* What jitter shares with each of its four. */
#ifndef MR_STEP_STEP_JITTER_H
#define MR_STEP_STEP_JITTER_H

#include "step/step.h"

/* Factors: what a float does not overflow with, and nobody needs. */
#define MR__FACTOR_MAX 1e6

/* The bounds of a range of factors, and of one of hues. */
int mr__step_check_factors(const mr_step *step, const char *name, const double range[2], mr__detail *detail);
int mr__step_check_hues(const mr_step *step, const double range[2], mr__detail *detail);

/* Adds BRIGHTNESS, CONTRAST, SATURATION or HUE with a number of the range. Hue is truncated to whole 255ths, as
 * torchvision has it. */
int mr__chain_jitter(mr__chain *chain, mr__op_kind kind, const double range[2], uint32_t draw, mr__detail *detail);

#endif
