# SPDX-License-Identifier: Apache-2.0
"""mr.Dataset: samples by number, key and slice; threads, forks, spawned processes; what is wrong is said."""

import io
import json
import multiprocessing
import os
import pathlib
import pickle
import subprocess
import sys
import tarfile
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import cores
import numpy as np
import pytest
import sets
from PIL import Image, ImageOps

import millrace as mr
from millrace import _core
from millrace.dataset import Annotation, Sample, Samples


@pytest.fixture(scope="module")
def dataset(folder: pathlib.Path) -> mr.Dataset:
    return mr.Dataset(folder)


@pytest.fixture(scope="module")
def shards(scratch: pathlib.Path) -> pathlib.Path:
    """A tar with two samples: one with boxes and a mask, one with text for a label."""
    png = mr.encode(np.arange(48, dtype=np.uint8).reshape(4, 4, 3), "png")
    classes = mr.encode(np.arange(16, dtype=np.uint8).reshape(4, 4), "png")
    objects = {
        "annotations": [
            {"bbox": [1, 2, 3, 4], "category_id": 7, "area": 12.5},
            {"bbox": [0, 0, 2, 2], "category_id": 9, "keypoints": [1, 1, 2, 3, 3, 1]},
        ],
        "label": 5,
    }
    to = scratch / "boxes.tar"
    with tarfile.open(to, "w") as tar:
        for name, data in (
            ("a.png", png),
            ("a.json", json.dumps(objects).encode()),
            ("a.seg.png", classes),
            ("b.png", png),
        ):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return to


def test_is_a_sequence(dataset: mr.Dataset) -> None:
    assert len(dataset) == 48 == len(dataset.samples)
    assert dataset[0].ordinal == 0 and dataset[-1].ordinal == 47 and dataset[np.int64(3)].ordinal == 3
    assert [sample.ordinal for sample in dataset] == list(range(48))
    for beyond in (48, -49):
        with pytest.raises(IndexError, match=f"no sample {beyond}.*48"):
            dataset[beyond]
    with pytest.raises(TypeError):
        dataset[1.5]  # type: ignore[call-overload]


def test_slices_are_lazy_lists(dataset: mr.Dataset) -> None:
    part = dataset[10:20:3]
    assert isinstance(part, Samples) and len(part) == 4 and part.ordinals == range(10, 20, 3)
    assert [sample.ordinal for sample in part] == [10, 13, 16, 19] == [part[i].ordinal for i in range(4)]
    assert part[-1].ordinal == 19 and part[1:][0].ordinal == 13
    assert [sample.ordinal for sample in dataset[::-1]][:2] == [47, 46]
    with pytest.raises(IndexError, match="no sample 4"):
        part[4]


def test_keys(dataset: mr.Dataset) -> None:
    sample = dataset[7]
    assert dataset[sample.key] == sample and dataset.find(sample.key) == 7
    assert sample.key in dataset and "nothing" not in dataset and 3 not in dataset
    near = sample.key[:-1]
    with pytest.raises(KeyError, match=f"no sample '{near}'; did you mean '{sample.key[:-2]}"):
        dataset[near]
    with pytest.raises(KeyError):
        dataset["with\0zero"]


def test_labels_and_classes(dataset: mr.Dataset, folder: pathlib.Path) -> None:
    names = sorted(entry.name for entry in folder.iterdir() if entry.is_dir())
    assert dataset.classes == names
    assert dataset.labels.dtype == "int64"
    assert np.asarray(dataset.labels).tolist() == [sample.label for sample in dataset]
    assert all(sample.key.startswith(sample.class_name or "?") for sample in dataset)


def test_image_is_pillows(dataset: mr.Dataset, folder: pathlib.Path) -> None:
    for sample in dataset:
        image, label = sample
        with Image.open(folder / sample.key) as stored:
            expected = np.asarray(ImageOps.exif_transpose(stored).convert("RGB"))
        assert image.dtype == "uint8" and image.shape == expected.shape and label == sample.label
        if not sample.key.endswith("webp"):  # Pillow may have another libwebp
            assert np.array_equal(np.asarray(image), expected), sample.key
        assert sample.image is image and sample[0] is image and sample[1] == label and len(sample) == 2
        assert sample.bytes() == (folder / sample.key).read_bytes()
        assert sample.info()["form"] in ("jpeg", "png", "webp")


def test_forms(packed: pathlib.Path, dataset: mr.Dataset) -> None:
    both = mr.Dataset(packed)
    assert list(both.forms) == ["original", "l3"] and both.forms["l3"]["samples"] == 48
    assert both.layout == "packed" and len(both) == 48 and "forms original, l3" in repr(both)
    for i in (0, 20, 47):
        assert both[i].bytes() == both[i].bytes("original") == dataset[i].bytes()
        assert both[i].bytes("l3") != both[i].bytes() and both[i].info("l3")["form"] == "l3"
        assert both[i].decode("l3", mode="RGB").tobytes() == dataset[i].image.tobytes()
    with pytest.raises(mr.ArgumentError, match=r"no form 'raw' \(it has: original, l3\)"):
        both[0].bytes("raw")


def test_members_and_annotation(shards: pathlib.Path) -> None:
    dataset = mr.Dataset([shards])
    first, second = dataset
    assert first.members == ["json", "seg.png"] and second.members == []
    assert first.member("json").startswith(b"{")
    with pytest.raises(KeyError, match=r"'a' has no member 'txt' \(it has: json, seg.png\)"):
        first.member("txt")
    told = first.annotation()
    assert isinstance(told, Annotation) and len(told) == 2 and told.label == 5
    assert told.boxes.tolist() == [[1, 2, 3, 4], [0, 0, 2, 2]] and told.categories.tolist() == [7, 9]
    assert told.keypoint_starts.tolist() == [0, 0, 2] and told.keypoints.shape == (2, 3)
    assert second.annotation() is None and second.label is None and second.class_name is None


def test_reprs(dataset: mr.Dataset, shards: pathlib.Path, folder: pathlib.Path) -> None:
    assert repr(dataset).startswith(f"Dataset('{folder}': folder, 48 samples, 4 classes, ")
    sample = dataset[0]
    assert repr(sample).startswith(f"Sample(0, '{sample.key}', label=0 ({dataset.classes[0]})")
    assert "<table>" in dataset._repr_html_() and str(len(dataset)) in dataset._repr_html_()
    assert 'src="data:image/' in sample._repr_html_() and sample.key in sample._repr_html_()
    assert "members=json, seg.png" in repr(mr.Dataset(shards)[0])
    assert repr(dataset[:2]).startswith("Samples(2 samples of Dataset(")


def test_fingerprint_and_info(dataset: mr.Dataset, packed: pathlib.Path) -> None:
    assert len(dataset.fingerprint) == 16 and int(dataset.fingerprint, 16)
    assert dataset.fingerprint != mr.Dataset(packed).fingerprint
    assert dataset.info()["samples"] == 48 and dataset.info()["fingerprint"] == dataset.fingerprint
    assert dataset.problems == []


def test_what_cannot_be_opened(tmp_path: pathlib.Path) -> None:
    with pytest.raises(mr.Error, match="nothing-here"):
        mr.Dataset(tmp_path / "nothing-here")
    with pytest.raises(mr.ArgumentError, match="layout cannot be 'tra' .one of: auto, packed, tar"):
        mr.Dataset(tmp_path, layout="tra")
    with pytest.raises(TypeError):
        mr.Dataset(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        mr.Dataset([tmp_path, None])  # type: ignore[list-item]
    with pytest.raises((ValueError, OverflowError)):
        mr.Dataset(tmp_path, threads=-1)
    with pytest.raises(mr.Error):
        mr.Dataset([])


def test_broken_members_are_left_out(scratch: pathlib.Path, shards: pathlib.Path) -> None:
    cut = scratch / "cut.tar"
    cut.write_bytes(shards.read_bytes()[: 512 + 40])
    with pytest.raises(mr.DataError, match="cut.tar"):
        mr.Dataset(cut)
    dataset = mr.Dataset(cut, broken="skip")
    assert (
        len(dataset) == 0
        and dataset.problems[0]["code"].startswith("MR_E")
        and "ends in" in dataset.problems[0]["text"]
    )
    assert "problem" in repr(dataset) and "problems" in dataset._repr_html_()


def test_a_file_that_changed_is_said_by_key(tmp_path: pathlib.Path) -> None:
    (tmp_path / "x").mkdir()
    png = mr.encode(np.zeros((8, 8, 3), np.uint8), "png")
    (tmp_path / "x" / "one.png").write_bytes(png)
    (tmp_path / "x" / "two.png").write_bytes(png[:-20])
    dataset = mr.Dataset(tmp_path, index="none")
    with pytest.raises(mr.DataError, match="two.png") as caught:
        dataset["x/two.png"].image
    assert caught.value.code == "MR_ETRUNCATED"
    (tmp_path / "x" / "one.png").unlink()
    with pytest.raises(mr.Error, match="one.png"):
        dataset["x/one.png"].bytes()


def test_progress_is_told_and_may_stop(folder: pathlib.Path) -> None:
    seen: list[dict[str, Any]] = []
    mr.Dataset(folder, index="none", progress=lambda now: seen.append(dict(now)))
    assert all(now["verb"] and now["unit"] for now in seen)

    def refuse(now: Any) -> None:
        raise RuntimeError("enough")

    if seen:
        with pytest.raises(RuntimeError, match="enough"):
            mr.Dataset(folder, index="none", progress=refuse)


def test_many_threads_read_at_once(packed: pathlib.Path, dataset: mr.Dataset) -> None:
    both = mr.Dataset(packed)
    expected = [sample.image.tobytes() for sample in dataset]

    def read(number: int) -> bool:
        ordinal = number * 7 % 48
        form = ("original", "l3")[number % 2]
        return (
            both[ordinal].decode(form, mode="RGB").tobytes() == expected[ordinal]
            and both.find(both[ordinal].key) == ordinal
        )

    with ThreadPoolExecutor(24) as pool:
        assert all(pool.map(read, range(480)))


def test_pickles_by_its_arguments(dataset: mr.Dataset) -> None:
    again = pickle.loads(pickle.dumps(dataset))
    assert again.fingerprint == dataset.fingerprint and again[5].key == dataset[5].key
    sample = pickle.loads(pickle.dumps(dataset[5]))
    assert isinstance(sample, Sample) and sample.image.tobytes() == dataset[5].image.tobytes()


def _pixels(dataset: mr.Dataset, ordinal: int) -> bytes:
    return dataset[ordinal].image.tobytes()


@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_other_processes_read(dataset: mr.Dataset, how: str) -> None:
    dataset[0].image.tobytes()  # readers and decoders are there before the fork
    with multiprocessing.get_context(how).Pool(2) as pool:
        given = pool.starmap(_pixels, [(dataset, i) for i in range(8)])
    assert given == [dataset[i].image.tobytes() for i in range(8)]


def _child_pixels(dataset: mr.Dataset, to: Any) -> None:
    to.send([dataset[i].image.tobytes() for i in range(8)])


def test_forks_while_threads_read(dataset: mr.Dataset) -> None:
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            for i in range(48):
                dataset[i].image

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            ours, theirs = multiprocessing.Pipe()
            child = multiprocessing.get_context("fork").Process(target=_child_pixels, args=(dataset, theirs))
            child.start()
            assert ours.poll(30), "the child hangs"
            assert ours.recv() == [dataset[i].image.tobytes() for i in range(8)]
            child.join(30)
    finally:
        stop.set()
        for thread in threads:
            thread.join()


INTERRUPTED = """
import sys, time, threading, os, signal
import millrace as mr
def told(now):
    if not told.sent:
        told.sent = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)
told.sent = 0
try:
    for _ in range(1000):
        mr.Dataset(sys.argv[1], index="none", progress=told)
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - told.sent)
"""


def test_ctrl_c_ends_opening(scratch: pathlib.Path) -> None:
    many = scratch / "many"
    if not many.exists():
        png = mr.encode(np.zeros((1, 1, 3), np.uint8), "png")
        for c in range(20):
            (many / f"{c:02}").mkdir(parents=True)
            for i in range(300):
                (many / f"{c:02}" / f"{i}.png").write_bytes(png)
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, str(many)], capture_output=True, text=True, timeout=120)
    assert done.stdout.startswith("interrupted") or done.returncode == 0, done.stderr
    if done.stdout:
        assert float(done.stdout.split()[1]) < cores.AT_ONCE


def test_core_says_what_is_wrong(dataset: mr.Dataset) -> None:
    core = dataset.core
    with pytest.raises(IndexError, match="no sample 48"):
        core.sample(48)
    with pytest.raises(IndexError):
        core.read(1 << 63)
    with pytest.raises(ValueError):
        core.key(-1)
    with pytest.raises(TypeError):
        core.key("a")  # type: ignore[arg-type]
    with pytest.raises(IndexError):
        core.file(1 << 40)
    with pytest.raises(TypeError):
        _core.Dataset("one path")
    record = core.record(0)
    assert record["state"] == "present" and record["nbytes"] == len(core.read(0))
    assert core.file(record["file"]).endswith(core.key(0))
    with pytest.raises(TypeError):
        core.find(b"bytes")  # type: ignore[arg-type]


def test_preparer_is_the_loaders(packed: pathlib.Path) -> None:
    dataset = mr.Dataset(packed)
    recipe = _core.Recipe("rrc(32) flip normalize(imagenet)")
    loader = _core.Loader(dataset.core, recipe, batch=16, seed=3, epochs=1, order="sequential")
    preparer = _core.Preparer(dataset.core, recipe, seed=3)
    batch = loader.next()
    assert batch is not None
    for place in range(16):
        alone = preparer.run(place)
        assert alone.shape == (3, 32, 32) and alone.dtype == "float32"
        assert alone.tobytes() == batch.images[place].tobytes()
    into = bytearray(3 * 32 * 32 * 4)
    preparer.run_into(15, into)
    assert into == preparer.run(15).tobytes() != preparer.run(15, epoch=1).tobytes()
    with pytest.raises(mr.ArgumentError, match="12288 bytes, and the buffer 5"):
        preparer.run_into(0, bytearray(5))
    with pytest.raises(IndexError):
        preparer.run(48)
    with pytest.raises(BufferError):
        preparer.run_into(0, b"0" * 12288)
    with pytest.raises(mr.ArgumentError, match="no targets"):
        preparer.targets()
    with ThreadPoolExecutor(8) as pool:
        many = list(pool.map(lambda i: preparer.run(i % 16).tobytes(), range(64)))
    assert many == [batch.images[i % 16].tobytes() for i in range(64)]


def test_preparer_has_targets(shards: pathlib.Path) -> None:
    dataset = mr.Dataset(shards)
    recipe = _core.Recipe("resize(8)")
    preparer = _core.Preparer(dataset.core, recipe, targets=("boxes", "keypoints", "mask", "masks"))
    preparer.run(0)
    told = preparer.targets()
    assert told["boxes"].tolist() == [[2, 4, 8, 12], [0, 0, 4, 4]] or told["boxes"].shape == (2, 4)
    assert told["categories"].tolist() == [7, 9] and told["keypoints"].shape == (2, 3)
    assert told["masks"].shape == (2, 8, 8) and (told["width"], told["height"]) == (8, 8)
    kept = told["categories"]
    preparer.run(1)
    none = preparer.targets()
    assert none["boxes"].shape == (0, 4) and none["masks"].shape == (0, 8, 8) and none["mask"] is None
    assert none["keypoint_starts"].tolist() == [0] and kept.tolist() == [7, 9]
    boxes = _core.Preparer(dataset.core, recipe, targets=["boxes"])
    for ordinal in range(2):
        boxes.run(ordinal)
        assert boxes.targets()["keypoints"] is None and boxes.targets()["masks"] is None
    with pytest.raises(mr.ArgumentError, match="a target cannot be 'box'"):
        _core.Preparer(dataset.core, recipe, targets=["box"])
    with pytest.raises(TypeError):
        _core.Preparer(dataset.core, recipe, targets="boxes")


def test_stars_in_paths(tmp_path: pathlib.Path) -> None:
    for name in ("b-1.tar", "b-0.tar", "c-0.tar"):
        with tarfile.open(tmp_path / name, "w") as to:
            member = tarfile.TarInfo(f"{name}/0.png")
            data = sets.png(8, 8, 3, sets.noise(8, 8, 1))
            member.size = len(data)
            to.addfile(member, io.BytesIO(data))
    dataset = mr.Dataset(str(tmp_path / "b-*.tar"))
    assert [os.path.basename(path) for path in dataset.paths] == ["b-0.tar", "b-1.tar"] and len(dataset) == 2
    assert len(mr.Dataset([tmp_path / "b-[01].tar", tmp_path / "c-?.tar"])) == 3
    os.rename(tmp_path / "c-0.tar", tmp_path / "c-*.tar")
    assert mr.Dataset(tmp_path / "c-*.tar").paths == [str(tmp_path / "c-*.tar")]  # what is there is no pattern
    with pytest.raises(mr.StorageError, match=r"d-\*.tar"):
        mr.Dataset(tmp_path / "d-*.tar")


def test_samples_that_are_asked_for_wrongly(tiny: pathlib.Path) -> None:
    dataset = mr.Dataset(tiny)
    for wrong in ([0, 1], 1.0, None):
        for of in (dataset, dataset[:3]):
            with pytest.raises(TypeError, match="by number, by slice"):
                of[wrong]  # type: ignore[index, call-overload]


def test_what_is_not_packed_is_not_verified(tiny: pathlib.Path) -> None:
    with pytest.raises(mr.ArgumentError, match="not a packed dataset"):
        mr.verify(tiny)
