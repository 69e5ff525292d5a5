# SPDX-License-Identifier: Apache-2.0
"""Steps that change colours, and leave everything where it is. For steps.py."""

from __future__ import annotations

from ._step import Step
from ._step_arguments import Chance, MaybeSpread, Number, Opposite, Qualities, Spread, Whole, Wholes

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
