# SPDX-License-Identifier: Apache-2.0
"""Millrace keeps accelerators fed: stored images as training batches.

>>> import millrace as mr
>>> loader = mr.Loader("imagenet/train", batch_size=256, shuffle=True, seed=0, recipe=[
...     mr.RandomResizedCrop(224), mr.HorizontalFlip(), mr.RandAugment(2, 9), mr.Normalize.imagenet()])
>>> for images, labels in loader: ...

    Loader, Batch          a dataset as batches: `help(mr.Loader)`
    Dataset                samples by number or key: `mr.Dataset(path)[7]`
    Recipe, and the steps  what becomes of an image: `mr.Recipe("rrc(224) flip")`, `mr.steps`
    decode, encode, info, recode   single images
    pack, verify           datasets in forms that are quick to read
    devices                who can prepare samples here: `mr.Loader(..., device="cpu,opencl:0")`
    torch                  `mr.torch.Loader`: pinned memory, devices, Lightning; imported when it is first used
    Error                  whatever goes wrong: ArgumentError, DataError, StorageError, ...

`python -m millrace` prints what a report of a problem should begin with.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import _core, steps
from ._core import (
    ArgumentError,
    Array,
    ClosedError,
    DataError,
    DeviceError,
    Error,
    ForkedError,
    InternalError,
    LimitError,
    StorageError,
)
from ._core import MemoryError as MemoryError  # not in __all__, so that * does not hide Python's own
from ._core import TimeoutError as TimeoutError
from ._devices import Device, devices
from .dataset import Dataset, Sample
from .images import decode, encode, info, recode
from .loader import Batch, Loader
from .packing import pack, verify
from .recipe import Recipe
from .steps import *  # noqa: F403

if TYPE_CHECKING:
    from . import torch as torch

__version__: str = _core.version()

__all__ = [
    "ArgumentError",
    "Array",
    "Batch",
    "ClosedError",
    "DataError",
    "Dataset",
    "Device",
    "DeviceError",
    "Error",
    "ForkedError",
    "InternalError",
    "LimitError",
    "Loader",
    "Recipe",
    "Sample",
    "StorageError",
    "decode",
    "devices",
    "encode",
    "info",
    "pack",
    "recode",
    "steps",
    "verify",
]
__all__ += steps.__all__

_LAZY = ("torch",)  # modules that import what is large


if not TYPE_CHECKING:  # to which every name would be one of the package

    def __getattr__(name: str) -> Any:
        if name in _LAZY:
            return importlib.import_module(f".{name}", __name__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    from importlib.util import find_spec

    return sorted({*globals(), *(name for name in _LAZY if find_spec(name))})  # help() gets all that is named here
