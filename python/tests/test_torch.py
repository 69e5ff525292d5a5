# SPDX-License-Identifier: Apache-2.0
"""mr.torch.Loader: tensors, epochs, states, ranks, mixing."""

import json
import pathlib
import pickle
import subprocess
import sys
import warnings

import pytest
import sets

torch = pytest.importorskip("torch")
import millrace as mr  # noqa: E402

torch.set_num_threads(1)  # more wait for each other on a busy machine
COUNT, SIDE = 50, 16
RECIPE = "crop(12) flip"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return sets.folder(tmp_path_factory.mktemp("set"), COUNT, side=SIDE)


def loader_of(path, recipe=RECIPE, **options):
    return mr.torch.Loader(path, recipe, **{"batch_size": 8, "shuffle": True, "threads": 1, **options})


def ordinals_of(batches):
    return [ordinal for batch in batches for ordinal in batch.ordinals.tolist()]


def test_batches_are_tensors(path):
    with loader_of(path) as loader:
        assert len(loader) == 7
        seen = 0
        for images, labels in loader:
            assert images.shape[1:] == (3, 12, 12) and images.dtype == torch.uint8
            assert labels.dtype == torch.int64 and len(labels) == len(images)
            seen += len(images)
        assert seen == COUNT


def test_labels_may_be_kept(path):
    with loader_of(path, slots=2, timeout=3) as loader:
        assert len(torch.cat([labels for _, labels in loader])) == COUNT
        kept = [(batch.labels, batch.mask) for batch in loader]
        assert len(kept) == 7


def test_same_bytes_as_the_plain_loader(path):
    with loader_of(path) as ours, mr.Loader(path, RECIPE, batch_size=8, shuffle=True, to="array") as plain:
        for one, other in zip(ours, plain, strict=True):
            assert bytes(one.images.numpy()) == other.images.tobytes()


def test_other_arrays_are_refused(path):
    with pytest.raises(mr.ArgumentError, match="mr.Loader"):
        loader_of(path, to="numpy")


def test_every_epoch_is_another(path):
    with loader_of(path) as loader:
        first, second = ordinals_of(loader), ordinals_of(loader)
        assert first != second and sorted(first) == sorted(second) == list(range(COUNT))
        loader.set_epoch(0)
        assert ordinals_of(loader) == first


def test_a_batch_moves_as_a_whole(path):
    with loader_of(path) as loader:
        batch = next(iter(loader))
        moved = batch.to("cpu")
        assert type(moved) is type(batch) and torch.equal(moved.images, batch.images)
        images, labels = moved
        assert torch.equal(labels, batch.labels) and moved.number == 0 and moved.keys == batch.keys
        assert [part.device.type for part in batch.to("meta")] == ["meta", "meta"]


def test_loaders_travel(path):
    with loader_of(path) as loader:
        expected = ordinals_of(loader)
        with pickle.loads(pickle.dumps(loader_of(path))) as other:
            assert ordinals_of(other) == expected


@pytest.mark.parametrize("world, batch_size", [(1, 8), (2, 4), (3, 5)])
def test_the_rest_of_an_epoch_goes_on_elsewhere(path, world, batch_size):
    """The state of one rank, after three batches, is enough for any number of them, in new processes."""
    with loader_of(path) as loader:
        iterator = iter(loader)
        done = ordinals_of(next(iterator) for _ in range(3))
        state = json.dumps(loader.state_dict())
        expected = ordinals_of(iterator)
    rest = []
    for rank in range(world):
        rest += go_on(path, state, rank=rank, world=world, batch_size=batch_size)
    assert sorted(rest) == sorted(expected)
    assert sorted(done + rest) == list(range(COUNT))
    if world == 1:
        assert rest == expected


def go_on(path, state, **options):
    script = (
        "import sys, json, torch, millrace as mr\n"
        "path, recipe, state, options = sys.argv[1:]\n"
        "loader = mr.torch.Loader(path, recipe, shuffle=True, threads=1, **json.loads(options))\n"
        "loader.load_state_dict(json.loads(state))\n"
        "loader.set_epoch(json.loads(state)['epoch'])\n"  # as programs do; it is what comes anyway
        "print(json.dumps([o for batch in loader for o in batch.ordinals.tolist()]))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script, path, RECIPE, state, json.dumps(options)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_a_state_of_two_ranks_is_one(path):
    ranks = [loader_of(path, rank=rank, world=2, batch_size=4) for rank in range(2)]
    iterators = [iter(loader) for loader in ranks]
    done = [ordinal for iterator in iterators for ordinal in ordinals_of(next(iterator) for _ in range(2))]
    states = [loader.state_dict() for loader in ranks]
    assert states[0] == states[1] and "rank" not in states[0]
    with loader_of(path, batch_size=7) as loader:
        loader.load_state_dict(states[0])
        assert sorted(done + ordinals_of(loader)) == list(range(COUNT))
        assert sorted(ordinals_of(loader)) == list(range(COUNT))  # and then the next epoch, whole


def test_ranks_have_as_many_batches(path):
    for drop_last in (False, True):
        ranks = [loader_of(path, rank=rank, world=3, batch_size=4, drop_last=drop_last) for rank in range(3)]
        batches = [[batch.ordinals.tolist() for batch in loader] for loader in ranks]
        assert len({len(each) for each in batches}) == 1 and len(batches[0]) == len(ranks[0])
        seen = [ordinal for rank in batches for batch in rank for ordinal in batch]
        assert len(set(seen)) == len(seen) == (48 if drop_last else COUNT)


def test_mixed_labels_are_weights(path):
    with loader_of(path, "crop(12) normalize(half) mixup(1)", num_classes=3, drop_last=True) as loader:
        mixed = 0
        for batch in loader:
            images, weights = batch
            assert weights.shape == (8, 3) and weights.dtype == torch.float32
            assert torch.allclose(weights.sum(1), torch.ones(8))
            assert batch.labels.dtype == torch.int64
            own = torch.nn.functional.one_hot(batch.labels, 3).float()
            other = torch.nn.functional.one_hot(batch.mix["partners"], 3).float()
            assert torch.allclose(weights, batch.mix["weight"] * own + (1 - batch.mix["weight"]) * other, atol=1e-6)
            mixed += bool((weights.max(1).values < 1).any())
        assert mixed > 0
        images = images.clone()
        loss = torch.nn.functional.cross_entropy(images.flatten(1)[:, :3], weights)
        assert loss.isfinite()


def test_mixing_without_classes_is_said(path):
    with pytest.warns(UserWarning, match="num_classes"):
        loader_of(path, "crop(12) normalize(half) cutmix(1)").close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with loader_of(path, "crop(12) normalize(half) cutmix(1)", num_classes=0) as loader:
            batch = next(iter(loader))
            assert batch._second().dtype == torch.int64 and batch.mix["partners"].dtype == torch.int64


def test_weights_without_mixing(path):
    with loader_of(path, num_classes=3) as loader:
        for batch in loader:
            assert torch.equal(batch._second(), torch.nn.functional.one_hot(batch.labels, 3).float())


def test_copies_may_be_kept(path):
    with loader_of(path, copy=True, num_classes=3) as loader:
        kept = list(loader)
        assert sorted(ordinals_of(kept)) == list(range(COUNT))
        assert all(len(weights) == len(images) for images, weights in kept)


def test_ranks_of_torch_distributed(path, tmp_path):
    """A loader that is made before the process joins follows it; threads stand for processes here."""
    with loader_of(path) as loader:
        assert len(loader) == 7
        torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/meet", rank=0, world_size=1)
        try:
            assert len(loader) == 7
            assert sorted(ordinals_of(loader)) == list(range(COUNT))
        finally:
            torch.distributed.destroy_process_group()


def test_ranks_that_come_in_the_middle(path, monkeypatch):
    """The epoch that has begun goes on as it was; the next one has the new ranks."""
    with loader_of(path) as loader:
        batches = iter(loader)
        done = ordinals_of(next(batches) for _ in range(3))
        monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
        monkeypatch.setattr(torch.distributed, "get_rank", lambda: 0)
        monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 2)
        assert loader.state_dict()["position"] == 24 and len(loader) == 7
        assert sorted(done + ordinals_of(batches)) == list(range(COUNT))
        assert len(loader) == 4
        with loader_of(path, rank=0, world=2, epoch=1) as expected:
            assert ordinals_of(loader) == ordinals_of(expected)


def test_half_an_environment_waits_for_torch_distributed(path, monkeypatch):
    """As Lightning starts its other ranks."""
    monkeypatch.setenv("LOCAL_RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.delenv("RANK", raising=False)
    with loader_of(path) as loader:
        with pytest.raises(mr.ArgumentError, match="torch.distributed"):
            iter(loader)
        monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
        monkeypatch.setattr(torch.distributed, "get_rank", lambda: 1)
        monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 2)
        assert len(loader) == 4
        assert loader.stats()["rank"] == 1
        with loader_of(path, rank=1, world=2) as expected:
            assert ordinals_of(loader) == ordinals_of(expected)


def test_a_device_that_is_not_there(path):
    if torch.cuda.is_available():
        pytest.skip("there is CUDA")
    with pytest.raises(mr.ArgumentError, match="no CUDA"):
        loader_of(path, device="cuda:0")
    with pytest.raises(mr.ArgumentError, match="neither"):
        loader_of(path, device="meta")
    with pytest.warns(RuntimeWarning, match="no CUDA"):
        loader_of(path, pin_memory=True).close()


def test_a_file_of_state_is_small(path, tmp_path):
    with loader_of(path) as loader:
        next(iter(loader))
        saved = pathlib.Path(tmp_path / "state.pt")
        torch.save(loader.state_dict(), saved)
        assert torch.load(saved, weights_only=True) == loader.state_dict()
        assert len(json.dumps(loader.state_dict())) < 400


def test_arguments_of_a_data_loader_say_what_to_write(path):
    for name, word in (("num_workers", "threads="), ("pinmemory", "pin_memory="), ("batchsize", "batch_size=")):
        with pytest.raises(TypeError, match=f"{name}=: .*{word}"):
            loader_of(path, **{name: 1})
