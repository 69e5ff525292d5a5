#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What torchvision v2's MixUp and CutMix do with given lambdas and middles, for tests/unit/test_mix.c.

    mix_golden.py > tests/golden/mix_golden.h && clang-format-14 -i tests/golden/mix_golden.h

Needs torchvision with torch.
"""
import struct
from unittest import mock

import torch

import operators  # noqa: F401, before torchvision
import torchvision  # noqa: E402
from torchvision.transforms import v2  # noqa: E402

LAMBDAS = [0.0, 1.0, 0.5, 0.3, 2.0**-20, 0.999999, 0.7071067811865476, 1 / 3]
NUMBERS = 8


class Fixed:
    def __init__(self, value):
        self.value = value

    def sample(self, _):
        return self.value


def bits(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def mixup(lam, batch, labels):
    transform = v2.MixUp(num_classes=3)
    transform._dist = Fixed(lam)
    return transform(batch, labels)


def cutmix(lam, x, y, width, height):
    transform = v2.CutMix(num_classes=3)
    transform._dist = Fixed(lam)
    with mock.patch("torch.randint", side_effect=[torch.tensor([x]), torch.tensor([y])]):
        return transform.make_params([torch.zeros(1, 3, height, width)])


torch.manual_seed(5)
pair = torch.randn(2, 1, 1, NUMBERS) * 2
labels = torch.tensor([1, 2])
print("// SPDX-License-Identifier: Apache-2.0")
print(f"/* What torchvision {torchvision.__version__} and torch {torch.__version__} make of two samples:")
print(" * written by tests/golden/mix_golden.py. */")
print("#ifndef TESTS_GOLDEN_MIX_GOLDEN_H\n#define TESTS_GOLDEN_MIX_GOLDEN_H\n\n#include <stdint.h>\n")
print(f"enum {{ GOLDEN_NUMBERS = {NUMBERS}, GOLDEN_MIXUPS = {len(LAMBDAS)} }};\n")
print("/* Bits of floats: two samples, and with each lambda what becomes of both and of their labels, 1 and 2 of 3. */")
print("static const uint32_t golden_pair[2][GOLDEN_NUMBERS] = {")
for sample in pair.reshape(2, -1).tolist():
    print("{" + ",".join(f"0x{bits(v):08x}" for v in sample) + "},")
print("};")
print("static const struct { double lambda; uint32_t pair[2][GOLDEN_NUMBERS]; uint32_t labels[2][3]; } golden_mixups[GOLDEN_MIXUPS] = {")
for lam in LAMBDAS:
    images, soft = mixup(lam, pair, labels)
    rows = ["{" + ",".join(f"0x{bits(v):08x}" for v in s) + "}" for s in images.reshape(2, -1).tolist()]
    marks = ["{" + ",".join(f"0x{bits(v):08x}" for v in s) + "}" for s in soft.tolist()]
    print(f"{{{lam.hex()}, {{{','.join(rows)}}}, {{{','.join(marks)}}}}},")
print("};")
cases = []
for width, height in [(1, 1), (1, 9), (224, 224), (37, 53), (320, 7)]:
    for lam in LAMBDAS:
        for x, y in sorted({(0, 0), (width - 1, height - 1), (width // 2, height // 3)}):
            cases.append((lam, x, y, width, height))
print(f"enum {{ GOLDEN_BOXES = {len(cases)} }};")
print("static const struct { double lambda; uint32_t x, y, width, height, box[4]; double weight; } golden_boxes[GOLDEN_BOXES] = {")
for lam, x, y, width, height in cases:
    params = cutmix(lam, x, y, width, height)
    x1, y1, x2, y2 = params["box"]
    print(f"{{{lam.hex()}, {x}, {y}, {width}, {height}, {{{x1}, {y1}, {x2 - x1}, {y2 - y1}}}, {params['lam_adjusted'].hex()}}},")
print("};\n\n#endif")
