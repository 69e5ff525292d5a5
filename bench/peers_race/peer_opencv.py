# SPDX-License-Identifier: Apache-2.0
"""OpenCV in a pool of threads: what one writes by hand. Beside it libjpeg-turbo's whole decode alone, for scale."""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from random import randint, random
from typing import Any

import harness

AHEAD = 2  # batches


def imports() -> None:
    global cv2, numpy, SCALE, SHIFT
    import cv2
    import numpy

    cv2.setNumThreads(0)  # the pool has the threads
    std = numpy.array(harness.STD, numpy.float32).reshape(3, 1, 1)
    SCALE = 1 / (255 * std)
    SHIFT = -numpy.array(harness.MEAN, numpy.float32).reshape(3, 1, 1) / std


def pool(files: list[str], threads: int, batch: int, shape: tuple[int, ...], dtype: str, one: Callable[[str, Any], None]) -> Iterator[Any]:
    """Every image is a task of its own; AHEAD batches are under way."""
    workers = ThreadPoolExecutor(threads)
    lists = harness.batches_of(files, batch)
    under_way: deque[tuple[Any, list[Any]]] = deque()
    while True:
        while len(under_way) < AHEAD:
            images = numpy.empty((batch, *shape), dtype)
            under_way.append((images, [workers.submit(one, path, images[at]) for at, path in enumerate(next(lists))]))
        images, tasks = under_way.popleft()
        for task in tasks:
            task.result()
        yield images


def decoded(path: str) -> Any:
    return cv2.imdecode(numpy.fromfile(path, numpy.uint8), cv2.IMREAD_COLOR)


def classify(name: str, filter_name: str) -> harness.JobFunction:
    def job(data: harness.Data, threads: int) -> Iterator[Any]:
        how = getattr(cv2, filter_name)

        def one(path: str, to: Any) -> None:
            image = decoded(path)
            x, y, width, height = harness.crop_of(image.shape[1], image.shape[0])
            image = cv2.resize(image[y : y + height, x : x + width], (224, 224), interpolation=how)
            if random() < 0.5:
                image = cv2.flip(image, 1)
            image = cv2.cvtColor(image, cv2.COLOR_BGR2RGB)
            numpy.multiply(image.transpose(2, 0, 1), SCALE, out=to)
            to += SHIFT

        return pool(data.files(name), threads, 256, (3, 224, 224), "float32", one)

    return job


def crop(name: str) -> harness.JobFunction:
    def job(data: harness.Data, threads: int) -> Iterator[Any]:
        def one(path: str, to: Any) -> None:
            image = decoded(path)
            x, y = randint(0, image.shape[1] - 512), randint(0, image.shape[0] - 512)
            image = image[y : y + 512, x : x + 512]
            if random() < 0.5:
                image = cv2.flip(image, 1)
            cv2.cvtColor(image, cv2.COLOR_BGR2RGB, dst=to)

        return pool(data.files(name), threads, 16, (512, 512, 3), "uint8", one)

    return job


def turbo(data: harness.Data, threads: int) -> Iterator[Any]:
    """The bytes of a file to all of its pixels, and nothing else."""
    import simplejpeg

    def one(path: str, to: Any) -> None:
        with open(path, "rb") as file:
            simplejpeg.decode_jpeg(file.read())
        to[0] = 1

    return pool(data.files("jpeg"), threads, 256, (1,), "uint8", one)


def pixels(filter_name: str) -> harness.PixelFunction:
    def function(_: harness.Data, files: list[str], kind: str) -> Iterator[Any]:
        for path in files:
            image = decoded(path)
            if kind == "crop":
                x, y = harness.middle(image.shape[1], image.shape[0])
                image = image[y : y + 512, x : x + 512]
            else:
                image = cv2.resize(image, (256, 256), interpolation=getattr(cv2, filter_name))
            yield cv2.cvtColor(image, cv2.COLOR_BGR2RGB)

    return function


def version() -> str:
    try:
        from importlib.metadata import version as of

        return f"OpenCV {cv2.__version__}, simplejpeg {of('simplejpeg')}"
    except ImportError:
        return f"OpenCV {cv2.__version__}"


JOBS = {
    "jpeg:area": classify("jpeg", "INTER_AREA"),
    "jpeg:linear": classify("jpeg", "INTER_LINEAR"),
    "jpeg:turbo": turbo,
    "jpeg512:area": classify("jpeg512", "INTER_AREA"),
    "jpeg512:linear": classify("jpeg512", "INTER_LINEAR"),
    "png-kodak": crop("png-kodak"),
    "png-cityscapes": crop("png-cityscapes"),
    "webp:area": classify("webp", "INTER_AREA"),
}
POOL = "ThreadPoolExecutor(cores), cv2.setNumThreads(0), imdecode, resize({}), 2 batches ahead"
PEER = harness.Peer(
    name="opencv",
    venv="torch",
    documents="docs.opencv.org, cv::resize: INTER_AREA to shrink; cv2 releases the GIL, so that threads do",
    imports=imports,
    jobs=JOBS,
    settings={
        "jpeg:area": POOL.format("INTER_AREA"),
        "jpeg:linear": POOL.format("INTER_LINEAR, which does not antialias"),
        "jpeg:turbo": "simplejpeg.decode_jpeg of whole images in the same pool; no crop, no resize, no batch",
        "png-kodak": POOL.format("no resize"),
    },
    pixels={job: pixels("INTER_LINEAR" if job.endswith(":linear") else "INTER_AREA") for job in JOBS if job != "jpeg:turbo"},
    version=version,
    notes={
        "jpeg:linear": "does less: no antialiasing",
        "jpeg512:linear": "does less: no antialiasing",
        "jpeg:turbo": "does less: whole decode with libjpeg-turbo, nothing else",
    },
)

if __name__ == "__main__":
    harness.main(PEER)
