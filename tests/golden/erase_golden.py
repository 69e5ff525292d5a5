#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often torchvision's RandomErasing takes rectangles of which area and ratio, for tests/unit/test_erase.c.

    erase_golden.py > tests/golden/erase_golden.h && clang-format-14 -i tests/golden/erase_golden.h

Needs torchvision with torch. Takes a minute.
"""
import math

import torch

import operators  # noqa: F401, before torchvision
import torchvision
from torchvision.transforms import v2

CASES = [(64, 64, 0.02, 0.33, 0.3, 3.3), (96, 20, 0.02, 0.33, 0.3, 3.3), (24, 64, 0.1, 0.9, 0.5, 2.0),
         (7, 5, 0.02, 0.33, 0.3, 3.3), (1, 9, 0.02, 0.33, 0.3, 3.3)]
RUNS, BINS = 100000, 12


def bin_of(value, low, high):
    return min(max(int(BINS * (value - low) / (high - low)), 0), BINS - 1)


def count(width, height, low, high, flat, steep):
    """Runs that erase nothing; then by height of 0..1 of the image's, width, top of 0..1 of what is left, left."""
    t, image = v2.RandomErasing(1, (low, high), (flat, steep)), torch.empty(3, height, width)
    nothing, counts = 0, [[0] * BINS for _ in range(4)]
    for _ in range(RUNS):
        p = t.make_params([image])
        if p["v"] is None or p["h"] == 0 or p["w"] == 0:
            nothing += 1
            continue
        counts[0][bin_of(p["h"], 0, height)] += 1
        counts[1][bin_of(p["w"], 0, width)] += 1
        counts[2][bin_of(p["i"], 0, height - p["h"] + 1)] += 1
        counts[3][bin_of(p["j"], 0, width - p["w"] + 1)] += 1
    return nothing, counts


def main():
    torch.manual_seed(8)
    print("// SPDX-License-Identifier: Apache-2.0")
    print(f"/* Counts of torchvision {torchvision.__version__}, written by tests/golden/erase_golden.py. */")
    print("#ifndef TESTS_GOLDEN_ERASE_GOLDEN_H\n#define TESTS_GOLDEN_ERASE_GOLDEN_H\n\n#include <stdint.h>\n")
    print(f"enum {{ ERASE_RUNS = {RUNS}, ERASE_BINS = {BINS} }};\n")
    print("/* Of an image: runs that erase nothing, and those by height, width, top and left side. */")
    print("static const struct {\n    uint32_t width, height;\n    double scale[2], ratio[2];\n    uint32_t nothing;")
    print("    uint32_t counts[4][ERASE_BINS];\n} golden_erased[] = {")
    for case in CASES:
        nothing, counts = count(*case)
        lists = ", ".join("{" + ", ".join(map(str, c)) + "}" for c in counts)
        print("    {%d, %d, {%g, %g}, {%g, %g}, %d, {%s}}," % (*case, nothing, lists))
    print("};\n\n#endif")


if __name__ == "__main__":
    main()
