# SPDX-License-Identifier: Apache-2.0
"""Arguments that make no sense: refused where they are given, by name, with their value."""

import os

import pytest
from demo import folder, picture

import millrace as mr

RECIPE = "rrc(24) flip"
JPEG = mr.encode(picture(1), "jpeg")


def make(**options):
    return mr.Loader(folder(), RECIPE, **{"batch_size": 8, "to": "array", **options})


@pytest.mark.parametrize(
    ("options", "kind", "said"),
    [
        ({"bad": "skip", "bad_max": 0}, mr.ArgumentError, 'bad_max=0: bad="fail" has'),
        ({"shuffle": True, "order": "sequential"}, mr.ArgumentError, 'shuffle=True, but order="sequential"'),
        ({"rank": 1}, mr.ArgumentError, "rank=1 alone: rank and world are given together, or neither"),
        ({"world": 2}, mr.ArgumentError, "world=2 alone: rank and world"),
        ({"rank": 5, "world": 2}, mr.ArgumentError, "rank=5 of world=2: ranks are from 0 to 1"),
        ({"rank": 0, "world": 0}, mr.ArgumentError, "world=0 is not a whole number of at least 1"),
        ({"limits": []}, TypeError, "limits=.. is not a dict"),
        ({"limits": {"pixels": -1}}, mr.ArgumentError, "limits.'pixels'.=-1 is not a whole number of at least 0"),
        ({"limits": {"pixel": 1}}, mr.ArgumentError, "a limit cannot be 'pixel'"),
        ({"targets": 3}, TypeError, "targets=3 is neither one of boxes"),
        ({"targets": [3]}, TypeError, "targets=.3. is neither one of boxes"),
        ({"targets": "box"}, mr.ArgumentError, "a target cannot be 'box'"),
        ({"quarantine": 3}, TypeError, "quarantine=3 is not a path"),
        ({"bad": "no"}, mr.ArgumentError, "bad cannot be 'no' .one of: fail, skip, replace"),
        ({"order": "any"}, mr.ArgumentError, "order cannot be 'any'"),
    ],
)
def test_loaders(options, kind, said):
    with pytest.raises(kind, match=said):
        make(**options)


@pytest.mark.parametrize("name", ["shuffle", "drop_last", "copy", "pad", "check_all", "pin_threads"])
def test_flags(name):
    for wrong in ("no", "yes", 0.5, []):
        with pytest.raises(TypeError, match=f"{name}=.* is neither True nor False"):
            make(**{name: wrong})
    for right in (True, False, 1, 0, None):
        make(**{name: right}).close()
    numpy = pytest.importorskip("numpy")
    make(**{name: numpy.bool_(True)}).close()


@pytest.mark.parametrize("classes", [-1, 1.5, "3", 2**32])
@pytest.mark.parametrize("copy", [False, True])
def test_classes(copy, classes):
    batch = next(iter(make(copy=copy)))
    with pytest.raises(mr.ArgumentError, match="classes="):
        batch.soft_labels(classes)


@pytest.mark.parametrize(
    ("options", "kind", "said"),
    [
        ({"region": (1, 2)}, mr.ArgumentError, r"region=\(1, 2\) is not \(x, y, width, height\)"),
        ({"region": (-1, 0, 10, 10)}, mr.ArgumentError, r"region=\(-1, 0, 10, 10\) is not"),
        ({"region": (0, 0, 1.5, 10)}, mr.ArgumentError, "region="),
        ({"region": (0, 0, 8, 2**40)}, mr.ArgumentError, "region="),
        ({"region": 3}, mr.ArgumentError, "region=3 is not"),
        ({"limits": {"pixels": -1}}, mr.ArgumentError, "limits.'pixels'.=-1"),
        ({"limits": []}, TypeError, "limits=.. is not a dict"),
        ({"reduce": -1}, mr.ArgumentError, "reduce=-1"),
        ({"channels": "3"}, mr.ArgumentError, "channels='3'"),
        ({"depth": -8}, mr.ArgumentError, "depth=-8"),
        ({"orient": "no"}, TypeError, "orient='no' is neither True nor False"),
    ],
)
def test_decode(options, kind, said):
    with pytest.raises(kind, match=said):
        mr.decode(JPEG, **options)


def test_other_calls(tmp_path):
    for call, kind, said in (
        (lambda: mr.encode(picture(1), "jpeg", quality=-1), mr.ArgumentError, "quality=-1"),
        (lambda: mr.encode(picture(1), "jpeg", progressive="no"), TypeError, "progressive='no'"),
        (lambda: mr.recode(JPEG, "l3", threads=-1), mr.ArgumentError, "threads=-1"),
        (lambda: mr.Dataset(folder(), threads=-1), mr.ArgumentError, "threads=-1"),
        (lambda: mr.Dataset(folder(), list=3), TypeError, "list=3 is not a path"),
        (lambda: mr.Dataset(folder(), index_folder=3), TypeError, "index_folder=3 is not a path"),
        (lambda: mr.pack(folder(), 3), TypeError, "folder=3 is not a path"),
        (lambda: mr.pack(folder(), tmp_path / "to", shard_samples=-1), mr.ArgumentError, "shard_samples=-1"),
        (lambda: mr.verify(3), TypeError, "folder=3 is not a path"),
    ):
        with pytest.raises(kind, match=said):
            call()


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing.jpg"):
        mr.decode(tmp_path / "nothing.jpg")
    with pytest.raises(mr.StorageError, match="nothing"):
        mr.Dataset(tmp_path / "nothing")


def test_what_is_broken_has_a_way_out_in_python(tmp_path):
    (tmp_path / "set" / "a").mkdir(parents=True)
    (tmp_path / "set" / "a" / "0.jpg").write_bytes(JPEG)
    os.symlink(tmp_path / "nowhere.jpg", tmp_path / "set" / "a" / "dangling.jpg")
    (tmp_path / "no.tar").write_bytes(b"a" * 1024)
    for name, kind in (("set", mr.StorageError), ("no.tar", mr.DataError)):
        with pytest.raises(kind) as caught:
            mr.Dataset(tmp_path / name, index="none")
        assert str(caught.value).endswith('; mr.Dataset(path, broken="skip") leaves it out')
        assert str(caught.value).count("leaves it out") == 1 and caught.value.code.startswith("MR_E")
    assert len(mr.Dataset(tmp_path / "set", index="none", broken="skip")) == 1
