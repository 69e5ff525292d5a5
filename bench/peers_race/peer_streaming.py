# SPDX-License-Identifier: Apache-2.0
"""MosaicML Streaming: MDS shards, Pillow and torchvision's transforms v2."""
from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from typing import Any

import harness
import peer_torch
import pillow_steps
from pillow_steps import SETS, Steps


def imports() -> None:
    global streaming, DataLoader
    peer_torch.imports()  # before the workers are forked; it imports torchvision itself
    import streaming
    from torch.utils.data import DataLoader


def write(name: str) -> Any:
    # its encoding "jpeg" keeps a JPEG file's bytes; "png" would compress anew, so that PNG and WebP are stored as bytes
    encoding = "jpeg" if name.startswith("jpeg") else "bytes"

    def records(data: harness.Data, to: str) -> None:
        from PIL import Image

        with streaming.MDSWriter(out=to, columns={"x": encoding, "y": "int"}) as out:
            for path, label in pillow_steps.shuffled(data, name):
                if encoding == "jpeg":
                    with Image.open(path) as image:
                        out.write({"x": image, "y": label})
                else:
                    with open(path, "rb") as file:
                        out.write({"x": file.read(), "y": label})

    return records


def load(job: str) -> harness.JobFunction:
    def batches(data: harness.Data, threads: int) -> Iterator[Any]:
        class Images(streaming.StreamingDataset):
            steps = Steps(job)

            def __getitem__(self, at: int) -> Any:
                item = super().__getitem__(at)
                return self.steps(item["x"]), item["y"]

        streaming.base.util.clean_stale_shared_memory()  # of a run that was killed
        size = pillow_steps.batch_of(job)
        # one epoch that does not end within the span: samples are drawn again and again
        dataset = Images(local=data.records(SETS[job]), shuffle=True, batch_size=size, epoch_size=60_000)
        loader = DataLoader(dataset, batch_size=size, num_workers=threads, drop_last=True)
        return (images for images, _ in harness.forever(lambda: iter(loader)))

    return batches


PEER = harness.Peer(
    name="streaming",
    venv="torch",
    documents="docs.mosaicml.com/projects/streaming (MDSWriter, StreamingDataset: batch_size is given, shuffle=True; torch's DataLoader)",
    imports=imports,
    jobs={job: load(job) for job in SETS},
    settings={
        "jpeg": "MDS, encoding jpeg (the files' bytes); StreamingDataset(local, shuffle=True, batch_size=256), "
        f"DataLoader(num_workers=cores); {pillow_steps.PILLOW}"
    },
    prepare={name: write(name) for name in dict.fromkeys(SETS.values())},
    needs=pillow_steps.NEEDS,
    pixels=pillow_steps.pixels,
    version=lambda: f"mosaicml-streaming {importlib.metadata.version('mosaicml-streaming')}",
)

if __name__ == "__main__":
    harness.main(PEER)
