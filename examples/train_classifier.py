#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a small network twice on the same images: fed by Millrace, and by torch's DataLoader.

    python examples/train_classifier.py             # makes a small set of pictures of four kinds, some 20 s
    python examples/train_classifier.py --forms     # as JPEG, as L3, and both mixed: the same losses, number for number
    python examples/train_classifier.py --data DIR  # DIR/train and DIR/val, with a folder for each class

The losses stand side by side. Both runs start from the same weights and see the same kind of crops; their random
numbers differ, as those of two seeds do.
The exit code is 1 if the network learned nothing, learned less from Millrace, or if a form changed a single loss.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import nn

import millrace as mr

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
Batches = Iterable[Any]  # of images and labels
# By name, and by where x and y, from the middle in units of the size, are inside.
SHAPES: tuple[tuple[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]], ...] = (
    ("disc", lambda x, y: x * x + y * y < 1),
    ("ring", lambda x, y: (x * x + y * y < 1) & (x * x + y * y > 0.4)),
    ("cross", lambda x, y: ((x.abs() < 0.3) | (y.abs() < 0.3)) & (x.abs() < 1) & (y.abs() < 1)),
    ("stripes", lambda x, y: ((x * 4).floor() % 2 == 0) & (y.abs() < 1) & (x.abs() < 1)),
)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=pathlib.Path, help="a folder with train and val in it [made for the occasion]")
    parser.add_argument("--forms", action="store_true", help="feed the packed set as JPEG, as L3 and mixed")
    parser.add_argument("--images", type=int, default=480, help="to make for training [480]")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--size", type=int, default=48, help="of the crops [48]")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def find_command() -> str | None:
    """The millrace command, of this tree or of the path; pip does not bring it."""
    built = pathlib.Path(__file__).resolve().parent.parent / "build" / "millrace"
    return os.environ.get("MILLRACE", str(built) if built.exists() else shutil.which("millrace")) or None


def make_set(folder: pathlib.Path, images: int) -> None:
    """Pictures of four kinds; other ones to train on than to check with."""
    command = find_command()
    folder.mkdir(parents=True)
    for part, count, seed in (("train", images, 1), ("val", max(images // 3, 16), 2)):
        if command is None:
            draw_set(folder / part, count, seed)
            continue
        options = [f"--count={count}", f"--seed={seed}", "--classes=4", "--size=160x120", "--forms=jpeg"]
        subprocess.run([command, "generate", *options, str(folder / part)], check=True, stdout=subprocess.DEVNULL)


def draw_set(folder: pathlib.Path, count: int, seed: int, width: int = 160, height: int = 120) -> None:
    """Shapes on noise, of any colour and in any place: without the command, which has landscapes and streets."""
    dice = torch.Generator().manual_seed(seed)
    for number in range(count):
        kind = number % len(SHAPES)
        colors = torch.randint(30, 226, (2, 3), generator=dice)
        colors[1] = (colors[0] + 128) % 256  # far from that of the ground
        across, down, size = (torch.rand(3, generator=dice) * 0.3 + 0.35).tolist()
        y = (torch.arange(height).view(-1, 1) - down * height) / (size * height)
        x = (torch.arange(width).view(1, -1) - across * width) / (size * height)
        inside = SHAPES[kind][1](x, y).unsqueeze(2)
        pixels = torch.where(inside, colors[1], colors[0]) + torch.randint(-24, 25, (height, width, 1), generator=dice)
        path = folder / SHAPES[kind][0] / f"{number:05}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        data = bytes(pixels.clamp(0, 255).flatten().tolist())
        path.write_bytes(mr.encode(memoryview(data).cast("B", (height, width, 3)), "jpeg"))


def make_model(classes: int, seed: int) -> nn.Module:
    torch.manual_seed(seed)
    widths = (3, 16, 32, 64)
    blocks = [
        layer
        for before, after in zip(widths, widths[1:])
        for layer in (nn.Conv2d(before, after, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(after), nn.ReLU())
    ]
    return nn.Sequential(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(widths[-1], classes))


def train(model: nn.Module, epochs: Iterator[Batches]) -> list[float]:
    """The loss of each batch."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    losses = []
    model.train()
    for batches in epochs:
        for images, labels in batches:
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


@torch.no_grad()
def accuracy(model: nn.Module, batches: Batches) -> float:
    model.eval()
    right = total = 0
    for images, labels in batches:
        right += int((model(images).argmax(1) == labels).sum())
        total += len(labels)
    return right / total


def millrace_train(data: pathlib.Path, args: argparse.Namespace, form: str | None = None) -> mr.Loader:
    recipe = [mr.RandomResizedCrop(args.size), mr.HorizontalFlip(), mr.Normalize.imagenet()]
    return mr.Loader(data, recipe, batch_size=args.batch, shuffle=True, seed=args.seed, drop_last=True, form=form)


def millrace_val(data: pathlib.Path, args: argparse.Namespace) -> mr.Loader:
    recipe = f"short({args.size * 9 // 8}) center({args.size}) normalize(imagenet)"
    return mr.Loader(data, recipe, batch_size=args.batch, to="torch")


class Folder(torch.utils.data.Dataset):
    """What torchvision's ImageFolder is, in a few lines."""

    def __init__(self, root: pathlib.Path, transform: Callable[[object], torch.Tensor]) -> None:
        names = sorted(entry.name for entry in root.iterdir() if entry.is_dir())
        self.files = [(path, label) for label, name in enumerate(names) for path in sorted((root / name).iterdir())]
        self.transform = transform

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, at: int) -> tuple[torch.Tensor, int]:
        from PIL import Image

        path, label = self.files[at]
        with Image.open(path) as image:
            return self.transform(image.convert("RGB")), label


def torch_transform(size: int) -> tuple[str, Callable[[object], torch.Tensor]]:
    """torchvision's transforms; without it the same by hand."""
    try:
        from torchvision.transforms import v2
    except (ImportError, RuntimeError):  # none, or one that is made for another torch
        return "Pillow and torch", lambda image: plain_transform(image, size)
    pixels = [v2.RandomResizedCrop(size), v2.RandomHorizontalFlip()]
    numbers = [v2.PILToTensor(), v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)]
    return "torchvision", v2.Compose([*pixels, *numbers])


def plain_transform(image: object, size: int) -> torch.Tensor:
    """A random part of random size and shape, resized; perhaps mirrored; normalized."""
    from PIL import Image

    assert isinstance(image, Image.Image)
    width, height = image.size
    for _ in range(10):
        area = width * height * random.uniform(0.08, 1.0)
        ratio = 2 ** random.uniform(-0.415, 0.415)  # 3/4 to 4/3
        w, h = round((area * ratio) ** 0.5), round((area / ratio) ** 0.5)
        if 0 < w <= width and 0 < h <= height:
            break
    else:
        w, h = min(width, height), min(width, height)
    x, y = random.randint(0, width - w), random.randint(0, height - h)
    image = image.resize((size, size), Image.Resampling.BILINEAR, (x, y, x + w, y + h))
    if random.random() < 0.5:
        image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    pixels = torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8).view(size, size, 3).permute(2, 0, 1)
    return (pixels.float() / 255 - torch.tensor(MEAN).view(3, 1, 1)) / torch.tensor(STD).view(3, 1, 1)


def plot(curves: dict[str, list[float]], columns: int = 44, rows: int = 10) -> str:
    """Losses over time, one beside the other, on the same scale."""
    shown = {name: smooth(losses, columns) for name, losses in curves.items()}
    most = max(max(values) for values in shown.values())
    lines = ["   ".join(f"      {name:<{columns}}" for name in shown)]
    for row in range(rows):
        upper, lower = most * (rows - row) / rows, most * (rows - row - 1) / rows
        cells = [
            "".join("*" if lower < value <= upper else " " for value in values).ljust(columns)
            for values in shown.values()
        ]
        lines.append("   ".join(f"{upper:5.2f}|{cell}" for cell in cells))
    lines.append("   ".join("     +" + "-" * columns for _ in shown))
    return "\n".join(line.rstrip() for line in lines)


def smooth(losses: list[float], columns: int) -> list[float]:
    """The mean of what falls into each column."""
    columns = min(columns, len(losses))
    cuts = [len(losses) * i // columns for i in range(columns + 1)]
    return [sum(losses[a:b]) / (b - a) for a, b in zip(cuts, cuts[1:])]


def compare_loaders(data: pathlib.Path, args: argparse.Namespace) -> int:
    loader = millrace_train(data / "train", args)
    classes = loader.dataset.classes
    images = f"{len(loader.dataset)} images of {len(classes)} classes ({', '.join(classes)})"
    print(f"{images}, {len(loader)} batches of {args.batch}\n")
    ours = make_model(len(classes), args.seed)
    begun = time.perf_counter()
    curves = {"Millrace": train(ours, (loader for _ in range(args.epochs)))}
    seconds = [time.perf_counter() - begun]
    report = loader.report()

    name, transform = torch_transform(args.size)
    random.seed(args.seed)
    folder = Folder(data / "train", transform)
    generator = torch.Generator().manual_seed(args.seed)
    theirs_loader = torch.utils.data.DataLoader(folder, args.batch, shuffle=True, drop_last=True, generator=generator)
    theirs = make_model(len(classes), args.seed)
    begun = time.perf_counter()
    curves[f"torch's DataLoader, {name}"] = train(theirs, (theirs_loader for _ in range(args.epochs)))
    seconds.append(time.perf_counter() - begun)

    print(plot(curves) + "\n")
    chance = 1 / len(classes)
    results = [accuracy(model, millrace_val(data / "val", args)) for model in (ours, theirs)]
    for curve, result, took in zip(curves, results, seconds):
        last = curves[curve][-len(loader) :]
        loss = sum(last) / len(last)
        print(f"{curve:<36} loss {loss:.3f} at the end, {result:.1%} right ({chance:.0%} by chance), {took:.1f} s")
    print(f"\n{report}")
    if min(results) < chance + (1 - chance) / 4:
        print("\nthe network is not clearly better than chance: give it more --epochs or --images")
        return 1
    if results[0] < results[1] - 0.12:
        print("\nthe network learned less from Millrace than from torch's loader")
        return 1
    return 0


def compare_forms(data: pathlib.Path, args: argparse.Namespace, scratch: pathlib.Path) -> int:
    packed = scratch / "packed"
    mr.pack(data / "train", packed, forms=["jpeg", "l3"])
    torch.use_deterministic_algorithms(True)
    curves: dict[str, list[float]] = {}
    for form in ("jpeg", "l3", "jpeg+l3"):
        loader = millrace_train(packed, args, form)
        model = make_model(len(loader.dataset.classes), args.seed)
        curves[form] = train(model, (loader for _ in range(args.epochs)))
        print(f"{form:<8} first loss {curves[form][0]!r}, last loss {curves[form][-1]!r}, {len(curves[form])} batches")
    same = all(losses == curves["jpeg"] for losses in curves.values())
    print("\nall losses are the same, number for number" if same else "\nthe losses differ")
    return 0 if same else 1


def main() -> int:
    args = parse()
    torch.set_num_threads(1)  # the network is small: the other cores are for the images
    with tempfile.TemporaryDirectory(prefix="millrace-") as name:
        scratch = pathlib.Path(name)
        data = args.data or scratch / "demo"
        if args.data is None:
            make_set(data, args.images)
        return compare_forms(data, args, scratch) if args.forms else compare_loaders(data, args)


if __name__ == "__main__":
    sys.exit(main())
