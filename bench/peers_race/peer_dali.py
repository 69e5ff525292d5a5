# SPDX-License-Identifier: Apache-2.0
"""NVIDIA DALI on the CPU (device_id=None): whole decode, and the fused decoders that decode the crop alone."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import harness

MEAN = [255 * value for value in harness.MEAN]
STD = [255 * value for value in harness.STD]


def imports() -> None:
    global fn, types, pipeline_def, numpy
    import numpy
    from nvidia.dali import fn, pipeline_def, types


def batches(threads: int, batch: int, graph: Callable[[], Any], conditionals: bool = False) -> Iterator[Any]:
    """The memory that run() gives is read in place, as DALI's own plugins do; nothing is copied."""

    @pipeline_def(
        batch_size=batch, num_threads=threads, device_id=None, seed=1, prefetch_queue_depth=2, enable_conditionals=conditionals
    )
    def pipeline() -> Any:
        return graph()

    runner = pipeline()
    runner.build()
    while True:
        yield numpy.asarray(runner.run()[0].as_tensor())


def reader(folder: str) -> Any:
    return fn.readers.file(file_root=folder, random_shuffle=True, initial_fill=1024, name="Reader")


def classify(name: str, fused: bool = True, randaug: bool = False) -> harness.JobFunction:
    area: dict[str, Any] = {"random_area": [0.08, 1.0], "random_aspect_ratio": [3 / 4, 4 / 3], "num_attempts": 10}

    def job(data: harness.Data, threads: int) -> Iterator[Any]:
        folder = data.folder(name)

        def graph() -> Any:
            stored, labels = reader(folder)
            if fused:
                images = fn.decoders.image_random_crop(stored, device="cpu", output_type=types.RGB, **area)
                images = fn.resize(images, resize_x=224, resize_y=224, interp_type=types.INTERP_LINEAR, antialias=True)
            else:
                images = fn.decoders.image(stored, device="cpu", output_type=types.RGB)
                images = fn.random_resized_crop(
                    images, size=[224, 224], interp_type=types.INTERP_LINEAR, antialias=True, **area
                )
            mirror = fn.random.coin_flip()
            if randaug:
                from nvidia.dali.auto_aug import rand_augment

                images = fn.flip(images, horizontal=mirror)
                images, mirror = rand_augment.rand_augment(images, shape=[224, 224], n=2, m=9), 0
            images = fn.crop_mirror_normalize(
                images, dtype=types.FLOAT, output_layout="CHW", mean=MEAN, std=STD, mirror=mirror
            )
            return images, labels

        return batches(threads, 256, graph, conditionals=randaug)

    return job


def crop(name: str, fused: bool = True) -> harness.JobFunction:
    def job(data: harness.Data, threads: int) -> Iterator[Any]:
        folder = data.folder(name)

        def graph() -> Any:
            stored, labels = reader(folder)
            place = {"crop_pos_x": fn.random.uniform(range=(0.0, 1.0)), "crop_pos_y": fn.random.uniform(range=(0.0, 1.0))}
            if fused:
                images = fn.decoders.image_crop(stored, device="cpu", output_type=types.RGB, crop=(512, 512), **place)
                return fn.flip(images, horizontal=fn.random.coin_flip()), labels
            images = fn.decoders.image(stored, device="cpu", output_type=types.RGB)
            images = fn.crop_mirror_normalize(
                images,
                dtype=types.UINT8,
                output_layout="CHW",
                crop=(512, 512),
                mean=[0.0],
                std=[1.0],
                mirror=fn.random.coin_flip(),
                **place,
            )
            return images, labels

        return batches(threads, 16, graph)

    return job


def pixels(fused: bool) -> harness.PixelFunction:
    """The same operators; the fused one's random crop is the whole image."""

    def cropped(stored: Any) -> Any:
        """Where nothing is said of its place, it is the middle."""
        if fused:
            return fn.decoders.image_crop(stored, device="cpu", output_type=types.RGB, crop=(512, 512))
        images = fn.decoders.image(stored, device="cpu", output_type=types.RGB)
        return fn.crop_mirror_normalize(images, dtype=types.UINT8, output_layout="HWC", crop=(512, 512), mean=[0.0], std=[1.0])

    def resized(stored: Any) -> Any:
        if fused:
            images = fn.decoders.image_slice(
                stored, device="cpu", output_type=types.RGB, rel_start=[0.0, 0.0], rel_shape=[1.0, 1.0], axes=[0, 1]
            )
        else:
            images = fn.decoders.image(stored, device="cpu", output_type=types.RGB)
        return fn.resize(images, resize_x=256, resize_y=256, interp_type=types.INTERP_LINEAR, antialias=True)

    def function(_: harness.Data, files: list[str], kind: str) -> list[Any]:
        @pipeline_def(batch_size=len(files), num_threads=2, device_id=None)
        def pipeline() -> Any:
            stored, _ = fn.readers.file(files=files)
            return cropped(stored) if kind == "crop" else resized(stored)

        runner = pipeline()
        runner.build()
        return list(numpy.array(runner.run()[0].as_tensor()))

    return function


def version() -> str:
    from nvidia import dali

    return f"DALI {dali.__version__}"


JOBS = {
    "jpeg": classify("jpeg", fused=False),
    "jpeg:fused": classify("jpeg"),
    "jpeg512": classify("jpeg512", fused=False),
    "jpeg512:fused": classify("jpeg512"),
    "randaug:fused": classify("jpeg", randaug=True),
    "png-kodak": crop("png-kodak", fused=False),
    "png-kodak:fused": crop("png-kodak"),
    "png-cityscapes": crop("png-cityscapes", fused=False),
    "png-cityscapes:fused": crop("png-cityscapes"),
    "webp": classify("webp", fused=False),
    "webp:fused": classify("webp"),
    "start:fused": classify("many"),
}
FUSED = "decoders.image_random_crop, resize(INTERP_LINEAR, antialias=True), crop_mirror_normalize; num_threads=cores, prefetch_queue_depth=2"
PEER = harness.Peer(
    name="dali",
    venv="dali",
    documents="docs.nvidia.com/deeplearning/dali: examples/use_cases/pytorch/resnet50 (fused decoder, crop_mirror_normalize); readers.file; device_id=None for the CPU",
    imports=imports,
    jobs=JOBS,
    settings={
        "jpeg": "decoders.image, random_resized_crop(INTERP_LINEAR, antialias=True), crop_mirror_normalize; num_threads=cores, prefetch_queue_depth=2",
        "jpeg:fused": FUSED,
        "randaug:fused": "the same with auto_aug.rand_augment(n=2, m=9) behind fn.flip",
        "png-kodak": "decoders.image, crop_mirror_normalize(crop=512)",
        "png-kodak:fused": "decoders.image_crop(crop=512), flip",
    },
    pixels={job: pixels(job.endswith(":fused")) for job in JOBS},
    version=version,
)

if __name__ == "__main__":
    harness.main(PEER)
