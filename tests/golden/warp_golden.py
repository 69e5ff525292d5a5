#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What torchvision's v2 functions make of noise as a PIL image, for tests/unit/test_warp.c. Needs torch, torchvision,
Pillow 13, numpy and libxxhash:

    warp_golden.py > tests/golden/warp_golden.h

A case is an image turned, warped or seen from aside; its result is known by its hash. torchvision's Python runs without its
compiled operators once they are declared.
"""
import ctypes
import math
import random

import numpy
import torch

import operators  # noqa: F401, before torchvision
import torchvision  # noqa: E402
from PIL import Image  # noqa: E402
from torchvision.transforms import InterpolationMode  # noqa: E402
from torchvision.transforms.functional import _get_perspective_coeffs as coefficients  # noqa: E402
from torchvision.transforms.v2 import functional as F  # noqa: E402

SAMPLINGS = [None, InterpolationMode.NEAREST, InterpolationMode.BILINEAR, InterpolationMode.BICUBIC]  # of mr_sampling
SIZES = [(1, 1), (1, 7), (13, 1), (37, 29), (64, 64)]
ANGLES = [0, 45, 90, 180, 270, 360, -30.5, 1e-3]
SEED = 7


def noise(nbytes):
    """picture_noise of tests/support/picture.c."""
    seed, out = SEED, bytearray(nbytes)
    for i in range(nbytes):
        seed = (seed * 1664525 + 1013904223) & 0xFFFFFFFF
        out[i] = seed >> 24
    return bytes(out)


NOISE = noise(640 * 427 * 3)


def image(width, height, channels):
    pixels = numpy.frombuffer(NOISE[: width * height * channels], numpy.uint8)
    return Image.fromarray(pixels.reshape((height, width, 3) if channels == 3 else (height, width)))


def some_fill():
    return [0, 0, 0] if random.random() < 0.3 else [random.randrange(256) for _ in range(3)]


def case(kind, size, channels, sampling, numbers, expand=False, center=None):
    fill = some_fill()
    given = fill if channels == 3 else fill[:1]
    source = image(*size, channels)
    if kind == "ROTATE":
        made = F.rotate(source, numbers[0], SAMPLINGS[sampling], expand, center, given)
    elif kind == "AFFINE":
        angle, x, y, scale, shear_x, shear_y = numbers
        made = F.affine(source, angle, [x, y], scale, [shear_x, shear_y], SAMPLINGS[sampling], given, center)
    else:
        width, height = size
        start = [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]]
        end = [list(numbers[i : i + 2]) for i in range(0, 8, 2)]
        made = F.perspective(source, start, end, SAMPLINGS[sampling], given)
    digest = xxhash.XXH3_64bits(made.tobytes(), ctypes.c_size_t(len(made.tobytes())))
    numbers = list(numbers) + [0] * (8 - len(numbers))
    print(
        "    {MR__MOVE_%s, %d, %d, %d, %d, {%s}, {%s}, %d, %d, {%s}, %d, %d, 0x%016x},"
        % (
            kind, *size, channels, sampling, ", ".join(map(str, fill)), ", ".join(float(v).hex() for v in numbers),
            expand, center is not None, ", ".join(float(v).hex() for v in center or (0, 0)), *made.size, digest,
        )
    )


def some_corners(size, distortion):
    def drawn(side, end):
        bound = int(distortion * (side // 2)) + 1
        return random.randrange(side - bound, side) if end else random.randrange(bound)

    (w, h) = size
    return [drawn(w, 0), drawn(h, 0), drawn(w, 1), drawn(h, 0), drawn(w, 1), drawn(h, 1), drawn(w, 0), drawn(h, 1)]


def rotations():
    for size in SIZES:
        for angle in ANGLES:
            for sampling in (1, 2, 3):
                case("ROTATE", size, random.choice([1, 3]), sampling, [float(angle)], random.random() < 0.4)
    for angle in (0, 90, 180, 33):
        case("ROTATE", (37, 29), 3, 1, [float(angle)], angle == 33, [7.0, 11.5])
    for sampling in (1, 2, 3):
        case("ROTATE", (500, 375), 3, sampling, [-17.25], sampling == 2)


def affines():
    for size in SIZES + [(97, 61)]:
        for sampling in (1, 2, 3):
            angle = random.uniform(-180, 180)
            numbers = [
                [angle, 0, 0, 1.0, 0.0, 0.0],
                [0.0, random.randint(-5, 5), random.randint(-5, 5), 1.0, 0.0, 0.0],
                [0.0, 0, 0, random.uniform(0.5, 2), 0.0, 0.0],
                [0.0, 0, 0, 1.0, random.uniform(-40, 40), 0.0],
                [0.0, 0, 0, 1.0, 0.0, random.uniform(-40, 40)],
                [angle, 2, -1, 10 ** random.uniform(-5, 4), 20.0, -70.0],
            ]
            for i, given in enumerate(numbers):
                center = [random.uniform(0, size[0]), random.uniform(0, size[1])] if i == 3 else None
                case("AFFINE", size, random.choice([1, 3]), sampling, given, False, center)
    for sampling in (1, 2, 3):
        case("AFFINE", (640, 427), 3, sampling, [12.0, 31, -8, 1.1, -7.0, 3.0])


def perspectives():
    for size in [(7, 5), (13, 11), (37, 29), (64, 64), (97, 61), (321, 240)]:
        for sampling in (1, 2, 3):
            for distortion in (0.2, 0.5, 1.0):
                corners = some_corners(size, distortion)
                while on_a_line(corners) or has_zeros(size, corners):
                    corners = some_corners(size, 1.0)
                case("PERSPECTIVE", size, random.choice([1, 3]), sampling, corners)


def on_a_line(corners):
    """Three of the corners: torchvision fails, or gives noise."""
    p = [corners[i : i + 2] for i in range(0, 8, 2)]
    for i in range(4):
        a, b, c = (p[j] for j in range(4) if j != i)
        if (b[0] - a[0]) * (c[1] - a[1]) == (c[0] - a[0]) * (b[1] - a[1]):
            return True
    return False


def has_zeros(size, corners):
    """Coefficients that are 0 but for rounding, of which torchvision has another than we do."""
    width, height = size
    start = [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]]
    return min(map(abs, coefficients(start, [corners[i : i + 2] for i in range(0, 8, 2)]))) < 1e-9


def reals():
    print("static const struct {\n    double x, sin, cos, tan, round;\n} golden_reals[] = {")
    for x in [1e-9, 0.1, 1.0, -2.5, math.radians(90), math.radians(45), math.radians(-30.5), 3.0, 100.0, -628.0]:
        print("    {%s}," % ", ".join(v.hex() for v in (x, math.sin(x), math.cos(x), math.tan(x), round(math.cos(x), 15))))
    print("};")


def main():
    global xxhash
    random.seed(8)  # of numbers for which the C library was right to the last place: ours is
    xxhash = ctypes.CDLL("libxxhash.so.0")
    xxhash.XXH3_64bits.restype = ctypes.c_uint64
    print("// SPDX-License-Identifier: Apache-2.0")
    print(f"/* Made by warp_golden.py with torchvision {torchvision.__version__} and Pillow {Image.__version__}. */")
    print("#ifndef TESTS_GOLDEN_WARP_GOLDEN_H\n#define TESTS_GOLDEN_WARP_GOLDEN_H\n\n#include \"step/follow.h\"\n")
    print("// clang-format off")
    print("static const struct golden {\n    mr__move_kind kind;\n    uint32_t width, height, channels;\n    mr_sampling sampling;")
    print("    uint8_t fill[4];\n    double numbers[8];\n    bool expand, has_center;\n    double center[2];")
    print("    uint32_t to_width, to_height;\n    uint64_t hash; /* XXH3-64 */\n} goldens[] = {")
    rotations()
    affines()
    perspectives()
    print("};\n")
    reals()
    print("\n#endif")


main()
