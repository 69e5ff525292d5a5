# SPDX-License-Identifier: Apache-2.0
"""To be imported before torchvision, whose Python runs without its compiled operators once they are declared."""
import importlib.util
import pathlib

import torch

OPERATORS = "nms qnms roi_align ps_roi_align roi_pool ps_roi_pool deform_conv2d"
declared = None  # lives as long as what it declares


def declare():
    global declared
    spec = importlib.util.find_spec("torchvision")
    if spec is None:
        raise ImportError("there is no torchvision")
    for compiled in pathlib.Path(spec.origin).parent.glob("_C*.so"):
        try:
            torch.ops.load_library(compiled)
        except OSError:  # made for another torch
            pass
    if not hasattr(torch.ops.torchvision, "nms"):
        declared = torch.library.Library("torchvision", "DEF")
        for name in OPERATORS.split():
            declared.define(f"{name}(Tensor of) -> Tensor")


declare()
