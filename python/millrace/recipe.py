# SPDX-License-Identifier: Apache-2.0
"""Recipes: what becomes of an image between its file and the batch."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable
from typing import Any, Union

from . import _core, _torchvision
from ._core import Array
from .steps import Step

__all__ = ["Recipe"]

# What is taken for one; callable are torchvision's transforms. Of lists mypy finds, of mixed ones, list[object].
RecipeLike = Union[str, Step, "Recipe", Callable[..., Any], Iterable[Any]]


class Recipe:
    """The list of steps that turn a stored image into what a model is trained on.

    `Recipe(of)` takes whatever says so: a text, a step, a torchvision transform or `v2.Compose`, another Recipe, or a
    list of all of these:

        mr.Recipe("rrc(224) flip normalize(imagenet)")
        mr.Recipe([mr.RandomResizedCrop(224), "flip", mr.Normalize.imagenet()])
        mr.Recipe(v2.Compose([v2.RandomResizedCrop(224), v2.ToImage(), v2.ToDtype(torch.float32, scale=True)]))

    Of torchvision's transforms those are taken that give the same pixels here; an ArgumentError lists all others, with
    what to do instead. Recipes are values: they are never changed, they pickle, and those that do the same are equal.
    `a + b` is the steps of both.
    """

    __slots__ = ("_core",)
    _core: _core.Recipe

    def __init__(self, of: RecipeLike) -> None:
        self._core = of._core if isinstance(of, Recipe) else _core.Recipe(_text_of(of))

    @property
    def text(self) -> str:
        """The shortest text that reads back as this recipe."""
        return self._core.text

    @property
    def hash(self) -> int:
        """A number of 64 bits, the same for recipes that do the same by the same steps, in every process."""
        return self._core.hash

    def steps(self) -> list[str]:
        """The text of each step: ["rrc(224)", "flip"]."""
        return self._core.steps()

    def output(self) -> dict[str, Any]:
        """What it gives for every sample: "shape", "dtype", "layout", "width", "height", "channels", "nbytes".

        An ArgumentError where the steps do not fit together, or end at a size that differs from image to image.
        """
        try:
            return self._core.output()
        except _core.ArgumentError as error:
            if "differs from image to image" in str(error):
                error.args = (f"{error}{_hint(self.steps())}", *error.args[1:])
            raise

    def explain(self, width: int, height: int, seed: int = 0, epoch: int = 0, key: int = 0) -> str:
        """What is done to an image of this size, pass by pass, in lines for a person.

        Args:
            width, height: of the image
            seed, epoch, key: of a loader, and the sample's number in its dataset: they decide what is drawn
        """
        return self._core.explain(width, height, seed, epoch, key)

    def visible(self) -> Recipe:
        """The same recipe for eyes: without normalize, as bytes, height x width x channels, with the same draws."""
        made = Recipe.__new__(Recipe)
        made._core = self._core.visible()
        return made

    def apply(self, image: Any, seed: int = 0, epoch: int = 0, key: int = 0) -> Array:
        """Does it to one image, as a loader of this seed does to sample `key` in this epoch.

        Args:
            image: height x width x channels of bytes that has the buffer protocol, as a NumPy array, or a PIL image;
                an array is upright, and RGB (gray, RGBA: as the recipe's `convert` says)
            seed, epoch, key: decide what is drawn

        >>> mr.Recipe("short(256) center(224) normalize(imagenet)").apply(PIL.Image.open("a.jpg")).torch()
        """
        made = _buffer_of(image, self.output()["channels"], upright="orient" in self.steps())
        return self._core.apply(made, seed, epoch, key)

    def __add__(self, other: Any) -> Recipe:
        return Recipe([self, other])

    def __radd__(self, other: Any) -> Recipe:
        return Recipe([other, self])

    def __eq__(self, other: object) -> bool:
        return self.text == other.text if isinstance(other, Recipe) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.text)

    def __len__(self) -> int:
        return len(self.steps())

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Recipe({self.text!r})"

    def __reduce__(self) -> Any:
        return Recipe, (self.text,)

    def _repr_html_(self) -> str:
        """A small table for notebooks."""
        rows = [(str(number), step) for number, step in enumerate(self.steps(), 1)]
        try:
            output = self.output()
            rows.append(("gives", f"{' x '.join(map(str, output['shape']))} {output['dtype']}, {output['layout']}"))
        except _core.Error as error:
            rows.append(("gives", str(error)))
        left = 'style="text-align: left"'
        cells = (f"<tr><td>{name}</td><td {left}><code>{html.escape(said)}</code></td></tr>" for name, said in rows)
        return f"<table>{''.join(cells)}</table>"


def _hint(steps: list[str]) -> str:
    """What is behind most recipes whose size differs from image to image."""
    shorts = [step for step in steps if step.startswith("short(")]
    if not shorts:
        return ""
    side = re.sub(r"\D.*", "", shorts[-1].removeprefix("short("))
    return f" (Resize({side}) makes the shorter side {side} long; Resize(({side}, {side})) makes all images this size)"


def _refuse_class(item: Any, place: str) -> None:
    """A step or transform that was named, and not made."""
    if isinstance(item, type) and (issubclass(item, Step) or item.__module__.startswith("torchvision.transforms")):
        where, name = f"{place} of the recipe" if place else "the recipe", item.__name__
        raise TypeError(f"{where} is the class {name}: call it: {name}(...)")


def _text_of(of: Any) -> str:
    _refuse_class(of, "")
    if isinstance(of, str):
        return of
    if isinstance(of, Step):
        return of.text
    reader = _torchvision.Reader()
    if _torchvision.is_transform(of) or callable(of):
        reader.add(of)
    elif isinstance(of, Iterable) and not isinstance(of, (bytes, dict)):
        _add(reader, list(of), "")
    else:
        raise TypeError(
            f"a recipe is a text, a step, a list of them, a torchvision transform or Compose, or a Recipe, not {of!r}"
        )
    return " ".join(reader.texts())


def _add(reader: _torchvision.Reader, item: Any, place: str) -> None:
    """A list, or an item of it."""
    _refuse_class(item, place)
    if isinstance(item, (list, tuple)):
        for number, inner in enumerate(item):
            _add(reader, inner, f"{place}[{number}]")
    elif isinstance(item, (str, Step, Recipe)):
        for text in _steps_of(item, place):
            reader.add_text(text)
    else:
        reader.add(item, place)


def _steps_of(item: str | Step | Recipe, place: str) -> list[str]:
    if not isinstance(item, str):
        return [item.text] if isinstance(item, Step) else item.steps()
    try:
        return _core.Recipe(item).steps()
    except _core.Error as error:
        error.args = (f"{place} of the recipe: {str(error).removeprefix('recipe: ')}",)
        raise


_MODES = {1: "L", 3: "RGB", 4: "RGBA"}


def _buffer_of(image: Any, channels: int, upright: bool) -> Any:
    """What has the buffer protocol: PIL images are made what a loader would decode."""
    if not (hasattr(image, "getbands") and hasattr(image, "convert")):
        return image
    if upright:
        from PIL import ImageOps

        image = ImageOps.exif_transpose(image)
    image = image.convert(_MODES[channels])
    shape = (image.height, image.width, channels) if channels > 1 else (image.height, image.width)
    return memoryview(image.tobytes()).cast("B", shape)
