#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What Pillow and torchvision make of colors, for tests/unit/test_color.c and test_color_ops.c. Needs torch, torchvision, Pillow
13, numpy and libxxhash:

    color_golden.py > tests/golden/color_golden.h

Hashes (XXH3) of all 2^24 colors converted; of tables for gammas; and of made-up images after ops, one or several.
"""
import ctypes
import random

import numpy
import torch

import operators  # noqa: F401, before torchvision
import torchvision  # noqa: E402
from PIL import Image  # noqa: E402
from torchvision.transforms.v2 import functional as F  # noqa: E402

SIZES = [(1, 1), (1, 7), (13, 1), (37, 29), (64, 50)]
STYLES = 6
KINDS = [  # in the order of mr__op_kind, from MR__OP_BRIGHTNESS on
    "brightness", "contrast", "gamma", "invert", "posterize", "solarize", "equalize", "autocontrast", "saturation", "hue",
    "grayscale", "permute",
]
xxhash = ctypes.CDLL("libxxhash.so.0")
xxhash.XXH3_64bits.restype = ctypes.c_uint64
xxhash.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def hash_of(data):
    return xxhash.XXH3_64bits(data, len(data))


def noise(nbytes, seed):
    """picture_noise of tests/support/picture.c."""
    out = bytearray(nbytes)
    for i in range(nbytes):
        seed = (seed * 1664525 + 1013904223) & 0xFFFFFFFF
        out[i] = seed >> 24
    return numpy.frombuffer(bytes(out), numpy.uint8)


def styled(width, height, channels, style):
    """make_image of test_color_ops.c."""
    v = noise(width * height * channels, 7 + style).astype(numpy.uint32)
    v = [v, 60 + v * 120 // 256, v & 0xE0, v * 0 + 77, v // 8, numpy.where(v < 200, 10, v)][style].astype(numpy.uint8)
    v = v.reshape(height, width, channels)
    return Image.fromarray(v[..., 0] if channels == 1 else v, "L" if channels == 1 else "RGB")


def run(op, image):
    kind, amount, more, whole = op
    name = KINDS[kind]
    if name in ("brightness", "contrast", "saturation"):
        return getattr(F, f"adjust_{name}")(image, amount)
    if name == "gamma":
        return F.adjust_gamma(image, amount, more)
    if name == "posterize":
        return F.posterize(image, whole)
    if name == "solarize":
        return F.solarize(image, amount)
    if name == "hue":
        return F.adjust_hue(image, amount)
    if name == "grayscale":
        return F.rgb_to_grayscale(image, 1 if image.mode == "L" else 3)
    if name == "permute":
        return image if image.mode == "L" else F.permute_channels(image, [whole >> 2 * c & 3 for c in range(3)])
    return getattr(F, name)(image)


def make_ops():
    """Every op at many magnitudes."""
    factors = [0.0, 0.1, 0.19, 0.3, 0.42, 0.5, 0.61, 0.73, 0.9, 0.97, 1.0, 1.05, 1.27, 1.4, 1.5, 1.81, 1.9, 2.0, 3.5, 100.0]
    ops = [(k, f, 0, 0) for k in (0, 1, 8) for f in factors]
    ops += [(2, g, gain, 0) for g, gain in ((0, 1), (0.1, 1), (0.5, 1), (0.8, 1), (1, 1), (1.2, 1), (2.2, 1), (5, 1), (0.7, 1.5), (2, 0.3))]
    ops += [(3, 0, 0, 0)] + [(4, 0, 0, bits) for bits in range(1, 9)]
    ops += [(5, t, 0, 0) for t in (0, 1, 25.5, 26.0, 110, 127.5, 128, 170.0, 229.5, 255, 255.5, 256)]
    ops += [(6, 0, 0, 0), (7, 0, 0, 0), (10, 0, 0, 0)]
    ops += [(9, h, 0, int(numpy.int32(h * 255).astype(numpy.uint8))) for h in (-0.5, -0.31, -0.1, -0.003, 0, 0.003, 0.05, 0.1, 0.25, 0.44, 0.5)]
    ops += [(11, 0, 0, a | b << 2 | c << 4) for a, b, c in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))]
    return ops


def make_cases():
    random.seed(7)
    ops = make_ops()
    cases = []
    for i, op in enumerate(ops):
        for size in range(len(SIZES)):
            cases.append((size, 3, (i + size) % STYLES if size < 4 else 0, [op]))
        cases.append((3, 1, i % STYLES, [op]))
        cases.append((4, 1, 0, [op]))
    for op in ((6, 0, 0, 0), (7, 0, 0, 0), (1, 0.5, 0, 0), (1, 1.7, 0, 0)):  # those that look at the image
        for style in range(STYLES):
            cases += [(size, channels, style, [op]) for size in (3, 4) for channels in (1, 3)]
    tables = [op for op in ops if op[0] < 8]
    for i in range(240):
        some = random.sample(tables if i % 3 else ops, random.randint(2, 5))
        cases.append((random.choice((3, 4)), 3 if i % 4 else 1, random.randrange(STYLES), some))
    return cases


def print_lines(items):
    """As many on a line as 120 characters have room for."""
    line = "   "
    for item in items:
        if len(line) + len(item) + 2 > 120:
            print(line)
            line = "   "
        line += f" {item},"
    print(line)


def print_hashes():
    i = numpy.arange(1 << 24, dtype=numpy.uint32)
    colors = numpy.stack([i & 255, i >> 8 & 255, i >> 16], -1).astype(numpy.uint8).tobytes()
    size = (4096, 4096)
    print("/* All colors, the first channel fastest: from RGB to HSV, from HSV to RGB, from RGB to L. */")
    for name, source, to in (("hsv", "RGB", "HSV"), ("rgb", "HSV", "RGB"), ("gray", "RGB", "L")):
        data = Image.frombytes(source, size, colors).convert(to).tobytes()
        print(f"static const uint64_t golden_all_{name} = UINT64_C({hash_of(data):#018x});")
    ramp = Image.frombytes("L", (256, 1), bytes(range(256)))
    print("\n/* Tables for gamma 0.01 n, n from 10 to 500. */")
    tables = b"".join(F.adjust_gamma(ramp, n / 100).tobytes() for n in range(10, 501))
    print(f"static const uint64_t golden_gammas = UINT64_C({hash_of(tables):#018x});\n")


def main():
    print("// SPDX-License-Identifier: Apache-2.0")
    print(f"/* What torchvision {torchvision.__version__} with Pillow {Image.__version__} makes of colors: written by tests/golden/color_golden.py. */")
    print("#ifndef TESTS_GOLDEN_COLOR_GOLDEN_H\n#define TESTS_GOLDEN_COLOR_GOLDEN_H\n\n#include <stdint.h>\n")
    print_hashes()
    cases = make_cases()
    ops = sorted({op for case in cases for op in case[3]})
    print("// clang-format off")
    print("static const uint32_t golden_sizes[][2] = {" + ", ".join(f"{{{w}, {h}}}" for w, h in SIZES) + "};\n")
    print("/* Kind, counted from MR__OP_BRIGHTNESS on; amount, more, whole. */")
    print("static const struct {\n    uint32_t kind;\n    double amount, more;\n    uint32_t whole;\n} golden_ops[] = {")
    print_lines(f"{{{op[0]}, {float(op[1])!r}, {float(op[2])!r}, {op[3]}}}" for op in ops)
    print("};\n\n/* Size, channels, style; ops, as many as count; the hash of the result. */")
    print("static const struct {\n    uint8_t size, channels, style, count, ops[5];\n    uint64_t hash;\n} golden_cases[] = {")
    lines = []
    for size, channels, style, some in cases:
        image = styled(*SIZES[size], channels, style)
        for op in some:
            image = run(op, image)
        numbers = ", ".join(str(ops.index(op)) for op in some)
        lines.append(f"{{{size}, {channels}, {style}, {len(some)}, {{{numbers}}}, UINT64_C({hash_of(image.tobytes()):#x})}}")
    print_lines(lines)
    print("};\n// clang-format on\n\n#endif")


if __name__ == "__main__":
    main()
