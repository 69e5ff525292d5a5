# SPDX-License-Identifier: Apache-2.0
"""Labels that are lists, and labels as weights."""

from __future__ import annotations

from array import array
from typing import Any

from . import _core


def as_list(label: Any) -> list[Any]:
    """What a label has, as a list."""
    return label if isinstance(label, list) else [] if label in (None, "") else [label]


def array_of(values: list[Any], dtype: str) -> _core.Array:
    """An array of these numbers, in memory of its own."""
    result = _core.empty((len(values),), dtype)
    if values:
        memoryview(result).cast("B")[:] = array("d" if dtype == "float64" else "q", values).tobytes()
    return result


def soft_labels(labels: list[int], mix: tuple[float, list[int]] | None, classes: int, rows: int) -> _core.Array:
    """As the library's, of labels that were copied."""
    weight, partners = mix if mix is not None else (1.0, labels)
    result = _core.empty((rows, classes), "float32")
    if rows == 0 or classes == 0:
        return result
    to = memoryview(result).cast("B").cast("f")
    for row in range(rows):
        for label, share in ((labels[row], weight), (partners[row], 1.0 - weight)):
            if label >= classes or label < -1:
                raise _core.ArgumentError(f"a label is {label}, and there are {classes} classes")
            if label >= 0:
                to[row * classes + label] += share
    return result
