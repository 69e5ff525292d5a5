# SPDX-License-Identifier: Apache-2.0
"""The steps of recipes, one small class each, with torchvision's names and arguments where it has them.

    recipe=[mr.RandomResizedCrop(224), mr.HorizontalFlip(), mr.RandAugment(2, 9), mr.Normalize.imagenet()]

A step is a value: it cannot be changed, equal steps are equal, it pickles, and `.text` is what it is in a recipe's text
(`mr.RandomResizedCrop(224).text == "rrc(224)"`). What makes no sense is refused where it is written. doc/recipe.md and
doc/steps.md say what each step does to the last bit, and how far it is from torchvision.

What arguments are, all over:

  size            one number for both sides, or (height, width), as torchvision has it; the text has WIDTHxHEIGHT
  p               the chance that anything is done, from 0 to 1
  interpolation   of resizes: "bilinear", "nearest", "box", "hamming", "bicubic", "lanczos" (antialiased, as Pillow's);
                  of turns and bends: "nearest", "bilinear", "bicubic". torchvision's InterpolationMode is taken, too
  fill            grey levels from 0 to 255 for what the image does not have: one for all channels, or one for each
  antialias       always True: it is there because torchvision has it
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, ClassVar, NoReturn, Self, dataclass_transform

from . import _core
from ._step_arguments import (
    Antialias,
    AnyDtype,
    As,
    Border,
    Center,
    ChainDepth,
    Chance,
    Fill,
    Filter,
    Levels,
    MaybeRange,
    MaybeSide,
    MaybeSize,
    MaybeSpread,
    Never,
    Nothing,
    Number,
    Numbers,
    Opposite,
    Options,
    Padding,
    Part,
    Path,
    Policy,
    Qualities,
    Range,
    Sampling,
    Shares,
    Shears,
    Side,
    Size,
    Spread,
    Switch,
    TargetSize,
    Value,
    Whole,
    Wholes,
    Word,
    _is_list,
    _word,
)

__all__ = [
    "AugMix",
    "AutoAugment",
    "Brightness",
    "CenterCrop",
    "ColorJitter",
    "Contrast",
    "Convert",
    "CutMix",
    "Cutout",
    "Dtype",
    "ElasticTransform",
    "Gamma",
    "GaussianBlur",
    "GaussianNoise",
    "HorizontalFlip",
    "Hue",
    "JPEG",
    "Layout",
    "MixUp",
    "Normalize",
    "Orient",
    "Pad",
    "RandAugment",
    "RandomAdjustSharpness",
    "RandomAffine",
    "RandomAutocontrast",
    "RandomChannelPermutation",
    "RandomCrop",
    "RandomEqualize",
    "RandomErasing",
    "RandomGrayscale",
    "RandomHorizontalFlip",
    "RandomInvert",
    "RandomIoUCrop",
    "RandomPerspective",
    "RandomPosterize",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomShortestSize",
    "RandomSolarize",
    "RandomVerticalFlip",
    "RandomZoomOut",
    "Resize",
    "SanitizeBoundingBoxes",
    "Saturation",
    "ScaleJitter",
    "Shear",
    "Short",
    "Step",
    "Translate",
    "TrivialAugmentWide",
    "VerticalFlip",
]

_WORDS = {"p": "chance", "interpolation": "filter", "padding": "pad", "padding_mode": "border"}


class StepType(type):
    """The type of step classes: it reads what arguments they have, and help() shows those, not how steps are made."""

    _arguments: dict[str, str]  # the name of each, and that of its type
    _defaults: dict[str, Any]

    def __new__(
        mcs,
        name: str,
        bases: tuple[type, ...],
        body: dict[str, Any],
        step: str = "",
        words: dict[str, str] | None = None,
    ) -> StepType:
        cls = super().__new__(mcs, name, bases, body)
        cls._arguments, cls._defaults = {}, {}
        if bases:
            cls._step = step  # type: ignore[attr-defined]
            cls._words = _WORDS | (words or {})  # type: ignore[attr-defined]
            cls._arguments = dict(body.get("__annotations__", {}))
            cls._defaults = {argument: body[argument] for argument in cls._arguments if argument in body}
            for attribute in (*cls._defaults, *(["__annotations__"] if cls._arguments else [])):
                delattr(cls, attribute)  # help() would show them as if they were more than arguments
        return cls

    def __dir__(cls) -> list[str]:
        return [name for name in super().__dir__() if not name.startswith("_")]

    @property
    def __signature__(cls) -> Any:
        import inspect  # is slow, and seldom needed

        kind, none = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.empty
        return inspect.Signature(
            [
                inspect.Parameter(name, kind, default=cls._defaults.get(name, none), annotation=_shown(said))
                for name, said in cls._arguments.items()
            ]
        )


def _shown(name: str) -> Any:
    """What help() shows of a type of arguments."""
    kind = globals()[name]
    return kind.__metadata__[0].shown or kind.__origin__


@dataclass_transform(frozen_default=True, eq_default=False)
class Step(metaclass=StepType):
    """One operation of a recipe. Its subclasses are the steps that there are.

    A step is a value: `.text` is what it is in a recipe's text, equal steps are equal, and none can be changed.
    """

    # They are data classes: what they have is what can be given, and each says by its type how it is written. `step` is
    # the word of the text, `words` the text's names of arguments where they are others than those of all steps.
    # (dataclasses.dataclass would do, but takes a tenth of a second for all of them.)

    _step: ClassVar[str]
    _words: ClassVar[dict[str, str]]
    _typed: tuple[tuple[Any, ...], dict[str, Any]]
    _text: str

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = self._bind(args, kwargs)
        self.__dict__.update(given, _typed=(args, kwargs))
        self.__dict__["_text"] = self._settle()

    @classmethod
    def _bind(cls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """All arguments by name, those that are not given as they are anyway."""
        names = list(cls._arguments)
        has = f"it has {', '.join(names)}" if names else "it has none"
        if len(args) > len(names):
            raise TypeError(f"{cls.__name__}: {len(args)} arguments, and {has}")
        given = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name not in names:
                raise TypeError(f"{cls.__name__} has no argument {name!r}: {has}")
            if name in given:
                raise TypeError(f"{cls.__name__}: {name} is given twice")
            given[name] = value
        missing = [name for name in names if name not in given and name not in cls._defaults]
        if missing:
            raise TypeError(f"{cls.__name__} needs {' and '.join(missing)}: {has}")
        return {name: given[name] if name in given else cls._defaults[name] for name in names}

    def _but(self, **changes: Any) -> Self:
        """The same with other arguments."""
        return type(self)(**{name: changes.get(name, getattr(self, name)) for name in type(self)._arguments})

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{self!r} cannot be changed: make another one")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{self!r} cannot be changed: make another one")

    @property
    def text(self) -> str:
        """The step in a recipe's text, in its shortest form: "rrc(224)"."""
        return self._text

    def _word(self) -> str:
        return self._step

    def _parts(self) -> Iterator[Part]:
        for name in type(self)._arguments:
            yield from self._part(name)

    def _part(self, name: str) -> Iterator[Part]:
        """An argument as it is written; none where it is left out."""
        kind = globals()[type(self)._arguments[name]]
        try:
            text = kind.__metadata__[0].write(getattr(self, name))
        except (TypeError, ValueError, IndexError) as error:
            raise type(error)(f"{self!r}: {name} {error}") from None
        if text is not None:
            yield Part(name, self._words.get(name, name), text)

    def _settle(self) -> str:
        """The shortest text; checks it."""
        parts = list(self._parts())
        written = ", ".join(f"{part.word}={part.text}" for part in parts)
        try:
            return _core.Recipe(f"{self._word()}({written})" if parts else self._word()).text
        except _core.Error as error:
            self._refuse(error, parts)

    def _refuse(self, error: _core.Error, parts: list[Part]) -> NoReturn:
        """What the text's parser says, in words of the arguments."""
        first = str(error).partition("\n")[0]  # behind it, a caret under the text, which nobody has typed
        said = re.sub(r"^(recipe: )?at character \d+: ", "", first).removeprefix(f"{self._word()}: ")
        for part in parts:
            said = re.sub(rf"(?<!\w){part.word}(?=[ =])", part.argument, said, count=1)
        refused = type(error)(f"{self!r}: {said}")
        refused.code = error.code
        raise refused from None

    def __repr__(self) -> str:
        args, kwargs = self._typed
        said = [repr(value) for value in args] + [f"{name}={value!r}" for name, value in kwargs.items()]
        return f"{type(self).__name__}({', '.join(said)})"

    def __eq__(self, other: object) -> bool:
        return self._text == other._text if isinstance(other, Step) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> Any:
        return _again, (type(self), *self._typed)


def _again(cls: type[Step], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Step:
    return cls(*args, **kwargs)


# What the image is: before all other steps.


class Orient(Step, step="orient"):
    """Turns and mirrors the image as its EXIF orientation says: the first step, or none.

    As `PIL.ImageOps.exif_transpose`.
    """


class Convert(Step, step="convert"):
    """Which channels and depth images are decoded to; without it, RGB of 8 bits.

    Args:
        channels: "gray", "rgb" or "rgba"
        depth: 8 or 16 bits

    As `image.convert("L")`, `("RGB")`, `("RGBA")` of Pillow.
    """

    channels: Word = "rgb"
    depth: Whole = 8


# Cutting and resizing.


class Resize(Step, step="resize"):
    """Resizes: to a size, or, given one number, the shorter side to it and the other in proportion.

    Args:
        size: one number: of the shorter side, as `Short`; (height, width): of the image
        interpolation: "bilinear", "nearest", "box", "hamming", "bicubic", "lanczos"; antialiased, as Pillow's
        max_size: None; torchvision's bound on the longer side is not there
        antialias: True

    Equals torchvision's `Resize`.
    """

    size: Size
    interpolation: Filter = "bilinear"
    max_size: Nothing = None
    antialias: Antialias = True

    def _word(self) -> str:
        return "resize" if _is_list(self.size) and len(self.size) == 2 else "short"  # type: ignore[arg-type]


class Short(Step, step="short"):
    """Resizes the shorter side to a length, and the other in proportion.

    Args:
        size: the length
        interpolation: "bilinear", "nearest", "box", "hamming", "bicubic", "lanczos"; antialiased, as Pillow's

    Equals torchvision's `Resize(size)` with one number.
    """

    size: Side
    interpolation: Filter = "bilinear"


class CenterCrop(Step, step="center"):
    """Cuts out the middle; what the image does not have is filled.

    Args:
        size: one number or (height, width)
        fill: grey levels; torchvision's is always 0

    Equals torchvision's `CenterCrop`.
    """

    size: Size
    fill: Fill = 0


class RandomCrop(Step, step="crop"):
    """Cuts out a part of this size at a random place.

    Args:
        size: one number or (height, width)
        padding: a border to add first: one number, (sideways, up and down), or (left, top, right, bottom)
        pad_if_needed: False; images that are too small are refused
        fill: grey levels of the border
        padding_mode: what the border has: "constant" (fill), "edge", "reflect", "symmetric"

    Equals torchvision's `RandomCrop`.
    """

    size: Size
    padding: Padding = None
    pad_if_needed: Never = False
    fill: Fill = 0
    padding_mode: Border = "constant"


class RandomResizedCrop(Step, step="rrc"):
    """Cuts out a random part of random size and shape, and resizes it.

    Args:
        size: one number or (height, width)
        scale: (low, high), the part's share of the area
        ratio: (low, high), its width to its height
        interpolation: "bilinear", "nearest", "box", "hamming", "bicubic", "lanczos"; antialiased, as Pillow's
        antialias: True

    Equals torchvision's `RandomResizedCrop`.
    """

    size: Size
    scale: Range = (0.08, 1.0)
    ratio: Range = (3 / 4, 4 / 3)
    interpolation: Filter = "bilinear"
    antialias: Antialias = True


class Pad(Step, step="pad"):
    """Adds a border, or as much of it at the right and below as makes the image a size.

    Args:
        padding: one number, (sideways, up and down), or (left, top, right, bottom)
        fill: grey levels of the border
        padding_mode: what the border has: "constant" (fill), "edge", "reflect", "symmetric"
        to: in place of padding: one number or (height, width); the image stays at the top left

    Equals torchvision's `Pad`; `to` has no counterpart there.
    """

    padding: Padding = None
    fill: Fill = 0
    padding_mode: Border = "constant"
    to: MaybeSize = None

    def _parts(self) -> Iterator[Part]:
        if (self.padding is None) == (self.to is None):
            raise ValueError(f"{self!r}: padding or to, one of them: Pad(4), Pad(to=512)")
        yield from super()._parts()


class HorizontalFlip(Step, step="flip"):
    """Exchanges left and right, at random.

    Args:
        p: the chance of it

    Equals torchvision's `RandomHorizontalFlip`; so is it called here, too.
    """

    p: Chance = 0.5


class VerticalFlip(Step, step="vflip"):
    """Exchanges top and bottom, at random.

    Args:
        p: the chance of it

    Equals torchvision's `RandomVerticalFlip`; so is it called here, too.
    """

    p: Chance = 0.5


RandomHorizontalFlip = HorizontalFlip
RandomVerticalFlip = VerticalFlip


# Places: boxes, masks and keypoints follow.


class RandomRotation(Step, step="rotate"):
    """Turns by a random angle, counterclockwise.

    Args:
        degrees: one number, so far to both sides, or (low, high)
        interpolation: "nearest", "bilinear", "bicubic"
        expand: True: all of it stays, on a larger image
        center: (x, y) in pixels of what stays where it is; None: the middle
        fill: grey levels
        p: the chance of it; torchvision's is always 1

    Equals torchvision's `RandomRotation`.
    """

    degrees: Spread
    interpolation: Sampling = "nearest"
    expand: Switch = False
    center: Center = None
    fill: Fill = 0
    p: Chance = 1.0


class RandomAffine(Step, step="affine"):
    """Turns (clockwise), moves, scales and shears at once.

    Args:
        degrees: one number, so far to both sides, or (low, high)
        translate: (x, y), shares of width and height, at most; None: none
        scale: (low, high); None: 1
        shear: degrees along x: one number, so far to both sides, or (low, high); with four numbers along x and y
        interpolation: "nearest", "bilinear", "bicubic"
        fill: grey levels
        center: (x, y) in pixels of what stays where it is; None: the middle
        p: the chance of it; torchvision's is always 1

    Equals torchvision's `RandomAffine`.
    """

    degrees: Spread
    translate: Shares = None
    scale: MaybeRange = None
    shear: Shears = None
    interpolation: Sampling = "nearest"
    fill: Fill = 0
    center: Center = None
    p: Chance = 1.0


class Shear(Step, step="shear"):
    """Shears alone.

    Args:
        shear: degrees along x: one number, so far to both sides, or (low, high); with four numbers along x and y
        interpolation: "nearest", "bilinear", "bicubic"
        fill: grey levels
        center: (x, y) in pixels of what stays where it is; None: the middle
        p: the chance of it

    As torchvision's `RandomAffine(0, shear=shear)`.
    """

    shear: Shears
    interpolation: Sampling = "nearest"
    fill: Fill = 0
    center: Center = None
    p: Chance = 1.0


class Translate(Step, step="translate"):
    """Moves alone, by whole pixels.

    Args:
        translate: (x, y), shares of width and height, at most
        interpolation: "nearest", "bilinear", "bicubic"
        fill: grey levels
        p: the chance of it

    As torchvision's `RandomAffine(0, translate=translate)`.
    """

    translate: Numbers
    interpolation: Sampling = "nearest"
    fill: Fill = 0
    p: Chance = 1.0


class RandomPerspective(Step, step="perspective", words={"distortion_scale": "distortion"}):
    """Shows the image as seen from aside: each corner moves inwards.

    Args:
        distortion_scale: how far at most, more than 0, at most 1
        p: the chance of it
        interpolation: "nearest", "bilinear", "bicubic"
        fill: grey levels

    Equals torchvision's `RandomPerspective`.
    """

    distortion_scale: Number = 0.5
    p: Chance = 0.5
    interpolation: Sampling = "bilinear"
    fill: Fill = 0


class ElasticTransform(Step, step="elastic"):
    """Bends the image as if it were drawn on rubber: a smooth random field moves every pixel.

    Args:
        alpha: how far; one number or (x, y)
        sigma: how smooth; one number or (x, y)
        interpolation: "nearest", "bilinear", "bicubic"
        fill: grey levels
        p: the chance of it; torchvision's is always 1

    Equals torchvision's `ElasticTransform`.
    """

    alpha: Numbers = 50.0
    sigma: Numbers = 5.0
    interpolation: Sampling = "bilinear"
    fill: Fill = 0
    p: Chance = 1.0


class ScaleJitter(Step, step="scalejitter", words={"target_size": "size", "scale_range": "scale"}):
    """Fits the image into a size, times a random scale.

    Args:
        target_size: one number, or two; as torchvision's code has it, the first is compared with the image's width
        scale_range: (low, high)
        interpolation: "bilinear", "nearest", "box", "hamming", "bicubic", "lanczos"; antialiased, as Pillow's
        antialias: True

    Equals torchvision's `ScaleJitter`.
    """

    target_size: TargetSize
    scale_range: Range = (0.1, 2.0)
    interpolation: Filter = "bilinear"
    antialias: Antialias = True


class RandomZoomOut(Step, step="zoomout", words={"side_range": "side"}):
    """Puts the image at a random place of a larger, filled one.

    Args:
        fill: grey levels
        side_range: (low, high), new sides to old ones, not below 1
        p: the chance of it

    Equals torchvision's `RandomZoomOut`.
    """

    fill: Fill = 0
    side_range: Range = (1.0, 4.0)
    p: Chance = 0.5


class RandomIoUCrop(Step, step="ioucrop", words={"sampler_options": "options"}):
    """Cuts out a random part that keeps enough of some box.

    Args:
        min_scale, max_scale: the part's sides to those of the image
        min_aspect_ratio, max_aspect_ratio: its width to its height
        sampler_options: how much of a box at least, one of these at random; 1: the image stays as it is
        trials: how many parts are looked at before another option is drawn

    Equals torchvision's `RandomIoUCrop`.
    """

    min_scale: Number = 0.3
    max_scale: Number = 1.0
    min_aspect_ratio: Number = 0.5
    max_aspect_ratio: Number = 2.0
    sampler_options: Options = None
    trials: Whole = 40

    def _parts(self) -> Iterator[Part]:
        parts = {part.argument: part for part in super()._parts()}
        for name, word in (("scale", "scale"), ("aspect_ratio", "ratio")):
            yield Part(name, word, f"{parts.pop(f'min_{name}').text}..{parts.pop(f'max_{name}').text}")
        yield from parts.values()


class RandomShortestSize(Step, step="shorts", words={"min_size": "sizes", "max_size": "max"}):
    """Resizes the shorter side to one of some lengths, at random.

    Args:
        min_size: the lengths, at most 16
        max_size: of the longer side; None: any
        interpolation: "bilinear", "nearest", "box", "hamming", "bicubic", "lanczos"; antialiased, as Pillow's
        antialias: True

    Equals torchvision's `RandomShortestSize`.
    """

    min_size: Wholes
    max_size: MaybeSide = None
    interpolation: Filter = "bilinear"
    antialias: Antialias = True


class SanitizeBoundingBoxes(Step, step="sanitize", words={"min_size": "side", "min_area": "area"}):
    """Leaves out boxes that have become too small, with all that belongs to them; the image stays as it is.

    Args:
        min_size: the shorter side of a box that is kept, at least
        min_area: its area, at least

    Equals torchvision's `SanitizeBoundingBoxes`.
    """

    min_size: Number = 1.0
    min_area: Number = 1.0


# Colours.


class Brightness(Step, step="brightness"):
    """Times a random factor.

    Args:
        brightness: one number, so far to both sides of 1, or (low, high)
        p: the chance of it

    As torchvision's `ColorJitter(brightness=brightness)`.
    """

    brightness: Spread
    p: Chance = 1.0


class Contrast(Step, step="contrast"):
    """Away from the mean gray of the image by a random factor.

    Args:
        contrast: one number, so far to both sides of 1, or (low, high)
        p: the chance of it

    As torchvision's `ColorJitter(contrast=contrast)`.
    """

    contrast: Spread
    p: Chance = 1.0


class Saturation(Step, step="saturation"):
    """Away from each pixel's gray by a random factor.

    Args:
        saturation: one number, so far to both sides of 1, or (low, high)
        p: the chance of it

    As torchvision's `ColorJitter(saturation=saturation)`.
    """

    saturation: Spread
    p: Chance = 1.0


class Hue(Step, step="hue"):
    """Around the circle of colours by a random part of it.

    Args:
        hue: one number, so far to both sides, or (low, high), within -0.5 to 0.5; 0.5 is half the circle
        p: the chance of it

    As torchvision's `ColorJitter(hue=hue)`.
    """

    hue: Spread
    p: Chance = 1.0


class ColorJitter(Step, step="jitter"):
    """Brightness, contrast, saturation and hue, each by a random factor, in random order.

    Args:
        brightness, contrast, saturation: one number, so far to both sides of 1, or (low, high); None: left out
        hue: one number, so far to both sides, or (low, high), within -0.5 to 0.5; None: left out
        p: the chance of it; torchvision's is always 1

    Equals torchvision's `ColorJitter`.
    """

    brightness: MaybeSpread = None
    contrast: MaybeSpread = None
    saturation: MaybeSpread = None
    hue: MaybeSpread = None
    p: Chance = 1.0


class RandomGrayscale(Step, step="grayscale"):
    """Gray in every channel, at random.

    Args:
        p: the chance of it; 1: always, as torchvision's `Grayscale(3)`

    Equals torchvision's `RandomGrayscale`. `Convert("gray")` gives one channel.
    """

    p: Chance = 0.1


class Gamma(Step, step="gamma"):
    """255 gain (v / 255)^gamma.

    Args:
        gamma: one number, or (low, high)
        gain: more than 0
        p: the chance of it

    As torchvision's `functional.adjust_gamma`.
    """

    gamma: Spread
    gain: Number = 1.0
    p: Chance = 1.0


class RandomInvert(Step, step="invert"):
    """255 - v, at random.

    Args:
        p: the chance of it

    Equals torchvision's `RandomInvert`.
    """

    p: Chance = 0.5


class RandomPosterize(Step, step="posterize"):
    """Keeps the upper bits, at random.

    Args:
        bits: how many, from 0 to 8
        p: the chance of it

    Equals torchvision's `RandomPosterize`.
    """

    bits: Whole
    p: Chance = 0.5


class RandomSolarize(Step, step="solarize"):
    """255 - v of values that are not below a threshold, at random.

    Args:
        threshold: from 0 to 256
        p: the chance of it

    Equals torchvision's `RandomSolarize`.
    """

    threshold: Whole
    p: Chance = 0.5


class RandomEqualize(Step, step="equalize"):
    """Makes all values about as often, at random.

    Args:
        p: the chance of it

    Equals torchvision's `RandomEqualize`.
    """

    p: Chance = 0.5


class RandomAutocontrast(Step, step="autocontrast"):
    """The darkest value to 0, the lightest to 255, at random.

    Args:
        p: the chance of it

    Equals torchvision's `RandomAutocontrast`.
    """

    p: Chance = 0.5


class RandomAdjustSharpness(Step, step="sharpness", words={"sharpness_factor": "factor"}):
    """Blurs or sharpens, at random.

    Args:
        sharpness_factor: 0 is blurred, 1 as it is, 2 sharpened
        p: the chance of it

    Equals torchvision's `RandomAdjustSharpness`.
    """

    sharpness_factor: Number
    p: Chance = 0.5


class GaussianBlur(Step, step="blur", words={"kernel_size": "kernel"}):
    """Blurs by a Gaussian of random width.

    Args:
        kernel_size: odd; one number or (x, y)
        sigma: one number, or (low, high)
        p: the chance of it; torchvision's is always 1

    Equals torchvision's `GaussianBlur`.
    """

    kernel_size: Wholes
    sigma: Spread = (0.1, 2.0)
    p: Chance = 1.0


class JPEG(Step, step="jpeg"):
    """The image as if it had been stored as JPEG.

    Args:
        quality: from 1 to 100; one number, or (low, high)
        p: the chance of it; torchvision's is always 1

    Equals torchvision's `JPEG`.
    """

    quality: Qualities
    p: Chance = 1.0


class RandomChannelPermutation(Step, step="permute"):
    """The channels in random order.

    Args:
        p: the chance of it; torchvision's is always 1

    Equals torchvision's `RandomChannelPermutation`.
    """

    p: Chance = 1.0


class GaussianNoise(Step, step="noise", words={"clip": "wrap"}):
    """Adds Gaussian noise to every sample.

    Args:
        mean: of the noise, 1 being white
        sigma: its standard deviation, likewise
        clip: True: what leaves 0 to 255 is cut; False: it wraps around
        p: the chance of it; torchvision's is always 1

    Equals torchvision's `GaussianNoise` of bytes.
    """

    mean: Number = 0.0
    sigma: Number = 0.1
    clip: Opposite = True
    p: Chance = 1.0


# Policies.


class RandAugment(Step, step="randaug", words={"num_ops": "ops", "num_magnitude_bins": "bins"}):
    """So many random operations one after the other, each with the same magnitude.

    Args:
        num_ops: how many, from 1 to 16
        magnitude: of num_magnitude_bins, counted from 0
        num_magnitude_bins: how many magnitudes there are
        interpolation: "nearest", "bilinear", "bicubic"
        fill: grey levels; None: 0

    Equals torchvision's `RandAugment`.
    """

    num_ops: Whole = 2
    magnitude: Whole = 9
    num_magnitude_bins: Whole = 31
    interpolation: Sampling = "nearest"
    fill: Fill = None


class AutoAugment(Step, step="autoaug"):
    """One of a table's pairs of operations, each with its own chance and magnitude.

    Args:
        policy: "imagenet", "cifar10", "svhn", or torchvision's AutoAugmentPolicy
        interpolation: "nearest", "bilinear", "bicubic"
        fill: grey levels; None: 0
        file: in place of policy: a JSON file with a table (doc/steps.md says how it is written)

    Equals torchvision's `AutoAugment`; `file` has no counterpart there.
    """

    policy: Policy = "imagenet"
    interpolation: Sampling = "nearest"
    fill: Fill = None
    file: Path = None

    def _parts(self) -> Iterator[Part]:
        return (part for part in super()._parts() if self.file is None or part.argument != "policy")


class TrivialAugmentWide(Step, step="trivialaug", words={"num_magnitude_bins": "bins"}):
    """One random operation with a random magnitude.

    Args:
        num_magnitude_bins: how many magnitudes there are
        interpolation: "nearest", "bilinear", "bicubic"
        fill: grey levels; None: 0

    Equals torchvision's `TrivialAugmentWide`.
    """

    num_magnitude_bins: Whole = 31
    interpolation: Sampling = "nearest"
    fill: Fill = None


class AugMix(Step, step="augmix", words={"mixture_width": "width", "chain_depth": "depth", "all_ops": "few"}):
    """Branches of random operations, mixed with the image by random weights.

    Args:
        severity: from 1 to 10
        mixture_width: how many branches
        chain_depth: operations of each; -1: 1 to 3 at random
        alpha: of the weights' distribution
        all_ops: False: without brightness, color, contrast and sharpness
        interpolation: "nearest", "bilinear", "bicubic"
        fill: grey levels; None: 0

    As torchvision's `AugMix`, with operations as on PIL images (doc/steps.md).
    """

    severity: Whole = 3
    mixture_width: Whole = 3
    chain_depth: ChainDepth = -1
    alpha: Number = 1.0
    all_ops: Opposite = True
    interpolation: Sampling = "bilinear"
    fill: Fill = None


# What goes before or behind Normalize.


class RandomErasing(Step, step="erase"):
    """Erases a random rectangle. Behind `Normalize` it writes into the finished numbers, before it into grey levels.

    Args:
        p: the chance of it
        scale: (low, high), its share of the area
        ratio: (low, high), its height to its width
        value: one number or one for each channel, or "random" for noise

    Equals torchvision's `RandomErasing`.
    """

    p: Chance = 0.5
    scale: Range = (0.02, 0.33)
    ratio: Range = (0.3, 3.3)
    value: Value = 0.0

    def _parts(self) -> Iterator[Part]:
        if self.value != "random":
            yield from super()._parts()
            return
        for name in ("p", "scale", "ratio"):
            yield from self._part(name)
        yield Part("value", "noise", "yes")


class Cutout(Step, step="cutout"):
    """Fills a square whose middle is anywhere in the image.

    Args:
        size: its side
        p: the chance of it
        fill: grey levels

    DeVries and Taylor's; torchvision has none.
    """

    size: Side
    p: Chance = 1.0
    fill: Fill = 0


# The end.


class Normalize(Step, step="normalize"):
    """(v - mean) / std of values from 0 to 1, as numbers of 32 bits.

    Args:
        mean: one number, or one for each channel: 3, or 4 with alpha
        std: likewise, not 0

    Equals torchvision's `ToTensor()` and `Normalize` after it. `Normalize.imagenet()` and others are of known sets.
    """

    mean: Levels
    std: Levels

    def _parts(self) -> Iterator[Part]:
        yield from super()._parts()
        counts = [len(each) for each in (self.mean, self.std) if _is_list(each)]  # type: ignore[arg-type]
        if len(counts) == 2 and 1 not in counts and counts[0] != counts[1]:
            raise _core.ArgumentError(f"{self!r}: a mean of {counts[0]} channels and an std of {counts[1]}")

    def __repr__(self) -> str:
        known = re.fullmatch(r"normalize\((\w+)\)", getattr(self, "_text", ""))
        return f"Normalize.{known[1]}()" if known else super().__repr__()

    @classmethod
    def imagenet(cls) -> Self:
        """mean 0.485, 0.456, 0.406; std 0.229, 0.224, 0.225: torchvision's reference training."""
        return cls((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))

    @classmethod
    def cifar10(cls) -> Self:
        """mean 0.4914, 0.4822, 0.4465; std 0.247, 0.2435, 0.2616: of all pixels of the training set."""
        return cls((0.4914, 0.4822, 0.4465), (0.247, 0.2435, 0.2616))

    @classmethod
    def cifar100(cls) -> Self:
        """mean 0.5071, 0.4865, 0.4409; std 0.2673, 0.2564, 0.2762: of all pixels of the training set."""
        return cls((0.5071, 0.4865, 0.4409), (0.2673, 0.2564, 0.2762))

    @classmethod
    def clip(cls) -> Self:
        """mean 0.48145466, 0.4578275, 0.40821073; std 0.26862954, 0.26130258, 0.27577711: OpenAI's CLIP."""
        return cls((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711))

    @classmethod
    def half(cls) -> Self:
        """mean 0.5, std 0.5: to values from -1 to 1, any number of channels."""
        return cls(0.5, 0.5)


class Layout(Step, step="layout"):
    """How a batch lies in memory; without it, "nchw".

    Args:
        layout: "nchw", planes of channels, or "nhwc", pixels
    """

    layout: Word


class Dtype(Step, step="dtype"):
    """What a batch's numbers are; without it, float32 after `Normalize`, else uint8.

    Args:
        dtype: "uint8", "float32", "float16" or "bfloat16", or torch's or NumPy's object of that name. Without
            `Normalize`, floats are from 0 to 1

    As torchvision's `ToDtype(dtype, scale=True)`.
    """

    dtype: AnyDtype


class MixUp(Step, step="mixup"):
    """The mean of two samples of a batch, with random weights; `Batch.soft_labels` has what becomes of the labels.

    Args:
        alpha: of the weights' distribution, Beta(alpha, alpha)
        p: the chance that a batch is mixed; torchvision's is always 1

    Equals torchvision's `MixUp`, but for which samples are mixed (doc/steps.md).
    """

    alpha: Number = 1.0
    p: Chance = 1.0


class CutMix(Step, step="cutmix"):
    """A rectangle of another sample of the batch; `Batch.soft_labels` has what becomes of the labels.

    Args:
        alpha: of the distribution of the rectangle's area, Beta(alpha, alpha)
        p: the chance that a batch is mixed; torchvision's is always 1

    Equals torchvision's `CutMix`, but for which samples are mixed (doc/steps.md).
    """

    alpha: Number = 1.0
    p: Chance = 1.0


ALL: tuple[type[Step], ...] = tuple(Step.__subclasses__())
