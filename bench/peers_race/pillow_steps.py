# SPDX-License-Identifier: Apache-2.0
"""What peers do that leave decoding and augmenting to Pillow and torchvision: the steps of peer_torch.py, on stored bytes.

Each of them stores the files themselves (a record is the file's bytes and its label) in its own kind of records, once for
each set, shuffled once as their documents advise, and reads them with its own loader."""
from __future__ import annotations

import io
import random
from collections.abc import Iterator
from typing import Any

import harness
import peer_torch

SETS = {  # of a job: the set that it reads
    "jpeg": "jpeg",
    "jpeg512": "jpeg512",
    "randaug": "jpeg",
    "png-kodak": "png-kodak",
    "png-cityscapes": "png-cityscapes",
    "webp": "webp",
}
NEEDS = {job: (name,) for job, name in SETS.items()}
PILLOW = "Pillow, torchvision's v2 as with torch"


class Steps:
    """A stored image to the tensor of a job. Travels to workers by the job's name, and makes the rest there."""

    def __init__(self, job: str):
        self.job = job
        self.steps: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {"job": self.job, "steps": None}

    def make(self) -> None:
        peer_torch.imports()
        peer_torch.torch.set_num_threads(1)  # torch's own workers do so; those of others leave it at all cores each
        v2 = peer_torch.v2
        if self.job.startswith("png-"):
            self.steps = v2.Compose([v2.RandomCrop(512), v2.RandomHorizontalFlip(), v2.PILToTensor()])
        else:
            self.steps = peer_torch.training(randaug=self.job == "randaug")

    def __call__(self, stored: Any) -> Any:
        """stored: bytes, a path, or a Pillow image that is not decoded yet."""
        if self.steps is None:
            self.make()
        if isinstance(stored, (bytes, bytearray, memoryview)):
            stored = io.BytesIO(stored)
        image = stored if hasattr(stored, "convert") else peer_torch.Image.open(stored)
        return self.steps(image.convert("RGB"))


def batch_of(job: str) -> int:
    return harness.JOBS[job].batch


def shuffled(data: harness.Data, name: str) -> list[tuple[str, int]]:
    """Files and labels of a set in the order in which they are stored: any, but the same for all."""
    files = data.labelled(name)
    random.Random(0).shuffle(files)
    return files


def records(data: harness.Data, name: str) -> Iterator[tuple[bytes, int, str]]:
    """Bytes, label and ending of each file of a set."""
    for path, label in shuffled(data, name):
        with open(path, "rb") as file:
            yield file.read(), label, {"jpeg": "jpg"}.get(ending := path.rsplit(".", 1)[1].lower(), ending)


def pixels(data: harness.Data, files: list[str], kind: str) -> Iterator[Any]:
    """Pillow's; it is run in this peer's environment all the same."""
    peer_torch.imports()
    return peer_torch.pixels(data, files, kind)
