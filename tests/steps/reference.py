# SPDX-License-Identifier: Apache-2.0
"""Imports torchvision, also one whose compiled operators do not fit the torch beside it: the transforms do without them."""
import os
import pathlib
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "golden"))


def import_torchvision():
    import operators  # noqa: F401, before torchvision
    import torchvision

    torch.set_num_threads(1)
    return torchvision
