# SPDX-License-Identifier: Apache-2.0
"""Recipe, Loader and Batch of the extension module: what they give, what they refuse, and who holds what until when."""

import contextlib
import gc
import importlib.util
import json
import os
import pathlib
import pickle
import random
import threading
import time

import cores
import numpy as np
import pytest
from millrace import _core


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return cores.generate(tmp_path_factory.mktemp("loader") / "set")


def batches_of(loader: _core.Loader) -> list[_core.Batch]:
    found = []
    while (batch := loader.next()) is not None:
        found.append(batch)
    return found


def hashes_of(loader: _core.Loader) -> list[int]:
    found = []
    while (batch := loader.next()) is not None:
        found.append(batch.hash())
        del batch
    return found


# Errors


def test_errors_are_pythons_kinds_too() -> None:
    kinds = {
        "ArgumentError": ValueError,
        "MemoryError": MemoryError,
        "StorageError": OSError,
        "DataError": ValueError,
        "LimitError": ValueError,
        "ClosedError": RuntimeError,
        "TimeoutError": TimeoutError,
        "InternalError": RuntimeError,
        "ForkedError": RuntimeError,
        "DeviceError": RuntimeError,
    }
    for name, base in kinds.items():
        kind = getattr(_core, name)
        assert issubclass(kind, _core.Error) and issubclass(kind, base) and kind.__module__ == "millrace"
        assert kind.__name__ == name and kind.__doc__ and kind.code.startswith("MR_E")
        assert str(kind("text")) == "text"
    assert issubclass(_core.Error, Exception) and not issubclass(_core.Error, ValueError)


def test_an_error_has_its_code(folder: str, tmp_path: pathlib.Path) -> None:
    with pytest.raises(_core.Error, match="rrc") as found:
        _core.Recipe("rcr(224)")
    assert found.value.code == "MR_EARGUMENT" and type(found.value) is _core.ArgumentError
    with pytest.raises(_core.Error, match="nowhere") as found:
        _core.Dataset([str(tmp_path / "nowhere")])
    assert found.value.code.startswith("MR_E")


# Recipe


def test_recipe_is_the_c_librarys() -> None:
    r = _core.Recipe("rrc(64)  flip normalize(imagenet)")
    assert r.text == "rrc(64) flip normalize(imagenet)" and r.steps() == ["rrc(64)", "flip", "normalize(imagenet)"]
    assert r.output() == {
        "shape": (3, 64, 64),
        "dtype": "float32",
        "layout": "nchw",
        "width": 64,
        "height": 64,
        "channels": 3,
        "nbytes": 3 * 64 * 64 * 4,
    }
    assert r.hash == _core.Recipe(r.text).hash != _core.Recipe("rrc(65)").hash
    assert r.visible().output()["shape"] == (64, 64, 3) and r.visible().output()["dtype"] == "uint8"
    assert "rrc" in r.explain(100, 80) and repr(r) == f"Recipe({r.text!r})"
    colours = _core.Recipe("resize(64x64) brightness(0.5) contrast(0.5)")
    fused = colours.explain(100, 80)
    colours.set_fusing(False)
    assert colours.explain(100, 80) != fused
    with pytest.raises(TypeError, match="fuse"):
        colours.set_fusing("no")  # type: ignore[arg-type]


def test_recipe_errors_point_at_the_place() -> None:
    with pytest.raises(_core.ArgumentError) as found:
        _core.Recipe("rrc(224) flp")
    *_, line, caret = str(found.value).split("\n")
    assert line == "    rrc(224) flp" and caret.index("^") == line.index("flp")
    with pytest.raises(_core.ArgumentError) as found:
        _core.Recipe("rrc(224)\n" + "flip " * 20 + "flöp " + "flip " * 20)
    *_, line, caret = str(found.value).split("\n")
    assert line[caret.index("^") :].startswith("flöp") or "fl" in line[: caret.index("^")]
    assert len(line) < 140 and "rrc" not in line
    for wrong in [3, None, b"flip"]:
        with pytest.raises(TypeError, match="text"):
            _core.Recipe(wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="zero"):
        _core.Recipe("flip\0")
    with pytest.raises(_core.Error):
        _core.Recipe("flip " * 100000)
    with pytest.raises(_core.ArgumentError):
        _core.Recipe("flip").output()  # any size comes out


def test_recipe_applies_to_images() -> None:
    image = np.random.default_rng(1).integers(0, 256, (48, 64, 3), np.uint8)
    same = _core.Recipe("resize(64x48) layout(nhwc)")
    assert same.apply(image).shape == (48, 64, 3)
    assert np.array_equal(same.apply(image).numpy(), image)
    assert np.array_equal(same.apply(image[::-1]).numpy(), image[::-1])  # rows that go up
    crop = _core.Recipe("rrc(32)")
    assert (
        crop.apply(image, seed=1).tobytes()
        == crop.apply(image, seed=1).tobytes()
        != crop.apply(image, seed=2).tobytes()
    )
    assert crop.apply(image, 1, 0, 5).tobytes() == crop.apply(image, seed=1, key=5).tobytes()
    for wrong in [image[:, ::2], image.astype(np.float32), image[0, 0], image.reshape(48, 4, 48), image[:0]]:
        with pytest.raises(_core.ArgumentError, match="image: "):
            crop.apply(wrong)
    with pytest.raises(TypeError):
        crop.apply([1, 2, 3])
    with pytest.raises(_core.ArgumentError, match="epoch"):
        crop.apply(image, epoch=2**32)


def test_finalizers_may_come_back_to_a_recipe() -> None:
    """What is made of a recipe runs the collector, and that a finalizer that asks the same recipe."""
    text = """
        import faulthandler, gc
        faulthandler.dump_traceback_later(20, exit=True)
        from millrace import _core
        recipe, other = _core.Recipe("rrc(224) flip normalize(imagenet)"), _core.Recipe("flip")
        class Back:
            def __init__(self):
                self.me = self
            def __del__(self):
                recipe.text, recipe.hash
                try:
                    other.output()
                except _core.ArgumentError:
                    pass
        def wrong():
            try:
                other.output()
            except _core.ArgumentError:
                pass
        gc.set_threshold(1)
        calls = [recipe.steps, recipe.output, recipe.visible, lambda: recipe.explain(64, 48), wrong]
        for call in calls:
            gc.disable()
            kept = [[] for _ in range(500)]  # so that no list is at hand
            for _ in range(50):
                Back()
            gc.enable()
            result = call()
        print("well")
    """
    assert cores.run(text) == "well\n"


# Options


@pytest.mark.parametrize(
    "options, error, words",
    [
        ({"bach": 3}, TypeError, "no option 'bach'.*batch.*limits"),
        ({"batch": -1}, _core.ArgumentError, "batch.*-1"),
        ({"batch": 2**32}, _core.ArgumentError, "batch.*4294967296"),
        ({"batch": 2.0}, TypeError, "batch.*float"),
        ({"batch": "2"}, TypeError, "batch.*str"),
        ({"seed": 2**64}, _core.ArgumentError, "seed.*18446744073709551616"),
        ({"seed": -1}, _core.ArgumentError, "seed.*-1"),
        ({"threads": 10**30}, _core.ArgumentError, "threads"),
        ({"order": "shufled"}, _core.ArgumentError, "order.*shufled"),
        ({"order": 1}, TypeError, "order.*int"),
        ({"reading": "x"}, _core.ArgumentError, "reading"),
        ({"bad": "ignore"}, _core.ArgumentError, "bad"),
        ({"pinning": "all"}, _core.ArgumentError, "pinning"),
        ({"drop_last": "no"}, TypeError, "drop_last.*True or False"),
        ({"check_all": None, "drop_last": 2.5}, TypeError, "drop_last"),
        ({"form": "nothing-like-it"}, _core.ArgumentError, "nothing-like-it"),
        ({"form": "a\0b"}, ValueError, "form"),
        ({"quarantine": 3}, TypeError, "quarantine.*path.*int"),
        ({"quarantine": "a\0b"}, ValueError, "null byte"),
        ({"device": "abacus"}, _core.ArgumentError, "abacus"),
        ({"rank": 1}, _core.ArgumentError, "rank and world"),
        ({"world": 2}, _core.ArgumentError, "rank and world"),
        ({"rank": 2, "world": 2}, _core.ArgumentError, "rank|world"),
        ({"weights": [1.0] * 24}, _core.ArgumentError, "weighted"),
        ({"weights": [1.0], "order": "weighted"}, _core.ArgumentError, "weights has 1 .*24"),
        ({"weights": 3, "order": "weighted"}, TypeError, "weights"),
        ({"weights": ["x"] * 24, "order": "weighted"}, TypeError, "weights.*sample 0.*'x'"),
        ({"weights": [-1.0] * 24, "order": "weighted"}, _core.ArgumentError, "weight"),
        ({"weights": [float("nan")] * 24, "order": "weighted"}, _core.ArgumentError, "weight"),
        ({"order": "weighted"}, _core.ArgumentError, "weights"),
        ({"memory_nbytes": 1}, _core.LimitError, "memory"),
        ({"limits": {1: 2}}, TypeError, "limit.*int"),
        ({"targets": [1]}, TypeError, "target.*int"),
    ],
)
def test_wrong_options_are_named(folder: str, options: dict[str, object], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=f"(?s){words}"):
        cores.loader(folder, **options)


def test_wrong_arguments_are_named(folder: str) -> None:
    dataset, recipe = _core.Dataset([folder]), _core.Recipe("resize(32x32)")
    with pytest.raises(TypeError, match="(?i)dataset"):
        _core.Loader(folder, recipe)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="recipe"):
        _core.Loader(dataset, "flip")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="recipe"):
        _core.Loader(dataset)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="by name"):
        _core.Loader(dataset, recipe, 4)  # type: ignore[misc]
    assert _core.Loader(recipe=recipe, dataset=dataset).batches == 1
    with pytest.raises(TypeError):
        pickle.dumps(_core.Loader(dataset, recipe))


OPTIONS = """
    batch seed epoch epochs start order block window weights draws repeats rank world drop_last form threads slots
    memory_nbytes reading read_depth check_all pinning numa_node bad bad_max quarantine timeout_ns device targets
    mask_member policy beside share trace limits
"""


def test_none_and_nothing_are_the_defaults(folder: str) -> None:
    plain = hashes_of(cores.loader(folder, epochs=1))
    for name in OPTIONS.split():
        if name not in ("batch", "epochs", "threads"):
            assert hashes_of(cores.loader(folder, epochs=1, **{name: None})) == plain, name


@pytest.mark.parametrize("kind", ["list", "numpy", "float32", "gaps", "array", "memoryview"])
def test_weights_of_any_kind(folder: str, kind: str) -> None:
    numbers = [0.0] * 23 + [1.0]
    made = np.array(numbers)
    own = _core.empty((24,), "float64")
    np.asarray(own)[:] = numbers
    kinds = {
        "list": numbers,
        "numpy": made,
        "float32": made.astype(np.float32),
        "gaps": np.repeat(made, 2)[::2],
        "array": own,
        "memoryview": memoryview(made),
    }
    for batch in batches_of(cores.loader(folder, order="weighted", weights=kinds[kind], epochs=1, slots=6)):
        assert batch.ordinals.tolist() == [23] * 4


# Batches


def test_batches_are_whole(folder: str) -> None:
    loader = cores.loader(folder, "resize(32x32)", epochs=2, order="sequential", batch=10, slots=6)
    found = batches_of(loader)
    assert loader.batches == 3 and len(found) == 6 == loader.held
    assert [b.number for b in found] == [0, 1, 2] * 2 and [b.epoch for b in found] == [0] * 3 + [1] * 3
    assert [b.last for b in found] == [False, False, True] * 2 and [b.position for b in found[:3]] == [0, 10, 20]
    assert [(b.size, b.count) for b in found[:3]] == [(10, 10), (10, 10), (10, 4)]
    first, last = found[0], found[2]
    assert first.images.shape == (10, 3, 32, 32) and first.images.dtype == "uint8" and first.images.address % 64 == 0
    assert first.ordinals.tolist() == list(range(10)) == first.positions.tolist()
    assert last.mask.tolist() == [0] * 4 + [1] * 6 and last.labels.tolist()[4:] == [-1] * 6
    assert last.ordinals.tolist()[4:] == [2**64 - 1] * 6 and last.key(4) == "" and last.label(4) is None
    assert pathlib.Path(folder, first.key(0)).is_file() and first.label(3) == first.labels.tolist()[3]
    assert first.lists() is None and first.mix() is None
    assert first.hash() != found[3].hash() or first.images.tobytes() == found[3].images.tobytes()
    for array in [first.labels, first.ordinals, first.positions]:
        assert array.address % 64 == 0
    assert repr(last) == "<millrace.Batch 2 of epoch 0: 4 of 10 places>"


def test_layouts_are_shapes(folder: str) -> None:
    batch = cores.loader(folder, "resize(40x32) layout(nhwc) normalize(imagenet)").next()
    assert batch is not None and batch.images.shape == (4, 32, 40, 3) and batch.images.dtype == "float32"


def test_places_beyond_are_refused(folder: str) -> None:
    batch = cores.loader(folder).next()
    assert batch is not None
    for call in [batch.key, batch.label, batch.targets]:
        with pytest.raises(IndexError, match="place 4 is beyond a batch of 4"):
            call(4)
        with pytest.raises(_core.ArgumentError, match="place.*-1"):
            call(-1)
        with pytest.raises(TypeError, match="place"):
            call("0")
    with pytest.raises(_core.ArgumentError, match="targets="):
        batch.targets(0)
    with pytest.raises(TypeError):
        type(batch)()


def test_mixed_batches(folder: str) -> None:
    loader = cores.loader(folder, "resize(32x32) normalize(imagenet) mixup(chance=1)", batch=8)
    batch = loader.next()
    assert batch is not None
    mix = batch.mix()
    assert mix is not None and mix["kind"] == "mixup" and 0 <= mix["weight"] <= 1 and len(mix["box"]) == 4
    assert mix["partners"].shape == mix["ordinals"].shape == (8,) and mix["partners"].readonly
    soft = batch.soft_labels(4)
    assert soft.shape == (8, 4) and not soft.readonly and np.allclose(soft.numpy().sum(1), 1)
    wanted = np.zeros((8, 4), np.float32)
    np.add.at(wanted, (np.arange(8), batch.labels.numpy()), mix["weight"])
    np.add.at(wanted, (np.arange(8), mix["partners"].numpy()), 1 - mix["weight"])
    assert np.allclose(wanted, soft.numpy())
    for wrong in [1, 0, -1, 2**40]:
        with pytest.raises(_core.ArgumentError, match="labels"):
            batch.soft_labels(wrong)
    for wrong in [2**24 + 1, 2**31, 2**32 - 1]:  # said before memory is asked for
        with pytest.raises(_core.ArgumentError, match=f"soft_labels: classes must be from 0 to 16777216, not {wrong}"):
            batch.soft_labels(wrong)
    del batch
    assert loader.held == 1  # partners
    del mix
    assert loader.held == 0 and soft.numpy().sum() > 7


def test_same_seed_same_bytes(folder: str) -> None:
    one = hashes_of(cores.loader(folder, "rrc(32) flip", epochs=2, seed=5))
    assert one == hashes_of(cores.loader(folder, "rrc(32) flip", epochs=2, seed=5, threads=3, slots=5))
    assert one != hashes_of(cores.loader(folder, "rrc(32) flip", epochs=2, seed=6))


def test_bad_samples_are_named(folder: str, tmp_path: pathlib.Path) -> None:
    cores.generate(tmp_path / "set", 4, "--forms=jpeg")
    victim = sorted((tmp_path / "set").rglob("*.jpeg"))[2]
    victim.write_bytes(victim.read_bytes()[:300])
    key = str(victim.relative_to(tmp_path / "set"))
    loader = cores.loader(str(tmp_path / "set"), epochs=1)
    with pytest.raises(_core.DataError, match=key) as found:
        loader.next()
    assert found.value.code in ("MR_ETRUNCATED", "MR_ECORRUPT", "MR_EFORMAT")
    with pytest.raises(_core.DataError, match=key):
        loader.next()
    listed = tmp_path / "bad-\udcff.jsonl"
    skipping = cores.loader(str(tmp_path / "set"), epochs=1, bad="skip", bad_max=2, quarantine=listed)
    batch = skipping.next()
    assert batch is not None and batch.mask.tolist().count(2) == 1
    assert key in json.loads(listed.read_text())["key"] and skipping.stats()["bad"] == 1
    batch = cores.loader(str(tmp_path / "set"), epochs=1, bad="replace", order="sequential").next()
    assert batch is not None
    place = batch.mask.tolist().index(3)
    assert batch.label(place) is None and batch.key(place) == key
    assert [batch.label(i) is None for i in range(4)].count(True) == 1


# State, stop, close


def test_states_go_on(folder: str) -> None:
    whole = hashes_of(cores.loader(folder, "rrc(32)", epochs=2))
    first = cores.loader(folder, "rrc(32)", epochs=2)
    for _ in range(4):
        first.next()
    state = first.state()
    assert json.loads(state)["epoch"] == 0 and "rank" not in json.loads(state)
    second = cores.loader(folder, "rrc(32)", epochs=2, threads=2)
    second.restore(state)
    assert hashes_of(second) == whole[4:]
    batch = first.next()
    with pytest.raises(_core.ArgumentError, match="released"):
        first.restore(state)
    del batch
    first.restore(state)
    assert hashes_of(first) == whole[4:]
    with pytest.raises(_core.ArgumentError, match="recipe"):
        cores.loader(folder, "rrc(16)").restore(state)
    for wrong in ["", "{", "null"]:
        with pytest.raises(_core.ArgumentError):
            second.restore(wrong)
    with pytest.raises(TypeError, match="text"):
        second.restore(json.loads(state))


def test_stop_and_close(folder: str) -> None:
    loader = cores.loader(folder)
    state = loader.state()
    loader.stop()
    with pytest.raises(_core.ClosedError, match="stopped"):
        loader.next()
    loader.restore(state)
    batch = loader.next()
    assert batch is not None
    before = batch.images.tobytes()
    loader.close()
    loader.close()
    for call in [loader.next, loader.state, loader.stats, loader.stop, lambda: loader.held, lambda: loader.batches]:
        with pytest.raises(_core.ClosedError, match="closed"):
            call()
    assert batch.images.tobytes() == before and batch.key(0) != "" and batch.label(0) is not None and batch.hash()


def threads_now() -> int:
    return len(os.listdir("/proc/self/task"))


def threads_are(wanted: int) -> bool:
    """The system lists a thread for a moment after it was joined."""
    deadline = time.monotonic() + cores.AT_ONCE
    while threads_now() != wanted and time.monotonic() < deadline:
        time.sleep(0.001)
    return threads_now() == wanted


def test_close_ends_threads_at_once_or_with_the_last_view(folder: str) -> None:
    gc.collect()
    before = threads_now()
    loader = cores.loader(folder, threads=3)
    loader.next()
    assert threads_now() >= before + 3
    loader.close()
    assert threads_are(before)
    loader = cores.loader(folder, threads=3)
    batch = loader.next()
    assert batch is not None
    view = np.asarray(batch.images)[:1]
    loader.close()
    del batch, loader
    assert threads_now() > before and view.shape == (1, 3, 32, 32)
    del view
    assert threads_are(before)


def test_close_while_another_waits(folder: str) -> None:
    loader = cores.loader(folder, slots=2)
    held = [loader.next(), loader.next()]
    errors: list[BaseException] = []

    def wait() -> None:
        try:
            loader.next()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=wait) for _ in range(3)]
    for thread in threads:
        thread.start()
    time.sleep(0.05)
    loader.close()
    for thread in threads:
        thread.join(cores.AT_ONCE)
    assert [type(error) for error in errors] == [_core.ClosedError] * 3
    del held


def test_the_dataset_stays_as_long_as_batches(folder: str) -> None:
    dataset = _core.Dataset([folder])
    loader = _core.Loader(dataset, _core.Recipe("resize(32x32)"), batch=4, threads=1)
    del dataset
    batch = loader.next()
    del loader
    gc.collect()
    assert batch is not None and batch.key(1) != "" and batch.label(1) is not None


def test_slots_come_back(folder: str) -> None:
    """A thousand epochs; whoever forgot a reference would have run out of slots in the first."""
    loader = cores.loader(folder, "resize(8x8)", batch=8, slots=2, epochs=1000, timeout_ns=5 * 10**9)
    count = 0
    while (batch := loader.next()) is not None:
        parts = [
            batch.images[1:3],
            batch.labels,
            np.asarray(batch.images),
            np.from_dlpack(batch.labels)[1:],
            batch.lists(),
            batch.mix(),
        ]
        capsule = batch.images.__dlpack__(max_version=(1, 0))
        count += 1
        del batch, parts, capsule
        assert loader.held == 0
    assert count == 3000


@cores.unsanitized("sanitizers keep what is freed for a while")
def test_memory_does_not_grow(folder: str) -> None:
    def resident() -> int:
        return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")

    def work(times: int) -> None:
        for _ in range(times):
            loader = cores.loader(folder, "resize(8x8)", batch=24, epochs=1)
            batch = loader.next()
            assert batch is not None
            batch.soft_labels(4).copy()[::2].copy().tolist()
            for wrong in [lambda: loader.restore("{"), lambda: batch.key(99), lambda: _core.Recipe("x y z")]:
                with pytest.raises((_core.Error, IndexError)):
                    wrong()
            _core.Recipe("rrc(32) flip").visible().steps()

    work(50)
    before = resident()
    work(300)
    assert resident() < before + 8 * 2**20


def test_several_threads_share_a_loader(folder: str) -> None:
    loader = cores.loader(folder, "resize(8x8)", batch=2, epochs=20, slots=8, threads=2)
    found: list[tuple[int, int]] = []

    def consume() -> None:
        while (batch := loader.next()) is not None:
            found.append((batch.epoch, batch.number))
            loader.stats()
            loader.state()

    threads = [threading.Thread(target=consume) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [(epoch, number) for epoch in range(20) for number in range(12)] and loader.held == 0


def test_threads_do_everything_at_once(folder: str) -> None:
    """Views, capsules, restore and close, from five threads."""
    for number in range(10):
        loader = cores.loader(folder, "rrc(16)", batch=2, slots=6, threads=2, timeout_ns=20 * 10**9)
        state = loader.state()
        errors: list[Exception] = []

        def work(
            seed: int, loader: _core.Loader = loader, state: str = state, errors: list[Exception] = errors
        ) -> None:
            draw = random.Random(seed)
            try:
                for _ in range(30):
                    batch = loader.next()
                    assert batch is not None
                    views = [batch.images[draw.randrange(2) :], memoryview(batch.labels), batch.images.__dlpack__()]
                    if draw.random() < 0.3:
                        deleter, inside = cores.consume(views[2])
                        deleter(inside)
                    loader.stats(), loader.state(), loader.held
                    del batch, views
                    if draw.random() < 0.05:
                        with contextlib.suppress(_core.ArgumentError):  # others have batches
                            loader.restore(state)
            except _core.ClosedError:
                pass
            except Exception as error:
                errors.append(error)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(5)]
        for thread in threads:
            thread.start()
        if number % 2:
            time.sleep(0.01)
            loader.close()
        for thread in threads:
            thread.join()
        assert not errors and (number % 2 or loader.held == 0)


def test_a_second_module_is_another() -> None:
    """As in a second interpreter: nothing is shared, and it goes without a trace."""
    spec = importlib.util.spec_from_file_location("millrace._core", _core.__file__)
    assert spec and spec.loader
    second = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(second)
    assert second.Array is not _core.Array and second.Error is not _core.Error
    assert second.Recipe("flip").text == "flip"
    with pytest.raises(TypeError, match="Dataset"):
        second.Loader(_core.Recipe("flip"), _core.Recipe("flip"))
    del second
    gc.collect()
    assert _core.Recipe("flip").text == "flip"


def test_all_held_times_out_and_goes_on(folder: str) -> None:
    loader = cores.loader(folder, slots=2, timeout_ns=2 * 10**9)
    held = [loader.next(), loader.next()]
    began = time.monotonic()
    with pytest.raises(_core.TimeoutError, match="held") as found:
        loader.next()
    assert 1.9 < time.monotonic() - began < cores.AT_ONCE and found.value.code == "MR_ETIMEOUT"
    held.clear()
    assert loader.next() is not None


def test_stats_have_every_field(folder: str) -> None:
    loader = cores.loader(folder, epochs=1)
    hashes_of(loader)
    stats = loader.stats()
    text = (cores.ROOT / "include/millrace/loader.h").read_text()
    struct = text[text.index("typedef struct mr_loader_stats {") : text.index("} mr_loader_stats;")]
    names = {w.strip(" *") for line in struct.split("\n")[2:] for part in line.split(";")[:-1] if "/*" not in part
             for w in part.replace("const char", "char").strip().split(" ", 1)[1].split(",")}  # fmt: skip
    assert set(stats) == {name.split("[")[0] for name in names} - {"stage_count", "device_count"}
    assert stats["samples"] == 24 and {"name", "count", "seconds", "nbytes", "p50_ns", "p99_ns"} == set(
        stats["stages"][0]
    )


def test_version_and_machine() -> None:
    assert _core.version().count(".") == 2 and _core.threads_default() >= 1 and isinstance(_core.cpu(), str)
