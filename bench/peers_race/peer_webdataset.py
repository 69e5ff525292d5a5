# SPDX-License-Identifier: Apache-2.0
"""WebDataset: tar shards, Pillow and torchvision's transforms v2."""
from __future__ import annotations

import glob
import importlib.metadata
import os
from collections.abc import Iterator
from typing import Any

import harness
import peer_torch
import pillow_steps
from pillow_steps import SETS, Steps

SHARDS = 12  # more than workers, so that each has some


def imports() -> None:
    global wds
    peer_torch.imports()  # before the workers are forked
    import webdataset as wds


def write(name: str) -> Any:
    def records(data: harness.Data, to: str) -> None:
        os.makedirs(to)
        count = -(-len(data.files(name)) // SHARDS)
        with wds.ShardWriter(f"{to}/%04d.tar", maxcount=count, verbose=0) as sink:
            for at, (content, label, ending) in enumerate(pillow_steps.records(data, name)):
                sink.write({"__key__": f"{at:07d}", ending: content, "cls": label})

    return records


def load(job: str) -> harness.JobFunction:
    def batches(data: harness.Data, threads: int) -> Iterator[Any]:
        shards = sorted(glob.glob(f"{data.records(SETS[job])}/*.tar"))
        dataset = (
            wds.WebDataset(shards, resampled=True, shardshuffle=True)  # resampled: shards are drawn for ever, no epoch ends
            .shuffle(100 if job.startswith("png-") else 1000)  # of stored bytes, in every worker
            .to_tuple("jpg;jpeg;png;webp", "cls")
            .map_tuple(Steps(job), int)
            .batched(pillow_steps.batch_of(job), partial=False)
        )
        return (images for images, _ in wds.WebLoader(dataset, batch_size=None, num_workers=threads))

    return batches


PEER = harness.Peer(
    name="webdataset",
    venv="torch",
    documents="webdataset.github.io/webdataset (WebLoader; sharding: resampled=True; batched in the workers); github.com/webdataset/webdataset README",
    imports=imports,
    jobs={job: load(job) for job in SETS},
    settings={
        "jpeg": "tar shards of the files; WebDataset(resampled=True).shuffle(1000; PNG 100), batched in the workers, WebLoader(batch_size=None, "
        f"num_workers=cores); {pillow_steps.PILLOW}"
    },
    prepare={name: write(name) for name in dict.fromkeys(SETS.values())},
    needs=pillow_steps.NEEDS,
    pixels=pillow_steps.pixels,
    version=lambda: f"webdataset {importlib.metadata.version('webdataset')}",
)

if __name__ == "__main__":
    harness.main(PEER)
