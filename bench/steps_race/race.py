#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""race.py OURS [OPTION...]: each step beside the peers that are there, in one run. bench/steps calls it, and bench/README.md says how it measures."""
import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
try:
    import numpy as np
    import PIL.Image
except ImportError as error:
    sys.exit(f"bench/steps: {error}: --python PYTHON, one with numpy, pillow, torch, torchvision, opencv-python-headless, nvidia-dali")

from rows import RECIPES, STEPS

SIZES = ((224, 224), (500, 375))
PEERS = {"Pillow": "peer_pillow", "torchvision, PIL": "peer_torchvision", "torchvision, tensors": "peer_torchvision", "OpenCV": "peer_opencv",
         "DALI": "peer_dali"}


class Ours:
    """The process of bench/steps_race/main.c."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, order, payload=b""):
        self.process.stdin.write(order.encode() + b"\n" + payload)
        self.process.stdin.flush()
        line = self.process.stdout.readline().decode().strip()
        if line.startswith("error "):
            raise LookupError(line[6:])
        if not line.startswith("ok"):
            sys.exit(f"bench/steps: {order}: our side has ended")
        return line[2:].strip()

    def give(self, images):
        h, w = images[0].shape[:2]
        self.ask(f"images {w} {h} {len(images)}", b"".join(i.tobytes() for i in images))
        self.size = f"{w}x{h}"

    def runner(self, steps):
        text = f"center({self.size}) {steps} layout(nhwc) dtype(u8)"
        return lambda count: int(self.ask(f"time {count} {text}"))


def calls(function, images):
    """Times a function of one image: processor time of the whole process."""

    def run(count):
        begin = time.process_time_ns()
        for n in range(count):
            function(images[n % len(images)])
        return time.process_time_ns() - begin

    return run


def batches(pipeline, size):
    """Times a pipeline that makes `size` images at a time."""

    def run(count):
        begin = time.process_time_ns()
        for _ in range(max(count // size, 1)):
            pipeline.run()
        return (time.process_time_ns() - begin) * count // (max(count // size, 1) * size)

    return run


class Peers:
    """Those that can be imported; who cannot is named."""

    def __init__(self, chosen):
        self.modules, self.absent = {}, {}
        for name, module in PEERS.items():
            if chosen and not any(word.lower() in name.lower() for word in chosen):
                continue
            try:
                self.modules[name] = importlib.import_module(module)
            except Exception as error:  # an import can fail in any way
                self.absent[name] = str(error).splitlines()[0]

    def versions(self):
        made = {name: module.VERSION for name, module in self.modules.items()}
        return ", ".join(f"{name} {version}" for name, version in made.items() if "tensors" not in name)

    def prepare(self, images):
        """What the functions of each take."""
        self.images = {}
        for name, module in self.modules.items():
            prepare = {"torchvision, PIL": "prepare_pil", "torchvision, tensors": "prepare_tensors"}.get(name, "prepare")
            self.images[name] = getattr(module, prepare)(images) if name != "DALI" else images

    def runner(self, name, row):
        module = self.modules[name]
        rows = module.TENSOR_ROWS if name == "torchvision, tensors" else module.ROWS
        if row not in rows:
            return None
        if name == "DALI":
            return batches(module.pipeline(row, self.images[name]), module.BATCH)
        return calls(rows[row], self.images[name])


def pictures(millrace, size, count):
    """Painted scenes: the same on every machine."""
    w, h = size
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([millrace, "generate", folder + "/set", f"--count={count}", f"--size={w}x{h}", "--forms=png", "--seed=1"], check=True,
                       stdout=subprocess.DEVNULL)
        return [np.ascontiguousarray(PIL.Image.open(f).convert("RGB")) for f in sorted(Path(folder).rglob("*.png"))]


def calibrate(run, target_ns):
    """How many images take about this long."""
    count = 1
    while True:
        spent = run(count)
        if spent >= target_ns / 4 or count >= 1 << 20:
            return max(1, int(count * target_ns / max(spent, 1)))
        count *= 4


def race(runners, rounds, target_ns):
    """Short turns, in an order that turns: {name: median microseconds of an image}."""
    counts, spent, notes = {}, {name: [] for name in runners}, {}
    for name, run in list(runners.items()):
        try:
            run(1)
            counts[name] = calibrate(run, target_ns)
        except Exception as error:  # a peer that does not take it has no figure, and says why
            notes[name] = str(error).strip().splitlines()[0] if str(error) else type(error).__name__
            del runners[name]
    names = list(runners)
    for number in range(rounds):
        for i in range(len(names)):
            name = names[(i + number) % len(names)]
            spent[name].append(runners[name](counts[name]) / counts[name] / 1e3)
    return {name: statistics.median(spent[name]) for name in names}, notes


def race_steps(options, ours, peers):
    made = []
    for size in SIZES:
        images = pictures(options.millrace, size, 8)
        ours.give(images)
        peers.prepare(images)
        for row, steps in STEPS.items():
            if options.steps and not any(row.startswith(word) for word in options.steps):
                continue
            runners = {"Millrace": ours.runner(steps)}
            failures = {}
            for name in peers.modules:
                try:
                    run = peers.runner(name, row)
                except Exception as error:
                    failures[name] = str(error).strip().splitlines()[0]
                    continue
                if run is not None:
                    runners[name] = run
            figures, notes = race(runners, options.rounds, options.turn * 1e6)
            made.append({"size": f"{size[0]}x{size[1]}", "row": row, "recipe": steps, "us": figures, "notes": failures | notes})
            print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return made


def race_pipelines(options, ours):
    """Core milliseconds of an image, from what is stored to a batch."""
    import pipelines

    data = Path(options.data)
    files = [str(data / line) for line in (data / "files.txt").read_text().split()]
    made = []
    for recipe, kind in RECIPES.items():
        runners = {"Millrace, packed L3": lambda n, r=recipe: load(ours, data / "l3", r, n), "Millrace, packed JPEG": lambda n, r=recipe: load(ours, data / "jpeg", r, n)}
        notes = {}
        for name, make in pipelines.PEERS.items():
            try:
                runners[name] = make(kind, files)
            except Exception as error:
                notes[name] = str(error).strip().splitlines()[0]
        figures, more = {}, {}
        spent = {name: [] for name in runners}
        for number in range(options.pipeline_rounds + 1):  # the first is not counted
            names = list(runners)
            for i in range(len(names)):
                name = names[(i + number) % len(names)]
                try:
                    nanoseconds, images = runners[name](options.images)
                    spent[name].append(nanoseconds / images / 1e6)
                except Exception as error:
                    more[name] = str(error).strip().splitlines()[0]
                    del runners[name]
        for name in runners:
            figures[name] = statistics.median(spent[name][1:])
        made.append({"recipe": recipe, "ms": figures, "notes": notes | more})
        print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return made


def load(ours, path, recipe, count):
    nanoseconds, samples = ours.ask(f"load {count} {path}\t{recipe}").split()
    return int(nanoseconds), int(samples)


def best_of(figures, own):
    others = {name: value for name, value in figures.items() if name not in own}
    return min(others.items(), key=lambda item: item[1]) if others else (None, None)


def show_steps(made, peers):
    names = ["Millrace", *peers.modules]
    for size in dict.fromkeys(row["size"] for row in made):
        print(f"\n### us per {size.replace('x', ' x ')} image, one thread\n")
        print("| step | " + " | ".join(names) + " | ours of the best peer | |")
        print("| --- |" + " ---: |" * (len(names) + 1) + " --- |")
        for row in (r for r in made if r["size"] == size):
            us = row["us"]
            best, value = best_of(us, ["Millrace"])
            if "Millrace" not in us:
                ratio, flag = "-", "no such step"
            else:
                ratio = f"{us['Millrace'] / value:.2f}" if best else "-"
                flag = f"slower than {best}" if best and us["Millrace"] > value else ""
            cells = [f"{us[n]:.1f}" if n in us else "-" for n in names]
            print(f"| {row['row']} | " + " | ".join(cells) + f" | {ratio} | {flag} |")
    slower = [r for r in made if r["us"].get("Millrace", 0) > (best_of(r["us"], ["Millrace"])[1] or float("inf"))]
    print(f"\n{len(made)} rows, {len(slower)} in which a peer is faster.")


def show_pipelines(made):
    print("\n### core milliseconds per image, from what is stored to the batch\n")
    own = ["Millrace, packed L3", "Millrace, packed JPEG"]
    names = list(dict.fromkeys([*own, *(n for row in made for n in row["ms"])]))
    print("| recipe | " + " | ".join(names) + " | L3 of the best peer |")
    print("| --- |" + " ---: |" * (len(names) + 1))
    for row in made:
        ms = row["ms"]
        best, value = best_of(ms, own)
        ratio = f"{ms[own[0]] / value:.2f}" if best and own[0] in ms else "-"
        print(f"| `{row['recipe']}` | " + " | ".join(f"{ms[n]:.3f}" if n in ms else "-" for n in names) + f" | {ratio} |")


def show_notes(rows):
    seen = {}
    for row in rows:
        for name, note in row["notes"].items():
            seen.setdefault((name, note), []).append(row.get("row", row["recipe"]))
    for (name, note), where in seen.items():
        print(f"- {name}, {'; '.join(dict.fromkeys(where))}: {note[:200]}")


def main():
    parser = argparse.ArgumentParser(usage="bench/steps [OPTION...] [FOLDER]")
    parser.add_argument("ours", help=argparse.SUPPRESS)
    parser.add_argument("--millrace", help=argparse.SUPPRESS)
    parser.add_argument("--data", help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=9, help="of each step [9]")
    parser.add_argument("--turn", type=float, default=20, help="milliseconds of a turn, about [20]")
    parser.add_argument("--pipeline-rounds", type=int, default=3, help="of the pipelines [3]")
    parser.add_argument("--images", type=int, default=1000, help="of a turn of a pipeline [1000]")
    parser.add_argument("--tables", default="steps,pipelines", help="of steps, pipelines [both]")
    parser.add_argument("--steps", type=lambda t: t.split(","), help="rows that begin with one of these words [all]")
    parser.add_argument("--peers", type=lambda t: t.split(","), help="whose names have one of these words [all]")
    parser.add_argument("--json", action="store_true", help="a JSON object in place of tables")
    options = parser.parse_args()
    ours, peers = Ours(options.ours), Peers(options.peers)
    tables = options.tables.split(",")
    steps = race_steps(options, ours, peers) if "steps" in tables else []
    pipelines_made = race_pipelines(options, ours) if "pipelines" in tables and options.data else []
    if options.json:
        json.dump({"kernels": ours.ask("kernels"), "peers": peers.versions(), "absent": peers.absent, "steps": steps, "pipelines": pipelines_made}, sys.stdout)
        print()
        return
    print(f"Millrace uses {ours.ask('kernels')}. {peers.versions()}. {options.rounds} rounds.")
    for name, why in peers.absent.items():
        print(f"{name} is not there: {why}")
    if steps:
        show_steps(steps, peers)
    if pipelines_made:
        show_pipelines(pipelines_made)
    show_notes(steps + pipelines_made)


if __name__ == "__main__":
    main()
