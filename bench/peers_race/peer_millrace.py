# SPDX-License-Identifier: Apache-2.0
"""Millrace from Python, over each stored form; and the C loader alone (`millrace feed`), which says what Python costs.

The package is that of build/python ($MILLRACE_PYTHON), the command build/millrace ($MILLRACE)."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import harness

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("BUILD", "build")
COMMAND = os.environ.get("MILLRACE", str(BUILD / "millrace"))
TRAIN = "rrc(224) flip normalize(imagenet)"
RANDAUG = "rrc(224) flip randaug(2,9) normalize(imagenet)"
CROP = "crop(512) flip"
PIXELS = {"resize": "resize(256x256) layout(nhwc)", "crop": "center(512) layout(nhwc)"}
Place = Callable[[harness.Data], str]


def imports() -> None:
    global mr
    sys.path.insert(0, os.environ.get("MILLRACE_PYTHON", str(BUILD / "python")))
    import millrace as mr
    import numpy  # noqa: F401  what the batches are made of; the others import it, too


def folder(name: str) -> Place:
    return lambda data: data.folder(name)


def packed(name: str) -> Place:
    return lambda data: data.packed(name)


def feed(place: Place, recipe: str, batch: int = 256) -> harness.JobFunction:
    def job(data: harness.Data, threads: int) -> Iterator[Any]:
        os.environ["XDG_CACHE_HOME"] = data.private()  # where the index of a folder is kept
        loader = mr.Loader(place(data), recipe, batch_size=batch, shuffle=True, drop_last=True, threads=threads, to="numpy")
        return harness.forever(lambda: loader)

    return job


def start(again: bool) -> harness.JobFunction:
    """A folder that was never seen, or one that was: its index is in a cache folder of this run's own."""

    def job(data: harness.Data, threads: int) -> Iterator[Any]:
        cache = Path(data.private()) / "start"
        os.environ["XDG_CACHE_HOME"] = str(cache)
        if not again:
            shutil.rmtree(cache, ignore_errors=True)
        elif not cache.is_dir():
            raise harness.Unavailable("no index is there yet: the job start:new makes it")
        cache.mkdir(parents=True, exist_ok=True)
        loader = mr.Loader(data.folder("many"), TRAIN, batch_size=256, shuffle=True, drop_last=True, threads=threads, to="numpy")
        return iter(loader)

    return job


def command(place: Place, recipe: str, batch: int = 256) -> harness.JobFunction:
    """The difference of a long run and a short one: neither start nor the first batches count, as for the others."""

    def job(data: harness.Data, threads: int) -> harness.Outside:
        words = [COMMAND, "feed", place(data), "--recipe", recipe, f"--batch={batch}", "--epochs=0", "--drop-last"]
        words += [f"--threads={threads}", "--json", "--progress=none"]
        surroundings = os.environ | {"XDG_CACHE_HOME": data.private()}

        def feed_batches(count: int) -> dict[str, Any]:
            done = subprocess.run([*words, f"--max-batches={count}"], env=surroundings, capture_output=True, text=True, check=False)
            if done.returncode:
                raise RuntimeError(f"{' '.join(words)}: {done.stderr[-500:]}")
            return dict(json.loads(done.stdout))

        def run(seconds: float) -> dict[str, Any]:
            cores = os.sched_getaffinity(0)
            feed_batches(harness.WARM_BATCHES)  # the index of a folder is made, files come into memory
            short = feed_batches(2 * harness.WARM_BATCHES)
            span = seconds * (short["samples"] - batch) / (short["seconds"] - short["first_batch_seconds"]) / batch
            busy, mine = harness.busy_seconds(cores), harness.core_seconds([os.getpid()])
            long = feed_batches(2 * harness.WARM_BATCHES + max(4, round(span)))
            busy, mine = harness.busy_seconds(cores) - busy, harness.core_seconds([os.getpid()]) - mine
            if long["seconds"] - short["seconds"] < seconds / 3:
                raise RuntimeError("the short run took nearly as long as the long one: the machine is busy with something else")
            return {
                "images": long["samples"] - short["samples"],
                "seconds": long["seconds"] - short["seconds"],
                "core_seconds": long["core_seconds"] - short["core_seconds"],
                "foreign_seconds": round(max(0.0, busy - mine), 3),
                "first": long["first_batch_seconds"],
            }

        return harness.Outside(run)

    return job


def pixels(place: Place) -> harness.PixelFunction:
    """Through a loader, from the very form that the row reads. Keys have the files' names, which no two of a set share."""

    def function(data: harness.Data, files: list[str], kind: str) -> list[Any]:
        os.environ["XDG_CACHE_HOME"] = data.private()
        found: dict[str, Any] = {Path(path).stem: None for path in files}
        for batch in mr.Loader(place(data), PIXELS[kind], batch_size=16, to="numpy"):
            for key, image in zip(batch.keys, batch.images):
                if (name := Path(key).stem) in found:
                    found[name] = image.copy()
        return list(found.values())

    return function


PNG = {
    f"png-{name}:{row}": (place, CROP, 16)
    for name in ("kodak", "cityscapes")
    for row, place in (("folder", folder(f"png-{name}")), ("png", packed(f"{name}-png")), ("l3", packed(f"{name}-l3")))
}
ROWS: dict[str, tuple[Place, str, int]] = {
    "jpeg:folder": (folder("jpeg"), TRAIN, 256),
    "jpeg:jpeg-index": (packed("jpeg"), TRAIN, 256),
    "jpeg:l3": (packed("l3"), TRAIN, 256),
    "jpeg:l3-u8": (packed("l3"), "rrc(224) flip", 256),
    "jpeg512:folder": (folder("jpeg512"), TRAIN, 256),
    "jpeg512:jpeg-index": (packed("jpeg512"), TRAIN, 256),
    "jpeg512:l3": (packed("l3-512"), TRAIN, 256),
    "randaug:folder": (folder("jpeg"), RANDAUG, 256),
    "randaug:jpeg-index": (packed("jpeg"), RANDAUG, 256),
    "randaug:l3": (packed("l3"), RANDAUG, 256),
    **PNG,
    "raw:raw": (packed("raw"), TRAIN, 256),
    "raw:l3": (packed("l3"), TRAIN, 256),
    "webp:folder": (folder("webp"), TRAIN, 256),
    "webp:webp": (packed("webp"), TRAIN, 256),
    "webp:l3": (packed("webp-l3"), TRAIN, 256),
}
ALONE = {  # C beside Python, row by row
    "jpeg:c-folder": ROWS["jpeg:folder"],
    "jpeg:c-jpeg-index": ROWS["jpeg:jpeg-index"],
    "jpeg:c-l3": ROWS["jpeg:l3"],
    "raw:c-raw": ROWS["raw:raw"],
}


def version() -> str:
    return f"Millrace {mr.__version__}"


LOADER = 'mr.Loader({}, "{}", batch_size={}, shuffle=True, drop_last=True, threads=cores, to="numpy")'
PEER = harness.Peer(
    name="millrace",
    venv="millrace",
    documents="doc/python.md",
    imports=imports,
    jobs={name: feed(*row) for name, row in ROWS.items()}
    | {name: command(*row) for name, row in ALONE.items()}
    | {"start:new": start(False), "start:again": start(True)},
    settings={
        "jpeg:folder": LOADER.format("the folder of files", TRAIN, 256),
        "jpeg:jpeg-index": "the same from `millrace pack --forms jpeg` (the files as they came, with row indexes)",
        "jpeg:l3": "the same from `millrace pack --forms l3` (the same pixels)",
        "jpeg:l3-u8": "without normalize: u8 batches",
        "jpeg:c-l3": "`millrace feed`: the C loader alone",
        "randaug:folder": RANDAUG,
        "png-kodak:folder": LOADER.format("the folder of files", CROP, 16),
        "raw:raw": "from `millrace pack --forms raw` (full size)",
        "webp:webp": "from `millrace pack --forms webp`",
        "start:new": "a folder that was never seen: the index is made",
        "start:again": "the same folder again",
    },
    pixels={name: pixels(place) for name, (place, _, _) in (ROWS | ALONE).items()}
    | {name: pixels(folder("jpeg")) for name in ("start:new", "start:again")},
    version=version,
    notes={
        "jpeg:l3-u8": "does less: u8, not normalized",
        **{name: "the C loader, without Python" for name in ALONE},
        "raw:raw": "full size",
    },
)

if __name__ == "__main__":
    harness.main(PEER)
