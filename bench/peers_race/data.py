#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the images that the peers race over, and what `millrace pack` makes of them. What is there, and whole, is kept.

    bench/peers_race/data.py [--data DIR] [--images 6000] [--millrace build/millrace] [--many] [SET...]

The images are those of ../shared/data (or $MILLRACE_SHARED/data) where they are there, else `millrace generate` paints them.
Each image is on the disk once and has as many names (hard links) as it takes; every set is class folders of files.
"""
from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("BUILD", "build")
SHARED = Path(os.environ.get("MILLRACE_SHARED", ROOT.parent / "shared"))
MANY = 1_281_167  # ImageNet's training set
MANY_CLASSES = 1000


@dataclass
class Kitchen:
    """Where things are made, with what, and how many."""

    data: Path
    millrace: Path
    images: int

    def run(self, *words: str | Path) -> None:
        done = subprocess.run([self.millrace, *words], capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"data.py: millrace {' '.join(map(str, words))}\n{done.stderr[-2000:]}")


def say(text: str) -> None:
    print(f"data.py: {text}", file=sys.stderr, flush=True)


# Where images come from


def found(folder: Path, *endings: str) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.rglob("*") if path.suffix.lower() in endings)


def generated(kitchen: Kitchen, name: str, count: int, size: str, form: str) -> list[Path]:
    folder = kitchen.data / "painted" / name
    if not folder.is_dir():
        scratch = folder.with_name(f".{name}.part")
        shutil.rmtree(scratch, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        kitchen.run("generate", scratch, f"--count={count}", f"--size={size}", f"--forms={form}", "--seed=1")
        scratch.rename(folder)
    return found(folder, ".jpg", ".jpeg", ".png")


def photographs(kitchen: Kitchen) -> tuple[list[Path], str]:
    files = found(SHARED / "data" / "imagenet", ".jpg", ".jpeg")
    if files:
        return files, f"{len(files)} images of ImageNet"
    count = min(400, kitchen.images)
    return generated(kitchen, "jpeg", count, "500x375", "jpeg"), f"{count} painted images, 500x375"


def pictures(kitchen: Kitchen, name: str) -> tuple[list[Path], str]:
    files = found(SHARED / "data" / name, ".png")
    if files:
        return files, f"{len(files)} images of {name.capitalize()}"
    count, size = {"kodak": (24, "768x512"), "cityscapes": (10, "2048x1024")}[name]
    return generated(kitchen, name, count, size, "png"), f"{count} painted images, {size}"


# Sets: once/NAME has each image once, NAME all of its names


Copy = Callable[[Kitchen, Path, Path], None]


def copied(_: Kitchen, source: Path, to: Path) -> None:
    shutil.copyfile(source, to)


def converted(*options: str) -> Copy:
    return lambda kitchen, source, to: kitchen.run("convert", *options, "--channels=3", "--depth=8", source, to)


def link_names(once: list[Path], folder: Path, total: int, ending: str) -> None:
    for number in range(total):
        which, turn = number % len(once), number // len(once)
        class_folder = folder / once[which].parent.name
        class_folder.mkdir(parents=True, exist_ok=True)
        os.link(once[which], class_folder / f"{which:06d}_{turn:03d}{ending}")


def make_set(kitchen: Kitchen, folder: Path, sources: list[Path], total: int, ending: str, copy: Copy) -> None:
    """Links to the source itself would change it: each is copied (or made anew) once, beside."""
    once_folder = folder.with_name(folder.name + ".once")
    wanted = []
    for number, source in enumerate(sources[:total]):
        group = once_folder / source.parent.name
        group.mkdir(parents=True, exist_ok=True)
        wanted.append(group / f"{number:06d}{ending}")
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for _ in pool.map(lambda pair: copy(kitchen, *pair), zip(sources, wanted)):
            pass
    link_names(wanted, folder, total, ending)
    shutil.rmtree(once_folder)


def jpeg(kitchen: Kitchen, to: Path) -> str:
    sources, about = photographs(kitchen)
    make_set(kitchen, to, sources, kitchen.images, ".JPEG", copied)
    return about


def jpeg512(kitchen: Kitchen, to: Path) -> str:
    """What FFCV's RGBImageField("jpg", max_resolution=512, jpeg_quality=90) does: all are encoded anew, the large ones reduced by area."""
    sources, about = photographs(kitchen)
    options = ("--form=jpeg", "--max-side=512", "--filter=box", "--quality=90", "--subsampling=420")
    make_set(kitchen, to, sources, kitchen.images, ".JPEG", converted(*options))
    return about + ", longer side at most 512, encoded anew at quality 90"


def webp(kitchen: Kitchen, to: Path) -> str:
    sources, about = photographs(kitchen)
    make_set(kitchen, to, sources, kitchen.images, ".webp", converted("--form=webp", "--quality=90"))
    return about + ", as lossy WebP of quality 90"


def png(name: str, share: int) -> Callable[[Kitchen, Path], str]:
    def make(kitchen: Kitchen, to: Path) -> str:
        sources, about = pictures(kitchen, name)
        total = max(32, kitchen.images // share // len(sources) * len(sources))
        make_set(kitchen, to, sources, total, ".png", copied)
        return about

    return make


def many(kitchen: Kitchen, to: Path) -> str:
    """Names alone: hard links to the files of jpeg, of which ext4 allows 65,000 each."""
    files = sorted(path for path in (kitchen.data / "jpeg").rglob("*.JPEG"))
    nodes = list({path.stat().st_ino: path for path in files}.values())
    if MANY // len(nodes) > 60_000:
        raise SystemExit(f"data.py: many needs at least {MANY // 60_000 + 1} different images, there are {len(nodes)}")
    number = 0
    for at in range(MANY_CLASSES):
        folder = to / f"n{at:08d}"
        folder.mkdir(parents=True)
        for within in range(MANY // MANY_CLASSES + (at < MANY % MANY_CLASSES)):
            os.link(nodes[number % len(nodes)], folder / f"n{at:08d}_{within}.JPEG")
            number += 1
    return f"{number:,} names of {len(nodes)} files"


SETS: dict[str, Callable[[Kitchen, Path], str]] = {
    "jpeg": jpeg,
    "jpeg512": jpeg512,
    "png-kodak": png("kodak", 12),
    "png-cityscapes": png("cityscapes", 30),
    "webp": webp,
}

PACKED: dict[str, tuple[str, str]] = {  # name: set, forms
    "jpeg": ("jpeg", "jpeg"),
    "l3": ("jpeg", "l3"),
    "raw": ("jpeg", "raw"),
    "jpeg512": ("jpeg512", "jpeg"),
    "l3-512": ("jpeg512", "l3"),
    "kodak-png": ("png-kodak", "png"),
    "kodak-l3": ("png-kodak", "l3"),
    "cityscapes-png": ("png-cityscapes", "png"),
    "cityscapes-l3": ("png-cityscapes", "l3"),
    "webp": ("webp", "webp"),
    "webp-l3": ("webp", "l3"),
}


def packed(name: str) -> Callable[[Kitchen, Path], str]:
    source, forms = PACKED[name]

    def make(kitchen: Kitchen, to: Path) -> str:
        kitchen.run("pack", kitchen.data / source, "-o", to, "--forms", forms, "--index-place=none", "--progress=none")
        return f"millrace pack --forms {forms} {source}"

    return make


# Whole or not at all


def kept(kitchen: Kitchen, name: str, make: Callable[[Kitchen, Path], str]) -> None:
    """Made under another name, then renamed; what it is made of is written down beside it."""
    to = kitchen.data / name
    note = kitchen.data / "about.json"
    about = json.loads(note.read_text()) if note.exists() else {}
    if to.is_dir() and about.get(name, {}).get("images") == kitchen.images:
        return
    say(f"making {to}")
    begun = time.monotonic()
    shutil.rmtree(to, ignore_errors=True)
    scratch = to.with_name(f".{to.name}.part")
    for old in (scratch, scratch.with_name(scratch.name + ".once")):
        shutil.rmtree(old, ignore_errors=True)
    scratch.mkdir(parents=True)
    text = make(kitchen, scratch)
    scratch.rename(to)
    files = [path.stat() for path in to.rglob("*") if path.is_file()] if name != "many" else []
    about = json.loads(note.read_text()) if note.exists() else {}
    about[name] = {
        "images": kitchen.images,
        "files": len(files) or MANY,
        "bytes": sum(one.st_size for one in files),
        "about": text,
        "seconds": round(time.monotonic() - begun, 1),
    }
    note.write_text(json.dumps(about, indent=1) + "\n")


def make_all(kitchen: Kitchen, names: list[str], with_many: bool) -> dict[str, dict[str, Any]]:
    kitchen.data.mkdir(parents=True, exist_ok=True)
    wanted = set(names) | {PACKED[name.removeprefix("packed/")][0] for name in names if name.startswith("packed/")}
    for name, make in SETS.items():
        if name in wanted:
            kept(kitchen, name, make)
    if with_many:
        kept(kitchen, "many", many)
    for name in PACKED:
        if f"packed/{name}" in wanted:
            kept(kitchen, f"packed/{name}", packed(name))
    about: dict[str, dict[str, Any]] = json.loads((kitchen.data / "about.json").read_text())
    return about


def every() -> Iterator[str]:
    yield from SETS
    yield from (f"packed/{name}" for name in PACKED)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"which to make [all]: {', '.join(every())}")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("PEERS_DATA", BUILD / "peers/data")))
    parser.add_argument("--images", type=int, default=6000)
    parser.add_argument("--millrace", type=Path, default=BUILD / "millrace")
    parser.add_argument("--many", action="store_true", help="1,281,167 file names too, for the job start (100 MB of folders)")
    asked = parser.parse_args()
    unknown = set(asked.sets) - set(every())
    if unknown:
        parser.error(f"no set is called {', '.join(sorted(unknown))}; there are {', '.join(every())}")
    kitchen = Kitchen(asked.data.resolve(), asked.millrace.resolve(), asked.images)
    about = make_all(kitchen, asked.sets or list(every()), asked.many)
    for name, one in about.items():
        print(f"{name:24} {one['files']:>8} files {one['bytes'] / 1e6:9.1f} MB  {one['about']}")


if __name__ == "__main__":
    main()
