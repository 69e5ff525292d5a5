#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What torchvision v2 makes of made-up PIL images with our random numbers, for tests/unit/test_steps.c.

    recipe_golden.py > tests/golden/recipe_golden.h && clang-format-14 -i tests/golden/recipe_golden.h

Needs Pillow 13, torchvision with torch, numpy and libxxhash. The numbers come from our generator as doc and headers
describe it (src/base/rng.h, src/step/step_rrc.c), written here once more.
"""
import ctypes
import math
import sys
import types

import numpy
import PIL
import torch
from PIL import Image

import operators  # noqa: F401, before torchvision
import torchvision
from torchvision.transforms import v2
from torchvision.transforms.v2 import _geometry, _transform, functional

FILTERS = ["BILINEAR", "NEAREST", "BOX", "HAMMING", "BICUBIC", "LANCZOS"]  # in the order of mr_filter
BORDERS = {"FILL": "constant", "EDGE": "edge", "REFLECT": "reflect", "SYMMETRIC": "symmetric"}
MODES = {"L": 1, "RGB": 3, "RGBA": 4}
SIZES = [(1, 1), (1, 7), (9, 1), (2, 3), (5, 5), (8, 13), (13, 8), (24, 24), (31, 17), (20, 61), (64, 33), (97, 120)]
EPOCHS = 3
SEED = 0x123456789ABCDEF
KEY = 0x10000002A  # of the first size; the others follow


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(q >> 32) ^ c[1] ^ k[0], q & 0xFFFFFFFF, (p >> 32) ^ c[3] ^ k[1], p & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def draw(n, epoch, key, stream):
    out = []
    for block in range((n + 3) // 4):
        counter = (block, key & 0xFFFFFFFF, key >> 32 | stream << 16, epoch)
        out += philox(counter, (SEED & 0xFFFFFFFF, SEED >> 32))
    return out[:n]


class Number:
    """A tensor of one number, as far as torchvision looks at it."""

    def __init__(self, value):
        self.value = value

    def item(self):
        return self.value

    __int__ = __index__ = __float__ = lambda self: self.value

    def __lt__(self, other):
        return self.value < other

    def __ge__(self, other):
        return self.value >= other


class Draws:
    """Stands where torchvision looks for torch: real numbers come from `reals`, whole ones from `randint`."""

    def __init__(self, reals, randint=None):
        self.reals, self.randint = list(reals), randint

    def rand(self, *_):
        return Number(self.reals.pop(0) / 2**32)

    def empty(self, _):
        def uniform(low, high):
            return Number(low + (high - low) * (self.reals.pop(0) / 2**32))

        return types.SimpleNamespace(uniform_=uniform)

    def exp(self, number):
        return Number(math.exp(number.value))

    def __getattr__(self, name):
        return getattr(torch, name)


def c_list(values):
    return "{" + ", ".join(map(str, values)) + "}"


class Step:
    """A step as C has it, how many numbers it draws, and what it does."""

    def __init__(self, kind, draws, do, **fields):
        self.draws, self.do = draws, do
        self.text = "{" + ", ".join([f".kind = MR_STEP_{kind}"] + [f".{k} = {v}" for k, v in fields.items()]) + "}"


def mode_of(name):
    return v2.InterpolationMode[name]


def resize(width, height, name="BILINEAR"):
    t = v2.Resize((height, width), interpolation=mode_of(name))
    return Step("RESIZE", 0, lambda i, d: t(i), width=width, height=height, filter=f"MR_FILTER_{name}")


def short(n, name="BILINEAR"):
    t = v2.Resize(n, interpolation=mode_of(name))
    return Step("SHORT", 0, lambda i, d: t(i), width=n, filter=f"MR_FILTER_{name}")


def center(width, height):
    t = v2.CenterCrop((height, width))
    return Step("CENTER", 0, lambda i, d: t(i), width=width, height=height)


def fill_for(image, fill):
    return list(fill[: len(image.getbands())])


def below(pair, n):
    return Number((pair[0] << 32 | pair[1]) * n >> 64)


def crop(width, height, pad=(0, 0, 0, 0), border="FILL", fill=(0, 0, 0, 0)):
    def do(image, draws):
        t = v2.RandomCrop((height, width), padding=list(pad), fill=fill_for(image, fill), padding_mode=BORDERS[border])
        refuse_mirror(image, pad, border)
        # The top has the first pair and the left side the second, also where torchvision asks for one of them.
        high = image.height + pad[1] + pad[3] > height
        pairs = [draws[:2], draws[2:]][0 if high else 1 :]
        _geometry.torch = Draws([], lambda low, n, size: below(pairs.pop(0), n))
        return t(image)

    text = dict(width=width, height=height, pad=c_list(pad), border=f"MR_BORDER_{border}", fill=c_list(fill))
    return Step("CROP", 4, do, **text)


def rrc(width, height, scale=(0.08, 1.0), ratio=(3 / 4, 4 / 3), name="BILINEAR"):
    t = v2.RandomResizedCrop((height, width), scale=scale, ratio=ratio, interpolation=mode_of(name))
    t._log_ratio = [math.log(r) for r in ratio]  # torch's are floats

    def do(image, draws):
        pairs = [draws[20:22], draws[22:]]
        _geometry.torch = Draws(draws[:20], lambda low, n, size: below(pairs.pop(0), n))
        return t(image)

    fields = dict(scale_low=scale[0], scale_high=scale[1], ratio_low=ratio[0], ratio_high=ratio[1])
    return Step("RRC", 24, do, width=width, height=height, filter=f"MR_FILTER_{name}", **fields)


def refuse_mirror(image, pad, border):
    """numpy goes on mirroring; we do not, and neither does torchvision with tensors."""
    for i, side in enumerate((image.width, image.height, image.width, image.height)):
        if pad[i] > side - (border == "REFLECT") and border in ("REFLECT", "SYMMETRIC"):
            raise ValueError("a border wider than the image")


def pad(*pad, border="FILL", fill=(0, 0, 0, 0)):
    def do(image, draws):
        refuse_mirror(image, pad, border)
        return v2.Pad(list(pad), fill=fill_for(image, fill), padding_mode=BORDERS[border])(image)

    return Step("PAD", 0, do, pad=c_list(pad), border=f"MR_BORDER_{border}", fill=c_list(fill))


def pad_to(width, height, border="FILL", fill=(0, 0, 0, 0)):
    def do(image, draws):
        if image.width > width or image.height > height:
            raise ValueError("larger than that")
        more = [0, 0, width - image.width, height - image.height]
        refuse_mirror(image, more, border)
        return functional.pad(image, more, fill=fill_for(image, fill), padding_mode=BORDERS[border])

    return Step("PAD", 0, do, width=width, height=height, border=f"MR_BORDER_{border}", fill=c_list(fill))


def flip(chance=0.5, vertical=False):
    t = (v2.RandomVerticalFlip if vertical else v2.RandomHorizontalFlip)(chance)

    def do(image, draws):
        _transform.torch = Draws(draws)
        return t(image)

    return Step("VFLIP" if vertical else "FLIP", 1, do, has_chance="true", chance=chance)


GRAY = (9, 9, 9, 9)
COLOR = (200, 30, 4, 0)
# No ratio is so far from 1 that a side of 1 pixel has a part of 0: torchvision gives black there.
RECIPES = (
    [("RGB", [resize(17, 23, name)]) for name in FILTERS]
    + [("L", [short(n, name)]) for n, name in ((1, "BILINEAR"), (24, "BICUBIC"), (13, "NEAREST"), (40, "LANCZOS"))]
    + [("RGB", [short(24), center(20, 20)]), ("RGBA", [short(25), center(24, 18), flip()])]
    + [("RGB", [center(w, h)]) for w, h in ((1, 1), (8, 8), (7, 7), (24, 10), (11, 30), (50, 50))]
    + [
        ("RGB", [crop(1, 1)]),
        ("RGB", [crop(5, 4)]),
        ("RGB", [crop(8, 8, (4, 4, 4, 4), fill=COLOR), flip()]),
        ("RGBA", [crop(5, 5, (9, 0, 1, 12), fill=(1, 2, 3, 4)), flip(0.3), flip(0.7, True)]),
        ("L", [crop(9, 7, (3, 1, 2, 5), "EDGE", GRAY)]),
        ("RGB", [short(12), crop(10, 10, (4, 4, 4, 4), "REFLECT"), flip(1.0)]),
        ("RGB", [short(12), crop(13, 13, (12, 4, 3, 5), "SYMMETRIC")]),
        ("RGB", [rrc(24, 24)]),
        ("RGB", [rrc(24, 24), flip()]),
        ("RGB", [flip(), rrc(20, 30)]),
        ("RGBA", [rrc(13, 9, (0.5, 0.6), (1.5, 1.9), "BICUBIC"), flip(0.5, True)]),
        ("L", [rrc(10, 10, (1.0, 1.0), (1.0, 1.0))]),
        ("RGB", [rrc(31, 17, (0.01, 0.05), (0.25, 4.0), "NEAREST")]),
        ("RGB", [rrc(16, 16, (0.9, 1.0), (0.5, 0.6))]),
        ("RGB", [pad(1, 2, 3, 4, fill=COLOR), resize(20, 20)]),
        ("RGB", [pad(1, 2, 3, 4, border="EDGE"), flip(), resize(20, 20)]),
        ("L", [pad(1, 2, 3, 0, border="REFLECT"), flip(1.0, True), center(9, 9)]),
        ("RGB", [pad(2, 2, 2, 2, border="SYMMETRIC"), center(9, 9)]),
        ("RGB", [pad_to(64, 64, fill=COLOR)]),
        ("RGB", [short(16), pad_to(40, 70, "EDGE")]),
        ("RGB", [short(16), pad_to(30, 30, "REFLECT")]),
        ("RGB", [short(30), rrc(16, 16), flip(), pad(1, 1, 1, 1, fill=GRAY), crop(12, 12), resize(15, 14)]),
        ("RGB", [center(30, 30), crop(20, 20), flip(), pad(2, 0, 2, 0), center(18, 26), flip(0.5, True)]),
    ]
)


def noise(nbytes, seed):
    """picture_noise of tests/support/picture.c."""
    out = bytearray(nbytes)
    for i in range(nbytes):
        seed = (seed * 1664525 + 1013904223) & 0xFFFFFFFF
        out[i] = seed >> 24
    return bytes(out)


def hash_of(xxhash, image):
    """mr_image_hash."""
    data = numpy.array([*image.size, MODES[image.mode], 8], "<u4").tobytes() + image.tobytes()
    return xxhash.XXH3_64bits(data, ctypes.c_size_t(len(data)))


def run(steps, image, epoch, key):
    """The image, or None where it is refused."""
    stream = 0
    try:
        for step in steps:
            image = step.do(image, draw(step.draws, epoch, key, stream))
            stream += step.draws != 0
    except ValueError:
        return None
    return image


def main():
    xxhash = ctypes.CDLL("libxxhash.so.0")
    xxhash.XXH3_64bits.restype = ctypes.c_uint64
    data = noise(max(w * h for w, h in SIZES) * 4, 7)
    print("// SPDX-License-Identifier: Apache-2.0")
    print(f"/* What torchvision {torchvision.__version__} and Pillow {PIL.__version__} make of noise with our draws:")
    print(" * written by tests/golden/recipe_golden.py. */")
    print("#ifndef TESTS_GOLDEN_RECIPE_GOLDEN_H\n#define TESTS_GOLDEN_RECIPE_GOLDEN_H\n\n#include <millrace/recipe.h>\n")
    print(f"enum {{ GOLDEN_SIZES = {len(SIZES)}, GOLDEN_EPOCHS = {EPOCHS} }};\n")
    print(f"#define GOLDEN_SEED UINT64_C(0x{SEED:x})\n#define GOLDEN_KEY UINT64_C(0x{KEY:x}) /* plus the size's number */\n")
    print("static const uint32_t golden_sizes[GOLDEN_SIZES][2] = {" + ", ".join(map(c_list, SIZES)) + "};\n")
    print("static const struct {\n    uint32_t channels, count;\n    mr_step steps[6];\n} golden_recipes[] = {")
    for mode, steps in RECIPES:
        print(f"    {{{MODES[mode]}, {len(steps)}, {{" + ", ".join(s.text for s in steps) + "}},")
    print("};\n\n/* mr_image_hash, by recipe, then size, then epoch. 0: MR_EARGUMENT. */")
    print("static const uint64_t golden_hashes[] = {")
    for mode, steps in RECIPES:
        for number, size in enumerate(SIZES):
            image = Image.frombytes(mode, size, data[: size[0] * size[1] * MODES[mode]])
            made = [run(steps, image, epoch, KEY + number) for epoch in range(EPOCHS)]
            print("    " + ", ".join(f"0x{hash_of(xxhash, m) if m else 0:016x}" for m in made) + ",")
    print("};\n\n#endif")


if __name__ == "__main__":
    if not PIL.__version__.startswith("13."):
        sys.exit(f"this is Pillow {PIL.__version__}, not 13")
    main()
