#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Races Millrace against its peers: the same jobs, on the same images, on the same cores, one after the other.

    bench/peers_race/run.py                                      everything: two hours, 35 GB
    bench/peers_race/run.py --jobs jpeg --peers millrace,dali,torch
    bench/peers_race/run.py --images 512 --seconds 1 --rounds 1  does it work?
    bench/peers_race/run.py --jobs webp --add                    one job more, beside those of an earlier race
    bench/peers_race/run.py --report bench/results/peers.json    table and chart of an earlier race again

Every row is a process of its own in the peer's own virtual environment (install.py); rounds are interleaved, their order turns. Writes
peers.md, peers.svg and peers.json (every run) into --out. What cannot be installed or does not run is left out, and named.
"""
from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import shlex
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / os.environ.get("BUILD", "build")
sys.path.insert(0, str(HERE))

import data as images  # noqa: E402
import harness  # noqa: E402
import report  # noqa: E402

QUIET_SECONDS = 0.8  # looked at before a run
QUIET_SHARE = 0.08  # of one core that others may use meanwhile
QUIET_TRIES = 12
PATIENCE = 240.0  # seconds that a run may take beyond its span


@dataclass
class Row:
    """One peer, in one of its ways, at one job."""

    peer: str
    job: str  # with the variant: jpeg:fused
    python: str
    runs: list[dict[str, Any]] = field(default_factory=list)
    memory: dict[str, Any] | None = None
    pixels: dict[str, Any] | None = None
    failed: str | None = None

    @property
    def base(self) -> str:
        return self.job.split(":")[0]

    @property
    def name(self) -> str:
        return ":".join([self.peer, *self.job.split(":")[1:]])


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


# Peers


def all_peers() -> dict[str, harness.Peer]:
    modules = [importlib.import_module(path.stem) for path in sorted(HERE.glob("peer_*.py"))]
    peers = {module.PEER.name: module.PEER for module in modules}
    return {"millrace": peers.pop("millrace"), **peers}


def file_of(peer: str) -> Path:
    return HERE / f"peer_{peer.replace('-', '_')}.py"


def installed(asked: argparse.Namespace, peers: dict[str, harness.Peer]) -> dict[str, str]:
    """Peer to why it is not there. Runs install.py first, unless told otherwise."""
    if not asked.no_install:
        known = tomllib.loads((HERE / "peers.toml").read_text())
        names = [name for name in peers if name in known]
        subprocess.run([sys.executable, HERE / "install.py", "--venvs", asked.venvs, "--only", ",".join(names)], stdout=sys.stderr, check=False)
    notes = asked.venvs / "installed.json"
    told = json.loads(notes.read_text()) if notes.exists() else {}
    missing = {}
    for name, peer in peers.items():
        if "missing" in told.get(name, {}):
            missing[name] = told[name]["missing"]
        elif not python_of(asked, peer).exists():
            missing[name] = f"{python_of(asked, peer)} is not there"
    return missing


def python_of(asked: argparse.Namespace, peer: harness.Peer) -> Path:
    return Path(asked.venvs) / peer.venv / "bin" / "python"


def check_build() -> None:
    """Figures of a build with sanitizers, or without optimisation, are nobody's."""
    cache = BUILD / "CMakeCache.txt"
    lines = cache.read_text().splitlines() if cache.exists() else []
    values = {line.split(":")[0]: line.partition("=")[2] for line in lines if ":" in line}
    if values.get("CMAKE_BUILD_TYPE") not in (None, "", "Release") or values.get("MILLRACE_SANITIZE"):
        raise SystemExit(f"run.py: {BUILD} is not a plain Release build; set BUILD to another folder")


# One process


def start_command(asked: argparse.Namespace, row: Row, *words: str) -> dict[str, Any]:
    """Runs peer_NAME.py with these words; its one line of JSON. All that it started ends with it, whatever happens."""
    command = [row.python, str(file_of(row.peer)), *words, "--data", str(asked.data), "--threads", str(len(asked.cores))]
    begun = time.monotonic()
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, cwd=asked.data
    )
    try:
        out, err = process.communicate(timeout=PATIENCE + asked.seconds if words[0] != "prepare" else 3600)
    except subprocess.TimeoutExpired:
        end_tree(process)
        return {"error": f"gave no answer within {PATIENCE + asked.seconds:.0f} s"}
    except BaseException:
        end_tree(process)
        raise
    lines = [line for line in out.splitlines() if line.startswith("{")]
    if not lines:
        last = [line for line in err.splitlines() if line.strip()][-3:]
        return {"error": f"exit code {process.returncode}: {' | '.join(last)[-500:]}"}
    return dict(json.loads(lines[-1])) | {"wall": round(time.monotonic() - begun, 2)}


def end_tree(process: subprocess.Popen[str]) -> None:
    """All below it, too: daemons have sessions of their own, and come to the peer's process when their parents end."""
    for pid in harness.tree(process.pid)[::-1]:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass  # it has ended
    process.communicate()


def wait_for_quiet(cores: list[int]) -> bool:
    for _ in range(QUIET_TRIES):
        before = harness.busy_seconds(cores)
        time.sleep(QUIET_SECONDS)
        if harness.busy_seconds(cores) - before <= QUIET_SHARE * QUIET_SECONDS:
            return True
    return False


def disturbed(told: dict[str, Any], cores: list[int]) -> bool:
    """Others used more than 3 % of the cores within the span."""
    foreign, span = float(told.get("foreign_seconds", 0.0)), float(told.get("seconds", 0.0))
    return foreign > 0.03 * span * len(cores) + 0.05


def timed(asked: argparse.Namespace, row: Row, number: int) -> None:
    """A run that was disturbed is made again, once; the less disturbed one counts, and both are told."""
    first_only = harness.JOBS[row.base].first
    words = [row.job, "--seconds", str(asked.seconds)] + (["--memory"] if first_only else [])
    tries: list[dict[str, Any]] = []
    for _ in range(1 if asked.no_wait else 2):
        quiet = asked.no_wait or wait_for_quiet(asked.cores)
        told = start_command(asked, row, *words) | {"round": number, "quiet_before": quiet}
        told["disturbed"] = disturbed(told, asked.cores)
        tries.append(told)
        if not told["disturbed"] and "error" not in told:
            break
    best = min(tries, key=lambda told: ("error" in told or "unavailable" in told, told.get("foreign_seconds", 0.0)))
    best["tries"] = len(tries)
    row.runs += [told | {"counts": told is best} for told in tries]
    why = best.get("error") or best.get("unavailable")
    if why and not any("first" in run for run in row.runs):
        row.failed = why  # it has never run: the other rounds go on without it
    say(progress(row, number, best))


def progress(row: Row, number: int, told: dict[str, Any]) -> str:
    head = f"{time.strftime('%H:%M:%S')} round {number} {row.base:15} {row.name:24}"
    why = told.get("error") or told.get("unavailable")
    if why:
        return f"{head} {'left out' if row.failed else 'failed'}: {why[:200]}"
    if "core_ms" not in told:
        return f"{head} first batch {told['first']:.3f} s"
    foreign = f", foreign {told['foreign_seconds']:.2f} s" if told.get("disturbed") else ""
    return f"{head} {told['images_per_second']:9.1f} images/s {told['core_ms']:8.3f} core-ms{foreign}"


# The race


def rows_of(asked: argparse.Namespace, peers: dict[str, harness.Peer], missing: dict[str, str]) -> list[Row]:
    return [
        Row(name, job, str(python_of(asked, peer)))
        for job_name in asked.jobs
        for name, peer in peers.items()
        if name not in missing
        for job in peer.jobs
        if job.split(":")[0] == job_name
    ]


def sets_of(rows: list[Row]) -> list[str]:
    """The sets and packed datasets that these rows read."""
    wanted = {harness.JOBS[row.base].set for row in rows}
    names = [name for name in images.SETS if name in wanted | {harness.JOBS[row.base].source for row in rows}]
    if any(row.peer == "millrace" for row in rows):
        names += [f"packed/{name}" for name, (source, _) in images.PACKED.items() if source in wanted]
    return names


def prepare_records(asked: argparse.Namespace, rows: list[Row], peers: dict[str, harness.Peer]) -> list[dict[str, Any]]:
    told, seen = [], set()
    for row in rows:
        for name in peers[row.peer].needs.get(row.job, ()):
            if (row.peer, name) in seen:
                continue
            seen.add((row.peer, name))
            say(f"{time.strftime('%H:%M:%S')} prepare {row.peer} {name}")
            told.append(start_command(asked, row, "prepare", name) | {"name": name})
            if "error" in told[-1]:
                say(f"  {told[-1]['error']}")
    return told


def warm(paths: list[Path]) -> None:
    """From the page cache is what is measured: all is read once before, names too."""
    for path in paths:
        for folder, _, names in os.walk(path):
            if path.name != "many":
                for name in names:
                    read_through(os.path.join(folder, name))
        if path.is_file():
            read_through(str(path))


def read_through(path: str) -> None:
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 22):
            pass


def race(asked: argparse.Namespace, rows: list[Row], peers: dict[str, harness.Peer], save: Callable[[], None]) -> None:
    for job in asked.jobs:
        field_of = [row for row in rows if row.base == job]
        records = {asked.data / "records" / row.peer / name for row in field_of for name in peers[row.peer].needs.get(row.job, ())}
        source = harness.JOBS[job].set
        paths = [asked.data / name for name in [source, *(f"packed/{n}" for n, (s, _) in images.PACKED.items() if s == source)]]
        for number in range(1, asked.rounds + 1):
            warm([path for path in [*paths, *sorted(records)] if path.exists()])
            for row in field_of if number % 2 else field_of[::-1]:
                if row.failed is None:
                    timed(asked, row, number)
        if not harness.JOBS[job].first and not asked.no_memory:
            remember(asked, [row for row in field_of if row.failed is None])
        save()


def remember(asked: argparse.Namespace, rows: list[Row]) -> None:
    """The round that is not timed: memory."""
    for row in rows:
        told = start_command(asked, row, row.job, "--memory", "--seconds", str(min(asked.seconds, 4.0)))
        row.memory = told
        say(f"{time.strftime('%H:%M:%S')} memory  {row.base:15} {row.name:24} {told.get('pss_mb', told.get('error'))} MB")


def all_pixels(asked: argparse.Namespace, rows: list[Row], peers: dict[str, harness.Peer]) -> None:
    """The reference of each set first, which is Pillow's (of the peer torch, whether it races or not)."""
    rows = [row for row in rows if peers[row.peer].pixels_of(row.job)]
    torch = all_peers().get("torch")
    python = python_of(asked, torch) if torch else None
    for source in dict.fromkeys(harness.JOBS[row.base].source for row in rows) if python and python.exists() else ():
        told = start_command(asked, Row("torch", source, str(python)), "reference", source)
        say(f"pixels  {source:15} {'reference':24} {told.get('files', told)} images")
    for row in rows:
        row.pixels = told = start_command(asked, row, "pixels", row.job)
        say(f"pixels  {row.base:15} {row.name:24} {told.get('pixels_mean', told)} mean, {told.get('pixels_max')} at most")


# The machine


def machine(asked: argparse.Namespace) -> dict[str, Any]:
    def first_of(path: str, key: str) -> str:
        with open(path) as lines:
            return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(key)), "")

    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False).stdout.strip()

    changed = git("status", "--porcelain", "--", ".", ":!bench/results")  # what a race writes changes nothing that it runs
    commit = git("describe", "--always") + ("-dirty" if changed else "")
    return {
        "date": time.strftime("%Y-%m-%d %H:%M"),
        "processor": first_of("/proc/cpuinfo", "model name"),
        "cores": asked.cores,
        "memory_gb": round(int(first_of("/proc/meminfo", "MemTotal").split()[0]) * 1024 / 1e9, 1),
        "system": f"{platform.system()} {platform.release()}, {platform.freedesktop_os_release().get('PRETTY_NAME', '')}",
        "load": os.getloadavg(),
        "commit": commit,
        "command": shlex.join(["bench/peers_race/run.py", *sys.argv[1:]]),
    }


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = os.environ.get
    parser.add_argument("--jobs", default=",".join(harness.JOBS), help="jobs with commas between [all]: %(default)s")
    parser.add_argument("--peers", default="", help="peers with commas between [all that can be installed]")
    parser.add_argument("--rows", default="", help="only these rows, with commas between: millrace:l3,dali:fused")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=6.0, help="the span that is measured in each run [6]")
    parser.add_argument("--images", type=int, default=6000, help="images of the large sets [6000]")
    parser.add_argument("--data", type=Path, default=Path(here("PEERS_DATA", BUILD / "peers/data")))
    parser.add_argument("--venvs", type=Path, default=Path(here("PEERS_VENVS", BUILD / "peers/venvs")))
    parser.add_argument("--out", type=Path, default=ROOT / "bench/results")
    parser.add_argument("--millrace", type=Path, default=Path(here("MILLRACE", BUILD / "millrace")))
    parser.add_argument("--cores", default="", help="cores that all are pinned to: 0,1 [all that this process may use]")
    parser.add_argument("--no-install", action="store_true", help="take the virtual environments as they are")
    parser.add_argument("--no-memory", action="store_true", help="leave out the round that looks at memory")
    parser.add_argument("--no-wait", action="store_true", help="neither wait for a quiet machine nor repeat what was disturbed")
    parser.add_argument("--settings", action="store_true", help="print every peer's settings and where they come from, run nothing")
    parser.add_argument("--add", action="store_true", help="keep the other jobs of the peers.json that is in --out")
    parser.add_argument("--report", type=Path, help="write table and chart of this peers.json again, run nothing")
    asked = parser.parse_args()
    asked.jobs = asked.jobs.split(",")
    for job in asked.jobs:
        if job not in harness.JOBS:
            parser.error(f"no job is called {job}; there are {', '.join(harness.JOBS)}")
    asked.cores = [int(core) for core in asked.cores.split(",")] if asked.cores else sorted(os.sched_getaffinity(0))
    for name in ("data", "venvs", "out", "millrace"):
        setattr(asked, name, getattr(asked, name).absolute())
    return asked


def chosen(asked: argparse.Namespace) -> dict[str, harness.Peer]:
    peers = all_peers()
    names = asked.peers.split(",") if asked.peers else list(peers)
    unknown = [name for name in names if name not in peers]
    if unknown:
        raise SystemExit(f"run.py: no peer is called {', '.join(unknown)}; there are {', '.join(peers)}")
    return {name: peer for name, peer in peers.items() if name in names}


def stopped(*_: object) -> None:
    raise KeyboardInterrupt


def earlier(asked: argparse.Namespace) -> dict[str, Any]:
    """What an earlier race found at other jobs than today's; nothing unless --add says to keep it."""
    path = asked.out / "peers.json"
    if not asked.add or not path.exists():
        return {}
    found = report.read(path)
    for race in found["races"]:
        race["jobs"] = [name for name in race["jobs"] if name not in asked.jobs]
    found["races"] = [race for race in found["races"] if race["jobs"]]
    found["jobs"] = {name: job for name, job in found["jobs"].items() if name not in asked.jobs}
    found["rows"] = [row for row in found["rows"] if row["base"] in found["jobs"]]
    return found


def joined(kept: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """The two as one: today's word counts where both have one."""
    both = dict(found)
    for name in ("jobs", "data", "versions", "peers"):
        both[name] = {**kept.get(name, {}), **found.get(name, {})}
    both["jobs"] = {name: both["jobs"][name] for name in harness.JOBS if name in both["jobs"]}
    both["missing"] = {name: why for name, why in {**kept.get("missing", {}), **found["missing"]}.items() if name not in both["versions"]}
    both["rows"] = kept.get("rows", []) + found.get("rows", [])
    race = {**found["machine"], **found["settings"], "jobs": list(found["jobs"])}
    both["races"] = kept.get("races", []) + [race]
    return both


def main() -> None:
    asked = parsed()
    signal.signal(signal.SIGTERM, stopped)  # as Ctrl-C: the peer that runs ends, what was measured is reported
    if asked.report:
        report.write(report.read(asked.report), asked.out)
        return
    if asked.settings:
        print("\n".join(report.settings_of({name: harness.listed(peer) for name, peer in chosen(asked).items()})))
        return
    check_build()
    peers = chosen(asked)
    os.sched_setaffinity(0, asked.cores)
    os.environ["MILLRACE"] = str(asked.millrace)
    missing = installed(asked, peers)
    rows = rows_of(asked, peers, missing)
    if asked.rows:
        rows = [row for row in rows if row.name in asked.rows.split(",")]
    for name, why in missing.items():
        say(f"left out: {name}: {why}")
    if not rows:
        raise SystemExit("run.py: nobody is there to race")
    kitchen = images.Kitchen(asked.data, asked.millrace, asked.images)
    about = images.make_all(kitchen, sets_of(rows), "start" in asked.jobs)
    versions = {}
    for name in {row.peer: row for row in rows}:
        told = start_command(asked, Row(name, "version", str(python_of(asked, peers[name]))), "version")
        versions[name] = told.get("version") or told.get("error")
    prepared = prepare_records(asked, rows, peers)
    found: dict[str, Any] = {
        "machine": machine(asked),
        "settings": {"rounds": asked.rounds, "seconds": asked.seconds, "images": asked.images, "threads": len(asked.cores)},
        "jobs": {name: asdict(harness.JOBS[name]) for name in asked.jobs},
        "data": about,
        "versions": versions,
        "missing": missing,
        "peers": {name: harness.listed(peer) for name, peer in peers.items()},
        "prepared": prepared,
    }
    asked.out.mkdir(parents=True, exist_ok=True)
    kept = earlier(asked)

    def save() -> None:
        """After each job: what was measured outlives what comes after it."""
        found["rows"] = [asdict(row) | {"name": row.name, "base": row.base} for row in rows]
        (asked.out / "peers.json").write_text(json.dumps(joined(kept, found), indent=1) + "\n")

    try:
        all_pixels(asked, rows, peers)
        race(asked, rows, peers, save)
    except KeyboardInterrupt:
        say("stopped: what was measured is reported")
    save()
    print(report.write(joined(kept, found), asked.out))


if __name__ == "__main__":
    main()
