# SPDX-License-Identifier: Apache-2.0
"""The cases of measure.py: what a step is to give, by torchvision.transforms.v2 on PIL images.

A case is a recipe and its reference. Steps that draw are given ranges of one number; where something remains to be
drawn (an order, a sign, a place), the reference gives all that can be drawn, and what came is held against the nearest."""
import io
import itertools
import math
from dataclasses import dataclass, field
from typing import Callable

import PIL.Image
import torch
import torchvision.transforms.v2 as T
import torchvision.transforms.v2.functional as F

EXACT, LEVEL = 0, 1  # what a step promises: the same bytes, or within one grey level
FILTERS = {"nearest": F.InterpolationMode.NEAREST, "bilinear": F.InterpolationMode.BILINEAR, "bicubic": F.InterpolationMode.BICUBIC}
ALL = ("1x1", "1x9", "9x1", "37x29", "64x48", "224x224", "500x375")
SMALL = ("37x29",)


@dataclass
class Case:
    step: str  # a row of the table is a step
    parameters: str  # and its parameters
    text: str  # of the recipe; {w} and {h} are the image's size
    reference: Callable  # of a PIL image: an image, or a list of those that may be drawn
    promise: int = EXACT
    keys: int = 1  # samples: so many draws
    all_seen: bool = False  # each of the reference's images has to be drawn at least once
    sizes: tuple = ALL
    gray: bool = False  # of one channel too
    same_as_sized: bool = True  # the result has the image's size
    given: bool = False  # the reference is told what was drawn: (image, draws)


def number(value):
    return repr(round(value, 12)).removesuffix(".0")


def fixed(value):
    return f"{number(value)}..{number(value)}"


def jpeg(image, quality):
    """torchvision encodes and decodes with libjpeg-turbo, as Pillow does: its quality, 4:2:0, the slow integer DCT."""
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=quality)
    return PIL.Image.open(buffer).convert(image.mode)


def padded(image, width, height):
    canvas = PIL.Image.new(image.mode, (width, height))
    canvas.paste(image, (0, 0))
    return canvas


def geometry():
    for name, mode in FILTERS.items():
        for angle in (-180, -90, -77.7, -30, -1, 0, 0.5, 15, 30, 45, 90, 135, 180):
            yield Case("rotate", f"{number(angle)}, filter={name}", f"rotate({fixed(angle)}, filter={name})",
                       lambda i, a=angle, m=mode: F.rotate(i, a, m), gray=angle == 30)
        yield Case("rotate", f"30, center and fill, filter={name}", f"rotate({fixed(30)}, filter={name}, center=3/5.5, fill=10/200/30)",
                   lambda i, m=mode: F.rotate(i, 30, m, center=[3, 5.5], fill=[10, 200, 30]))
        for angle in (-30, 45, 90, 100):
            yield Case("rotate", f"{number(angle)}, expand, filter={name}", f"rotate({fixed(angle)}, filter={name}, expand=yes) pad(to=700)",
                       lambda i, a=angle, m=mode: padded(F.rotate(i, a, m, expand=True), 700, 700), same_as_sized=False)
        for angle, scale, shear in ((0, 1, (0, 0)), (10, 1, (0, 0)), (-45, 0.5, (0, 0)), (0, 2, (0, 0)), (0, 1, (20, 0)),
                                    (0, 1, (0, -15)), (30, 1.3, (10, -5)), (170, 0.8, (-30, 30))):
            text = f"affine({fixed(angle)}, scale={fixed(scale)}, shear={fixed(shear[0])}/{fixed(shear[1])}, filter={name})"
            yield Case("affine", f"{number(angle)}, scale={number(scale)}, shear={shear[0]}/{shear[1]}, filter={name}", text,
                       lambda i, a=angle, s=scale, h=shear, m=mode: F.affine(i, a, [0, 0], s, list(h), m))
        yield Case("affine", f"25, center and fill, filter={name}",
                   f"affine({fixed(25)}, scale={fixed(1.1)}, shear={fixed(4)}/{fixed(3)}, filter={name}, center=7/2, fill=9/99/199)",
                   lambda i, m=mode: F.affine(i, 25, [0, 0], 1.1, [4, 3], m, fill=[9, 99, 199], center=[7, 2]))
        for shear in ((10, 0), (0, 10), (-20, 5), (45, 0)):
            yield Case("shear", f"{shear[0]}/{shear[1]}, filter={name}", f"shear({fixed(shear[0])}/{fixed(shear[1])}, filter={name})",
                       lambda i, h=shear, m=mode: F.affine(i, 0, [0, 0], 1, list(h), m))
        yield Case("translate", f"0.1/0.2, filter={name}", f"translate(0.1/0.2, filter={name})",
                   lambda i, m=mode: translations(i, 0.1, 0.2, m), keys=40, sizes=("1x1", "1x9", "37x29", "64x48"))
    yield Case("zoomout", "2", "zoomout(2..2, 1, fill=7/8/9) pad(to=80)", zoomed, keys=20, sizes=SMALL, same_as_sized=False)
    for scale in (0.1, 0.5, 1, 1.7):
        yield Case("scalejitter", f"64, scale={number(scale)}", f"scalejitter(64, scale={fixed(scale)}) pad(to=128)",
                   lambda i, s=scale: padded(F.resize(i, scaled(i, 64, s)), 128, 128), sizes=("37x29", "64x48", "500x375"), same_as_sized=False)
    yield Case("shorts", "20/31/40, max=50", "shorts(20/31/40, max=50) pad(to=64)", shorts, keys=20, sizes=("37x29", "500x375"), all_seen=True,
               same_as_sized=False)
    yield Case("flip", "1", "flip(1)", F.horizontal_flip, gray=True)
    yield Case("vflip", "1", "vflip(1)", F.vertical_flip, gray=True)


def translations(image, x, y, mode):
    w, h = round(x * image.width), round(y * image.height)
    return [F.affine(image, 0, [i, j], 1, [0, 0], mode) for i in range(-w, w + 1) for j in range(-h, h + 1)]


def scaled(image, side, scale):
    r = min(side / image.height, side / image.width) * torch.tensor([scale])
    return [int(image.height * r), int(image.width * r)]


def shorts(image):
    made = []
    for side in (20, 31, 40):
        r = min(side / min(image.size), 50 / max(image.size))
        made.append(padded(F.resize(image, [int(image.height * r), int(image.width * r)]), 64, 64))
    return made


def zoomed(image):
    w, h = image.size
    return [padded(F.pad(image, [x, y, w - x, h - y], fill=[7, 8, 9]), 80, 80) for x in range(w) for y in range(h)]


def colors():
    for factor in (0, 0.1, 0.3, 0.5, 0.7, 0.9, 1, 1.1, 1.27, 1.5, 1.9, 3, 10):
        yield Case("brightness", number(factor), f"brightness({fixed(factor)})", lambda i, f=factor: F.adjust_brightness(i, f), gray=True)
        yield Case("contrast", number(factor), f"contrast({fixed(factor)})", lambda i, f=factor: F.adjust_contrast(i, f), gray=True)
        yield Case("saturation", number(factor), f"saturation({fixed(factor)})", lambda i, f=factor: F.adjust_saturation(i, f))
        yield Case("sharpness", number(factor), f"sharpness({number(factor)}, 1)", lambda i, f=factor: F.adjust_sharpness(i, f), gray=True)
    for turn in (-0.5, -0.3, -0.1, -0.01, 0, 0.003, 0.05, 0.1, 0.25, 0.4, 0.5):
        yield Case("hue", number(turn), f"hue({fixed(turn)})", lambda i, f=turn: F.adjust_hue(i, f))
    for gamma, gain in ((0.1, 1), (0.5, 1), (0.8, 1), (1, 1), (1.2, 1), (2.2, 1), (5, 1), (0.7, 1.3), (1.5, 0.5), (1, 2)):
        yield Case("gamma", f"{number(gamma)}, gain={number(gain)}", f"gamma({fixed(gamma)}, gain={number(gain)})",
                   lambda i, g=gamma, k=gain: F.adjust_gamma(i, g, k), gray=True)
    yield Case("grayscale", "1", "grayscale(1)", lambda i: F.rgb_to_grayscale(i, 3))
    yield Case("invert", "1", "invert(1)", F.invert, gray=True)
    for bits in range(1, 9):
        yield Case("posterize", str(bits), f"posterize({bits}, 1)", lambda i, b=bits: F.posterize(i, b), gray=True)
    for threshold in (0, 1, 64, 100, 127, 128, 200, 255, 256):
        yield Case("solarize", str(threshold), f"solarize({threshold}, 1)", lambda i, t=threshold: F.solarize(i, t), gray=True)
    yield Case("equalize", "1", "equalize(1)", F.equalize, gray=True)
    yield Case("autocontrast", "1", "autocontrast(1)", F.autocontrast, gray=True)
    for kernel, sigma in ((3, 0.1), (3, 0.8), (3, 5), (5, 0.1), (5, 0.7), (5, 2), (7, 1.5), (9, 2), (23, 2), (23, 6)):
        yield Case("blur", f"{kernel}, sigma={number(sigma)}", f"blur({kernel}, sigma={fixed(sigma)})",
                   lambda i, k=kernel, s=sigma: F.gaussian_blur(i, [k, k], [s, s]), LEVEL, gray=True)
    yield Case("blur", "5/9, sigma=1.2", f"blur(5/9, sigma={fixed(1.2)})", lambda i: F.gaussian_blur(i, [5, 9], [1.2, 1.2]), LEVEL)
    for quality in (1, 5, 10, 20, 25, 35, 50, 65, 75, 80, 90, 95, 100):
        yield Case("jpeg", str(quality), f"jpeg({quality})", lambda i, q=quality: jpeg(i, q), gray=True)
    yield Case("permute", "", "permute", lambda i: [F.permute_channels(i, list(p)) for p in itertools.permutations(range(3))], keys=60,
               all_seen=True, sizes=("37x29",))
    yield Case("jitter", "1.3, 0.6, 1.7, 0.1, every order", f"jitter({fixed(1.3)}, {fixed(0.6)}, {fixed(1.7)}, {fixed(0.1)})", jittered, keys=300,
               all_seen=True, sizes=("37x29", "64x48"))


def jittered(image):
    parts = [lambda i: F.adjust_brightness(i, 1.3), lambda i: F.adjust_contrast(i, 0.6), lambda i: F.adjust_saturation(i, 1.7),
             lambda i: F.adjust_hue(i, 0.1)]
    made = []
    for order in itertools.permutations(parts):
        out = image
        for part in order:
            out = part(out)
        made.append(out)
    return made


def policy_ops(policy, bins, chosen, image):
    """All that one op of a policy can be: {(op, bin, sign): image}."""
    made = {}
    for name, (magnitudes, signed) in policy._AUGMENTATION_SPACE.items():
        values = magnitudes(bins, image.height, image.width)
        for number in chosen if values is not None else [0]:
            value = float(values[number]) if values is not None else 0.0
            for sign in (1, -1) if signed else (1,):
                made[name, number, sign] = policy._apply_image_or_video_transform(image, name, value * sign, policy.interpolation, policy._fill)
    return made


def policy_tables(policy, image):
    """All that AutoAugment can give: each pair of its table, each op done or not, with either sign."""
    steps = {}

    def run(source, name, magnitude, sign):
        magnitudes, signed = policy._AUGMENTATION_SPACE[name]
        values = magnitudes(10, image.height, image.width)
        value = float(values[magnitude]) if values is not None else 0.0
        return policy._apply_image_or_video_transform(source, name, value * (sign if signed else 1), policy.interpolation, policy._fill)

    made = {}
    for number, pair in enumerate(policy._policies):
        for signs in itertools.product((0, 1, -1), repeat=2):  # 0: not done
            out = image
            for (name, _, magnitude), sign in zip(pair, signs):
                if sign:
                    out = run(out, name, magnitude, sign)
            made[number, signs] = out
    return list(made.values())


def policies():
    for name, mode in (("nearest", "nearest"), ("bilinear", "bilinear")):
        extra = "" if name == "nearest" else ", filter=bilinear"
        for magnitude in range(31):
            policy = T.RandAugment(1, magnitude, interpolation=FILTERS[mode])
            yield Case(f"randaug, filter={name}", f"every op at magnitude {magnitude}", f"randaug(1, {magnitude}{extra})",
                       lambda i, p=policy, m=magnitude: list(policy_ops(p, 31, [m], i).values()), keys=300, all_seen=True, sizes=SMALL)
        policy = T.TrivialAugmentWide(interpolation=FILTERS[mode])
        yield Case(f"trivialaug, filter={name}", "every op at every magnitude", f"trivialaug({extra[2:]})",
                   lambda i, p=policy: list(policy_ops(p, 31, range(31), i).values()), keys=15000, all_seen=True, sizes=SMALL)
    for word, table in (("imagenet", T.AutoAugmentPolicy.IMAGENET), ("cifar10", T.AutoAugmentPolicy.CIFAR10), ("svhn", T.AutoAugmentPolicy.SVHN)):
        policy = T.AutoAugment(table)
        yield Case("autoaug", f"{word}, every pair", f"autoaug({word})", lambda i, p=policy: policy_tables(p, i), keys=3000, sizes=SMALL)


def cases():
    return [*geometry(), *colors(), *policies()]
