// SPDX-License-Identifier: Apache-2.0
#include "kernel/normal.h"

#include <stddef.h>

/*
 * From the next point of the grid, x0 = i / 16, by a series in h = x - x0, whose terms have Hermite's polynomials of
 * x0. With h at most 1/32 the first that is left out is below 2^-43.
 */
static double above_zero(double x)
{
    size_t i = (size_t)(x * 16.0 + 0.5);
    if (i >= MR__NORMAL_POINTS)
        return 1.0;
    double x0 = (double)i / 16.0, h = x - x0, z = x0 * x0;
    double sum = -(((z - 10.0) * z + 15.0) * x0) / 720.0;
    sum = sum * h + ((z - 6.0) * z + 3.0) / 120.0;
    sum = sum * h - (z - 3.0) * x0 / 24.0;
    sum = sum * h + (z - 1.0) / 6.0;
    sum = sum * h - x0 / 2.0;
    sum = sum * h + 1.0;
    return mr__normal_grid[i][0] + mr__normal_grid[i][1] * h * sum;
}

double mr__normal_below(double x)
{
    if (x >= 9.0)
        return 1.0;
    if (x <= -9.0)
        return 0.0;
    return x < 0.0 ? 1.0 - above_zero(-x) : above_zero(x);
}
