# SPDX-License-Identifier: Apache-2.0
"""Array: its shape, parts and numbers; the buffer protocol."""

import copy
import gc
import hashlib
import pathlib
import pickle
import sys
import threading
from collections.abc import Callable
from typing import Any

import cores
import numpy as np
import pytest
from millrace import _core

DTYPES = {"uint8": "B", "uint16": "H", "float32": "f", "float16": "e", "int64": "l", "uint64": "L", "float64": "d"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return cores.generate(tmp_path_factory.mktemp("array") / "set")


def counting(shape: tuple[int, ...], dtype: str) -> _core.Array:
    a = _core.empty(shape, dtype)
    view = np.asarray(a)
    view[...] = np.arange(view.size).reshape(view.shape) % 100
    return a


@pytest.mark.parametrize("dtype", DTYPES)
def test_attributes_are_numpys(dtype: str) -> None:
    a = counting((2, 3, 5), dtype)
    n = np.asarray(a)
    assert n.dtype == dtype and n.shape == (2, 3, 5) == a.shape
    assert n.dtype.num == np.dtype(dtype).num  # not merely as long
    assert (a.strides, a.ndim, a.nbytes, a.itemsize, len(a)) == (n.strides, n.ndim, n.nbytes, n.itemsize, len(n))
    assert a.dtype == dtype and not a.readonly
    assert a.address == n.ctypes.data and a.address % 64 == 0
    assert a.tolist() == n.tolist() and a.tobytes() == n.tobytes()
    assert memoryview(a).format == DTYPES[dtype]


def test_special_numbers_are_read_as_they_are() -> None:
    bits = [0, 1, 0x3FF, 0x400, 0x3C00, 0x7BFF, 0x7C00, 0xFC00, 0x8000, 0xC248, 0x3555]
    a = _core.empty((len(bits),), "float16")
    np.asarray(a).view(np.uint16)[:] = bits
    assert a.tolist() == np.asarray(a).tolist()
    assert str(_core.empty((1,), "uint64").tolist()) == "[0]"
    big = _core.empty((2,), "uint64")
    np.asarray(big)[:] = [2**64 - 1, 2**63]
    assert big.tolist() == [2**64 - 1, 2**63]


def test_brain_floats_have_no_buffer_but_numbers() -> None:
    a = _core.empty((3,), "bfloat16")
    with pytest.raises(BufferError, match=r"DLPack.*dtype\(f16\)"):
        memoryview(a)
    with pytest.raises(BufferError, match="bfloat16"):
        a.numpy()
    assert a.tolist() == [0, 0, 0] and a.itemsize == 2 and a.tobytes() == bytes(6)


def test_parts_are_views() -> None:
    a = counting((6, 4), "int64")
    n = np.asarray(a)
    for which in [
        0,
        5,
        -1,
        -6,
        slice(None),
        slice(1, 3),
        slice(4, 1),
        slice(None, None, 2),
        slice(None, None, -1),
        slice(5, None, -3),
    ]:
        part = np.asarray(a[which])
        assert part.tolist() == n[which].tolist() == a[which].tolist()
        assert a[which].tobytes() == n[which].tobytes()
        if part.size:
            assert part.ctypes.data == n[which].ctypes.data and a[which].strides[: part.ndim] == n[which].strides
    assert [row.tolist() for row in a] == n.tolist()
    n[2, 1] = -7
    assert a[2][1].tolist() == -7 == int(a[2][1]) and float(a[2][1]) == -7.0
    assert [1, 2, 3][_core.empty((), "uint8")] == 1
    for wrong in [6, -7, 2**70]:
        with pytest.raises(IndexError):
            a[wrong]
    with pytest.raises(TypeError, match="first axis"):
        a[0, 1]  # type: ignore[index]
    with pytest.raises(TypeError, match="no length"):
        len(a[0][0])
    with pytest.raises(TypeError):
        a[0][0][0]
    with pytest.raises(TypeError, match="one number"):
        int(a)
    with pytest.raises(TypeError, match="index"):
        [1][_core.empty((), "float32")]
    with pytest.raises(TypeError):
        a[0] = 1  # type: ignore[index]
    with pytest.raises(ValueError):
        a[::0]


def test_huge_steps_do_not_overflow() -> None:
    a = counting((6,), "int64")
    assert a[:: 2**62].tolist() == [0]
    assert a[:: -(2**62)].tolist() == [5]


def test_reshape() -> None:
    a = counting((6, 4), "float32")
    assert a.reshape(3, 8).shape == a.reshape((3, 8)).shape == a.reshape(3, -1).shape == (3, 8)
    assert a.reshape(-1).tolist() == np.asarray(a).reshape(-1).tolist() and a.reshape(-1).address == a.address
    assert a[0][:1].reshape().tolist() == 0
    assert _core.empty((0, 3), "uint8").reshape(3, 0).shape == (3, 0)
    for wrong in [(5, 5), (-1, -1), (-2, 12), (7, -1), (2**62, 2**62), (1,) * 7]:
        with pytest.raises(_core.ArgumentError, match="shape|axes"):
            a.reshape(*wrong)
    with pytest.raises(_core.ArgumentError, match="gaps"):
        a[::2].reshape(12)
    with pytest.raises(TypeError):
        a.reshape("x")  # type: ignore[arg-type]


def test_shapes_of_nothing_fit_too() -> None:
    """Others multiply the axes that are not 0: torch crashed."""
    for dtype, shape in [("uint8", (0, 2**62, 2**62, 8)), ("float64", (2**62, 2**62, 0)), ("float64", (0, 2**61))]:
        with pytest.raises((MemoryError, ValueError)):
            np.empty(shape, dtype)
        with pytest.raises((MemoryError, _core.ArgumentError)):
            _core.empty(shape, dtype)
        with pytest.raises(_core.ArgumentError, match="does not hold"):
            _core.empty((0,), dtype).reshape(*shape)
    large = _core.empty((2**31, 0, 2**31), "uint8")
    assert large.nbytes == 0 and large.copy().tobytes() == b"" and large[5].shape == (0, 2**31)
    assert large.reshape(-1).shape == (0,)


def test_copies_are_their_own() -> None:
    a = counting((6, 4), "uint8")
    b = a[::-2].copy()
    assert b.tolist() == a[::-2].tolist() and b.strides == (4, 1) and not b.readonly and b.address % 64 == 0
    np.asarray(a)[...] = 0
    assert b.tolist()[0] == [20, 21, 22, 23]


def twins(a: _core.Array) -> list[_core.Array]:
    pickled = [pickle.loads(pickle.dumps(a, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    return [*pickled, copy.copy(a), copy.deepcopy(a)]


def same(a: _core.Array, b: _core.Array) -> bool:
    return (a.shape, a.dtype, a.tobytes()) == (b.shape, b.dtype, b.tobytes())


@pytest.mark.parametrize("dtype", [*DTYPES, "bfloat16"])
def test_pickles_and_copies_are_their_own(dtype: str) -> None:
    size = _core.empty((), dtype).itemsize
    a = _core._array((3, 4, 5), dtype, bytes(range(60)) * size)
    for view in [a, a[1], a[1][2][3], a[::2], a[::-1], a[1:][0][::-3], a[2:2], a.reshape(60)[7:49:6]]:
        for twin in twins(view):
            assert type(twin) is _core.Array and same(twin, view) and not twin.readonly
            assert twin.address % 64 == 0 and twin.address != view.address
            assert same(twin.reshape(-1), view.copy().reshape(-1))  # without gaps
    for shape in [(), (0,), (0, 5), (2, 0, 3), (2**31, 0, 2**20), (1,) * 6]:
        assert all(same(twin, _core.empty(shape, dtype)) for twin in twins(_core.empty(shape, dtype)))
    one, other = copy.deepcopy([a, a])
    assert one is other
    large = _core._array((2**18,), dtype, bytes(range(256)) * 2**10 * size)
    for view in [large, large[::-2]]:
        assert same(pickle.loads(pickle.dumps(view)), view) and same(copy.copy(view), view)


def test_pickles_of_a_batch_do_not_hold_it(folder: str) -> None:
    loader = cores.loader(folder)
    batch = loader.next()
    assert batch is not None
    pairs = [(a.tobytes(), twins(a)) for a in [batch.images, batch.images[::2], batch.labels, batch.mask]]
    del batch
    gc.collect()
    assert loader.held == 0
    assert all(twin.tobytes() == data and not twin.readonly for data, made in pairs for twin in made)


@pytest.mark.parametrize(
    "shape, dtype, data, error",
    [
        ((3,), "uint8", b"12", _core.ArgumentError),
        ((3,), "uint8", b"1234", _core.ArgumentError),
        ((), "float32", b"", _core.ArgumentError),
        ((2, 3), "float64", bytes(47), _core.ArgumentError),
        ((0, 3), "uint8", b"1", _core.ArgumentError),
        ((-1,), "uint8", b"1", _core.ArgumentError),
        ((-2, -2), "uint8", bytes(4), _core.ArgumentError),
        ((2**32, 2**32), "uint8", b"", _core.ArgumentError),  # modulo 2**64 that is 0
        ((2**61 + 1,), "float64", bytes(8), _core.ArgumentError),
        ((2**62, 2**62, 0), "float64", b"", _core.ArgumentError),
        ((1,) * 7, "uint8", b"1", _core.ArgumentError),
        ((1,), "float8", b"1", _core.ArgumentError),
        ((1,), "uint8\0", b"1", ValueError),
        ((1,), b"uint8", b"1", TypeError),
        ((1,), None, b"1", TypeError),
        ((2**70,), "uint8", b"1", OverflowError),
        ((1.0,), "uint8", b"1", TypeError),
        (None, "uint8", b"1", TypeError),
        (1, "uint8", b"1", TypeError),
        ("1", "uint8", b"1", TypeError),
        ((1,), "uint8", "1", TypeError),
        ((1,), "uint8", None, TypeError),
        ((2,), "uint8", memoryview(b"1234")[::2], BufferError),
    ],
)
def test_hostile_pickles(shape: Any, dtype: Any, data: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        _core._array(shape, dtype, data)


def test_pickles_that_change_while_they_are_read() -> None:
    data = bytearray(b"1234")

    class Length:
        def __index__(self) -> int:
            with pytest.raises(BufferError):
                data.clear()
            return 4

    assert _core._array([Length()], "uint8", data).tobytes() == b"1234"  # type: ignore[list-item]
    data.clear()
    with pytest.raises(TypeError):
        _core._array()  # type: ignore[call-arg]


def lets_others_run(call: Callable[[], object]) -> bool:
    """Whether a call releases the GIL: no other thread is switched to but by who does."""
    gate, ran, before = threading.Lock(), threading.Event(), sys.getswitchinterval()

    def other() -> None:
        with gate:
            ran.set()

    sys.setswitchinterval(1e6)
    try:
        thread = threading.Thread(target=other)
        with gate:
            thread.start()
        for _ in range(10_000):  # as it may be over before the other one has seen that it can run
            if ran.is_set():
                break
            call()
        found = ran.is_set()
    finally:
        sys.setswitchinterval(before)
    thread.join()
    return found


@pytest.mark.parametrize("step", [1, -2])
def test_others_run_while_much_is_copied(step: int) -> None:
    a = counting((64, 100, 100, 3), "uint8")[::step]
    assert lets_others_run(a.tobytes) and a.tobytes() == np.asarray(a).tobytes()
    assert lets_others_run(a.copy) and a.copy().tobytes() == a.tobytes()


def test_little_is_copied_at_once() -> None:
    a = counting((100, 100, 3), "uint8")
    assert getattr(sys, "_is_gil_enabled", lambda: True)() is False or not lets_others_run(a.tobytes)


@pytest.mark.parametrize("size", [0, 1, 2**16 - 1, 2**16, 2**16 + 1])
def test_bytes_of_every_size(size: int) -> None:
    a = counting((size,), "uint8")
    assert a.tobytes() == a.copy().tobytes() == bytes(i % 100 for i in range(size))
    assert a[::-1].tobytes() == a.tobytes()[::-1]


def test_bytes_are_made_in_one_place() -> None:
    """What works without the GIL and then copies cannot be told from what copies with it: the source is asked."""
    made = {p.name for p in (cores.ROOT / "python/src").glob("*.c") if "PyBytes_FromString" in p.read_text()}
    assert made == {"memory.c"}


@cores.unsanitized("ASan wants all addresses there are")
def test_no_memory_is_said_in_words() -> None:
    out = cores.run("""
        import resource
        from millrace import _core
        a = _core.empty((48 << 20,), "uint8")
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + (16 << 20),) * 2)
        for call in [a.tobytes, a.copy, lambda: _core.empty((3, 2**24), "float64")]:
            try:
                call()
            except _core.MemoryError as error:
                print(error.code, error)
    """)
    assert out == "".join(f"MR_ENOMEM there is no memory for {n << 20} bytes\n" for n in [48, 48, 384])


def test_empty_says_what_is_wrong() -> None:
    assert _core.empty([], "uint8").tolist() == 0 and _core.empty([0, 5], "uint8").tolist() == []
    with pytest.raises(_core.ArgumentError, match="float8"):
        _core.empty((1,), "float8")
    with pytest.raises(_core.ArgumentError, match="-1"):
        _core.empty((-1,), "uint8")
    with pytest.raises(_core.MemoryError, match="more than 9223372036854775807 bytes fit no memory"):
        _core.empty((2**40, 2**40), "uint8")
    with pytest.raises(TypeError):
        _core.empty((1.5,), "uint8")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        _core.Array()


def test_buffers_honour_what_is_asked() -> None:
    a = counting((4, 6), "float32")
    view = memoryview(a)
    assert view.shape == (4, 6) and view.contiguous and not view.readonly and view.tolist() == a.tolist()
    gaps = memoryview(a[::2])
    assert not gaps.c_contiguous and gaps.tolist() == a[::2].tolist() and gaps.tobytes() == a[::2].tobytes()
    with pytest.raises(BufferError, match="gaps"):
        hashlib.sha256(a[::2])  # asks for bytes without strides
    assert hashlib.sha256(a[1:]).digest() == hashlib.sha256(a[1:].tobytes()).digest()
    assert bytes(a) == a.tobytes() == bytes(memoryview(a))
    assert np.frombuffer(a, np.float32).tolist() == a.reshape(-1).tolist()


def test_read_only_arrays_are_not_written(folder: str) -> None:
    batch = cores.loader(folder).next()
    assert batch is not None
    for a in [batch.mask, batch.ordinals, batch.positions]:
        assert a.readonly and a[1:].readonly and a.reshape(2, 2).readonly and not a.copy().readonly
        assert a[1].readonly and a.reshape(2, 2)[0].readonly
        assert not np.asarray(a).flags.writeable and memoryview(a).readonly
        with pytest.raises((BufferError, TypeError)):
            pathlib.Path("/dev/zero").open("rb", 0).readinto(a)  # type: ignore[attr-defined]
    assert not batch.images.readonly and np.asarray(batch.labels).flags.writeable


def test_buffers_keep_the_memory(folder: str) -> None:
    loader = cores.loader(folder, slots=3)
    batch = loader.next()
    assert batch is not None
    view = memoryview(batch.images)[1:2]
    shown = np.asarray(batch.labels)[1:][::2]
    del batch
    assert loader.held == 1
    view.release()
    del view
    gc.collect()
    assert loader.held == 1
    del shown
    gc.collect()
    assert loader.held == 0


def test_repr_and_help() -> None:
    assert repr(_core.empty((2,), "uint8")) == "<millrace.Array (2,): [0, 0], uint8>"
    assert repr(_core.empty((200, 3), "float32")) == "<millrace.Array (200, 3), float32>"
    assert _core.Array.copy.__doc__ and _core.Array.__doc__
    assert (
        _core.Array.__dlpack__.__text_signature__
        == "($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)"
    )
