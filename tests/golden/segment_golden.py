#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What pycocotools makes of random segmentations, for tests/unit/test_segment.c. Needs pycocotools and numpy:

    segment_golden.py > tests/golden/segment_golden.h
    segment_golden.py 3000 5 > many.h      other ones, and more of them
"""
import json
import random
import sys

import numpy
from pycocotools import mask as coco

CASES = int(sys.argv[1]) if len(sys.argv) > 1 else 80
random.seed(int(sys.argv[2]) if len(sys.argv) > 2 else 3)


def random_polygon(width, height):
    spread = random.choice([0.0, 0.0, 0.3, 2.0])
    place = lambda side: random.uniform(-spread, 1 + spread) * side  # noqa: E731
    corners = random.choice([3, 4, 5, 9])
    digits = random.choice([0, 1, 2, 9])
    numbers = [round(place(height if i % 2 else width), digits) for i in range(2 * corners)]
    if random.random() < 0.3:  # upright
        x, y, w, h = (round(random.uniform(0, s), digits) for s in (width, height, width, height))
        numbers = [x, y, x + w, y, x + w, y + h, x, y + h]
    return numbers


def fnv(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def random_case(number):
    width, height = random.randint(1, 60), random.randint(1, 60)
    if number % 3 != 0:
        polygons = [random_polygon(width, height) for _ in range(random.choice([1, 1, 2, 3]))]
        mask = coco.decode(coco.merge(coco.frPyObjects(polygons, height, width)))
        return width, height, polygons, mask
    mask = (numpy.random.RandomState(number).rand(height, width) < random.random()).astype(numpy.uint8)
    if number % 2 == 0:  # longer runs
        mask = numpy.asfortranarray(numpy.kron(mask, numpy.ones((5, 7), numpy.uint8))[:height, :width])
    packed = coco.encode(numpy.asfortranarray(mask))
    if number % 4 == 0:
        flat = mask.flatten(order="F").tolist()
        counts, value = [0], 0
        for pixel in flat:
            if pixel != value:
                counts.append(0)
                value = pixel
            counts[-1] += 1
        return width, height, {"size": [height, width], "counts": counts}, mask
    return width, height, {"counts": packed["counts"].decode(), "size": packed["size"]}, mask


print("// SPDX-License-Identifier: Apache-2.0\n/* Made by tests/golden/segment_golden.py. */\n// clang-format off\n#include <stdint.h>\n")
print("static const struct segment_case {\n    uint32_t width, height;\n    const char *json;\n    uint64_t mask; /* FNV-1a of its rows */\n} segment_cases[] = {")
for number in range(CASES):
    width, height, segmentation, mask = random_case(number)
    text = json.dumps([{"segmentation": segmentation}], separators=(",", ":"))
    print("    {%d, %d, %s, UINT64_C(0x%x)}," % (width, height, json.dumps(text), fnv(numpy.ascontiguousarray(mask).tobytes())))
print("};")
