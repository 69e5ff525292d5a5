# SPDX-License-Identifier: Apache-2.0
"""Loaders: a dataset as batches, epoch after epoch."""
from __future__ import annotations

import json
import os
import sys
import threading
import warnings
import weakref
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, Literal, Never, NoReturn, Self

from . import _core
from ._arguments import (
    EPOCH_MAX,
    check_state,
    flag,
    read_epoch,
    read_options,
    read_path,
    refuse_unknown,
    whole,
    without_unknown,
)
from ._frameworks import View, choose, view_of
from ._labels import array_of, as_list, soft_labels
from ._members import check_targets
from ._sums import joined
from .dataset import Dataset, DatasetLike
from .recipe import Recipe, RecipeLike

if TYPE_CHECKING:
    from .peek import Peek
    from .report import Report

HELD_WARNING_SECONDS = 2.0
UNTAKE_SECONDS = 1.0  # that Ctrl-C waits for another thread at most


class Batch:
    """One batch: `images, labels = batch`, and what else is known of its samples.

    `images` and the arrays in `targets` are the loader's memory, which is used anew only when the batch itself and the
    last view of them (a tensor, a slice of one) are gone: a batch that is kept, as by `list(loader)`, holds it. All
    else, as `labels`, is memory of its own, and may be kept. With `copy=True` everything is.

    ======================  ===============================================================================
    `images`                count x channels x height x width, or as the recipe says
    `labels`                int64, -1 for none (all of them, where the dataset has no labels); where some of the
                            dataset's are lists, a list of arrays; where some are text or real, a list of values
    `targets`               with `targets=...`: a list of dicts (boxes, categories, masks, ...), else None
    `mask`                  uint8: 0 valid, 1 a pad, 2 another sample in place of a bad one, 3 a black image
    `ordinals`              which samples of the dataset, int64; -1 in a pad
    `positions`             where in the epoch's order, int64; -1 in a pad
    `keys`                  their names, a list of str
    `epoch`, `number`       of which epoch, the how many-th of it
    `last`                  whether it is the last one of its epoch
    `count`, `size`         samples; places (more than samples only at an epoch's end)
    `mix`                   how mixup and cutmix mixed it, a dict; None without
    `device`                with `keep="device"` where it is, a dict, and there are no `images`; else None
    `raw`                   the batch of the extension, for what is not here; None with `copy=True`
    ======================  ===============================================================================
    """

    __slots__ = ("raw", "epoch", "number", "last", "count", "size", "_loader", "_kept")

    def __init__(self, raw: _core.Batch, loader: Loader) -> None:
        self.raw: _core.Batch | None = raw
        self.epoch: int = raw.epoch
        self.number: int = raw.number
        self.last: bool = raw.last
        self.size: int = raw.size
        self.count: int = raw.count
        self._loader = loader
        self._kept: dict[str, Any] = {}
        if loader._copy:
            self._take()

    @property
    def places(self) -> int:
        """How many places `images`, `labels` and the others have: `count`, with `pad=True` `size`."""
        return self.size if self._loader._pad else self.count

    @property
    def images(self) -> Any:
        """What the recipe makes of the samples, one after the other."""
        return self._have("images")

    @property
    def labels(self) -> Any:
        """Their labels, of the same type in all batches: int64, -1 for none; where some of the dataset's are lists, a
        list with an array for each sample (a number is one of one, none is empty); where some are text or real numbers,
        a list with what each sample has, or None."""
        return self._have("labels")

    @property
    def targets(self) -> list[dict[str, Any]] | None:
        """What follows each image, where the loader was asked for it: boxes, categories, masks, ..."""
        targets: list[dict[str, Any]] | None = self._have("targets")
        return targets

    @property
    def mask(self) -> Any:
        """What stands in each place: 0 a sample, 1 a pad, 2 one in place of a bad one, 3 a black image for it."""
        return self._have("mask")

    @property
    def ordinals(self) -> Any:
        """The numbers of the samples in the dataset; -1 in a pad."""
        return self._have("ordinals")

    @property
    def positions(self) -> Any:
        """Where they stand in the order of the epoch, of all ranks; -1 in a pad."""
        return self._have("positions")

    @property
    def keys(self) -> list[str]:
        """The keys of the samples, "" in a pad."""
        keys: list[str] = self._have("keys")
        return keys

    @property
    def mix(self) -> dict[str, Any] | None:
        """How mixup or cutmix mixed it: kind, weight, box, partners (their labels), ordinals; None without."""
        mix: dict[str, Any] | None = self._have("mix")
        return mix

    @property
    def device(self) -> dict[str, Any] | None:
        """With `keep="device"`: name ("opencl:0"), and as numbers memory (a cl_mem with the images, all there),
        context, device and a queue of OpenCL's that nothing else is put into. What was put into a queue of that context
        is to have ended before the batch goes.

        >>> buffer = pyopencl.Buffer.from_int_ptr(batch.device["memory"])
        >>> queue = pyopencl.CommandQueue.from_int_ptr(batch.device["queue"])
        """
        return None if self.raw is None else self.raw.device()

    def soft_labels(self, classes: int) -> Any:
        """Labels as weights: float32, a row of `classes` for each sample. Of what was mixed, both have their share.

        >>> loss = torch.nn.functional.cross_entropy(model(batch.images), batch.soft_labels(1000))
        """
        classes = whole("classes", classes, 0, 2**32 - 1)
        if self.raw is None:
            labels, mix = self._kept["plain labels"], self._kept["plain mix"]
            return self._loader._view(soft_labels(labels, mix, classes, self.places))
        return self._loader._view(self._cut(self.raw.soft_labels(classes)))

    def __iter__(self) -> Iterator[Any]:
        yield self.images
        yield self._second()

    def __getitem__(self, at: int) -> Any:
        return (self.images, self._second())[at]

    def __len__(self) -> int:
        return 2

    def __repr__(self) -> str:
        shape = " x ".join(map(str, (self.places, *self._loader.recipe.output()["shape"])))
        return f"<millrace.Batch {self.number} of epoch {self.epoch}: {shape}>"

    def _repr_html_(self) -> str:
        from ._html import batch_html

        return batch_html(self)

    def _second(self) -> Any:
        return self.labels if not self._loader._targets else self.targets

    def _have(self, name: str) -> Any:
        """A part of it, made when it is first asked for."""
        if name not in self._kept:
            self._kept[name] = getattr(self, f"_make_{name}")()
        return self._kept[name]

    def _take(self) -> None:
        """Copies everything, and lets the memory go."""
        raw = self._raw()
        for name in ("images", "labels", "targets", "mask", "ordinals", "positions", "keys", "mix"):
            self._have(name)
        mix = raw.mix()
        self._kept["plain labels"] = raw.labels.tolist()
        self._kept["plain mix"] = None if mix is None else (mix["weight"], mix["partners"].tolist())
        self.raw = None

    def _raw(self) -> _core.Batch:
        assert self.raw is not None  # where it is None, everything was kept
        return self.raw

    def _cut(self, of: _core.Array) -> _core.Array:
        return of if self._loader._pad or self.count == self.size else of[: self.count]

    def _show(self, of: _core.Array) -> Any:
        """As an array of the framework: of the same memory, or of a copy."""
        return self._loader._view(of.copy() if self._loader._copy else of)

    def _own(self, of: _core.Array) -> Any:
        """As an array of the framework, of a copy: what is small may be kept, and written to."""
        return self._loader._view(self._cut(of).copy())

    def _make_images(self) -> Any:
        return self._show(self._cut(self._raw().images))

    def _make_labels(self) -> Any:
        raw, kind = self._raw(), self._loader._kind_of_labels()
        if kind == "numbers":
            return self._own(raw.labels)
        if kind == "values":
            return [raw.label(place) for place in range(self.places)]
        return self._make_lists(raw, "float64" if kind == "lists of reals" else "int64")

    def _make_lists(self, raw: _core.Batch, dtype: str) -> list[Any]:
        """An array for each, all of them in one that is memory of its own."""
        lists = raw.lists() if self._loader.dataset._has_lists_alone else None
        if lists is not None:
            values, offsets = lists[0].copy(), lists[1].tolist()
        else:
            each = [as_list(raw.label(place)) for place in range(self.places)]
            values, offsets = array_of(list(chain.from_iterable(each)), dtype), [0, *accumulate(map(len, each))]
        return [self._loader._view(values[offsets[i] : offsets[i + 1]]) for i in range(self.places)]

    def _make_targets(self) -> list[dict[str, Any]] | None:
        if not self._loader._targets:
            return None
        return [self._make_target(self._raw(), place) for place in range(self.places)]

    def _make_target(self, raw: _core.Batch, place: int) -> dict[str, Any]:
        """What belongs to one sample; what was not asked for is left out."""
        found = raw.targets(place)
        return {
            name: self._show(value) if isinstance(value, _core.Array) else value
            for name, value in found.items()
            if value is not None
        }

    def _make_mask(self) -> Any:
        return self._own(self._raw().mask)

    def _make_ordinals(self) -> Any:
        return self._own(self._raw().ordinals)

    def _make_positions(self) -> Any:
        return self._own(self._raw().positions)

    def _make_keys(self) -> list[str]:
        raw = self._raw()
        return [raw.key(place) for place in range(self.places)]

    def _make_mix(self) -> dict[str, Any] | None:
        mix = self._raw().mix()
        if mix is None:
            return None
        shown = {name: self._own(mix[name]) for name in ("partners", "ordinals")}
        return {**mix, **shown}


class Loader:
    """A dataset as batches, epoch after epoch; same seed, same bytes, whatever the threads, ranks or stored forms.

    >>> recipe = [mr.RandomResizedCrop(224), mr.HorizontalFlip(), mr.Normalize.imagenet()]
    >>> loader = mr.Loader("imagenet/train", recipe, batch_size=256, shuffle=True)
    >>> for images, labels in loader: ...

    Each `iter()` begins an epoch: first `epoch`, then the one after the last. The work is done by threads of the
    library (no processes, no GIL), which go on to the next epoch while the trainer is still busy with this one.

    What and how:
      dataset      a path (a folder, "train-*.tar", a packed set, ...), several, or a `millrace.Dataset`
      recipe       text ("rrc(224) flip"), a `millrace.Recipe`, a list of steps, or a torchvision `v2.Compose`
      batch_size   samples in a batch of this rank
      shuffle      anew in each epoch; False: as stored, unless `order` says otherwise
      seed         of every random number
      drop_last    leave out an incomplete last batch; else it is short, or with `pad=True` filled up with black images
      epoch        the one to begin with
      to           what batches are made of: "torch", "numpy", "jax", "array"; "auto": torch where it has been imported
      copy         give each batch memory of its own, so that any number may be kept; else it is the loader's
      targets      what follows the images: any of "boxes", "keypoints", "mask", "masks"; `mask_member` names the mask.
                   Of the members json and png beside an image in tar shards; doc/python.md has their shapes
      form         which stored form, where the dataset has several: "l3", or "jpeg+l3" for both in turns

    Order and ranks:
      order        "shuffled", "sequential", "windowed", "weighted", "repeated"; else what `shuffle` and these say:
      block, window    of windowed: neighbours stay near each other, for storage that is slow at single samples
      weights, draws   of weighted: how likely each sample is, with replacement; samples in an epoch
      repeats          of repeated: so often in a row, each time with other random numbers
      rank, world  else what torchrun, Slurm, MPI or Kubernetes say

    With what:
      threads      that work [as many as this process may use]
      slots        batches in memory, those that are held with them [3]
      memory       that all of it may take: bytes, or "2GB"
      reading, read_depth   "auto", "threads", "direct", "ahead"; reads ahead at most [64]
      pin_threads, numa_node   where threads and memory are
      device       who prepares: "cpu", the host's threads; "opencl:1", that accelerator (`mr.devices()` lists them);
                   "opencl", the first that can be used; several, as "cpu,opencl:0" or ["cpu", "opencl:0"]; "auto", the
                   host and every accelerator that can be used, but for those that are the host's own cores;
                   "sim:FILE": a simulated machine (doc/hardware.md), by whose clock the loader's times are
      device_memory   memory of its own that each accelerator may take: bytes, or "512MB"
      keep         "device": batches stay in memory of the one accelerator of `device` (`Batch.device`), without images
      policy       which device prepares which sample: "auto", by predicted cost; or a baseline to compare it with:
                   "interbatch", "intrabatch", "naive-device", "fusion"
      beside       when an accelerator that also trains may prepare: "auto", "off", "exclusive", "duty", "overlapped"
      share        a name: loaders of this machine that have the same one lend each other cores (doc/lending.md)
      trace        remember the last so many tasks for `write_trace`, at most 2**22
      timeout      seconds without any progress that are an error; None or infinity: never

    Bad samples:
      bad          "fail"; "skip": another takes its place; "replace": a black image does
      bad_max      more in an epoch are an error [1 %, at least 16]; not 0, which is bad="fail"
      quarantine   a file that lists them, a JSON line each
      check_all    compare checksums of whole records, where a part would do
      limits       of each stored image: {"pixels": ..., "nbytes": ..., "scans": ..., "memory_nbytes": ...}
    """

    _batch_type: type[Batch] = Batch  # what _make_batch makes

    @without_unknown
    def __init__(
        self,
        dataset: DatasetLike,
        recipe: RecipeLike,
        *,
        batch_size: int = 64,
        shuffle: bool = False,
        seed: int = 0,
        drop_last: bool = False,
        order: Literal["shuffled", "sequential", "windowed", "weighted", "repeated"] | None = None,
        block: int | None = None,
        window: int | None = None,
        weights: Any = None,
        draws: int | None = None,
        repeats: int | None = None,
        rank: int | None = None,
        world: int | None = None,
        form: str | None = None,
        threads: int | None = None,
        slots: int | None = None,
        memory: int | str | None = None,
        reading: Literal["auto", "threads", "direct", "ahead"] = "auto",
        read_depth: int | None = None,
        check_all: bool = False,
        pin_threads: bool = False,
        numa_node: int | None = None,
        bad: Literal["fail", "skip", "replace"] = "fail",
        bad_max: int | None = None,
        quarantine: str | os.PathLike[str] | None = None,
        timeout: float | None = 60.0,
        device: str | Sequence[str] = "cpu",
        device_memory: int | str | None = None,
        keep: Literal["host", "device"] = "host",
        policy: Literal["auto", "interbatch", "intrabatch", "naive-device", "fusion"] | None = None,
        beside: Literal["auto", "off", "exclusive", "duty", "overlapped"] | None = None,
        share: str | None = None,
        trace: int | None = None,
        targets: Sequence[str] | str = (),
        mask_member: str | None = None,
        limits: Mapping[str, int] | None = None,
        epoch: int = 0,
        to: Literal["auto", "torch", "numpy", "jax", "array"] = "auto",
        copy: bool = False,
        pad: bool = False,
        **unknown: Never,
    ) -> None:
        given = dict(locals())  # all arguments by name
        self._core: _core.Loader | None = None
        refuse_unknown(type(self), unknown)
        self.dataset: Dataset = dataset if isinstance(dataset, Dataset) else Dataset(dataset)
        self.recipe: Recipe = recipe if isinstance(recipe, Recipe) else Recipe(recipe)
        self.recipe.output()  # what is wrong with it is said here
        self._options: dict[str, Any] = read_options(given)
        self.batch_size: int = self._options["batch"]
        self._targets: tuple[str, ...] = self._options["targets"]
        check_targets(self.dataset, self._targets, mask_member, _frame_outside())
        self._to = choose(to)
        self._view: View = view_of(self._to)
        self._copy = flag("copy", copy)
        self._pad = flag("pad", pad)
        self._iterator: weakref.ref[_Epoch] | None = None  # the last one
        self._turn = self._begun = 0  # iterators are numbered; the last that was given a batch
        self._open()
        self._start = self._at = self._next = _place_of(self._facts)

    # What a subclass may change.

    def _make_core(self) -> _core.Loader:
        """A loader of the extension, by self._options."""
        return _core.Loader(_handle(self.dataset), _handle(self.recipe), **self._options)

    def _make_batch(self, raw: _core.Batch) -> Batch:
        """What the user gets of a batch."""
        return self._batch_type(raw, self)

    def _before_next(self) -> None:
        """Called before a batch is asked for."""

    def _after_next(self, raw: _core.Batch) -> None:
        """Called when it is there, before _make_batch."""

    # Iteration. `_at` is where the user stands: behind the last batch he was given, or at the beginning of the epoch
    # that he has begun. `_next` is where the next iter() begins. `_core_at` is where the loader of the extension is;
    # None: a signal's handler has raised an exception while a batch was on its way, and who knows how far it came.
    # An epoch has begun when its first batch was asked for: iter() alone moves nothing, since programs (Lightning)
    # also call it to see whether that can be done.

    def __iter__(self) -> Iterator[Batch]:
        """Begins the next epoch; after load_state_dict goes on where that says."""
        self._here()
        with self._lock:
            self._check_alone("iter()")
            self._turn += 1
            self._start = self._at = self._next
            iterator = _Epoch(self, self._turn)
            self._iterator = weakref.ref(iterator)
            return iterator

    def __len__(self) -> int:
        """Batches of a whole epoch, of this rank."""
        return self._here().batches

    def __getitem__(self, at: Any) -> NoReturn:
        """Nothing: a loader has batches one after the other. This says what to do to whoever takes it for a dataset."""
        raise TypeError(
            "a loader gives batches one after the other (for images, labels in loader), and needs no DataLoader around "
            "it; mr.torch.BatchDataset and mr.torch.MapDataset are datasets for one, mr.Dataset has samples by number"
        )

    @property
    def epoch(self) -> int:
        """The epoch that was begun last; before the first, the one that will be."""
        return self._start[0] if self._turn else self._next[0]

    def set_epoch(self, epoch: int) -> None:
        """Makes the next `iter()` (and one that has given no batch yet) begin this epoch. Where that would come anyway,
        nothing changes: work goes on, also in the middle of an epoch that load_state_dict has put it in."""
        epoch = read_epoch(epoch)
        if self._next[0] != epoch:
            self._next = (epoch, 0)
            if self._begun != self._turn:
                self._start = self._at = self._next
            if self._at[1] == 0:  # between epochs
                self._at = self._next

    def state_dict(self) -> dict[str, Any]:
        """Where it stands, behind the last batch that it gave: a small dict for JSON, the same on all ranks."""
        epoch, position = self._at
        return {**self._facts, "epoch": epoch, "position": position}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Makes the next `iter()` go on from a state: of the same dataset, recipe, seed and order; the batch size, the
        number of ranks and threads may differ."""
        self._here()
        check_state(state, self._facts)
        with self._lock:
            self._check_alone("load_state_dict()")
            self._inside = True
            try:
                self._move(json.dumps(dict(state), default=_unfit))
            finally:
                self._inside = False
            self._next = self._at = _place_of(self._facts)
            self._start = self._next  # an iterator that has given no batch goes on from the state
            if self._begun == self._turn:
                self._turn += 1  # one that has is over

    def stats(self) -> dict[str, Any]:
        """What was done so far, in numbers: samples, seconds, core_seconds, stages, waits, memory, ..."""
        return joined(self._past, self._here().stats())

    def report(self) -> Report:
        """What was done so far, for people: how fast, where the time went, what binds and what to change.

        >>> print(loader.report())
        """
        from .report import Report

        return Report.of(self)

    def write_trace(self, path: str | os.PathLike[str]) -> None:
        """Writes which lane prepared which sample when, what that was believed to take and took, and why it was put
        there, of the last tasks (`trace=`): a file for ui.perfetto.dev. After `load_state_dict` and `set_epoch` the
        memory of it may begin anew.

        >>> loader = mr.Loader("photos", "rrc(224) flip", trace=100_000)
        >>> ...
        >>> loader.write_trace("trace.json")
        """
        named = read_path("path", path)
        if named is None:
            raise TypeError("path=None is not a path (str or os.PathLike)")
        self._here().write_trace(named)

    def peek(self, n: int = 8) -> Peek:
        """The next `n` samples as the recipe makes them, as pictures, without taking them. Notebooks show a grid."""
        from .peek import Peek

        return Peek.of(self, n)

    def close(self) -> None:
        """Ends it, and whoever waits for a batch. Batches that are held stay until they are let go."""
        core, self._core = self._core, None
        self._closed = True
        if core is not None and self._pid == os.getpid():
            core.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        """Loaders are pickled by their arguments, and begin elsewhere with the epoch that would come next."""
        left_out = {"_core", "_view", "_lock", "_iterator"}
        return {name: value for name, value in self.__dict__.items() if name not in left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._view = view_of(self._to)
        self._iterator = None
        self._turn = self._begun = 0
        self._open()

    def __repr__(self) -> str:
        if self._closed:
            return "<millrace.Loader, closed>"
        output, options = self.recipe.output(), self._options
        labels = "" if self.dataset._has_labels else ", no labels,"
        shape = " x ".join(map(str, (self.batch_size, *output["shape"])))
        return (
            f"<millrace.Loader of {len(self.dataset)} samples{labels} in {len(self)} batches of {shape} "
            f"{output['dtype']}, {options['order']}, seed {options['seed']}, for {self._to}>"
        )

    def _repr_html_(self) -> str:
        from ._html import loader_html

        return loader_html(self)

    def _open(self) -> None:
        """Makes the loader of the extension, in this process."""
        self._lock = threading.RLock()  # so that a signal's handler is told, and does not wait for its own thread
        self._inside = False  # whether who has the lock is in the middle of something
        self._closed = False
        self._broken = False
        self._pid = os.getpid()
        self._past: dict[str, Any] | None = None
        self._core = self._make_core()
        self._see(self._core)

    def _see(self, core: _core.Loader) -> None:
        """What it is, and where it stands."""
        self._slots: int = core.stats()["slots"]
        self._facts: dict[str, Any] = json.loads(core.state())
        self._core_at: tuple[int, int] | None = _place_of(self._facts)

    def _here(self) -> _core.Loader:
        """The loader of the extension, of this process."""
        if self._pid != os.getpid() and not self._closed:
            if self._begun:
                raise _core.ForkedError(
                    "the loader had begun before this process was forked, and its threads are the parent's: make it in "
                    "the process that uses it, or start processes by spawn"
                )
            self._open()
        if self._core is None:
            raise _core.ClosedError("the loader has been closed")
        return self._core

    def _kind_of_labels(self) -> str:
        """What all batches have: "numbers", "lists", "lists of reals" or "values". Asked for while the library is busy
        with the first of them: it looks at every sample, once."""
        kinds = set(self.dataset._label_kinds)
        if not kinds.isdisjoint({"text", "bytes"}):
            return "values"
        if not kinds.isdisjoint({"ints", "floats"}):
            return "lists" if kinds.isdisjoint({"float", "floats"}) else "lists of reals"
        return "numbers" if kinds.isdisjoint({"float", "empty"}) else "values"

    def _coming(self) -> tuple[int, int]:
        """Where the next batch comes from: the iteration that is under way, or the next one."""
        iterator = self._iterator() if self._iterator is not None else None
        return self._next if iterator is None or iterator.over or iterator.turn != self._turn else self._at

    def _move(self, state: str) -> None:
        """Puts the loader of the extension elsewhere; one whose batches are still held is left to them."""
        core = self._here()
        self._core_at = None
        fresh = self._make_core() if self._broken or core.held else core
        try:
            fresh.restore(state)
        except BaseException:
            if fresh is not core:
                fresh.close()
            raise
        past = self._past if fresh is core else joined(self._past, core.stats())
        self._core, self._broken, self._past = fresh, False, past
        if fresh is not core:
            core.close()
        self._see(fresh)

    def _find(self) -> None:
        """Has the loader of the extension go on where the user stands."""
        epoch, position = self._at
        if self._broken or _place_of(json.loads(self._here().state())) != self._at:
            self._move(json.dumps({**self._facts, "epoch": epoch, "position": position}))
        self._core_at = self._at

    def _take(self, iterator: _Epoch, step: _Step) -> _core.Batch | None:
        """The next batch of an iterator whose turn it is; None behind the last."""
        self._here()
        with self._lock:
            self._check_alone("next()")
            self._inside = True
            try:
                return self._take_alone(iterator, step)
            finally:
                self._inside = False

    def _take_alone(self, iterator: _Epoch, step: _Step) -> _core.Batch | None:
        if iterator.over:
            return None
        if iterator.turn != self._turn:
            raise RuntimeError(
                "another iteration over this loader has begun, and this one is over: two at once need two loaders"
            )
        if self._begun != self._turn:
            self._begin_epoch()
        if self._core_at is None:
            self._find()
        self._core_at, step.before = None, self._at
        raw = self._wait()
        behind, last = _behind(raw, self._facts["global_batch"]), raw.last
        self._core_at = self._at = step.behind = behind  # no calls between: signals are handled behind one
        iterator.over = last
        return raw

    def _check_alone(self, asked: str) -> None:
        """Whoever has the lock is this thread: where it is inside already, a signal has interrupted it there."""
        if self._inside:
            raise RuntimeError(
                f"{asked} in a signal's handler, which has interrupted this very loader in the middle of a batch: note "
                f"in the handler that it came, and call {asked} behind the batch"
            )

    def _untake(self, iterator: _Epoch, step: _Step) -> None:
        """An exception has come between a batch and the user: it comes once more, unless others take the next."""
        if step.behind is None or not self._lock.acquire(timeout=UNTAKE_SECONDS):
            return  # none was taken; or somebody waits for the next, and this exception does not wait for him
        try:
            if iterator.turn == self._turn and self._at is step.behind:
                self._core_at, self._at, iterator.over = None, step.before, False
        finally:
            self._lock.release()

    def _begin_epoch(self) -> None:
        epoch, position = self._start
        if epoch > EPOCH_MAX:
            raise _core.LimitError(f"epochs end at 2^32 - 1 ({EPOCH_MAX}), which is over: set_epoch(0) begins anew")
        if self._broken or self._core_at != self._start:
            self._move(json.dumps({**self._facts, "epoch": epoch, "position": position}))
        self._begun = self._turn
        if self._next == self._start:  # unless set_epoch has said otherwise since
            self._next = (epoch + 1, 0)

    def _wait(self) -> _core.Batch:
        core = self._here()
        watch = _Watch(self._slots) if core.held >= self._slots else None
        try:
            raw = core.next()
        except _core.ClosedError:
            raise
        except _core.Error as error:
            self._core_at = self._at  # where it was: none was given
            self._broken = not isinstance(error, _core.TimeoutError) or core.held < self._slots
            if watch is not None and watch.raised is not None:
                raise watch.raised from error
            if isinstance(error, _core.TimeoutError) and not self._broken:
                raise _timeout_of_held(error, self._slots) from None
            raise
        finally:
            if watch is not None:
                watch.timer.cancel()
        if raw is None:
            raise _core.InternalError("the loader ended, though it has no end")
        return raw


class _Step:
    """Where the user stood before a batch, and stands behind it, once it was taken."""

    before = (0, 0)
    behind: tuple[int, int] | None = None


class _Epoch(Iterator[Batch]):
    """One epoch of a loader, or what is left of it."""

    def __init__(self, loader: Loader, turn: int) -> None:
        self.loader = loader
        self.turn = turn
        self.over = False

    def __next__(self) -> Batch:
        loader = self.loader
        if self.over:
            raise StopIteration
        loader._before_next()
        step = _Step()
        try:
            raw = loader._take(self, step)
            if raw is not None:
                loader._after_next(raw)
                return loader._make_batch(raw)
        except BaseException:
            loader._untake(self, step)
            raise
        raise StopIteration  # another thread has taken the last

    def __length_hint__(self) -> int:
        """Batches that are left."""
        loader = self.loader
        if self.over or self.turn != loader._turn:
            return 0
        return len(loader) - loader._at[1] // loader._facts["global_batch"]


class _Watch:
    """Warns when all batches have been held for a while: whoever waits for the next one would wait for ever."""

    def __init__(self, held: int) -> None:
        self.frame = _frame_outside()
        self.held = held
        self.raised: Exception | None = None
        self.timer = threading.Timer(HELD_WARNING_SECONDS, self.warn)
        self.timer.daemon = True
        self.timer.start()

    def warn(self) -> None:
        try:
            warnings.warn_explicit(_held_text(self.held), RuntimeWarning, *self.frame)
        except RuntimeWarning as error:  # where warnings are errors
            self.raised = error


def _held_text(held: int) -> str:
    return (
        f"all {held} batches of the loader's memory are held by batches, tensors or arrays that were kept, and the "
        "next one waits for one of them: let them go (del, or keep a .clone()), make the loader with copy=True, or "
        f"with slots={held * 2}"
    )


def _timeout_of_held(error: _core.TimeoutError, held: int) -> _core.TimeoutError:
    """The library's error, with what the warning says."""
    told = _core.TimeoutError(f"{error}; {_held_text(held)}")
    told.code = error.code
    return told


def _frame_outside() -> tuple[str, int]:
    """File and line of whoever called into this package."""
    here = os.path.dirname(__file__)
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(here):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def _unfit(value: Any) -> Any:
    raise _core.ArgumentError(f"a state has numbers and texts alone, not {value!r}")


def _place_of(state: dict[str, Any]) -> tuple[int, int]:
    return state["epoch"], state["position"]


def _behind(raw: _core.Batch, global_batch: int) -> tuple[int, int]:
    """Where a loader stands that has given a batch."""
    return (raw.epoch + 1, 0) if raw.last else (raw.epoch, raw.position + global_batch)


def _handle(of: Any) -> Any:
    """The object of the extension inside of a Dataset or a Recipe."""
    return of._core
