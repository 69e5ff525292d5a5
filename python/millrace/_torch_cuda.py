# SPDX-License-Identifier: Apache-2.0
"""Batches on their way to a CUDA device: page-locked slots, and none filled anew while a copy of it is under way.

1. A slot of the ring is registered with CUDA when its first batch is seen, and no more when the loader is gone.
2. A copy that is not waited for goes on after the tensor is gone in Python. So every batch is held here until the user
   has let go of its images and all views of them, and an event that was recorded on his stream after that is done.
3. At most slots - 1 batches are held when the next one is asked for; the oldest event is waited for where that is more.

Tested with a stand-in for CUDA that is late with everything; not run on hardware.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from . import _core


class Cuda:
    """The calls of torch.cuda that are made, so that tests can give others."""

    def is_available(self) -> bool:
        return bool(torch.cuda.is_available())

    def register(self, address: int, nbytes: int) -> bool:
        """Page-locks memory; whether that worked."""
        return int(torch.cuda.cudart().cudaHostRegister(address, nbytes, 0)) == 0

    def unregister(self, address: int) -> None:
        torch.cuda.cudart().cudaHostUnregister(address)

    def new_stream(self, device: torch.device) -> Any:
        return torch.cuda.Stream(device)

    def record(self, device: torch.device | None) -> Any:
        """An event behind everything that was asked of the current stream so far."""
        event = torch.cuda.Event()
        event.record(torch.cuda.current_stream(device))
        return event

    def is_done(self, event: Any) -> bool:
        return bool(event.query())

    def wait(self, event: Any) -> None:
        event.synchronize()

    def copy(self, tensors: list[torch.Tensor], device: torch.device, stream: Any) -> tuple[list[torch.Tensor], Any]:
        """Copies on a stream of its own, which the current one waits for; the copies, and the event behind them."""
        with torch.cuda.stream(stream):
            copies = [tensor.to(device, non_blocking=True) for tensor in tensors]
            event = self.record(device)
        current = torch.cuda.current_stream(device)
        current.wait_event(event)
        for copy in copies:
            copy.record_stream(current)  # made on one stream, used and freed on the other
        return copies, event


class _Held:
    """A batch that the user has, or that is being copied."""

    def __init__(self, memory: object, user: StorageWeakRef | None, event: Any) -> None:
        self.memory = memory  # whatever has it
        self.user = user  # as long as any tensor shows it
        self.event = event


class Feed:
    """What a loader knows of its batches on their way."""

    def __init__(self, cuda: Cuda, device: torch.device | None, pin: bool) -> None:
        self.cuda = cuda
        self.device = device
        self.pin = pin
        self.pid = os.getpid()
        self.lock = threading.RLock()  # iterators are shared by threads; a finalizer may come in between
        self.held: list[_Held] = []
        self.registered: dict[int, int] = {}  # nbytes by address
        self.refused: set[int] = set()
        self.stream = cuda.new_stream(device) if device is not None else None

    def see(self, raw: _core.Batch) -> None:
        """Page-locks the batch's slot, once."""
        with self.lock:
            images = raw.images
            if not self.pin or images.address in self.registered or images.address in self.refused:
                return
            if self.cuda.register(images.address, images.nbytes):
                self.registered[images.address] = images.nbytes
                return
            if not self.refused:
                warnings.warn(
                    f"CUDA did not page-lock a slot of {images.nbytes} bytes: batches are copied more slowly (ulimit "
                    "-l is the usual limit; pin_memory=False is quiet)",
                    RuntimeWarning,
                    stacklevel=5,
                )
            self.refused.add(images.address)

    def lend(self, raw: _core.Batch, images: torch.Tensor) -> None:
        """The user gets the slot itself."""
        with self.lock:
            self.held.append(_Held(raw, StorageWeakRef(images.untyped_storage()), None))

    def copy(self, raw: _core.Batch, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        """The user gets copies, on the device."""
        assert self.device is not None
        with self.lock:
            copies, event = self.cuda.copy(tensors, self.device, self.stream)
            self.held.append(_Held((raw, tensors), None, event))
        return copies

    def make_room(self, slots: int) -> None:
        """Lets go of what is done with; called before a batch is asked for."""
        with self.lock:
            self._mark()
            self.held = [held for held in self.held if held.event is None or not self.cuda.is_done(held.event)]
            while len(self.held) >= slots and self._wait_for_oldest():
                pass

    def settle(self) -> None:
        """Waits until nothing is under way; what the user still has stays with him."""
        with self.lock:
            self._mark()
            while self._wait_for_oldest():
                pass

    def forget(self) -> None:
        """The ring is about to go: nothing of it is page-locked any more, nor under way."""
        with self.lock:
            if self.pid == os.getpid():  # in a forked child nothing of it is ours
                self.settle()
                if self.held:  # a copy of what the user still has may be under way
                    self.cuda.wait(self.cuda.record(self.device))
                for address in self.registered:
                    self.cuda.unregister(address)
            self.held.clear()
            self.registered.clear()
            self.refused.clear()

    def _mark(self) -> None:
        """An event behind all that was asked for, for those that the user has let go of."""
        gone = [held for held in self.held if held.event is None and held.user is not None and held.user.expired()]
        if gone:
            event = self.cuda.record(self.device)
            for held in gone:
                held.event = event

    def _wait_for_oldest(self) -> bool:
        for at, held in enumerate(self.held):
            if held.event is not None:
                self.cuda.wait(held.event)
                del self.held[at]
                return True
        return False


def each_tensor(of: Any, do: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """The same lists, tuples and dicts, with something done to every tensor in them."""
    if isinstance(of, torch.Tensor):
        return do(of)
    if isinstance(of, dict):
        return {name: each_tensor(value, do) for name, value in of.items()}
    if isinstance(of, (list, tuple)):
        return type(of)(each_tensor(value, do) for value in of)
    return of
