#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What Pillow makes of made-up images by save and open, which is torchvision's JPEG, for tests/unit/test_jpeg_op.c.

    jpeg_op_golden.py > tests/golden/jpeg_op_golden.h && clang-format-14 -i tests/golden/jpeg_op_golden.h

Needs Pillow 13 with libjpeg-turbo, numpy and libxxhash.
"""
import ctypes
import io
import sys

import numpy
import PIL
from PIL import Image, features

QUALITY_SIZES = [(1, 1), (17, 31), (40, 24), (70, 9)]
HEIGHTS = [1, 2, 3, 7, 8, 9, 15, 16, 17, 18, 31, 33]
WIDTHS = list(range(1, 37)) + [61, 63, 64, 65, 127, 128, 129, 131]
LARGE = [(223, 227, 75), (500, 375, 20), (499, 373, 95), (1021, 61, 50)]


def picture(width, height, channels, seed):
    """As test_jpeg_op.c makes it: noise, black and white, or waves."""
    with numpy.errstate(over="ignore"):
        y, x, c = numpy.mgrid[:height, :width, :channels].astype(numpy.uint32)
        h = x * numpy.uint32(0x9E3779B1) ^ y * numpy.uint32(0x85EBCA77) ^ c * numpy.uint32(0xC2B2AE3D)
        h ^= numpy.uint32(seed * 0x27D4EB2F & 0xFFFFFFFF)
        for shift, factor in ((15, 0x2C1B3C6D), (12, 0x297A2D39), (15, 1)):
            h = (h ^ h >> numpy.uint32(shift)) * numpy.uint32(factor)
        if seed % 3 == 0:
            v = h >> numpy.uint32(24)
        elif seed % 3 == 1:
            v = (h >> numpy.uint32(31)) * numpy.uint32(255)
        else:
            wave = 5 * x + 3 * y + 40 * c + (x * y >> numpy.uint32(4)) + (h >> numpy.uint32(28))
            v = numpy.where(wave & 256, 255 - (wave & 255), wave & 255)
    return v.astype(numpy.uint8)


def again(pixels, quality):
    image, file = Image.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels), io.BytesIO()
    image.save(file, format="JPEG", quality=quality)
    return Image.open(file).tobytes()


def print_list(name, values):
    print(f"static const uint64_t {name}[] = {{" + ", ".join(f"UINT64_C(0x{v:016x})" for v in values) + "};\n")


def main():
    xxhash = ctypes.CDLL("libxxhash.so.0")
    xxhash.XXH3_64bits.restype = ctypes.c_uint64

    def hash_of(cases):
        made = b"".join(again(picture(w, h, channels, w + h + q), q) for w, h, q in cases for channels in (1, 3))
        return xxhash.XXH3_64bits(made, ctypes.c_size_t(len(made)))

    print("// SPDX-License-Identifier: Apache-2.0")
    print(f"/* What Pillow {PIL.__version__} with libjpeg-turbo {features.version('libjpeg_turbo')} gives: XXH3 of bytes,")
    print(" * written by tests/golden/jpeg_op_golden.py. */")
    print("#ifndef TESTS_GOLDEN_JPEG_OP_GOLDEN_H\n#define TESTS_GOLDEN_JPEG_OP_GOLDEN_H\n\n#include <stdint.h>\n")
    for name, values in (("widths", WIDTHS), ("heights", HEIGHTS)):
        print(f"static const uint32_t golden_{name}[] = {{" + ", ".join(map(str, values)) + "};")
    for name, values in (("quality_sizes", QUALITY_SIZES), ("large", LARGE)):
        rows = ", ".join("{" + ", ".join(map(str, v)) + "}" for v in values)
        print(f"static const uint32_t golden_{name}[][{len(values[0])}] = {{{rows}}};")
    print("\n/* Of qualities 1 to 100, all sizes above, gray and RGB. */")
    print_list("golden_qualities", [hash_of([(w, h, q) for w, h in QUALITY_SIZES]) for q in range(1, 101)])
    print("/* Of each width, with all heights: quality 1 + (7 width + 13 height) % 100. */")
    print_list("golden_sides", [hash_of([(w, h, 1 + (7 * w + 13 * h) % 100) for h in HEIGHTS]) for w in WIDTHS])
    print_list("golden_larges", [hash_of([case]) for case in LARGE])
    print("#endif")


if __name__ == "__main__":
    if not PIL.__version__.startswith("13."):
        sys.exit(f"this is Pillow {PIL.__version__}, not 13")
    main()
