# SPDX-License-Identifier: Apache-2.0
"""Ray Data on one machine: its own processes read and decode (Pillow), torchvision's transforms v2, batches of torch tensors."""
from __future__ import annotations

import glob
import importlib.metadata
import os
import shutil
from collections.abc import Iterator
from typing import Any

import harness
import peer_torch
import pillow_steps
from pillow_steps import SETS, Steps

EPOCHS = 20  # in one: the seam between two of its epochs stays out of the span


def imports() -> None:
    global ray
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # it would tell its makers
    os.environ["RAY_AUTH_MODE"] = "disabled"  # it would write a token into the home folder; we are on 127.0.0.1 only
    peer_torch.declare_operators()
    import ray
    import ray.data


class Apply:
    """A row with an image's pixels to a row with its tensor. It runs in Ray's workers."""

    def __init__(self, job: str):
        self.steps = Steps(job)

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        from PIL import Image

        return {"image": self.steps(Image.fromarray(row["image"])).numpy()}


def start_ray(threads: int) -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    for left in glob.glob("/tmp/millrace-ray-*"):  # by runs that have ended
        if not os.path.exists(f"/proc/{left.rsplit('-', 1)[1]}"):
            shutil.rmtree(left, ignore_errors=True)
    ray.init(
        num_cpus=threads,
        _temp_dir=f"/tmp/millrace-ray-{os.getpid()}",  # short, since its sockets are in there
        _node_ip_address="127.0.0.1",
        include_dashboard=False,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": here}},  # workers import the steps
    )
    ray.data.DataContext.get_current().enable_progress_bars = False


def load(job: str, epochs: int = EPOCHS) -> harness.JobFunction:
    def batches(data: harness.Data, threads: int) -> Iterator[Any]:
        start_ray(threads)
        # an epoch of files that are there many times; a folder's name where only the first batch counts
        paths = data.folder("many") if job == "start" else data.files(SETS[job]) * epochs
        apply = Apply("jpeg" if job == "start" else job)
        known = ["jpg", "jpeg", "png", "webp"]  # Pillow reads WebP, but it is not among the endings that are taken by themselves
        dataset = ray.data.read_images(paths, mode="RGB", shuffle="files", file_extensions=known).map(apply.__call__)
        each = dict(batch_size=harness.JOBS[job].batch, drop_last=True, device="cpu", prefetch_batches=2)
        return (batch["image"] for batch in harness.forever(lambda: dataset.iter_torch_batches(**each)))

    return batches


PEER = harness.Peer(
    name="ray",
    venv="torch",
    documents="docs.ray.io/en/latest/data (Working with Images: read_images; Transforming Data: map; Shuffling Data: shuffle='files'; iter_torch_batches)",
    imports=imports,
    jobs={**{job: load(job) for job in SETS}, "start": load("start")},
    settings={
        "jpeg": "ray.init(num_cpus=cores); read_images(mode='RGB', shuffle='files'), map, iter_torch_batches(batch_size=256, prefetch_batches=2); "
        f"{pillow_steps.PILLOW}"
    },
    pixels=pillow_steps.pixels,
    version=lambda: f"ray {importlib.metadata.version('ray')}",
)

if __name__ == "__main__":
    harness.main(PEER)
