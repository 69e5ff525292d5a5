// SPDX-License-Identifier: Apache-2.0
#include "step/gauss.h"

#include "step/real.h"

/* Of one, at the middle. */
static double height_at(size_t distance, double sigma)
{
    double ratio = (double)distance / sigma, power = ratio * ratio * 0.5;
    return power < 700.0 ? mr__real_exp(-power) : 0.0;
}

size_t mr__gauss_weights(uint32_t kernel, double sigma, float *weight)
{
    size_t radius = kernel / 2, seen = 0;
    double sum = 0.0;
    for (size_t j = radius; j >= 1; j--)
        sum += height_at(j, sigma);
    sum = sum + sum + 1.0;
    for (size_t j = 0; j <= radius; j++) {
        weight[j] = (float)(height_at(j, sigma) / sum);
        if (weight[j] >= 0x1p-34f)
            seen = j;
    }
    return seen;
}
