#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where torchvision puts boxes, rotated boxes, keypoints and masks of random scenes, for tests/unit/test_follow.c, and what
parts its RandomIoUCrop, sizes its ScaleJitter and RandomShortestSize and borders its RandomZoomOut give for the random numbers
of our streams. Needs torch, torchvision and numpy:

    follow_golden.py > tests/golden/follow_golden.h
    follow_golden.py 3000 5 > many.h      other scenes, and more of them

A scene is a list of moves, each with its numbers, and some objects. torchvision's Python runs without its compiled operators
once they are declared.
"""
import random
import sys

import numpy
import torch

import operators  # noqa: F401, before torchvision
from torchvision import tv_tensors  # noqa: E402
from torchvision.transforms import functional as F1  # noqa: E402
from torchvision.transforms import v2  # noqa: E402
from torchvision.transforms.v2 import functional as F  # noqa: E402
from torchvision.transforms.v2.functional._misc import _get_sanitize_bounding_boxes_mask as sane  # noqa: E402

torch.set_num_threads(1)
SCENES = int(sys.argv[1]) if len(sys.argv) > 1 else 90
random.seed(int(sys.argv[2]) if len(sys.argv) > 2 else 8)
BOXES, ROTATED, POINTS = 4, 3, 3
CROP, RESIZE, FLIP, PAD, AFFINE, ROTATE, PERSPECTIVE, ELASTIC, SANITIZE, MIDDLES = range(10)  # mr__move_kind
BORDERS = ["constant", "edge", "reflect", "symmetric"]  # mr_border


class Scene:
    """Objects on their way, and the moves they went."""

    def __init__(self, width, height, rotated=ROTATED):
        self.size, self.first, self.moves = (height, width), (height, width), []
        place = lambda side: random.uniform(-0.1, 1.1) * side  # noqa: E731
        boxes = [[place(width), place(height), random.uniform(0, 0.6) * width, random.uniform(0, 0.6) * height] for _ in range(BOXES)]
        turned = [[place(width), place(height), random.uniform(1, 0.7 * width), random.uniform(1, 0.7 * height), random.uniform(-180, 180)]
                  for _ in range(rotated)]
        if rotated and random.random() < 0.3:
            turned[0][4] = random.choice([0.0, 90.0, -90.0, 45.0, 180.0])
        self.in_boxes = torch.tensor(boxes, dtype=torch.float32)
        self.in_turned = torch.tensor(turned, dtype=torch.float32).reshape(-1, 5)
        self.in_points = torch.tensor([[place(width), place(height)] for _ in range(POINTS)], dtype=torch.float32)
        xyxy = self.in_boxes.clone()
        xyxy[:, 2:] += xyxy[:, :2]
        box = lambda data, format: tv_tensors.BoundingBoxes(data, format=format, canvas_size=self.size)  # noqa: E731
        self.boxes = box(xyxy, "XYXY")
        self.turned = box(F.convert_bounding_box_format(self.in_turned.clone(), "CXCYWHR", "XYXYXYXY"), "XYXYXYXY")
        # The same in double: where both are not the same, a box is so thin or so nearly upright that rounding decides.
        self.exact = box(F.convert_bounding_box_format(self.in_turned.double(), "CXCYWHR", "XYXYXYXY"), "XYXYXYXY")
        self.points = tv_tensors.KeyPoints(self.in_points.clone(), canvas_size=self.size)
        y, x = numpy.mgrid[0:height, 0:width].astype(numpy.uint32)
        pixels = (((x * 2654435761 + y * 40503) >> 7) ^ (x * y)).astype(numpy.uint8)
        self.mask = tv_tensors.Mask(torch.tensor(pixels))
        self.keep, self.keep_turned = list(range(BOXES)), list(range(rotated))

    def note(self, kind, numbers, before):
        self.moves.append((kind, before[1], before[0], self.size[1], self.size[0], numbers))

    def go(self, kind, numbers, function, **arguments):
        before = self.size
        self.boxes, self.points = function(self.boxes, **arguments), function(self.points, **arguments)
        if len(self.turned):
            self.turned = function(self.turned, **arguments)
            self.exact = function(self.exact, **arguments)
        self.mask = function(self.mask, **arguments)
        self.size = tuple(self.mask.shape[-2:])
        self.note(kind, numbers, before)

    def is_sure(self):
        """What torchvision itself is not of one mind about is left out: rotated boxes that rounding decides, and rotations after
        which its boxes are of an image of another size than its masks."""
        near = len(self.turned) == 0 or float((self.exact - self.turned).abs().max()) < 5e-4
        return near and tuple(self.boxes.canvas_size) == self.size

    def crop(self):
        h, w = self.size
        cw, ch = random.randint(1, w), random.randint(1, h)
        x, y = random.randint(0, w - cw), random.randint(0, h - ch)
        self.go(CROP, [x, y, cw, ch], F.crop, top=y, left=x, height=ch, width=cw)

    def resize(self, width=None, height=None):
        width, height = width or random.randint(1, 90), height or random.randint(1, 90)
        self.go(RESIZE, [], F.resize, size=[height, width])

    def flip(self):
        across = random.random() < 0.6
        self.go(FLIP, [int(across), int(not across)], F.horizontal_flip if across else F.vertical_flip)

    def pad(self):
        sides = [random.randint(0, 20) for _ in range(4)]
        self.go(PAD, sides + [0], F.pad, padding=sides)

    def mirror(self):
        """A border that torchvision takes for masks alone: boxes go as with a constant one."""
        border = random.randint(1, 3)
        sides = [random.randint(0, s - 1) for s in (self.size[1], self.size[0], self.size[1], self.size[0])]
        mask = F.pad(self.mask, sides, padding_mode=BORDERS[border])
        self.go(PAD, sides + [border], F.pad, padding=sides)
        self.mask = mask

    def affine(self):
        center = [random.uniform(0, 1) * self.size[1], random.uniform(0, 1) * self.size[0]] if random.random() < 0.3 else None
        degrees, scale = random.uniform(-180, 180), random.uniform(0.5, 1.6)
        translate = [random.randint(-12, 12), random.randint(-12, 12)]
        shear = [random.uniform(-25, 25), random.choice([0.0, random.uniform(-25, 25)])]
        self.go(AFFINE, [degrees, *translate, scale, *shear, int(center is not None), *(center or [0, 0])], F.affine, angle=degrees,
                translate=translate, scale=scale, shear=shear, center=center)

    def rotate(self):
        center = [random.uniform(0, 1) * self.size[1], random.uniform(0, 1) * self.size[0]] if random.random() < 0.3 else None
        degrees = random.choice([random.uniform(-180, 180), random.uniform(-400, 400), 90, 180, 270, -90, 0, 45, 30])
        expand = center is None and random.random() < 0.5
        self.go(ROTATE, [degrees, int(expand), int(center is not None), *(center or [0, 0])], F.rotate, angle=degrees, expand=expand,
                center=center)

    def perspective(self):
        h, w = self.size
        if min(h, w) < 8:
            return
        near = lambda x, y: [x + random.randint(0, w // 4) * (1 if x == 0 else -1), y + random.randint(0, h // 4) * (1 if y == 0 else -1)]  # noqa: E731
        start = [[0, 0], [w - 1, 0], [w - 1, h - 1], [0, h - 1]]
        end = [near(*corner) for corner in start]
        coefficients = F1._get_perspective_coeffs(start, end)
        self.go(PERSPECTIVE, coefficients, F.perspective, startpoints=start, endpoints=end)

    def sanitize(self):
        side, area = random.choice([(1, 1), (5, 30)])
        valid = sane(self.boxes, format=self.boxes.format, canvas_size=self.size, min_size=side, min_area=area)
        self.boxes = tv_tensors.wrap(self.boxes[valid], like=self.boxes)
        self.keep = [k for k, v in zip(self.keep, valid) if v]
        if len(self.turned):
            valid = sane(self.turned, format=self.turned.format, canvas_size=self.size, min_size=side, min_area=area)
            self.turned = tv_tensors.wrap(self.turned[valid], like=self.turned)
            self.exact = tv_tensors.wrap(self.exact[valid], like=self.exact)
            self.keep_turned = [k for k, v in zip(self.keep_turned, valid) if v]
        self.note(SANITIZE, [side, area], self.size)

    def ioucrop(self):
        """What RandomIoUCrop does once it has found a part."""
        h, w = self.size
        cw, ch = random.randint(1 + w // 3, w), random.randint(1 + h // 3, h)
        x, y = random.randint(0, w - cw), random.randint(0, h - ch)
        middle = 0.5 * (self.boxes[:, :2] + self.boxes[:, 2:])
        inside = (x < middle[:, 0]) & (middle[:, 0] < x + cw) & (y < middle[:, 1]) & (middle[:, 1] < y + ch)
        self.note(MIDDLES, [x, y, cw, ch], self.size)
        self.go(CROP, [x, y, cw, ch], F.crop, top=y, left=x, height=ch, width=cw)
        self.boxes[~inside] = 0


def random_scene(number):
    width, height = random.randint(8, 90), random.randint(8, 90)
    if number % 15 == 0:
        width, height = 500, 375
    if number % 15 == 1:
        width, height = random.choice([(1, 1), (1, 40), (37, 1), (2, 3)])
    single = ["crop", "resize", "flip", "pad", "mirror", "affine", "rotate", "perspective"]
    chains = [["crop", "resize", "flip"], ["pad", "ioucrop", "resize", "flip", "pad", "sanitize"], ["affine", "perspective"],
              ["rotate", "crop", "resize", "sanitize"], ["flip", "affine", "flip", "sanitize"], ["mirror", "crop", "resize"],
              ["perspective", "crop", "flip", "resize", "pad", "rotate", "sanitize"]]
    names = [single[number // 2 % len(single)]] if number % 2 == 0 else chains[number // 2 % len(chains)]
    scene = Scene(width, height, 0 if "ioucrop" in names or width * height < 60 else ROTATED)
    for name in names:
        getattr(scene, name)()
    return scene


def fnv(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def numbers(values, digits=7):
    return ", ".join("%.*g" % (digits, float(v)) for v in values) or "0"


def show_scene(scene):
    moves = ["{%d, {%s}, {%s}}" % (kind, ", ".join(map(str, sides)), ", ".join("%.17g" % v for v in given) or "0")
             for kind, *sides, given in scene.moves]
    print("    {%d, %d, %d, {%s}," % (scene.first[1], scene.first[0], len(scene.moves), ", ".join(moves) or "{0, {0}, {0}}"))
    print("     %d, {%s}," % (len(scene.in_turned), numbers(scene.in_boxes.flatten(), 9)))
    print("     {%s}, {%s}," % (numbers(scene.in_turned.flatten(), 9), numbers(scene.in_points.flatten(), 9)))
    print("     %d, {%s}, {%s}," % (len(scene.keep), ", ".join(map(str, scene.keep)) or "0", numbers(scene.boxes.flatten())))
    print("     %d, {%s}, {%s}," % (len(scene.keep_turned), ", ".join(map(str, scene.keep_turned)) or "0",
                                    numbers(scene.turned.flatten())))
    print("     {%s}, UINT64_C(0x%x)}," % (numbers(scene.points.flatten()), fnv(scene.mask.numpy().tobytes())))


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & 0xFFFFFFFF, (p0 >> 32) ^ c[3] ^ k[1], p0 & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


class Stream:
    """torch's random numbers, replaced by draws of ours: a list, or the stream of src/step/dice.h."""

    def __init__(self, draws, endless=False):
        self.draws, self.key, self.block, self.endless = ([] if endless else list(draws)), draws, 0, endless

    def draw(self):
        if self.endless and not self.draws:
            self.draws = philox([self.block] + 3 * [0x64696365], self.key)
            self.block += 1
        return self.draws.pop(0)

    def rand(self, n):
        return torch.tensor([(self.draw() >> 8) * 2.0**-24 for _ in range(n)], dtype=torch.float32)

    def randint(self, n):
        high, low = self.draw(), self.draw()
        return torch.tensor(((high << 32 | low) * n) >> 64)

    def __enter__(self):
        self.saved = torch.rand, torch.randint
        torch.rand = self.rand
        torch.randint = lambda *args, low=0, high=None, size=None: self.randint(high if high is not None else args[0])
        return self

    def __exit__(self, *_):
        torch.rand, torch.randint = self.saved


def show_steps():
    draw = lambda: random.getrandbits(32)  # noqa: E731
    print("static const struct step_case {\n    int kind; /* mr_step_kind */\n    uint32_t width, height, draws[4], wanted[4];\n} step_cases[] = {")
    for i in range(24):
        w, h = random.randint(1, 900), random.randint(1, 900)
        draws = [draw() if i % 4 else random.choice([0, 0xFFFFFFFF]) for _ in range(4)]
        image = [torch.zeros(3, h, w)]
        with Stream(draws[1:]):
            pad = v2.RandomZoomOut().make_params(image)["padding"]
        with Stream(draws):
            jitter = v2.ScaleJitter((512, 300)).make_params(image)["size"]
        with Stream(draws):
            short = v2.RandomShortestSize([480, 512, 544, 37], max_size=700).make_params(image)["size"]
        said = "%d, %d, {%s}" % (w, h, ", ".join("%du" % d for d in draws))
        print("    {22, %s, {%s}}," % (said, ", ".join(map(str, pad))))
        print("    {21, %s, {%d, %d}}," % (said, max(1, jitter[1]), max(1, jitter[0])))
        print("    {24, %s, {%d, %d}}," % (said, max(1, short[1]), max(1, short[0])))
    print("};\n\nstatic const struct iou_case {\n    uint32_t width, height, draws[2];\n    float boxes[3][4];\n    uint32_t wanted[4]; /* left, top, width, height; 0: as it is */\n} iou_cases[] = {")
    for i in range(30):
        w, h = random.randint(20, 900), random.randint(20, 900)
        boxes = []
        for _ in range(3):
            x, y = random.uniform(0, 0.8) * w, random.uniform(0, 0.8) * h
            boxes.append([x, y, x + random.uniform(0.02, 0.9) * (w - x), y + random.uniform(0.02, 0.9) * (h - y)])
        draws = [draw(), draw()]
        objects = tv_tensors.BoundingBoxes(torch.tensor(boxes), format="XYXY", canvas_size=(h, w))
        with Stream(draws, endless=True):
            made = v2.RandomIoUCrop().make_params([torch.zeros(3, h, w), objects])
        wanted = [made["left"], made["top"], made["width"], made["height"]] if made else [0] * 4
        print("    {%d, %d, {%s}, {%s}, {%s}}," % (w, h, ", ".join("%du" % d for d in draws), ", ".join("{%s}" % numbers(b, 9) for b in objects.tolist()),
                                                ", ".join(map(str, wanted))))
    print("};")


print("// SPDX-License-Identifier: Apache-2.0\n/* Made by tests/golden/follow_golden.py. */\n// clang-format off\n#include <stdint.h>\n")
print("enum { SCENE_BOXES = %d, SCENE_ROTATED = %d, SCENE_POINTS = %d };\n" % (BOXES, ROTATED, POINTS))
print("""typedef struct scene {
    uint32_t width, height, count;
    struct {
        int kind;          /* mr__move_kind */
        uint32_t sides[4]; /* width and height before and after */
        double given[9];
    } moves[7];
    uint32_t rotated_count;
    float boxes[4 * SCENE_BOXES]; /* left, top, width, height */
    float rotated[5 * SCENE_ROTATED], points[2 * SCENE_POINTS];
    uint32_t kept, keep[SCENE_BOXES]; /* of the result: which are left, and where they are */
    float to_boxes[4 * SCENE_BOXES];
    uint32_t kept_rotated, keep_rotated[SCENE_ROTATED];
    float to_corners[8 * SCENE_ROTATED], to_points[2 * SCENE_POINTS];
    uint64_t mask; /* FNV-1a of its bytes */
} scene;

static const scene scenes[] = {""")
unsure = 0
for number in range(SCENES):
    scene = random_scene(number)
    while not scene.is_sure():
        unsure += 1
        scene = random_scene(number)
    show_scene(scene)
print("};\n")
show_steps()
print("%d scenes, and %d that were left out" % (SCENES, unsure), file=sys.stderr)
