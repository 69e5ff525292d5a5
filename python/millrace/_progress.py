# SPDX-License-Identifier: Apache-2.0
"""How far long work is: one line on a terminal, which is gone when the work is done. Nothing anywhere else."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO

from ._quantity import bytes_text, count_text, time_text

Show = Callable[[Mapping[str, Any]], object]

_MARK_S = 10.0  # a rate is that of the last 10 to 20 seconds, so that a slow beginning does not count for long
_BAR_LEAST, _BAR_MOST = 6, 24


class Line:
    """Draws progress into one line of a terminal. To be called with what _core tells; finish() wipes it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._verb = ""
        self._marks: list[tuple[float, int]] = []
        self._drawn = False
        encoding = (getattr(stream, "encoding", None) or "").lower()
        self._cells = ("▕", "█", " ", "▏") if "utf" in encoding else ("[", "#", " ", "]")

    def __call__(self, now: Mapping[str, Any]) -> None:
        at = time.monotonic()
        if now["verb"] != self._verb:
            self._verb, self._marks = now["verb"], [(at, now["done"])]
        rate = self._rate(at, now["done"])
        width = shutil.get_terminal_size().columns
        self._stream.write("\r" + self.text(now, rate, width) + "\033[K")
        self._stream.flush()
        self._drawn = True

    def _rate(self, at: float, done: int) -> float:
        if at - self._marks[-1][0] > _MARK_S:
            self._marks = [self._marks[-1], (at, done)]
        then, before = self._marks[0]
        return (done - before) / (at - then) if at > then and done > before else 0.0

    def text(self, now: Mapping[str, Any], rate: float, width: int) -> str:
        """The line: a verb, a bar where the end is known, and as much behind it as there is room for."""
        tail = self._tail(now, rate)
        used, shown = len(now["verb"]) + 4, ""
        bar = _BAR_LEAST if now["total"] else 0
        for part in tail:
            if shown and used + bar + len(shown) + len(part) > width:
                break
            shown += part
        if not bar:
            return f"{now['verb']} {shown}"
        left, full, empty, right = self._cells
        cells = max(0, min(_BAR_MOST, width - used - len(shown)))
        done = int(cells * min(now["done"] / now["total"], 1.0))
        return f"{now['verb']} {left}{full * done}{empty * (cells - done)}{right}{shown}"

    @staticmethod
    def _tail(now: Mapping[str, Any], rate: float) -> list[str]:
        in_bytes, done, total = now["unit"] == "bytes", now["done"], now["total"]
        say: Callable[[int], str] = bytes_text if in_bytes else count_text
        if total:
            tail = [f" {done / total * 100:3.0f}%  {say(done)} of {say(total)}"]
        else:
            tail = [f" {say(done)}" + ("" if in_bytes else f" {now['unit']}")]
        if rate > 0:
            tail.append(f"  {bytes_text(rate) if in_bytes else f'{rate:,.{1 if rate < 10 else 0}f}'} a second")
        if rate > 0 and total:
            tail.append(f"  {time_text((total - done) / rate)} left")
        if now["refused"]:
            tail.append(f"  {count_text(now['refused'])} refused")
        if now["out_nbytes"]:
            tail.append(f"  {bytes_text(now['in_nbytes'])} > {bytes_text(now['out_nbytes'])}")
        elif now["in_nbytes"] and not in_bytes:
            tail.append(f"  {bytes_text(now['in_nbytes'])}")
        return tail

    def finish(self) -> None:
        """Wipes the line."""
        if self._drawn:
            self._stream.write("\r\033[K")
            self._stream.flush()
        self._drawn = False


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a line can be drawn anew there: not in a file, a notebook, or a terminal that says it is dumb."""
    try:
        return stream is not None and stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    except ValueError:  # closed
        return False


@contextmanager
def showing(progress: bool | Show | None) -> Iterator[Show | None]:
    """What _core is to be given: a line for True on a terminal, whatever can be called itself, else None."""
    if callable(progress):
        yield progress
    elif progress and is_terminal(sys.stderr):
        line = Line(sys.stderr)
        try:
            yield line
        finally:
            line.finish()
    else:
        yield None
