# SPDX-License-Identifier: Apache-2.0
"""Single images: decode, encode, info, recode. The same code that feeds loaders, and the same pixels."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from . import _core
from ._arguments import flag, read_limits, read_region, whole, whole_or_none
from ._core import ArgumentError, Array, Error

__all__ = ["Recoded", "decode", "encode", "info", "recode"]

_MODES = {"L": (1, 8), "LA": (2, 8), "RGB": (3, 8), "RGBA": (4, 8), "I;16": (1, 16)}


def _named(error: Error, name: str) -> Error:
    """The same error with the name of what it is of in front."""
    new = type(error)(f"{name}: {error}")
    new.code = error.code
    return new


def _bytes_of(data: Any) -> tuple[Any, str | None]:
    """Bytes, and the name of the file that they are of. What cannot be opened is Python's OSError, as it comes."""
    if isinstance(data, (str, os.PathLike)):
        with open(data, "rb") as file:
            return file.read(), os.fspath(data)
    if callable(getattr(data, "read", None)) and not _has_buffer(data):  # mmaps have both
        return data.read(), getattr(data, "name", None)
    return data, None


def _has_buffer(data: Any) -> bool:
    try:
        memoryview(data).release()
    except TypeError:
        return False
    return True


def info(data: Any) -> dict[str, Any]:
    """What the header of a stored image says, without decoding it.

    data: a path, bytes or any other buffer, or an open file.

    Returns a dict: form ("jpeg", "png", "webp", "pnm", "raw", "l3"), width and height as stored, channels, depth,
    color, subsampling, orientation (EXIF, 1 to 8), progressive, lossless, has_icc, frames, tiles, ...

    >>> mr.info("cat.jpg")["width"]
    640
    """
    stored, name = _bytes_of(data)
    try:
        return _core.info(stored)
    except Error as error:
        if name is None:
            raise
        raise _named(error, name) from None


def _shape_of(mode: str | None, channels: int | None, depth: int | None) -> tuple[int, int]:
    if mode is None:
        return whole_or_none("channels", channels) or 0, whole_or_none("depth", depth) or 0
    if channels is not None or depth is not None:
        raise ArgumentError("mode says channels and depth: give the one or the others")
    if mode not in _MODES:
        raise ArgumentError(f"mode cannot be {mode!r} (one of: {', '.join(_MODES)})")
    return _MODES[mode]


def decode(
    data: Any,
    *,
    region: Sequence[int] | None = None,
    reduce: int = 1,
    channels: int | None = None,
    depth: int | None = None,
    mode: str | None = None,
    orient: bool = True,
    accept_damaged: bool = False,
    values: bool = False,
    index: bytes | None = None,
    limits: Mapping[str, int] | None = None,
) -> Array:
    """The pixels of a stored image: height x width x channels, or height x width for one channel.

    data: a path, bytes or any other buffer (memoryview, mmap, NumPy), or an open file.
    region: (x, y, width, height): only this part, equal to that part of the whole. What is outside is not decoded
        where the form allows it.
    reduce: 2, 4 or 8: the size divided by it.
    channels, depth: 1 to 4, and 8 or 16; as stored where they are not given. mode says both by Pillow's names:
        "L", "LA", "RGB", "RGBA", "I;16".
    orient: turn it as its EXIF orientation says.
    accept_damaged: give what can be decoded of a damaged image, where DataError is raised otherwise.
    values: the numbers of a palette or of few bits as stored, for masks of classes.
    index: what _core.row_index gave for this JPEG, which makes small regions faster.
    limits: {"pixels": ..., "nbytes": ..., "scans": ..., "memory_nbytes": ...}, else the library's defaults.

    The result goes into NumPy, torch and JAX without a copy: decode(path).numpy(), .torch(), .jax().

    >>> image = mr.decode("cat.jpg", mode="RGB")
    >>> image.shape
    (480, 640, 3)
    """
    stored, name = _bytes_of(data)
    wanted_channels, wanted_depth = _shape_of(mode, channels, depth)
    try:
        return _core.decode(
            stored,
            region=read_region(region),
            reduce=whole("reduce", reduce, 0, 2**32 - 1),
            channels=wanted_channels,
            depth=wanted_depth,
            orient=flag("orient", orient),
            accept_damaged=flag("accept_damaged", accept_damaged),
            values=flag("values", values),
            index=index,
            limits=read_limits(limits),
        )
    except Error as error:
        if name is None:
            raise
        raise _named(error, name) from None


def _from_pillow(image: Any) -> memoryview:
    """A Pillow image's pixels; modes that have no place here become RGB or RGBA first."""
    if image.mode.startswith("I;16"):
        if image.mode == "I;16B":
            image = image.convert("I;16")
        return memoryview(image.tobytes()).cast("H", (image.height, image.width))
    if image.mode in ("1", "I", "F"):
        image = image.convert("L")
    elif image.mode not in _MODES:
        image = image.convert("RGBA" if "transparency" in image.info or image.mode in ("PA", "RGBa", "La") else "RGB")
    shape = (image.height, image.width) + ((len(image.mode),) if len(image.mode) > 1 else ())
    return memoryview(image.tobytes()).cast("B", shape)


def _pixels_of(image: Any) -> Any:
    """Something with the buffer protocol, of whatever has pixels."""
    kind = type(image).__module__
    if kind.startswith("PIL."):
        return _from_pillow(image)
    if callable(getattr(image, "detach", None)) and hasattr(image, "data_ptr"):  # torch, without importing it
        return image.detach().cpu().contiguous().numpy()
    strides = getattr(image, "strides", None)
    if kind.startswith("numpy") and strides is not None and image.ndim in (2, 3):
        pixel = image.shape[-1] * image.itemsize if image.ndim == 3 else image.itemsize
        if strides[-1] != image.itemsize or strides[1] != pixel or abs(strides[0]) < pixel * image.shape[1]:
            return image.copy(
                "C"
            )  # pixels apart from each other, as in planes seen from the side; rows over each other
    if not _has_buffer(image) and hasattr(image, "__array__"):
        return image.__array__()
    return image


def encode(
    image: Any,
    form: str | None = None,
    path: str | os.PathLike[str] | None = None,
    *,
    quality: int | None = None,
    subsampling: str | None = None,
    progressive: bool = False,
    lossless: bool = False,
    effort: int | None = None,
    orientation: int = 1,
    icc: bytes | None = None,
    preset: str = "default",
    threads: int | None = None,
) -> bytes:
    """Pixels as a stored image; its bytes, which are also written to a file where a path is given.

    image: height x width, or height x width x 1 to 4 channels, of 8 or 16 bits: an Array, a NumPy array, a torch
        tensor, a JAX array, a Pillow image, any buffer.
    form: "jpeg", "png", "webp", "pnm", "raw", "l3"; else what the path ends in, else "png".
    quality: 1 to 100 for JPEG and lossy WebP; 90 otherwise. subsampling: "4:2:0", "4:4:4", ... of JPEG.
    progressive: JPEG. lossless: WebP. effort: 1 (fast) to 9 (small) for PNG and WebP. preset: "default", "fast",
        "small" of L3. threads: that L3 may use.
    orientation, icc: stored with the image where the form has a place for them.

    >>> mr.encode(image, "jpeg", quality=95)
    >>> mr.encode(image, path="small.png")
    """
    if form is None:
        ending = os.path.splitext(os.fspath(path))[1][1:] if path is not None else ""
        form = ending or "png"
    stored = _core.encode(
        _pixels_of(image),
        form,
        quality=whole_or_none("quality", quality) or 0,
        subsampling=subsampling,
        progressive=flag("progressive", progressive),
        lossless=flag("lossless", lossless),
        effort=whole_or_none("effort", effort) or 0,
        orientation=whole("orientation", orientation, 0, 2**32 - 1),
        icc=icc,
        preset=preset,  # type: ignore[arg-type]
        threads=whole_or_none("threads", threads) or 0,
    )
    if path is not None:
        with open(path, "wb") as file:
            file.write(stored)
    return stored


class Recoded(bytes):
    """A stored image as mr.recode made it: bytes, and how they came about."""

    exact: bool  #: the same coefficients: not through pixels
    has_origin: bool  #: the very file that it was made of can be written again
    origin_nbytes: int  #: what that takes, of the whole
    why: str  #: why it is not exact, or has no origin; "" otherwise


def recode(
    data: Any, form: str, *, quality: int | None = None, without_origin: bool = False, threads: int | None = None
) -> Recoded:
    """From one stored form to another, without going through pixels where the two allow it.

    A JPEG becomes L3 with the same coefficients, and that L3 the very same JPEG, byte for byte.

    data: a path, bytes or any other buffer, or an open file. quality: of JPEG and WebP that have to be made anew.
    without_origin: leave out what it takes to write the JPEG again (smaller). threads: that L3 may use.

    >>> l3 = mr.recode("cat.jpg", "l3")
    >>> mr.recode(l3, "jpeg") == open("cat.jpg", "rb").read()
    True
    """
    stored, name = _bytes_of(data)
    try:
        made, report = _core.recode(
            stored,
            form,
            quality=whole_or_none("quality", quality) or 0,
            without_origin=flag("without_origin", without_origin),
            threads=whole_or_none("threads", threads) or 0,
        )
    except Error as error:
        if name is None:
            raise
        raise _named(error, name) from None
    recoded = Recoded(made)
    recoded.__dict__.update(report)
    return recoded
