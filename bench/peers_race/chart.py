# SPDX-License-Identifier: Apache-2.0
"""The race as a bar chart: a panel for each job, a bar for each row, in light and in dark. Plain SVG, no scripts, no fonts."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from xml.sax.saxutils import escape

WIDTH = 900
LEFT = 190  # where bars begin
BAR = 15
STEP = 21
RIGHT = 215  # room for the figures behind the longest bar

STYLE = """
text { font-family: system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; font-size: 12px; fill: #1b1f24 }
.title { font-size: 20px; font-weight: 600 }
.job { font-size: 14px; font-weight: 600 }
.small { font-size: 11px; fill: #59636e }
.ours { font-weight: 600 }
.paper { fill: #ffffff }
.axis { stroke: #d1d9e0 }
.peer { fill: #9aa7b4 }
.millrace { fill: #0b7a75 }
.less { fill-opacity: 0.12; stroke-width: 1.5; stroke-dasharray: 3 2 }
.less.peer { stroke: #9aa7b4 }
.less.millrace { stroke: #0b7a75 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .small { fill: #9198a1 }
  .paper { fill: #0d1117 }
  .axis { stroke: #3d444d }
  .peer { fill: #6e7b8a }
  .millrace { fill: #2dbfb5 }
  .less.peer { stroke: #6e7b8a }
  .less.millrace { stroke: #2dbfb5 }
}
"""


def shown(lines: Iterable[Any]) -> list[Any]:
    """What C does alone and u8 batches are figures of their own, no contestants."""
    return [line for line in lines if not (line.millrace and line.note.startswith(("the C loader", "does less")))]


def value_of(line: Any) -> float:
    return float(line.core_ms if line.core_ms is not None else line.first)


def words(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def text(x: float, y: float, what: str, kind: str = "", anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{f" class={kind!r}" if kind else ""}>{escape(what)}</text>'.replace("'", '"')


def bar(line: Any, y: float, scale: float) -> list[str]:
    kind = ("millrace" if line.millrace else "peer") + ("" if line.same_job else " less")
    length = max(1.5, value_of(line) * scale)
    aside = f"  {line.speed:,.0f} images/s" if line.speed else ""
    if not line.same_job:
        aside += ", not the same job"
    middle = y + BAR - 3
    figures = f'<tspan{" class=" + chr(34) + "ours" + chr(34) if line.millrace else ""}>{words(value_of(line))}</tspan>'
    return [
        text(LEFT - 8, middle, line.name, "ours" if line.millrace else "", "end"),
        f'<rect class="{kind}" x="{LEFT}" y="{y:.1f}" width="{length:.1f}" height="{BAR}" rx="2"/>',
        f'<text x="{LEFT + length + 6:.1f}" y="{middle:.1f}">{figures}<tspan class="small">{escape(aside)}</tspan></text>',
    ]


def panel(about: Mapping[str, Any], lines: list[Any], y: float) -> tuple[list[str], float]:
    unit = "seconds to the first batch" if about["first"] else "core milliseconds an image"
    parts = [text(20, y + 14, about["title"], "job"), text(WIDTH - 20, y + 14, unit, "small", "end")]
    y += 26
    scale = (WIDTH - LEFT - RIGHT - 20) / max(value_of(line) for line in lines)
    begun = y
    for line in lines:
        parts += bar(line, y, scale)
        y += STEP
    parts.append(f'<line class="axis" x1="{LEFT}" y1="{begun - 3}" x2="{LEFT}" y2="{y - 2}"/>')
    return parts, y + 16


def drawn(found: Mapping[str, Any], tables: Mapping[str, list[Any]]) -> str:
    at = found["machine"]
    threads = found["settings"]["threads"]
    parts = [
        text(20, 34, "Millrace and its peers: work for one image", "title"),
        text(20, 54, "Shorter is better. Same images, same cores, warm cache, each in a process of its own; medians of interleaved rounds.", "small"),
        text(20, 70, f"{at['date']}, {at['processor']}, {threads} core{'s' if threads > 1 else ''}; dashed: does less, or gives other pixels (see the table).", "small"),
    ]
    y = 92.0
    for job, lines in tables.items():
        contestants = shown(lines)
        if contestants:
            drawn_panel, y = panel(found["jobs"][job], contestants, y)
            parts += drawn_panel
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y:.0f}" width="{WIDTH}" height="{y:.0f}" role="img" aria-label="Core time of Millrace and its peers for one image">'
    return "\n".join([head, f"<style>{STYLE}</style>", f'<rect class="paper" width="100%" height="100%"/>', *parts, "</svg>", ""])
