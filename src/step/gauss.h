// SPDX-License-Identifier: Apache-2.0
/* The weights of a Gaussian. */
#ifndef MR_STEP_GAUSS_H
#define MR_STEP_GAUSS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Of a kernel of this many (odd), for sigma above 0: e^(-j^2 / (2 sigma^2)) at a distance of j, divided by the sum of
 * all; weight[0] to weight[kernel / 2]. Returns the last j whose weight can be seen in what is blurred: others are
 * below 2^-34, which 255 times is less than floats tell apart there.
 */
size_t mr__gauss_weights(uint32_t kernel, double sigma, float *weight);

#endif
