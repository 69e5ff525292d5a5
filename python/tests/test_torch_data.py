# SPDX-License-Identifier: Apache-2.0
"""mr.torch.BatchDataset and MapDataset inside of DataLoaders."""

import concurrent.futures
import pickle
import warnings

import pytest
import sets

torch = pytest.importorskip("torch")
import millrace as mr  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")

COUNT, SIDE = 43, 16
RECIPE = "crop(12) flip"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Labels are the ordinals: each sample is a class of its own."""
    return sets.folder(tmp_path_factory.mktemp("set"), COUNT, classes=COUNT, side=SIDE)


def batches_of(path, **options):
    return mr.torch.BatchDataset(path, RECIPE, **{"batch_size": 4, "shuffle": True, **options})


def load(dataset, **options):
    workers = options.get("num_workers", 0)
    context = options.pop("multiprocessing_context", "fork" if workers else None)
    return DataLoader(dataset, batch_size=None, multiprocessing_context=context, **options)


def copies_of(batches):
    """Without workers, batches are views of the loader's memory."""
    return [(images.clone(), labels.clone()) for images, labels in batches]


def labels_of(batches):
    return [label for _, labels in batches for label in labels.tolist()]


@pytest.mark.parametrize("workers", [0, 1, 2, 3])
def test_every_sample_once_over_workers(path, workers):
    dataset = batches_of(path, workers=workers)
    loads = load(dataset, num_workers=workers)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="Length of IterableDataset")  # that len() is too small
        batches = copies_of(loads)
    assert len(batches) == len(loads) == len(dataset)
    assert all(len(images) == len(labels) > 0 for images, labels in batches)
    assert sorted(labels_of(batches)) == list(range(COUNT))


@pytest.mark.parametrize("workers", [0, 3])
def test_copies_may_be_kept(path, workers):
    batches = list(load(batches_of(path, workers=workers, copy=True), num_workers=workers))
    assert all(len(images) > 0 for images, _ in batches)
    assert sorted(labels_of(batches)) == list(range(COUNT))


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_started_otherwise(path, method):
    dataset = batches_of(path, workers=2)
    assert sorted(labels_of(load(dataset, num_workers=2, multiprocessing_context=method))) == list(range(COUNT))


@pytest.mark.parametrize("persistent", [False, True])
def test_every_epoch_is_another(path, persistent):
    dataset = batches_of(path, workers=2)
    loads = load(dataset, num_workers=2, persistent_workers=persistent)
    first, second = labels_of(loads), labels_of(loads)
    assert first != second and sorted(first) == sorted(second) == list(range(COUNT))
    dataset.set_epoch(0)
    assert labels_of(loads) == first
    assert labels_of(loads) == second
    dataset.set_epoch(7)
    seventh = labels_of(loads)
    assert seventh not in (first, second)
    assert labels_of(load(batches_of(path, workers=2, epoch=7), num_workers=2)) == seventh


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("world, workers", [(2, 2), (3, 2), (2, 3)])
def test_every_sample_once_over_workers_and_ranks(path, world, workers, drop_last):
    loads = [
        load(batches_of(path, workers=workers, rank=rank, world=world, drop_last=drop_last), num_workers=workers)
        for rank in range(world)
    ]
    batches = [copies_of(each) for each in loads]
    assert {len(each) for each in batches} == {len(loads[0])}
    seen = sorted(label for each in batches for label in labels_of(each))
    if drop_last:
        assert len(set(seen)) == len(seen) == COUNT // (4 * world * workers) * 4 * world * workers
    else:
        assert seen == list(range(COUNT))


def test_a_process_without_workers_goes_on(path):
    dataset = batches_of(path)
    iterator = iter(dataset)
    done = labels_of(next(iterator) for _ in range(3))
    other = batches_of(path)
    other.load_state_dict(dataset.state_dict())
    assert sorted(done + labels_of(other)) == list(range(COUNT))
    assert sorted(labels_of(other)) == list(range(COUNT))
    with pytest.raises(mr.ArgumentError, match="as many workers"):
        other.load_state_dict({**dataset.state_dict(), "workers": 2})


def test_stateful_data_loader_goes_on(path):
    stateful = pytest.importorskip("torchdata.stateful_dataloader").StatefulDataLoader
    make = lambda: stateful(  # noqa: E731
        batches_of(path, workers=2), batch_size=None, num_workers=2, multiprocessing_context="fork"
    )
    loads = make()
    iterator = iter(loads)
    done = labels_of(next(iterator) for _ in range(5))
    state = loads.state_dict()
    rest = labels_of(iterator)
    again = make()
    again.load_state_dict(state)
    assert labels_of(again) == rest and sorted(done + rest) == list(range(COUNT))


def test_what_is_the_data_loaders(path):
    with pytest.raises(mr.ArgumentError, match="DataLoader"):
        batches_of(path, pin_memory=True)
    with pytest.raises(TypeError, match="workers= is as many"):
        batches_of(path, num_workers=2)
    with pytest.raises(TypeError, match="BatchDataset has no argument prefetch_factor=: slots="):
        batches_of(path, prefetch_factor=2)
    with pytest.raises(TypeError, match="did you mean shuffle="):
        batches_of(path, shufle=True)
    with pytest.raises(TypeError, match="Loader has no argument num_workers=: threads="):
        mr.torch.Loader(path, RECIPE, num_workers=2)


@pytest.mark.parametrize(
    "options, said",
    [
        ({"world": 4}, "world=4 alone: rank and world are given together, or neither"),
        ({"rank": 0}, "rank=0 alone"),
        ({"rank": 5, "world": 2}, "rank=5 of world=2"),
        ({"workers": -1}, "workers=-1"),
        ({"workers": 1.5}, "workers=1.5"),
        ({"epoch": -1}, "epoch=-1"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"threads": -1}, "threads=-1"),
        ({"num_classes": -1}, "num_classes=-1"),
        ({"bad": "no"}, "bad cannot be 'no'"),
        ({"tv_tensors": 3}, "tv_tensors=3"),
        ({"limits": {"pixels": -1}}, "limits"),
        ({"shuffle": True, "order": "sequential"}, "leave one out"),
    ],
)
def test_arguments_of_batches_are_checked_at_once(path, options, said):
    with pytest.raises(mr.ArgumentError, match=said):
        batches_of(path, **options)


def test_what_is_set_later_is_checked_too(path):
    with pytest.raises(TypeError, match="copy='x'"):
        batches_of(path, copy="x")
    for dataset in (batches_of(path), samples_of(path)):
        for wrong in (-1, 1.5, 2**32, None):
            with pytest.raises(mr.ArgumentError, match="epoch="):
                dataset.set_epoch(wrong)
    with pytest.raises(TypeError, match="a state is the dict"):
        batches_of(path).load_state_dict(None)
    with pytest.raises(mr.ArgumentError, match="num_classes=-1"):
        mr.torch.Loader(path, RECIPE, num_classes=-1)
    with pytest.raises(TypeError, match="pin_memory='no'"):
        mr.torch.Loader(path, RECIPE, pin_memory="no")


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("options", [{}, {"batch_size": 64}])
def test_batches_of_batches_are_refused(path, options, workers):
    dataset = batches_of(path, workers=workers)
    context = "fork" if workers else None
    with pytest.raises(mr.ArgumentError, match=r"DataLoader\(dataset, batch_size=None\)"):
        next(iter(DataLoader(dataset, num_workers=workers, multiprocessing_context=context, **options)))


class Wrapped(torch.utils.data.IterableDataset):
    def __init__(self, inner):
        self.inner = inner

    def __iter__(self):
        yield from self.inner


@pytest.mark.filterwarnings("ignore:all 3 batches")
def test_batches_of_batches_behind_something_else(path):
    wrapped = Wrapped(batches_of(path, timeout=2))
    with pytest.raises(mr.TimeoutError, match=r"a BatchDataset, .*batch_size=None"):
        next(iter(DataLoader(wrapped, batch_size=8)))
    assert len(copies_of(load(wrapped))) == 11


@pytest.mark.parametrize("options", [{}, {"batch_size": None}])
def test_a_loader_is_no_dataset(path, options):
    with mr.Loader(path, RECIPE, batch_size=8) as loader:
        with pytest.raises(TypeError, match="needs no DataLoader.*mr.torch.BatchDataset"):
            next(iter(DataLoader(loader, **options)))
        assert len([batch.count for batch in loader]) == 6  # by __iter__, as ever
        with pytest.raises(TypeError):
            next(reversed(loader))


# One sample at a time.


def samples_of(path, **options):
    return mr.torch.MapDataset(path, RECIPE, **options)


def test_samples_are_the_loaders(path):
    dataset = samples_of(path, seed=3)
    assert len(dataset) == COUNT
    with mr.torch.Loader(path, RECIPE, batch_size=8, shuffle=True, seed=3) as loader:
        for epoch in range(2):
            dataset.set_epoch(epoch)
            for batch in loader:
                for image, label, ordinal in zip(batch.images, batch.labels, batch.ordinals.tolist(), strict=True):
                    mine, my_label = dataset[ordinal]
                    assert torch.equal(mine, image) and my_label == label


def test_ends_of_a_map(path):
    dataset = samples_of(path)
    assert torch.equal(dataset[-1][0], dataset[COUNT - 1][0])
    for wrong in (COUNT, -COUNT - 1):
        with pytest.raises(IndexError, match=str(wrong)):
            dataset[wrong]
    assert len(list(dataset)) == COUNT  # by IndexError


@pytest.mark.parametrize(
    "options, kind, said",
    [
        ({"seed": -1}, mr.ArgumentError, "seed=-1"),
        ({"epoch": -1}, mr.ArgumentError, "epoch=-1"),
        ({"epoch": 1.5}, mr.ArgumentError, "epoch=1.5"),
        ({"targets": 3}, TypeError, "targets=3"),
        ({"limits": []}, TypeError, "limits="),
        ({"check_all": "no"}, TypeError, "check_all='no'"),
        ({"tv_tensors": 3}, mr.ArgumentError, "tv_tensors=3"),
    ],
)
def test_arguments_of_a_map_are_checked_at_once(path, options, kind, said):
    with pytest.raises(kind, match=said):
        samples_of(path, **options)


def test_samples_have_whole_numbers(path):
    dataset = samples_of(path)
    for wrong in (1.5, "1", None, slice(0, 2), torch.tensor(1.0)):
        with pytest.raises(TypeError, match="samples are asked for by number, not by"):
            dataset[wrong]
    assert dataset[torch.tensor(7)][1] == 7


def test_several_at_once_are_one_tensor(path):
    dataset = samples_of(path)
    samples = dataset.__getitems__([5, 2, 40])
    images, labels = mr.torch.collate(samples)
    assert images.data_ptr() == samples[0][0].data_ptr() and images.shape == (3, 3, 12, 12)
    assert labels.tolist() == [5, 2, 40]
    plain, plain_labels = mr.torch.collate(list(samples))
    assert torch.equal(plain, images) and torch.equal(plain_labels, labels)


@pytest.mark.parametrize("method, workers", [(None, 0), ("fork", 2), ("spawn", 2)])
def test_map_in_workers(path, method, workers):
    dataset = samples_of(path)
    dataset[0]  # a preparer of this process is of no matter to the workers
    loads = DataLoader(
        dataset, batch_size=5, shuffle=False, num_workers=workers, multiprocessing_context=method,
        collate_fn=mr.torch.collate, persistent_workers=workers > 0,
    )  # fmt: skip
    plain = DataLoader(dataset, batch_size=5)
    for epoch in (0, 3):
        dataset.set_epoch(epoch)
        expected = [dataset[ordinal][0] for ordinal in range(COUNT)]
        images = torch.cat([images.clone() for images, _ in loads])
        assert torch.equal(images, torch.stack(expected))
        assert torch.equal(images, torch.cat([images for images, _ in plain]))


def test_map_from_threads(path):
    dataset = samples_of(path)
    expected = [dataset[ordinal][0] for ordinal in range(COUNT)]
    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        for mine, image in zip(threads.map(lambda at: dataset[at][0], range(COUNT)), expected, strict=True):
            assert torch.equal(mine, image)


def test_maps_travel(path):
    dataset = samples_of(path, epoch=2)
    other = pickle.loads(pickle.dumps(dataset))
    assert torch.equal(other[9][0], dataset[9][0])


def again(dataset, **options):
    """What is said of two epochs."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for _ in range(2):
            for _ in DataLoader(dataset, batch_size=8, shuffle=True, **options):
                pass
    return [str(warning.message) for warning in said if issubclass(warning.category, RuntimeWarning)]


def test_the_same_epoch_again_is_said_once(path):
    dataset = samples_of(path)
    said = again(dataset)
    assert len(said) == 1 and "dataset.set_epoch(epoch)" in said[0]
    assert not again(dataset)  # once
    assert not again(mr.torch.MapDataset(path, "center(12) normalize(half)"))  # which draws nothing
    dataset = samples_of(path)
    dataset.set_epoch(0)
    assert not again(dataset)


@pytest.mark.filterwarnings("error:sample .* comes again")  # in workers, too: they are forked
@pytest.mark.parametrize("persistent", [False, True])
def test_the_same_epoch_again_is_said_by_workers(path, persistent):
    """Also where they are others than in the first epoch."""
    loads = DataLoader(
        samples_of(path), batch_size=8, shuffle=True, num_workers=2, multiprocessing_context="fork",
        persistent_workers=persistent,
    )  # fmt: skip
    assert len(list(loads)) == 6
    with pytest.raises(RuntimeWarning, match=r"set_epoch\(epoch\) before each epoch"):
        list(loads)
