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
from typing import Self

from . import _core
from ._step import Step
from ._step_arguments import (
    AnyDtype,
    ChainDepth,
    Chance,
    Fill,
    Levels,
    Number,
    Opposite,
    Part,
    Path,
    Policy,
    Range,
    Sampling,
    Side,
    Value,
    Whole,
    Word,
    _is_list,
)
from ._step_colours import (
    Brightness,
    ColorJitter,
    Contrast,
    Gamma,
    GaussianBlur,
    GaussianNoise,
    Hue,
    JPEG,
    RandomAdjustSharpness,
    RandomAutocontrast,
    RandomChannelPermutation,
    RandomEqualize,
    RandomGrayscale,
    RandomInvert,
    RandomPosterize,
    RandomSolarize,
    Saturation,
)
from ._step_places import (
    CenterCrop,
    Convert,
    ElasticTransform,
    HorizontalFlip,
    Orient,
    Pad,
    RandomAffine,
    RandomCrop,
    RandomHorizontalFlip,
    RandomIoUCrop,
    RandomPerspective,
    RandomResizedCrop,
    RandomRotation,
    RandomShortestSize,
    RandomVerticalFlip,
    RandomZoomOut,
    Resize,
    SanitizeBoundingBoxes,
    ScaleJitter,
    Shear,
    Short,
    Translate,
    VerticalFlip,
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
