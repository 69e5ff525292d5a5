# SPDX-License-Identifier: Apache-2.0
"""What type checkers and editors know of a user's program."""

import inspect
import os
import pathlib
import pydoc
import re
import subprocess
import sys

import pytest

import millrace as mr
from millrace._options import BatchOptions, LoaderOptions

PACKAGE = pathlib.Path(mr.__file__).resolve().parent

# Instead of torch, which takes mypy a minute to read.
STUBS = {
    "torch/__init__.pyi": "class Tensor: ...\nclass device: ...\n",
    "torch/distributed.pyi": "",
    "torch/utils/__init__.pyi": "",
    "torch/utils/data.pyi": "from typing import Generic, TypeVar\nT = TypeVar('T')\n"
    "class Dataset(Generic[T]): ...\nclass IterableDataset(Dataset[T]): ...\n",
}

GOOD = """
import pathlib
import millrace as mr

mixed = [mr.RandomResizedCrop(224, scale=[0.1, 1]), "flip", mr.Normalize([0.5], (0.5, 0.5, 0.5))]
mr.Loader("train", "rrc(224)", batch_size=4)
mr.Loader(pathlib.Path("train"), mixed, shuffle=True)
mr.Loader(["a.tar", pathlib.Path("b.tar")], mr.Recipe("flip"), order="windowed")
mr.Loader(mr.Dataset("train"), mr.Resize((64, 64)))
loader = mr.torch.Loader("train", mixed, batch_size=4, rank=0, world=2, device="cuda:0", bad="skip")
reveal_type(loader)
for batch in loader:
    reveal_type(batch)
    reveal_type(batch.images)
    reveal_type(batch.soft_labels(10))
    reveal_type(batch.keys)
for images, labels in loader:
    print(images, labels)
batches = mr.torch.BatchDataset("train", mixed, batch_size=4, workers=2, num_classes=7)
reveal_type(next(iter(batches)))
"""

REVEALED = [
    "millrace.torch.Loader",
    "millrace.torch.Batch",
    "torch.Tensor",
    "torch.Tensor",
    "list[str]",
    "tuple[torch.Tensor, Any]",
]

BAD = [
    "mr.Loader(5, 'flip')",
    "mr.Loader('train', 7)",
    "mr.torch.Loader(5, 'flip')",
    "mr.torch.Loader('train', 7)",
    "mr.torch.Loader('train', 'flip', batch_size='4')",
    "mr.torch.Loader('train', 'flip', bad='ignore')",
    "mr.torch.Loader('train', 'flip', colour=3)",
    "mr.torch.BatchDataset('train', 'flip', colour=3)",
    "mr.torch.MapDataset(5, 'flip')",
    "mr.RandomResizedCrop('a')",
    "mr.RandomResizedCrop()",
    "mr.RandomResizedCrop(224, sise=3)",
    "mr.Recipe(3)",
    "mr.RandomResizeCrop(224)",
    "mr.torch.Loadr('train', 'flip')",
]


def check(folder, text):
    """What mypy says of a program, a line each."""
    pytest.importorskip("mypy")
    for name, stub in STUBS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(stub)
    (folder / "program.py").write_text(text)
    words = ["--strict", "--follow-imports=silent", f"--cache-dir={folder / 'cache'}", "--config-file=", "program.py"]
    places = [str(folder), *([] if PACKAGE.parent.name == "site-packages" else [str(PACKAGE.parent)])]  # which it knows
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *words],
        cwd=folder,
        env={**os.environ, "MYPYPATH": os.pathsep.join(places)},
        capture_output=True,
        text=True,
    )
    assert not done.stderr, done.stderr
    return [line for line in done.stdout.splitlines() if line.startswith("program.py")]


def test_a_good_program(tmp_path):
    lines = check(tmp_path, GOOD)
    assert [line for line in lines if ": error:" in line] == []
    assert [re.search(r'Revealed type is "(.*)"', line)[1].replace("builtins.", "") for line in lines] == REVEALED


def test_bad_programs(tmp_path):
    lines = check(tmp_path, "import millrace as mr\n" + "\n".join(BAD) + "\n")
    found = {int(line.split(":")[1]) for line in lines if ": error:" in line}
    assert [BAD[at] for at in range(len(BAD)) if at + 2 not in found] == []


def test_options_are_those_of_the_loader():
    kinds = {
        name: parameter.annotation
        for name, parameter in inspect.signature(mr.Loader).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    }
    assert LoaderOptions.__annotations__.keys() == kinds.keys() - {"device", "keep"}
    for name, kind in LoaderOptions.__annotations__.items():
        assert name == "to" or kind.__forward_arg__.replace('"', "'") == kinds[name].replace('"', "'")
    own, more = {"rank", "world", "threads", "epoch", "to"}, {"tv_tensors", "num_classes"}
    assert BatchOptions.__annotations__.keys() == LoaderOptions.__annotations__.keys() - own | more


def test_help_of_the_torch_loader():
    pytest.importorskip("torch")
    said = pydoc.plain(pydoc.render_doc(mr.torch.Loader))
    head = said.partition("`millrace.Loader` for PyTorch")[0]
    assert "batch_size: 'int' = 64" in head and "num_classes: 'int | None' = None" in head
    assert "**" not in head and "_cuda" not in head
    assert {"shuffle", "num_classes"} <= inspect.signature(mr.torch.BatchDataset).parameters.keys()
