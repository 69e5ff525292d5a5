#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""measure.py APPLY MILLRACE [--write] [--step NAME] [--photos FOLDER] [DOC]: every step against torchvision.

Runs the cases (cases.py) over images that are the same everywhere, through APPLY, and measures how far the pixels are from the
reference's. Without --write it checks that the table in DOC (doc/steps.md) is what was measured and that every step keeps its
promise; with it the table is written. Photos, where there are some, are measured too and have to keep the promise, but are not in
the table. Exit code 77: torchvision is not there."""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
VERSIONS = {"torchvision": "0.28.0", "Pillow": "13.0.0"}

try:
    import numpy as np
    import PIL
    import PIL.Image
    from reference import import_torchvision

    torchvision = import_torchvision()
    from cases import EXACT, cases
    from cases_drawn import drawn_cases
    import beyond
except ImportError as error:
    print(f"steps.errors is skipped: {error} (MILLRACE_PYTHON: a Python with torchvision)")
    sys.exit(77)


class Apply:
    """The process that runs recipes, and the images that it has."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.count = 0

    def image(self, pixels):
        h, w, c = pixels.shape
        self.send(f"image {self.count} {w} {h} {c}\n".encode() + pixels.tobytes())
        self.count += 1
        return self.count - 1

    def send(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def run(self, image, key, text, fused=True):
        """The pixels, or a sentence."""
        self.send(f"apply {image} 1 0 {key} {'fused' if fused else 'apart'} {text}\n".encode())
        line = self.process.stdout.readline().decode().strip()
        if not line.startswith("ok "):
            return line.removeprefix("error ") or "apply has died"
        w, h, c = (int(n) for n in line.split()[1:])
        return np.frombuffer(self.process.stdout.read(w * h * c), np.uint8).reshape(h, w, c)


    def draws(self, key, text):
        """The numbers that the steps of a recipe draw."""
        self.send(f"draws 1 0 {key} {text}\n".encode())
        return [int(n) for n in self.process.stdout.readline().decode().removeprefix("ok").split()]

    def field(self, width, height, alpha, sigma, key):
        """Elastic's, as torchvision has a displacement: 1 x height x width x 2."""
        self.send(f"field {width} {height} {alpha} {sigma} {key[0]} {key[1]}\n".encode())
        self.process.stdout.readline()
        return np.frombuffer(self.process.stdout.read(8 * width * height), np.float32).reshape(1, height, width, 2).copy()

    def boxes(self, image, key, boxes, text):
        """The pixels, and what is left of the boxes: their numbers and themselves. Or a sentence."""
        listed = " ".join(repr(v) for box in boxes for v in box)
        self.send(f"boxes {image} 1 0 {key} {len(boxes)} {listed} {text}\n".encode())
        line = self.process.stdout.readline().decode().strip()
        if not line.startswith("ok "):
            return line.removeprefix("error ") or "apply has died"
        w, h, c = (int(n) for n in line.split()[1:4])
        pixels = np.frombuffer(self.process.stdout.read(w * h * c), np.uint8).reshape(h, w, c)
        left = [float(n) for n in self.process.stdout.readline().decode().split()[1:]]
        return pixels, [left[i:i + 5] for i in range(0, len(left), 5)]


def noise(w, h, c):
    state = np.arange(1, w * h * c + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    return (state >> np.uint64(56)).astype(np.uint8).reshape(h, w, c)


def gradient(w, h, c):
    """Smooth, with every channel of its own, and not all of the range."""
    y, x = np.mgrid[0:h, 0:w]
    ramps = [20 + 180 * x // max(w, 1), 230 - 200 * y // max(h, 1), 60 + 90 * (x + y) // max(w + h, 1)]
    return np.stack(ramps[:c], -1).astype(np.uint8)


def scenes(millrace, w, h):
    """Three that `millrace generate` paints, the same everywhere."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([millrace, "generate", folder + "/set", "--count=2", f"--size={w}x{h}", "--forms=png", "--seed=5"], check=True,
                       stdout=subprocess.DEVNULL)
        files = sorted(Path(folder).rglob("*.png"))
        return [np.asarray(PIL.Image.open(f).convert("RGB")) for f in files]


def photos(folder):
    """A part of each of some photos, at a size of the table."""
    files = sorted(p for p in Path(folder).rglob("*") if p.suffix.lower() in (".jpeg", ".jpg"))[::97][:4]
    made = {}
    for size in ("37x29", "224x224", "500x375"):
        w, h = (int(n) for n in size.split("x"))
        made[size] = [np.asarray(PIL.Image.open(f).convert("RGB").resize((w, h))) for f in files]
    return made


def gray_of(pixels):
    return np.asarray(PIL.Image.fromarray(pixels).convert("L"))[..., None]


class Images:
    """By size: [(pixels, PIL image, number of it in APPLY, whether the table counts it)]."""

    def __init__(self, apply, millrace, folder):
        self.apply = apply
        self.by_size = {}
        for size in ("1x1", "1x9", "9x1", "37x29", "64x48", "224x224", "500x375"):
            w, h = (int(n) for n in size.split("x"))
            for c in (3, 1):
                self.add(size, noise(w, h, c))
                self.add(size, gradient(w, h, c))
        for size in ("64x48", "224x224", "500x375"):
            w, h = (int(n) for n in size.split("x"))
            for pixels in scenes(millrace, w, h):
                self.add(size, pixels)
            self.add(size, gray_of(pixels))
        for size, all_of in photos(folder).items() if folder else ():
            for pixels in all_of:
                self.add(size, pixels, False)

    def add(self, size, pixels, counts=True):
        pixels = np.ascontiguousarray(pixels)
        picture = PIL.Image.fromarray(pixels if pixels.shape[2] == 3 else pixels[..., 0])
        self.by_size.setdefault((size, pixels.shape[2]), []).append((pixels, picture, self.apply.image(pixels), counts))


def pixels_of(picture):
    pixels = np.asarray(picture)
    return pixels if pixels.ndim == 3 else pixels[..., None]


class Row:
    """What was measured of one line of the table."""

    def __init__(self, promise):
        self.promise = promise
        self.worst = self.worst_photo = 0
        self.differ = self.samples = self.images = 0
        self.faults = []
        self.words = None  # in place of numbers: difference, share, promise

    def note(self, difference, counts):
        worst = int(difference.max())
        if worst > self.promise:
            self.faults.append(f"{worst} levels away")
        if not counts:
            self.worst_photo = max(self.worst_photo, worst)
            return
        self.worst = max(self.worst, worst)
        self.differ += int(np.count_nonzero(difference))
        self.samples += difference.size
        self.images += 1


def distance(a, b):
    return np.abs(a.astype(np.int16) - b.astype(np.int16))


def nearest(got, references):
    """The number of the reference that is nearest, by its largest difference and then by the sum."""
    all_of = np.stack(references).astype(np.int16)
    apart = np.abs(all_of - got.astype(np.int16))
    flat = apart.reshape(len(references), -1)
    best = min(range(len(references)), key=lambda n: (flat[n].max(), flat[n].sum()))
    return best, apart[best]


def text_of(case, picture):
    w, h = picture.size
    convert = "convert(gray) " if picture.mode == "L" else ""
    return f"{convert}center({w}x{h}) {case.text} layout(nhwc) dtype(u8)"


def measure_given(apply, case, row, picture, number, counts):
    """One case whose reference is told what was drawn, on one image."""
    text = text_of(case, picture)
    for key in range(case.keys):
        wanted = case.reference(picture, apply.draws(key, text))
        if wanted is None:
            continue
        wanted, got, apart = pixels_of(wanted), apply.run(number, key, text), apply.run(number, key, text, fused=False)
        if isinstance(got, str):
            row.faults.append(got)
            return True
        if isinstance(apart, str) or apart.tobytes() != got.tobytes():
            row.faults.append("apart it gives something else than fused")
        if got.shape != wanted.shape:
            row.faults.append(f"{got.shape} in place of {wanted.shape}")
            return True
        row.note(distance(got, wanted), counts)
    return True


def measure_image(apply, case, row, picture, number, counts):
    """One case on one image. False: the step is not there."""
    text = text_of(case, picture)
    try:
        made = case.reference(picture)
    except (RuntimeError, ValueError):
        return True  # the reference does not take it: nothing to compare with (a blur wider than the image)
    references = [pixels_of(p) for p in (made if isinstance(made, list) else [made])]
    exact = {r.tobytes(): n for n, r in enumerate(references)}
    seen = set()
    for key in range(case.keys):
        got = apply.run(number, key, text)
        if isinstance(got, str):
            if "no step is called" in got or "is not there yet" in got:
                return False
            row.faults.append(got)
            return True
        if got.shape != references[0].shape:
            row.faults.append(f"{got.shape[1]}x{got.shape[0]} in place of {references[0].shape[1]}x{references[0].shape[0]}")
            return True
        if key < 3:
            apart = apply.run(number, key, text, fused=False)
            if isinstance(apart, str) or apart.tobytes() != got.tobytes():
                row.faults.append("apart it gives something else than fused")
        best = exact.get(got.tobytes())
        difference = np.zeros(got.shape, np.int16)
        if best is None:
            best, difference = nearest(got, references)
        seen.add(references[best].tobytes())
        row.note(difference, counts)
    if case.all_seen and len(seen) < len(exact):
        row.faults.append(f"of {len(exact)} that can be drawn only {len(seen)} were, in {case.keys} draws")
    return True


def measure(apply, images, chosen):
    rows, missing = {}, []
    for case in [*cases(), *drawn_cases(apply)]:
        run = measure_given if case.given else measure_image
        if chosen and case.step.split(",")[0] not in chosen:
            continue
        name = (case.step, case.parameters)
        row = rows.setdefault(name, Row(case.promise))
        for size in case.sizes:
            for channels in (3, 1) if case.gray else (3,):
                for _, picture, number, counts in images.by_size[size, channels]:
                    if name in rows and not run(apply, case, row, picture, number, counts):
                        missing.append(name)
                        del rows[name]
    measure_beyond(apply, images, chosen, rows)
    return rows, missing


def measure_beyond(apply, images, chosen, rows):
    """What is not pixels beside pixels."""
    def new_row(step, parameters):
        return rows.setdefault((step, parameters), Row(EXACT))

    for steps, run in (({"noise", "erase"}, beyond.noise_rows), ({"elastic"}, beyond.field_rows)):
        if not chosen or steps & set(chosen):
            run(apply, new_row)
    if not chosen or {"ioucrop", "sanitize"} & set(chosen):
        beyond.object_rows(apply, images, new_row, pixels_of, distance)


def share(row):
    return "0" if row.differ == 0 else f"{max(100 * row.differ / row.samples, 0.0001):.4f} %"


def table(rows):
    """Policies have a line for all magnitudes."""
    lines = ["| step | parameters | largest difference, grey levels | samples that differ | promise |", "| --- | --- | ---: | ---: | --- |"]
    merged = {}
    for (step, parameters), row in rows.items():
        if step.startswith("randaug"):
            parameters = "every op at every magnitude"
        all_of = merged.setdefault((step, parameters), Row(row.promise))
        all_of.worst = max(all_of.worst, row.worst)
        all_of.differ += row.differ
        all_of.samples += row.samples
        all_of.images += row.images
        all_of.words = row.words
    for (step, parameters), row in merged.items():
        promise = "exact" if row.promise == EXACT else "one level"
        words = row.words or (row.worst, share(row), promise)
        lines.append(f"| `{step}` | {parameters} | {words[0]} | {words[1]} | {words[2]} |")
    return "\n".join(lines)


def versions():
    return {"torchvision": torchvision.__version__.split("+")[0], "Pillow": PIL.__version__}


def place(text, made):
    head, rest = text.split(BEGIN)
    return head + BEGIN + "\n" + made + "\n" + END + rest.split(END)[1]


def main():
    parser = argparse.ArgumentParser(usage="measure.py APPLY MILLRACE [--write] [--step NAME] [--photos FOLDER] [DOC]")
    parser.add_argument("apply")
    parser.add_argument("millrace")
    parser.add_argument("doc", nargs="?")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--step", action="append", default=[])
    parser.add_argument("--photos")
    options = parser.parse_intermixed_args()
    apply = Apply(options.apply)
    folder = options.photos if options.photos and Path(options.photos).is_dir() else None
    rows, missing = measure(apply, Images(apply, options.millrace, folder), options.step)
    bad = 0
    for (step, parameters), row in rows.items():
        for fault in sorted(set(row.faults))[:3]:
            bad += 1
            print(f"{step} ({parameters}): {fault}")
    for step in sorted({step for step, _ in missing}):
        print(f"{step}: there is no such step")
        bad += 1
    made = table(rows)
    print(f"{len(rows)} cases, {bad} faults")
    if options.step or not options.doc:
        print(made)
    else:
        doc = Path(options.doc)
        if options.write:
            doc.write_text(place(doc.read_text(), made))
        elif versions() == VERSIONS and doc.read_text() != place(doc.read_text(), made):
            print(f"{doc} does not have the table that was measured: measure.py --write")
            bad += 1
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
