# SPDX-License-Identifier: Apache-2.0
"""JAX arrays over the loader's memory."""

import gc

import pytest
from demo import folder

import millrace as mr

jax = pytest.importorskip("jax")


def make(**options):
    return mr.Loader(
        folder(), "rrc(24) normalize(imagenet)", **{"batch_size": 8, "shuffle": True, "to": "jax", **options}
    )


def test_the_same_memory():
    batch = next(iter(make()))
    assert isinstance(batch.images, jax.Array) and batch.images.shape == (8, 3, 24, 24)
    assert batch.images.unsafe_buffer_pointer() == batch.raw.images.address
    assert batch.labels.tolist() == batch.raw.labels.tolist()
    assert batch.ordinals.tolist() == batch.raw.ordinals.tolist()


def test_a_compiled_step():
    mean = jax.jit(lambda images: images.mean())
    other = mr.Loader(folder(), "rrc(24) normalize(imagenet)", batch_size=8, shuffle=True, to="numpy")
    for batch, same in zip(make(), other, strict=True):
        assert float(mean(batch.images)) == pytest.approx(float(same.images.mean()), abs=1e-5)


def test_the_memory_comes_back():
    loader = make(slots=2)
    for _ in range(3):
        for batch in loader:
            images = batch.images
            del batch
            images.block_until_ready()
    del images
    gc.collect()
    assert loader._core.held == 0


def test_copies():
    kept = [batch.images for batch in make(copy=True, slots=2)]
    assert len(kept) == 7


@pytest.mark.parametrize("dtype", ["f16", "bf16", "u8"])
def test_other_numbers(dtype):
    recipe = "rrc(24) " + ("" if dtype == "u8" else "normalize(imagenet) ") + f"dtype({dtype})"
    batch = next(iter(mr.Loader(folder(), recipe, batch_size=4, to="jax")))
    assert str(batch.images.dtype) == {"f16": "float16", "bf16": "bfloat16", "u8": "uint8"}[dtype]
