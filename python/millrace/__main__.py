# SPDX-License-Identifier: Apache-2.0
"""`python -m millrace`: what a report of a problem should begin with."""

from __future__ import annotations

import importlib.metadata
import platform
import sys

from . import __version__, _core

FRAMEWORKS = ("numpy", "torch", "torchvision", "lightning", "jax", "ml_dtypes", "pillow", "tqdm")


def _version_of(package: str) -> str:
    """As installed; nothing is imported."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "-"


def _free_threaded() -> bool:
    is_enabled = getattr(sys, "_is_gil_enabled", None)
    return is_enabled is not None and not is_enabled()


def facts() -> dict[str, str]:
    """Everything that is printed, by name."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return {
        "millrace": __version__,
        "library": _core.version(),
        "extension": str(_core.__file__),
        "processor": _core.cpu(),
        "threads": str(_core.threads_default()),
        "python": python + (", without the GIL" if _free_threaded() else ""),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}, {' '.join(platform.libc_ver())}",
        **{name: _version_of(name) for name in FRAMEWORKS},
    }


def main() -> int:
    for name, value in facts().items():
        print(f"{name:<12} {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
