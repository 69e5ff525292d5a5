# SPDX-License-Identifier: Apache-2.0
"""Batches on their way to a device, with a stand-in for CUDA whose copies are late: what arrives must be the batch all
the same. Not run on hardware."""

import gc
import os
import threading

import pytest
import sets

torch = pytest.importorskip("torch")
import millrace as mr  # noqa: E402

COUNT = 64


class LateCuda:
    """Copies are done when something behind them is waited for, or looked at for the `late`th time, and not before."""

    def __init__(self, late=5):
        self.late = late
        self.queue = []  # copies that were asked for, and events between them
        self.registered = {}
        self.unregistered = []
        self.waits = self.most = 0
        self.refuses = False

    def is_available(self):
        return True

    def register(self, address, nbytes):
        assert address not in self.registered
        if self.refuses:
            return False
        self.registered[address] = nbytes
        return True

    def unregister(self, address):
        del self.registered[address]
        self.unregistered.append(address)

    def new_stream(self, device):
        return "another"

    def record(self, device):
        event = {"looks": 0, "done": False}
        self.queue.append(event)
        return event

    def is_done(self, event):
        event["looks"] += 1
        if event["looks"] > self.late:
            self.run_to(event)
        return event["done"]

    def wait(self, event):
        self.waits += 1
        self.run_to(event)

    def run_to(self, event):
        while not event["done"]:
            first = self.queue.pop(0)
            if isinstance(first, dict):
                first["done"] = True
            else:
                first()

    def copy_later(self, tensor):
        """As tensor.to(device, non_blocking=True): the caller need not keep the tensor, and does not."""
        to = torch.full_like(tensor, 77)
        # A shape and an address, as the device has them: nothing here keeps the tensor.
        address, nbytes = tensor.data_ptr(), tensor.nbytes
        self.queue.append(lambda: copy_bytes(to, address, nbytes))
        return to

    def copy(self, tensors, device, stream):
        assert stream == "another"
        copies = [self.copy_later(tensor) for tensor in tensors]
        return copies, self.record(device)


def copy_bytes(to, address, nbytes):
    import ctypes

    ctypes.memmove(to.data_ptr(), address, nbytes)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return sets.folder(tmp_path_factory.mktemp("set"), COUNT)


def loader_of(path, cuda, **options):
    return mr.torch.Loader(
        path, "crop(12)", **{"batch_size": 4, "shuffle": True, "threads": 2, "_cuda": cuda, **options}
    )


def expected_of(path, epochs=1):
    with mr.torch.Loader(path, "crop(12)", batch_size=4, shuffle=True, pin_memory=False, copy=True) as loader:
        return [batch for _ in range(epochs) for batch in loader]


def check(cuda, got, expected):
    cuda.wait(cuda.record(None))
    assert len(got) == len(expected)
    for (images, labels), batch in zip(got, expected, strict=True):
        assert torch.equal(images, batch.images) and torch.equal(labels, batch.labels)


@pytest.mark.parametrize("slots", [2, 3, 4, 6])
@pytest.mark.parametrize("late", [0, 3, 10**9])
def test_a_slot_is_not_filled_before_its_copy_is_done(path, slots, late):
    cuda = LateCuda(late)
    with loader_of(path, cuda, slots=slots) as loader:
        got = []
        for _ in range(3):
            for images, labels in loader:
                got.append((cuda.copy_later(images), labels.clone()))
                del images, labels  # the copy is under way, and nobody has the tensor
                assert len(loader._feed.held) <= slots
        check(cuda, got, expected_of(path, 3))
        assert late or cuda.waits < 10


def test_without_holding_it_would_be_wrong(path):
    """That the stand-in is as mean as hardware is: the same loop without what is tested gives other images."""
    cuda = LateCuda(10**9)
    with loader_of(path, cuda, slots=2, pin_memory=False) as loader:
        assert loader._feed is None
        got = []
        for images, labels in loader:
            got.append((cuda.copy_later(images), labels.clone()))
            del images, labels
        with pytest.raises(AssertionError):
            check(cuda, got, expected_of(path))


def test_tensors_that_are_kept_for_a_while(path):
    """A program that copies a batch only when it has the next: events count from when the tensor is let go."""
    cuda = LateCuda(10**9)
    with loader_of(path, cuda, slots=5) as loader:
        got, before = [], None
        for images, labels in loader:
            if before is not None:
                got.append((cuda.copy_later(before[0]), before[1]))
            before = (images, labels.clone())
            del images, labels
        got.append((cuda.copy_later(before[0]), before[1]))
        del before
        for images, labels in loader:  # another epoch over the same slots
            del images, labels
        check(cuda, got, expected_of(path))


@pytest.mark.parametrize("mode", [torch.enable_grad, torch.no_grad, torch.inference_mode])
def test_views_that_are_kept_for_a_while(path, mode):
    """The tensor is gone long before a part of it is."""
    cuda = LateCuda(0)
    with loader_of(path, cuda, slots=5) as loader, mode():
        batches = iter(loader)
        part = next(batches).images[1:3].flatten(1)
        for _ in range(4):
            next(batches)
        got = cuda.copy_later(part)
        del part
        cuda.late = 10**9
        for images, _ in batches:
            del images
        cuda.wait(cuda.record(None))
    assert torch.equal(got, expected_of(path)[0].images[1:3].flatten(1))


def test_a_loop_that_is_left(path):
    cuda = LateCuda(10**9)
    with loader_of(path, cuda, slots=3) as loader:
        for images, labels in loader:
            got = [(cuda.copy_later(images), labels.clone())]
            break
        del images, labels
        loader.set_epoch(5)
        for _ in loader:
            pass
        check(cuda, got, expected_of(path)[:1])


@pytest.mark.parametrize("late", [0, 3, 10**9])
def test_the_loader_copies(path, late):
    cuda = LateCuda(late)
    with loader_of(path, cuda, device="cuda:0", slots=3) as loader:
        got = [(images, labels) for _ in range(2) for images, labels in loader]
        check(cuda, got, expected_of(path, 2))
        assert cuda.registered


def test_the_loader_copies_targets(tmp_path):
    cuda = LateCuda(10**9)
    options = {"batch_size": 4, "threads": 1, "targets": ("boxes", "masks"), "tv_tensors": False}
    scenes = sets.scenes(tmp_path / "scenes.tar")
    with (
        mr.torch.Loader(scenes, "pad(to=48)", device="cuda", _cuda=cuda, **options) as ours,
        mr.torch.Loader(scenes, "pad(to=48)", copy=True, **options) as plain,
    ):
        got = [targets for _, targets in ours]
        cuda.wait(cuda.record(None))
        for batch, (_, targets) in zip(got, plain, strict=True):
            for one, other in zip(batch, targets, strict=True):
                assert one.keys() == other.keys()
                assert all(torch.equal(one[name], other[name]) for name in one if name != "image_id")


def test_slots_are_registered_once_and_given_back(path):
    cuda = LateCuda(0)
    loader = loader_of(path, cuda, slots=3)
    for _ in range(2):
        for batch in loader:
            assert batch.images.data_ptr() in cuda.registered
    assert 0 < len(cuda.registered) <= 3 and not cuda.unregistered
    assert set(cuda.registered.values()) == {4 * 3 * 12 * 12}
    loader.close()
    assert not cuda.registered and len(cuda.unregistered) == len(set(cuda.unregistered))


def test_a_loader_that_is_dropped_gives_back(path):
    cuda = LateCuda(10**9)
    loader = loader_of(path, cuda)
    images, _ = next(iter(loader))
    assert cuda.registered
    kept = images.clone()
    del loader
    gc.collect()
    assert not cuda.registered
    assert torch.equal(images, kept)  # the memory stays with its view


def test_another_ring(path):
    """Batches that are held while the loader goes elsewhere stay in the ring they are in, which is given back."""
    cuda = LateCuda(10**9)
    with loader_of(path, cuda, slots=3) as loader:
        held, _ = next(iter(loader))
        state = loader.state_dict()
        before = set(cuda.registered)
        loader.load_state_dict(state)
        rest = [images.clone() for images, _ in loader]
        assert before <= set(cuda.unregistered)
        expected = [batch.images for batch in expected_of(path)]
        assert torch.equal(held, expected[0])
        assert all(torch.equal(one, other) for one, other in zip(rest, expected[1:], strict=True))


def test_memory_that_cannot_be_locked(path):
    cuda = LateCuda(0)
    cuda.refuses = True
    with loader_of(path, cuda) as loader, pytest.warns(RuntimeWarning, match="page-lock") as said:
        assert sum(len(images) for images, _ in loader) == COUNT
    assert len(said) == 1


def test_memory_that_is_capped_has_as_many_slots_as_fit(path):
    cuda = LateCuda(10**9)
    with loader_of(path, cuda, memory="40MB") as loader:
        got = []
        for images, labels in loader:
            got.append((cuda.copy_later(images), labels.clone()))
            del images, labels
        check(cuda, got, expected_of(path))


def test_copies_need_no_pins(path):
    cuda = LateCuda()
    with loader_of(path, cuda, copy=True) as loader:
        assert len(list(loader)) == 16 and not cuda.registered


def test_threads_that_share_an_iterator(path):
    """Each copies what it gets; a slot is nobody's until all of its copies are done."""
    cuda, got, lock = LateCuda(2), {}, threading.Lock()
    with loader_of(path, cuda, slots=6) as loader:
        batches = iter(loader)

        def take():
            for batch in batches:
                with lock:  # the stand-in is for one at a time
                    got[batch.number] = (cuda.copy_later(batch.images), batch.labels.clone())
                del batch

        threads = [threading.Thread(target=take) for _ in range(3)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        check(cuda, [got[number] for number in sorted(got)], expected_of(path))


def test_a_forked_child_leaves_cuda_alone(path):
    cuda = LateCuda(0)
    with loader_of(path, cuda) as loader:
        next(iter(loader))
        child = os.fork()
        if child == 0:
            loader._feed.forget()
            os._exit(0 if cuda.registered and not cuda.unregistered else 1)
        assert os.waitpid(child, 0)[1] == 0
