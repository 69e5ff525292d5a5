# SPDX-License-Identifier: Apache-2.0
"""What belongs to a sample, as torchvision's models and transforms take it."""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable
from typing import Any

import torch

from . import _core

HAS_AREA, IS_CROWD, IS_ROTATED = 2, 4, 8  # MR_OBJECT_...
Show = Callable[[_core.Array], torch.Tensor]


def check_tv_tensors(asked: bool | str) -> bool | str:
    """What the argument may be."""
    if asked is not True and asked is not False and asked != "auto":
        raise _core.ArgumentError(f'tv_tensors={asked!r} is none of True, False, "auto"')
    return asked


def tv_tensors_module(asked: bool | str) -> Any:
    """torchvision.tv_tensors; None where tensors are to be plain, or torchvision cannot be imported and need not be."""
    if check_tv_tensors(asked) is False:
        return None
    try:
        return importlib.import_module("torchvision.tv_tensors")
    except (ImportError, RuntimeError, OSError) as error:  # one that is made for another torch fails in many ways
        if asked is True:
            raise ImportError(f"tv_tensors=True needs torchvision, which cannot be imported: {error}") from error
        return None


def target_of(
    found: dict[str, Any], ordinal: int, wanted: tuple[str, ...], size: tuple[int, int], show: Show, tv: Any = None
) -> dict[str, Any]:
    """Of what the extension says of a sample a dict: boxes, labels, masks, keypoints, area, iscrowd, image_id, mask.

    `size` is the height and width of images; pads and black images have no objects, and say none.
    """
    target: dict[str, Any] = {"image_id": ordinal}
    if {"boxes", "keypoints", "masks"}.intersection(wanted):
        flags = _shown(found, "flags", show, (0,), torch.uint8)
        target["labels"] = _shown(found, "categories", show, (0,), torch.int64)
        target["iscrowd"] = ((flags & IS_CROWD) != 0).to(torch.int64)
    if "boxes" in wanted:
        _add_boxes(target, found, flags, show, tv, size)
    if "masks" in wanted:
        masks = _shown(found, "masks", show, (0, *size), torch.uint8)
        target["masks"] = tv.Mask(masks) if tv is not None else masks
    if "keypoints" in wanted:
        _add_keypoints(target, found, show, tv, size)
    if "mask" in wanted:
        mask = show(found["mask"]) if found.get("mask") is not None else torch.zeros(size, dtype=torch.uint8)
        target["mask"] = tv.Mask(mask) if tv is not None else mask
    return target


def _shown(found: dict[str, Any], name: str, show: Show, empty: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """One of the arrays; an empty one where the sample has no objects."""
    array = found.get(name)
    return show(array) if array is not None and array.shape[0] != 0 else torch.zeros(empty, dtype=dtype)


def _add_boxes(
    target: dict[str, Any], found: dict[str, Any], flags: torch.Tensor, show: Show, tv: Any, size: tuple[int, int]
) -> None:
    boxes = _shown(found, "boxes", show, (0, 4), torch.float32)
    target["boxes"] = tv.BoundingBoxes(boxes, format="XYXY", canvas_size=size) if tv is not None else boxes
    areas = _shown(found, "areas", show, (0,), torch.float32)
    of_boxes = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    if bool((flags & IS_ROTATED).any()):
        rotated = target["rotated"] = show(found["rotated"])
        of_boxes = torch.where((flags & IS_ROTATED) != 0, rotated[:, 2] * rotated[:, 3], of_boxes)
    target["area"] = torch.where((flags & HAS_AREA) != 0, areas, of_boxes)


def _add_keypoints(target: dict[str, Any], found: dict[str, Any], show: Show, tv: Any, size: tuple[int, int]) -> None:
    points = _by_object(found, len(target["labels"]), show)
    if tv is None or not hasattr(tv, "KeyPoints"):
        target["keypoints"] = points
        return
    target["keypoints"] = tv.KeyPoints(points[..., :2], canvas_size=size)
    target["visibility"] = points[..., 2]


def _by_object(found: dict[str, Any], objects: int, show: Show) -> torch.Tensor:
    """Objects x keypoints x 3: a view where all objects have as many, else filled up with those that are not seen."""
    starts = found["keypoint_starts"].tolist() if objects != 0 and found.get("keypoint_starts") is not None else [0]
    counts = [end - start for start, end in zip(starts, starts[1:])]
    most = max(counts, default=0)
    if most == 0:
        return torch.zeros((objects, 0, 3))
    points = show(found["keypoints"])
    if min(counts) == most:
        return points.view(objects, most, 3)
    filled = torch.zeros((objects, most, 3))
    for at, (start, count) in enumerate(zip(starts, counts)):
        filled[at, :count] = points[start : start + count]
    return filled


def batch_of_masks(raw: _core.Batch, places: int, size: tuple[int, int]) -> torch.Tensor:
    """The masks of a batch as one tensor, places x height x width: in memory they stand one behind the other."""
    found = [raw.targets(place).get("mask") for place in range(places)]
    one = size[0] * size[1]
    firsts = {mask.address - place * one for place, mask in enumerate(found) if mask is not None}
    if not firsts:
        return torch.zeros((places, *size), dtype=torch.uint8)
    if len(firsts) != 1:
        raise _core.InternalError("the masks of a batch do not stand one behind the other")
    masks: Any = type("Masks", (ctypes.c_uint8 * (places * one),), {})  # a class of its own has room for attributes
    memory = masks.from_address(firsts.pop())
    memory.batch = raw  # the tensor keeps the memory, and that the batch
    return torch.frombuffer(memory, dtype=torch.uint8).view(places, *size)
