#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What torchvision makes of made-up images by sharpness, Gaussian blur and elastic, for tests/unit/test_filter.c and
test_elastic.c. Needs torch, torchvision, Pillow 13, numpy and libxxhash:

    filter_golden.py | clang-format > tests/golden/filter_golden.h
    filter_golden.py elastic | clang-format > tests/golden/elastic_golden.h

Elastic's noise is ours, written here a second time: torchvision blurs it and looks pixels up. Its bicubic is taken before it
is made bytes, and clipped, as torchvision's own conversion of what is not within 0 to 255 is undefined.
"""
import ctypes
import sys

import numpy
import torch

import operators  # noqa: F401, before torchvision
import PIL  # noqa: E402
import torchvision  # noqa: E402
from PIL import Image  # noqa: E402
from torchvision.transforms.v2 import InterpolationMode  # noqa: E402
from torchvision.transforms.v2 import functional as F  # noqa: E402

torch.set_num_threads(1)
xxhash = ctypes.CDLL("libxxhash.so.0")
xxhash.XXH3_64bits.restype = ctypes.c_uint64
MODES = [None, "nearest", "bilinear", "bicubic"]  # in the order of mr_sampling


def picture(width, height, channels, kind):
    """Noise (picture_noise of tests/support/picture.c), black and white, or slopes."""
    seed, noise = 7, numpy.empty(width * height * channels, numpy.int64)
    for i in range(noise.size):
        seed = (seed * 1664525 + 1013904223) & 0xFFFFFFFF
        noise[i] = seed >> 24
    noise = noise.reshape(height, width, channels)
    y, x, c = numpy.indices(noise.shape)
    slopes = (5 * x + 3 * y + 40 * c) % 240 + noise % 16
    return [noise, numpy.where(noise < 128, 0, 255), slopes][kind].astype(numpy.uint8)


def pil(array):
    return Image.fromarray(array if array.shape[2] == 3 else array[..., 0])


def bytes_of(image):
    return numpy.ascontiguousarray(numpy.asarray(image)).tobytes()


def philox(c0, c1, key):
    low, half = numpy.uint64(0xFFFFFFFF), numpy.uint64(32)
    c0, c1 = c0.astype(numpy.uint64), c1.astype(numpy.uint64)
    c2 = c3 = numpy.zeros_like(c0)
    k0, k1 = key
    for _ in range(10):
        p0, p1 = c0 * numpy.uint64(0xD2511F53), c2 * numpy.uint64(0xCD9E8D57)
        c0, c1, c2, c3 = (p1 >> half) ^ c1 ^ numpy.uint64(k0), p1 & low, (p0 >> half) ^ c3 ^ numpy.uint64(k1), p0 & low
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return numpy.stack([c0, c1, c2, c3])


def noise_of(width, height, key):
    """Along x, along y: src/kernel/elastic_pixel.h."""
    x = numpy.arange(width)
    words = philox(*numpy.meshgrid(x // 32 * 8 + x % 8, numpy.arange(height)), key)
    word = numpy.take_along_axis(words, numpy.broadcast_to(x // 8 % 4, (1, height, width)), 0)[0]
    halves = word & numpy.uint64(0xFFFF), word >> numpy.uint64(16)
    return [((v.astype(numpy.float64) - 32767.5) / 32768).astype(numpy.float32) for v in halves]


def field_of(width, height, alpha, sigma, key):
    """As ElasticTransform.make_params, of our noise."""
    parts = []
    for axis, side, noise in zip((0, 1), (width, height), noise_of(width, height, key)):
        kernel = int(8 * sigma[axis] + 1)
        kernel += kernel % 2 == 0
        noise = F.gaussian_blur(torch.from_numpy(noise)[None, None], [kernel, kernel], list(sigma))
        parts.append(noise * alpha[axis] / side)
    return torch.concat(parts, 1).permute([0, 2, 3, 1])


def elastic_of(image, field, mode, fill):
    fill = [float(v) for v in fill[: image.shape[2]]] if any(fill) else 0
    if mode != "bicubic":
        return bytes_of(F.elastic(pil(image), field, interpolation=InterpolationMode(mode), fill=fill))
    tensor = torch.from_numpy(image).permute(2, 0, 1).float()
    out = F.elastic(tensor, field, interpolation=InterpolationMode(mode), fill=fill)
    return bytes_of(numpy.rint(out.permute(1, 2, 0).numpy()).clip(0, 255).astype(numpy.uint8))


def sharpness_cases():
    sizes = [(1, 1), (1, 7), (7, 1), (2, 2), (2, 9), (3, 3), (17, 13), (97, 53), (224, 149)]
    factors = [0.0, 0.1, 0.37, 0.5, 0.9, 1.0, 1.1, 1.27, 1.9, 2.0, 3.5, 100.0, 1e6] + [1 + i * 0.9 / 30 for i in range(31)]
    for number, factor in enumerate(factors):
        for width, height in sizes if number < 13 else sizes[-2:-1]:
            for channels in (1, 3):
                image = picture(width, height, channels, (number + width) % 3)
                out = bytes_of(F.adjust_sharpness(pil(image), factor))
                digest = xxhash.XXH3_64bits(out, len(out))
                yield f"{{{width}, {height}, {channels}, {(number + width) % 3}, {factor!r}, 0x{digest:016x}u}},"


BLURS = [  # width, height, channels, kind, kernel, sigma
    (1, 1, 3, 0, (1, 1), (1.0, 1.0)),
    (2, 2, 3, 0, (3, 3), (0.8, 0.8)),
    (3, 3, 1, 0, (5, 5), (1.0, 1.0)),
    (31, 1, 1, 0, (5, 1), (2.0, 2.0)),
    (1, 31, 3, 1, (1, 9), (2.0, 2.0)),
    (17, 13, 3, 0, (3, 3), (0.1, 0.1)),
    (17, 13, 3, 0, (5, 5), (0.5, 0.5)),
    (17, 13, 3, 1, (5, 5), (1.0, 1.0)),
    (17, 13, 3, 2, (5, 5), (2.0, 2.0)),
    (17, 13, 3, 0, (9, 9), (1.3, 1.3)),
    (17, 13, 3, 0, (7, 3), (1.5, 0.7)),
    (19, 17, 1, 1, (23, 23), (2.0, 2.0)),
    (13, 19, 3, 0, (25, 25), (12.0, 12.0)),
    (37, 29, 1, 2, (51, 51), (0.6, 0.6)),
]
ELASTICS = [  # width, height, channels, kind, alpha, sigma, key, sampling, fill
    (19, 17, 3, 0, (20.0, 20.0), (1.0, 1.0), (1, 2), 2, (0, 0, 0)),
    (19, 17, 3, 2, (30.0, 10.0), (2.0, 1.3), (3, 4), 2, (200, 10, 99)),
    (19, 17, 1, 1, (50.0, 50.0), (1.5, 1.5), (0xFFFFFFFF, 5), 2, (77, 0, 0)),
    (19, 17, 3, 0, (20.0, 40.0), (1.2, 1.2), (6, 7), 1, (9, 8, 7)),
    (19, 17, 1, 0, (50.0, 50.0), (2.0, 2.0), (8, 9), 1, (0, 0, 0)),
    (19, 17, 3, 2, (20.0, 20.0), (1.0, 1.0), (10, 11), 3, (255, 0, 50)),
    (19, 17, 1, 0, (15.0, 25.0), (0.5, 0.5), (12, 13), 3, (0, 0, 0)),
    (41, 23, 3, 0, (200.0, 0.0), (0.1, 0.1), (14, 15), 2, (0, 0, 0)),
]
FIELD = (70, 44, (50.0, 31.0), (5.0, 2.2), (0x12345678, 0x9ABCDEF0))


def pair(values):
    return "{" + ", ".join(repr(v) for v in values) + "}"


def number_list(values):
    return ", ".join(str(v) for v in values)


def begin(name):
    print("// SPDX-License-Identifier: Apache-2.0")
    print(f"/* What torchvision {torchvision.__version__} and torch {torch.__version__} with Pillow {PIL.__version__} make of")
    print(" * made-up images: written by tests/golden/filter_golden.py. */")
    print(f"#ifndef TESTS_GOLDEN_{name}_GOLDEN_H\n#define TESTS_GOLDEN_{name}_GOLDEN_H\n\n#include <stdint.h>\n")


def print_filters():
    begin("FILTER")
    print("static const struct {\n    uint32_t width, height, channels, kind;\n    double factor;")
    print("    uint64_t hash; /* XXH3-64 */\n} golden_sharpness[] = {")
    print("\n".join(sharpness_cases()) + "\n};\n")
    pixels = []
    print("static const struct {\n    uint32_t width, height, channels, kind, kernel[2];\n    double sigma[2];")
    print("    uint32_t at; /* in golden_pixels */\n} golden_blurs[] = {")
    for width, height, channels, kind, kernel, sigma in BLURS:
        print(f"{{{width}, {height}, {channels}, {kind}, {pair(kernel)}, {pair(sigma)}, {len(pixels)}}},")
        pixels += F.gaussian_blur(pil(picture(width, height, channels, kind)), list(kernel), list(sigma)).tobytes()
    print("};\n\nstatic const uint8_t golden_pixels[] = {" + number_list(pixels) + "};\n\n#endif")


def print_elastics():
    begin("ELASTIC")
    print("static const struct {\n    uint32_t width, height, channels, kind;\n    double alpha[2], sigma[2];")
    print("    uint32_t key[2], sampling;\n    uint8_t fill[4];\n    uint32_t at; /* in golden_pixels */\n} golden_elastics[] = {")
    pixels = []
    for width, height, channels, kind, alpha, sigma, key, sampling, fill in ELASTICS:
        print(f"{{{width}, {height}, {channels}, {kind}, {pair(alpha)}, {pair(sigma)}, {pair(key)}, {sampling}, {pair(fill)}, {len(pixels)}}},")
        field = field_of(width, height, alpha, sigma, key)
        pixels += elastic_of(picture(width, height, channels, kind), field, MODES[sampling], fill)
    print("};\n\nstatic const uint8_t golden_pixels[] = {" + number_list(pixels) + "};\n")
    field = field_of(*FIELD)[0].numpy()
    print(f"enum {{ GOLDEN_FIELD_WIDTH = {FIELD[0]}, GOLDEN_FIELD_HEIGHT = {FIELD[1]} }};")
    print(f"static const double golden_field_alpha[2] = {pair(FIELD[2])}, golden_field_sigma[2] = {pair(FIELD[3])};")
    print(f"static const uint32_t golden_field_key[2] = {pair(FIELD[4])};\n")
    print("static const struct {\n    uint32_t x, y;\n    float dx, dy;\n} golden_field[] = {")
    for i in range(64):
        x, y = (i * 37 % FIELD[0], i * 29 % FIELD[1])
        print(f"{{{x}, {y}, {field[y, x, 0]:.9g}f, {field[y, x, 1]:.9g}f}},")
    print("};\n\n#endif")


print_elastics() if sys.argv[1:] == ["elastic"] else print_filters()
