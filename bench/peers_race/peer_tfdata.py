# SPDX-License-Identifier: Apache-2.0
"""tf.data: parallel map with AUTOTUNE, the JPEG's crop decoded alone."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import harness


def imports() -> None:
    global tf, numpy
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    import numpy
    import tensorflow as tf


def batches(dataset: Any, step: Callable[[Any], Any], threads: int, batch: int) -> Iterator[Any]:
    options = tf.data.Options()
    options.threading.private_threadpool_size = threads
    options.deterministic = False
    dataset = dataset.map(step, num_parallel_calls=tf.data.AUTOTUNE).batch(batch, drop_remainder=True)
    return iter(dataset.prefetch(tf.data.AUTOTUNE).with_options(options))


def listed(files: list[str]) -> Any:
    return tf.data.Dataset.from_tensor_slices(files).shuffle(len(files)).repeat()


def crop_box(shape: Any) -> Any:
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        shape,
        tf.constant([[[0.0, 0.0, 1.0, 1.0]]]),
        min_object_covered=0.0,
        aspect_ratio_range=[3 / 4, 4 / 3],
        area_range=[0.08, 1.0],
        max_attempts=10,
        use_image_if_no_bounding_boxes=True,
    )
    return begin, size


def finish(image: Any, antialias: bool) -> Any:
    image = tf.image.resize(image, [224, 224], "bilinear", antialias=antialias)
    image = tf.image.random_flip_left_right(image)
    mean, std = (tf.constant([255 * value for value in values]) for values in (harness.MEAN, harness.STD))
    return tf.transpose((image - mean) / std, [2, 0, 1])


def jpeg_step(antialias: bool) -> Callable[[Any], Any]:
    def step(path: Any) -> Any:
        stored = tf.io.read_file(path)
        begin, size = crop_box(tf.io.extract_jpeg_shape(stored))
        window = tf.stack([begin[0], begin[1], size[0], size[1]])
        return finish(tf.io.decode_and_crop_jpeg(stored, window, channels=3), antialias)

    return step


def classify(name: str, antialias: bool = True) -> harness.JobFunction:
    return lambda data, threads: batches(listed(data.files(name)), jpeg_step(antialias), threads, 256)


def decode_webp(stored: Any, channels: int) -> Any:
    image = tf.image.decode_webp(stored, channels=channels)
    return image[0] if image.shape.rank == 4 else image


def webp(data: harness.Data, threads: int) -> Iterator[Any]:
    def step(path: Any) -> Any:
        image = decode_webp(tf.io.read_file(path), channels=3)
        begin, size = crop_box(tf.shape(image))
        return finish(tf.slice(image, begin, size), True)

    if not hasattr(tf.image, "decode_webp"):
        raise harness.Unavailable(f"TensorFlow {tf.__version__} decodes no WebP")
    return batches(listed(data.files("webp")), step, threads, 256)


def crop(name: str) -> harness.JobFunction:
    def step(path: Any) -> Any:
        image = tf.io.decode_png(tf.io.read_file(path), channels=3)
        return tf.image.random_flip_left_right(tf.image.random_crop(image, [512, 512, 3]))

    return lambda data, threads: batches(listed(data.files(name)), step, threads, 16)


def start(data: harness.Data, threads: int) -> Iterator[Any]:
    """list_files shuffles the names by itself, which is what its documentation shows."""
    names = tf.data.Dataset.list_files(data.folder("many") + "/*/*.JPEG")
    return batches(names, jpeg_step(True), threads, 256)


def pixels(antialias: bool) -> harness.PixelFunction:
    def function(_: harness.Data, files: list[str], kind: str) -> Iterator[Any]:
        decoders = {".png": tf.io.decode_png, ".webp": decode_webp}
        for path in files:
            image = decoders.get(os.path.splitext(path)[1], tf.io.decode_jpeg)(tf.io.read_file(path), channels=3)
            if kind == "crop":
                x, y = harness.middle(image.shape[1], image.shape[0])
                yield image[y : y + 512, x : x + 512].numpy()
            else:
                image = tf.image.resize(image, [256, 256], "bilinear", antialias=antialias).numpy()
                yield numpy.clip(numpy.rint(image), 0, 255).astype(numpy.uint8)

    return function


JOBS = {
    "jpeg": classify("jpeg"),
    "jpeg:noaa": classify("jpeg", antialias=False),
    "jpeg512": classify("jpeg512"),
    "png-kodak": crop("png-kodak"),
    "png-cityscapes": crop("png-cityscapes"),
    "webp": webp,
    "start": start,
}
SETTING = "map(num_parallel_calls=AUTOTUNE), prefetch(AUTOTUNE), private_threadpool_size=cores, deterministic=False; {}"
PEER = harness.Peer(
    name="tfdata",
    venv="tf",
    documents="tensorflow.org/guide/data_performance (parallel map, prefetch, AUTOTUNE); tf.io.decode_and_crop_jpeg",
    imports=imports,
    jobs=JOBS,
    settings={
        "jpeg": SETTING.format("decode_and_crop_jpeg, resize(bilinear, antialias=True), transpose"),
        "jpeg:noaa": SETTING.format("antialias=False, which is what most code has"),
        "png-kodak": SETTING.format("decode_png, random_crop"),
        "webp": SETTING.format("decode_webp, then the crop"),
        "start": "Dataset.list_files(pattern)",
    },
    pixels={job: pixels(job != "jpeg:noaa") for job in JOBS},
    version=lambda: f"TensorFlow {tf.__version__}",
    notes={"jpeg:noaa": "does less: no antialiasing"},
)

if __name__ == "__main__":
    harness.main(PEER)
