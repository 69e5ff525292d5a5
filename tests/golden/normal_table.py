#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the tables of the normal distribution, for src/kernel/normal.c; tests/unit/test_noise.c compares them with libm.

    normal_table.py > src/kernel/normal_table.c && clang-format-14 -i src/kernel/normal_table.c

Python alone is needed: 60 digits of the decimal module.
"""
import decimal
from decimal import Decimal as D

decimal.getcontext().prec = 60
PI = D("3.14159265358979323846264338327950288419716939937510582097494")


def density(x):
    return (-x * x / 2).exp() / (2 * PI).sqrt()


def below(x):
    """The chance of less than x: the series 1/2 + density (x + x^3/3 + x^5/(3 5) + ...)."""
    term, total, n = x, x, 1
    while abs(term) > D(10) ** -58:
        n += 2
        term = term * x * x / n
        total += term
    return D("0.5") + density(x) * total


def quantile(p):
    """x above 0 with the chance p (at most 1/2) of more: by Newton's method, from below."""
    x = D(0)
    for _ in range(200):
        step = ((1 - below(x)) - p) / density(x)
        x += step
        if abs(step) < D(10) ** -25:
            break
    return x


def cubic(f):
    """Through f at Chebyshev's four points of 0..1: coefficients of 1, t, t^2, t^3."""
    cosines = [D("0.92387953251128675612818318939678828682"), D("0.38268343236508977172845998403039886676")]
    points = [(1 - c) / 2 for c in (cosines[0], cosines[1], -cosines[1], -cosines[0])]
    values = [f(t) for t in points]
    rows = [[t**k for k in range(4)] + [v] for t, v in zip(points, values)]
    for i in range(4):
        rows[i] = [a / rows[i][i] for a in rows[i]]
        for j in range(4):
            if j != i:
                rows[j] = [a - rows[j][i] * b for a, b in zip(rows[j], rows[i])]
    return [row[4] for row in rows]


def segment(octave, part):
    """Of chances v / 2^32 with v from 2^octave (1 + part / 8) on."""
    low, width = D(2) ** octave * (8 + part) / 8, D(2) ** octave / 8
    return cubic(lambda t: quantile((low + t * width) / 2**32))


print("// SPDX-License-Identifier: Apache-2.0")
print("/* By tests/golden/normal_table.py. */")
print('#include "kernel/normal.h"\n')
print("const double mr__normal_grid[MR__NORMAL_POINTS][2] = {")
for i in range(16 * 8 + 1):
    x = D(i) / 16
    print("    {%s, %s}," % (float(below(x)).hex(), float(density(x)).hex()))
print("};\n")
table = [segment(octave, part) for octave in range(31) for part in range(8)]
print("const float mr__normal_cubics[4][MR__NORMAL_PARTS] = {")
for k in range(4):
    print("    {%s}," % ", ".join("%#.9gF" % float(c[k]) for c in table))
print("};")
