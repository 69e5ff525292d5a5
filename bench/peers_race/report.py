# SPDX-License-Identifier: Apache-2.0
"""What run.py measured, as Markdown: a table for each job, the aims beside what became of them, settings, versions."""
from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import chart

BASES = {"raw": "millrace:raw", "start": "millrace:new"}  # what others are compared with; else millrace:folder, the untouched files
NEAR = 2.0  # of 255, on average: up to here it is rounding, the decoder's DCT and the filter's shape; without antialiasing it is 3 and more


@dataclass
class Line:
    """A row of a table: what its runs come to."""

    name: str
    job: str
    core_ms: float | None
    core_ms_range: tuple[float, float] | None
    speed: float | None
    speed_range: tuple[float, float] | None
    core_ratio: float | None  # to Millrace's base row, median of the rounds'
    speed_ratio: float | None
    first: float | None
    first_with_imports: float | None
    memory: float | None
    anonymous: float | None
    pixels: tuple[float, int] | None
    less: str  # why it is not the same job, or nothing
    note: str
    by_round: dict[int, dict[str, Any]]

    @property
    def millrace(self) -> bool:
        return self.name.startswith("millrace")

    @property
    def same_job(self) -> bool:
        return not self.less


# Figures


def counted(row: dict[str, Any]) -> dict[int, dict[str, Any]]:
    return {run["round"]: run for run in row["runs"] if run.get("counts") and "first" in run}


def middle(values: Iterable[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return median(there) if there else None


def spread(values: Iterable[float | None]) -> tuple[float, float] | None:
    there = [value for value in values if value is not None]
    return (min(there), max(there)) if there else None


def ratio(mine: dict[int, dict[str, Any]], base: dict[int, dict[str, Any]], key: str) -> float | None:
    """The median of the rounds' ratios, not the ratio of the medians."""
    pairs = [(run.get(key), base[number].get(key)) for number, run in mine.items() if number in base]
    return middle(one / other for one, other in pairs if one and other)


def why_less(row: dict[str, Any], note: str, pixels: tuple[float, int] | None, runs: dict[int, dict[str, Any]]) -> str:
    if note.startswith("does less"):
        return note
    wrong = next((", ".join(run["wrong"]) for run in runs.values() if run.get("wrong")), "")
    if wrong:
        return wrong
    if pixels and pixels[0] > NEAR:
        return "other pixels than the reference"
    return ""


def pixels_of(row: dict[str, Any]) -> tuple[float, int] | None:
    told = row.get("pixels") or {}
    return (told["pixels_mean"], told["pixels_max"]) if "pixels_mean" in told else None


def lines_of(found: dict[str, Any], job: str) -> list[Line]:
    rows = [row for row in found["rows"] if row["base"] == job]
    runs = {row["name"]: counted(row) for row in rows}
    base = runs.get(BASES.get(job, "millrace:folder"), {})
    lines = []
    for row in rows:
        mine = runs[row["name"]]
        if not mine:
            continue
        note, pixels = found["peers"][row["peer"]]["notes"].get(row["job"], ""), pixels_of(row)
        memory = row.get("memory") or next(iter(mine.values()))
        key = "first" if found["jobs"][job]["first"] else "core_ms"

        def values(name: str, mine: dict[int, dict[str, Any]] = mine) -> list[float | None]:
            return [run.get(name) for run in mine.values()]

        lines.append(
            Line(
                name=row["name"],
                job=job,
                core_ms=middle(values("core_ms")),
                core_ms_range=spread(values("core_ms")),
                speed=middle(values("images_per_second")),
                speed_range=spread(values("images_per_second")),
                core_ratio=ratio(mine, base, key),
                speed_ratio=ratio(mine, base, "images_per_second"),
                first=middle(values("first")),
                first_with_imports=middle(values("first_with_imports")),
                memory=memory.get("pss_mb"),
                anonymous=memory.get("anonymous_mb"),
                pixels=pixels,
                less=why_less(row, note, pixels, mine),
                note=note,
                by_round=mine,
            )
        )
    return sorted(lines, key=lambda line: line.core_ms if line.core_ms is not None else line.first or 0.0)


# Words


def number(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def with_range(value: float | None, between: tuple[float, float] | None, digits: int) -> str:
    if value is None or between is None:
        return "–"
    return f"{value:.{digits}f} ({between[0]:.{digits}f}–{between[1]:.{digits}f})"


def apart(line: Line) -> str:
    return f"{line.pixels[0]:.2f}, {line.pixels[1]}" if line.pixels else "–"


def note_of(line: Line) -> str:
    if not line.less or line.less in line.note:
        return line.note
    return f"{line.less}; {line.note}" if line.note else line.less


def job_table(found: dict[str, Any], job: str, lines: list[Line]) -> list[str]:
    about = found["jobs"][job]
    base = BASES.get(job, "millrace:folder")
    source = found["data"].get(about["set"], {})
    text = [f"## {job}: {about['title']}", "", f"{source.get('files', 0):,} files: {source.get('about', '')}.", ""]
    head, cells_of = (first_head(base), first_cells) if about["first"] else (span_head(base), span_cells)
    rule = ["---", *["---:"] * (len(head) - 2), "---"]
    return text + [table_row(cells) for cells in (head, rule, *map(cells_of, lines))] + [""]


def table_row(cells: list[str]) -> str:
    return "|" + "".join(f" {cell} |" if cell or at else " |" for at, cell in enumerate(cells))


def first_head(base: str) -> list[str]:
    return ["", "first batch, s", "with imports, s", f"times {base}", "memory then, MB", "pixels: mean, max", "note"]


def first_cells(line: Line) -> list[str]:
    return [
        bold(line),
        with_range(line.first, spread(run.get("first") for run in line.by_round.values()), 2),
        number(line.first_with_imports),
        number(line.core_ratio),
        number(line.memory, 0),
        apart(line),
        note_of(line),
    ]


def span_head(base: str) -> list[str]:
    times = f"times {base}"
    return [
        "",
        "core-ms an image",
        times,
        "images/s",
        times,
        "first batch, s",
        "with imports, s",
        "memory, MB",
        "pixels: mean, max",
        "note",
    ]


def span_cells(line: Line) -> list[str]:
    return [
        bold(line),
        with_range(line.core_ms, line.core_ms_range, 2 if (line.core_ms or 0) >= 1 else 3),
        number(line.core_ratio),
        with_range(line.speed, line.speed_range, 0),
        number(line.speed_ratio),
        number(line.first),
        number(line.first_with_imports),
        number(line.memory, 0),
        apart(line),
        note_of(line),
    ]


def bold(line: Line) -> str:
    return f"**{line.name}**" if line.millrace else line.name


# Aims


@dataclass
class Aim:
    what: str
    aim: str
    measured: str
    met: bool | None


class Tables(dict[str, list[Line]]):
    """The lines of all jobs, to ask."""

    def line(self, job: str, name: str) -> Line | None:
        return next((line for line in self.get(job, []) if line.name == name), None)

    def best(self, job: str, of: Callable[[Line], bool] = lambda line: line.same_job) -> Line | None:
        """The peer with the least core time."""
        there = [line for line in self.get(job, []) if not line.millrace and of(line) and line.core_ms]
        return min(there, key=lambda line: line.core_ms or 0.0) if there else None


def share(tables: Tables, job: str, row: str, other: Line | None, most: float, what: str) -> Aim:
    mine = tables.line(job, row)
    aim = f"at most {most:.3f}".rstrip("0").rstrip(".") + " of its core time"
    if mine is None or other is None:
        return Aim(what, aim, "not measured", None)
    got = ratio(mine.by_round, other.by_round, "core_ms")
    if got is None:
        return Aim(what, aim, "not measured", None)
    return Aim(what, aim, f"{got:.3f} ({mine.core_ms:.3f} to {other.core_ms:.3f} of {other.name})", got <= most)


def below(line: Line | None, value: Callable[[Line], float | None], most: float, unit: str, what: str) -> Aim:
    got = value(line) if line else None
    digits = 0 if unit == "MB" else 3
    if got is None:
        return Aim(what, f"under {most:g} {unit}", "not measured", None)
    return Aim(what, f"under {most:g} {unit}", f"{got:.{digits}f} {unit}", got < most)


def python_beside_c(tables: Tables) -> Iterable[Aim]:
    for job, lines in tables.items():
        for alone in lines:
            if not alone.name.startswith("millrace:c-"):
                continue
            mine = tables.line(job, alone.name.replace(":c-", ":"))
            got = ratio(mine.by_round, alone.by_round, "images_per_second") if mine else None
            if got:
                what = f"{job}: {mine.name if mine else ''}, Python beside C, images/s"
                yield Aim(what, "at least 97 %", f"{100 * got:.1f} %", got >= 0.97)


def later(job: str, lines: list[Line]) -> Iterable[Aim]:
    """Of a job whose first batch counts: what was never seen before, beside the quickest peer."""
    mine = next((line for line in lines if line.name == BASES[job]), None)
    peers = [line for line in lines if not line.millrace and line.first]
    if mine and mine.first and peers:
        best = min(peers, key=lambda line: line.first or 0.0)
        got = ratio(mine.by_round, best.by_round, "first") or 0.0
        yield Aim(f"{job}: never later", "1 and less", f"{got:.2f} times the first batch of {best.name} (by {mine.name})", got <= 1)


def slower(tables: Tables) -> Iterable[Aim]:
    for job, lines in tables.items():
        if lines and lines[0].core_ms is None:
            yield from later(job, lines)
            continue
        mine = [line for line in lines if line.millrace and not line.note.startswith(("does less", "the C loader"))]
        peers = [line for line in lines if not line.millrace and line.same_job and line.speed]
        if mine and peers:
            worst, best = min(mine, key=lambda line: line.speed or 0.0), max(peers, key=lambda line: line.speed or 0.0)
            got = ratio(worst.by_round, best.by_round, "images_per_second") or 0.0
            yield Aim(f"{job}: never slower", "1 and more", f"{got:.2f} times the images/s of {best.name} (by {worst.name})", got >= 1)


def aims(tables: Tables) -> list[Aim]:
    def dali(line: Line) -> bool:
        return line.name.startswith("dali")

    def ffcv(line: Line) -> bool:
        return line.name.startswith("ffcv")

    best = tables.best
    found = list(python_beside_c(tables))
    for job in ("jpeg", "jpeg512"):
        found += [
            share(tables, job, "millrace:folder", best(job), 0.30, f"{job}: untouched files, of the best peer"),
            share(tables, job, "millrace:jpeg-index", best(job), 0.25, f"{job}: with the row index, of the best peer"),
            share(tables, job, "millrace:l3", best(job, dali), 1 / 7, f"{job}: packed L3, of DALI"),
            share(tables, job, "millrace:l3", best(job, ffcv), 1 / 5, f"{job}: packed L3, of FFCV on its own files"),
        ]
    found.append(share(tables, "randaug", "millrace:l3", best("randaug"), 0.25, "randaug: from L3, of the best peer"))
    for job in ("png-kodak", "png-cityscapes"):
        found += [
            share(tables, job, "millrace:folder", best(job), 0.5, f"{job}: as PNG, of the best peer"),
            share(tables, job, "millrace:l3", best(job), 1 / 8, f"{job}: as L3, of the best peer"),
        ]
    line = tables.line
    found += [
        below(line("jpeg", "millrace:l3"), lambda one: one.first, 0.1, "s", "first batch from packed L3"),
        below(line("jpeg", "millrace:jpeg-index"), lambda one: one.first, 0.3, "s", "first batch from packed JPEG"),
        below(line("start", "millrace:new"), lambda one: one.first, 2.0, "s", "first batch of 1.28 million files, seen for the first time"),
        below(line("start", "millrace:again"), lambda one: one.first, 0.5, "s", "and after that"),
        below(line("jpeg", "millrace:l3-u8"), lambda one: one.memory, 300, "MB", "peak memory at batch 256, u8"),
        below(line("jpeg", "millrace:l3"), lambda one: one.memory, 500, "MB", "peak memory at batch 256, f32"),
    ]
    found += slower(tables)
    return [aim for aim in found if aim.met is not None]


def aim_table(tables: Tables) -> list[str]:
    there = aims(tables)
    if not there:
        return []
    text = ["## Aims", "", "| | aim | measured | |", "| --- | --- | --- | --- |"]
    text += [f"| {aim.what} | {aim.aim} | {aim.measured} | {'met' if aim.met else '**missed**'} |" for aim in there]
    return text + [""]


# The page


HOW = """How to read it: *core-ms an image* is user and system time of the whole process tree over the images of the measured span, the figure that noise touches
least; images/s beside it. Medians of {rounds} rounds (lowest and highest in brackets); *times* are medians of the rounds' ratios: 3.0 core-ms times is three times the work. Everyone had the same
{threads} cores, one after the other, from the page cache, in a process of its own; rounds were interleaved. *First batch* counts from the making of the loader; *with imports* from the start of
the process. *Memory* is the most that the process tree had (proportional set size, mapped files included), in a round that was not timed. *Pixels* is how far up to 60 images of the job's own
set, decoded and resized to 256x256 (PNG: a crop of 512x512) with the row's own operators from what it stores, are from Pillow's of the same files (of 255). Rows that do less than the job are marked; they and rows of other pixels (more than {near} away on average) are no measure for an aim."""


def head(found: dict[str, Any]) -> list[str]:
    at = found["races"][-1]
    text = [
        "# Millrace and its peers, side by side",
        "",
        f"{at['processor']}, {plural(at['threads'], 'core')}, {at['memory_gb']} GB, {at['system']}.",
        "",
    ]
    for race in found["races"]:
        jobs = ", ".join(race["jobs"])
        text += [
            f"{jobs}: {race['date']}, Millrace {race['commit']}, {race['images']} images, {plural(race['rounds'], 'round')} of"
            f" {race['seconds']:g} s each, load {race['load'][0]:.1f} at the beginning.",
            "",
            f"    {race['command']}",
            "",
        ]
    rounds = max(race["rounds"] for race in found["races"])
    return [*text, HOW.format(rounds=rounds, threads=at["threads"], near=NEAR), "", "![core milliseconds an image](peers.svg)", ""]


def plural(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def absent(found: dict[str, Any], job: str) -> list[str]:
    """Peers that can do a job and were not asked to."""
    raced = {row["peer"] for row in found["rows"] if row["base"] == job}
    able = [name for name, peer in found["peers"].items() if any(one.split(":")[0] == job for one in peer["jobs"])]
    return [name for name in able if name not in raced and name not in found["missing"]]


def trouble(found: dict[str, Any]) -> list[str]:
    text = [f"- {name} is left out: {why}" for name, why in found["missing"].items()]
    missing = {job: absent(found, job) for job in found["jobs"]}
    text += [f"- {job}: {', '.join(names)} did not race (--peers)." for job, names in missing.items() if names]
    text += [f"- {row['name']}, {row['base']}: left out: {row['failed'][:300]}" for row in found["rows"] if row["failed"]]
    lost = [(row, run) for row in found["rows"] if not row["failed"] for run in row["runs"] if run.get("counts") and "first" not in run]
    text += [f"- {row['name']}, {row['base']}: round {run['round']} failed: {run.get('error', '')[:300]}" for row, run in lost]
    for row in found["rows"]:
        why = (row.get("pixels") or {}).get("error") or (row.get("pixels") or {}).get("unavailable")
        text += [f"- {row['name']}, {row['base']}: its pixels were not compared: {why[:300]}"] if why and not row["failed"] else []
    again = [row for row in found["rows"] for run in row["runs"] if run.get("counts") and run.get("tries", 1) > 1]
    still = [row for row in found["rows"] for run in row["runs"] if run.get("counts") and run.get("disturbed")]
    if again:
        text.append(f"- {len(again)} runs were disturbed by other processes and made again.")
    if still:
        names = sorted({f"{row['name']} ({row['base']})" for row in still})
        text.append(f"- {len(still)} runs that count were disturbed all the same: {', '.join(names)}.")
    return ["## What was left out or disturbed", "", *text, ""] if text else []


def settings_of(peers: Mapping[str, Any]) -> list[str]:
    """Every peer's settings and the document they follow. A job that is not there is set up as the one before it."""
    text = ["| | set up as | job | setting |", "| --- | --- | --- | --- |"]
    for name, peer in peers.items():
        documents = peer["documents"]
        for job, setting in peer["settings"].items():
            text.append(f"| {name} | {documents} | {job} | {setting.replace('|', '/')} |")
            name = documents = ""
    return text


def settings_table(found: dict[str, Any]) -> list[str]:
    there = {name: peer for name, peer in found["peers"].items() if name in found["versions"]}
    text = ["## Versions", "", "| | version |", "| --- | --- |"]
    text += [f"| {name} | {version} |" for name, version in found["versions"].items()]
    return [*text, "", "## Settings", "", *settings_of(there), ""]


def tables_of(found: dict[str, Any]) -> Tables:
    return Tables({job: lines_of(found, job) for job in found["jobs"]})


def page(found: dict[str, Any], tables: Tables) -> str:
    text = head(found) + aim_table(tables)
    for job, lines in tables.items():
        if lines:
            text += job_table(found, job, lines)
    return "\n".join(text + trouble(found) + settings_table(found))


def read(path: Path) -> dict[str, Any]:
    """What an earlier race wrote. The first ones had pixels by peer and variant, of full-size JPEGs alone."""
    found: dict[str, Any] = json.loads(path.read_text())
    old = found.pop("pixels", {})
    for row in found["rows"]:
        if row["base"] in ("jpeg", "randaug"):
            row.setdefault("pixels", old.get(row["name"]) or old.get(row["peer"]))
    return found


def write(found: dict[str, Any], out: Path) -> str:
    """Writes peers.md and peers.svg; the text."""
    out.mkdir(parents=True, exist_ok=True)
    tables = tables_of(found)
    text = page(found, tables)
    (out / "peers.md").write_text(text)
    (out / "peers.svg").write_text(chart.drawn(found, tables))
    return text
