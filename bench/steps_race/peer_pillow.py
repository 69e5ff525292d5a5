# SPDX-License-Identifier: Apache-2.0
"""Pillow by itself: what a program writes that has no torchvision."""
import io

import numpy as np
import PIL
import PIL.Image
from PIL import ImageChops, ImageEnhance, ImageFilter, ImageOps

NAME, VERSION = "Pillow", PIL.__version__
NEAREST, BILINEAR, BICUBIC = PIL.Image.Resampling.NEAREST, PIL.Image.Resampling.BILINEAR, PIL.Image.Resampling.BICUBIC
AFFINE = (0.90, 0.12, 4.0, -0.15, 0.93, 9.0)
SHEAR = (1, -0.3, 0, 0, 1, 0)


def hue(image):
    h, s, v = image.convert("HSV").split()
    turned = PIL.Image.fromarray(np.asarray(h) + np.uint8(25))
    return PIL.Image.merge("HSV", (turned, s, v)).convert("RGB")


def jpeg(image):
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=50)
    return PIL.Image.open(buffer).convert("RGB")


def perspective(image, mode):
    w, h = image.size
    return image.transform(image.size, PIL.Image.Transform.PERSPECTIVE, (1.1, 0.05, -w * 0.05, 0.04, 1.08, -h * 0.03, 1e-4, 1e-4), mode)


def erase(image, side):
    out = image.copy()
    out.paste((0, 0, 0), (20, 20, 20 + side, 20 + side))
    return out


GAMMA = [round(255 * (i / 255) ** 0.8) for i in range(256)] * 3
ROWS = {
    "identity": lambda i: i.copy(),
    "flip": ImageOps.mirror,
    "rotate, nearest": lambda i: i.rotate(30),
    "rotate, bilinear": lambda i: i.rotate(30, BILINEAR),
    "rotate, bicubic": lambda i: i.rotate(30, BICUBIC),
    "affine, nearest": lambda i: i.transform(i.size, PIL.Image.Transform.AFFINE, AFFINE, NEAREST),
    "affine, bilinear": lambda i: i.transform(i.size, PIL.Image.Transform.AFFINE, AFFINE, BILINEAR),
    "affine, bicubic": lambda i: i.transform(i.size, PIL.Image.Transform.AFFINE, AFFINE, BICUBIC),
    "shear, nearest": lambda i: i.transform(i.size, PIL.Image.Transform.AFFINE, SHEAR, NEAREST),
    "translate, nearest": lambda i: i.transform(i.size, PIL.Image.Transform.AFFINE, (1, 0, 17, 0, 1, -9), NEAREST),
    "perspective, nearest": lambda i: perspective(i, NEAREST),
    "perspective, bilinear": lambda i: perspective(i, BILINEAR),
    "brightness": lambda i: ImageEnhance.Brightness(i).enhance(1.3),
    "contrast": lambda i: ImageEnhance.Contrast(i).enhance(1.3),
    "saturation": lambda i: ImageEnhance.Color(i).enhance(1.3),
    "hue": hue,
    "grayscale": lambda i: PIL.Image.merge("RGB", (i.convert("L"),) * 3),
    "gamma": lambda i: i.point(GAMMA),
    "invert": ImageOps.invert,
    "posterize": lambda i: ImageOps.posterize(i, 4),
    "solarize": lambda i: ImageOps.solarize(i, 128),
    "equalize": ImageOps.equalize,
    "autocontrast": ImageOps.autocontrast,
    "sharpness": lambda i: ImageEnhance.Sharpness(i).enhance(2),
    "jpeg, 50": jpeg,
    "permute": lambda i: PIL.Image.merge("RGB", [i.split()[c] for c in (2, 0, 1)]),
    "noise": lambda i: ImageChops.add(i, PIL.Image.effect_noise(i.size, 25.5).convert("RGB"), 1, -128),
    "erase": lambda i: erase(i, int((0.05 * i.width * i.height) ** 0.5)),
    "cutout": lambda i: erase(i, 56),
    "brightness, contrast, posterize, solarize": lambda i: ImageOps.solarize(
        ImageOps.posterize(ImageEnhance.Contrast(ImageEnhance.Brightness(i).enhance(1.3)).enhance(0.8), 5), 200),
}


def prepare(images):
    """What the calls take: PIL images."""
    return [PIL.Image.fromarray(i) for i in images]
