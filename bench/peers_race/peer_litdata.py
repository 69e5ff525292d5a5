# SPDX-License-Identifier: Apache-2.0
"""LitData: optimized chunks of the files' bytes, Pillow and torchvision's transforms v2."""
from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Iterator
from typing import Any

import harness
import peer_torch
import pillow_steps
from pillow_steps import SETS, Steps


def imports() -> None:
    global litdata
    peer_torch.imports()  # before the workers are forked
    import litdata


def sample(item: tuple[str, int]) -> dict[str, Any]:
    with open(item[0], "rb") as file:
        return {"image": file.read(), "class": item[1]}


def write(name: str) -> Any:
    def records(data: harness.Data, to: str) -> None:
        for variable in ("DATA_OPTIMIZER_CACHE_FOLDER", "DATA_OPTIMIZER_DATA_CACHE_FOLDER"):  # else in /tmp
            os.environ[variable] = f"{data.private()}/{variable.lower()}"
        inputs = pillow_steps.shuffled(data, name)
        litdata.optimize(fn=sample, inputs=inputs, output_dir=to, chunk_bytes="64MB", num_workers=len(os.sched_getaffinity(0)))

    return records


def load(job: str) -> harness.JobFunction:
    def batches(data: harness.Data, threads: int) -> Iterator[Any]:
        class Images(litdata.StreamingDataset):
            steps = Steps(job)

            def __getitem__(self, at: Any) -> Any:
                item = super().__getitem__(at)
                return self.steps(item["image"]), item["class"]

        dataset = Images(data.records(SETS[job]), shuffle=True, drop_last=True)
        # round and round: the seam between two epochs stays out of the span
        endless = litdata.ParallelStreamingDataset([dataset], length=1_000_000)
        loader = litdata.StreamingDataLoader(
            endless, batch_size=pillow_steps.batch_of(job), num_workers=threads, drop_last=True, persistent_workers=True
        )
        return (images for ((images, _),) in harness.forever(lambda: iter(loader)))

    return batches


PEER = harness.Peer(
    name="litdata",
    venv="torch",
    documents="github.com/Lightning-AI/litData README (optimize with chunk_bytes='64MB'; StreamingDataset, StreamingDataLoader)",
    imports=imports,
    jobs={job: load(job) for job in SETS},
    settings={
        "jpeg": "optimize(chunk_bytes='64MB') of the files' bytes; StreamingDataset(shuffle=True, drop_last=True) round and round, "
        f"StreamingDataLoader(num_workers=cores, persistent_workers=True); {pillow_steps.PILLOW}"
    },
    prepare={name: write(name) for name in dict.fromkeys(SETS.values())},
    needs=pillow_steps.NEEDS,
    pixels=pillow_steps.pixels,
    version=lambda: f"litdata {importlib.metadata.version('litdata')}",
)

if __name__ == "__main__":
    harness.main(PEER)
