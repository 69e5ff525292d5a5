# SPDX-License-Identifier: Apache-2.0
"""What notebooks show of loaders and batches."""

from __future__ import annotations

import base64
from html import escape
from typing import TYPE_CHECKING, Any

from . import _core
from ._quantity import bytes_text, count_text
from ._text import STYLE, rows_html
from .images import _pixels_of

if TYPE_CHECKING:
    from .loader import Batch, Loader

SHOWN = 16  # pictures of a batch
LABEL_CELLS = 40
CELL = 112  # pixels that they are wide at most


def data_url(png: bytes) -> str:
    """A picture inside of a page."""
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")


def label_text(label: Any, classes: list[str]) -> str:
    """A label with the name of its class; a dash for none."""
    if isinstance(label, int) and 0 <= label < len(classes):
        return f"{label} {classes[label]}"
    if label is None or label == -1:
        return "-"
    text = str(label)
    return text if len(text) <= LABEL_CELLS else text[: LABEL_CELLS - 3] + "..."


def key_html(key: str) -> str:
    """A path that breaks behind its slashes alone; what is too long between them ends in dots."""
    *folders, name = key.split("/")
    parts = [*(folder + "/" for folder in folders), name]
    return "".join(f'<span class="part">{escape(part)}</span>' for part in parts)


def framed(head: str, inside: str) -> str:
    """With the package's look."""
    return f'{STYLE}<div class="millrace"><b>{escape(head)}</b>{inside}</div>'


def loader_html(loader: Loader) -> str:
    """Its facts."""
    if loader._closed:
        return framed("millrace.Loader, closed", "")
    options, output, stats = loader._options, loader.recipe.output(), loader.stats()
    order = options["order"] + ("" if options["order"] == "sequential" else f", seed {options['seed']}")
    last = ", without an incomplete last one" if options["drop_last"] else ""
    rows = [
        ("dataset", f"{loader.dataset._name()}: {', '.join(loader.dataset._words())}"),
        ("recipe", loader.recipe.text),
        ("batches", f"{count_text(len(loader))} of {_shape((loader.batch_size, *output['shape']), output)}{last}"),
        ("order", order),
        ("epoch", str(loader.epoch)),
        ("for", loader._to),
        ("work", f"{count_text(stats['threads'], 'thread')}, {count_text(stats['slots'], 'slot')}, "
                 f"{bytes_text(stats['memory_nbytes'])} held"),
    ]  # fmt: skip
    if loader._targets:
        rows.insert(2, ("targets", ", ".join(loader._targets)))
    if stats["world"] > 1:
        rows.append(("rank", f"{stats['rank']} of {stats['world']}"))
    return framed("millrace.Loader", rows_html(rows))


def batch_html(batch: Batch) -> str:
    """Pictures where it has them as such (u8), else a row for each of the first samples."""
    output = batch._loader.recipe.output()
    ordinals = batch.ordinals.tolist()[: min(batch.count, SHOWN)]
    texts, keys = [_label(batch, ordinal) for ordinal in ordinals], batch.keys[: len(ordinals)]
    if output["dtype"] == "uint8" and batch.device is None:
        pngs = (_png(batch.images[place], output) for place in range(len(ordinals)))
        figures = (_figure(png, text, key, output["width"]) for png, text, key in zip(pngs, texts, keys))
        inside = f'<div class="grid">{"".join(figures)}</div>'
    else:
        rows = "".join(
            f'<tr><td class="n">{ordinal}</td><td>{escape(text)}</td><td>{escape(key)}</td></tr>'
            for ordinal, text, key in zip(ordinals, texts, keys)
        )
        inside = f'<table><tr><th class="n">sample</th><th>label</th><th>key</th></tr>{rows}</table>'
    more = batch.count - len(ordinals)
    inside += f'<span class="dim">and {count_text(more)} more</span>' if more else ""
    shape = _shape((batch.places, *output["shape"]), output)
    return framed(f"Batch {batch.number} of epoch {batch.epoch}: {shape}{_mixed(batch)}", inside)


def _mixed(batch: Batch) -> str:
    mix = batch.mix
    if mix is None or mix["weight"] >= 0.995:
        return ""
    return f", {mix['kind']}: {mix['weight']:.0%} of each and {1 - mix['weight']:.0%} of another"


def _label(batch: Batch, ordinal: int) -> str:
    dataset = batch._loader.dataset
    return label_text(dataset.core.label(ordinal), dataset.classes)


def _png(image: Any, output: dict[str, Any]) -> bytes:
    """Of an image of any framework, in planes or not."""
    height, width, channels = output["height"], output["width"], output["channels"]
    pixels = memoryview(_pixels_of(image)).tobytes()
    picture = _core.empty((height, width, channels), "uint8")
    to = memoryview(picture).cast("B")
    for channel in range(channels if output["layout"] == "nchw" else 0):
        to[channel::channels] = pixels[channel * height * width : (channel + 1) * height * width]
    if output["layout"] != "nchw":
        to[:] = pixels
    return _core.encode(picture, "png")


def _figure(png: bytes, text: str, key: str, width: int) -> str:
    shown = min(width, CELL)
    return (
        f'<figure title="{escape(key)}"><img alt="{escape(key)}" style="width:{shown}px" src="{data_url(png)}"/>'
        f'<figcaption style="width:{max(shown, 72)}px"><b>{escape(text)}</b><br/>{key_html(key)}</figcaption></figure>'
    )


def _shape(shape: tuple[int, ...], output: dict[str, Any]) -> str:
    return f"{' x '.join(map(str, shape))} {output['dtype']} {output['layout']}"
