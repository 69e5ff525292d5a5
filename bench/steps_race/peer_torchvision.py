# SPDX-License-Identifier: Apache-2.0
"""torchvision.transforms.v2, on PIL images and on tensors of bytes."""
import sys
from pathlib import Path

import PIL.Image

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/steps"))
from reference import import_torchvision

torchvision = import_torchvision()
import torch
import torchvision.transforms.v2 as T
import torchvision.transforms.v2.functional as F

VERSION = torchvision.__version__
MODES = {"nearest": F.InterpolationMode.NEAREST, "bilinear": F.InterpolationMode.BILINEAR, "bicubic": F.InterpolationMode.BICUBIC}


def corners(image):
    h, w = F.get_size(image)
    return [[0, 0], [w - 1, 0], [w - 1, h - 1], [0, h - 1]], [[w // 9, h // 8], [w - w // 7, h // 9], [w - w // 8, h - h // 6], [w // 6, h - h // 7]]


def rows():
    made = {
        "identity": lambda i: i.copy() if isinstance(i, PIL.Image.Image) else i.clone(),
        "flip": F.horizontal_flip,
        "shear, nearest": lambda i: F.affine(i, 0, [0, 0], 1, [16, 0]),
        "translate, nearest": lambda i: F.affine(i, 0, [17, -9], 1, [0, 0]),
        "elastic": T.ElasticTransform(),
        "brightness": lambda i: F.adjust_brightness(i, 1.3),
        "contrast": lambda i: F.adjust_contrast(i, 1.3),
        "saturation": lambda i: F.adjust_saturation(i, 1.3),
        "hue": lambda i: F.adjust_hue(i, 0.1),
        "jitter": T.ColorJitter(0.4, 0.4, 0.4, 0.1),
        "grayscale": lambda i: F.rgb_to_grayscale(i, 3),
        "gamma": lambda i: F.adjust_gamma(i, 0.8),
        "invert": F.invert,
        "posterize": lambda i: F.posterize(i, 4),
        "solarize": lambda i: F.solarize(i, 128),
        "equalize": F.equalize,
        "autocontrast": F.autocontrast,
        "sharpness": lambda i: F.adjust_sharpness(i, 2),
        "blur, 5": lambda i: F.gaussian_blur(i, [5, 5], [1.2, 1.2]),
        "blur, 23": lambda i: F.gaussian_blur(i, [23, 23], [2, 2]),
        "permute": T.RandomChannelPermutation(),
        "erase": T.RandomErasing(1, scale=(0.05, 0.05), ratio=(1, 1)),
        "brightness, contrast, posterize, solarize": lambda i: F.solarize(F.posterize(F.adjust_contrast(F.adjust_brightness(i, 1.3), 0.8), 5), 200),
        "randaug(2, 9)": T.RandAugment(),
        "autoaug(imagenet)": T.AutoAugment(),
        "trivialaug": T.TrivialAugmentWide(),
        "augmix": T.AugMix(),
    }
    for name, mode in MODES.items():
        made[f"rotate, {name}"] = lambda i, m=mode: F.rotate(i, 30, m)
        made[f"affine, {name}"] = lambda i, m=mode: F.affine(i, 10, [0, 0], 1.1, [5, 3], m)
        made[f"perspective, {name}"] = lambda i, m=mode: F.perspective(i, *corners(i), m)
    return made


ROWS = rows()
# Noise is added to floating point alone there; from bytes and back.
TENSOR_ROWS = ROWS | {"noise": lambda i: F.to_dtype(F.gaussian_noise(F.to_dtype(i, torch.float32, scale=True)), torch.uint8, scale=True)}


def prepare_pil(images):
    return [PIL.Image.fromarray(i) for i in images]


def prepare_tensors(images):
    return [torch.from_numpy(i.copy()).permute(2, 0, 1).contiguous() for i in images]
