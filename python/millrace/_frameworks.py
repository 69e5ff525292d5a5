# SPDX-License-Identifier: Apache-2.0
"""Arrays of the extension as torch's tensors, NumPy's and JAX's arrays: views of the same memory."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from typing import Any

from . import _core

NAMES = ("auto", "torch", "numpy", "jax", "array")
View = Callable[[_core.Array], Any]


def choose(name: str) -> str:
    """The framework of a name: "auto" is torch where the program has imported it, else NumPy where it is installed."""
    if name not in NAMES:
        raise _core.ArgumentError(f'to="{name}" is none of {", ".join(NAMES)}')
    if name != "auto":
        return name
    if "torch" in sys.modules:
        return "torch"
    return "numpy" if importlib.util.find_spec("numpy") is not None else "array"


def view_of(name: str) -> View:
    """The function that shows an Array as one of a framework (the name is not "auto"), which is imported now."""
    if name == "array":
        return lambda array: array
    try:
        return {"torch": _torch_view, "numpy": _numpy_view, "jax": _jax_view}[name]()
    except ImportError as error:
        raise ImportError(
            f'to="{name}" needs {name}, which cannot be imported: {error}. Install it, or take to="array"'
        ) from error


def _torch_view() -> View:
    torch = importlib.import_module("torch")
    from_dlpack = torch.utils.dlpack.from_dlpack
    int64 = torch.int64

    def view(array: _core.Array) -> Any:
        # torch has few operations on uint64: ordinals are int64, -1 in a pad
        tensor = from_dlpack(array)
        return tensor.view(int64) if array.dtype == "uint64" else tensor

    return view


def _numpy_view() -> View:
    numpy = importlib.import_module("numpy")

    def view(array: _core.Array) -> Any:
        if array.dtype == "bfloat16":
            return _numpy_bfloat16(numpy, array)
        shown = numpy.asarray(array)
        return shown.view(numpy.int64) if array.dtype == "uint64" else shown

    return view


def _numpy_bfloat16(numpy: Any, array: _core.Array) -> Any:
    """NumPy has no such numbers of its own; ml_dtypes, which comes with JAX, adds them."""
    try:
        ml_dtypes = importlib.import_module("ml_dtypes")
    except ImportError:
        raise TypeError(
            'NumPy has no bfloat16: install ml_dtypes, take to="torch", or end the recipe with dtype(f32) or dtype(f16)'
        ) from None
    return numpy.asarray(_Bits(array)).view(ml_dtypes.bfloat16)


class _Bits:
    """Numbers of two bytes as NumPy's uint16: the buffer protocol has no bfloat16. Holds the memory it shows."""

    def __init__(self, array: _core.Array) -> None:
        self.array = array
        self.__array_interface__ = {
            "version": 3,
            "typestr": "<u2",
            "shape": array.shape,
            "strides": array.strides,
            "data": (array.address, array.readonly),
        }


def _jax_view() -> View:
    jax = importlib.import_module("jax")
    wide = {"int64": "int32", "uint64": "int64", "float64": "float32"}

    def view(array: _core.Array) -> Any:
        # JAX keeps to 32 bits unless told otherwise: the few numbers that are wider are copied as it likes them
        if array.dtype in wide:
            return jax.numpy.asarray(_signed(array))
        return jax.dlpack.from_dlpack(array)

    return view


def _signed(array: _core.Array) -> Any:
    numpy = importlib.import_module("numpy")
    shown = numpy.asarray(array)
    return shown.view(numpy.int64) if array.dtype == "uint64" else shown
