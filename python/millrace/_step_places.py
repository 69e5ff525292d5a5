# SPDX-License-Identifier: Apache-2.0
"""Steps that cut, resize, turn and bend: boxes, masks and keypoints follow. For steps.py."""

from __future__ import annotations

from collections.abc import Iterator

from ._step import Step
from ._step_arguments import (
    Antialias,
    Border,
    Center,
    Chance,
    Fill,
    Filter,
    MaybeRange,
    MaybeSide,
    MaybeSize,
    Never,
    Nothing,
    Number,
    Numbers,
    Options,
    Padding,
    Part,
    Range,
    Sampling,
    Shares,
    Shears,
    Side,
    Size,
    Spread,
    Switch,
    TargetSize,
    Whole,
    Wholes,
    Word,
    _is_list,
    _word,
)

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
