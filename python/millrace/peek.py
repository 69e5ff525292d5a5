# SPDX-License-Identifier: Apache-2.0
"""What a loader gives next, as pictures, without taking anything from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from . import _core
from ._arguments import whole
from ._html import data_url, framed, key_html
from ._html import label_text as _label_text
from ._quantity import count_text
from ._text import printable, rows_html

if TYPE_CHECKING:
    from .loader import Loader

CELL = 168  # pixels of a notebook that a picture is wide, if it is not smaller
KEY_CELLS = 40
BLACK = 3  # of a batch's mask: an image in place of a bad one, which has no label
COLORS = tuple(
    bytes.fromhex(code) for code in "e64b3c 3c8ce6 46b45a f0aa28 a05ad2 28b4be e65aaa 826e50".split()
)  # that are told apart, on light and on dark


@dataclass(frozen=True)
class Sample:
    """One of them."""

    position: int
    ordinal: int
    key: str
    label: Any
    text: str  # the label, with the name of its class
    image: _core.Array  # height x width x channels, u8
    targets: dict[str, Any] = field(default_factory=dict)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        return self.image.shape[1], self.image.shape[0]

    def png(self) -> bytes:
        """The picture, as a file."""
        return _core.encode(self.image, "png")


class Peek:
    """The next samples of a loader, as its recipe makes them. Notebooks show pictures; `print` shows a table.

    `samples` has them (position, ordinal, key, label, image), `png()` is a sheet of all of them.
    """

    def __init__(self, samples: list[Sample], epoch: int, facts: list[tuple[str, str]]) -> None:
        self.samples = samples
        self.epoch = epoch
        self._facts = facts

    @classmethod
    def of(cls, loader: Loader, n: int) -> Peek:
        """What `loader.peek(n)` gives."""
        n = whole("n", n, 1)
        epoch, position = loader._coming()
        output = loader.recipe.output()
        facts = [
            ("recipe", loader.recipe.text),
            ("output", f"{' x '.join(map(str, output['shape']))} {output['dtype']} {output['layout']}"),
            ("batches", f"{len(loader)} of {loader.batch_size}"),
        ]
        if not loader.dataset._has_labels:
            facts.append(("labels", "no labels: the dataset has none, and batch.labels are -1"))
        return cls(_samples_of(loader, epoch, position, n), epoch, facts)

    def __len__(self) -> int:
        return len(self.samples)

    def __str__(self) -> str:
        rows = [
            (str(s.position), str(s.ordinal), _short(printable(s.key)), printable(s.text), _objects(s))
            for s in self.samples
        ]
        heads = ("position", "sample", "key", "label", "objects")
        used = [i for i in range(5) if i < 4 or any(row[4] for row in rows)]
        widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(5)]
        lines = ["  ".join(_cell(row[i], widths[i], i < 2) for i in used).rstrip() for row in [heads, *rows]]
        facts = [f"{name:<8} {printable(value)}" for name, value in self._facts]
        return "\n".join([self._head(), "", *("  " + line for line in lines), "", *("  " + fact for fact in facts)])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        figures = "".join(_figure(sample) for sample in self.samples)
        return framed(self._head(), f'<div class="grid">{figures}</div>{rows_html(self._facts)}')

    def png(self, columns: int = 4, gap: int = 4) -> bytes:
        """All of them on one sheet, with their boxes: a PNG file."""
        if not self.samples:
            raise _core.ArgumentError("there are no samples to show: the epoch is over")
        columns = max(1, min(columns, len(self.samples)))
        width, height = self.samples[0].size
        rows = -(-len(self.samples) // columns)
        sheet_width = columns * (width + gap) + gap
        sheet = _core.empty((rows * (height + gap) + gap, sheet_width, 3), "uint8")
        to = memoryview(sheet).cast("B")
        to[:] = b"\xff" * len(to)
        for i, sample in enumerate(self.samples):
            top, left = gap + i // columns * (height + gap), gap + i % columns * (width + gap)
            pixels, line = _with_boxes(sample), width * 3
            for y in range(height):
                at = ((top + y) * sheet_width + left) * 3
                to[at : at + line] = pixels[y * line : (y + 1) * line]
        return _core.encode(sheet, "png")

    def _head(self) -> str:
        if not self.samples:
            return f"Nothing comes any more in epoch {self.epoch}"
        return f"The next {count_text(len(self.samples), 'sample')}, of epoch {self.epoch}"


def _samples_of(loader: Loader, epoch: int, position: int, n: int) -> list[Sample]:
    """By a second, small loader with the visible recipe, which begins where the first one stands."""
    options, stats = dict(loader._options), loader.stats()
    world = stats["world"]
    left = len(loader) * loader._facts["global_batch"] - position if options["drop_last"] else n * world
    n = min(n, left // world)
    if n < 1:
        return []
    recipe = loader.recipe._core.visible()
    if not _mixes(loader.recipe._core):
        options["batch"] = n  # the same places; what is mixed with whom depends on the batch size
    options.update(rank=stats["rank"], world=world)
    options.update(epoch=epoch, epochs=1, start=position, drop_last=False, quarantine=None)
    options.update(slots=2, threads=2, read_depth=0, memory_nbytes=0)
    core = _core.Loader(loader.dataset._core, recipe, **options)
    classes = loader.dataset._core.classes()
    samples: list[Sample] = []
    try:
        while len(samples) < n and (raw := core.next()) is not None:
            places = range(min(raw.count, n - len(samples)))
            samples += [_sample(raw, place, classes, bool(loader._targets)) for place in places]
            del raw
    finally:
        core.close()
    return samples


def _mixes(recipe: _core.Recipe) -> bool:
    return any(step.startswith(("mixup", "cutmix")) for step in recipe.steps())


def _sample(raw: _core.Batch, place: int, classes: list[str], has_targets: bool) -> Sample:
    is_black = raw.mask[place : place + 1].tolist() == [BLACK]
    label, mix = None if is_black else raw.label(place), raw.mix()
    text = _label_text(label, classes)
    if mix is not None and mix["weight"] < 0.995:
        partner = mix["partners"][place : place + 1].tolist()[0]
        text = f"{text} {mix['weight']:.0%} + {_label_text(partner, classes)} {1 - mix['weight']:.0%}"
    return Sample(
        position=raw.positions[place : place + 1].tolist()[0],
        ordinal=raw.ordinals[place : place + 1].tolist()[0],
        key=raw.key(place),
        label=label,
        text=text,
        image=raw.images[place : place + 1].reshape(*raw.images.shape[1:]).copy(),
        targets=_own(raw.targets(place)) if has_targets and not is_black else {},
    )


def _own(targets: dict[str, Any]) -> dict[str, Any]:
    """Copies, so that the batch may go."""
    there = {name: value for name, value in targets.items() if value is not None}
    return {name: value.copy() if isinstance(value, _core.Array) else value for name, value in there.items()}


def _short(key: str) -> str:
    return key if len(key) <= KEY_CELLS else "..." + key[3 - KEY_CELLS :]


def _cell(text: str, width: int, is_number: bool) -> str:
    return text.rjust(width) if is_number else text.ljust(width)


def _objects(sample: Sample) -> str:
    """What follows the image, in a few words."""
    if not sample.targets:
        return ""
    parts = [count_text(len(sample.targets["categories"]), "object")] if "categories" in sample.targets else []
    parts += ["mask"] if "mask" in sample.targets else []
    return ", ".join(parts)


def _boxes(sample: Sample) -> list[tuple[list[float], int]]:
    """Left, top, right, bottom of those that have an area, and their category."""
    boxes, categories = sample.targets.get("boxes"), sample.targets.get("categories")
    if boxes is None or categories is None:
        return []
    pairs = zip(boxes.tolist(), categories.tolist(), strict=True)
    return [(box, category) for box, category in pairs if box[2] > box[0] and box[3] > box[1]]


def _color(number: int) -> bytes:
    """Red, green and blue."""
    return COLORS[number % len(COLORS)]


def _figure(sample: Sample) -> str:
    width, height = sample.size
    shown = width if width <= CELL else CELL
    high = round(height * shown / width)
    size = f"width:{shown}px;height:{high}px"
    layers = [f'<img alt="{escape(sample.key)}" style="{size}" src="{data_url(sample.png())}"/>']
    place = f"position:absolute;left:0;top:0;{size}"
    mask = _mask_png(sample)
    if mask is not None:
        layers.append(f'<img alt="mask" style="{place};background:none;opacity:.5" src="{data_url(mask)}"/>')
    marks = _marks(sample, width / shown)
    if marks:
        box = f'viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg"'
        layers.append(f'<svg style="{place}" {box}>{marks}</svg>')
    label = "" if sample.label is None and sample.targets else f"<b>{escape(sample.text)}</b>"
    words = " · ".join(filter(None, (label, escape(_objects(sample)))))
    caption = f"{words}<br/>{key_html(_short(sample.key))}"
    return (
        f'<figure title="{escape(sample.key)}"><div style="position:relative;{size}">{"".join(layers)}</div>'
        f'<figcaption style="width:{max(shown, 72)}px">{caption}</figcaption></figure>'
    )


def _marks(sample: Sample, scale: float) -> str:
    """Boxes with their categories, and keypoints, for an <svg> whose units are the picture's pixels."""
    marks = []
    for (left, top, right, bottom), category in _boxes(sample):
        color = "#" + _color(category).hex()
        place = f'x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}"'
        words = f'x="{left + 2 * scale:.1f}" y="{top + 9 * scale:.1f}" font-size="{9 * scale:.1f}"'
        marks.append(
            f'<rect {place} fill="none" stroke="{color}" stroke-width="{1.5 * scale:.2f}"/>'
            f'<text {words} fill="{color}" font-weight="bold">{category}</text>'
        )
    points = sample.targets.get("keypoints")
    for x, y, seen in points.tolist() if points is not None else ():
        if seen > 0:
            marks.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{2 * scale:.2f}" fill="#ffd23f" stroke="#000"/>')
    return "".join(marks)


def _mask_png(sample: Sample) -> bytes | None:
    """Its classes, or its objects, as colours, with nothing where there is none."""
    mask, masks = sample.targets.get("mask"), sample.targets.get("masks")
    if mask is not None:
        numbers = mask.tobytes()
    elif masks is not None and len(masks):
        numbers = _numbered(masks)
    else:
        return None
    width, height = sample.size
    picture = _core.empty((height, width, 4), "uint8")
    to = memoryview(picture).cast("B")
    for channel in range(3):
        table = bytes(_color(number - 1)[channel] if number else 0 for number in range(256))
        to[channel::4] = numbers.translate(table)
    to[3::4] = numbers.translate(bytes([0] + [255] * 255))
    return _core.encode(picture, "png")


def _numbered(masks: _core.Array) -> bytes:
    """One number for each pixel: of the last object that covers it, from 1."""
    count, nbytes = len(masks), masks.shape[1] * masks.shape[2]
    whole = bytes([0] + [255] * 255)
    numbers = 0
    for i in range(count):
        covered = int.from_bytes(masks[i].tobytes().translate(whole), "little")
        number = int.from_bytes(bytes([i % 255 + 1]) * nbytes, "little")
        numbers = (numbers | covered) ^ covered | number & covered
    return numbers.to_bytes(nbytes, "little")


def _with_boxes(sample: Sample) -> bytes:
    """Its pixels as RGB, with boxes drawn."""
    width, height = sample.size
    pixels = bytearray(_rgb(sample.image))
    for box, category in _boxes(sample):
        left, top, right, bottom = (round(value) for value in box)
        left, right = max(0, min(left, width - 1)), max(0, min(right - 1, width - 1))
        top, bottom = max(0, min(top, height - 1)), max(0, min(bottom - 1, height - 1))
        color = _color(category)
        for y in (top, bottom):
            pixels[(y * width + left) * 3 : (y * width + right + 1) * 3] = color * (right - left + 1)
        for x in (left, right):
            for y in range(top, bottom + 1):
                pixels[(y * width + x) * 3 : (y * width + x) * 3 + 3] = color
    return bytes(pixels)


def _rgb(image: _core.Array) -> bytes:
    """Three channels of any number."""
    data, channels = image.tobytes(), image.shape[2] if image.ndim == 3 else 1
    if channels == 3:
        return data
    result = bytearray(image.shape[0] * image.shape[1] * 3)
    for channel in range(3):
        result[channel::3] = data[min(channel, channels - 1) if channels > 2 else 0 :: channels]
    return bytes(result)
