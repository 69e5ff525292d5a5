# SPDX-License-Identifier: Apache-2.0
"""What the tests of the extension module share: small datasets, programs of their own, capsules taken apart."""

import ctypes
import os
import pathlib
import subprocess
import sys
import textwrap
from collections.abc import Callable
from typing import Any

from millrace import _core

ROOT = pathlib.Path(__file__).resolve().parents[2]
AT_ONCE = 15  # seconds within which what comes at once has come on any machine; what does not, takes a minute
COMMAND = pathlib.Path(os.environ.get("MILLRACE_COMMAND", ROOT / "build" / "millrace"))


def unsanitized(reason: str) -> Any:
    """Marks a test that is left out where the extension module is run under ASan."""
    import pytest  # which the programs below do without

    return pytest.mark.skipif("MILLRACE_TEST_SANITIZED" in os.environ, reason=reason)


def generate(folder: pathlib.Path, count: int = 24, *words: str) -> str:
    """A folder of small pictures in four classes."""
    subprocess.run(
        [COMMAND, "generate", f"--count={count}", "--size=64x48", *words, folder], check=True, stdout=subprocess.DEVNULL
    )
    return str(folder)


def loader(folder: str, recipe: str = "resize(32x32)", **options: object) -> _core.Loader:
    asked: dict[str, Any] = {"batch": 4, "threads": 1, **options}
    return _core.Loader(_core.Dataset([folder]), _core.Recipe(recipe), **asked)


def program(text: str, *arguments: object) -> subprocess.Popen[str]:
    """A Python of its own that runs the text, with the packages of this one."""
    head = f"import sys; sys.path[:0] = {sys.path!r}\n"
    command = [
        sys.executable,
        "-W",
        "ignore::DeprecationWarning",
        "-c",
        head + textwrap.dedent(text),
        *map(str, arguments),
    ]
    return subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def run(text: str, *arguments: object) -> str:
    """What a program prints that ends well and complains of nothing."""
    with program(text, *arguments) as child:
        try:
            out, err = child.communicate(timeout=120)
        finally:
            child.kill()  # one that hangs would be waited for
    assert child.returncode == 0, f"{child.returncode}: {out} {err}"
    assert err == "", err
    return out


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_number", ctypes.c_int32),
        ("axes", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = [("tensor", Tensor), ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Versioned(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)  # called by ctypes without the GIL
USED = {b"dltensor": b"used_dltensor", b"dltensor_versioned": b"used_dltensor_versioned"}

pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
name_of = ctypes.pythonapi.PyCapsule_GetName
name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
set_name = ctypes.pythonapi.PyCapsule_SetName
set_name.restype, set_name.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]


def look(capsule: object) -> Managed | Versioned:
    """What is in a capsule, which stays as it is."""
    name = name_of(capsule)
    return (Managed if name == b"dltensor" else Versioned).from_address(pointer_of(capsule, name))


def consume(capsule: object) -> tuple[Callable[[int], None], int]:
    """Takes what is in a capsule, as a consumer does: its deleter, and what to call it with."""
    name = name_of(capsule)
    inside = look(capsule)
    address = ctypes.addressof(inside)
    assert set_name(capsule, USED[name]) == 0
    return DELETER(inside.deleter), address
