#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What Pillow makes of made-up images, for tests/unit/test_resample.c. Needs Pillow 13, numpy and libxxhash:

    resample_golden.py > tests/unit/resample_golden.h
    resample_golden.py --against build/libmillrace.so [CASES [SEED]]    random cases beside a library, at once
"""
import ctypes
import random
import sys

import numpy
import PIL
from PIL import Image

NAMES = ["bilinear", "nearest", "box", "hamming", "bicubic", "lanczos"]  # in the order of mr_filter
FILTERS = [Image.Resampling[name.upper()] for name in NAMES]
MODES = {"L": (1, 8), "LA": (2, 8), "RGB": (3, 8), "RGBA": (4, 8), "I;16": (1, 16)}  # channels, depth
ORDERS = [13, 12]
NOISE, EXTREME = 0, 1  # any bytes, or 0 and 255 alone, which overshoot most
SIZES = [
    (1, 1, 5, 7, NOISE),
    (1, 37, 1, 5, NOISE),
    (37, 1, 5, 1, EXTREME),
    (5, 1, 64, 3, NOISE),
    (3, 3, 2, 2, EXTREME),
    (16, 9, 16, 5, NOISE),
    (16, 9, 7, 9, NOISE),
    (33, 21, 33, 21, NOISE),
    (50, 40, 224, 224, EXTREME),
    (269, 267, 224, 224, NOISE),
    (300, 200, 224, 224, NOISE),
    (200, 300, 150, 100, EXTREME),
    (448, 448, 224, 224, NOISE),
    (500, 375, 224, 168, EXTREME),
    (640, 480, 64, 48, NOISE),
    (1000, 30, 10, 3, EXTREME),
    (30, 1000, 3, 10, NOISE),
    (2000, 3, 1, 1, NOISE),
    (257, 129, 514, 33, EXTREME),
    (129, 257, 33, 514, NOISE),
    (97, 61, 96, 60, NOISE),
    (61, 97, 7, 200, EXTREME),
    (1201, 899, 341, 256, NOISE),
]


def noise(nbytes, seed):
    """picture_noise of tests/support/picture.c."""
    out = bytearray(nbytes)
    for i in range(nbytes):
        seed = (seed * 1664525 + 1013904223) & 0xFFFFFFFF
        out[i] = seed >> 24
    return numpy.frombuffer(bytes(out), numpy.uint8)


def picture(data, kind, mode, width, height):
    channels, depth = MODES[mode]
    some = data[: width * height * channels * depth // 8]
    if kind == EXTREME:
        some = numpy.where(some >= 128, 255, 0).astype(numpy.uint8)
    return Image.frombytes(mode, (width, height), some.tobytes())


def resize(image, size, resample, order):
    """As Pillow 13 does it, or as Pillow 12 did: across, then down, by two calls that have one pass each."""
    if order == 13 or image.size == size or resample == Image.Resampling.NEAREST:
        return image.resize(size, resample)
    other = {"LA": "La", "RGBA": "RGBa"}.get(image.mode, image.mode)
    half = image.convert(other) if other != image.mode else image
    half = half.resize((size[0], image.height), resample).resize(size, resample)
    return half.convert(image.mode) if other != image.mode else half


def hash_of(xxhash, image):
    """mr_image_hash."""
    head = numpy.array([*image.size, *MODES[image.mode]], "<u4").tobytes()
    data = head + image.tobytes()
    return xxhash.XXH3_64bits(data, ctypes.c_size_t(len(data)))


def put_values(values):
    for i in range(0, len(values), 5):
        print("    " + ", ".join(f"0x{v:016x}" for v in values[i : i + 5]) + ",")


def put_header():
    xxhash = ctypes.CDLL("libxxhash.so.0")
    xxhash.XXH3_64bits.restype = ctypes.c_uint64
    data = noise(max(w * h for w, h, *_ in SIZES) * 4, 7)
    print("// SPDX-License-Identifier: Apache-2.0")
    print(f"/* What Pillow {PIL.__version__} makes of noise: written by tests/support/resample_golden.py. */")
    print("#ifndef TESTS_UNIT_RESAMPLE_GOLDEN_H\n#define TESTS_UNIT_RESAMPLE_GOLDEN_H\n\n#include <stdint.h>\n")
    print("static const struct {\n    uint32_t width, height, out_width, out_height, extreme;\n} golden_sizes[] = {")
    for size in SIZES:
        print("    {" + ", ".join(map(str, size)) + "},")
    print("};\n")
    print(f"enum {{ GOLDEN_MODES = {len(MODES)}, GOLDEN_FILTERS = {len(FILTERS)}, GOLDEN_ORDERS = {len(ORDERS)} }};\n")
    print("static const uint32_t golden_channels[GOLDEN_MODES] = {" + ", ".join(str(c) for c, _ in MODES.values()) + "};")
    print("static const uint32_t golden_depth[GOLDEN_MODES] = {" + ", ".join(str(d) for _, d in MODES.values()) + "};\n")
    print("/* mr_image_hash: by size, then mode, then filter (mr_filter), then order (mr_resize_order). */")
    print("static const uint64_t golden_hashes[] = {")
    values = []
    for width, height, out_width, out_height, kind in SIZES:
        for mode in MODES:
            image = picture(data, kind, mode, width, height)
            values += [hash_of(xxhash, resize(image, (out_width, out_height), f, o)) for f in FILTERS for o in ORDERS]
    put_values(values)
    print("};\n\n#endif")


class Pixels(ctypes.Structure):
    """mr_image."""

    _fields_ = [(n, ctypes.c_uint32) for n in ("width", "height", "channels", "depth")]
    _fields_ += [("stride", ctypes.c_ssize_t), ("pixels", ctypes.c_void_p)]


class Options(ctypes.Structure):
    """mr_resize_options."""

    _fields_ = [("struct_size", ctypes.c_size_t), ("filter", ctypes.c_int), ("order", ctypes.c_int)]


def view(mode, size, memory):
    channels, depth = MODES[mode]
    return Pixels(*size, channels, depth, size[0] * channels * depth // 8, ctypes.cast(memory, ctypes.c_void_p).value)


def draw_size(rng):
    return rng.choice([rng.randint(1, 20), rng.randint(1, 100), rng.randint(1, 700)])


def against(path, cases, seed):
    library = ctypes.CDLL(path)
    rng, values = random.Random(seed), numpy.random.default_rng(seed)
    resizer = ctypes.c_void_p()
    assert library.mr_resizer_new(None, ctypes.byref(resizer)) == 0
    wrong = 0
    for _ in range(cases):
        width, height, out_width, out_height = (draw_size(rng) for _ in range(4))
        mode, which, order = rng.choice(list(MODES)), rng.randrange(len(FILTERS)), rng.randrange(2)
        channels, depth = MODES[mode]
        data = values.integers(0, 256, width * height * channels * depth // 8, numpy.uint8)
        image = picture(data, rng.randrange(2), mode, width, height)
        wanted = resize(image, (out_width, out_height), FILTERS[which], ORDERS[order]).tobytes()
        memory = ctypes.create_string_buffer(image.tobytes(), len(data))
        out = ctypes.create_string_buffer(len(wanted))
        options = Options(ctypes.sizeof(Options), which, order)
        code = library.mr_resizer_resize(
            resizer,
            ctypes.byref(view(mode, (width, height), memory)),
            ctypes.byref(options),
            ctypes.byref(view(mode, (out_width, out_height), out)),
        )
        if code != 0 or out.raw != wanted:
            wrong += 1
            off = numpy.count_nonzero(numpy.frombuffer(out.raw, numpy.uint8) != numpy.frombuffer(wanted, numpy.uint8))
            print(f"{mode} {width}x{height} to {out_width}x{out_height}, {NAMES[which]}, Pillow {ORDERS[order]}: code {code}, {off} bytes differ")
    library.mr_resizer_free(resizer)
    print(f"{cases} cases beside Pillow {PIL.__version__}: {wrong} wrong")
    return wrong


if __name__ == "__main__":
    if not PIL.__version__.startswith("13."):
        sys.exit(f"this is Pillow {PIL.__version__}, not 13")
    if sys.argv[1:2] == ["--against"]:
        numbers = [int(a) for a in sys.argv[3:]] + [500, 1][len(sys.argv) - 3 :]
        sys.exit(against(sys.argv[2], *numbers) != 0)
    put_header()
