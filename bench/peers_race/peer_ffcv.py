# SPDX-License-Identifier: Apache-2.0
"""FFCV: its own files, written once; decoded by threads of compiled Python and libturbojpeg, resized by OpenCV.

Its files hold pixels, or JPEGs that it has compressed anew: other pixels than those of the images it was given, and fewer bytes."""
from __future__ import annotations

import importlib.metadata
import itertools
from collections.abc import Iterator
from typing import Any

import harness
import peer_torch

EPOCHS = 20  # in one: the seam between two of its epochs stays out of the span


def imports() -> None:
    global numpy, Image, encode_jpeg, resizer, imdecode, resize_crop
    global RGBImageField, IntField, Loader, OrderOption, RandomResizedCrop, DatasetWriter
    global RandomHorizontalFlip, NormalizeImage, ToTensor, ToTorchImage
    peer_torch.declare_operators()  # it imports torchvision
    import numpy
    from ffcv.fields import IntField, RGBImageField
    from ffcv.fields.rgb_image import RandomResizedCropRGBImageDecoder as RandomResizedCrop
    from ffcv.fields.rgb_image import encode_jpeg, resizer
    from ffcv.libffcv import imdecode, resize_crop
    from ffcv.loader import Loader, OrderOption
    from ffcv.transforms import NormalizeImage, RandomHorizontalFlip, ToTensor, ToTorchImage
    from ffcv.writer import DatasetWriter
    from PIL import Image


class Files:
    """What its writer is given: an indexed dataset."""

    def __init__(self, files: list[tuple[str, int]]):
        self.files = files

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, at: int) -> Any:
        path, label = self.files[at]
        return Image.open(path).convert("RGB"), label


def write(source: str, **options: Any) -> Any:
    def records(data: harness.Data, to: str) -> None:
        import os

        fields = {"image": RGBImageField(jpeg_quality=90, **options), "label": IntField()}
        writer = DatasetWriter(to, fields, num_workers=len(os.sched_getaffinity(0)))
        writer.from_indexed_dataset(Files(data.labelled(source)), shuffle_indices=True)

    return records


def load(name: str) -> harness.JobFunction:
    def batches(data: harness.Data, threads: int) -> Iterator[Any]:
        mean, deviation = numpy.array(harness.MEAN) * 255, numpy.array(harness.STD) * 255
        images = [
            RandomResizedCrop((224, 224)),
            RandomHorizontalFlip(),
            NormalizeImage(mean, deviation, numpy.dtype("float32")),
            ToTensor(),
            ToTorchImage(),
        ]
        options = dict(
            batch_size=256, num_workers=threads, os_cache=True, order=OrderOption.RANDOM, drop_last=True,
            pipelines={"image": images, "label": None},
        )
        count = len(data.files("jpeg"))
        loader = Loader(data.records(name), indices=numpy.tile(numpy.arange(count), EPOCHS), **options)
        return (batch[0] for batch in harness.forever(lambda: iter(loader)))

    return batches


def stored(largest: int | None, *qualities: int | None) -> harness.PixelFunction:
    """What became of the images that its writer was given: made as it makes them, decoded and resized by the functions that its loader
    compiles. Of several qualities each image has the next; None: its pixels are stored."""

    def one(path: str, quality: int | None) -> Any:
        pixels = resizer(numpy.asarray(Image.open(path).convert("RGB")), largest)
        if quality:
            height, width = pixels.shape[:2]
            content = numpy.ascontiguousarray(encode_jpeg(pixels, quality))
            pixels = numpy.zeros_like(pixels)
            imdecode(content, pixels, height, width, height, width, 0, 0, 1, 1, False, False)
        small = numpy.zeros((256, 256, 3), numpy.uint8)
        resize_crop(numpy.ascontiguousarray(pixels), 0, pixels.shape[0], 0, pixels.shape[1], small)
        return small

    return lambda data, _, __: map(one, data.pixel_files("jpeg"), itertools.cycle(qualities))


LOADER = (
    "RandomResizedCropRGBImageDecoder((224, 224)), RandomHorizontalFlip, NormalizeImage(float32), ToTensor, ToTorchImage; "
    "Loader(num_workers=cores, os_cache=True, order=RANDOM)"
)
PEER = harness.Peer(
    name="ffcv",
    venv="ffcv",
    documents="docs.ffcv.io (Working with Image Data in FFCV; Bottleneck Doctor: os_cache=True, RANDOM where the set fits memory); "
    "github.com/libffcv/ffcv-imagenet (ResNet-50: quality 90, 50 % of the images as JPEG, 500 px)",
    imports=imports,
    jobs={
        "jpeg": load("full.beton"),
        "jpeg512": load("max512.beton"),
        "jpeg512:mixed": load("mixed512.beton"),
        "raw": load("raw512.beton"),
    },
    settings={
        "jpeg": f"RGBImageField(write_mode='jpg', jpeg_quality=90); {LOADER}",
        "jpeg512": f"RGBImageField(write_mode='jpg', max_resolution=512, jpeg_quality=90); {LOADER}",
        "jpeg512:mixed": "RGBImageField(write_mode='proportion', compress_probability=0.5, max_resolution=512, jpeg_quality=90); the same loader",
        "raw": "RGBImageField(write_mode='raw', max_resolution=512); the same loader",
    },
    prepare={
        "full.beton": write("jpeg", write_mode="jpg"),
        "max512.beton": write("jpeg", write_mode="jpg", max_resolution=512),
        "mixed512.beton": write("jpeg", write_mode="proportion", compress_probability=0.5, max_resolution=512),
        "raw512.beton": write("jpeg", write_mode="raw", max_resolution=512),
    },
    needs={
        "jpeg": ("full.beton",),
        "jpeg512": ("max512.beton",),
        "jpeg512:mixed": ("mixed512.beton",),
        "raw": ("raw512.beton",),
    },
    pixels={"jpeg": stored(None, 90), "jpeg512": stored(512, 90), "jpeg512:mixed": stored(512, 90, None), "raw": stored(512, None)},
    version=lambda: f"ffcv {importlib.metadata.version('ffcv')}",
    notes={
        "jpeg": "its own JPEGs, compressed anew at quality 90; resized by area, not bilinearly; NCHW is a view of NHWC",
        "jpeg512": "its own JPEGs of 512 px at quality 90",
        "jpeg512:mixed": "half of the images as pixels, half as JPEG",
        "raw": "pixels of images reduced to 512 px",
    },
)

if __name__ == "__main__":
    harness.main(PEER)
