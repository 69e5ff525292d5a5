# SPDX-License-Identifier: Apache-2.0
"""The options of loaders for type checkers and editors, where they are passed on. A test compares them with those of
`millrace.Loader`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict


class Options(TypedDict, total=False):
    """Those that `mr.torch` passes on as they are."""

    batch_size: int
    shuffle: bool
    seed: int
    drop_last: bool
    order: Literal["shuffled", "sequential", "windowed", "weighted", "repeated"] | None
    block: int | None
    window: int | None
    weights: Any
    draws: int | None
    repeats: int | None
    form: str | None
    slots: int | None
    memory: int | str | None
    reading: Literal["auto", "threads", "direct", "ahead"]
    read_depth: int | None
    check_all: bool
    pin_threads: bool
    numa_node: int | None
    bad: Literal["fail", "skip", "replace"]
    bad_max: int | None
    quarantine: str | os.PathLike[str] | None
    timeout: float | None
    device_memory: int | str | None
    policy: Literal["auto", "interbatch", "intrabatch", "naive-device", "fusion"] | None
    beside: Literal["auto", "off", "exclusive", "duty", "overlapped"] | None
    share: str | None
    trace: int | None
    targets: Sequence[str] | str
    mask_member: str | None
    limits: Mapping[str, int] | None
    copy: bool
    pad: bool


class LoaderOptions(Options, total=False):
    """And those that a BatchDataset has for itself."""

    rank: int | None
    world: int | None
    threads: int | None
    epoch: int
    to: Literal["auto", "torch"]


class BatchOptions(Options, total=False):
    """Those of a BatchDataset, with what `mr.torch.Loader` adds."""

    tv_tensors: bool | str
    num_classes: int | None
