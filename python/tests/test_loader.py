# SPDX-License-Identifier: Apache-2.0
"""mr.Loader and mr.Batch: what is in a batch, how long it stays, epochs, states, processes."""

import gc
import inspect
import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings

import cores
import pytest
from demo import CLASSES, RECIPE, annotated, command, folder, labelled, make, picture, tar

import millrace as mr

MASK64 = 2**64 - 1


def ordinals(loader):
    return [number for batch in loader for number in batch.ordinals.tolist()]


def epoch_hash(loader):
    total = 0
    for batch in loader:
        total = (total + batch.raw.hash()) & MASK64
    return f"{total:016x}"


def test_a_batch_has_what_it_says():
    loader = make()
    assert len(loader) == 7
    batches = 0
    for batch in loader:
        images, labels = batch
        assert len(batch) == 2 and batch[0].shape == images.shape
        assert images.shape == (batch.count, 3, 24, 24) and images.dtype == "uint8"
        assert labels.shape == (batch.count,) and labels.dtype == "int64"
        assert batch.epoch == 0 and batch.number == batches and batch.size == 8
        assert batch.last == (batches == 6) and batch.count == (2 if batch.last else 8)
        assert batch.mask.tolist() == [0] * batch.count
        assert batch.targets is None and batch.mix is None
        for key, label, ordinal in zip(batch.keys, labels.tolist(), batch.ordinals.tolist(), strict=True):
            assert key.startswith(CLASSES[label])
            assert loader.dataset.find(key) == ordinal if hasattr(loader.dataset, "find") else True
        batches += 1
        assert "Batch" in repr(batch)
    assert batches == 7
    assert "50 samples" in repr(loader)


def test_an_epoch_has_each_sample_once_and_epochs_differ():
    loader = make()
    first, second = ordinals(loader), ordinals(loader)
    assert sorted(first) == sorted(second) == list(range(50))
    assert first != second
    assert loader.epoch == 1
    assert ordinals(make(shuffle=False)) == list(range(50))


def test_padded_and_dropped_ends():
    *_, last = make(pad=True, copy=True)
    assert last.count == 2 and last.images.shape[0] == 8
    assert last.mask.tolist() == [0, 0] + [1] * 6
    assert last.labels.tolist()[2:] == [-1] * 6 and last.keys[2:] == [""] * 6
    loader = make(drop_last=True)
    assert len(loader) == 6 and len(ordinals(loader)) == 48


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("recipe", [RECIPE, "rrc(24) flip normalize(imagenet)", "rrc(24) mixup(0.4)"])
def test_the_same_bytes_as_the_command(recipe, threads):
    arguments = ["--recipe", recipe, "--batch=8", "--seed=5", "--sink=hash", "--json", "--epochs=2"]
    told = json.loads(
        subprocess.run([command(), "feed", str(folder()), *arguments], check=True, capture_output=True).stdout
    )
    loader = make(recipe, seed=5, threads=threads)
    assert [epoch_hash(loader), epoch_hash(loader)] == [epoch["hash"] for epoch in told["epoch_hashes"]]
    state = loader.state_dict()
    assert state["recipe"] == told["recipe_hash"] and state["samples"] == told["dataset_samples"]


def test_ranks_share_an_epoch():
    alone = epoch_hash(make())
    parts = [int(epoch_hash(make(batch_size=4, rank=rank, world=2)), 16) for rank in range(2)]
    assert f"{sum(parts) & MASK64:016x}" == alone


def test_epochs_go_on_and_can_be_set():
    loader = make(epoch=3)
    assert loader.epoch == 3
    third = ordinals(loader)
    assert loader.epoch == 3
    loader.set_epoch(4)  # would come anyway
    fourth = ordinals(loader)
    loader.set_epoch(3)
    assert ordinals(loader) == third
    assert ordinals(loader) == fourth
    with pytest.raises(mr.ArgumentError, match="epoch=-1"):
        loader.set_epoch(-1)


@pytest.mark.parametrize("hold", [False, True])
def test_break_begins_the_next_epoch(hold):
    whole = make()
    expected = [ordinals(whole), ordinals(whole)]
    loader = make()
    for batch in loader:
        if batch.number == 2:
            break
    assert loader.state_dict()["position"] == 24
    if not hold:
        del batch
    assert ordinals(loader) == expected[1]
    assert loader.epoch == 1
    if hold:
        assert batch.ordinals.tolist() == expected[0][16:24]  # what was held is as it was


def test_a_second_iteration_ends_the_first():
    loader = make()
    first = iter(loader)
    next(first)
    second = iter(loader)
    with pytest.raises(RuntimeError, match="another iteration"):
        next(first)
    assert next(second).epoch == 1


class Stop(Exception):
    """What a handler of a signal raises."""


@pytest.mark.parametrize("copy", [False, True])
def test_exceptions_of_signal_handlers_lose_no_batch(copy):
    expected = [[batch.number for batch in make()]] * 4
    inside = os.path.dirname(mr.__file__)

    def stop(_signal, frame):
        if frame is not None and frame.f_code.co_filename.startswith(inside):  # else it is our own that loses it
            raise Stop

    loader = make("rrc(160) flip normalize(imagenet)", threads=1, slots=2, copy=copy)
    before = signal.signal(signal.SIGALRM, stop)
    given, stops, begun = [], 0, time.monotonic()
    try:
        while len(given) < 4:
            batches, seen = iter(loader), []
            batch = None
            while True:
                try:
                    signal.setitimer(signal.ITIMER_REAL, 0.0003 * (1 + stops % 7), 0.0004)
                    batch = None
                    batch = next(batches)
                    seen.append(batch.number)
                except Stop:
                    stops += 1
                except StopIteration:
                    break
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
                if stops % 40 == 39:
                    time.sleep(0.02)  # so that something becomes ready
                assert time.monotonic() - begun < 60
            given.append(seen)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert given == expected and stops > 0


@pytest.mark.parametrize("at", ["_wait", "_after_next", "_make_batch"])
def test_an_exception_at_any_place_loses_no_batch(at, monkeypatch):
    loader = make(shuffle=False)
    expected = [batch.number for batch in make()]
    done = getattr(loader, at)

    def fail(*arguments):
        made = done(*arguments)
        fail.turn += 1
        if fail.turn % 2:
            raise KeyboardInterrupt  # behind the work: the extension has given the batch
        return made

    fail.turn = 0
    monkeypatch.setattr(loader, at, fail)
    for epoch in range(2):
        batches, seen = iter(loader), []
        while len(seen) < 8:
            try:
                batch = next(batches)
                seen.append(batch.number)
                assert batch.epoch == epoch
            except KeyboardInterrupt:
                continue
            except StopIteration:
                break
        assert seen == expected


def test_numbers_tell_of_the_whole_also_when_a_batch_was_held_at_a_break():
    loader = make()
    for _ in range(3):
        for batch in loader:
            if batch.number == 1:
                break  # with `batch`, so that the loader goes on in new memory
    stats = loader.stats()
    assert stats["batches"] == 6 and stats["samples"] >= 48
    assert sum(stage["count"] for stage in stats["stages"] if stage["name"] == "decode") >= 48
    assert "Fed" in str(loader.report()) and loader.report().to_dict()["batches"] == 6
    assert stats["seconds"] > 0 and stats["slots"] == loader._slots


def test_an_iterator_knows_how_many_are_left():
    loader = make()
    batches = iter(loader)
    hints = [batches.__length_hint__()]
    for _ in batches:
        hints.append(batches.__length_hint__())
    assert hints == [7, 6, 5, 4, 3, 2, 1, 0]


def test_an_iterator_that_is_over_stays_over():
    iterator = iter(make())
    assert sum(1 for _ in iterator) == 7
    assert list(iterator) == [] and iterator.__length_hint__() == 0


@pytest.mark.parametrize("batch_size", [8, 5])
def test_a_state_goes_on_in_the_middle(batch_size):
    loader = make()
    iter_ = iter(loader)
    seen = [next(iter_).ordinals.tolist() for _ in range(3)]
    state = json.loads(json.dumps(loader.state_dict()))
    assert state["epoch"] == 0 and state["position"] == 24 and "rank" not in state
    rest = [number for batch in iter_ for number in batch.ordinals.tolist()]
    after = ordinals(loader)
    again = make(batch_size=batch_size)
    again.load_state_dict(state)
    assert again.epoch == 0
    again.set_epoch(0)  # as loops do; the middle of it is what would come
    assert ordinals(again) == rest
    assert ordinals(again) == after
    assert sorted(sum(seen, []) + rest) == list(range(50))


def test_a_state_at_the_end_of_an_epoch():
    loader = make()
    ordinals(loader)
    state = loader.state_dict()
    assert (state["epoch"], state["position"]) == (1, 0)
    expected = ordinals(loader)
    again = make()
    again.load_state_dict(state)
    assert again.epoch == 1 and ordinals(again) == expected


def test_load_state_dict_ends_an_iteration_that_has_begun_and_moves_one_that_has_not():
    loader = make()
    batches = iter(loader)
    held = next(batches)
    state = loader.state_dict()
    expected = next(batches).ordinals.tolist()
    loader.load_state_dict(state)  # though `held` is held
    with pytest.raises(RuntimeError):
        next(batches)
    batches = iter(loader)
    loader.load_state_dict(state)
    assert next(batches).ordinals.tolist() == expected
    assert held.count == 8


def test_states_of_something_else_are_refused_and_change_nothing():
    loader = make()
    first = next(iter(loader)).ordinals.tolist()
    for other, word in ((make(seed=1), "seed"), (make("rrc(20)"), "recipe"), (make(shuffle=False), "order")):
        with pytest.raises(mr.ArgumentError, match=word):
            loader.load_state_dict(other.state_dict())
    with pytest.raises(mr.ArgumentError, match="another recipe: .* and of another order: .*dataset, seed are the same"):
        loader.load_state_dict(make("rrc(20)", shuffle=False).state_dict())
    with pytest.raises(mr.ArgumentError, match="of a dataset of 9 samples, and this one has 50"):
        loader.load_state_dict(mr.Loader(labelled("1"), RECIPE, shuffle=True, to="array").state_dict())
    for wrong, kind in (({"epoch": 1}, mr.ArgumentError), (None, TypeError), ("x", TypeError), ([], TypeError)):
        with pytest.raises(kind, match="state"):
            loader.load_state_dict(wrong)
    with pytest.raises(mr.ArgumentError, match="numbers and texts"):
        loader.load_state_dict({**loader.state_dict(), "more": object()})
    loader.set_epoch(0)
    assert next(iter(loader)).ordinals.tolist() == first


def test_state_between_iter_and_the_first_batch():
    loader = make()
    ordinals(loader)
    iterator = iter(loader)
    assert loader.state_dict()["epoch"] == 1 and loader.state_dict()["position"] == 0
    next(iterator)
    loader.set_epoch(7)
    assert loader.state_dict()["epoch"] == 1  # where it stands
    del iterator
    assert next(iter(loader)).epoch == 7


def test_memory_is_used_anew_only_when_the_last_view_is_gone():
    loader = make(slots=2, shuffle=False)
    batches = iter(loader)
    view = next(batches).images[2]
    before = view.tobytes()
    for batch in batches:
        assert batch.images.address != view.address - 2 * 3 * 24 * 24
        del batch
    assert view.tobytes() == before


def test_all_slots_held_is_a_warning_and_then_an_error():
    loader = make(slots=2, timeout=3)
    batches = iter(loader)
    held = [next(batches), next(batches)]
    with pytest.warns(RuntimeWarning, match="all 2 batches .* copy=True") as caught:
        with pytest.raises(mr.TimeoutError, match=r"all 2 batches .*\.clone.* copy=True, or with slots=4") as error:
            next(batches)
    assert error.value.code == "MR_ETIMEOUT"
    assert caught[0].filename == __file__
    held.pop()
    assert next(batches).number == 2


def test_a_warning_that_is_an_error():
    loader = make(slots=2, timeout=3)
    batches = iter(loader)
    held = [next(batches), next(batches)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="all 2 batches"):
            next(batches)
    held.clear()
    assert next(batches).number == 2  # nothing was lost


def test_a_batch_that_another_thread_lets_go_ends_the_wait():
    loader = make(slots=2)
    batches = iter(loader)
    held = [next(batches), next(batches)]
    timer = threading.Timer(0.3, held.clear)
    timer.start()
    begun = time.monotonic()
    assert next(batches).number == 2
    assert 0.2 < time.monotonic() - begun < cores.AT_ONCE
    timer.join()


def test_copies_may_be_kept():
    loader = make(slots=2, copy=True, shuffle=False)
    kept = list(loader)
    assert len(kept) == 7 and all(batch.raw is None for batch in kept)
    for copied, batch in zip(kept, make(shuffle=False), strict=True):
        assert copied.images.tobytes() == batch.images.tobytes()
        assert copied.labels.tolist() == batch.labels.tolist() and copied.keys == batch.keys
        assert copied.ordinals.tolist() == batch.ordinals.tolist() and copied.mask.tolist() == batch.mask.tolist()
        assert copied.soft_labels(3).tolist() == batch.soft_labels(3).tolist()


def test_mixed_batches():
    loader, copied = (make("rrc(24) mixup(0.4)", copy=copy) for copy in (False, True))
    for batch, other in zip(loader, copied, strict=True):
        assert batch.mix["kind"] == "mixup" and 0 <= batch.mix["weight"] <= 1
        assert len(batch.mix["partners"]) == batch.count
        rows = batch.soft_labels(3).tolist()
        assert len(rows) == batch.count and all(abs(sum(row) - 1) < 1e-6 for row in rows)
        for row, same in zip(rows, other.soft_labels(3).tolist(), strict=True):
            assert same == pytest.approx(row, abs=1e-6)
        with pytest.raises(mr.ArgumentError):
            other.soft_labels(1)


@pytest.mark.parametrize("to", ["torch", "numpy", "array"])
def test_labels_and_what_else_is_small_may_be_kept(to):
    if to != "array":
        pytest.importorskip(to)
    loader = make("rrc(24) mixup(0.4)", slots=2, timeout=3, to=to)
    kept = []
    for batch in loader:
        mix = batch.mix
        kept.append((batch.labels, batch.mask, batch.ordinals, batch.positions, mix["partners"], mix["ordinals"]))
        assert batch.labels is batch.labels  # made once
        if to != "array":
            before = batch.raw.mask.tolist()
            batch.mask[:] = 9  # its own memory, not the loader's
            assert batch.raw.mask.tolist() == before and batch.mask.tolist() == [9] * batch.count
    assert len(kept) == 7 and loader._core.held == 1  # by `batch`
    del batch
    assert loader._core.held == 0
    assert sorted(number for part in kept for number in part[2].tolist()) == list(range(50))


def test_labels_are_of_one_type_in_all_batches():
    labels = ["1", "2", "3", None, "5", "7 8", "2", "3", "4"]  # the list is none of the first, the middle or the last
    samples = [
        (f"{i:04}", {"jpg": mr.encode(picture(i), "jpeg"), **({"cls": label.encode()} if label else {})})
        for i, label in enumerate(labels)
    ]
    loader = mr.Loader(tar("some.tar", samples), "resize(16x16)", batch_size=3, to="array", copy=True)
    told = [[label.tolist() for label in batch.labels] for batch in loader]
    assert told == [[[1], [2], [3]], [[], [5], [7, 8]], [[2], [3], [4]]]
    assert {label.dtype for batch in loader for label in batch.labels} == {"int64"}
    labels = ["1", "2", "3", "0.5", "5", "1.5 2", "2", "3", "4"]
    loader = mr.Loader(labelled(*labels), "resize(16x16)", batch_size=3, to="array")
    assert {label.dtype for batch in loader for label in batch.labels} == {"float64"}
    texts = mr.Loader(labelled("1", "2", "a cat", "3", "4"), "resize(16x16)", batch_size=2, to="array")
    assert [label for batch in texts for label in batch.labels] == [1, 2, "a cat", 3, 4, 1, 2, "a cat", 3]
    padded = mr.Loader(labelled("1 2", "3 4 5"), "resize(16x16)", batch_size=4, to="array", pad=True, copy=True)
    assert [label.tolist() for label in list(padded)[-1].labels] == [[1, 2], [], [], []]


def test_a_dataset_without_labels_says_so():
    path = tar("bare.tar", [(f"{i:04}", {"jpg": mr.encode(picture(i), "jpeg")}) for i in range(6)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loader = mr.Loader(path, "resize(16x16)", batch_size=4, to="array")
        assert [label for batch in loader for label in batch.labels.tolist()] == [-1] * 6
    for text in (repr(loader), str(loader.report()), str(loader.peek()), repr(loader.dataset)):
        assert "no labels" in text
    assert "no labels" not in repr(make()) + repr(make().dataset)
    assert loader.dataset.core.label_kinds() == {"none": 6}
    assert make().dataset.core.label_kinds() == {"int": 50}


def test_labels_of_other_kinds():
    lists = next(iter(mr.Loader(labelled("1 2 3", "", "5 6"), "resize(16x16)", batch_size=6, to="array")))
    assert [label.tolist() if label is not None else None for label in lists.labels][0] == [1, 2, 3]
    assert lists.labels[1].tolist() == [] and lists.labels[2].tolist() == [5, 6]
    some = next(iter(mr.Loader(labelled("1", "1", ""), "resize(16x16)", batch_size=3, to="array")))
    assert some.labels == [1, 1, ""]
    texts = next(iter(mr.Loader(labelled("a cat", "a dog"), "resize(16x16)", batch_size=4, to="array")))
    assert texts.labels == ["a cat", "a dog", "a cat", "a dog"]
    reals = next(iter(mr.Loader(labelled("0.5", "1.25"), "resize(16x16)", batch_size=2, to="array")))
    assert reals.labels == [0.5, 1.25]


@pytest.mark.parametrize("copy", [False, True])
def test_targets(copy):
    loader = mr.Loader(
        annotated(), "resize(20x16)", batch_size=4, targets=("boxes", "masks", "mask"), to="array", copy=copy
    )
    images, targets = next(iter(loader))
    assert images.shape == (4, 3, 20, 16) or images.shape == (4, 3, 16, 20)
    assert len(targets) == 4
    assert [len(target["categories"]) for target in targets] == [0, 1, 2, 0]
    assert targets[2]["boxes"].shape == (2, 4) and targets[2]["masks"].shape[0] == 2
    assert targets[1]["mask"].shape == targets[1]["masks"].shape[1:]
    assert "keypoints" not in targets[0]
    assert len(next(iter(mr.Loader(annotated(), "resize(16x16)", targets="boxes", to="array"))).targets) == 12


@pytest.mark.parametrize("to", ["torch", "numpy", "array"])
@pytest.mark.parametrize("dtype", ["f32", "f16", "u8", "bf16"])
def test_frameworks_see_the_same_memory(to, dtype):
    if to != "array":
        pytest.importorskip(to)
    if to == "numpy" and dtype == "bf16":
        pytest.importorskip("ml_dtypes")
    batch = next(iter(make(f"rrc(24) {'' if dtype == 'u8' else 'normalize(imagenet) '}dtype({dtype})", to=to)))
    address = {
        "torch": lambda: batch.images.data_ptr(),
        "numpy": lambda: batch.images.__array_interface__["data"][0],
        "array": lambda: batch.images.address,
    }[to]()
    assert address == batch.raw.images.address
    assert tuple(batch.images.shape) == (8, 3, 24, 24)
    name = str(batch.images.dtype).removeprefix("torch.")
    assert name == {"f32": "float32", "f16": "float16", "u8": "uint8", "bf16": "bfloat16"}[dtype]
    assert batch.labels.tolist() == batch.raw.labels.tolist()
    assert batch.ordinals.tolist() == batch.raw.ordinals.tolist()
    assert batch.mask.tolist() == [0] * 8


def test_views_of_frameworks_hold_the_memory():
    numpy = pytest.importorskip("numpy")
    loader = make(to="numpy", slots=2)
    batches = iter(loader)
    part = next(batches).images[3, 1]
    before = part.copy()
    for batch in batches:
        del batch
    gc.collect()
    assert numpy.array_equal(part, before)
    assert loader._core.held == 1
    del part
    assert loader._core.held == 0


def test_bfloat16_without_ml_dtypes(monkeypatch):
    pytest.importorskip("numpy")
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    batch = next(iter(make("rrc(24) normalize(imagenet) dtype(bf16)", to="numpy")))
    with pytest.raises(TypeError, match="ml_dtypes"):
        batch.images


def test_auto(monkeypatch):
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert make(to="auto")._to in ("numpy", "array")
    with pytest.raises(mr.ArgumentError, match='to="tensorflow"'):
        make(to="tensorflow")


def test_importing_it_imports_nothing_else():
    code = (
        "import sys, millrace; print([n for n in ('numpy', 'torch', 'jax', 'torchvision', 'PIL') if n in sys.modules])"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip() == "[]"
    )


def test_arguments_that_make_no_sense():
    for arguments, word in (
        ({"batch_size": 0}, "batch_size=0"),
        ({"memory": "2 quarts"}, "2 quarts"),
        ({"timeout": 0}, "timeout=0"),
        ({"weights": [1] * 50, "repeats": 2}, "two orders"),
        ({"order": "sequential", "window": 4}, "windowed"),
        ({"draws": 20}, "draws= .* no weights"),
        ({"order": "shuffled", "draws": 20}, "draws= .* no weights"),
        ({"order": "weighted", "weights": [1] * 50, "block": 2}, 'block= is of order="windowed"'),
        ({"order": "windowed", "repeats": 2}, 'repeats= is of order="repeated"'),
        ({"seed": None}, "seed=None"),
        ({"batch_size": 2**32}, "too large"),
        ({"memory": float("nan")}, "memory cannot be nan"),
        ({"memory": float("inf")}, "memory cannot be inf"),
        ({"memory": []}, "memory cannot be"),
        ({"timeout": float("nan")}, "timeout=nan"),
        ({"timeout": "60"}, "timeout='60'"),
        ({"timeout": True}, "timeout=True"),
        ({"drop_last": True, "batch_size": 256}, "50 samples, fewer than one batch of 256 .x 1 rank.* smaller"),
    ):
        with pytest.raises(mr.ArgumentError, match=word):
            make(**arguments)
    with pytest.raises(ValueError):
        make(form="no-such-form")


WHOLE = "batch_size seed epoch block window draws repeats rank threads slots read_depth bad_max numa_node".split()


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("value", [[], "8", 1.5, float("nan"), True, -1])
def test_whole_numbers_are_whole_numbers(name, value):
    with pytest.raises(mr.ArgumentError, match=f"{name}=.* is not a whole number of at least"):
        make(**{name: value})


def test_numbers_of_numpy_are_numbers():
    numpy = pytest.importorskip("numpy")
    loader = make(threads=numpy.int32(1), slots=numpy.uint8(2), seed=numpy.int64(4), timeout=numpy.float32(9))
    loader.set_epoch(numpy.int64(3))
    assert next(iter(loader)).epoch == 3
    for wrong in ("1", 1.5, float("nan"), True, None, 2**32):
        with pytest.raises(mr.ArgumentError, match="epoch="):
            loader.set_epoch(wrong)
    for wrong in ("8", 0, 1.5, True):
        with pytest.raises(mr.ArgumentError, match="n="):
            loader.peek(wrong)
    assert len(loader.peek(numpy.int64(2))) == 2
    assert next(iter(make(timeout=float("inf")))).number == 0


def test_arguments_of_other_loaders_and_slips_say_what_to_write():
    for name, word in (
        ("num_workers", "threads="),
        ("pin_memory", "mr.torch.Loader"),
        ("collate_fn", "recipe"),
        ("sampler", "weights= or order="),
        ("batch_sampler", "weights= or order="),
        ("transform", "recipe="),
        ("worker_init_fn", "seed="),
        ("prefetch_factor", "slots="),
        ("persistent_workers", "leave it out"),
        ("generator", "seed="),
        ("multiprocessing_context", "leave it out"),
        ("batchsize", "did you mean batch_size="),
        ("shufle", "did you mean shuffle="),
        ("xyzzy", "help"),
    ):
        with pytest.raises(TypeError, match=f"Loader has no argument {name}=: .*{word}"):
            make(**{name: 1})
    assert "unknown" not in str(inspect.signature(mr.Loader)) and "batch_size" in str(inspect.signature(mr.Loader))


def test_datasets_that_are_none():
    for wrong, word in ((None, "not None"), (5, "not 5"), (b"/data", "os.fsdecode"), ([5], "not 5")):
        with pytest.raises(TypeError, match=f"a dataset.*{word}"):
            mr.Loader(wrong, RECIPE)
    with pytest.raises(mr.ArgumentError, match="no path"):
        mr.Loader([], RECIPE)


def test_sizes():
    assert make(memory="1GB")._options["memory_nbytes"] == 10**9
    assert make(memory=3 * 10**8).stats()["memory_nbytes"] <= 3 * 10**8
    with pytest.raises(mr.LimitError):
        make(memory=4096)


def test_orders():
    weights = [0.0] * 50
    weights[7] = weights[9] = 1.0
    drawn = ordinals(make(weights=weights, draws=20))
    assert len(drawn) == 20 and set(drawn) == {7, 9}
    assert len(set(ordinals(make(repeats=5)))) == 10
    assert sorted(ordinals(make(order="windowed", block=4, window=8))) == list(range(50))


def test_bad_samples_and_what_comes_after_an_error(tmp_path):
    good = mr.encode(__import__("demo").picture(1), "jpeg")
    path = tar("bad.tar", [(f"{i:04}", {"jpg": good if i != 5 else good[:200]}) for i in range(9)])
    loader = mr.Loader(path, "resize(16x16)", batch_size=2, to="array")
    with pytest.raises(mr.Error, match="0005") as caught:
        list(loader)
    assert caught.value.code.startswith("MR_E")
    assert next(iter(loader)).epoch == 1  # it can be used again
    listing = tmp_path / "bad.jsonl"
    loader = mr.Loader(path, "resize(16x16)", batch_size=3, to="array", bad="skip", quarantine=listing)
    assert [batch.mask.tolist() for batch in loader] == [[0, 0, 0], [0, 0, 2], [0, 0, 0]]
    assert len(listing.read_text().splitlines()) == 1


def test_close():
    with make() as loader:
        batch = next(iter(loader))
    assert batch.images.shape == (8, 3, 24, 24)
    batch.images.tobytes()
    with pytest.raises(mr.ClosedError):
        next(iter(loader))
    loader.close()
    assert repr(loader) == "<millrace.Loader, closed>"


def test_closing_ends_a_wait():
    loader = make(slots=2)
    batches = iter(loader)
    held = [next(batches), next(batches)]
    threading.Timer(0.2, loader.close).start()
    with pytest.raises(mr.ClosedError):
        next(batches)
    assert held


def test_pickled_it_is_made_anew():
    loader = make(seed=3, targets=())
    loader.set_epoch(2)
    again = pickle.loads(pickle.dumps(loader))
    assert ordinals(again) == ordinals(loader)
    assert again.epoch == 2


def _hash_of(loader, queue):
    try:
        queue.put(epoch_hash(loader))
    except Exception as error:  # noqa: BLE001, it is told to the parent
        queue.put(type(error).__name__)


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize("begun", [False, True])
def test_in_another_process(method, begun):
    context = multiprocessing.get_context(method)
    loader, expected = make(), epoch_hash(make())
    if begun:
        expected = epoch_hash(make(epoch=1))
        assert epoch_hash(loader)
    queue = context.Queue()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # 3.12: a process with threads is forked
        process = context.Process(target=_hash_of, args=(loader, queue))
        process.start()
    told = queue.get(timeout=120)
    process.join(60)
    assert told == ("ForkedError" if method == "fork" and begun else expected)
    assert process.exitcode == 0


def test_several_threads_take_batches_of_one_iterator():
    batches, seen, lock = iter(make(slots=6)), [], threading.Lock()

    def take():
        for batch in batches:
            with lock:
                seen.extend(batch.ordinals.tolist())

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == list(range(50))


def test_tqdm_knows_the_length():
    tqdm = pytest.importorskip("tqdm").tqdm
    with tqdm(make(), file=open(os.devnull, "w")) as bar:
        assert bar.total == 7
        assert sum(1 for _ in bar) == 7


def test_epochs_end():
    loader = make(epoch=2**32 - 1)
    assert len(ordinals(loader)) == 50
    for _ in range(2):
        with pytest.raises(mr.LimitError, match=r"epochs end at 2\^32 - 1 \(4294967295\).*set_epoch\(0\)"):
            next(iter(loader))
    loader.set_epoch(0)
    assert ordinals(loader) == ordinals(make())


def test_python_m_millrace():
    told = subprocess.run([sys.executable, "-m", "millrace"], check=True, capture_output=True, text=True).stdout
    assert told.startswith("millrace") and "processor" in told and "torch" in told


def test_names():
    assert set(mr.__all__) <= set(dir(mr))
    assert all(hasattr(mr, name) for name in mr.__all__)
    assert mr.__version__ == mr._core.version()
    with pytest.raises(AttributeError, match="nothing_here"):
        mr.nothing_here
    assert mr.Loader.__doc__ and mr.Batch.__doc__
