# SPDX-License-Identifier: Apache-2.0
"""The peer torch on Pillow-SIMD, which takes the place of Pillow and so has an environment of its own."""
from __future__ import annotations

from dataclasses import replace

import harness
import peer_torch

ROWS = ("jpeg", "jpeg512", "randaug", "png-kodak", "png-cityscapes", "webp")
PEER = replace(
    peer_torch.PEER,
    name="torch-simd",
    venv="torch-simd",
    documents=peer_torch.PEER.documents + "; github.com/uploadcare/pillow-simd (CC='cc -mavx2')",
    jobs={name: peer_torch.PEER.jobs[name] for name in ROWS},
    settings={"jpeg": "as torch, on Pillow-SIMD"},
    prepare={},
    needs={},
    notes={},
)

if __name__ == "__main__":
    harness.main(PEER)
