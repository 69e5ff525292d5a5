# SPDX-License-Identifier: Apache-2.0
"""What every peer of the race runs under: one job, timed from outside of the loader, one line of JSON.

A peer is a file peer_NAME.py beside this one:

    import harness

    def imports():                         # what the program imports; counted apart from making the loader
        global torch
        import torch

    def jpeg(data, threads):               # -> an iterable of batches that goes on (harness.forever), or (images, labels, ...)
        return harness.forever(lambda: loader(data.folder("jpeg"), threads))

    PEER = harness.Peer(
        name="torch", venv="torch", documents="https://... (section)", imports=imports,
        jobs={"jpeg": jpeg, "jpeg:area": ...},          # JOB or JOB:VARIANT; the row is then called NAME:VARIANT
        settings={"jpeg": "num_workers=2, ..."},        # what stands in the table of settings; of "jpeg:area" too, if it has its own
        prepare={"full": write},                        # records of its own: write(data, to) makes the file or folder `to`
        needs={"jpeg": ("full",)},                      # which jobs read them: data.records("full")
        pixels=pixels,                                  # (data, files, kind) -> u8 arrays, see PixelFunction; or {"jpeg": f, "jpeg:area": g}
        version=lambda: torch.__version__)

    if __name__ == "__main__":
        harness.main(PEER)

Only the standard library is imported at the top of it: run.py imports it to see what there is.

    python peer_NAME.py JOB [--data DIR] [--threads 2] [--seconds 6] [--memory] [--first]
    python peer_NAME.py list | version | prepare NAME | pixels JOB[:VARIANT]      (after peer_torch.py reference SET)
"""
from __future__ import annotations

import argparse
import ctypes
import itertools
import json
import math
import os
import random
import shutil
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)
SIDES = {"resize": 256, "crop": 512}  # of the images whose pixels are compared, by kind
PIXEL_FILES = 60  # at most: the PNG sets have fewer images
WARM_BATCHES = 4
WARM_SECONDS = 1.0


@dataclass(frozen=True)
class Job:
    """What a batch of a job must be. layout None: nhwc and nchw are both right."""

    set: str  # the folder of the images
    batch: int
    height: int
    width: int
    dtype: str
    layout: str | None
    title: str
    first: bool = False  # only the first batch counts
    pixels: str = "resize"  # the kind that is compared with Pillow's: whole images resized, or a crop from their middle

    @property
    def source(self) -> str:
        """The set whose pixels are compared. many is names of the files of jpeg."""
        return "jpeg" if self.set == "many" else self.set


JOBS: dict[str, Job] = {
    "jpeg": Job("jpeg", 256, 224, 224, "float32", "nchw", "JPEG, full size: random resized crop 224, flip, normalize"),
    "jpeg512": Job("jpeg512", 256, 224, 224, "float32", "nchw", "JPEG, 512 px, quality 90: the same"),
    "randaug": Job("jpeg", 256, 224, 224, "float32", "nchw", "JPEG, full size: the same with RandAugment(2, 9)"),
    "png-kodak": Job("png-kodak", 16, 512, 512, "uint8", None, "PNG, Kodak: random crop 512, flip", pixels="crop"),
    "png-cityscapes": Job("png-cityscapes", 16, 512, 512, "uint8", None, "PNG, Cityscapes: random crop 512, flip", pixels="crop"),
    "raw": Job("jpeg", 256, 224, 224, "float32", "nchw", "Raw pixels in its own format: the job of JPEG"),
    "webp": Job("webp", 256, 224, 224, "float32", "nchw", "Lossy WebP, full size: the job of JPEG"),
    "start": Job("many", 256, 224, 224, "float32", "nchw", "1,281,167 file names: the first batch", first=True),
}


class Unavailable(Exception):
    """This peer cannot run here; the text says why and what to do. It is left out of the table, and named."""


class Data:
    """The folder that data.py filled. Files are in class folders, in every set."""

    def __init__(self, root: str | Path, peer: str = ""):
        self.root = Path(root).resolve()
        self.peer = peer

    def folder(self, name: str) -> str:
        """jpeg, jpeg512, png-kodak, png-cityscapes, webp, many: NAME/CLASS/FILE."""
        path = self.root / name
        if not path.is_dir():
            raise Unavailable(f"{path} is not there; bench/peers_race/data.py makes it")
        return str(path)

    def files(self, name: str) -> list[str]:
        """All files of a set, in the order of their paths, which is ImageFolder's."""
        found = []
        for folder, folders, names in os.walk(self.folder(name)):
            folders.sort()
            found += [os.path.join(folder, one) for one in sorted(names)]
        return found

    def classes(self, name: str) -> dict[str, int]:
        """Class folder to label."""
        with os.scandir(self.folder(name)) as entries:
            return {name: at for at, name in enumerate(sorted(entry.name for entry in entries if entry.is_dir()))}

    def labelled(self, name: str) -> list[tuple[str, int]]:
        classes = self.classes(name)
        return [(path, classes[os.path.basename(os.path.dirname(path))]) for path in self.files(name)]

    def records(self, name: str) -> str:
        """What this peer's prepare[name] wrote."""
        path = self.root / "records" / self.peer / name
        if not path.exists():
            raise Unavailable(f"{path} is not there; `peer_{self.peer}.py prepare {name}` makes it")
        return str(path)

    def packed(self, name: str) -> str:
        """What `millrace pack` made: jpeg (with row index), l3, raw, jpeg512, l3-512, kodak-l3, ..."""
        path = self.root / "packed" / name
        if not path.is_dir():
            raise Unavailable(f"{path} is not there; bench/peers_race/data.py makes it")
        return str(path)

    def private(self) -> str:
        """A folder that this peer may write into: caches."""
        path = self.root / "private" / self.peer
        path.mkdir(parents=True, exist_ok=True)
        return str(path)

    def pixel_files(self, name: str) -> list[str]:
        """Some files of a set, no image twice: a file has several names."""
        images: dict[int, str] = {}
        for path in self.files(name):
            images.setdefault(os.stat(path).st_ino, path)
        files = list(images.values())
        return files[:: max(1, len(files) // PIXEL_FILES)][:PIXEL_FILES]


JobFunction = Callable[[Data, int], "Iterable[Any] | Outside"]
# The files decoded with the job's operators and, by kind, resized to 256x256 or cropped to 512x512 from the middle: NHWC, u8.
PixelFunction = Callable[[Data, list[str], str], Iterable[Any]]


@dataclass
class Peer:
    name: str
    venv: str
    documents: str
    jobs: Mapping[str, JobFunction]
    version: Callable[[], str]
    imports: Callable[[], None] = lambda: None
    settings: Mapping[str, str] = field(default_factory=dict)
    prepare: Mapping[str, Callable[[Data, str], None]] = field(default_factory=dict)
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    pixels: PixelFunction | Mapping[str, PixelFunction] | None = None
    notes: Mapping[str, str] = field(default_factory=dict)  # of a job: what a reader of its row has to know

    def pixels_of(self, job: str) -> PixelFunction | None:
        return self.pixels.get(job) if isinstance(self.pixels, Mapping) else self.pixels


@dataclass
class Outside:
    """A job that a program of its own does: run(seconds) -> {"images", "seconds", "core_seconds", "first"}."""

    run: Callable[[float], dict[str, Any]]


# What jobs use


def forever(epoch: Callable[[], Iterable[Any]]) -> Iterator[Any]:
    """Epoch after epoch."""
    while True:
        yield from epoch()


def crop_of(width: int, height: int, draw: random.Random | Any = random) -> tuple[int, int, int, int]:
    """x, y, width, height of RandomResizedCrop: 8 to 100 % of the area, 3:4 to 4:3, ten tries, then the middle."""
    for _ in range(10):
        area = width * height * draw.uniform(0.08, 1.0)
        ratio = math.exp(draw.uniform(math.log(3 / 4), math.log(4 / 3)))
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            return draw.randint(0, width - w), draw.randint(0, height - h), w, h
    side = min(width, height)
    return (width - side) // 2, (height - side) // 2, side, side


def middle(width: int, height: int, side: int = SIDES["crop"]) -> tuple[int, int]:
    """x and y of the crop that pixels are compared of."""
    return (width - side) // 2, (height - side) // 2


# The process tree, from /proc

TICK = os.sysconf("SC_CLK_TCK")


def _stat(pid: int) -> list[str]:
    text = Path(f"/proc/{pid}/stat").read_text()
    return text[text.rindex(")") + 2 :].split()  # state, ppid, ...: numbers 3 and on of proc(5)


def tree(root: int | None = None) -> list[int]:
    """This process (or root) and all below it. Orphans come to us: main() makes this process their reaper."""
    root = root or os.getpid()
    below: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                below.setdefault(int(_stat(int(name))[1]), []).append(int(name))
            except (OSError, ValueError):
                pass  # it has ended
    found, at = [root], 0
    while at < len(found):
        found += below.get(found[at], [])
        at += 1
    return found


def core_seconds(pids: Iterable[int]) -> float:
    """User and system time of these and of the children they have waited for."""
    ticks = 0
    for pid in pids:
        try:
            ticks += sum(int(value) for value in _stat(pid)[11:15])
        except (OSError, ValueError):
            pass
    return ticks / TICK


def busy_seconds(cores: Iterable[int]) -> float:
    """What these cores have done for anybody, hypervisor's theft included."""
    wanted = {f"cpu{core}" for core in cores}
    ticks = 0
    with open("/proc/stat") as lines:
        for line in lines:
            name, *values = line.split()
            if name in wanted:
                user, nice, system, _, _, irq, softirq, steal = (int(value) for value in values[:8])
                ticks += user + nice + system + irq + softirq + steal
    return ticks / TICK


def age() -> float:
    """Seconds since this process was started."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) - int(_stat(os.getpid())[19]) / TICK


class Memory(threading.Thread):
    """The most memory that the tree had, in samples: its proportional set (files that are mapped included) and what of it is no file's."""

    def __init__(self, period: float = 0.2):
        super().__init__(daemon=True)
        self.period, self.ended = period, threading.Event()
        self.pss = self.anonymous = self.processes = 0

    def look(self) -> None:
        pss = anonymous = 0
        pids = tree()
        for pid in pids:
            try:
                lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
            except OSError:
                continue
            kib = {line.split(":")[0]: int(line.split()[1]) for line in lines}
            pss += kib.get("Pss", 0)
            anonymous += kib.get("Pss_Anon", 0) + kib.get("Pss_Shmem", 0)
        self.pss, self.anonymous = max(self.pss, pss), max(self.anonymous, anonymous)
        self.processes = max(self.processes, len(pids))

    def run(self) -> None:
        while not self.ended.wait(self.period):
            self.look()

    def told(self) -> dict[str, Any]:
        self.ended.set()
        self.look()
        return {
            "pss_mb": round(self.pss * 1024 / 1e6, 1),
            "anonymous_mb": round(self.anonymous * 1024 / 1e6, 1),
            "processes": self.processes,
        }


# One job


def images_of(batch: Any) -> Any:
    """The images of a batch: itself, or the first of (images, labels), or what a mapping has under "image(s)"."""
    if hasattr(batch, "shape"):
        return batch
    if isinstance(batch, Mapping):
        return next(batch[name] for name in ("images", "image", "x") if name in batch)
    return images_of(batch[0] if isinstance(batch, (list, tuple)) else next(iter(batch)))


def dtype_of(images: Any) -> str:
    return str(getattr(images.dtype, "name", images.dtype)).removeprefix("torch.")


def look_at(images: Any, job: Job) -> dict[str, Any]:
    """Shape and type, where they are not the job's, and a fingerprint: mean and spread of the values."""
    import numpy

    shape, dtype, wrong = [int(size) for size in images.shape], dtype_of(images), []
    layouts = {
        "nchw": [job.batch, 3, job.height, job.width],
        "nhwc": [job.batch, job.height, job.width, 3],
    }
    layout = next((name for name, wanted in layouts.items() if wanted == shape), "other")
    if layout == "other":
        wrong.append(f"shape {shape}")
    elif job.layout and layout != job.layout:
        wrong.append(f"{layout} instead of {job.layout}")
    if dtype != job.dtype:
        wrong.append(f"{dtype} instead of {job.dtype}")
    values = numpy.asarray(images)
    sample = values.reshape(len(values), -1)[:: max(1, len(values) // 16)].astype(numpy.float64)
    return {
        "shape": shape,
        "dtype": dtype,
        "layout": layout,
        "wrong": wrong,
        "mean": round(float(sample.mean()), 3),
        "deviation": round(float(sample.std()), 3),
    }


def measure(peer: Peer, name: str, data: Data, threads: int, seconds: float, memory: bool, first: bool) -> dict[str, Any]:
    """Runs a job: when its first batch came, then images and core time over a span of `seconds` from warm on."""
    job = JOBS[name.split(":")[0]]
    cores = os.sched_getaffinity(0)
    watch = Memory() if memory else None
    peer.imports()
    imported, begun = age(), time.perf_counter()
    batches = peer.jobs[name](data, threads)
    told: dict[str, Any] = {"imports": round(imported, 3)}
    if isinstance(batches, Outside):
        if watch:
            watch.start()
        told |= batches.run(seconds)
        told |= rates(told)
        return told | (watch.told() if watch else {})
    count = images = at = 0
    warm = core = busy = last = 0.0
    for count, batch in enumerate(batches, 1):
        now = time.perf_counter()
        if count == 1:
            told |= {"first": round(now - begun, 4), "first_with_imports": round(imported + now - begun, 3)}
            told |= look_at(images_of(batch), job)
            begun_warm = now
            if first or job.first:
                break
            if watch:
                watch.start()
        elif not warm:
            if count >= WARM_BATCHES and now - begun_warm >= min(WARM_SECONDS, seconds):
                core, busy, warm, at = core_seconds(tree()), busy_seconds(cores), time.perf_counter(), count
        else:
            images += len(images_of(batch))
            last = now
            # workers hand out batches in turn: both ends of the span are the same worker's
            if now - warm >= seconds and (count - at) % threads == 0:
                break
        del batch
    if images:
        mine = core_seconds(tree()) - core
        told |= {"images": images, "seconds": round(last - warm, 4), "core_seconds": round(mine, 3)}
        told["foreign_seconds"] = round(max(0.0, busy_seconds(cores) - busy - mine), 3)
        told |= rates(told)
    elif not (first or job.first):
        raise RuntimeError(f"{peer.name} {name}: {count} batches, too few to measure; harness.forever repeats epochs")
    return told | (watch.told() if watch else {})


def rates(told: Mapping[str, Any]) -> dict[str, Any]:
    if not told.get("images"):
        return {}
    return {
        "images_per_second": round(told["images"] / told["seconds"], 2),
        "core_ms": round(1000 * told["core_seconds"] / told["images"], 4),
    }


# Pixels


def decoded(peer: Peer, name: str, data: Data) -> tuple[Any, list[str]]:
    """The images that a peer's pixel function makes for a job, and the files they are of."""
    import numpy

    job, function = JOBS[name.split(":")[0]], peer.pixels_of(name)
    if function is None:
        raise Unavailable(f"peer_{peer.name}.py has no pixels for {name}")
    files, side = data.pixel_files(job.source), SIDES[job.pixels]
    peer.imports()
    arrays = numpy.stack([numpy.asarray(one) for one in function(data, files, job.pixels)])
    if arrays.shape != (len(files), side, side, 3) or arrays.dtype != numpy.uint8:
        raise RuntimeError(f"peer_{peer.name}.py: pixels gave {arrays.shape} {arrays.dtype}, not {len(files)}x{side}x{side}x3 uint8")
    return arrays, [os.path.relpath(path, data.root) for path in files]


def reference_of(data: Data, source: str) -> Path:
    return data.root / "private" / f"reference-{source}.npz"


def reference(peer: Peer, source: str, data: Data) -> dict[str, Any]:
    """Writes what all are compared with: the images of a set as the job of its name makes them. The peer is torch, which is Pillow."""
    import numpy

    arrays, files = decoded(peer, source, data)
    path = reference_of(data, source)
    path.parent.mkdir(parents=True, exist_ok=True)
    numpy.savez(path, pixels=arrays, files=files)
    return {"files": len(files)}


def pixels(peer: Peer, name: str, data: Data) -> dict[str, Any]:
    """How far a peer's images of a job are from the reference."""
    import numpy

    source = JOBS[name.split(":")[0]].source
    path = reference_of(data, source)
    if not path.exists():
        raise Unavailable(f"{path} is not there; `peer_torch.py reference {source}` writes it")
    arrays, files = decoded(peer, name, data)
    wanted = numpy.load(path)
    if wanted["files"].tolist() != files:
        raise Unavailable(f"{path} is of other images; `peer_torch.py reference {source}` writes it anew")
    apart = numpy.abs(arrays.astype(numpy.int16) - wanted["pixels"])
    return {"pixels_mean": round(float(apart.mean()), 4), "pixels_max": int(apart.max()), "files": len(files)}


# The command line of every peer


def listed(peer: Peer) -> dict[str, Any]:
    return {
        "venv": peer.venv,
        "documents": peer.documents,
        "jobs": list(peer.jobs),
        "settings": dict(peer.settings),
        "prepare": list(peer.prepare),
        "needs": {job: list(names) for job, names in peer.needs.items()},
        "pixels": [job for job in peer.jobs if peer.pixels_of(job)],
        "notes": dict(peer.notes),
    }


def prepare(peer: Peer, name: str, data: Data) -> dict[str, Any]:
    """Writes beside, then renames: what is there is whole. What is there already stays."""
    to = data.root / "records" / peer.name / name
    begun = time.perf_counter()
    made = not to.exists()
    if made:
        to.parent.mkdir(parents=True, exist_ok=True)
        scratch = to.with_name(f".{name}.part")
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.unlink(missing_ok=True)
        peer.imports()
        peer.prepare[name](data, str(scratch))
        scratch.rename(to)
    size = sum(one.stat().st_size for one in ([to] if to.is_file() else to.rglob("*")) if one.is_file())
    return {"made": made, "seconds": round(time.perf_counter() - begun, 1), "bytes": size}


OF_A_NAME: dict[str, Callable[[Peer, str, Data], dict[str, Any]]] = {"prepare": prepare, "pixels": pixels, "reference": reference}


def arguments(peer: Peer) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=f"{peer.name}: one job, one line of JSON.")
    parser.add_argument("job", help="a job (jpeg, jpeg:fused), or list, version, prepare, pixels, reference")
    parser.add_argument("name", nargs="?", help="of prepare: which records; of pixels: which job; of reference: which set")
    parser.add_argument("--data", default=os.environ.get("PEERS_DATA", "build/peers/data"))
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--memory", action="store_true", help="watch the memory; the speed is then not to be trusted")
    parser.add_argument("--first", action="store_true", help="end with the first batch")
    return parser.parse_args()


def answer(peer: Peer, asked: argparse.Namespace) -> dict[str, Any]:
    data = Data(asked.data, peer.name)
    word = asked.job
    if word == "list":
        return listed(peer)
    if word == "version":
        peer.imports()
        return {"version": peer.version(), "python": sys.version.split()[0]}
    if word in OF_A_NAME:
        return OF_A_NAME[word](peer, asked.name, data)
    if word not in peer.jobs:
        raise Unavailable(f"{peer.name} has no job {word}; it has {', '.join(peer.jobs)}")
    return measure(peer, word, data, asked.threads, asked.seconds, asked.memory, asked.first)


def end_children() -> None:
    """Our own workers, so that they do not disturb the next run. Some peers never end theirs."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # torch's handler raises when a worker is killed
    for pid in tree()[1:]:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass  # it has ended
    deadline = time.monotonic() + 3
    while time.monotonic() < deadline and len(tree()) > 1:
        try:
            os.waitpid(-1, os.WNOHANG)
        except OSError:
            pass
        time.sleep(0.02)


def main(peer: Peer) -> None:
    """Prints one line of JSON to what was standard output; whatever the peer prints goes to standard error."""
    out = os.dup(1)
    os.dup2(2, 1)
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: daemons stay in our tree
    asked = arguments(peer)
    told: dict[str, Any] = {"peer": peer.name, "job": asked.job, "threads": asked.threads}
    code = 0
    try:
        told |= answer(peer, asked)
    except Unavailable as why:
        told["unavailable"], code = str(why), 3
    except Exception as why:
        traceback.print_exc()
        told["error"], code = f"{type(why).__name__}: {why}"[:2000], 1
    os.write(out, (json.dumps(told) + "\n").encode())
    sys.stdout.flush()
    sys.stderr.flush()
    end_children()
    os._exit(code)  # some peers hang at the end


def batches_of(items: list[Any], size: int) -> Iterator[list[Any]]:
    """Whole batches of a list, shuffled anew for ever."""
    items = list(items)
    for _ in itertools.count():
        random.shuffle(items)
        for at in range(0, len(items) - size + 1, size):
            yield items[at : at + size]
