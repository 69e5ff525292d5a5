# SPDX-License-Identifier: Apache-2.0
"""PyTorch's DataLoader over ImageFolder, Pillow and torchvision's transforms v2."""
from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import harness


def imports() -> None:
    global torch, v2, ImageFolder, DataLoader, RandomSampler, Image
    import torch

    declare_operators()
    from PIL import Image
    from torch.utils.data import DataLoader, RandomSampler
    from torchvision.datasets import ImageFolder
    from torchvision.transforms import v2


def declare_operators() -> None:
    """A torchvision that was built for another torch lacks its compiled operators. The transforms need none, the import their names."""
    import torch

    try:
        import torchvision  # noqa: F401

        return
    except (ImportError, RuntimeError, OSError):
        pass
    library = torch.library.Library("torchvision", "DEF")
    for schema in (
        "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
        "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
        "roi_align(Tensor a, Tensor b, float c, int d, int e, int f, bool g) -> Tensor",
        "ps_roi_align(Tensor a, Tensor b, float c, int d, int e, int f) -> (Tensor, Tensor)",
        "roi_pool(Tensor a, Tensor b, float c, int d, int e) -> (Tensor, Tensor)",
        "ps_roi_pool(Tensor a, Tensor b, float c, int d, int e) -> (Tensor, Tensor)",
        "deform_conv2d(Tensor a, Tensor b, Tensor c, Tensor d, Tensor e, int f, int g, int h, int i, int j, int k, int l, int m, bool n) -> Tensor",
    ):
        try:
            library.define(schema)
        except RuntimeError:
            pass
    globals()["_library"] = library  # they end with the object
    for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
        del sys.modules[name]


def training(randaug: bool = False) -> Any:
    """The transforms of torchvision's classification reference; other peers that use them take them from here."""
    steps = [v2.RandomResizedCrop(224, antialias=True), v2.RandomHorizontalFlip()]
    steps += [v2.RandAugment(2, 9)] if randaug else []
    steps += [v2.PILToTensor(), v2.ToDtype(torch.float32, scale=True), v2.Normalize(harness.MEAN, harness.STD)]
    return v2.Compose(steps)


def load(dataset: Any, threads: int, batch: int) -> Iterator[Any]:
    # drawn with replacement, one epoch that does not end: no workers are started anew within the span
    sampler = RandomSampler(dataset, replacement=True, num_samples=max(len(dataset), 1_000_000))
    return (
        images
        for images, _ in DataLoader(dataset, batch, sampler=sampler, num_workers=threads, drop_last=True)
    )


def classify(name: str, randaug: bool = False) -> harness.JobFunction:
    return lambda data, threads: load(ImageFolder(data.folder(name), training(randaug)), threads, 256)


def crop(name: str) -> harness.JobFunction:
    def job(data: harness.Data, threads: int) -> Iterator[Any]:
        steps = v2.Compose([v2.RandomCrop(512), v2.RandomHorizontalFlip(), v2.PILToTensor()])
        return load(ImageFolder(data.folder(name), steps), threads, 16)

    return job


def write_array(data: harness.Data, to: str) -> None:
    """u8, 256x256, in one .npy: what people do who want raw pixels."""
    import numpy

    files = data.files("jpeg")
    array = numpy.lib.format.open_memmap(to, mode="w+", dtype=numpy.uint8, shape=(len(files), 256, 256, 3))
    seen: dict[int, int] = {}  # a file has several names
    for at, path in enumerate(files):
        node = os.stat(path).st_ino
        if node in seen:
            array[at] = array[seen[node]]
        else:
            seen[node] = at
            array[at] = numpy.asarray(Image.open(path).convert("RGB").resize((256, 256), Image.BILINEAR))
    array.flush()


def raw(data: harness.Data, threads: int) -> Iterator[Any]:
    import numpy

    class Array(torch.utils.data.Dataset):
        def __init__(self) -> None:
            self.pixels = numpy.load(data.records("array.npy"), mmap_mode="r")
            self.steps = v2.Compose(
                [
                    v2.RandomResizedCrop(224, antialias=True),
                    v2.RandomHorizontalFlip(),
                    v2.ToDtype(torch.float32, scale=True),
                    v2.Normalize(harness.MEAN, harness.STD),
                ]
            )

        def __len__(self) -> int:
            return len(self.pixels)

        def __getitem__(self, at: int) -> Any:
            return self.steps(torch.from_numpy(self.pixels[at].copy()).permute(2, 0, 1)), 0

    return load(Array(), threads, 256)


def pixels(_: harness.Data, files: list[str], kind: str) -> Iterator[Any]:
    """The reference of all: Pillow's decode, and its bilinear resize, which is antialiased, or its crop."""
    import numpy

    for path in files:
        image = Image.open(path).convert("RGB")
        if kind == "crop":
            x, y = harness.middle(image.width, image.height)
            yield numpy.asarray(image.crop((x, y, x + 512, y + 512)))
        else:
            yield numpy.asarray(image.resize((256, 256), Image.BILINEAR))


def raw_pixels(data: harness.Data, files: list[str], _: str) -> list[Any]:
    """As they are stored, which is 256x256."""
    import numpy

    array, places = numpy.load(data.records("array.npy"), mmap_mode="r"), {path: at for at, path in enumerate(data.files("jpeg"))}
    return [array[places[path]] for path in files]


def version() -> str:
    import PIL
    import torchvision

    simd = "-SIMD" if "post" in PIL.__version__ else ""
    return f"torch {torch.__version__}, torchvision {torchvision.__version__}, Pillow{simd} {PIL.__version__}"


JOBS = {
    "jpeg": classify("jpeg"),
    "jpeg512": classify("jpeg512"),
    "randaug": classify("jpeg", randaug=True),
    "png-kodak": crop("png-kodak"),
    "png-cityscapes": crop("png-cityscapes"),
    "raw": raw,
    "webp": classify("webp"),
    "start": classify("many"),
}
WORKERS = "DataLoader(num_workers=cores, batch_size={}), ImageFolder, Pillow, {}"
PEER = harness.Peer(
    name="torch",
    venv="torch",
    documents="pytorch.org/docs, torch.utils.data (num_workers); torchvision's references/classification/presets.py, backend pil",
    imports=imports,
    jobs=JOBS,
    settings={
        "jpeg": WORKERS.format(256, "v2.RandomResizedCrop(224, antialias=True), RandomHorizontalFlip, PILToTensor, ToDtype(scale=True), Normalize"),
        "randaug": "the same with v2.RandAugment(2, 9) on Pillow images",
        "png-kodak": WORKERS.format(16, "v2.RandomCrop(512), RandomHorizontalFlip, PILToTensor"),
        "raw": "numpy.memmap of u8 256x256 pixels, v2 on tensors",
    },
    prepare={"array.npy": write_array},
    needs={"raw": ("array.npy",)},
    pixels={job: raw_pixels if job == "raw" else pixels for job in JOBS},
    version=version,
    notes={"raw": "of images reduced to 256x256"},
)

if __name__ == "__main__":
    harness.main(PEER)
