# SPDX-License-Identifier: Apache-2.0
"""What a loader has done so far, for people: the facts of `millrace feed`'s report, advice in Python's words."""

from __future__ import annotations

import copy
import resource
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from . import _core
from ._quantity import bytes_text, count_text
from ._text import STYLE, bar, printable, rows_html, time_text, wrapped

if TYPE_CHECKING:
    from .loader import Loader

LABEL, BAR = 13, 16  # cells
SIMULATED = "Simulated: the times are not of this machine"


@dataclass(frozen=True)
class Setting:
    """What the loader is, as far as advice depends on it."""

    name: str  # of the dataset
    layout: str
    form: str
    form_kind: str  # "jpeg", "l3", ...; "" where it differs
    forms: tuple[str, ...]
    recipe: str
    output: dict[str, Any]
    batch: int
    seed: int
    order: str
    read_depth: int
    bad: str
    quarantine: str | None
    has_labels: bool = True


class Report:
    """What a loader has done so far. `print` it, see it in a notebook, or take `to_dict()`."""

    def __init__(self, setting: Setting, stats: dict[str, Any], rss_nbytes: int, rss_peak_nbytes: int) -> None:
        self._setting = setting
        self._stats = stats
        self._rss = rss_nbytes
        self._rss_peak = rss_peak_nbytes
        self.images_per_second = _per(stats["samples"], stats["seconds"])
        self.core_ms_per_image = _per(stats["core_seconds"] * 1e3, stats["samples"])
        self.bottleneck: str = _binding(stats)
        self.why, self.advice = _advise(setting, stats, self.bottleneck)
        all_seconds = sum(stage["seconds"] for stage in stats["stages"])
        self.stages: list[dict[str, Any]] = [
            {
                "name": stage["name"],
                "count": stage["count"],
                "seconds": stage["seconds"],
                "share": _per(stage["seconds"], all_seconds),
                "nbytes": stage["nbytes"],
                "p50_us": stage["p50_ns"] * 1e-3,
                "p99_us": stage["p99_ns"] * 1e-3,
            }
            for stage in stats["stages"]
        ]

        self.devices: list[dict[str, Any]] = [
            device | {"busy_share": _per(device["busy_seconds"], stats["seconds"] * device["lanes"])}
            for device in stats["devices"]
        ]

    @classmethod
    def of(cls, loader: Loader) -> Report:
        """What `loader.report()` gives."""
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        return cls(_setting_of(loader), loader.stats(), _rss_nbytes(), peak)

    def to_dict(self) -> dict[str, Any]:
        """All of it, by the names of `millrace feed --json`."""
        s, stats, output = self._setting, self._stats, self._setting.output
        copied = (
            "samples batches bad substitutes unlisted seconds core_seconds first_batch_seconds stored_nbytes "
            "reads_cached reads_waited read_depth_mean ready_mean consumer_stall_seconds consumer_stalls "
            "thread_idle_seconds thread_wait_seconds memory_nbytes threads slots rank world simulated policy beside "
            "cores_lent_seconds cores_borrowed_seconds left_out"
        ).split()
        return {
            "version": _core.version(),
            "dataset": s.name,
            "layout": s.layout,
            "form": s.form,
            "recipe": s.recipe,
            "output": {name: _plain(value) for name, value in output.items()},
            "batch": s.batch,
            "seed": s.seed,
            "order": s.order,
            **{name: stats[name] for name in copied},
            "images_per_second": self.images_per_second,
            "core_ms_per_image": self.core_ms_per_image,
            "consumer_p50_us": stats["consumer_p50_ns"] * 1e-3,
            "consumer_p99_us": stats["consumer_p99_ns"] * 1e-3,
            "bottleneck": self.bottleneck,
            "why": self.why,
            "advice": list(self.advice),
            "rss_bytes": self._rss,
            "rss_peak_nbytes": self._rss_peak,
            "devices": [{n: v for n, v in device.items() if n != "mishap"} for device in self.devices],
            "stages": copy.deepcopy(self.stages),
        }

    def __str__(self) -> str:
        if self._stats["batches"] == 0:
            return "No batch was fed yet"
        lines = [*([SIMULATED] if self._stats["simulated"] else []), self._head(), ""]
        lines += [_labelled(name, value) for name, value in self._what()]
        lines += self._device_lines()
        lines += ["", *self._stage_lines(), ""]
        lines += [_labelled("mishap", text) for text in self._mishaps()]
        lines += [_labelled(name, text) for name, text in self._lacks()]
        lines += [_labelled("on host", text) for text in self._on_host()]
        lines += [_labelled(name, value) for name, value in self._waits()]
        lines += [_labelled("binds", f"{self.bottleneck}: {self.why}")]
        lines += [_labelled("to change" if i == 0 else "", text) for i, text in enumerate(self.advice)]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        if self._stats["batches"] == 0:
            return '<div class="millrace">No batch was fed yet</div>'
        rows = "".join(
            f'<tr><td>{escape(s["name"])}</td><td class="n">{s["count"]:,}</td>'
            f'<td class="n">{time_text(s["p50_us"] * 1e-6)}</td><td class="n">{time_text(s["p99_us"] * 1e-6)}</td>'
            f'<td class="n">{bytes_text(s["nbytes"])}</td>'
            f'<td><span class="bar" style="width:{s["share"] * 8:.2f}em"></span>{s["share"]:.0%}</td></tr>'
            for s in self._busy()
        )
        told = [("simulated", SIMULATED)] if self._stats["simulated"] else []
        told += [
            (
                printable(d["name"]),
                f"{count_text(d['samples'], 'image')}, {count_text(d['lanes'], 'lane')} busy {d['busy_share']:.0%}",
            )
            for d in self.devices
        ]
        told += [("mishap", text) for text in self._mishaps()]
        told += self._lacks()
        told += [("on host", text) for text in self._on_host()]
        heads = '<th class="n">images</th><th class="n">p50</th><th class="n">p99</th><th class="n">bytes</th>'
        changes = "".join(f"<li>{escape(text)}</li>" for text in self.advice)
        return (
            f'{STYLE}<div class="millrace"><b>{escape(self._head())}</b>{rows_html(self._what() + told)}'
            f"<table><tr><th>stage</th>{heads}<th>share of thread time</th></tr>{rows}</table>"
            f"{rows_html(self._waits())}<b>{escape(self.bottleneck)}</b> binds: {escape(self.why)}. To change:"
            f'<ul style="margin:.2em 0">{changes}</ul></div>'
        )

    def _head(self) -> str:
        stats, rate = self._stats, self.images_per_second
        images, devices = count_text(stats["samples"], "image"), len(self.devices)
        who = f"{devices} devices" if devices > 1 else count_text(stats["threads"], "thread")
        if devices == 1 and not stats["simulated"] and self.devices[0]["name"] != "cpu":
            who = self.devices[0]["name"]
        cost = " (simulated)" if stats["simulated"] else f", {self.core_ms_per_image:.3f} core-ms an image"
        return f"Fed {images} in {stats['seconds']:.2f} s on {who}: {rate:,.{0 if rate >= 100 else 1}f} images/s{cost}"

    def _what(self) -> list[tuple[str, str]]:
        s, stats = self._setting, self._stats
        shape = " x ".join(map(str, (s.batch, *s.output["shape"])))
        ranks = f", rank {stats['rank']} of {stats['world']}" if stats["world"] > 1 else ""
        beside = f", beside the trainer: {stats['beside']}" if stats["beside"] else ""
        policy = [("policy", f"{stats['policy']}{beside}")] if self.devices else []
        return [
            ("dataset", f"{s.name} ({s.layout}), form {s.form}{'' if s.has_labels else ', no labels'}"),
            ("recipe", s.recipe),
            ("batches", f"{stats['batches']:,} of {shape} {s.output['dtype']} {s.output['layout']}{ranks}"),
            *policy,
        ]

    def _device_lines(self) -> list[str]:
        if not self.devices:
            return []
        width = LABEL - 2
        head = f"  {'device':<{width}}{'lanes':>10} {'images':>10} {'submitted':>10} {'set aside':>10}  busy"
        return ["", head] + [
            f"  {printable(d['name'])[: width - 1]:<{width}}{d['lanes']:>10} {d['samples']:>10,} "
            f"{d['submissions']:>10,} {d['failures']:>10,}  "
            f"{bar(min(d['busy_share'], 1.0), BAR)} {d['busy_share']:>4.0%}"
            for d in self.devices
        ]

    def _mishaps(self) -> list[str]:
        """What went wrong with devices, and that nothing was lost by it."""
        words = {
            "gave_back": "gave its work back",
            "late": "did not answer in time",
            "damaged": "gave images that were damaged",
            "no_memory": "had no memory for an image",
        }
        texts = []
        for d in self.devices:
            parts = [f"{text}, set aside {_times(d[name])}" for name, text in words.items() if d[name]]
            if parts:
                were = "was" if d["returned"] == 1 else "were"
                if d["returned"]:
                    parts.append(f"its {count_text(d['returned'], 'image')} {were} not lost, but prepared again")
                parts.append("not used at the end" if d["aside"] else "in use again at the end")
                if d["cause"]:
                    parts.append(f"what was said last: {d['cause']}")
                texts.append(f"{d['name']}: {'; '.join(parts)}")
        return texts

    def _lacks(self) -> list[tuple[str, str]]:
        """Which accelerators were not used, or not for all."""
        left_out = [("left out", self._stats["left_out"])] if self._stats["left_out"] else []
        return left_out + [
            ("lacks", f"{d['name']}: it cannot do {d['lacks']}; images that need it were prepared by others")
            for d in self.devices
            if d["lacks"]
        ]

    def _on_host(self) -> list[str]:
        """What an accelerator's threads did on the host, which is slower than it looks."""
        texts = []
        for d in self.devices:
            if d["on_host"]:
                why = f", {count_text(d['refused'])} of them because it refused them" if d["refused"] else ""
                images = count_text(d["on_host"], "image")
                texts.append(f"{d['name']}: {images} prepared by its threads on the host{why}")
        return texts

    def _busy(self) -> list[dict[str, Any]]:
        return [stage for stage in self.stages if stage["count"]]

    def _stage_lines(self) -> list[str]:
        width = LABEL - 2
        head = f"  {'stage':<{width}}{'images':>10} {'p50':>10} {'p99':>10} {'bytes':>10}  share of thread time"
        return [head] + [
            f"  {s['name']:<{width}}{s['count']:>10,} {time_text(s['p50_us'] * 1e-6):>10} "
            f"{time_text(s['p99_us'] * 1e-6):>10} {bytes_text(s['nbytes']):>10}  "
            f"{bar(s['share'], BAR)} {s['share']:>4.0%}"
            for s in self._busy()
        ]

    def _waits(self) -> list[tuple[str, str]]:
        stats = self._stats
        held, waited = bytes_text(stats["memory_nbytes"]), "never waited for a batch"
        if stats["consumer_stalls"]:
            waited = (
                f"waited {count_text(stats['consumer_stalls'], 'time')} for a batch, "
                f"{time_text(stats['consumer_stall_seconds'])} in all "
                f"({_per(stats['consumer_stall_seconds'], stats['seconds']):.0%} of the time)"
            )
        rows = [
            ("trainer", waited),
            ("start", f"{time_text(stats['first_batch_seconds'])} to make the loader and its first batch"),
            ("memory", f"{held} held by the loader, {bytes_text(self._rss)} by the process"),
        ]
        return rows + ([("bad", self._bad())] if stats["bad"] else [])

    def _bad(self) -> str:
        s, stats = self._setting, self._stats
        text = count_text(stats["bad"], "bad sample")
        if s.bad == "skip":
            text += f", whose places {count_text(stats['substitutes'], 'other')} took"
        elif s.bad == "replace":
            text += ", each a black image now"
        return text + (f", listed in {s.quarantine}" if s.quarantine else ' (quarantine="bad.jsonl" lists them)')


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number:,} times")


def _binding(stats: dict[str, Any]) -> str:
    """What binds. Of a simulated machine it is known who waited, and not which stage its devices were at."""
    if not stats["simulated"] or not stats["bottleneck"] or stats["bottleneck"] == "none":
        return stats["bottleneck"] or "none"
    return "consumer" if stats["consumer_stall_seconds"] < 0.05 * stats["seconds"] else "devices"


def _per(value: float, by: float) -> float:
    return value / by if by > 0 else 0.0


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _labelled(label: str, text: str) -> str:
    return f"  {label:<{LABEL - 2}}{wrapped(printable(text), LABEL)}"


def _rss_nbytes() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def _setting_of(loader: Loader) -> Setting:
    options, core = loader._options, loader.dataset._core
    forms = core.forms()
    wanted = options["form"] or (forms[0]["name"] if forms else "")
    kinds = {form["name"]: form["form"] or "" for form in forms}
    return Setting(
        name=dataset_name(loader.dataset),
        layout=core.info()["layout"],
        form=wanted,
        form_kind=kinds.get(wanted, ""),
        forms=tuple(kinds),
        recipe=loader.recipe.text,
        output=loader.recipe.output(),
        batch=loader.batch_size,
        seed=options["seed"],
        order=options["order"],
        read_depth=options["read_depth"] or 64,
        bad=options["bad"],
        quarantine=options["quarantine"],
        has_labels=loader.dataset._has_labels,
    )


def dataset_name(dataset: Any) -> str:
    """Its path; of several the first, and how many more."""
    paths = [str(path) for path in getattr(dataset, "paths", ())] or ["the dataset"]
    return paths[0] if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"


def _advise(s: Setting, stats: dict[str, Any], bottleneck: str) -> tuple[str, list[str]]:
    """Why something binds, and what could be changed, the most useful first."""
    if bottleneck == "cores":
        return _advise_cores(s, stats)
    if bottleneck == "storage":
        return _advise_storage(s, stats)
    if bottleneck == "devices":
        share = _per(stats["consumer_stall_seconds"], stats["seconds"])
        return f"the simulated trainer waits for them {share:.0%} of the time", [
            "compare policies (policy=), ways beside the trainer (beside=), or other machines (device=)"
        ]
    if bottleneck == "consumer":
        return "batches lie ready when the trainer comes", ["nothing: the loader keeps up"]
    return "too little was fed to say", ["feed more batches, or more epochs"]


def _advise_cores(s: Setting, stats: dict[str, Any]) -> tuple[str, list[str]]:
    most = max(stats["stages"], key=lambda stage: stage["seconds"], default=None)
    threads, changes = _core.threads_default(), []
    if stats["threads"] < threads:
        changes.append(f"use more threads: threads={threads}, as many as this process may use")
    if s.form_kind not in ("l3", "raw"):
        if "l3" in s.forms:
            changes.append('decode fewer pixels: form="l3", of which only the part that a crop needs is decoded')
        else:
            pack = f'mr.pack("{s.name}", "packed", forms=["l3"])'
            part = "of l3 only the part that a crop needs is decoded"
            changes.append(f"decode fewer pixels: {pack} once, and feed that; {part}")
    if s.output["dtype"] == "float32":
        changes.append("write fewer bytes: end the recipe with dtype(u8), and normalize on the accelerator")
    why = f"{most['name'] if most else 'the work'} takes most of their time"
    return why, changes or ["give it more cores: all that costs them less is done already"]


def _advise_storage(s: Setting, stats: dict[str, Any]) -> tuple[str, list[str]]:
    changes = []
    if s.layout != "packed":
        changes.append(f'read from shards: mr.pack("{s.name}", "packed") once, and feed that')
    if s.order == "shuffled":
        changes.append('read neighbours together: order="windowed"')
    if stats["read_depth_mean"] > 0.8 * s.read_depth:
        changes.append(f"read further ahead: read_depth={s.read_depth * 4}")
    why = f"threads waited {time_text(stats['thread_wait_seconds'])} for reads of {bytes_text(stats['stored_nbytes'])}"
    return why, changes or ["store fewer bytes an image, or on a faster disk"]
