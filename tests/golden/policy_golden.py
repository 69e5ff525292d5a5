#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What torchvision v2's policies hand on, and what they make of made-up PIL images, for tests/unit/test_policy.c and
test_policy_images.c.

    policy_golden.py > tests/golden/policy_golden.h && clang-format-14 -i tests/golden/policy_golden.h
    policy_golden.py images > tests/golden/policy_images_golden.h && clang-format-14 -i ...

Needs Pillow 13, torchvision with torch and numpy. The draws are ours as src/step/step_randaug.c and its neighbours
describe them, written here once more; operations and magnitudes are torchvision's own, and the tables of Fast and Deep
AutoAugment are done by Pillow as their authors' code does them.
"""
import math
import random
import struct
import sys

import numpy
import PIL
import torch
from PIL import Image, ImageDraw, ImageEnhance, ImageOps

import operators  # noqa: F401, before torchvision
import torchvision
from torchvision.transforms import v2
from torchvision.transforms.v2 import _auto_augment as auto

OPS = ["Identity", "ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate", "Brightness", "Color", "Contrast",
       "Sharpness", "Posterize", "Solarize", "AutoContrast", "Equalize", "Invert"]  # in the order of mr__policy_op
SPACES = [("RANDAUG", v2.RandAugment, 31), ("RANDAUG", v2.AutoAugment, 10), ("TRIVIAL", v2.TrivialAugmentWide, 31),
          ("AUGMIX", v2.AugMix, 10), ("RANDAUG", v2.RandAugment, 2), ("TRIVIAL", v2.TrivialAugmentWide, 1000)]
SIZES = [(224, 160), (37, 500), (16384, 1)]


class Recorder:
    """In place of torchvision's functions: the number that matters."""

    def affine(self, image, angle, translate, scale, shear, interpolation, fill, center=None):
        assert angle == 0.0 and scale == 1.0 and (center == [0, 0]) == any(shear + [1] * (center is not None))
        return shear[0] or shear[1] or translate[0] or translate[1] or 0.0

    def rotate(self, image, angle, interpolation, fill):
        return angle

    def posterize(self, image, bits):
        return bits

    def solarize(self, image, threshold):
        return threshold

    def __getattr__(self, name):
        return lambda image, **numbers: next(iter(numbers.values()), 0.0)


def record(policy, name, magnitude):
    real, auto.F = auto.F, Recorder()
    try:
        got = policy._apply_image_or_video_transform(Image.new("RGB", (3, 3)), name, magnitude, "nearest", policy._fill)
    finally:
        auto.F = real
    return 0.0 if isinstance(got, Image.Image) else float(got)


def bits(value):
    return f"{struct.unpack('<Q', struct.pack('<d', value))[0]:#018x}"


def print_values():
    rows, numbers = [], []
    for space, kind, bins in SPACES:
        policy = kind()
        for name, (magnitudes_of, signed) in policy._AUGMENTATION_SPACE.items():
            for width, height in SIZES if name.startswith("Translate") else SIZES[:1]:
                magnitudes = magnitudes_of(bins, height, width)
                if magnitudes is None:
                    continue
                rows.append(f"{{MR__SPACE_{space}, {OPS.index(name)}, {width}, {height}, {bins}, {len(numbers)}}},")
                numbers += [bits(record(policy, name, float(magnitudes[i]) * sign))
                            for sign in ((1, -1) if signed else (1,)) for i in range(0, bins, 43 if bins > 31 else 1)]
    print("/* What each operation is done with, by the number of its magnitude; the negative ones behind them.\n"
          " * Doubles, by their bits. */")
    print(f"static const uint64_t golden_numbers[] = {{{', '.join(numbers)}}};\n")
    print("static const struct {mr__space_kind space; uint32_t op, width, height, bins, first;} golden_values[] = {")
    print("\n".join(rows) + "\n};\n")


def print_order():
    for name, kind in (("randaug", v2.RandAugment), ("trivial", v2.TrivialAugmentWide), ("augmix", v2.AugMix)):
        order = [OPS.index(op) for op in kind._AUGMENTATION_SPACE]
        print(f"static const uint8_t golden_{name}_ops[] = {{{', '.join(map(str, order))}}};")
    few = [OPS.index(op) for op in v2.AugMix._PARTIAL_AUGMENTATION_SPACE]
    print(f"static const uint8_t golden_augmix_few_ops[] = {{{', '.join(map(str, few))}}};\n")


def print_pairs():
    print("static const struct {uint8_t op, tenths, bin;} golden_pairs[3][25][2] = {")
    for policy in (v2.AutoAugmentPolicy.IMAGENET, v2.AutoAugmentPolicy.CIFAR10, v2.AutoAugmentPolicy.SVHN):
        pairs = v2.AutoAugment(policy)._policies
        assert len(pairs) == 25
        print("{" + ", ".join("{" + ", ".join(f"{{{OPS.index(op)}, {round(10 * p)}, {m or 0}}}" for op, p, m in pair) + "}"
                              for pair in pairs) + "},")
    print("};\n")


# From here on: images.

def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(q >> 32) ^ c[1] ^ k[0], q & 0xFFFFFFFF, (p >> 32) ^ c[3] ^ k[1], p & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


class Dice:
    """src/step/dice.h, with Python's logarithm."""

    def __init__(self, key):
        self.key, self.block, self.left = key, 0, []

    def u32(self):
        if not self.left:
            self.left = philox((self.block, 0x64696365, 0x64696365, 0x64696365), self.key)
            self.block += 1
        return self.left.pop(0)

    def below(self, n):
        return (self.u32() << 32 | self.u32()) * n >> 64

    def unit(self):
        high = self.u32() >> 5
        return min(float((high << 26 | self.u32() >> 6) * 2 + 1) * 2.0**-54, 1.0 - 2.0**-53)

    def normal(self):
        while True:
            x, y = 2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0
            square = x * x + y * y
            if 0.0 < square < 1.0:
                return x * math.sqrt(-2.0 * math.log(square) / square)

    def log_gamma(self, alpha):
        if alpha < 1.0:
            above = self.log_gamma(alpha + 1.0)
            return above + math.log(self.unit()) / alpha
        d = alpha - 1.0 / 3.0
        while True:
            x = self.normal()
            root = 1.0 + x / math.sqrt(9.0 * d)
            log_unit = math.log(self.unit())
            if root > 0.0 and log_unit < 0.5 * x * x + d - d * root**3 + 3.0 * d * math.log(root):
                return math.log(d) + 3.0 * math.log(root)

    def dirichlet(self, alpha, count):
        logs = [self.log_gamma(alpha) for _ in range(count)]
        parts = [math.exp(x - max(logs)) for x in logs]
        return [x / sum(parts) for x in parts]


def below(draws, n):
    return (draws[0] << 32 | draws[1]) * n >> 64


def noise(width, height, channels, seed):
    """Blocks and noise, so that operations have something to do."""
    out, state = numpy.zeros((height, width, channels), numpy.uint8), seed
    for y in range(height):
        for x in range(width):
            for c in range(channels):
                state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
                out[y, x, c] = ((x // 5 * 37 + y // 4 * 59 + c * 71) & 0x7F) + (state >> 26) + 32
    return out


def image_of(array):
    return Image.fromarray(array[:, :, 0] if array.shape[2] == 1 else array)


def choose(policy, name, bins, number, negative, image):
    magnitudes_of, signed = policy._AUGMENTATION_SPACE[name]
    magnitudes = magnitudes_of(bins, image.height, image.width)
    magnitude = 0.0 if magnitudes is None else float(magnitudes[number]) * (-1 if signed and negative else 1)
    return policy._apply_image_or_video_transform(image, name, magnitude, policy.interpolation, policy._fill)


def randaug(image, draws, interpolation):
    policy = v2.RandAugment(interpolation=interpolation)
    for i in range(2):
        d = draws[3 * i:]
        name = list(policy._AUGMENTATION_SPACE)[below(d, 14)]
        image = choose(policy, name, 31, 9, d[2] < 1 << 31, image)
    return image


def trivialaug(image, draws, interpolation):
    policy = v2.TrivialAugmentWide(interpolation=interpolation)
    name = list(policy._AUGMENTATION_SPACE)[below(draws, 14)]
    return choose(policy, name, 31, below(draws[2:], 31), draws[4] < 1 << 31, image)


def autoaug(table):
    def run(image, draws, interpolation):
        policy = v2.AutoAugment(table, interpolation=interpolation)
        for i, (name, chance, number) in enumerate(policy._policies[below(draws, 25)]):
            if draws[2 + 2 * i] * 2.0**-32 < chance:
                image = choose(policy, name, 10, number, draws[3 + 2 * i] < 1 << 31, image)
        return image
    return run


def augmix(image, draws, interpolation):
    policy, dice, f = v2.AugMix(interpolation=interpolation), Dice(draws[:2]), numpy.float32
    m, weights = dice.dirichlet(1.0, 2), dice.dirichlet(1.0, 3)
    mix = f(m[0]) * numpy.asarray(image).astype(f)
    for weight in weights:
        branch = image
        for _ in range(1 + dice.below(3)):
            name = list(policy._AUGMENTATION_SPACE)[dice.below(13)]
            number = dice.below(3)
            branch = choose(policy, name, 10, number, dice.below(2) == 1, branch)
        mix += (f(weight) * f(m[1])) * numpy.asarray(branch).astype(f)
    return Image.fromarray(mix.astype(numpy.uint8))


def fast(image, dice, name, level):
    """One operation of Fast or Deep AutoAugment."""
    w, h = image.size
    ranges = {"ShearX": 0.3, "ShearY": 0.3, "TranslateX": 0.45, "TranslateY": 0.45, "Rotate": 30.0}
    if name in ranges:
        v = level * 2 * ranges[name] - ranges[name]
        v = -v if dice.below(2) == 1 else v
        if name == "Rotate":
            return image.rotate(v)
        matrix = {"ShearX": (1, v, 0, 0, 1, 0), "ShearY": (1, 0, 0, v, 1, 0), "TranslateX": (1, 0, v * w, 0, 1, 0),
                  "TranslateY": (1, 0, 0, 0, 1, v * h)}
        return image.transform(image.size, Image.AFFINE, matrix[name])
    if name in ("TranslateXAbs", "TranslateYAbs"):
        v = -10.0 * level if dice.below(2) == 1 else 10.0 * level
        return image.transform(image.size, Image.AFFINE, (1, 0, v, 0, 1, 0) if name[9] == "X" else (1, 0, 0, 0, 1, v))
    if name in ("Contrast", "Color", "Brightness", "Sharpness"):
        return getattr(ImageEnhance, name)(image).enhance(level * (1.9 - 0.1) + 0.1)
    if name in ("Cutout", "CutoutAbs"):
        v = level * 0.2 * w if name == "Cutout" else level * 20
        if name == "Cutout" and v <= 0:
            return image
        x0 = int(max(0, dice.unit() * w - v / 2.0))
        y0 = int(max(0, dice.unit() * h - v / 2.0))
        xy = (x0, y0, min(w, x0 + v), min(h, y0 + v))
    if name in ("RandCutout", "RandCutout60"):
        half, reach = (8, 10**6) if name == "RandCutout" else (30, 128)
        lows, highs = [max(0, s // 2 - reach) for s in (w, h)], [min(s, s // 2 + reach) for s in (w, h)]
        x, y = (low + (high - low) * dice.unit() for low, high in zip(lows, highs))
        xy = tuple(int(min(s, max(0, v))) for v, s in ((x - half, w), (y - half, h), (x + half, w), (y + half, h)))
    if "Cutout" in name:
        image = image.copy()
        ImageDraw.Draw(image).rectangle(xy, (125, 123, 114))
        return image
    if name == "RandCrop":
        padded = Image.new("RGB", (w + 8, h + 8), (125, 123, 114))
        padded.paste(image, (4, 4))
        top, left = dice.below(9), dice.below(9)
        return padded.crop((left, top, left + w, top + h))
    if name == "RandFlip":
        return ImageOps.mirror(image) if dice.below(2) == 1 else image
    return {"AutoContrast": ImageOps.autocontrast, "Invert": ImageOps.invert, "Equalize": ImageOps.equalize,
            "Solarize": lambda image: ImageOps.solarize(image, level * 256),
            "Posterize": lambda image: ImageOps.posterize(image, int(level * 4 + 4)),
            "Posterize2": lambda image: ImageOps.posterize(image, int(level * 4)),
            "Flip": ImageOps.mirror, "Identity": lambda image: image}[name](image)


def policies(table):
    def run(image, draws, interpolation):
        dice = Dice(draws[:2])
        for name, chance, level in table[dice.below(len(table))]:
            if dice.unit() < chance:
                image = fast(image, dice, name, level)
        return image
    return run


def stages(table):
    def run(image, draws, interpolation):
        dice = Dice(draws[:2])
        for stage in table:
            sums = numpy.cumsum([weight for _, weight, _ in stage]).tolist()
            wanted = dice.unit() * sums[-1]
            name, _, level = stage[next(i for i, s in enumerate(sums) if s > wanted)]
            image = fast(image, dice, name, level)
        return image
    return run


NAMES = ["ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate", "AutoContrast", "Invert", "Equalize", "Solarize",
         "Posterize", "Contrast", "Color", "Brightness", "Sharpness", "Cutout", "CutoutAbs", "Posterize2",
         "TranslateXAbs", "TranslateYAbs", "Flip", "Identity", "RandFlip", "RandCutout", "RandCrop", "RandCutout60"]


def fnv(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def print_images():
    rng = random.Random(20261117)
    fast_table = [[[a, rng.randint(1, 10) / 10, rng.randint(0, 16) / 16],
                   [b, rng.randint(1, 10) / 10, rng.randint(0, 16) / 16]] for a, b in zip(NAMES, NAMES[7:] + NAMES[:7])]
    deep_table = [[[name, rng.randint(0, 8) / 64, rng.randint(0, 12) / 12] for name in rng.sample(NAMES, 18)]
                  for _ in range(4)]
    text = lambda table: str(table).replace("'", '\\"')
    print(f'static const char golden_policies[] = "{text(fast_table)}";')
    print(f'static const char golden_stages[] = "{{\\"stages\\": {text(deep_table)}}}";\n')
    tables = v2.AutoAugmentPolicy
    cases = [("RANDAUG", 0, randaug, 6, 40), ("TRIVIALAUG", 0, trivialaug, 5, 40),
             ("AUTOAUG", 0, autoaug(tables.IMAGENET), 6, 24), ("AUTOAUG", 1, autoaug(tables.CIFAR10), 6, 24),
             ("AUTOAUG", 2, autoaug(tables.SVHN), 6, 24), ("AUGMIX", 0, augmix, 2, 24),
             ("AUTOAUG", 3, policies(fast_table), 2, 48), ("AUTOAUG", 4, stages(deep_table), 2, 32)]
    print(f"static const uint32_t golden_sizes[][2] = {{{{40, 31}}, {{23, 50}}, {{64, 64}}}};\n")
    print("/* Of policy 3 the table is golden_policies, of 4 golden_stages. */")
    print("static const struct {uint32_t kind, policy, size, channels, sampling, draws[6]; uint64_t hash;}"
          " golden_images[] = {")
    kinds = {"RANDAUG": 42, "AUTOAUG": 43, "TRIVIALAUG": 44, "AUGMIX": 45}  # mr_step_kind
    for kind, policy, run, count, many in cases:
        for i in range(many):
            width, height = [(40, 31), (23, 50), (64, 64)][i % 3]
            channels = 1 if i % 8 == 7 and policy < 3 else 3
            bilinear = kind == "AUGMIX" or (i % 5 == 4 and policy < 3)
            draws = [rng.getrandbits(32) for _ in range(count)]
            sampling = v2.InterpolationMode("bilinear" if bilinear else "nearest")
            got = run(image_of(noise(width, height, channels, i + 1)), draws, sampling)
            print(f"{{{kinds[kind]}, {policy}, {i % 3}, {channels}, {2 if bilinear else 1},"
                  f" {{{', '.join(map(str, draws))}}}, {fnv(got.tobytes()):#x}}},")
    print("};\n")


def main():
    images = sys.argv[1:] == ["images"]
    guard = "TESTS_GOLDEN_POLICY_IMAGES_GOLDEN_H" if images else "TESTS_GOLDEN_POLICY_GOLDEN_H"
    print("// SPDX-License-Identifier: Apache-2.0")
    print(f"/* What torchvision {torchvision.__version__} and Pillow {PIL.__version__} do: written by\n"
          " * tests/golden/policy_golden.py. */")
    print(f"#ifndef {guard}\n#define {guard}\n\n#include \"step/policy.h\"\n")
    if images:
        print_images()
    else:
        print_values()
        print_order()
        print_pairs()
    print("#endif")


if __name__ == "__main__":
    main()
