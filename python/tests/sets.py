# SPDX-License-Identifier: Apache-2.0
"""Small datasets for tests, written with nothing but the standard library."""

from __future__ import annotations

import io
import json
import pathlib
import struct
import sys
import tarfile
import zlib
from typing import Any

GOLDEN = pathlib.Path(__file__).parents[2] / "tests" / "golden"


def import_torchvision() -> Any:
    """torchvision, also where its compiled part is made for another torch; ImportError without it."""
    import importlib

    if str(GOLDEN) not in sys.path:
        sys.path.append(str(GOLDEN))
    importlib.import_module("operators")
    return importlib.import_module("torchvision")


def png(width: int, height: int, channels: int, pixels: bytes) -> bytes:
    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    row = width * channels
    rows = b"".join(b"\0" + pixels[at : at + row] for at in range(0, height * row, row))
    head = struct.pack(">IIBBBBB", width, height, 8, {1: 0, 3: 2}[channels], 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def noise(width: int, height: int, seed: int) -> bytes:
    """RGB pixels that are those of no other seed."""
    state, pixels = seed * 2654435761 + 12345, bytearray()
    for _ in range(width * height * 3):
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        pixels.append(state >> 16 & 255)
    return bytes(pixels)


def folder(at: pathlib.Path, count: int, classes: int = 3, side: int = 16) -> str:
    """A folder with a folder for each class; images of side x side."""
    for number in range(count):
        into = at / f"class{number % classes}"
        into.mkdir(parents=True, exist_ok=True)
        (into / f"{number:04}.png").write_bytes(png(side, side, 3, noise(side, side, number)))
    return str(at)


WITHOUT_JSON, WITHOUT_MASK, WITHOUT_SEGMENTS = 5, 6, 2


def scene(number: int) -> dict[str, Any]:
    """An image with a rectangle of its class: every channel, the box, the masks and the keypoints tell of it. The left
    upper corner is bright in the image alone, so that it can be told from itself flipped."""
    return {
        "size": (40 + number % 5, 34 + number % 3),
        "class": 1 + number % 9,
        "box": (5 + number % 11, 3 + number % 7, 12 + number % 9, 9 + number % 8),  # left, top, width, height
    }


def scene_pixels(number: int, channels: int) -> bytes:
    what = scene(number)
    (width, height), (left, top, wide, high) = what["size"], what["box"]
    pixels = b"".join(
        bytes([what["class"] if left <= x < left + wide and top <= y < top + high else 0]) * channels
        for y in range(height)
        for x in range(width)
    )
    return b"\xc8" * 3 + pixels[3:] if channels == 3 else pixels


def annotations(number: int) -> list[dict[str, Any]]:
    what = scene(number)
    left, top, wide, high = what["box"]
    right, bottom = left + wide, top + high
    first: dict[str, Any] = {
        "bbox": what["box"],
        "category_id": what["class"],
        "keypoints": [left, top, 2, right, bottom, 1],
    }
    if number != WITHOUT_SEGMENTS:
        first["segmentation"] = [[left, top, right, top, right, bottom, left, bottom]]
    second = {"bbox": [0, 0, 2, 3], "category_id": 77, "iscrowd": 1, "area": 5.5}
    return [first, second] if number % 4 == 3 else [first]


def tar_of(at: pathlib.Path, members: dict[str, bytes]) -> str:
    with tarfile.open(at, "w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return str(at)


def scenes(at: pathlib.Path, count: int = 24) -> str:
    """A tar with images, their json, and their masks of classes."""
    members: dict[str, bytes] = {}
    for number in range(count):
        width, height = scene(number)["size"]
        members[f"{number:03}.png"] = png(width, height, 3, scene_pixels(number, 3))
        if number != WITHOUT_JSON:
            said = {"annotations": annotations(number), "width": width, "height": height}
            members[f"{number:03}.json"] = json.dumps(said).encode()
        if number != WITHOUT_MASK:
            members[f"{number:03}.seg.png"] = png(width, height, 1, scene_pixels(number, 1))
    return tar_of(at, members)
