#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs the peers of peers.toml into private virtual environments: install.py [--venvs DIR] [--only NAMES]

Each peer is optional: one that cannot be installed is told with the reason and left out. What is there already stays
as it is, so that this may be run again. What there is in the end is printed, and written to DIR/installed.json:
{peer: {"venv", "versions"}} or {peer: {"venv", "missing": why}}. The exit code is 1 when no peer is there at all.
"""
from __future__ import annotations

import argparse
import ctypes.util
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
import urllib.request
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PACKAGES = "`tools/install-packages peers` installs it"
CHECK_SECONDS = 180  # a first import compiles what it imports


class Missing(Exception):
    """Why a peer cannot be there."""


def run(command: list[str], seconds: float, environment: dict[str, str]) -> str:
    """What a command printed; Missing with the line that says why, if it failed."""
    # in / since a folder here that is called like a peer (or millrace) would be imported in its place
    done = subprocess.run(
        command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds, cwd="/", env={**os.environ, **environment}
    )
    if done.returncode != 0:
        raise Missing(reason(done.stdout))
    return done.stdout


def reason(said: str) -> str:
    """The line of pip's or Python's complaint that tells most."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    marks = ("fatal error:", "ERROR: No matching", "ERROR: Cannot", "ERROR: Ignored", "error:", "ERROR:")
    for mark in marks:
        for line in lines:
            if mark in line and "subprocess-exited" not in line:
                return line[:300]
    return lines[-1][:300] if lines else "it failed without a word"


def need_system(peer: dict[str, Any]) -> None:
    """What comes from the system must be there before anything is fetched."""
    for module in peer.get("modules", ()):
        if not shutil.which("pkg-config"):
            raise Missing(f"pkg-config is not there; {PACKAGES}")
        if subprocess.run(["pkg-config", "--exists", module], check=False).returncode != 0:
            raise Missing(f"pkg-config does not know {module}; {PACKAGES}")
    for library in peer.get("libraries", ()):
        if not ctypes.util.find_library(library):
            raise Missing(f"the shared library {library} is not there; {PACKAGES}")


def places(table: dict[str, str]) -> list[str]:
    """Indexes that answer, as pip's arguments. One that does not would cost minutes of retries."""
    found = []
    for address in table.values():
        try:
            with urllib.request.urlopen(address + "/", timeout=5):
                found += ["--extra-index-url", address]
        except (OSError, ValueError):
            pass
    return found


def mark_of(peer: dict[str, Any], constraints: list[str]) -> str:
    told = json.dumps([peer.get("pip"), peer.get("environment"), constraints, sys.version_info[:2]])
    return hashlib.sha256(told.encode()).hexdigest()


def install(name: str, peer: dict[str, Any], folder: Path, constraints: list[str], indexes: list[str]) -> None:
    """Runs the pip calls of a peer, unless they have been run as they stand."""
    need_system(peer)
    venv = folder / peer["venv"]
    marks = venv / "peers"
    mark = marks / name
    wanted = mark_of(peer, constraints)
    if mark.exists() and mark.read_text() == wanted:
        return
    if not marks.is_dir():  # none, or one that was left half made
        run([sys.executable, "-m", "venv", "--clear", str(venv)], 300, {})
        run([str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet", "--upgrade", "pip"], 600, {})
        marks.mkdir()
    held = marks / "constraints.txt"
    held.write_text("".join(f"{line}\n" for line in constraints))
    pip = [str(venv / "bin" / "python"), "-m", "pip", "install", "--no-input", "--constraint", str(held), *indexes]
    for asked in peer["pip"]:
        run(pip + asked, 3600, peer.get("environment", {}))
    mark.write_text(wanted)


def check(peer: dict[str, Any], folder: Path) -> dict[str, str]:
    """Versions of a peer that works."""
    python = str(folder / peer["venv"] / "bin" / "python")
    run([python, "-c", peer["check"]], CHECK_SECONDS, {})
    ask = f"import importlib.metadata as m, json; print(json.dumps({{n: m.version(n) for n in {peer['versions']!r}}}))"
    versions: dict[str, str] = json.loads(run([python, "-c", ask], CHECK_SECONDS, {}).splitlines()[-1])
    return versions


def told(name: str, one: dict[str, Any]) -> str:
    if "missing" in one:
        return f"{name:12} left out: {one['missing']}"
    return f"{name:12} {', '.join(f'{package} {version}' for package, version in one['versions'].items())}  ({one['venv']})"


def main() -> int:
    parser = argparse.ArgumentParser(description="Installs the peers of the race into private virtual environments.")
    parser.add_argument("--venvs", type=Path, default=Path("build/peers/venvs"), help="where they are (%(default)s)")
    parser.add_argument("--only", help="peers, separated by commas; all of peers.toml without it")
    asked = parser.parse_args()
    table = tomllib.loads((HERE / "peers.toml").read_text())
    indexes, constraints = table.pop("places"), table.pop("constraints")
    names = asked.only.split(",") if asked.only else list(table)
    for name in names:
        if name not in table:
            parser.error(f"no peer is called '{name}'; there are {', '.join(table)}")
    folder = asked.venvs.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    notes = folder / "installed.json"
    found: dict[str, Any] = json.loads(notes.read_text()) if notes.exists() else {}
    extra = places(indexes)
    for name in names:
        peer = table[name]
        begun = time.monotonic()
        try:
            install(name, peer, folder, constraints.get(peer["venv"], []), extra)
            found[name] = {"venv": peer["venv"], "versions": check(peer, folder)}
        except (Missing, subprocess.TimeoutExpired, OSError) as why:
            found[name] = {"venv": peer["venv"], "missing": str(why)}
        found[name]["seconds"] = round(time.monotonic() - begun, 1)
        print(told(name, found[name]), flush=True)
        notes.write_text(json.dumps({key: found[key] for key in table if key in found}, indent=2) + "\n")
    return 0 if any("versions" in found[name] for name in names) else 1


if __name__ == "__main__":
    sys.exit(main())
