# SPDX-License-Identifier: Apache-2.0
"""Whether a dataset has what targets are made of: what is not there would come as empty boxes and black masks."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from . import _core

LOOKED_AT = 64  # samples: the first, the last, and others between them
SHOWN = 8  # names of members
OF_OBJECTS = ("boxes", "keypoints", "masks")
WHERE = "doc/python.md, Detection and segmentation, says how they are stored"


def check_targets(dataset: Any, targets: Sequence[str], mask_member: str | None, frame: tuple[str, int]) -> None:
    """Looks at some samples of a `Dataset`. ArgumentError for a mask_member that none of them has; a RuntimeWarning
    where none of them has what other targets are made of, in the file and line of `frame`."""
    objects = [name for name in OF_OBJECTS if name in targets]
    if not objects and "mask" not in targets:
        return
    looked, there = _look(dataset.core)
    if not looked:
        return
    who = f"none of the {looked} samples looked at has a member" if looked > 1 else "the sample looked at has no member"
    rest = f"; members there: {_some(there)}. {_hint(dataset.layout)}"
    if "mask" in targets and mask_member and mask_member not in there:
        raise _core.ArgumentError(f"mask_member: {who} {mask_member!r}{rest}")
    lacks = []
    if objects and "json" not in there:
        lacks.append(f"{who} 'json': {' and '.join(objects)} will be empty")
    if "mask" in targets and not mask_member and not any(map(_is_png, there)):
        lacks.append(f"{who} that is, or ends in, 'png': mask will be 0 everywhere")
    if lacks:
        warnings.warn_explicit("; ".join(lacks) + rest, RuntimeWarning, *frame)


def _look(core: _core.Dataset) -> tuple[int, list[str]]:
    """How many samples were looked at, and the names of the members that they have."""
    count = len(core)
    ordinals = range(count) if count <= LOOKED_AT else [i * (count - 1) // (LOOKED_AT - 1) for i in range(LOOKED_AT)]
    looked, names = 0, dict[str, None]()
    for ordinal in ordinals:
        try:
            members = core.sample(ordinal)["members"]
        except _core.Error:  # of a shard that is broken: that is told when it is read
            continue
        looked += 1
        names.update(dict.fromkeys(members))
    return looked, sorted(names)


def _is_png(name: str) -> bool:
    return name == "png" or name.endswith(".png")


def _some(names: list[str]) -> str:
    more = f", ... ({len(names)})" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more if names else "none"


def _hint(layout: str) -> str:
    return f"Samples of a folder are images alone: make tar shards of it. {WHERE}" if layout == "folder" else WHERE
