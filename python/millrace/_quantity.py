# SPDX-License-Identifier: Apache-2.0
"""Sizes, shares and times as people write them, in the words of the command."""

from __future__ import annotations

import math
import operator
import re

from ._core import ArgumentError

_UNITS = {"": 1, "b": 1} | {
    prefix + ending: base**power
    for power, prefix in enumerate("kmgt", 1)
    for ending, base in (("b", 1000), ("ib", 1024))
}


def read_nbytes(value: int | str, what: str = "a size") -> int:
    """Bytes of a number, or of a text as "200GB", "1.5 GiB", "64MB"."""
    if isinstance(value, str):
        match = re.fullmatch(r"(\d+(?:\.\d+)?) ?([A-Za-z]*)", value.strip())
        if match and match[2].lower() in _UNITS:
            return int(
                float(match[1]) * _UNITS[match[2].lower()]
                if "." in match[1]
                else int(match[1]) * _UNITS[match[2].lower()]
            )
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < math.inf and value % 1 == 0:
        return int(value)
    elif hasattr(value, "__index__") and not isinstance(value, bool) and operator.index(value) >= 0:
        return operator.index(value)  # NumPy's
    raise ArgumentError(f"{what} cannot be {value!r} (bytes, or a text like '200GB' or '64MiB')")


def read_share(value: float | str, what: str = "a share") -> int:
    """Millionths of a number from 0 to 1, or of a text as "30%", "0.5"; what is not 0 is at least 1."""
    text = str(value).strip()
    try:
        share = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise ArgumentError(f"{what} cannot be {value!r} (a number from 0 to 1, or a text like '30%')")
    return max(int(share * 1e6 + 0.5), 1 if share > 0 else 0)


def bytes_text(nbytes: float) -> str:
    """As "4.21 MB"."""
    if nbytes < 1000:
        return f"{int(nbytes)} B"
    value, units = nbytes / 1000, ["kB", "MB", "GB", "TB", "PB", "EB"]
    while value >= 999.5 and len(units) > 1:
        value /= 1000
        units.pop(0)
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f} {units[0]}"


def count_text(count: int, word: str = "") -> str:
    """As "1,281,167", or with a word "1 shard", "2 shards"."""
    return f"{count:,}" + (f" {word}{'' if count == 1 else 's'}" if word else "")


def time_text(seconds: float) -> str:
    """As "1:02", or "1:00:02"."""
    s = int(max(seconds, 0) + 0.5)
    return f"{s // 60}:{s % 60:02}" if s < 3600 else f"{s // 3600}:{s // 60 % 60:02}:{s % 60:02}"
