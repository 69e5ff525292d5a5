# SPDX-License-Identifier: Apache-2.0
"""Arguments of loaders: what they may be, and what is said of those that are wrong."""

from __future__ import annotations

import difflib
import inspect
import operator
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from ._core import ArgumentError
from ._quantity import read_nbytes

_Function = TypeVar("_Function", bound=Callable[..., Any])

NEVER_NS = 2**62
EPOCH_MAX = 2**32 - 1

# What torch's DataLoader and other loaders have, and what serves here instead.
_ELSEWHERE = {
    "num_workers": "threads= says how many threads work, in this process [as many as it may use]",
    "workers": "threads= says how many threads work, in this process [as many as it may use]",
    "pin_memory": "mr.torch.Loader(..., pin_memory=True) has it",
    "pin_memory_device": 'mr.torch.Loader(..., device="cuda:0") copies batches there',
    "tv_tensors": "mr.torch.Loader has it",
    "num_classes": "mr.torch.Loader has it; here batch.soft_labels(classes) does that",
    "collate_fn": "batches are made in place: mixup and cutmix are steps of the recipe, targets= gives lists of dicts",
    "sampler": "weights= or order= says which samples come when; mr.torch.MapDataset is for samplers of your own",
    "batch_sampler": "weights= or order= says which samples come when; mr.torch.MapDataset is for samplers of your own",
    "transform": "recipe=, the second argument, takes it: text, steps, or a torchvision v2.Compose",
    "transforms": "recipe=, the second argument, takes them: text, steps, or a torchvision v2.Compose",
    "target_transform": "labels are given as stored: change them in the loop",
    "worker_init_fn": "there are no workers to set up: seed= is of every random number",
    "prefetch_factor": "slots= says how many batches are in memory, yours with them [3]",
    "persistent_workers": "leave it out: threads stay from epoch to epoch",
    "generator": "seed= is of every random number",
    "multiprocessing_context": "leave it out: there are no worker processes",
    "in_order": "leave it out: batches come in order",
    "root": "dataset=, the first argument, is the path",
    "path": "dataset=, the first argument, is the path",
}


def without_unknown(function: _Function) -> _Function:
    """What `help` shows of a function: without the **unknown that it takes only to say what to write instead."""
    shown = inspect.signature(function)
    known = [one for one in shown.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
    function.__signature__ = shown.replace(parameters=known)  # type: ignore[attr-defined]
    return function


def refuse_unknown(kind: type, unknown: Mapping[str, Any]) -> None:
    """TypeError with what to write instead of an argument that a class does not have."""
    if not unknown:
        return
    name = next(iter(unknown))
    known = [one for base in kind.__mro__ if "__init__" in base.__dict__ for one in _names(base)]
    plain = {one.replace("_", ""): one for one in known}
    near = difflib.get_close_matches(name.replace("_", "").lower(), plain, n=1, cutoff=0.7)
    if name in _ELSEWHERE:
        instead = _ELSEWHERE[name]
    elif near:
        instead = f"did you mean {plain[near[0]]}=?"
    else:
        instead = "help(millrace.Loader) lists those that it has"
    raise TypeError(f"{kind.__name__} has no argument {name}=: {instead}")


def _names(of: type) -> list[str]:
    parameters = inspect.signature(of.__dict__["__init__"]).parameters.values()
    return [one.name for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY and one.name[0] != "_"]


def whole(name: str, value: Any, least: int = 0, most: int = 2**64 - 1) -> int:
    """A whole number, NumPy's too; neither a truth value, nor 8.0, nor "8"."""
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or number < least:
        raise ArgumentError(f"{name}={value!r} is not a whole number of at least {least}")
    if number > most:
        raise ArgumentError(f"{name}={value!r} is too large: {most} at most")
    return number


def whole_or_none(name: str, value: Any, most: int = 2**32 - 1) -> int | None:
    """The same, where None is the default."""
    return None if value is None else whole(name, value, 0, most)


def flag(name: str, value: Any) -> bool:
    """True or False, NumPy's too, or a number for them; None is False. Texts, as "no", would all be true."""
    if value is None or isinstance(value, int) or type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    raise TypeError(f"{name}={value!r} is neither True nor False")


def read_epoch(value: Any) -> int:
    """The number of an epoch."""
    return whole("epoch", value, 0, EPOCH_MAX)


def read_ranks(rank: Any, world: Any) -> tuple[int, int] | None:
    """Both of them, or neither."""
    if rank is None and world is None:
        return None
    first = whole_or_none("rank", rank)
    count = None if world is None else whole("world", world, 1, 2**32 - 1)
    if first is None or count is None:
        alone = f"world={count}" if first is None else f"rank={first}"
        raise ArgumentError(f"{alone} alone: rank and world are given together, or neither")
    if first >= count:
        raise ArgumentError(f"rank={first} of world={count}: ranks are from 0 to {count - 1}")
    return first, count


def read_bad_max(value: Any) -> int | None:
    """How many bad samples an epoch may have; None for the library's default."""
    number = whole_or_none("bad_max", value, 2**64 - 1)
    if number == 0:
        raise ArgumentError('bad_max=0: bad="fail" has the first bad sample be an error; else it is at least 1')
    return number


def read_path(name: str, value: Any) -> str | None:
    """A path as the extension takes it; None for none."""
    if value is None:
        return None
    if not isinstance(value, (str, bytes, os.PathLike)):
        raise TypeError(f"{name}={value!r} is not a path (str or os.PathLike)")
    path: Any = os.fspath(value)
    return path


_TARGETS = ("boxes", "keypoints", "mask", "masks")


def read_targets(value: Any) -> tuple[str, ...]:
    """The names of what follows the images: one, or several."""
    names = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else (value,)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"targets={value!r} is neither one of {', '.join(_TARGETS)} nor several of them")
        if name not in _TARGETS:
            raise ArgumentError(f"a target cannot be {name!r} (one of: {', '.join(_TARGETS)})")
    return names


_LIMITS = ("pixels", "nbytes", "scans", "memory_nbytes")


def read_limits(value: Any) -> dict[str, int] | None:
    """Limits of stored images, by name; None for the library's defaults."""
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise TypeError(f"limits={value!r} is not a dict, as {{'pixels': 10**8}}")
    for name in value:
        if name not in _LIMITS:
            raise ArgumentError(f"a limit cannot be {name!r} (one of: {', '.join(_LIMITS)})")
    return {name: whole(f"limits[{name!r}]", number) for name, number in value.items()}


def read_region(value: Any) -> tuple[int, int, int, int] | None:
    """A part of an image; None for all of it."""
    if value is None:
        return None
    try:
        x, y, width, height = (whole("region", number, 0, 2**32 - 1) for number in value)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"region={value!r} is not (x, y, width, height), four whole numbers of at least 0"
        ) from None
    return x, y, width, height


def read_seed(value: Any) -> int:
    """A seed; None is none, since the same seed is what makes the same batches."""
    if value is None:
        raise ArgumentError("seed=None: a seed is a whole number; for another order each time, seed=time.time_ns()")
    return whole("seed", value, 0, 2**64 - 1)


def timeout_ns(seconds: Any) -> int:
    """Nanoseconds of seconds; None and infinity are for ever."""
    if seconds is None:
        return NEVER_NS
    if isinstance(seconds, (bool, str, bytes)) or not hasattr(seconds, "__float__") or not float(seconds) > 0:
        raise ArgumentError(f"timeout={seconds!r} is not a number of seconds above 0; None waits for ever")
    return int(min(float(seconds) * 1e9, NEVER_NS)) or 1


_ORDERS = {"block": "windowed", "window": "windowed", "weights": "weighted", "draws": "weighted", "repeats": "repeated"}


def order_of(order: str | None, shuffle: bool, parts: Mapping[str, Any]) -> str:
    """The name of the order that the arguments together ask for; `parts` are those that belong to one order alone."""
    given = [name for name, value in parts.items() if value is not None and (name == "weights" or value != 0)]
    if "draws" in given and "weights" not in given:
        raise ArgumentError("draws= says how many samples weights= draw, but there are no weights")
    for name in given:
        if order is not None and order != _ORDERS[name]:
            raise ArgumentError(f'{name}= is of order="{_ORDERS[name]}", and not of order="{order}": leave one out')
    asked = list(dict.fromkeys(_ORDERS[name] for name in given))
    if len(asked) > 1:
        raise ArgumentError(f'the arguments ask for two orders, "{asked[0]}" and "{asked[1]}": leave one out')
    if shuffle and order == "sequential":
        raise ArgumentError('shuffle=True, but order="sequential" is as stored: leave one out')
    return order or (asked[0] if asked else "shuffled" if shuffle else "sequential")


def read_device(value: Any, name: str = "device") -> str | None:
    """A list of devices as the library reads it: of a text, or of several."""
    if value is None or isinstance(value, str):
        return value
    devices = list(value) if isinstance(value, Iterable) and not isinstance(value, (bytes, Mapping)) else [value]
    for device in devices:
        if not isinstance(device, str):
            raise TypeError(f'{name}={value!r} is neither a text, as "cpu,opencl:0", nor a list of them')
    if not devices:
        raise ArgumentError(f'{name}={value!r} names nobody: "cpu" is the host')
    return ",".join(devices)


def split_device(device: Any, prepare_on: Any, keep: Any) -> tuple[Any, str]:
    """Of mr.torch.Loader's: torch's device, where batches go, and who prepares them. `device` may also be
    names that only the library has; "cpu" is the same for both."""
    if keep not in (None, "host"):
        raise ArgumentError(f"keep={keep!r}: tensors are made of the host's memory; mr.Loader leaves it to a device")
    names = isinstance(device, (list, tuple))
    if isinstance(device, str):
        names = "," in device or device.split(":")[0].strip() in ("auto", "opencl", "sim")
    if names and prepare_on is not None:
        raise ArgumentError(f"device={device!r} and prepare_on={prepare_on!r} both say who prepares")
    ours = read_device(device) if names else read_device(prepare_on, "prepare_on")
    return None if names else device, "cpu" if ours is None else ours


_CHOICES = {
    "order": ("shuffled", "sequential", "windowed", "weighted", "repeated"),
    "reading": ("auto", "threads", "direct", "ahead"),
    "bad": ("fail", "skip", "replace"),
    "policy": ("auto", "interbatch", "intrabatch", "naive-device", "fusion"),
    "beside": ("auto", "off", "exclusive", "duty", "overlapped"),
    "keep": ("host", "device"),
}


def read_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the extension's loader, of the arguments of `millrace.Loader` by name. Form, weights, names of
    devices and mask_member are as they were given: the extension checks them."""
    for name, choice in _CHOICES.items():
        if given[name] is not None and given[name] not in choice:
            raise ArgumentError(f"{name} cannot be {given[name]!r} (one of: {', '.join(choice)})")
    ranks, memory = read_ranks(given["rank"], given["world"]), given["memory"]
    device_memory = given["device_memory"]
    options: dict[str, Any] = {
        "batch": whole("batch_size", given["batch_size"], 1, 2**32 - 1),
        "seed": read_seed(given["seed"]),
        "epoch": read_epoch(given["epoch"]),
        "rank": ranks and ranks[0],
        "world": ranks and ranks[1],
        "memory_nbytes": 0 if memory is None else read_nbytes(memory, "memory"),
        "device": read_device(given["device"]),
        "device_memory_nbytes": 0 if device_memory is None else read_nbytes(device_memory, "device_memory"),
        "pinning": "cores" if flag("pin_threads", given["pin_threads"]) else "none",
        "bad_max": read_bad_max(given["bad_max"]),
        "quarantine": read_path("quarantine", given["quarantine"]),
        "timeout_ns": timeout_ns(given["timeout"]),
        "trace": whole_or_none("trace", given["trace"], 2**22),
        "targets": read_targets(given["targets"]),
        "limits": read_limits(given["limits"]),
    }
    for name in ("block", "window", "draws"):
        options[name] = whole_or_none(name, given[name], 2**48)
    for name in ("repeats", "threads", "slots", "read_depth", "numa_node"):
        options[name] = whole_or_none(name, given[name])
    for name in ("drop_last", "check_all"):
        options[name] = flag(name, given[name])
    for name in ("weights", "form", "reading", "bad", "policy", "beside", "share", "mask_member", "keep"):
        options[name] = given[name]
    if options["keep"] == "device" and flag("copy", given["copy"]):
        raise ArgumentError('keep="device" leaves batches where they are, and copy=True copies them: leave one out')
    parts = {name: options[name] for name in ("block", "window", "weights", "draws", "repeats")}
    options["order"] = order_of(given["order"], flag("shuffle", given["shuffle"]), parts)
    return options


def read_state(state: Any) -> Mapping[str, Any]:
    """What state_dict() gave."""
    if not isinstance(state, Mapping):
        raise TypeError(f"a state is the dict that state_dict() gave, not {state!r}")
    return state


def check_state(state: Any, ours: Mapping[str, Any]) -> None:
    """ArgumentError when a state is of something else, with what differs."""
    state = read_state(state)
    said = {
        "dataset": "of another dataset (or of one that has changed since): open the same one",
        "recipe": "of another recipe: make the loader with the same steps, in the same order",
        "seed": f"of seed={state.get('seed')!r}, and this loader has seed={ours['seed']!r}: give the same",
        "order": "of another order: give the same shuffle, order, block, window, weights, draws and repeats",
    }
    if "samples" in state and state["samples"] != ours["samples"]:
        said["dataset"] = (
            f"of a dataset of {state['samples']} samples, and this one has {ours['samples']}: open the same one"
        )
    wrong = [name for name in said if name in state and state[name] != ours[name]]
    if wrong:
        rest = [name for name in said if name not in wrong]
        same = f" ({', '.join(rest)} {'is' if len(rest) == 1 else 'are'} the same)" if rest else ""
        raise ArgumentError(f"the state is {'; and '.join(said[name] for name in wrong)}{same}")
