# SPDX-License-Identifier: Apache-2.0
"""What all tests share: small datasets, made once a run by the command (MILLRACE_COMMAND or build/millrace)."""
import importlib.abc
import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys
from collections.abc import Sequence
from types import ModuleType

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = pathlib.Path(os.environ.get("MILLRACE_COMMAND", ROOT / "build" / "millrace"))


# torchvision is installed without its dependencies, and its compiled operators may be of another torch.


class DeclaresOperators(importlib.abc.MetaPathFinder):
    """Declares the operators of torchvision just before it is imported; not earlier, as some tests have no torch."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name == "torchvision":
            sys.meta_path.remove(self)  # once
            self.declare()
        return None  # the others find it

    def declare(self) -> None:
        if importlib.util.find_spec("torchvision") is not None:
            sys.path.insert(0, str(ROOT / "tests" / "golden"))
            importlib.import_module("operators")
            sys.path.pop(0)


class Hides(importlib.abc.MetaPathFinder):
    """Under AddressSanitizer the large frameworks are not there: they take minutes to load, and are not tested."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name in ("torch", "torchvision", "jax", "lightning"):
            raise ModuleNotFoundError(f"{name} is not used under AddressSanitizer", name=name)
        return None


if os.environ.get("MILLRACE_TEST_SANITIZED"):
    sys.meta_path.insert(0, Hides())
sys.meta_path.insert(0, DeclaresOperators())


def command(*words: object) -> str:
    """Runs `millrace WORDS...`; what it prints."""
    done = subprocess.run([str(COMMAND), *map(str, words)], text=True, capture_output=True)
    assert done.returncode == 0, f"millrace {' '.join(map(str, words))}: {done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder for the whole run. No index of it lands in the user's cache."""
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))
    return tmp_path_factory.mktemp("sets")


@pytest.fixture(scope="session")
def folder(scratch: pathlib.Path) -> pathlib.Path:
    """48 images in four class folders: JPEG, PNG and WebP, of about 250 x 190."""
    to = scratch / "folder"
    command("generate", to, "--count=48", "--size=256x192", "--seed=1")
    return to


@pytest.fixture(scope="session")
def packed(scratch: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """The same images, packed as they are and as L3."""
    to = scratch / "packed"
    command("pack", folder, "-o", to, "--forms", "original,l3")
    return to


@pytest.fixture(scope="session")
def tiny(scratch: pathlib.Path) -> pathlib.Path:
    """Ten PNGs of 40 x 30 in two class folders."""
    to = scratch / "tiny"
    command("generate", to, "--count=10", "--size=40x30", "--classes=2", "--forms=png=1", "--seed=2")
    return to
