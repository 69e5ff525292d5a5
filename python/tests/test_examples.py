# SPDX-License-Identifier: Apache-2.0
"""The examples run, with little to do."""

import json
import os
import subprocess
import sys

import pytest
from demo import ROOT, command, folder, picture, scratch

import millrace as mr


def run(name, *arguments, millrace=""):
    environment = {**os.environ, "MILLRACE": millrace}
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / name), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        env=environment,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_train_classifier():
    pytest.importorskip("torch")
    pytest.importorskip("PIL")
    told = run("train_classifier.py", "--images=240", "--epochs=6", millrace=command())
    assert "torch's DataLoader" in told and "% by chance" in told and "images/s" in told


def test_train_classifier_draws_its_pictures_without_the_command():
    pytest.importorskip("torch")
    told = run("train_classifier.py", "--forms", "--images=64", "--epochs=2", millrace="")
    assert "number for number" in told
    made = subprocess.run(
        [sys.executable, "-c", "import train_classifier as t, pathlib, sys; t.make_set(pathlib.Path(sys.argv[1]), 12)",
         str(scratch() / "drawn")],
        env={**os.environ, "MILLRACE": "", "PYTHONPATH": f"{os.environ.get('PYTHONPATH', '')}:{ROOT / 'examples'}"},
        timeout=300,
    )  # fmt: skip
    assert made.returncode == 0
    assert mr.Dataset(scratch() / "drawn" / "train").classes == ["cross", "disc", "ring", "stripes"]


def test_forms_give_the_same_losses():
    pytest.importorskip("torch")
    told = run("train_classifier.py", "--forms", "--images=64", "--epochs=2", millrace=command())
    assert "number for number" in told and "jpeg+l3" in told


def test_detection(tmp_path):
    sheet = tmp_path / "sheet.png"
    told = run("detection.py", "--images=96", "--epochs=5", f"--sheet={sheet}")
    assert "images" in told
    assert mr.decode(sheet.read_bytes()).shape[2] == 3


def test_coco_to_tar(tmp_path):
    """A made-up COCO of five images, one without objects: as tars they have the same boxes, masks and categories."""
    for number in range(5):
        (tmp_path / "images").mkdir(exist_ok=True)
        (tmp_path / "images" / f"{number:012}.jpg").write_bytes(mr.encode(picture(number), "jpeg"))
    coco = {
        "images": [{"id": 100 + i, "file_name": f"{i:012}.jpg", "width": 40, "height": 32} for i in range(5)],
        "annotations": [
            {"id": i, "image_id": 100 + i % 4, "bbox": [i, 2, 10, 8], "category_id": 1 + i, "area": 80.0, "iscrowd": 0,
             "segmentation": [[i, 2, i + 10, 2, i + 10, 10, i, 10]]}
            for i in range(6)
        ],
        "categories": [{"id": 1 + i, "name": f"thing {i}"} for i in range(6)],
    }  # fmt: skip
    (tmp_path / "instances.json").write_text(json.dumps(coco))
    to = tmp_path / "coco" / "train"
    told = run("coco_to_tar.py", tmp_path / "instances.json", tmp_path / "images", to, "--per-shard=2")
    assert told.startswith("3 shards: ")
    shards = [f"{to}-{number:06}.tar" for number in range(3)]
    with mr.Loader(shards, "pad(to=48)", batch_size=5, targets=("boxes", "masks"), to="array") as loader:
        batch = next(iter(loader))
    assert [target["categories"].tolist() for target in batch.targets] == [[1, 5], [2, 6], [3], [4], []]
    assert batch.targets[1]["boxes"].tolist() == [[1, 2, 11, 10], [5, 2, 15, 10]]
    assert [sum(mask.tobytes()) for mask in batch.targets[0]["masks"]] == [80, 80]


def test_jax_feed():
    told = run("jax_feed.py", "--epochs=3")
    assert "skipped" in told or "loss" in told


def test_jax_feed_without_jax():
    code = f"import sys; sys.modules['jax'] = None; sys.argv = ['jax_feed.py', '--data={folder()}']; import runpy; " + (
        f"runpy.run_path({str(ROOT / 'examples' / 'jax_feed.py')!r}, run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and done.stdout.startswith("skipped"), done.stderr
