# SPDX-License-Identifier: Apache-2.0
"""OpenCV: the calls that a program of its own would be written with. Its arithmetic is not Pillow's."""
import cv2
import numpy as np

cv2.setNumThreads(1)
NAME, VERSION = "OpenCV", cv2.__version__
MODES = {"nearest": cv2.INTER_NEAREST, "bilinear": cv2.INTER_LINEAR, "bicubic": cv2.INTER_CUBIC}
LEVELS = np.arange(256, dtype=np.float32)


def table(values):
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)


GAMMA = table(255 * (LEVELS / 255) ** 0.8)
SOLARIZE = np.where(LEVELS < 128, LEVELS, 255 - LEVELS).astype(np.uint8)
POSTERIZE = (np.arange(256) & 0xF0).astype(np.uint8)
HUE = ((np.arange(256) + 18) % 180).astype(np.uint8)
SHARP = np.array([[1, 1, 1], [1, 5, 1], [1, 1, 1]], np.float32) / 13


def warp(image, matrix, mode):
    return cv2.warpAffine(image, matrix, (image.shape[1], image.shape[0]), flags=mode)


def rotate(image, mode):
    h, w = image.shape[:2]
    return warp(image, cv2.getRotationMatrix2D((w / 2, h / 2), 30, 1), mode)


def perspective(image, mode):
    h, w = image.shape[:2]
    start = np.array([[0, 0], [w - 1, 0], [w - 1, h - 1], [0, h - 1]], np.float32)
    end = np.array([[w // 9, h // 8], [w - w // 7, h // 9], [w - w // 8, h - h // 6], [w // 6, h - h // 7]], np.float32)
    return cv2.warpPerspective(image, cv2.getPerspectiveTransform(start, end), (w, h), flags=mode)


def elastic(image):
    h, w = image.shape[:2]
    x, y = np.meshgrid(np.arange(w, dtype=np.float32), np.arange(h, dtype=np.float32))
    for grid in (x, y):
        field = np.empty((h, w), np.float32)
        cv2.randu(field, -1, 1)
        grid += cv2.GaussianBlur(field, (41, 41), 5) * 50
    return cv2.remap(image, x, y, cv2.INTER_LINEAR)


def gray3(image):
    return cv2.cvtColor(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB)


def contrast(image, factor):
    mean = cv2.mean(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY))[0]
    return cv2.convertScaleAbs(image, alpha=factor, beta=mean * (1 - factor)) if factor < 1 else cv2.LUT(image, table(LEVELS * factor + mean * (1 - factor)))


def hue(image):
    hsv = cv2.cvtColor(image, cv2.COLOR_RGB2HSV)
    h, s, v = cv2.split(hsv)
    return cv2.cvtColor(cv2.merge((cv2.LUT(h, HUE), s, v)), cv2.COLOR_HSV2RGB)


def saturation(image):
    return cv2.addWeighted(image, 1.3, gray3(image), -0.3, 0)


def jitter(image):
    return hue(saturation(contrast(cv2.convertScaleAbs(image, alpha=1.2), 0.8)))


def equalize(image):
    return cv2.merge([cv2.equalizeHist(c) for c in cv2.split(image)])


def autocontrast(image):
    tables = np.empty((256, 1, 3), np.uint8)
    for c, channel in enumerate(cv2.split(image)):
        low, high, _, _ = cv2.minMaxLoc(channel)
        tables[:, 0, c] = table((LEVELS - low) * (255 / max(high - low, 1)))
    return cv2.LUT(image, tables)


def jpeg(image):
    return cv2.imdecode(cv2.imencode(".jpg", image, (cv2.IMWRITE_JPEG_QUALITY, 50))[1], cv2.IMREAD_COLOR)


def noise(image):
    field = np.empty(image.shape, np.int16)
    cv2.randn(field, 0, 25.5)
    return cv2.add(image, field, dtype=cv2.CV_8U)


def erase(image, side):
    out = image.copy()
    out[20 : 20 + side, 20 : 20 + side] = 0
    return out


AFFINE = np.array([[1.07, -0.11, 3.0], [0.17, 1.05, -8.0]])
ROWS = {
    "identity": np.copy,
    "flip": lambda i: cv2.flip(i, 1),
    "shear, nearest": lambda i: warp(i, np.array([[1, 0.3, 0], [0, 1.0, 0]]), cv2.INTER_NEAREST),
    "translate, nearest": lambda i: warp(i, np.array([[1, 0, 17], [0, 1.0, -9]]), cv2.INTER_NEAREST),
    "elastic": elastic,
    "brightness": lambda i: cv2.convertScaleAbs(i, alpha=1.3),
    "contrast": lambda i: contrast(i, 1.3),
    "saturation": saturation,
    "hue": hue,
    "jitter": jitter,
    "grayscale": gray3,
    "gamma": lambda i: cv2.LUT(i, GAMMA),
    "invert": cv2.bitwise_not,
    "posterize": lambda i: cv2.LUT(i, POSTERIZE),
    "solarize": lambda i: cv2.LUT(i, SOLARIZE),
    "equalize": equalize,
    "autocontrast": autocontrast,
    "sharpness": lambda i: cv2.addWeighted(i, 2, cv2.filter2D(i, -1, SHARP), -1, 0),
    "blur, 5": lambda i: cv2.GaussianBlur(i, (5, 5), 1.2, borderType=cv2.BORDER_REFLECT_101),
    "blur, 23": lambda i: cv2.GaussianBlur(i, (23, 23), 2, borderType=cv2.BORDER_REFLECT_101),
    "jpeg, 50": jpeg,
    "permute": lambda i: cv2.cvtColor(i, cv2.COLOR_RGB2BGR),
    "noise": noise,
    "erase": lambda i: erase(i, int((0.05 * i.shape[0] * i.shape[1]) ** 0.5)),
    "cutout": lambda i: erase(i, 56),
    "brightness, contrast, posterize, solarize": lambda i: cv2.LUT(
        cv2.LUT(contrast(cv2.convertScaleAbs(i, alpha=1.3), 0.8), POSTERIZE), SOLARIZE),
}
for name, mode in MODES.items():
    ROWS[f"rotate, {name}"] = lambda i, m=mode: rotate(i, m)
    ROWS[f"affine, {name}"] = lambda i, m=mode: warp(i, AFFINE, m)
    ROWS[f"perspective, {name}"] = lambda i, m=mode: perspective(i, m)


def prepare(images):
    return [np.ascontiguousarray(i) for i in images]
