#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What torchvision and torch make of made-up images, for tests/unit/test_augment_golden.c. Needs torch, torchvision, Pillow 13,
numpy and libxxhash:

    augment_golden.py > tests/golden/augment_golden.h

A case is a crop of noise, resized, cut to a window, flipped, given a border, then ToTensor, Normalize, a dtype and a layout.
torchvision's Python runs without its compiled operators once they are declared.
"""
import ctypes
import random
import sys

import numpy
import torch

import operators  # noqa: F401, before torchvision
import torchvision  # noqa: E402
from PIL import Image  # noqa: E402
from torchvision.transforms import InterpolationMode  # noqa: E402
from torchvision.transforms import functional as F  # noqa: E402

FILTERS = ["BILINEAR", "NEAREST", "BOX", "HAMMING", "BICUBIC", "LANCZOS"]  # in the order of mr_filter
BORDERS = ["constant", "edge", "reflect", "symmetric"]  # of mr_border
DTYPES = {1: None, 2: torch.float32, 3: torch.float16, 4: torch.bfloat16}  # of mr_dtype
NUMBERS = [  # mean, std; the first: none
    None,
    ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
    ([0.5, 0.5, 0.5], [0.5, 0.5, 0.5]),
    ([0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711]),
    ([0.4914, 0.4822, 0.4465], [0.2471, 0.2435, 0.2616]),
    ([0.0, 0.0, 0.0], [1.0, 1.0, 1.0]),
    ([-3.0, 0.1307, 7.25], [1e-5, 0.3081, 1000.0]),
]
SEED = 7
CASES = 96


def noise(nbytes):
    """picture_noise of tests/support/picture.c."""
    seed, out = SEED, bytearray(nbytes)
    for i in range(nbytes):
        seed = (seed * 1664525 + 1013904223) & 0xFFFFFFFF
        out[i] = seed >> 24
    return numpy.frombuffer(bytes(out), numpy.uint8)


def random_case(number):
    side = lambda most: random.randint(1, most)  # noqa: E731
    case = {"width": side(300), "height": side(300), "channels": 1 if number % 8 == 7 else 3}
    case["crop_width"], case["crop_height"] = random.randint(1, case["width"]), random.randint(1, case["height"])
    case["crop_x"] = random.randint(0, case["width"] - case["crop_width"])
    case["crop_y"] = random.randint(0, case["height"] - case["crop_height"])
    case["to_width"], case["to_height"] = (224, 224) if number % 4 == 0 else (side(120), side(120))
    case["filter"] = 0 if number % 2 == 0 else random.randrange(6)
    case["border"] = 0 if number % 3 else random.randrange(4)
    case["window_width"], case["window_height"] = case["to_width"], case["to_height"]
    if case["border"] == 0 and number % 5 == 0:
        case["window_width"], case["window_height"] = side(case["to_width"]), side(case["to_height"])
    case["window_x"] = random.randint(0, case["to_width"] - case["window_width"])
    case["window_y"] = random.randint(0, case["to_height"] - case["window_height"])
    case["flip_x"], case["flip_y"] = random.randrange(2), int(random.randrange(4) == 0)
    padded = number % 3 == 0
    # torchvision refuses to reflect more than there is.
    case["pad"] = [random.randint(0, min(9, case["window_width"] - 1, case["window_height"] - 1)) if padded else 0 for _ in range(4)]
    case["fill"] = random.randrange(256)
    case["dtype"], case["layout"] = random.randint(1, 4), random.randrange(2)
    case["numbers"] = 0 if case["dtype"] == 1 else random.randrange(len(NUMBERS))
    return case


def run(case, data):
    width, height, channels = case["width"], case["height"], case["channels"]
    image = Image.frombytes("RGB" if channels == 3 else "L", (width, height), data[: width * height * channels].tobytes())
    image = F.crop(image, case["crop_y"], case["crop_x"], case["crop_height"], case["crop_width"])
    mode = InterpolationMode[FILTERS[case["filter"]]]
    image = F.resize(image, [case["to_height"], case["to_width"]], mode)
    image = F.crop(image, case["window_y"], case["window_x"], case["window_height"], case["window_width"])
    image = F.hflip(image) if case["flip_x"] else image
    image = F.vflip(image) if case["flip_y"] else image
    if any(case["pad"]):
        image = F.pad(image, case["pad"], case["fill"], BORDERS[case["border"]])
    if case["dtype"] == 1:
        tensor = F.pil_to_tensor(image)
    else:
        tensor = F.to_tensor(image)
        if case["numbers"]:
            mean, std = NUMBERS[case["numbers"]]
            tensor = F.normalize(tensor, mean[:channels], std[:channels])
        tensor = tensor.to(DTYPES[case["dtype"]])
    tensor = tensor.permute(1, 2, 0) if case["layout"] else tensor
    return tensor.contiguous().flatten().view(torch.uint8).numpy().tobytes()


def main():
    random.seed(SEED)
    xxhash = ctypes.CDLL("libxxhash.so.0")
    xxhash.XXH3_64bits.restype = ctypes.c_uint64
    data = noise(300 * 300 * 3)
    print("// SPDX-License-Identifier: Apache-2.0")
    print(f"/* What torchvision {torchvision.__version__} and torch {torch.__version__} with Pillow {Image.__version__} make of noise: written by")
    print(" * tests/golden/augment_golden.py. */")
    print("#ifndef TESTS_GOLDEN_AUGMENT_GOLDEN_H\n#define TESTS_GOLDEN_AUGMENT_GOLDEN_H\n\n#include <stdint.h>\n")
    print("static const struct {\n    float mean[3], std[3];\n} golden_numbers[] = {")
    for numbers in NUMBERS:
        mean, std = numbers or ([0.0] * 3, [0.0] * 3)
        print("    {{%s}, {%s}}," % (", ".join(f"{v!r}f" for v in mean), ", ".join(f"{v!r}f" for v in std)))
    print("};\n")
    cases = [random_case(i) for i in range(CASES)]
    print("static const struct {")
    print("    uint32_t width, height, channels, crop_width, crop_height, crop_x, crop_y, to_width, to_height, filter, border;")
    print("    uint32_t window_width, window_height, window_x, window_y, flip_x, flip_y, pad[4], fill, dtype, layout, numbers;")
    print("    uint64_t hash; /* XXH3-64 of all bytes */\n} golden_cases[] = {")
    for case in cases:
        made = run(case, data)
        words = ["{%s}" % ", ".join(map(str, v)) if isinstance(v, list) else str(v) for v in (case[k] for k in ORDER)]
        print("    {%s, 0x%016x}," % (", ".join(words), xxhash.XXH3_64bits(made, ctypes.c_size_t(len(made)))))
    print("};\n\n#endif")


ORDER = (
    "width height channels crop_width crop_height crop_x crop_y to_width to_height filter border window_width window_height "
    "window_x window_y flip_x flip_y pad fill dtype layout numbers"
).split()

if __name__ == "__main__":
    sys.exit(main())
