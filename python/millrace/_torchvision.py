# SPDX-License-Identifier: Apache-2.0
"""torchvision's transforms as steps.

They are known by their class's name and module, so that torchvision is never imported here; `v2` and the older
`torchvision.transforms` are both read. The reference is what torchvision does to PIL images: a transform is taken where
Millrace gives the same pixels (doc/steps.md says how exactly), and else refused. All that are refused are in one error,
each with its place, why, and what to do instead.

What an image is at a transform decides what the transform means, so it is followed along:

    PIL --ToImage, PILToTensor--> BYTES --ToDtype(float32, scale=True)--> FLOATS --Normalize--> NORMALIZED
    PIL --ToTensor--> FLOATS

On BYTES some transforms of torchvision give other pixels than on PIL images (by more than a grey level): they have to
stand before ToImage. On FLOATS nothing is rounded to grey levels: only what moves pixels is taken there, and comes
before the change of type in the recipe, which gives the same numbers.

Three things are not torchvision's to the last bit, and taken all the same: ToDtype multiplies by 1/255, where Millrace
divides, as ToTensor does (the last bit of a float); AugMix does its operations as on PIL images, where torchvision
makes tensors of those first; masks are always filled with 0.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from . import _core, steps
from .steps import Step


class At(enum.IntEnum):
    """What an image is at some place of a Compose."""

    PIL = 0
    BYTES = 1
    FLOATS = 2
    NORMALIZED = 3


class Refusal(Exception):
    """Why a transform cannot be taken, and what to do instead."""

    def __init__(self, why: str, instead: str) -> None:
        super().__init__(why)
        self.instead = instead


def is_transform(item: Any) -> bool:
    """Whether it is one of torchvision's, or a list of torch's modules."""
    module = type(item).__module__
    return module.startswith("torchvision.transforms.") or module == "torch.nn.modules.container"


def is_old(transform: Any) -> bool:
    """Of `torchvision.transforms`, not of v2."""
    return not type(transform).__module__.startswith("torchvision.transforms.v2")


class Reader:
    """Takes items one after the other, and has the texts of the steps that they are."""

    def __init__(self) -> None:
        self.at = At.PIL
        self.dtype = "uint8"
        self._pixels: list[str] = []  # what stands before Normalize
        self._end: list[str] = []  # from Normalize on
        self._refused: list[str] = []

    def add(self, transform: Any, place: str = "") -> None:
        """One transform, or a Compose of them. What cannot be taken is noted, for the error of `texts`."""
        if _is_compose(transform):
            for number, inner in enumerate(getattr(transform, "transforms", transform)):
                self.add(inner, f"{place}.transforms[{number}]".removeprefix("."))
            return
        try:
            for step in self.take(transform):
                self._add(step.text, self._is_end(step.text))
        except (Refusal, ValueError, TypeError) as refusal:
            self._refused.append(f"  {place or 'the transform'}, {_name(transform)}: {_said(refusal)}")

    def add_text(self, text: str) -> None:
        """One step of the caller's, where it stands."""
        self._add(text, bool(self._end) or self._is_end(text))

    def _add(self, text: str, at_end: bool) -> None:
        (self._end if at_end else self._pixels).append(text)
        if _word_of(text) == "normalize":
            self.at, self.dtype = At.NORMALIZED, "float32"

    def _is_end(self, text: str) -> bool:
        """What moves pixels is done before Normalize wherever it stood; what erases, where it stood."""
        word = _word_of(text)
        return word in ("normalize", "layout", "dtype", "mixup", "cutmix") or (word == "erase" and bool(self._end))

    def texts(self) -> list[str]:
        """All of them. An ArgumentError lists what could not be taken."""
        if self._refused:
            head = "a recipe cannot have all of this (help(mr.steps) has what there is):"
            raise _core.ArgumentError("\n".join([head, *self._refused]))
        words = {_word_of(text) for text in self._end}
        said = "dtype" in words or self.dtype == "uint8" or (self.dtype == "float32" and "normalize" in words)
        return self._pixels + self._end + ([] if said else [steps.Dtype(self.dtype).text])

    def take(self, item: Any) -> list[Step]:
        """The steps that a transform is. A Refusal, or a ValueError of one of the steps."""
        name = type(item).__name__
        if not is_transform(item):
            raise Refusal(
                "it is no step, text or transform of torchvision, and recipes are done by C threads, without Python",
                "do it to the batches that the loader gives, or with the steps that there are",
            )
        if name not in _TAKEN:
            raise Refusal(*_REFUSED.get(name, ("there is no step that does this", _BATCHES)))
        return list(_TAKEN[name](self, item))

    def has(self, *words: str) -> bool:
        """Whether one of these steps is there."""
        return any(_word_of(text) in words for text in self._pixels + self._end)

    def is_first(self) -> bool:
        """Whether nothing has been done to pixels yet."""
        return all(_word_of(text) == "orient" for text in self._pixels)

    def moves(self, fills: bool, color: Any = 0) -> None:
        """Checks that pixels may be moved here, and with `fills`, that the color of what the image does not have is
        what it would be before the type changed."""
        if self.at < At.FLOATS:
            return
        if any(_word_of(text) in ("erase", "cutout") for text in self._end):
            raise Refusal("it stands behind a step that erases normalized numbers", "put it before Normalize")
        if fills and (self.at == At.NORMALIZED or any(_as_list(color))):
            before = "Normalize" if self.at == At.NORMALIZED else "ToDtype or ToTensor"
            raise Refusal(f"it fills, and behind {before} its fill is no grey level", f"put it before {before}")

    def changes(self, same_on_tensors: bool = True) -> None:
        """Checks that values may be changed here."""
        if self.at >= At.FLOATS:
            raise Refusal("on floats torchvision does not round to grey levels", "put it before ToDtype or ToTensor")
        if self.at == At.BYTES and not same_on_tensors:
            raise Refusal(
                "on tensors torchvision gives other pixels than on PIL images, and Millrace gives those of PIL images",
                "put ToImage or PILToTensor behind it",
            )

    def resizes(self, transform: Any) -> None:
        """Checks that sizes may be changed here, with this filter."""
        antialias = getattr(transform, "antialias", True)
        if antialias is False or (self.at != At.PIL and antialias is not True):
            raise Refusal(
                f"antialias is {antialias}, and Millrace always antialiases, as torchvision does for PIL images",
                "leave it out: antialias=True",
            )
        name = getattr(transform.interpolation, "value", transform.interpolation)
        self.changes(same_on_tensors=name in ("bilinear", 2))


def _is_compose(item: Any) -> bool:
    return is_transform(item) and type(item).__name__ in ("Compose", "Sequential", "ModuleList")


def _word_of(text: str) -> str:
    """The name of a step."""
    return text.partition("(")[0]


def _said(refusal: Exception) -> str:
    if isinstance(refusal, Refusal):
        return f"{refusal}\n      instead: {refusal.instead}"
    return str(refusal).partition("): ")[2] or str(refusal)  # without the step, which says the same as the transform


def _name(item: Any) -> str:
    """A transform in one short line."""
    text = " ".join(repr(item).split())
    return text if len(text) <= 100 else f"{text[:97]}..."


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [] if value is None else [value]


def _fill_of(transform: Any) -> Any:
    """The grey levels of a fill: of dicts, those of images."""
    fill = transform.fill
    if not isinstance(fill, Mapping):
        return fill
    found = [(key if isinstance(key, str) else key.__name__, _as_list(value)) for key, value in fill.items()]
    images = [value for name, value in found if name in ("Image", "Tensor")]  # PIL's, tv_tensors', torch's
    images = images or [value for name, value in found if name == "others"]
    if any(value != images[0] for value in images):
        raise Refusal("its fill has different values for different kinds of images", "give one for all images")
    if any(any(value) for name, value in found if name == "Mask"):
        raise Refusal("its fill has a value for masks, and Millrace fills masks with 0", "give masks the fill 0")
    return images[0] or None if images else None


Taker = Callable[[Reader, Any], Iterable[Step]]


def _moving(step: type[Step], *names: str, fills: bool = False) -> Taker:
    """One that moves pixels and changes none: taken anywhere."""

    def take(reader: Reader, t: Any) -> Iterator[Step]:
        arguments = _arguments(t, names)
        reader.moves(fills, arguments.get("fill", 0))
        yield step(**arguments)

    return take


def _changing(step: type[Step], *names: str, same_on_tensors: bool = True) -> Taker:
    """One that changes values: not on floats; where tensors are done otherwise, not on those."""

    def take(reader: Reader, t: Any) -> Iterator[Step]:
        reader.changes(same_on_tensors)
        yield step(**_arguments(t, names))

    return take


def _resizing(step: type[Step], *names: str) -> Taker:
    def take(reader: Reader, t: Any) -> Iterator[Step]:
        reader.resizes(t)
        yield step(**_arguments(t, (*names, "interpolation")))

    return take


def _arguments(t: Any, names: Iterable[str]) -> dict[str, Any]:
    return {name: _fill_of(t) if name == "fill" else getattr(t, name) for name in names}


def _nothing(reader: Reader, t: Any) -> Iterator[Step]:
    yield from ()


# Cutting and resizing.


def _resize(reader: Reader, t: Any) -> Iterator[Step]:
    reader.resizes(t)
    if t.max_size is not None or t.size is None:
        raise Refusal(
            f"max_size is {t.max_size}, and there is no step with the same rounding",
            "RandomShortestSize([size], max_size), which may be a pixel smaller",
        )
    yield steps.Resize(t.size, t.interpolation)


def _center_crop(reader: Reader, t: Any) -> Iterator[Step]:
    if reader.at == At.NORMALIZED:
        raise Refusal("behind Normalize it fills images that are too small with the mean", "put it before Normalize")
    reader.moves(fills=True)
    yield steps.CenterCrop(t.size)


def _random_crop(reader: Reader, t: Any) -> Iterator[Step]:
    if t.pad_if_needed:
        raise Refusal("pad_if_needed: images that are too small are refused", "put Resize(size) before it")
    padding = t.padding
    if padding is not None and not is_old(t):  # as v2 keeps it: left, right, top, bottom
        padding = [padding[0], padding[2], padding[1], padding[3]]
    fill = _fill_of(t)
    reader.moves(any(_as_list(padding)) and t.padding_mode == "constant", fill)
    yield steps.RandomCrop(t.size, padding, fill=fill, padding_mode=t.padding_mode)


def _pad(reader: Reader, t: Any) -> Iterator[Step]:
    fill = _fill_of(t)
    reader.moves(t.padding_mode == "constant", fill)
    yield steps.Pad(t.padding, fill, t.padding_mode)


def _iou_crop(reader: Reader, t: Any) -> Iterator[Step]:
    reader.moves(fills=False)
    yield steps.RandomIoUCrop(t.min_scale, t.max_scale, t.min_aspect_ratio, t.max_aspect_ratio, t.options, t.trials)


def _sanitize(reader: Reader, t: Any) -> Iterator[Step]:
    if t.labels_getter not in ("default", None):
        raise Refusal("labels_getter is a function", "leave it out: categories go with their boxes")
    yield steps.SanitizeBoundingBoxes(t.min_size, t.min_area)


def _clamp_boxes(reader: Reader, t: Any) -> Iterator[Step]:
    if t.clamping_mode not in ("auto", "soft"):
        raise Refusal(f"clamping_mode is {t.clamping_mode!r}, and boxes are always cut softly", 'clamping_mode="soft"')
    if not reader.has("rrc", "crop", "center", "pad"):
        raise Refusal(
            "boxes are cut to the image by crops, and by nothing else", "put it behind a crop, or leave it out"
        )
    yield from ()


def _box_format(reader: Reader, t: Any) -> Iterator[Step]:
    name = str(getattr(t.format, "value", t.format)).upper()
    if name != "XYXY":
        raise Refusal(f"boxes are always XYXY, not {name}", "torchvision's box_convert, on the targets of a batch")
    yield from ()


# Colours.


def _grayscale(reader: Reader, t: Any) -> Iterator[Step]:
    reader.changes()
    if t.num_output_channels == 3:
        yield steps.RandomGrayscale(1)
    elif reader.is_first():
        yield steps.Convert("gray")
    else:
        raise Refusal(
            "images become gray when they are decoded, before all other steps",
            "put it first, or take num_output_channels=3",
        )


def _rgb(reader: Reader, t: Any) -> Iterator[Step]:
    if reader.has("convert"):
        raise Refusal("it stands behind Grayscale(1)", "Grayscale(3) in place of both")
    yield from ()  # RGB is what images are decoded to


def _color_jitter(reader: Reader, t: Any) -> Iterator[Step]:
    far = any(factors is not None and factors[1] > 2 for factors in (t.contrast, t.saturation))
    reader.changes(same_on_tensors=t.hue is None and not far)
    ranges = (t.brightness, t.contrast, t.saturation, t.hue)
    if any(ranges):
        yield steps.ColorJitter(*ranges)


def _solarize(reader: Reader, t: Any) -> Iterator[Step]:
    reader.changes()
    yield steps.RandomSolarize(max(0, min(256, math.ceil(t.threshold))), t.p)  # values are whole


def _noise(reader: Reader, t: Any) -> Iterator[Step]:
    reader.changes()
    if reader.at == At.PIL:
        raise Refusal("torchvision has none for PIL images", "put ToImage() before it")
    yield steps.GaussianNoise(t.mean, t.sigma, t.clip)


# Policies.


def _policy(step: type[Step], *names: str) -> Taker:
    """The old ones invert one grey value more at thresholds that are whole."""

    def take(reader: Reader, t: Any) -> Iterator[Step]:
        reader.changes(same_on_tensors=False)
        if is_old(t) and (step is not steps.RandAugment or _is_whole_threshold(t.magnitude, t.num_magnitude_bins)):
            raise Refusal(
                "the old one inverts another grey value than v2's at some thresholds of Solarize",
                f"torchvision.transforms.v2.{type(t).__name__}",
            )
        if getattr(t, "num_ops", 1) != 0:
            yield step(**_arguments(t, (*names, "interpolation", "fill")))

    return take


def _is_whole_threshold(magnitude: int, bins: int) -> bool:
    return 0 < magnitude < bins - 1 and 255 * magnitude % (bins - 1) == 0


def _erasing(reader: Reader, t: Any) -> Iterator[Step]:
    value: Any = "random" if t.value is None or t.value == "random" else _as_list(t.value)
    if reader.at == At.NORMALIZED:
        yield steps.RandomErasing(t.p, t.scale, t.ratio, value)
    elif value == "random":
        raise Refusal("its noise is made for normalized numbers", "put it behind Normalize")
    elif reader.at == At.FLOATS:
        if any(value):
            raise Refusal("before Normalize, values are grey levels", "put it behind Normalize, or take the value 0")
        yield steps.RandomErasing(t.p, t.scale, t.ratio, 0)
    elif any(not float(v).is_integer() or not 0 <= v <= 255 for v in value):
        raise Refusal(
            f"its value {t.value} is no grey level from 0 to 255", "put it behind Normalize, or take 0 to 255"
        )
    else:
        yield steps.RandomErasing(t.p, t.scale, t.ratio, value)


def _mix(step: type[Step]) -> Taker:
    def take(reader: Reader, t: Any) -> Iterator[Step]:
        if getattr(t._labels_getter, "__name__", "") != "_find_labels_default_heuristic":
            raise Refusal("labels_getter is a function", "leave it out: Batch.soft_labels(classes) has the labels")
        yield step(t.alpha)

    return take


# Types.


def _to_image(reader: Reader, t: Any) -> Iterator[Step]:
    reader.at = max(reader.at, At.BYTES)
    yield from ()


def _to_pil(reader: Reader, t: Any) -> Iterator[Step]:
    if reader.at >= At.FLOATS or t.mode is not None:
        raise Refusal("it makes other grey levels of floats, or of another mode", "leave it out")
    reader.at = At.PIL
    yield from ()


def _to_tensor(reader: Reader, t: Any) -> Iterator[Step]:
    if reader.at == At.BYTES:
        raise Refusal("it does nothing to a tensor", "ToDtype(torch.float32, scale=True)")
    if reader.at == At.PIL:
        reader.at, reader.dtype = At.FLOATS, "float32"
    yield from ()


def _to_dtype(reader: Reader, t: Any) -> Iterator[Step]:
    dtype = _dtype_of(t.dtype)
    scales = getattr(t, "scale", True)
    if dtype is None or dtype == reader.dtype:
        return
    if dtype not in ("float32", "float16", "bfloat16"):
        raise Refusal(f"batches are not of {dtype}", "torch.float32, torch.float16, torch.bfloat16; none for bytes")
    if reader.at == At.PIL:
        raise Refusal("it does nothing to a PIL image", "put ToImage() before it")
    if reader.at == At.BYTES and not scales:
        raise Refusal(
            "without scale=True it gives floats from 0 to 255, and Millrace's are from 0 to 1",
            "scale=True, and mean and std of Normalize divided by 255",
        )
    if reader.dtype in ("float16", "bfloat16"):
        raise Refusal(f"what was {reader.dtype} has lost what {dtype} could hold", "leave out the first of the two")
    reader.at, reader.dtype = max(reader.at, At.FLOATS), dtype
    yield from ()


def _detection(reader: Reader, t: Any) -> Iterator[Step]:
    """What `weights.transforms()` of detection models gives: a tensor of floats; the models resize and normalize."""
    if reader.at == At.NORMALIZED:
        raise Refusal("it stands behind Normalize, and these models normalize by themselves", "leave Normalize out")
    if reader.dtype not in ("uint8", "float32"):
        raise Refusal(f"what was {reader.dtype} has lost what float32 could hold", "leave out what stands before it")
    reader.at, reader.dtype = At.FLOATS, "float32"
    yield from ()


def _dtype_of(dtype: Any) -> str | None:
    """The name of the type for images; None: they stay what they are."""
    if isinstance(dtype, Mapping):
        found = {key if isinstance(key, str) else key.__name__: value for key, value in dtype.items()}
        dtype = found.get("Image", found.get("Tensor", found.get("others")))
    return None if dtype is None else str(dtype).removeprefix("torch.")


def _normalize(reader: Reader, t: Any) -> Iterator[Step]:
    if reader.at < At.FLOATS:
        raise Refusal("it is for floats", "put ToImage(), ToDtype(torch.float32, scale=True) before it")
    if reader.at == At.NORMALIZED:
        raise Refusal("there is a Normalize before it", "one with the mean and std of both")
    if reader.dtype != "float32":
        raise Refusal(
            f"it is computed in {reader.dtype}, and Millrace computes in float32",
            f"ToDtype(torch.float32, scale=True) before it, and ToDtype(torch.{reader.dtype}) behind it",
        )
    yield steps.Normalize(t.mean, t.std)


# Those that contain others.


def _random_apply(reader: Reader, t: Any) -> Iterator[Step]:
    """Of one transform: its own chance times this one."""
    before = reader.at, reader.dtype
    made = []
    for transform in t.transforms:
        try:
            made += reader.take(transform)
        except Refusal as refusal:
            raise Refusal(f"{type(transform).__name__} in it: {refusal}", refusal.instead) from None
    if (reader.at, reader.dtype) != before or len(made) != 1 or not hasattr(made[0], "p"):
        reader.at, reader.dtype = before
        raise Refusal(
            "one step has a chance, and not several together, or one that is always done",
            "RandomApply of each transform by itself, or steps with p=",
        )
    yield made[0]._but(p=made[0].p * t.p)


def _classification(reader: Reader, t: Any) -> Iterator[Step]:
    """What `weights.transforms()` gives."""
    reader.resizes(t)
    yield steps.Resize(t.resize_size, t.interpolation)
    yield steps.CenterCrop(t.crop_size)
    yield steps.Normalize(t.mean, t.std)


_TAKEN: dict[str, Taker] = {
    "AugMix": _changing(
        steps.AugMix, "severity", "mixture_width", "chain_depth", "alpha", "all_ops", "interpolation", "fill"
    ),
    "AutoAugment": _policy(steps.AutoAugment, "policy"),
    "CenterCrop": _center_crop,
    "ClampBoundingBoxes": _clamp_boxes,
    "ColorJitter": _color_jitter,
    "ConvertBoundingBoxFormat": _box_format,
    "ConvertImageDtype": _to_dtype,
    "CutMix": _mix(steps.CutMix),
    "ElasticTransform": _changing(steps.ElasticTransform, "alpha", "sigma", "interpolation", "fill"),
    "GaussianBlur": _changing(steps.GaussianBlur, "kernel_size", "sigma"),
    "GaussianNoise": _noise,
    "Grayscale": _grayscale,
    "Identity": _nothing,
    "ImageClassification": _classification,
    "JPEG": _changing(steps.JPEG, "quality"),
    "MixUp": _mix(steps.MixUp),
    "Normalize": _normalize,
    "ObjectDetection": _detection,
    "PILToTensor": _to_image,
    "Pad": _pad,
    "RGB": _rgb,
    "RandAugment": _policy(steps.RandAugment, "num_ops", "magnitude", "num_magnitude_bins"),
    "RandomAdjustSharpness": _changing(steps.RandomAdjustSharpness, "sharpness_factor", "p"),
    "RandomAffine": _changing(
        steps.RandomAffine,
        "degrees",
        "translate",
        "scale",
        "shear",
        "interpolation",
        "fill",
        "center",
        same_on_tensors=False,
    ),
    "RandomApply": _random_apply,
    "RandomAutocontrast": _changing(steps.RandomAutocontrast, "p"),
    "RandomChannelPermutation": _changing(steps.RandomChannelPermutation),
    "RandomCrop": _random_crop,
    "RandomEqualize": _changing(steps.RandomEqualize, "p"),
    "RandomErasing": _erasing,
    "RandomGrayscale": _changing(steps.RandomGrayscale, "p"),
    "RandomHorizontalFlip": _moving(steps.HorizontalFlip, "p"),
    "RandomInvert": _changing(steps.RandomInvert, "p"),
    "RandomIoUCrop": _iou_crop,
    "RandomPerspective": _changing(
        steps.RandomPerspective, "distortion_scale", "p", "interpolation", "fill", same_on_tensors=False
    ),
    "RandomPosterize": _changing(steps.RandomPosterize, "bits", "p"),
    "RandomResizedCrop": _resizing(steps.RandomResizedCrop, "size", "scale", "ratio"),
    "RandomRotation": _changing(
        steps.RandomRotation, "degrees", "interpolation", "expand", "center", "fill", same_on_tensors=False
    ),
    "RandomShortestSize": _resizing(steps.RandomShortestSize, "min_size", "max_size"),
    "RandomSolarize": _solarize,
    "RandomVerticalFlip": _moving(steps.VerticalFlip, "p"),
    "RandomZoomOut": _moving(steps.RandomZoomOut, "fill", "side_range", "p", fills=True),
    "Resize": _resize,
    "SanitizeBoundingBoxes": _sanitize,
    "ScaleJitter": _resizing(steps.ScaleJitter, "target_size", "scale_range"),
    "ToDtype": _to_dtype,
    "ToImage": _to_image,
    "ToPILImage": _to_pil,
    "ToPureTensor": _nothing,
    "ToTensor": _to_tensor,
    "TrivialAugmentWide": _policy(steps.TrivialAugmentWide, "num_magnitude_bins"),
}

_BATCHES = "do it to the batches that the loader gives"
_REFUSED: dict[str, tuple[str, str]] = {
    "Lambda": ("it is a function, and recipes are done by C threads, without Python", _BATCHES),
    "RandomChoice": ("a recipe does all of its steps", "one loader for each, or steps with p="),
    "RandomOrder": ("a recipe does its steps in their order", "a fixed order; ColorJitter has a random one"),
    "RandomPhotometricDistort": (
        "its contrast stands now before and now behind the others",
        "Brightness, Contrast, Saturation, Hue and RandomChannelPermutation with p=",
    ),
    "RandomResize": ("there is no step with the same rounding", "RandomShortestSize of at most 16 lengths"),
    "FiveCrop": ("it makes several images of one", "one loader for each crop"),
    "TenCrop": ("it makes several images of one", "one loader for each crop"),
    "LinearTransformation": ("there is no step that mixes all pixels", _BATCHES),
    "SanitizeKeyPoints": ("keypoints are never left out", "do it to the targets of a batch"),
    "ClampKeyPoints": ("keypoints are not cut to the image", "do it to the targets of a batch"),
    "SetClampingMode": ("boxes are always cut softly", "leave it out"),
    "UniformTemporalSubsample": ("there are no videos", "load single frames"),
}
