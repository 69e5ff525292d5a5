# SPDX-License-Identifier: Apache-2.0
"""Quantities for people, spelled as the command spells them; and what notebooks show."""

from __future__ import annotations

import sys
import textwrap
from html import escape

_EIGHTHS = " ▏▎▍▌▋▊▉"

# Notebooks are light or dark: colours are of their own text, or of those that read well on both.
STYLE = (
    "<style>"
    ".millrace{color:inherit;font-family:system-ui,sans-serif;font-size:13px;line-height:1.45}"
    ".millrace table{border-collapse:collapse;margin:.4em 0;color:inherit;background:none}"
    ".millrace td,.millrace th{padding:.15em .7em .15em 0;text-align:left;vertical-align:top;background:none}"
    ".millrace td,.millrace th{border:none}"
    ".millrace th{font-weight:600;opacity:.7}"
    ".millrace .n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}"
    ".millrace .bar{display:inline-block;height:.7em;background:#3b82c4;border-radius:2px;margin-right:.4em}"
    ".millrace .dim{opacity:.7}"
    ".millrace .grid{display:flex;flex-wrap:wrap;gap:8px;margin:.4em 0}"
    ".millrace figure{margin:0;width:min-content}"
    ".millrace figure img{display:block;border-radius:3px;image-rendering:auto;background:#888}"
    ".millrace figcaption{font-size:11px;opacity:.85;margin-top:2px;overflow:hidden;text-overflow:ellipsis}"
    ".millrace .part{display:inline-block;max-width:100%;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;"
    "vertical-align:bottom}"
    "</style>"
)


def printable(text: str) -> str:
    """On one line, whatever names are: control characters and the like as Python writes them, "\\n", "\\x1b"."""
    return text if text.isprintable() else "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)


def time_text(seconds: float) -> str:
    """34.8 us"""
    value = max(seconds * 1e9, 0.0)
    units = ["ns", "us", "ms", "s"]
    while value >= 999.5 and len(units) > 1:
        value /= 1000
        units.pop(0)
    digits = 0 if units[0] == "ns" or value >= 99.95 else 2 if value < 9.995 else 1
    return f"{value:.{digits}f} {units[0]}"


def bar(share: float, cells: int) -> str:
    """So many cells of a line, in eighths; where the terminal has no such letters, whole ones."""
    share = min(max(share, 0.0), 1.0)
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower()
    if "utf" not in encoding:
        return ("#" * round(share * cells)).ljust(cells)
    eighths = round(share * cells * 8)
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()).ljust(cells)


def wrapped(text: str, indent: int, width: int = 100) -> str:
    """Lines behind a label of so many cells."""
    lines = textwrap.wrap(text, width - indent, break_long_words=False, break_on_hyphens=False)
    return f"\n{' ' * indent}".join(lines)


def rows_html(rows: list[tuple[str, str]]) -> str:
    """A table of names and what belongs to them."""
    cells = (f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in rows)
    return f"<table>{''.join(cells)}</table>"
