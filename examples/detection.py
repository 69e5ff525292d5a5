#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Boxes and masks that follow their images through every crop and flip, to a network that finds things.

    python examples/detection.py                 # draws a small annotated set, some 10 s
    python examples/detection.py --sheet s.png   # and what training sees, with its boxes, on one sheet

A sample is an image and a JSON of the same name beside it in a tar shard: {"annotations": [{"bbox": [x, y, w, h],
"category_id": 1, "segmentation": [[x, y, ...]]}, ...]}, as COCO has them. Without torch it shows what batches have.
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import json
import pathlib
import random
import sys
import tarfile
import tempfile
from typing import Any

import millrace as mr

SIDE, CELL, KINDS = 96, 8, ("square", "diamond")
RECIPE = f"ioucrop flip resize({SIDE}x{SIDE}) sanitize normalize(imagenet)"


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--images", type=int, default=240, help="to draw [240]")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--sheet", type=pathlib.Path, help="write a PNG of what training sees")
    return parser.parse_args()


def draw(dice: random.Random, width: int = 160, height: int = 120) -> tuple[bytes, dict[str, Any]]:
    """A picture with one to three things on it as a JPEG file, and what is known of them."""
    ground = bytes(dice.randrange(60, 120) for _ in range(3))
    pixels = bytearray(b"".join(bytes(min(255, c + dice.randrange(12)) for c in ground) for _ in range(width * height)))
    objects = []
    for _ in range(dice.randint(1, 3)):
        kind, half = dice.randrange(len(KINDS)), dice.randrange(10, 24)
        x, y = dice.randrange(half, width - half), dice.randrange(half, height - half)
        color = bytes([(220, 60, 50), (60, 90, 230)][kind])
        for row in range(-half, half):
            reach = half if kind == 0 else half - abs(row)
            at = ((y + row) * width + x - reach) * 3
            pixels[at : at + 6 * reach] = color * (2 * reach)
        corners = [(-1, -1), (1, -1), (1, 1), (-1, 1)] if kind == 0 else [(0, -1), (1, 0), (0, 1), (-1, 0)]
        outline = [value for dx, dy in corners for value in (x + dx * half, y + dy * half)]
        objects.append(
            {"bbox": [x - half, y - half, 2 * half, 2 * half], "category_id": kind, "segmentation": [outline]}
        )
    image = memoryview(pixels).cast("B", (height, width, 3))
    return bytes(mr.encode(image, "jpeg", quality=90)), {"annotations": objects, "width": width, "height": height}


def make_set(path: pathlib.Path, images: int) -> None:
    dice = random.Random(1)
    with tarfile.open(path, "w") as tar:
        for number in range(images):
            picture, known = draw(dice)
            for ending, data in (("jpg", picture), ("json", json.dumps(known).encode())):
                member = tarfile.TarInfo(f"{number:06}.{ending}")
                member.size = len(data)
                tar.addfile(member, io.BytesIO(data))


def walk(path: pathlib.Path, args: argparse.Namespace) -> None:
    """What the first batch has, without torch."""
    with mr.Loader(path, RECIPE, batch_size=args.batch, shuffle=True, targets=("boxes", "masks"), to="array") as loader:
        batch = next(iter(loader))
        images, targets = batch
        print(f"images {images.shape} {images.dtype}")
        for key, target in list(zip(batch.keys, targets))[:4]:
            shapes = ", ".join(f"{name} {target[name].shape}" for name in ("boxes", "masks"))
            print(f"  {key}: categories {target['categories'].tolist()}, {shapes}")


def train(path: pathlib.Path, args: argparse.Namespace) -> int:
    """For each cell of the image: is the middle of a thing in it, and of which kind?"""
    import torch
    from torch import nn

    loader = mr.torch.Loader(path, RECIPE, batch_size=args.batch, shuffle=True, targets=("boxes", "masks"))
    images, targets = next(iter(loader))
    print(
        f"images {tuple(images.shape)}; of the first: "
        + ", ".join(f"{name} {describe(value)}" for name, value in targets[0].items())
    )
    del images, targets  # their memory is the loader's, and is wanted for the next ones
    torch.manual_seed(0)
    torch.set_num_threads(1)  # the network is small
    widths = (3, 16, 32, 48)
    layers: list[nn.Module] = []
    for before, after in zip(widths, widths[1:]):
        layers += [nn.Conv2d(before, after, 3, stride=2, padding=1), nn.BatchNorm2d(after), nn.ReLU()]
    model = nn.Sequential(
        *layers, nn.Conv2d(widths[-1], widths[-1], 3, padding=1), nn.ReLU(), nn.Conv2d(widths[-1], len(KINDS), 1)
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    losses = []
    for epoch in range(args.epochs):
        total = found = things = 0.0
        for images, targets in loader:
            goal = middles(torch, targets)
            scores = model(images)
            loss = nn.functional.binary_cross_entropy_with_logits(scores, goal, pos_weight=torch.tensor(20.0))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
            things += float(goal.sum())
            found += float(((scores > 0) & (goal > 0)).sum())
        losses.append(total / len(loader))
        print(f"epoch {epoch}: loss {losses[-1]:.3f}, {found / max(things, 1):.0%} of {things:.0f} things found")
    return 0 if losses[-1] < 0.8 * losses[0] else 1


def describe(value: Any) -> str:
    return f"{type(value).__name__}{tuple(value.shape)}" if hasattr(value, "shape") else repr(value)


def middles(torch: Any, targets: list[dict[str, Any]]) -> Any:
    """A map of cells for each image and kind: 1 where the middle of a box is."""
    goal = torch.zeros(len(targets), len(KINDS), SIDE // CELL, SIDE // CELL)
    for place, target in enumerate(targets):
        for box, kind in zip(target["boxes"].tolist(), target["labels"].tolist()):
            x, y = (int((box[i] + box[i + 2]) / 2 / CELL) for i in (0, 1))
            goal[place, kind, min(y, SIDE // CELL - 1), min(x, SIDE // CELL - 1)] = 1
    return goal


def main() -> int:
    args = parse()
    with tempfile.TemporaryDirectory(prefix="millrace-") as name:
        path = pathlib.Path(name) / "things-000000.tar"
        make_set(path, args.images)
        if args.sheet is not None:
            with mr.Loader(path, RECIPE, shuffle=True, targets=("boxes", "masks"), to="array") as loader:
                args.sheet.write_bytes(loader.peek(12).png())
        if importlib.util.find_spec("torch") is None:
            walk(path, args)
            return 0
        return train(path, args)


if __name__ == "__main__":
    sys.exit(main())
