# SPDX-License-Identifier: Apache-2.0
"""Small sets of pictures for tests, made by the package itself; and where the command is."""

import functools
import io
import json
import os
import pathlib
import random
import shutil
import tarfile
import tempfile

import pytest

import millrace as mr

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLASSES = ("lying", "round", "standing")


def picture(number, width=40, height=32, channels=3):
    """Stripes or rings with noise, different for each number: an Array."""
    dice = random.Random(number)
    kind, period = number % 3, dice.randrange(5, 12)
    image = mr._core.empty((height, width, channels), "uint8")
    pixels = memoryview(image).cast("B")
    at = 0
    for y in range(height):
        for x in range(width):
            along = (y, int(((x - width / 2) ** 2 + (y - height / 2) ** 2) ** 0.5), x)[kind]
            for channel in range(channels):
                pixels[at] = (190 if along % period < period // 2 else 40 + 20 * channel) + dice.randrange(30)
                at += 1
    return image


@functools.cache
def scratch():
    """A folder that goes when the tests are over."""
    keeper = tempfile.TemporaryDirectory(prefix="millrace-tests-")
    scratch.keeper = keeper
    return pathlib.Path(keeper.name)


@functools.cache
def folder(count=50):
    """A folder for each of three classes."""
    root = scratch() / f"folder-{count}"
    for number in range(count):
        path = root / CLASSES[number % 3] / f"{number:03}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(mr.encode(picture(number), "jpeg", quality=90))
    return root


def tar(name, samples):
    """A shard of (key, {ending: bytes})."""
    path = scratch() / name
    with tarfile.open(path, "w") as to:
        for key, members in samples:
            for ending, data in members.items():
                member = tarfile.TarInfo(f"{key}.{ending}")
                member.size = len(data)
                to.addfile(member, io.BytesIO(data))
    return path


@functools.cache
def annotated(count=12):
    """Pictures with boxes, outlines and a mask of classes."""
    samples = []
    for number in range(count):
        objects = [
            {
                "bbox": [2 + i, 3, 16, 12],
                "category_id": i,
                "segmentation": [[2 + i, 3, 18 + i, 3, 18 + i, 15, 2 + i, 15]],
            }
            for i in range(number % 3)
        ]
        mask = mr._core.empty((32, 40), "uint8")
        memoryview(mask).cast("B")[: 40 * 16] = bytes([number % 5]) * (40 * 16)
        known = {"annotations": objects, "width": 40, "height": 32}
        samples.append(
            (
                f"{number:04}",
                {
                    "jpg": mr.encode(picture(number), "jpeg"),
                    "json": json.dumps(known).encode(),
                    "mask.png": mr.encode(mask, "png"),
                },
            )
        )
    return tar("annotated.tar", samples)


@functools.cache
def labelled(*labels):
    """Labels as they stand in KEY.cls: "1 2 3" is a list, "0.5" a number, "a cat" text."""
    samples = [
        (f"{i:04}", {"jpg": mr.encode(picture(i), "jpeg"), "cls": labels[i % len(labels)].encode()}) for i in range(9)
    ]
    return tar(f"labelled-{abs(hash(labels))}.tar", samples)


def command():
    """The millrace command, or the test is skipped."""
    found = os.environ.get("MILLRACE_COMMAND") or str(ROOT / "build" / "millrace")
    if not pathlib.Path(found).exists():
        found = shutil.which("millrace")
    if not found:
        pytest.skip("the command is not built (build/millrace, or MILLRACE_COMMAND=PATH)")
    return found


RECIPE = "rrc(24) flip"


def make(recipe=RECIPE, **options):
    """A loader of the folder."""
    return mr.Loader(folder(), recipe, **{"batch_size": 8, "shuffle": True, "to": "array", **options})
