# SPDX-License-Identifier: Apache-2.0
"""Millrace for PyTorch: `mr.torch`, imported when it is first used.

>>> import millrace as mr
>>> loader = mr.torch.Loader("imagenet/train", "rrc(224) flip normalize(imagenet)", batch_size=256, shuffle=True)
>>> for epoch in range(90):
...     for images, labels in loader: ...

    Loader         the fast way: no DataLoader, no worker processes, batches that are views of the loader's memory
    BatchDataset   an IterableDataset of ready batches, for programs that want a DataLoader around it
    MapDataset     a map-style dataset: sample i, for samplers of your own
    collate        of what MapDataset gives: images as one tensor, without copying them once more
    Resume         a callback for Lightning, where its own restore is not enough: see there
"""

from __future__ import annotations

import importlib
import inspect
import math
import operator
import os
import sys
import threading
import warnings
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack, cast

import torch
import torch.distributed
import torch.utils.data

from . import _core
from . import loader as _loader
from ._arguments import (
    flag,
    read_epoch,
    read_limits,
    read_options,
    read_ranks,
    read_seed,
    read_state,
    read_targets,
    refuse_unknown,
    split_device,
    whole,
    whole_or_none,
)
from ._frameworks import view_of
from ._members import check_targets
from ._options import BatchOptions, LoaderOptions
from ._torch_cuda import Cuda, Feed, each_tensor
from ._torch_targets import batch_of_masks, check_tv_tensors, target_of, tv_tensors_module
from .dataset import Dataset, DatasetLike
from .recipe import Recipe, RecipeLike

__all__ = ["Batch", "BatchDataset", "Loader", "MapDataset", "Resume", "collate"]

SLOTS_FOR_COPIES = 4  # the user's, one that is being copied, and two to fill
WORKERS_MAX = 1024
SEEN_MAX = 1 << 20  # samples of a MapDataset of which is known whether they were asked for


class Batch(_loader.Batch):
    """A batch of tensors: `images, labels = batch`, and all that `millrace.Batch` has.

    With `targets` its second item, and `targets`, is a list with a dict for each sample, as torchvision's detection
    models take them:

    ==============  ==========================================================================================
    `labels`        objects, int64: their categories
    `boxes`         objects x 4, float32: left, top, right, bottom, of the image as it is now; with targets "boxes"
    `masks`         objects x height x width, uint8; with targets "masks"
    `keypoints`     objects x keypoints x 3, float32: x, y, visible; with targets "keypoints"
    `area`          objects, float32: as stored (of the image before the recipe), else that of the box as it is now
    `iscrowd`       objects, int64: 0 or 1
    `rotated`       objects x 5, float32: middle x, y, width, height, degrees; only where one of them is rotated (its
                    `boxes` are then upright ones around it)
    `mask`          height x width, uint8: a class for each pixel; with targets "mask"
    `image_id`      which sample of the dataset, an int; -1 in a pad
    ==============  ==========================================================================================

    With tv_tensors, boxes are `BoundingBoxes`, masks are `Mask`, and keypoints are `KeyPoints` (x and y alone, where
    torchvision has them) with `visibility` beside them. Pads and black images have no objects.

    With targets="mask" alone (segmentation), the second item is one tensor: samples x height x width, uint8. Losses
    want `.long()`.
    """

    __slots__ = ()

    @property
    def images(self) -> torch.Tensor:
        """What the recipe makes of the samples, one after the other."""
        images: torch.Tensor = self._have("images")
        return images

    @property
    def mask(self) -> torch.Tensor:
        """What stands in each place: 0 a sample, 1 a pad, 2 one in place of a bad one, 3 a black image for it."""
        mask: torch.Tensor = self._have("mask")
        return mask

    @property
    def ordinals(self) -> torch.Tensor:
        """The numbers of the samples in the dataset; -1 in a pad."""
        ordinals: torch.Tensor = self._have("ordinals")
        return ordinals

    @property
    def positions(self) -> torch.Tensor:
        """Where they stand in the order of the epoch, of all ranks; -1 in a pad."""
        positions: torch.Tensor = self._have("positions")
        return positions

    def soft_labels(self, classes: int) -> torch.Tensor:
        """Labels as weights: float32, a row of `classes` for each sample. Of what was mixed, both have their share."""
        weights: torch.Tensor = super().soft_labels(classes)
        return weights

    def to(self, device: Any, non_blocking: bool = False) -> Batch:
        """The same batch with its tensors on a device. Lightning calls this."""
        moved: Batch = object.__new__(type(self))
        for name in ("raw", "epoch", "number", "last", "count", "size", "_loader"):
            setattr(moved, name, getattr(self, name))
        parts = {"images": self.images, "second": self._second(), "labels": self.labels, "targets": self.targets}
        moved._kept = {**self._kept, **each_tensor(parts, lambda tensor: tensor.to(device, non_blocking=non_blocking))}
        return moved

    def _second(self) -> Any:
        return self._have("second")

    def _make_second(self) -> Any:
        loader = self._loader
        assert isinstance(loader, Loader)
        if loader._num_classes:
            return self.soft_labels(loader._num_classes)
        return super()._second()

    def _make_targets(self) -> Any:
        loader, raw = self._loader, self._raw()
        assert isinstance(loader, Loader)
        if not loader._targets:
            return None
        output, tv = loader.recipe.output(), loader._tv_tensors
        size = (int(output["height"]), int(output["width"]))
        if loader._targets == ("mask",):
            masks = batch_of_masks(raw, self.places, size)
            masks = masks.clone() if loader._copy else masks
            return tv.Mask(masks) if tv is not None else masks
        ordinals = self.ordinals.tolist()
        return [
            target_of(raw.targets(place), ordinals[place], loader._targets, size, self._show, tv)
            for place in range(self.places)
        ]

    def _take(self) -> None:
        self._have("second")
        super()._take()


class Loader(_loader.Loader):
    """`millrace.Loader` for PyTorch: the same arguments (`help(mr.Loader)`), batches of tensors, and

      pin_memory    page-lock the batches' memory, so that copies to the device are quick, and need not be waited for;
                    None: where there is CUDA. Nothing is copied for it: the slots themselves are registered
      device        "cuda:0": batches are copied there, on a stream of their own, beside what the device computes
      prepare_on    who prepares, what `device` is for `mr.Loader`: "auto", "cpu,opencl:0", ["cpu", "opencl:0"]. Names
                    that torch has no device for may also be given as `device`
      tv_tensors    boxes, masks and keypoints as torchvision's tv_tensors; "auto": where it can be imported
      num_classes   labels as weights of so many classes, float32, as mixup and cutmix need them. Without it labels
                    stay numbers, and with those steps in the recipe they are only half of it: `batch.mix` has the
                    other (num_classes=0 says that you know)

    >>> loader = mr.torch.Loader("imagenet/train", "rrc(224) flip normalize(imagenet)", batch_size=256, shuffle=True)
    >>> for images, labels in loader:
    ...     loss = criterion(model(images.to("cuda", non_blocking=True)), labels.to("cuda"))

    or, with the copies made by the loader:

    >>> loader = mr.torch.Loader("imagenet/train", recipe, batch_size=256, shuffle=True, device="cuda:0")

    A slot is filled anew only when the images of its batch are gone, and what was then asked of the current stream is
    done. That costs a slot: with CUDA there are 4 unless `slots` says otherwise. (Tested with a stand-in for CUDA, not
    run on hardware.)

    Ranks are, in this order: `rank` and `world`; those of torch.distributed, once it is initialized; those of the
    environment (torchrun, Slurm, ...). All ranks have as many batches; of the last ones some may be short by a sample,
    or empty where there are fewer samples left than ranks: drop_last=True leaves these out.

    Stop and go on: `loader.state_dict()` behind any batch, the same on all ranks; `load_state_dict` in another process,
    with another number of ranks or another batch size, and the next `iter()` gives what is left of the epoch. Lightning
    does both by itself; see `Resume` for what it does not. (It counts batches: with others than before, of another size
    or on more ranks, it ends the restored epoch too early or too late.)

    Mixup and cutmix:

    >>> loader = mr.torch.Loader(path, "rrc(224) flip normalize(imagenet) mixup(0.2)", batch_size=256, num_classes=1000)
    >>> for images, weights in loader: loss = torch.nn.functional.cross_entropy(model(images), weights)

    Detection (`help(mr.torch.Batch)`):

    >>> loader = mr.torch.Loader("coco.tar", "shorts(480/512) flip pad(to=640)", targets=("boxes", "masks"))
    >>> for images, targets in loader: losses = model(list(images), targets)
    """

    _batch_type = Batch

    def __init__(
        self,
        dataset: DatasetLike,
        recipe: RecipeLike,
        *,
        pin_memory: bool | None = None,
        device: str | Sequence[str] | torch.device | int | None = None,
        prepare_on: str | Sequence[str] | None = None,
        tv_tensors: bool | str = "auto",
        num_classes: int | None = None,
        _cuda: Cuda | None = None,
        **given: Unpack[LoaderOptions],
    ) -> None:
        options: dict[str, Any] = {"to": "torch", **given}
        if options["to"] not in ("torch", "auto"):
            raise _core.ArgumentError(f'mr.torch.Loader gives tensors, not to="{options["to"]}": mr.Loader does')
        options["to"] = "torch"
        self._given_ranks = options.get("rank") is not None or options.get("world") is not None
        self._ranks = (0, 1)  # as the loader of the extension has them
        self._num_classes = whole_or_none("num_classes", num_classes)
        self._asked_tv_tensors = check_tv_tensors(tv_tensors)
        self._tv_tensors = tv_tensors_module(tv_tensors) if options.get("targets") else None
        self._feed: Feed | None = None
        pin = None if pin_memory is None else flag("pin_memory", pin_memory)
        device, options["device"] = split_device(device, prepare_on, given.get("keep"))
        self._set_up_feed(_cuda or Cuda(), pin, device, options)
        super().__init__(dataset, recipe, **options)
        self._check_mixing()

    def _set_up_feed(self, cuda: Cuda, pin: bool | None, device: Any, options: dict[str, Any]) -> None:
        """Decides what CUDA has to do with it."""
        self._cuda, self._pin_memory, self._device = cuda, pin, device
        if (options.get("device") or "").startswith("sim"):  # a machine without CUDA
            return
        target = torch.device(device) if device is not None else None
        if target is not None and target.type == "cpu":
            target = None
        if target is not None and target.type != "cuda":
            raise _core.ArgumentError(f'device="{device}" is neither the CPU nor CUDA: move tensors there with .to()')
        available = cuda.is_available()
        if target is not None and not available:
            raise _core.ArgumentError(f'device="{device}", but torch finds no CUDA')
        if pin and not available:
            text = "pin_memory=True, but torch finds no CUDA: memory is not page-locked"
            warnings.warn(text, RuntimeWarning, stacklevel=3)
        pin = available and pin is not False
        if target is not None:
            options["copy"] = False  # what is on the device is memory of its own
        if target is None and (not pin or options.get("copy")):
            return
        if not options.get("slots") and not options.get("memory"):
            options["slots"] = SLOTS_FOR_COPIES
        self._feed = Feed(cuda, target, pin)
        self._forgetting = weakref.finalize(self, Feed.forget, self._feed)

    def _check_mixing(self) -> None:
        mixes = [step for step in self.recipe.steps() if step.startswith(("mixup", "cutmix"))]
        if mixes and self._num_classes is None:
            warnings.warn(
                f"the recipe mixes samples ({mixes[0]}), but labels are those of the first of each two: give "
                "num_classes= and labels are weights, or use batch.mix (num_classes=0 is quiet)",
                UserWarning,
                stacklevel=3,
            )

    # What millrace.Loader leaves to subclasses.

    def _make_core(self) -> _core.Loader:
        if self._feed is not None:
            self._feed.forget()  # another ring takes the place of this one
        if self._given_ranks:
            return super()._make_core()
        found = _distributed_ranks()
        if found is not None:
            self._options["rank"], self._options["world"] = found
        elif _lightning_comes():
            self._options["rank"], self._options["world"] = 0, 1  # until torch.distributed knows
        try:
            return super()._make_core()
        finally:
            self._options["rank"] = self._options["world"] = None

    def _before_next(self) -> None:
        if self._feed is not None:
            self._feed.make_room(self._slots)
        super()._before_next()

    def _make_batch(self, raw: _core.Batch) -> _loader.Batch:
        batch = super()._make_batch(raw)
        feed = self._feed
        if feed is None:
            return batch
        feed.see(raw)
        if feed.device is None:
            feed.lend(raw, batch.images)
            return batch
        assert isinstance(batch, Batch)
        parts = {"images": batch.images, "second": batch._second(), "labels": batch.labels, "targets": batch.targets}
        tensors: list[torch.Tensor] = []
        each_tensor(parts, lambda tensor: tensors.append(tensor) or tensor)  # type: ignore[func-returns-value]
        copies = iter(feed.copy(raw, tensors))
        batch._kept.update(each_tensor(parts, lambda tensor: next(copies)))
        return batch

    def _move(self, state: str) -> None:
        if self._feed is not None:
            self._feed.settle()  # so that the ring can be used on
        super()._move(state)

    @property
    def batch_sampler(self) -> _Sampler:
        """What has `sampler.set_epoch`: there Lightning says which epoch begins."""
        return _Sampler(self)

    # Ranks: a process may join torch.distributed after it has made its loader, under Lightning for one.

    def _open(self) -> None:
        super()._open()
        stats = self._here().stats()
        self._ranks = (stats["rank"], stats["world"])

    def _follow_ranks(self) -> None:
        if self._given_ranks or self._closed:
            return
        found = _distributed_ranks()
        if found is None and _lightning_comes():
            raise _core.ArgumentError(
                "WORLD_SIZE is set, RANK is not, and torch.distributed is not initialized: give rank= and world=, or "
                "initialize it before the first batch"
            )
        if found is not None and found != self._ranks:
            core = self._core
            self._open()
            if core is not None:
                core.close()

    def _is_between_epochs(self) -> bool:
        return self._begun != self._turn or self._at[1] == 0

    def __iter__(self) -> Iterator[Batch]:
        """Begins the next epoch; after load_state_dict goes on where that says."""
        self._follow_ranks()
        return cast("Iterator[Batch]", super().__iter__())

    def __len__(self) -> int:
        if self._is_between_epochs():
            self._follow_ranks()
        return super().__len__()

    def state_dict(self) -> dict[str, Any]:
        if self._is_between_epochs():
            self._follow_ranks()
        return super().state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self._follow_ranks()
        super().load_state_dict(state)

    def close(self) -> None:
        if self._feed is not None:
            self._feed.forget()
        super().close()

    def __getstate__(self) -> dict[str, Any]:
        left_out = {"_feed", "_forgetting", "_tv_tensors", "_cuda"}
        return {name: value for name, value in super().__getstate__().items() if name not in left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._feed = None
        self._tv_tensors = tv_tensors_module(state["_asked_tv_tensors"]) if state["_targets"] else None
        super().__setstate__(state)
        given = self._options | {"slots": self._slots, "copy": self._copy}
        self._set_up_feed(Cuda(), self._pin_memory, self._device, given)


class _Sampler:
    def __init__(self, loader: Loader) -> None:
        self.sampler = loader


def _distributed_ranks() -> tuple[int, int] | None:
    """Rank and world of torch.distributed, where it is used."""
    distributed = torch.distributed
    if not distributed.is_available() or not distributed.is_initialized():
        return None
    return distributed.get_rank(), distributed.get_world_size()


def _lightning_comes() -> bool:
    """Lightning starts its other ranks with LOCAL_RANK and WORLD_SIZE alone; torch.distributed is initialized later."""
    return "LOCAL_RANK" in os.environ and "WORLD_SIZE" in os.environ and "RANK" not in os.environ


class BatchDataset(torch.utils.data.IterableDataset[Any]):  # type: ignore[misc]
    """Ready batches for a DataLoader: each worker has a loader of its own, with its part of the machine's cores.

    For programs that must have a DataLoader; `mr.torch.Loader` alone is faster, as nothing goes between processes.

    >>> dataset = mr.torch.BatchDataset("imagenet/train", "rrc(224) flip", batch_size=256, shuffle=True, workers=2)
    >>> loads = torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=2, pin_memory=True)
    >>> for images, labels in loads: ...

      workers     as many as the DataLoader's num_workers, so that `len()` is right [0]
      others      as `mr.torch.Loader` takes them; `threads` is of each worker [the machine's, divided by the workers]

    Every sample of an epoch comes once, over all workers and ranks: each of them is a rank of its own. All ranks have
    as many batches. Each epoch is another one, also when workers are started anew for each; `set_epoch` says which.
    Workers may be started by fork, spawn or forkserver. Ranks are as in `mr.torch.Loader`; where torch.distributed
    alone knows them, make the dataset after it is initialized.

    `state_dict` and `load_state_dict` are those of this process: they serve a DataLoader without workers, and
    torchdata's StatefulDataLoader, which asks each worker.
    """

    def __init__(
        self, dataset: DatasetLike, recipe: RecipeLike, *, workers: int = 0, rank: int | None = None,
        world: int | None = None, threads: int | None = None, epoch: int = 0, **options: Unpack[BatchOptions],
    ) -> None:  # fmt: skip
        super().__init__()
        if "pin_memory" in options or "device" in options:
            raise _core.ArgumentError("pin_memory and device are the DataLoader's: batches leave the worker's process")
        if "num_workers" in options:
            raise TypeError("BatchDataset has no argument num_workers=: that is the DataLoader's; workers= is as many")
        refuse_unknown(type(self), dict.fromkeys(options.keys() - BatchOptions.__annotations__.keys()))
        self.dataset = dataset if isinstance(dataset, Dataset) else Dataset(dataset)
        self.recipe = recipe if isinstance(recipe, Recipe) else Recipe(recipe)
        self.recipe.output()  # what is wrong with the recipe is said here, and with the arguments below
        self.workers = whole("workers", workers, 0, WORKERS_MAX)
        self._ranks = read_ranks(rank, world) or _distributed_ranks()
        self._threads = whole_or_none("threads", threads)
        self._options: dict[str, Any] = {**options}
        defaults = {name: one.default for name, one in inspect.signature(_loader.Loader).parameters.items()}
        read = read_options({**defaults, **options, "epoch": epoch})
        self._read = {name: read[name] for name in ("batch", "draws", "drop_last")}
        for name in ("copy", "pad"):
            flag(name, self._options.get(name))
        whole_or_none("num_classes", self._options.get("num_classes"))
        check_tv_tensors(self._options.get("tv_tensors", "auto"))
        # The epoch that was set, and how many were begun since then in each worker: shared with the workers.
        self._epochs = torch.zeros(1 + WORKERS_MAX, dtype=torch.int64).share_memory_()
        self._epochs[0] = read["epoch"]
        self._loader: Loader | None = None
        self._made: tuple[int, ...] | None = None  # in which process, as which part
        self._restored = False

    def set_epoch(self, epoch: int) -> None:
        """Makes the next `iter()` begin this epoch, in all workers."""
        epoch = read_epoch(epoch)
        self._epochs[1:] = 0
        self._epochs[0] = epoch

    def __iter__(self) -> Iterator[tuple[torch.Tensor, Any]]:
        if sys._getframe(1).f_locals.get("auto_collation") is True:  # who asks is what a DataLoader fetches with
            raise _core.ArgumentError(
                f"a BatchDataset gives whole batches, and this DataLoader would make batches of them: {_AS_IT_IS}"
            )
        worker, workers = _worker()
        loader = self._here(worker, workers)
        if not self._restored:
            loader.set_epoch(int(self._epochs[0] + self._epochs[1 + worker]))
        self._restored = False
        iterator = iter(loader)
        self._epochs[1 + worker] = loader.epoch + 1 - self._epochs[0]
        return self._batches(iterator, worker, loader)

    def _batches(
        self, iterator: Iterator[Batch], worker: int, loader: Loader
    ) -> Iterator[tuple[torch.Tensor, Any]]:
        world = self._rank_and_world()[1]
        for batch in _told(iterator):
            # Where no rank has a sample left for this worker, all leave the batch out.
            if batch.count == 0 and batch.raw is not None and batch.raw.position + worker * world >= self._positions():
                return
            yield batch.images, batch._second()

    def __len__(self) -> int:
        """Batches of an epoch, of all workers of this rank."""
        workers, world = max(1, self.workers), self._rank_and_world()[1]
        full, rest = divmod(self._positions(), int(self._read["batch"]) * workers * world)
        if self._read["drop_last"]:
            return full * workers
        return full * workers + min(workers, math.ceil(rest / world))

    def state_dict(self) -> dict[str, Any]:
        """Where this process's part stands, behind the last batch that it gave."""
        worker, workers = _worker()
        return {**self._here(worker, workers).state_dict(), "worker": worker, "workers": workers}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Makes the next `iter()` go on from a state of the same worker of as many."""
        state = read_state(state)
        worker, workers = _worker()
        stated = (state.get("worker", 0), state.get("workers", 1))
        if stated != (worker, workers):
            raise _core.ArgumentError(
                f"the state is of worker {stated[0]} of {stated[1]}, this is {worker} of {workers}: go on with as many "
                "workers, or use mr.torch.Loader, whose state does not depend on processes"
            )
        loader = self._here(worker, workers)
        loader.load_state_dict({name: value for name, value in state.items() if name not in ("worker", "workers")})
        self._restored = True

    def __getstate__(self) -> dict[str, Any]:
        self._rank_and_world()
        return {**self.__dict__, "_loader": None, "_made": None}

    def _here(self, worker: int, workers: int) -> Loader:
        """The loader of this process."""
        made = (os.getpid(), worker, workers)
        if self._loader is None or self._made != made:
            rank, world = self._rank_and_world()
            self._loader = Loader(
                self.dataset,
                self.recipe,
                rank=worker * world + rank,
                world=world * workers,
                threads=self._threads or max(1, _core.threads_default() // workers),
                pin_memory=False,
                epoch=int(self._epochs[0]),
                **{**self._options, **({"copy": False} if workers > 1 else {})},  # leaving the process copies them
            )
            self._made = made
        return self._loader

    def _rank_and_world(self) -> tuple[int, int]:
        """Of the process that has the DataLoader; workers are told, or find the same in their environment."""
        if self._ranks is None:
            self._ranks = _distributed_ranks() or _environment_ranks(self.dataset, self.recipe)
        return self._ranks

    def _positions(self) -> int:
        return int(self._read["draws"] or len(self.dataset))


_AS_IT_IS = "DataLoader(dataset, batch_size=None), and batch_size=... for the BatchDataset"


def _told(iterator: Iterator[Batch]) -> Iterator[Batch]:
    """The same; where all batches are held, it may be that somebody makes batches of them."""
    try:
        yield from iterator
    except _core.TimeoutError as error:
        said = f"{error} (it comes from a BatchDataset, which gives whole batches: {_AS_IT_IS})"
        error.args = (said, *error.args[1:])
        raise


def _show_options(of: type, to: type, options: Any) -> None:
    """Has help() show the options that a class passes on to another."""
    function: Any = of.__init__  # type: ignore[misc]
    shown = inspect.signature(function)
    own = [one for one in shown.parameters.values() if one.kind is not one.VAR_KEYWORD and one.name != "_cuda"]
    names = options.__annotations__.keys() - shown.parameters.keys() - {"to"}
    passed = [one for name, one in inspect.signature(to).parameters.items() if name in names]
    function.__signature__ = shown.replace(parameters=own + passed)


_show_options(Loader, _loader.Loader, LoaderOptions)
_show_options(BatchDataset, Loader, BatchOptions)


def _worker() -> tuple[int, int]:
    """Which worker of a DataLoader this process is, of how many; 0 of 1 where it is none."""
    info = torch.utils.data.get_worker_info()
    return (0, 1) if info is None else (info.id, info.num_workers)


def _environment_ranks(dataset: Dataset, recipe: Recipe) -> tuple[int, int]:
    """As the library finds them."""
    with _loader.Loader(dataset, recipe, batch_size=2, slots=2, threads=1, to="array") as loader:
        stats = loader.stats()
    return stats["rank"], stats["world"]


class MapDataset(torch.utils.data.Dataset[Any]):  # type: ignore[misc]
    """Single samples by number, for samplers of your own: `dataset[i]` is an image as a tensor, and its label.

    >>> dataset = mr.torch.MapDataset("imagenet/train", "rrc(224) flip normalize(imagenet)", seed=0)
    >>> loads = DataLoader(dataset, batch_size=64, sampler=mine, num_workers=2, collate_fn=mr.torch.collate)
    >>> for epoch in range(90):
    ...     dataset.set_epoch(epoch)
    ...     for images, labels in loads: ...

    Sample i of an epoch is the same bytes as a loader with the same recipe and seed gives, in any process, thread and
    order; `set_epoch` draws new random numbers, in running workers too. Without it every epoch is as the first, other
    than with torch's own transforms; a warning says so when a sample comes again. With `targets` the second item is a
    dict (or the mask), as in `mr.torch.Batch`. Mixing steps need whole batches, and are not done here.

      targets, mask_member, tv_tensors, form, check_all, limits   as `mr.torch.Loader` takes them
    """

    def __init__(
        self,
        dataset: DatasetLike,
        recipe: RecipeLike,
        *,
        seed: int = 0,
        epoch: int = 0,
        form: str | None = None,
        check_all: bool = False,
        targets: Sequence[str] | str = (),
        mask_member: str | None = None,
        limits: Mapping[str, int] | None = None,
        tv_tensors: bool | str = "auto",
    ) -> None:
        self.dataset = dataset if isinstance(dataset, Dataset) else Dataset(dataset)
        self.recipe = recipe if isinstance(recipe, Recipe) else Recipe(recipe)
        self._targets = read_targets(targets)
        check_targets(self.dataset, self._targets, mask_member, _loader._frame_outside())
        self._options: dict[str, Any] = {
            "seed": read_seed(seed),
            "form": form,
            "check_all": flag("check_all", check_all),
            "targets": self._targets,
            "mask_member": mask_member,
            "limits": read_limits(limits),
        }
        self._asked_tv_tensors = check_tv_tensors(tv_tensors)
        self._tv_tensors = tv_tensors_module(tv_tensors) if self._targets else None
        # The epoch; whether it was ever set, or somebody was warned that it was not; and who was asked for. Shared with
        # workers: in the next epoch it may be others that are asked, and they may be started anew.
        self._epoch = torch.tensor([read_epoch(epoch), 0]).share_memory_()
        self._seen = torch.zeros(min(len(self.dataset), SEEN_MAX), dtype=torch.bool).share_memory_()
        self._local = threading.local()
        self.recipe.output()  # what is wrong with the recipe is said here,
        self._preparer()  # and with the other arguments here

    def set_epoch(self, epoch: int) -> None:
        """Draws the random numbers of another epoch, in all workers. Call it before each epoch."""
        self._epoch[0] = read_epoch(epoch)
        self._epoch[1] = 1

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, ordinal: int) -> tuple[torch.Tensor, Any]:
        return self.__getitems__([ordinal])[0]

    def __getitems__(self, ordinals: Sequence[int]) -> list[tuple[torch.Tensor, Any]]:
        """Several at once; a DataLoader calls this. The images are parts of one tensor."""
        output = self.recipe.output()
        count, epoch, preparer = len(self), int(self._epoch[0]), self._preparer()
        images = _core.empty((len(ordinals), *output["shape"]), output["dtype"])
        samples = _Samples(images.torch())
        watches = not self._epoch[1]
        for place, ordinal in enumerate(ordinals):
            at = _place_of(ordinal, count)
            if watches:
                watches = self._watch(at)
            preparer.run_into(at, images[place], epoch=epoch)
            samples.append((samples.images[place], self._second(preparer, at)))
        return samples

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_local", "_tv_tensors")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._tv_tensors = tv_tensors_module(self._asked_tv_tensors) if self._targets else None
        self._local = threading.local()

    def _watch(self, ordinal: int) -> bool:
        """Warns, once, where a sample comes again and nobody said that it is another epoch; whether to watch on."""
        if ordinal >= len(self._seen) or not self._seen[ordinal]:
            self._seen[ordinal : ordinal + 1] = True
            return True
        self._epoch[1] = 1
        if _draws(self.recipe):
            text = (
                f"sample {ordinal} of a MapDataset comes again, with the same random numbers: call "
                "dataset.set_epoch(epoch) before each epoch, or once, if they are to be the same"
            )
            warnings.warn_explicit(text, RuntimeWarning, *_loader._frame_outside())
        return False

    def _second(self, preparer: _core.Preparer, ordinal: int) -> Any:
        if not self._targets:
            label = self.dataset._core.label(ordinal)
            return -1 if label is None else label
        output = self.recipe.output()
        size = (int(output["height"]), int(output["width"]))
        target = target_of(preparer.targets(), ordinal, self._targets, size, view_of("torch"), self._tv_tensors)
        return target["mask"] if self._targets == ("mask",) else target

    def _preparer(self) -> _core.Preparer:
        """One for each thread of each process."""
        local = self._local
        if getattr(local, "pid", None) != os.getpid():
            local.preparer = _core.Preparer(self.dataset._core, self.recipe._core, **self._options)
            local.pid = os.getpid()
        preparer: _core.Preparer = local.preparer
        return preparer


def _place_of(ordinal: Any, count: int) -> int:
    """A sample's number, counted from the end where it is below 0; IndexError, which also ends a `for`."""
    try:
        number = operator.index(ordinal)
    except TypeError:
        raise TypeError(f"samples are asked for by number, not by {ordinal!r}") from None
    if not -count <= number < count:
        raise IndexError(f"sample {ordinal} of {count}")
    return number + count if number < 0 else number


def _draws(recipe: Recipe) -> bool:
    """Whether anything in it is random: whether it does something else to one of some samples, in some epoch."""
    try:
        return len({recipe.explain(640, 480, epoch=draw, key=draw) for draw in range(32)}) > 1
    except _core.Error:  # images of this size are none for it
        return True


class _Samples(list[tuple[torch.Tensor, Any]]):
    """Samples whose images stand one behind the other, in one tensor."""

    def __init__(self, images: torch.Tensor) -> None:
        super().__init__()
        self.images = images


def collate(samples: Sequence[tuple[torch.Tensor, Any]]) -> tuple[torch.Tensor, Any]:
    """A batch of samples of a MapDataset: images as one tensor (where they stand in one, they are not copied), labels
    as one tensor, masks as one, targets and other labels as a list.

    >>> torch.utils.data.DataLoader(dataset, batch_size=64, collate_fn=mr.torch.collate)
    """
    one = isinstance(samples, _Samples)
    images = samples.images if one else torch.stack([sample[0] for sample in samples])  # type: ignore[attr-defined]
    seconds = [sample[1] for sample in samples]
    if seconds and all(isinstance(second, torch.Tensor) for second in seconds):
        masks = torch.stack(seconds)
        return images, masks.as_subclass(type(seconds[0])) if type(seconds[0]) is not torch.Tensor else masks
    if all(isinstance(second, int) for second in seconds):
        return images, torch.tensor(seconds, dtype=torch.int64)
    return images, torch.tensor(seconds) if all(isinstance(second, float) for second in seconds) else seconds


def _make_resume() -> Any:
    """The class Resume, for whichever of the two packages is in use."""
    names = ("lightning.pytorch", "pytorch_lightning")
    name = next((name for name in names if name in sys.modules), names[0])
    base: Any = importlib.import_module(name).Callback

    class Resume(base):  # type: ignore[misc]
        """A callback for Lightning that has the training loader go on exactly where a checkpoint was made.

        >>> trainer = lightning.Trainer(callbacks=[mr.torch.Resume(loader)])
        >>> trainer.fit(model, loader, ckpt_path="last.ckpt")

        Lightning saves and restores a Millrace loader without it, but for one case: where
        `trainer.estimated_stepping_batches` was read before the restore (in `configure_optimizers`, as schedules do),
        Lightning begins the loader before it has the checkpoint's state, and forgets that. Then the batches of the
        epoch's beginning come once more, and its last ones not at all. With this callback it goes on as it should.
        """

        def __init__(self, loader: Loader) -> None:
            self.loader = loader
            self._ended = False  # whether the epoch is over, perhaps before its last batch (limit_train_batches)

        @property
        def state_key(self) -> str:
            return "millrace.torch.Resume"

        def state_dict(self) -> dict[str, Any]:
            state = self.loader.state_dict()
            if self._ended and state["position"] != 0:
                state = {**state, "epoch": state["epoch"] + 1, "position": 0}
            return state

        def load_state_dict(self, state_dict: dict[str, Any]) -> None:
            self.loader.load_state_dict(state_dict)

        def on_train_batch_start(self, *_: Any) -> None:
            self._ended = False

        def on_train_epoch_end(self, *_: Any) -> None:
            self._ended = True

    return Resume


if TYPE_CHECKING:  # to which every name would be one of the module
    Resume: Any
else:

    def __getattr__(name: str) -> Any:
        if name == "Resume":
            return globals().setdefault(name, _make_resume())
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
