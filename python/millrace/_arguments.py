# SPDX-License-Identifier: Apache-2.0
"""Arguments of loaders: what they may be, and what is said of those that are wrong."""

from __future__ import annotations

import difflib
import inspect
import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ._core import ArgumentError

_Function = TypeVar("_Function", bound=Callable[..., Any])

NEVER_NS = 2**62

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
    return order or (asked[0] if asked else "shuffled" if shuffle else "sequential")


def check_state(state: Any, ours: Mapping[str, Any]) -> None:
    """ArgumentError when a state is of something else, with what differs."""
    if not isinstance(state, Mapping):
        raise TypeError(f"a state is the dict that state_dict() gave, not {state!r}")
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
