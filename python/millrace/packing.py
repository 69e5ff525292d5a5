# SPDX-License-Identifier: Apache-2.0
"""mr.pack and mr.verify: datasets as shards in one or more forms, the same bytes as the command makes."""

from __future__ import annotations

import difflib
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any

from . import _core
from ._arguments import read_path, whole_or_none
from ._core import ArgumentError, Error
from ._html import framed
from ._progress import Show, showing
from ._quantity import bytes_text, count_text, read_nbytes, read_share
from ._text import printable, rows_html
from .dataset import Dataset, Path
from .images import _named

__all__ = ["Finding", "PackReport", "VerifyReport", "pack", "verify"]

_FORMS = ("original", "jpeg", "png", "webp", "l3", "raw")
_NUMBERS = {"max-side": 65535, "short-side": 65535, "quality": 100, "effort": 9}  # and what they are at most
_EXAMPLE = "'l3', 'raw:short-side=256', 'jpeg:max-side=512:quality=90:share=50%'"


@dataclass(frozen=True)
class PackReport:
    """What packing did. str() tells it as the command does."""

    folder: str
    samples: int
    refused: int  #: bad images, which quarantine.jsonl lists
    shards: int
    shards_found: int  #: of them, those that an earlier run had finished
    in_nbytes: int  #: read by this run
    out_nbytes: int  #: of all shards and indexes
    absent: int  #: records that are not there because their sample cannot have the form
    pixel_mode: int  #: JPEGs that L3 holds as pixels
    was_complete: bool  #: there was nothing to do
    seconds: float
    part: tuple[int, int] | None = None
    forms: dict[str, dict[str, Any]] = field(default_factory=dict)  #: of the dataset as it now is

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return asdict(self)

    def open(self, **options: Any) -> Dataset:
        """The packed dataset."""
        return Dataset(self.folder, **options)

    def _notes(self) -> list[str]:
        notes = []
        if self.shards_found and not self.was_complete:
            notes.append(f"went on: {count_text(self.shards_found, 'shard')} had been finished by an earlier run")
        if self.refused:
            notes.append(f"{count_text(self.refused, 'bad image')} kept out, listed in {self.folder}/quarantine.jsonl")
        if self.absent:
            notes.append(
                f"{count_text(self.absent, 'record')} left out: the image came in another form than theirs, or is "
                "beyond a share or the budget"
            )
        if self.pixel_mode:
            notes.append(f"{count_text(self.pixel_mode, 'JPEG')} of a rare kind: l3 has the pixels, and not the JPEG")
        if self.part is not None:
            one, parts = self.part
            notes.append(f"this is part {one} of {parts} (from 0): the command `millrace merge` joins them")
        return notes

    def _repr_html_(self) -> str:
        read = f"{bytes_text(self.in_nbytes)} read, " if self.in_nbytes else ""
        rows = [
            ("samples", count_text(self.samples)),
            ("shards", count_text(self.shards)),
            ("bytes", f"{read}{bytes_text(self.out_nbytes)} stored, {self.seconds:.2f} s"),
        ]
        forms = "".join(
            f'<tr><td>{escape(name)}</td><td class="n">{count_text(form["samples"])}</td>'
            f'<td class="n">{bytes_text(form["nbytes"])}</td><td class="n">{bytes_text(_mean(form))}</td></tr>'
            for name, form in self.forms.items()
        )
        heads = '<tr><th>form</th><th class="n">samples</th><th class="n">bytes</th><th class="n">mean</th></tr>'
        notes = "".join(f"<div>{escape(note)}</div>" for note in self._notes())
        head = f"{self.folder} is complete already" if self.was_complete else f"Packed into {self.folder}"
        return framed(head, rows_html(rows) + notes + (f"<table>{heads}{forms}</table>" if forms else ""))

    def __str__(self) -> str:
        samples, shards = count_text(self.samples, "sample"), count_text(self.shards, "shard")
        if self.was_complete:
            lines = [f"{self.folder} is complete already: {samples} in {shards}, {bytes_text(self.out_nbytes)}"]
        else:
            rate = f" ({bytes_text(self.in_nbytes / self.seconds)}/s in)" if self.in_nbytes and self.seconds else ""
            lines = [
                f"Packed {samples} into {self.folder}: {shards}, {bytes_text(self.in_nbytes)} in, "
                f"{bytes_text(self.out_nbytes)} out, {self.seconds:.2f} s{rate}"
            ]
        lines += [f"  {note}" for note in self._notes()]
        if self.forms:
            width = max(4, *map(len, self.forms))
            lines += ["", f"  {'form':{width}}  {'samples':>13}  {'bytes':>10}  {'mean':>10}"]
            for name, form in self.forms.items():
                lines.append(
                    f"  {name:{width}}  {count_text(form['samples']):>13}  {bytes_text(form['nbytes']):>10}  "
                    f"{bytes_text(_mean(form)):>10}"
                )
        return "\n".join(map(printable, lines))


def _mean(form: Mapping[str, Any]) -> float:
    return form["nbytes"] / form["samples"] if form["samples"] else 0.0


def _suggest(word: str, words: Sequence[str]) -> str:
    near = difflib.get_close_matches(word, words, n=1)
    return (f"; did you mean {near[0]}?" if near else "") + f" (one of: {', '.join(words)})"


def _read_field(whole: str, text: str) -> tuple[str, int]:
    name, sign, value = text.partition("=")
    name = name.strip().replace("_", "-")
    if name == "share" and sign:
        share = read_share(value, f"forms: {whole!r}: share")
        if share == 0:
            raise ArgumentError(f"forms: {whole!r}: share cannot be {value!r} (a share like 30%, above 0)")
        return "share", share if share < 1000000 else 0
    if name not in _NUMBERS:
        raise ArgumentError(f"forms: {whole!r} has {name!r}{_suggest(name, (*_NUMBERS, 'share'))}")
    value = value.strip()
    if not (value.isascii() and value.isdigit() and 1 <= int(value) <= _NUMBERS[name]):
        raise ArgumentError(f"forms: {whole!r}: {name} cannot be {value!r} (a number from 1 to {_NUMBERS[name]})")
    return name.replace("-", "_"), int(value)


def _fault_of(form: Mapping[str, Any], first: bool) -> str | None:
    """What a form asks for that cannot be."""
    reduced = bool(form.get("max_side") or form.get("short_side"))
    if form.get("max_side") and form.get("short_side"):
        return "max-side and short-side cannot both be: one of them decides the size"
    if form["form"] == "original" and reduced:
        return (
            "original keeps images as they came and cannot be reduced: give the side to another form, as in "
            "jpeg:max-side=512"
        )
    if first and form.get("share"):
        return "the first form is for all samples: share is for those behind it"
    if form.get("quality") and (not reduced or form["form"] not in ("jpeg", "webp")):
        return "quality is for jpeg and webp that are made anew, with max-side or short-side"
    if form.get("effort") and form["form"] != "l3" and (not reduced or form["form"] != "png"):
        return "effort is for l3, and for png that is made anew, with max-side or short-side"
    return None


def _read_form(text: str) -> dict[str, Any]:
    name, *parts = text.split(":")
    name = name.strip()
    if name not in _FORMS:
        raise ArgumentError(f"forms: there is no form {name!r}{_suggest(name, _FORMS)}")
    return {"form": name} | dict(_read_field(text, part) for part in parts)


def _texts_of(forms: str) -> list[str]:
    """The forms of a text. A comma stands before the next one, or before another field of the same."""
    texts: list[str] = []
    for piece in forms.split(","):
        if texts and "=" in piece.partition(":")[0]:
            texts[-1] += ":" + piece.strip()
        else:
            texts.append(piece.strip())
    return texts


def read_forms(
    forms: str | Sequence[str | Mapping[str, Any]], max_side: int | None = None, short_side: int | None = None
) -> list[dict[str, Any]]:
    """Forms as _core.pack takes them, of the words of `millrace pack --forms`."""
    read: list[dict[str, Any]] = []
    for given in [forms] if isinstance(forms, str) else forms:
        if isinstance(given, str):
            read += [_read_form(text) for text in _texts_of(given)]
        else:
            read.append({"form": "original"} | {name.replace("-", "_"): value for name, value in given.items()})
    if not read:
        raise ArgumentError(f"forms is empty: it has the forms to store, as in {_EXAMPLE}")
    for number, form in enumerate(read):
        if not form.get("max_side") and not form.get("short_side"):
            form |= {"max_side": max_side or 0, "short_side": short_side or 0}
        fault = _fault_of(form, number == 0)
        if fault is not None:
            raise ArgumentError(f"forms: {form['form']!r}: {fault}")
    sizes = [(form["form"], form.get("max_side", 0), form.get("short_side", 0)) for form in read]
    for number, size in enumerate(sizes):
        if size in sizes[:number]:
            raise ArgumentError(f"forms: {size[0]!r} is there twice: a form is stored once in a size")
    return read


def _read_part(part: str | Sequence[int] | None) -> tuple[int, int]:
    if part is None:
        return 0, 0
    try:
        first, last = (int(number) for number in (part.split("/") if isinstance(part, str) else part))
    except (TypeError, ValueError):
        first, last = 1, 0
    if not 0 <= first < last:
        raise ArgumentError(f"part cannot be {part!r} (it is written like '2/8' or (2, 8), from 0)")
    return first, last


def _folder_of(folder: Any) -> str:
    path = read_path("folder", folder)
    if path is None:
        raise TypeError("folder=None is not a path (str or os.PathLike)")
    return path


def _check_places(paths: Sequence[str], folder: str) -> None:
    """A dataset that grows into its own source would be packed into itself."""
    to = os.path.realpath(folder)
    for path in paths:
        if not os.path.isdir(path):
            continue
        source = os.path.realpath(path)
        if to == source or to.startswith(source.rstrip("/") + "/"):
            how = "the same folder as" if to == source else "inside of"
            raise ArgumentError(
                f"{folder} is {how} {path}, which it is to be packed from; choose a folder outside of it"
            )


def pack(
    source: Dataset | Path | Sequence[Path],
    folder: Path,
    forms: str | Sequence[str | Mapping[str, Any]] = ("original",),
    *,
    max_side: int | None = None,
    short_side: int | None = None,
    filter: str = "bilinear",
    pillow: int = 13,
    budget: int | str | None = None,
    max_bad: float | str = "0.1%",
    part: str | Sequence[int] | None = None,
    shard_size: int | str | None = None,
    shard_samples: int | None = None,
    align: str = "auto",
    row_index: bool = True,
    check: bool = True,
    threads: int | None = None,
    progress: bool | Show = True,
) -> PackReport:
    """Packs a dataset into shards, in one or more forms: plain tar files with an index beside each.

    The same source and options give the same bytes, whatever the threads and interruptions. What was stopped, by Ctrl-C
    too, goes on with the same call. (The command `millrace pack` makes the same bytes; commands come with `make` and
    `make install`, not with pip.)

    source: an mr.Dataset, or what one is made of.
    folder: where to; it is made if it is not there.
    forms: what to store: "original" (as they came), "jpeg", "png", "webp" (those that came in it), "l3", "raw" (the
        same pixels of every image), each with fields behind it: "raw:short-side=256", "l3:share=30%",
        "jpeg:max-side=512:quality=90". A text with commas between, or a sequence.
    max_side, short_side: reduce images in every form without a side of its own. filter: how, by Pillow's names;
        pillow: to the pixels of Pillow 13, or of 12 and before.
    budget: "200GB": forms behind the first get the share of samples that fits.
    max_bad: stop when more than this share of the images is bad; fewer are kept out and listed in quarantine.jsonl.
    part: "2/8": this part of so many alone, from 0; the command `millrace merge` joins them (see above).
    shard_size, shard_samples: begin a new shard after so many bytes of the source [256MiB], so many samples.
    align: where images begin: "tar" (512 bytes), "page" (4096), "auto".
    row_index: keep row indexes of JPEGs. check: decode what is kept as it came, to see that it is whole.
    progress: show how far it is, on a terminal alone; or a callable that is given dicts.

    >>> print(mr.pack("imagenet/train", "/fast/train", ["jpeg", "l3"]))
    Packed 1,281,167 samples into /fast/train: ...
    """
    to = os.path.expanduser(_folder_of(folder))
    wanted = read_forms(forms, max_side, short_side)
    first, last = _read_part(part)
    dataset = source if isinstance(source, Dataset) else Dataset(source, threads=threads, progress=progress)
    _check_places(dataset.paths, to)
    start = time.monotonic()
    try:
        with showing(progress) as show:
            report = _core.pack(
                dataset.core,
                to,
                wanted,
                shard_nbytes=0 if shard_size is None else read_nbytes(shard_size, "shard_size"),
                shard_samples=whole_or_none("shard_samples", shard_samples, 2**64 - 1) or 0,
                budget_nbytes=0 if budget is None else read_nbytes(budget, "budget"),
                no_row_index=not row_index,
                no_check=not check,
                alignment=align,
                filter=filter,
                pillow=12 if pillow == 12 else 0,
                part=first,
                parts=last,
                max_bad=read_share(max_bad, "max_bad"),
                threads=whole_or_none("threads", threads) or 0,
                progress=show,
            )
    except Error as error:
        raise _named(error, to) from None
    seconds = time.monotonic() - start
    whole = last <= 1
    now = Dataset(to, layout="packed", progress=False).forms if whole else {}
    return PackReport(to, **report, seconds=seconds, part=None if whole else (first, last), forms=now)


@dataclass(frozen=True)
class Finding:
    """Something that verify found."""

    code: str
    path: str  #: of the file
    form: str | None  #: of the shard; None: the dataset's own files
    ordinal: int | None  #: of the damaged sample
    key: str | None
    survivors: list[str]  #: other forms of the sample that are whole
    text: str  #: what is wrong, and where

    def __str__(self) -> str:
        rest = f" ({', '.join(self.survivors)} of it is whole)" if self.survivors else ""
        return f"{self.path}: {self.text}{rest}"


@dataclass(frozen=True)
class VerifyReport:
    """What verify found. True where everything is whole."""

    folder: str
    files: int  #: read
    nbytes: int
    records: int  #: hashes compared
    findings: int
    damaged_samples: int
    lost_samples: int  #: of them, those of which no form is whole
    files_before: int  #: verified by an earlier run, by the report
    seconds: float
    found: list[Finding]

    def __bool__(self) -> bool:
        return self.findings == 0

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return asdict(self)

    def _repr_html_(self) -> str:
        rows = [
            ("records", count_text(self.records)),
            ("files", count_text(self.files)),
            ("bytes", bytes_text(self.nbytes)),
        ]
        if self.files_before:
            rows.append(("before", f"{count_text(self.files_before, 'file')} had been verified by an earlier run"))
        if not self:
            rows.append(("damaged", f"{count_text(self.damaged_samples, 'sample')}, {self.lost_samples:,} lost"))
        found = "".join(
            f"<tr><td>{escape(one.path)}</td><td>{escape(one.key or '')}</td><td>{escape(one.text)}</td>"
            f"<td>{escape(', '.join(one.survivors))}</td></tr>"
            for one in self.found
        )
        heads = "<tr><th>file</th><th>sample</th><th>what is wrong</th><th>whole forms</th></tr>"
        head = f"{self.folder} " + ("is whole" if self else f"has {count_text(self.findings, 'finding')}")
        return framed(head, rows_html(rows) + (f"<table>{heads}{found}</table>" if found else ""))

    def __str__(self) -> str:
        what = f"{count_text(self.records, 'record')} in {count_text(self.files, 'file')}, {bytes_text(self.nbytes)}"
        lines = (
            [f"{self.folder} is whole: {what}"]
            if self
            else [
                f"{self.folder}: {count_text(self.findings, 'finding')}, "
                f"{count_text(self.damaged_samples, 'damaged sample')} ({count_text(self.lost_samples)} lost); {what}"
            ]
        )
        if self.files_before:
            lines.append(f"  {count_text(self.files_before, 'file')} had been verified by an earlier run")
        return "\n".join(map(printable, lines + [f"  {finding}" for finding in self.found]))


def verify(
    folder: Path, *, report: Path | None = None, threads: int | None = None, progress: bool | Show = True
) -> VerifyReport:
    """Reads every byte of a packed dataset and compares every hash.

    report: a file that keeps what was verified, so that a run that was stopped goes on.

    Damage is no exception: the report tells, and is False.

    >>> assert mr.verify("/fast/train"), "it is damaged"
    """
    where = os.path.expanduser(_folder_of(folder))
    if os.path.exists(where) and not os.path.lexists(os.path.join(where, "dataset.json")):
        raise _core.ArgumentError(
            f"{where} is not a packed dataset: it has no dataset.json (mr.pack makes one; what is not packed has no "
            "hashes to compare)"
        )
    start = time.monotonic()
    with showing(progress) as show:
        told = _core.verify(
            where,
            threads=whole_or_none("threads", threads) or 0,
            report=read_path("report", report),
            progress=show,
        )
    found = [Finding(**one | {"survivors": (one["survivors"] or "").split()}) for one in told.pop("found")]
    return VerifyReport(where, **told, seconds=time.monotonic() - start, found=found)
