# SPDX-License-Identifier: Apache-2.0
"""The Python of README.md and doc/python.md runs, block after block, as a reader would type it in.

What blocks only name (a model, a sampler of one's own) and read (imagenet/train) is given here. A block behind
`<!-- not run -->` is not run.
"""

import os
import re
import shutil
import warnings

import pytest
from demo import ROOT, annotated, folder, picture, tar

import millrace as mr

BLOCK = re.compile(r"(<!-- not run -->\s*)?^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(name):
    """The first line of each, and its text."""
    text = (ROOT / name).read_text()
    return [(text.count("\n", 0, found.start(2)) + 1, found[2]) for found in BLOCK.finditer(text) if not found[1]]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with what the documents read in it."""
    for name in ("imagenet/train", "train"):
        shutil.copytree(folder(12), tmp_path / name)
    beside = {"txt": b"a cat", "json": b'{"label": 3}'}
    samples = [(f"{i}", {"jpg": mr.encode(picture(i), "jpeg"), **beside}) for i in range(9)]
    shutil.copy(tar("captions.tar", samples), tmp_path / "captions-000000.tar")
    (tmp_path / "mine").mkdir()
    sample = mr.Dataset(annotated())[1]
    parts = {"jpg": sample.bytes(), "json": sample.member("json"), "seg.png": sample.member("mask.png")}
    for ending, data in parts.items():
        (tmp_path / "mine" / f"0.{ending}").write_bytes(data)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def run(name, given):
    found = blocks(name)
    assert found
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for line, text in found:
            exec(compile("\n" * (line - 1) + text, str(ROOT / name), "exec"), given)
    return given


def test_readme(place):
    run("README.md", {})


def test_python(place, capsys):
    torch = pytest.importorskip("torch")
    pytest.importorskip("numpy")
    saved = iter([True])
    given = {
        "torch": torch,
        "recipe": "rrc(32) flip",
        "mine": torch.utils.data.SequentialSampler(range(12)),
        "tqdm": iter,
        "step": lambda images, labels: None,
        "time_to_save": lambda: next(saved, False),
        "model": torch.nn.Linear(1, 1),
    }
    run("doc/python.md", given)
    told = capsys.readouterr().out
    assert "[[20., 15., 50., 35.]]" in told or "[[30., 15., 60., 35.]]" in told
    assert "members=json, seg.png" in told
    assert given["numbers"].tolist() == [3] * 9 and set(given["texts"]) == {"a cat"}
    assert (place / "last.pt").exists() and os.path.exists("scenes-000000.tar")
