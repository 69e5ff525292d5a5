# SPDX-License-Identifier: Apache-2.0
"""More cases of measure.py: steps that draw real numbers, places or whole fields.

The reference is given what was drawn. The draws are ours, as the heads of src/step/step_*.c describe them, written here once more;
what is made of them is torchvision's and Pillow's. Noise has no pixels to compare: of it the distribution is measured."""
import math

import numpy as np
import torch
import torchvision.transforms.v2 as T
import torchvision.transforms.v2.functional as F
from cases import FILTERS, LEVEL, Case, fixed, number
from policy_golden import Dice, below, choose
from torchvision.transforms.functional import _get_perspective_coeffs as perspective_coefficients

LARGE = ("64x48", "224x224", "500x375")


def between(low, high, draw):
    return low + (high - low) * draw * 2.0**-32


def corners(image, draws, distortion):
    """RandomPerspective.make_params: left top, right top, right bottom, left bottom, each moved inwards."""
    w, h = image.size
    made = []
    for i in range(4):
        x = below(draws[1 + 4 * i:], int(distortion * (w // 2)) + 1)
        y = below(draws[3 + 4 * i:], int(distortion * (h // 2)) + 1)
        made.append([w - 1 - x if i in (1, 2) else x, h - 1 - y if i >= 2 else y])
    return [[0, 0], [w - 1, 0], [w - 1, h - 1], [0, h - 1]], made


def perspective(image, draws, distortion, mode, as_is=False):
    """None: `as_is` is of those alone where a coefficient should be 0, and torchvision's solution has up to 1e-12 there."""
    start, end = corners(image, draws, distortion)
    c = perspective_coefficients(start, end)
    cleaned = [0.0 if abs(v) < 1e-10 else v for v in c]
    if as_is and cleaned == c:
        return None
    return F.perspective(image, None, None, mode, fill=[5, 60, 200], coefficients=c if as_is else cleaned)


def philox(x, y, key):
    """Four words for each counter x, y, 0, 0."""
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    c = [x.astype(np.uint64), y.astype(np.uint64), np.zeros_like(x, np.uint64), np.zeros_like(x, np.uint64)]
    k0, k1 = key
    for _ in range(10):
        p, q = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(q >> half) ^ c[1] ^ np.uint64(k0), q & low, (p >> half) ^ c[3] ^ np.uint64(k1), p & low]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return np.stack(c)


def field(width, height, alpha, sigma, key):
    """ElasticTransform.make_params, of our noise (src/kernel/elastic_pixel.h)."""
    x = np.arange(width)
    words = philox(*np.meshgrid(x // 32 * 8 + x % 8, np.arange(height)), key)
    word = np.take_along_axis(words, np.broadcast_to(x // 8 % 4, (1, height, width)), 0)[0]
    parts = []
    for side, half in ((width, word & np.uint64(0xFFFF)), (height, word >> np.uint64(16))):
        noise = ((half.astype(np.float64) - 32767.5) / 32768).astype(np.float32)
        kernel = int(8 * sigma + 1) | 1
        parts.append(F.gaussian_blur(torch.from_numpy(noise)[None, None], [kernel, kernel], [sigma, sigma]) * alpha / side)
    return torch.concat(parts, 1).permute([0, 2, 3, 1])


def elastic(image, draws, alpha, sigma, mode, apply):
    moved = torch.from_numpy(apply.field(*image.size, alpha, sigma, draws[:2]))
    if mode != F.InterpolationMode.BICUBIC:
        return F.elastic(image, moved, mode, fill=0)
    out = F.elastic(F.pil_to_tensor(image).float(), moved, mode, fill=0)  # torchvision's own bytes wrap around
    return F.to_pil_image(out.round().clamp(0, 255).to(torch.uint8))


def erased(image, draws, scale, ratio, value):
    """RandomErasing.make_params, and F.erase."""
    w, h = image.size
    for i in range(10):
        area = w * h * between(*scale, draws[2 * i])
        by = math.exp(between(math.log(ratio[0]), math.log(ratio[1]), draws[2 * i + 1]))
        high, wide = round(math.sqrt(area * by)), round(math.sqrt(area / by))
        if high < h and wide < w:
            top, left = below(draws[20:], h - high + 1), below(draws[22:], w - wide + 1)
            return F.erase(image, top, left, high, wide, torch.tensor(value, dtype=torch.uint8)[:, None, None])
    return image


def cut_out(image, draws, side):
    """DeVries and Taylor's."""
    w, h = image.size
    y, x = below(draws, h), below(draws[2:], w)
    pixels = np.array(image)
    pixels[max(y - side // 2, 0):y - side // 2 + side, max(x - side // 2, 0):x - side // 2 + side] = [9, 99, 199]
    return F.to_pil_image(pixels)


def augmix(image, draws, severity, mode, width=3, depth=0, few=False):
    """AugMix.transform, its operations done by Pillow."""
    policy, dice, f = T.AugMix(interpolation=mode, all_ops=not few), Dice(draws[:2]), np.float32
    m, weights = dice.dirichlet(1.0, 2), dice.dirichlet(1.0, width)
    names = list(policy._PARTIAL_AUGMENTATION_SPACE if few else policy._AUGMENTATION_SPACE)
    mix = f(m[0]) * np.asarray(image).astype(f)
    for weight in weights:
        branch = image
        for _ in range(depth or 1 + dice.below(3)):
            name, bin_number, negative = names[dice.below(len(names))], dice.below(severity), dice.below(2) == 1
            if name == "Posterize" and bin_number >= 8:  # to 0 bits: Pillow refuses, torchvision's own kernel is black
                branch = F.to_pil_image(F.posterize(F.pil_to_tensor(branch), 0))
            else:
                branch = choose(policy, name, 10, bin_number, negative, branch)
        mix += (f(weight) * f(m[1])) * np.asarray(branch).astype(f)
    return F.to_pil_image(mix.astype(np.uint8))


def drawn_cases(apply):
    for name, mode in FILTERS.items():
        for tenths in range(1, 11):
            yield Case("perspective", f"{tenths / 10}, filter={name}", f"perspective({tenths / 10}, 1, filter={name}, fill=5/60/200)",
                       lambda i, d, t=tenths, m=mode: perspective(i, d, t / 10, m), given=True, keys=3, sizes=("37x29", *LARGE))
        yield Case("perspective", f"0.1, filter={name}, where a coefficient is 0 and torchvision's solution is not",
                   f"perspective(0.1, 1, filter={name}, fill=5/60/200)",
                   lambda i, d, m=mode: perspective(i, d, 0.1, m, True), LEVEL, given=True, keys=30, sizes=("37x29", "64x48"))
    for name, mode in FILTERS.items():
        for alpha in (10, 50, 200):
            for sigma in (3, 5, 10):
                before = ", before torchvision's bytes wrap around" if name == "bicubic" else ""
                yield Case("elastic", f"{alpha}, sigma={sigma}, filter={name}{before}", f"elastic({alpha}, sigma={sigma}, filter={name})",
                           lambda i, d, a=alpha, s=sigma, m=mode: elastic(i, d, a, s, m, apply), LEVEL, given=True, sizes=LARGE,
                           gray=name == "bilinear")
    for low, high in ((0.02, 0.33), (0.05, 0.05), (0.2, 0.2), (0.5, 0.5), (0.9, 0.9)):
        yield Case("erase", f"scale={number(low)}..{number(high)}", f"erase(1, scale={number(low)}..{number(high)}, value=10/20/30)",
                   lambda i, d, s=(low, high): erased(i, d, s, (0.3, 3.3), [10, 20, 30]), given=True, keys=20)
    yield Case("erase", "ratio=0.1..0.2", "erase(1, ratio=0.1..0.2)", lambda i, d: erased(i, d, (0.02, 0.33), (0.1, 0.2), [0, 0, 0]),
               given=True, keys=20)
    for side in (1, 2, 8, 16, 33, 100, 1000):
        yield Case("cutout", str(side), f"cutout({side}, fill=9/99/199)", lambda i, d, s=side: cut_out(i, d, s), given=True, keys=10)
    for severity in range(1, 11):
        black = ", black for posterize to 0 bits, which Pillow refuses" if severity > 8 else ""
        yield Case("augmix", f"{severity}{black}", f"augmix({severity})",
                   lambda i, d, s=severity: augmix(i, d, s, FILTERS["bilinear"]), given=True, keys=40, sizes=("37x29", "64x48"), gray=True)
    yield Case("augmix", "3, nearest, width=5, depth=2", "augmix(3, width=5, depth=2, filter=nearest)",
               lambda i, d: augmix(i, d, 3, FILTERS["nearest"], 5, 2), given=True, keys=40, sizes=("37x29", "64x48"))
    yield Case("augmix", "10, few", "augmix(10, few=yes)", lambda i, d: augmix(i, d, 10, FILTERS["bilinear"], few=True), given=True, keys=40,
               sizes=("37x29", "64x48"))
