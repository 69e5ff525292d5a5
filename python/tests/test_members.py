# SPDX-License-Identifier: Apache-2.0
"""Targets that are not there are told of when a loader is made, and do not come as empty boxes in silence."""

import warnings

import pytest
from demo import annotated, folder, picture, tar

import millrace as mr

RECIPE = "resize(16x16)"


def plain(count=3):
    """Images with a member that no target is made of."""
    samples = [(f"{i:03}", {"jpg": mr.encode(picture(i), "jpeg"), "txt": b"a cat"}) for i in range(count)]
    return tar(f"plain-{count}.tar", samples)


def loaders():
    yield mr.Loader
    try:
        import torch  # noqa: F401
    except ImportError:
        return
    yield mr.torch.Loader
    yield mr.torch.MapDataset


@pytest.mark.parametrize("make", list(loaders()))
def test_a_mask_member_that_is_not_there_is_an_error(make):
    with pytest.raises(mr.ArgumentError, match=r"no.* has a member 'seg.png'; members there: json, mask.png"):
        make(annotated(), RECIPE, targets="mask", mask_member="seg.png")


@pytest.mark.parametrize("make", list(loaders()))
@pytest.mark.parametrize("targets", ["boxes", ("keypoints", "masks"), ("boxes", "mask")])
def test_targets_without_annotations_are_warned_of(make, targets):
    with pytest.warns(RuntimeWarning, match="none of the 3 samples looked at has a member 'json': ") as told:
        make(plain(), RECIPE, targets=targets)
    assert len(told) == 1 and told[0].filename == __file__
    text = str(told[0].message)
    assert "members there: txt. doc/python.md" in text
    assert ("'png': mask will be 0 everywhere" in text) == ("mask" in targets)


def test_folders_are_told_to_become_tars():
    with pytest.warns(RuntimeWarning, match="members there: none. Samples of a folder are images alone: make tar"):
        mr.Loader(folder(), RECIPE, targets="mask")


def test_64_samples_of_many_are_looked_at():
    samples = [(f"{i:03}", {"jpg": mr.encode(picture(i % 3), "jpeg")}) for i in range(150)]
    samples[-1][1]["json"] = b"[]"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mr.Loader(tar("last.tar", samples), RECIPE, targets="boxes")  # the last one is among them
    del samples[-1][1]["json"]
    with pytest.warns(RuntimeWarning, match="none of the 64 samples"):
        mr.Loader(tar("none.tar", samples), RECIPE, targets="boxes")


def test_what_is_there_is_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mr.Loader(annotated(), RECIPE, targets=("boxes", "masks", "mask"))
        mr.Loader(annotated(), RECIPE, targets="mask", mask_member="mask.png")
        mr.Loader(plain(), RECIPE)
