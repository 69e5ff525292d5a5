#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Feeds JAX: batches are JAX arrays over the loader's memory, and a compiled step of gradient descent takes them.

python examples/jax_feed.py [--data DIR]     # DIR: a folder for each class; else pictures of stripes are made
"""

from __future__ import annotations

import argparse
import importlib.util
import pathlib
import random
import sys
import tempfile
from typing import Any

SIZE = 32


def make_set(folder: pathlib.Path, images: int) -> None:
    """Stripes that lie, and stripes that stand."""
    import millrace as mr

    dice = random.Random(1)
    for number in range(images):
        kind = ("lying", "standing")[number % 2]
        period, shift = dice.randrange(4, 9), dice.randrange(8)
        pixels = bytearray()
        for y in range(48):
            for x in range(64):
                on = ((y if kind == "lying" else x) + shift) % period < period // 2
                pixels += bytes([(200 if on else 60) + dice.randrange(30)] * 3)
        path = folder / kind / f"{number:04}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(mr.encode(memoryview(pixels).cast("B", (48, 64, 3)), "png"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--epochs", type=int, default=6)
    args = parser.parse_args()
    if importlib.util.find_spec("jax") is None:
        print("skipped: JAX is not installed (pip install jax)")
        return 0
    with tempfile.TemporaryDirectory(prefix="millrace-") as name:
        data = args.data or pathlib.Path(name) / "stripes"
        if args.data is None:
            make_set(data, 128)
        return train(data, args.epochs)


def train(data: pathlib.Path, epochs: int) -> int:
    import jax
    import jax.numpy as jnp

    import millrace as mr

    recipe = [mr.RandomResizedCrop(SIZE), mr.Normalize.imagenet()]
    loader = mr.Loader(data, recipe, batch_size=16, shuffle=True, drop_last=True, to="jax")
    classes = len(loader.dataset.classes)
    keys = jax.random.split(jax.random.PRNGKey(0), 2)
    weights = {
        "filters": jax.random.normal(keys[0], (8, 3, 5, 5)) * 0.1,
        "out": jax.random.normal(keys[1], (8, classes)) * 0.1,
    }

    def loss_of(weights: Any, images: Any, labels: Any) -> Any:
        seen = jax.lax.conv(images, weights["filters"], (1, 1), "SAME")
        scores = jnp.square(seen).mean((2, 3)) @ weights["out"]
        return -jnp.take_along_axis(jax.nn.log_softmax(scores), labels[:, None], 1).mean()

    @jax.jit
    def step(weights: Any, images: Any, labels: Any) -> tuple[Any, Any]:
        loss, slopes = jax.value_and_grad(loss_of)(weights, images, labels)
        return jax.tree.map(lambda w, s: w - 0.1 * s, weights, slopes), loss

    means = []
    for epoch in range(epochs):
        losses = []
        for images, labels in loader:
            weights, loss = step(weights, images, labels)
            losses.append(float(loss))  # waits for the step, which has then let go of the images
        means.append(sum(losses) / len(losses))
        print(f"epoch {epoch}: loss {means[-1]:.3f}")
    print(f"\n{loader.report()}")
    return 0 if means[-1] < means[0] else 1


if __name__ == "__main__":
    sys.exit(main())
