# SPDX-License-Identifier: Apache-2.0
"""More lines of measure.py's table, of what is not pixels beside pixels: distributions of noise, elastic's field, objects.

`wanted` is torchvision's definition each time: GaussianNoise's, ElasticTransform's, its own RandomIoUCrop and SanitizeBoundingBoxes,
which are given our draws in place of torch's."""
import math
from unittest import mock

import numpy as np
import torch
import torchvision.transforms.v2 as T
import torchvision.transforms.v2.functional as F
from cases import number
from cases_drawn import field
from policy_golden import Dice
from torchvision import tv_tensors

CHANCE_MIN = 1e-4  # less than this is no accident
FIELD_MAX = 1e-4  # of a pixel
BOX_MAX = 1e-3  # of a pixel
SIZES = ("64x48", "224x224", "500x375")


def chi_square(counts, parts):
    """The sum, the number of cells, and the chance of more. Cells of which less than five are expected are one."""
    n = counts.sum()
    few = parts * n < 5
    got = np.append(counts[~few], counts[few].sum())
    wanted = np.append(parts[~few], parts[few].sum()) * n
    got, wanted = got[wanted > 0.5], wanted[wanted > 0.5]
    total = float(((got - wanted) ** 2 / wanted).sum())
    halves = [torch.tensor(v / 2, dtype=torch.float64) for v in (len(got) - 1, total)]
    return total, len(got), float(torch.special.gammaincc(*halves))


def normal_below(x):
    return 0.5 * math.erfc(-x / math.sqrt(2))


def noise_parts(level, mean, sigma, wrap):
    """How often which value: a normal number is cut off towards 0, added, and the sum cut to 0..255, or taken modulo 256."""
    parts = np.zeros(256)
    for k in range(-2000, 2001):
        low, high = (k - 1 if k <= 0 else k), (k + 1 if k >= 0 else k)
        value = (level + k) % 256 if wrap else min(max(level + k, 0), 255)
        parts[value] += normal_below((high - 255 * mean) / (255 * sigma)) - normal_below((low - 255 * mean) / (255 * sigma))
    return parts / parts.sum()


def tell(row, counts, parts):
    total, cells, chance = chi_square(counts, parts)
    values = np.arange(256)
    mean, wanted = (counts * values).sum() / counts.sum(), (parts * values).sum()
    off, should = [math.sqrt((p * (values - m) ** 2).sum() / p.sum()) for p, m in ((counts, mean), (parts, wanted))]
    row.words = (f"mean {mean:.3f} of {wanted:.3f}, deviation {off:.3f} of {should:.3f}", f"chi-square {total:.1f} of {cells} cells: chance {chance:.2g}",
                 "the distribution")
    if chance < CHANCE_MIN:
        row.faults.append(f"a distribution with a chance of {chance:.2g}")


def noise_rows(apply, new_row):
    w, h = 500, 375
    flat = {level: apply.image(np.full((h, w, 3), level, np.uint8)) for level in (0, 128, 240)}
    for level, mean, sigma, wrap in ((128, 0, 0.01, False), (128, 0, 0.1, False), (128, 0, 0.3, False), (128, 0, 1, False), (0, 0, 0.1, False),
                                     (240, 0.05, 0.1, False), (128, -0.1, 0.2, False), (240, 0, 0.1, True)):
        words = f"{number(sigma)}{f', mean={number(mean)}' if mean else ''}{', wrap' if wrap else ''}"
        text = f"center({w}x{h}) noise({number(sigma)}{f', mean={number(mean)}' if mean else ''}{', wrap=yes' if wrap else ''}) layout(nhwc) dtype(u8)"
        row = new_row("noise", f"{words}, of {level}")
        got = apply.run(flat[level], 0, text)
        if isinstance(got, str):
            row.faults.append(got)
            continue
        tell(row, np.bincount(got.ravel(), minlength=256), noise_parts(level, mean, sigma, wrap))
    row = new_row("erase", "noise")
    counts = np.zeros(256, np.int64)
    for key in range(10):
        got = apply.run(flat[128], key, f"center({w}x{h}) erase(1, scale=0.3..0.3, noise=yes) layout(nhwc) dtype(u8)")
        inside = np.argwhere((got != 128).any(2))
        (top, left), (bottom, right) = inside.min(0), inside.max(0)
        counts += np.bincount(got[top:bottom + 1, left:right + 1].ravel(), minlength=256)
    tell(row, counts, np.full(256, 1 / 256))


def within(worst, least):
    """As words: the power of ten above."""
    return f"below {10.0 ** math.ceil(math.log10(max(worst, least))):.0e} of a pixel"


def field_rows(apply, new_row):
    for alpha in (10, 50, 200):
        for sigma in (3, 5, 10):
            row, worst = new_row("elastic", f"{alpha}, sigma={sigma}, the field"), 0.0
            for w, h in ((97, 83), (224, 224), (500, 375)):
                key = [w * 2654435761 % 2**32, alpha + sigma]
                apart = np.abs(apply.field(w, h, alpha, sigma, key) - field(w, h, alpha, sigma, key).numpy())
                worst = max(worst, float((apart * [w / 2, h / 2]).max()))
            row.words = (within(worst, 1e-7), "", f"{FIELD_MAX:.0e} of a pixel")
            if worst > FIELD_MAX:
                row.faults.append(f"a field that is {worst} pixels off")


def boxes_of(w, h, key):
    """Some large ones, some small ones, and one at each edge."""
    random = np.random.default_rng(key)
    made = []
    for i in range(12):
        across, down = (random.uniform(0.1, 0.9, 2) if i < 6 else random.uniform(0.0, 0.06, 2)) * (w, h)
        x, y = random.uniform(0, (w - across, h - down))
        made.append([x, y, x + across, y + down])
    made += [[0, 0, w / 3, h / 4], [w / 2, h / 2, w, h]]
    return torch.tensor(np.round(made, 2), dtype=torch.float32)


def cropped(picture, boxes, draws):
    """RandomIoUCrop with our numbers: picture, boxes."""
    dice = Dice(draws[:2])
    crop = T.RandomIoUCrop()
    boxes = tv_tensors.BoundingBoxes(boxes, format="XYXY", canvas_size=(picture.height, picture.width))
    uniform = lambda count: torch.tensor([(dice.u32() >> 8) * 2.0**-24 for _ in range(count)], dtype=torch.float32)
    with mock.patch.object(torch, "rand", uniform), mock.patch.object(torch, "randint", lambda low, high, size: torch.tensor(dice.below(high))):
        params = crop.make_params([picture, boxes])
    return crop.transform(picture, params), crop.transform(boxes, params)


def compare_boxes(row, left, wanted, valid):
    """The farthest that a box is off, of those that have to be left."""
    numbers = [i for i, v in enumerate(valid.tolist()) if v]
    if [int(box[0]) for box in left] != numbers:
        row.faults.append(f"{len(left)} objects are left in place of {len(numbers)}")
        return 0.0
    return max([abs(a - b) for box in left for a, b in zip(box[1:], wanted[int(box[0])].tolist())], default=0.0)


def object_rows(apply, images, new_row, pixels_of, distance):
    crops = new_row("ioucrop", "of 14 boxes")
    cuts = {(side, area): new_row("sanitize", f"side={side}, area={area}, after ioucrop") for side, area in ((1, 1), (4, 1), (1, 100), (10, 400))}
    for cut, row in cuts.items():
        worst, count = 0.0, 0
        for size in SIZES:
            for _, picture, image, counts in images.by_size[size, 3]:
                for key in range(12):
                    boxes = boxes_of(*picture.size, key)
                    text = f"center({size}) ioucrop sanitize(side={cut[0]}, area={cut[1]}) pad(to=512) layout(nhwc) dtype(u8)"
                    answer = apply.boxes(image, key, boxes.tolist(), text)
                    if isinstance(answer, str):
                        row.faults.append(answer)
                        continue
                    wanted, moved = cropped(picture, boxes, apply.draws(key, text))
                    kept, valid = F.sanitize_bounding_boxes(moved, min_size=cut[0], min_area=cut[1])
                    worst, count = max(worst, compare_boxes(row, answer[1], moved, valid)), count + len(kept)
                    canvas = np.zeros((512, 512, 3), np.uint8)
                    canvas[:wanted.height, :wanted.width] = pixels_of(wanted)
                    crops.note(distance(answer[0], canvas), counts)
        row.words = (within(worst, 1e-6), "none missing, none more", f"{BOX_MAX:.0e} of a pixel")
        if worst > BOX_MAX or count == 0:
            row.faults.append(f"boxes {worst} pixels off, of {count}")
