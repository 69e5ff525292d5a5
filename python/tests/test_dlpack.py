# SPDX-License-Identifier: Apache-2.0
"""DLPack: what is in the capsules, who frees what and when, and NumPy, torch and JAX on the other side."""

import gc
import threading

import cores
import numpy as np
import pytest
from millrace import _core

READ_ONLY, COPIED = 1, 2
CODES = {
    "uint8": (1, 8),
    "uint16": (1, 16),
    "float32": (2, 32),
    "float16": (2, 16),
    "bfloat16": (4, 16),
    "int64": (0, 64),
    "uint64": (1, 64),
    "float64": (2, 64),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return cores.generate(tmp_path_factory.mktemp("dlpack") / "set")


def batch_of(loader: _core.Loader) -> _core.Batch:
    batch = loader.next()
    assert batch is not None
    return batch


@pytest.mark.parametrize("dtype", CODES)
def test_capsules_say_what_the_array_is(dtype: str) -> None:
    a = _core.empty((4, 3, 2), dtype)[::2]
    for most in [None, (0, 8), (1, 0), (1, 1), (2, 0)]:
        capsule = a.__dlpack__(max_version=most)
        inside = cores.look(capsule)
        new = most is not None and most >= (1, 0)
        assert isinstance(inside, cores.Versioned) == new
        if isinstance(inside, cores.Versioned):
            assert (inside.major, inside.flags) == (1, 0)
        t = inside.tensor
        assert (t.data, t.device_type, t.device_number, t.axes, t.byte_offset, t.lanes) == (a.address, 1, 0, 3, 0, 1)
        assert (t.code, t.bits) == CODES[dtype]
        assert t.shape[:3] == [2, 3, 2] and t.strides[:3] == [12, 2, 1]
    assert a.__dlpack_device__() == (1, 0)


def test_flags_are_truthful(folder: str) -> None:
    batch = batch_of(cores.loader(folder))
    assert cores.look(batch.images.__dlpack__(max_version=(1, 0))).flags == 0
    assert cores.look(batch.mask.__dlpack__(max_version=(1, 0))).flags == READ_ONLY
    copy = batch.mask.__dlpack__(max_version=(1, 0), copy=True)
    assert cores.look(copy).flags == COPIED and cores.look(copy).tensor.data != batch.mask.address
    assert cores.look(batch.images.__dlpack__(max_version=(1, 0), copy=False)).tensor.data == batch.images.address
    with pytest.raises(BufferError, match="read-only"):
        batch.mask.__dlpack__()
    with pytest.raises(BufferError, match="read-only"):
        batch.mask.__dlpack__(max_version=(0, 8))
    assert cores.look(batch.mask.__dlpack__(copy=True)).tensor.axes == 1


def test_what_cannot_be_given_is_refused() -> None:
    a = _core.empty((2,), "uint8")
    assert a.__dlpack__(stream=None, dl_device=(1, 0), copy=None) is not None
    for options in [{"stream": 1}, {"stream": 0}, {"dl_device": (2, 0)}, {"dl_device": (1, 1)}]:
        with pytest.raises(BufferError, match="host's memory"):
            a.__dlpack__(**options)  # type: ignore[arg-type]
    for options in [
        {"max_version": 1},
        {"max_version": (1,)},
        {"dl_device": "cpu"},
        {"max_version": ("1", 0)},
        {"copy": "no"},
        {"x": 1},
    ]:
        with pytest.raises(TypeError):
            a.__dlpack__(**options)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        a.__dlpack__(None)  # type: ignore[misc]


@pytest.mark.parametrize("most", [None, (1, 0)])
def test_the_deleter_gives_the_batch_back(folder: str, most: tuple[int, int] | None) -> None:
    loader = cores.loader(folder)
    capsule = batch_of(loader).images.__dlpack__(max_version=most)
    assert loader.held == 1
    deleter, inside = cores.consume(capsule)
    del capsule  # another's by now
    gc.collect()
    assert loader.held == 1
    deleter(inside)
    assert loader.held == 0
    capsule = batch_of(loader).labels.__dlpack__(max_version=most)
    assert loader.held == 1
    del capsule  # nobody took it
    assert loader.held == 0


def test_deleters_run_on_any_thread(folder: str) -> None:
    """ctypes calls them without the GIL; many at once, the last of all after the loader's object is gone."""
    loader = cores.loader(folder, slots=4)
    for _ in range(20):
        calls = [
            cores.consume(batch.images[i : i + 1].__dlpack__(max_version=(1, 0)))
            for batch in [batch_of(loader)]
            for i in range(4)
        ]
        calls += [cores.consume(part.__dlpack__()) for part in batch_of(loader).images]
        assert loader.held == 2
        threads = [threading.Thread(target=deleter, args=(inside,)) for deleter, inside in calls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert loader.held == 0
    deleter, inside = cores.consume(batch_of(loader).images.__dlpack__())
    del loader
    gc.collect()
    thread = threading.Thread(target=deleter, args=(inside,))
    thread.start()
    thread.join()


def test_numpy_shares_the_memory(folder: str) -> None:
    loader = cores.loader(folder, "resize(32x32) dtype(f16)")
    batch = batch_of(loader)
    for a in [batch.images, batch.labels, batch.mask, batch.ordinals, batch.images[1:3]]:
        n = np.from_dlpack(a)
        assert n.ctypes.data == a.address == a.numpy().ctypes.data and n.shape == a.shape and n.dtype == a.dtype
        assert n.flags.writeable != a.readonly
    part = n[:, 0]
    del n, a, batch
    gc.collect()
    assert loader.held == 1 and part.shape == (2, 32, 32)
    del part
    assert loader.held == 0


@pytest.mark.parametrize("kind", ["u8", "f32", "f16", "bf16"])
def test_torch_shares_the_memory(folder: str, kind: str) -> None:
    torch = pytest.importorskip("torch")
    loader = cores.loader(folder, f"resize(32x32) dtype({kind})")
    batch = batch_of(loader)
    t = batch.images.torch()
    assert t.data_ptr() == batch.images.address and t.data_ptr() % 64 == 0
    assert str(t.dtype) == "torch." + batch.images.dtype and tuple(t.shape) == batch.images.shape
    assert torch.from_dlpack(batch.labels).tolist() == batch.labels.tolist()
    part = t[1:, 0].permute(0, 2, 1)
    del t, batch
    gc.collect()
    assert loader.held == 1
    del part
    assert loader.held == 0


def test_consumers_may_ask_for_copies(folder: str) -> None:
    batch = batch_of(cores.loader(folder))
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
        n = np.from_dlpack(batch.mask, copy=True, device="cpu")
        assert n.ctypes.data != batch.mask.address and n.flags.writeable and n.tolist() == batch.mask.tolist()
        assert np.from_dlpack(batch.images, copy=False).ctypes.data == batch.images.address
    torch = pytest.importorskip("torch")
    t = torch.from_dlpack(batch.images, copy=True)
    assert t.data_ptr() != batch.images.address and t.numpy().tobytes() == batch.images.tobytes()
    assert torch.from_dlpack(batch.mask).data_ptr() == batch.mask.address


def test_torch_lets_go_on_another_thread(folder: str) -> None:
    pytest.importorskip("torch")
    loader = cores.loader(folder)
    box = [batch_of(loader).images.torch()[2:]]
    thread = threading.Thread(target=box.clear)
    assert loader.held == 1
    thread.start()
    thread.join()
    assert loader.held == 0


def test_jax_shares_the_memory(folder: str) -> None:
    jax = pytest.importorskip("jax")
    loader = cores.loader(folder, "resize(32x32) dtype(f32)")
    batch = batch_of(loader)
    j = batch.images.jax()
    assert j.shape == batch.images.shape and str(j.dtype) == "float32"
    assert j.unsafe_buffer_pointer() == batch.images.address
    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        assert batch.labels.jax().tolist() == batch.labels.tolist()
    del batch
    gc.collect()
    assert loader.held == 1
    del j
    gc.collect()
    assert loader.held == 0


def test_arrays_of_nothing() -> None:
    a = _core.empty((0, 4), "float32")
    assert np.from_dlpack(a).shape == (0, 4) and np.asarray(a).shape == (0, 4) and a[0:].tolist() == []
    assert np.from_dlpack(_core.empty((), "float32")).shape == ()
