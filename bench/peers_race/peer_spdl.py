# SPDX-License-Identifier: Apache-2.0
"""SPDL: a pipeline of threads in one process, FFmpeg's decoders and filters."""
from __future__ import annotations

import importlib.metadata
import random
from collections.abc import Callable, Iterator
from typing import Any

import harness


def imports() -> None:
    global torch, io, PipelineBuilder, MEAN, SCALE
    import spdl.io as io
    import torch
    from spdl.pipeline import PipelineBuilder

    io.demux_image  # noqa: B018  # its libraries are loaded with the first name that is asked for
    torch.set_num_threads(1)  # of normalizing, which is one stage beside the threads that decode
    MEAN = torch.tensor(harness.MEAN).view(1, 3, 1, 1) * 255
    SCALE = 1 / (torch.tensor(harness.STD).view(1, 3, 1, 1) * 255)


def paths(files: list[str]) -> Iterator[str]:
    while True:
        random.shuffle(files)
        yield from files


def resized_crop(path: str) -> Any:
    """Only the crop is scaled. swscale's bilinear grows its filter when it reduces: antialiased."""
    packets = io.demux_image(path)
    x, y, width, height = harness.crop_of(packets.width, packets.height)
    return decode(packets, f"crop={width}:{height}:{x}:{y}:exact=1,scale=224:224:flags=bilinear")


def crop(path: str) -> Any:
    packets = io.demux_image(path)
    x, y = random.randint(0, packets.width - 512), random.randint(0, packets.height - 512)
    return decode(packets, f"crop=512:512:{x}:{y}:exact=1")


def decode(packets: Any, filters: str) -> Any:
    flip = ",hflip" if random.random() < 0.5 else ""
    return io.decode_packets(packets, filter_desc=f"{filters}{flip},format=pix_fmts=rgb24")


def normalized(frames: list[Any]) -> Any:
    images = io.to_torch(io.convert_frames(frames)).permute(0, 3, 1, 2)
    return images.to(torch.float32, memory_format=torch.contiguous_format).sub_(MEAN).mul_(SCALE)


def plain(frames: list[Any]) -> Any:
    return io.to_torch(io.convert_frames(frames))


def load(job: str, one: Callable[[str], Any], together: Callable[[list[Any]], Any]) -> harness.JobFunction:
    def batches(data: harness.Data, threads: int) -> Iterator[Any]:
        pipeline = (
            PipelineBuilder()
            .add_source(paths(data.files(harness.JOBS[job].set)))
            .pipe(one, concurrency=threads, output_order="completion")
            .aggregate(harness.JOBS[job].batch, drop_last=True)
            .pipe(together)
            .add_sink(2)
            .build(num_threads=threads + 1)
        )
        with pipeline.auto_stop():
            yield from pipeline.get_iterator()

    return batches


def pixels(_: harness.Data, files: list[str], kind: str) -> Iterator[Any]:
    for path in files:
        packets = io.demux_image(path)
        x, y = harness.middle(packets.width, packets.height)
        filters = f"crop=512:512:{x}:{y}:exact=1" if kind == "crop" else "scale=256:256:flags=bilinear"
        yield io.to_numpy(io.convert_frames(io.decode_packets(packets, filter_desc=f"{filters},format=pix_fmts=rgb24")))


def version() -> str:
    return f"spdl {importlib.metadata.version('spdl')}"


STAGES = "decode with concurrency=cores, output_order='completion'; aggregate; {}; build(num_threads=cores + 1), sink of 2"
PEER = harness.Peer(
    name="spdl",
    venv="torch",
    documents="facebookresearch.github.io/spdl (Getting Started: Building and Running Pipeline; IO: Filter Graphs; example Image dataloading)",
    imports=imports,
    jobs={
        **{job: load(job, resized_crop, normalized) for job in ("jpeg", "jpeg512", "webp", "start")},
        **{job: load(job, crop, plain) for job in ("png-kodak", "png-cityscapes")},
    },
    settings={
        "jpeg": "the files; demux_image, decode_packets with a filter of its own for each image (crop, scale=flags=bilinear, hflip, rgb24); "
        + STAGES.format("one stage that normalizes in torch"),
        "png-kodak": "the same with crop=512:512; " + STAGES.format("NHWC"),
    },
    pixels=pixels,
    version=version,
)

if __name__ == "__main__":
    harness.main(PEER)
