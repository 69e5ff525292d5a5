# SPDX-License-Identifier: Apache-2.0
"""Grain: ArrayRecord files, Pillow and torchvision's transforms v2, NumPy batches."""
from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Iterator
from typing import Any

import harness
import pillow_steps
from pillow_steps import SETS, Steps


def imports() -> None:
    global grain
    import grain


class Load:
    """A record (label, then the file's bytes) or a path to an array. It runs in Grain's workers."""

    def __init__(self, job: str):
        self.steps = Steps(job)

    def __call__(self, stored: bytes | str) -> Any:
        return self.steps(stored[4:] if isinstance(stored, bytes) else stored).numpy()


def write(name: str) -> Any:
    def records(data: harness.Data, to: str) -> None:
        from array_record.python import array_record_module

        os.makedirs(to)
        # one record a group: what its documents advise for random access
        writer = array_record_module.ArrayRecordWriter(f"{to}/images.array_record", "group_size:1")
        for content, label, _ in pillow_steps.records(data, name):
            writer.write(label.to_bytes(4, "little") + content)
        writer.close()

    return records


def batches(source: Any, job: str, threads: int) -> Iterator[Any]:
    dataset = (
        grain.MapDataset.source(source)
        .seed(1)
        .shuffle()
        .repeat()
        .map(Load("jpeg" if job == "start" else job))
        .to_iter_dataset(grain.ReadOptions(num_threads=1, prefetch_buffer_size=64))
        .batch(harness.JOBS[job].batch, drop_remainder=True)
        .mp_prefetch(grain.MultiprocessingOptions(num_workers=threads, per_worker_buffer_size=1))
    )
    return iter(dataset)


def load(job: str) -> harness.JobFunction:
    return lambda data, threads: batches(
        grain.sources.ArrayRecordDataSource([f"{data.records(SETS[job])}/images.array_record"]), job, threads
    )


def start(data: harness.Data, threads: int) -> Iterator[Any]:
    return batches(data.files("many"), "start", threads)


PEER = harness.Peer(
    name="grain",
    venv="torch",
    documents="google-grain.readthedocs.io (Dataset API: shuffle, repeat, map, to_iter_dataset, batch, mp_prefetch; ArrayRecord for random access, group_size:1)",
    imports=imports,
    jobs={**{job: load(job) for job in SETS}, "start": start},
    settings={
        "jpeg": "ArrayRecord, group_size:1, of the files' bytes; ReadOptions(num_threads=1, prefetch_buffer_size=64), batch, "
        f"mp_prefetch(num_workers=cores); {pillow_steps.PILLOW}, torch.set_num_threads(1)",
        "start": "a list of paths as the source",
    },
    prepare={name: write(name) for name in dict.fromkeys(SETS.values())},
    needs=pillow_steps.NEEDS,
    pixels=pillow_steps.pixels,
    version=lambda: f"grain {importlib.metadata.version('grain')}",
)

if __name__ == "__main__":
    harness.main(PEER)
