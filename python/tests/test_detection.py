# SPDX-License-Identifier: Apache-2.0
"""Boxes, masks and keypoints beside images: what follows the image can be found in it."""

import json

import pytest
import sets

torch = pytest.importorskip("torch")
import millrace as mr  # noqa: E402

torch.set_num_threads(1)  # more wait for each other on a busy machine
COUNT, SIDE = 24, 48
ALL = ("boxes", "keypoints", "mask", "masks")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return sets.scenes(tmp_path_factory.mktemp("scenes") / "scenes.tar", COUNT)


@pytest.fixture(scope="module")
def tv_tensors():
    try:
        sets.import_torchvision()
        from torchvision import tv_tensors

        return tv_tensors
    except (ImportError, RuntimeError) as error:
        pytest.skip(f"torchvision: {error}")


def loader_of(path, recipe=f"pad(to={SIDE})", **options):
    return mr.torch.Loader(
        path, recipe, **{"batch_size": 8, "threads": 1, "tv_tensors": False, "targets": ALL, **options}
    )


def box_of(number):
    left, top, width, height = sets.scene(number)["box"]
    return [left, top, left + width, top + height]


def test_targets_are_what_is_stored(path):
    with loader_of(path) as loader:
        numbers = []
        for images, targets in loader:
            assert isinstance(images, torch.Tensor) and len(targets) == len(images)
            for target in targets:
                numbers.append(target["image_id"])
                check_stored(target, target["image_id"])
        assert numbers == list(range(COUNT))


def check_stored(target, number):
    objects = 0 if number == sets.WITHOUT_JSON else len(sets.annotations(number))
    types = {"boxes": torch.float32, "labels": torch.int64, "masks": torch.uint8, "mask": torch.uint8,
             "keypoints": torch.float32, "area": torch.float32, "iscrowd": torch.int64}  # fmt: skip
    assert {name: value.dtype for name, value in target.items() if name != "image_id"} == types
    assert target["boxes"].shape == (objects, 4) and target["masks"].shape == (objects, SIDE, SIDE)
    assert target["labels"].shape == target["area"].shape == target["iscrowd"].shape == (objects,)
    left, top, right, bottom = box_of(number)
    inside = torch.zeros((SIDE, SIDE), dtype=torch.uint8)
    inside[top:bottom, left:right] = 1
    if number != sets.WITHOUT_MASK:
        assert torch.equal(target["mask"], inside * sets.scene(number)["class"])
    else:
        assert not target["mask"].any()
    if objects == 0:
        return
    assert target["boxes"][0].tolist() == box_of(number) and target["labels"][0] == sets.scene(number)["class"]
    assert torch.equal(target["masks"][0], inside if number != sets.WITHOUT_SEGMENTS else inside * 0)
    assert target["area"][0] == (right - left) * (bottom - top) and target["iscrowd"][0] == 0
    assert target["keypoints"].shape == (objects, 2, 3)
    assert target["keypoints"][0].tolist() == [[left, top, 2], [right, bottom, 1]]
    if objects == 2:
        assert target["boxes"][1].tolist() == [0, 0, 2, 3] and target["labels"][1] == 77
        assert target["area"][1] == 5.5 and target["iscrowd"][1] == 1 and not target["keypoints"][1].any()


@pytest.mark.parametrize("recipe", [f"flip(1) pad(to={SIDE})", f"flip vflip pad(to={SIDE})"])
def test_boxes_follow_flips(path, recipe):
    """Flipped in torch, by hand, the stored box is the one in the batch, to the last bit; and so is every mask."""
    turned = set()
    with loader_of(path, recipe, shuffle=True) as loader, loader_of(path) as plain:
        stored = {}
        for images, targets in plain:
            for image, target in zip(images.clone(), deep(targets), strict=True):
                stored[target["image_id"]] = (image, target)
        for _ in range(3):
            for images, targets in loader:
                for image, target in zip(images, targets):
                    turned.add(check_flipped(image, target, *stored[target["image_id"]]))
    assert turned == (
        {(True, False)} if "flip(1)" in recipe else {(a, b) for a in (False, True) for b in (False, True)}
    )


def deep(targets):
    return [{k: v.clone() if isinstance(v, torch.Tensor) else v for k, v in target.items()} for target in targets]


def check_flipped(image, target, stored_image, stored):
    width, height = sets.scene(target["image_id"])["size"]
    for across in (False, True):
        for down in (False, True):
            if torch.equal(image, flipped(stored_image, width, height, across, down)):
                boxes = stored["boxes"].clone()
                if across:
                    boxes[:, [0, 2]] = width - boxes[:, [2, 0]]
                if down:
                    boxes[:, [1, 3]] = height - boxes[:, [3, 1]]
                assert torch.equal(target["boxes"], boxes)
                assert torch.equal(target["labels"], stored["labels"])
                for name in ("mask", "masks"):
                    assert torch.equal(target[name], flipped(stored[name], width, height, across, down))
                return across, down
    raise AssertionError("the image is none of the four")


def flipped(planes, width, height, across, down):
    """Of the image in the left upper corner of each plane."""
    axes = [-1] * across + [-2] * down
    result = planes.clone()
    result[..., :height, :width] = planes[..., :height, :width].flip(axes)
    return result


def test_views_are_not_copies(path):
    with loader_of(path) as loader:
        batch = next(iter(loader))
        targets = batch.targets
        assert targets[0]["boxes"].data_ptr() == batch.raw.targets(0)["boxes"].address
        assert targets[0]["masks"].data_ptr() == batch.raw.targets(0)["masks"].address
        kept, number = targets[3]["boxes"], targets[3]["image_id"]
        expected = kept.clone()
        del batch, targets
        for _ in loader:
            pass
        assert torch.equal(kept, expected) and number == 3  # its slot was left alone


def test_segmentation_is_one_tensor(path):
    with loader_of(path, targets="mask", batch_size=7) as loader, loader_of(path, batch_size=7) as all_of_it:
        for batch, other in zip(loader, all_of_it, strict=True):
            images, masks = batch
            assert masks.shape == (len(images), SIDE, SIDE) and masks.dtype == torch.uint8
            assert torch.equal(masks, torch.stack([target["mask"] for target in other.targets]))
            assert masks.data_ptr() == batch.raw.targets(0)["mask"].address or sets.WITHOUT_MASK == batch.number * 7
    with loader_of(path, targets="mask", copy=True) as loader:
        kept = list(loader)
        assert sum(int(masks.max(2).values.max(1).values.count_nonzero()) for _, masks in kept) == COUNT - 1


def test_masks_outlive_their_batch(path):
    with loader_of(path, targets="mask", slots=2, batch_size=4) as loader:
        iterator = iter(loader)
        masks = next(iterator)[1]
        expected = masks.clone()
        for _ in range(3):
            next(iterator)
        assert torch.equal(masks, expected)


def test_pads_have_no_objects(path):
    with loader_of(path, batch_size=16, pad=True) as loader:
        last = None
        for last in loader:
            pass
        assert last.count == 8 and len(last.targets) == 16
        for target in last.targets[8:]:
            assert target["image_id"] == -1 and target["boxes"].shape == (0, 4) and target["labels"].shape == (0,)
            assert (
                target["masks"].shape == (0, SIDE, SIDE) and not target["mask"].any() and len(target["keypoints"]) == 0
            )


def test_tv_tensors(path, tv_tensors):
    with loader_of(path, tv_tensors="auto") as loader:
        images, targets = next(iter(loader))
        target = targets[3]
        assert type(target["boxes"]) is tv_tensors.BoundingBoxes and target["boxes"].canvas_size == (SIDE, SIDE)
        assert target["boxes"].format == tv_tensors.BoundingBoxFormat.XYXY
        assert type(target["masks"]) is type(target["mask"]) is tv_tensors.Mask
        if hasattr(tv_tensors, "KeyPoints"):
            assert type(target["keypoints"]) is tv_tensors.KeyPoints and target["keypoints"].shape == (2, 2, 2)
            assert target["visibility"].tolist() == [[2, 1], [0, 0]]
        assert target["boxes"].data_ptr() and target["boxes"].as_subclass(torch.Tensor)[0].tolist() == box_of(3)
    with loader_of(path, tv_tensors=True, targets="mask") as loader:
        images, masks = next(iter(loader))
        assert type(masks) is tv_tensors.Mask and len(masks) == len(images)


def test_transforms_take_them(path, tv_tensors):
    from torchvision.transforms import v2

    with loader_of(path, tv_tensors=True, targets=("boxes", "masks")) as loader:
        images, targets = next(iter(loader))
        image, target = v2.RandomHorizontalFlip(1.0)(tv_tensors.Image(images[0]), targets[0])
        left, top, right, bottom = box_of(0)
        assert target["boxes"][0].tolist() == [SIDE - right, top, SIDE - left, bottom]


def test_without_torchvision(path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "torchvision.tv_tensors", None)
    with loader_of(path, tv_tensors="auto") as loader:
        assert type(next(iter(loader)).targets[0]["boxes"]) is torch.Tensor
    with pytest.raises(ImportError, match="torchvision"):
        loader_of(path, tv_tensors=True)
    with pytest.raises(mr.ArgumentError, match="tv_tensors"):
        loader_of(path, tv_tensors="perhaps")


def test_a_model_of_torchvision_learns(path, tv_tensors):
    from torchvision.models.detection import RetinaNet
    from torchvision.models.detection.anchor_utils import AnchorGenerator

    body = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, 4, 1), torch.nn.ReLU())
    body.out_channels = 8
    anchors = AnchorGenerator(sizes=((8, 16, 32),), aspect_ratios=((0.5, 1.0, 2.0),))
    torch.manual_seed(0)
    model = RetinaNet(body, 80, anchor_generator=anchors, min_size=SIDE, max_size=SIDE)
    with loader_of(path, f"flip pad(to={SIDE}) normalize(imagenet)", targets=("boxes",), tv_tensors="auto") as loader:
        images, targets = next(iter(loader))
        losses = model(list(images), targets)
        sum(losses.values()).backward()
        assert all(loss.isfinite() for loss in losses.values())


def test_a_map_has_targets_too(path):
    dataset = mr.torch.MapDataset(path, f"flip pad(to={SIDE})", targets=ALL, tv_tensors=False)
    with loader_of(path, f"flip pad(to={SIDE})") as loader:
        for images, targets in loader:
            for image, target in zip(images, targets):
                mine, my_target = dataset[target["image_id"]]
                assert torch.equal(mine, image) and my_target.keys() == target.keys()
                assert all(torch.equal(my_target[name], target[name]) for name in target if name != "image_id")
    images, targets = mr.torch.collate(dataset.__getitems__([3, 4]))
    assert images.shape == (2, 3, SIDE, SIDE) and [target["image_id"] for target in targets] == [3, 4]


def test_masks_of_a_map(path, tv_tensors):
    dataset = mr.torch.MapDataset(path, f"pad(to={SIDE})", targets="mask", tv_tensors=True)
    loads = torch.utils.data.DataLoader(dataset, batch_size=6, collate_fn=mr.torch.collate)
    images, masks = next(iter(loads))
    assert type(masks) is tv_tensors.Mask and masks.shape == (6, SIDE, SIDE)


def test_tv_tensors_from_workers(path, tv_tensors):
    dataset = mr.torch.BatchDataset(path, f"pad(to={SIDE})", targets=ALL, batch_size=5, workers=1, tv_tensors=True)
    loads = torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=1, multiprocessing_context="fork")
    for _, targets in loads:
        boxes = targets[0]["boxes"]
        assert type(boxes) is tv_tensors.BoundingBoxes and boxes.canvas_size == (SIDE, SIDE)
        assert boxes.format == tv_tensors.BoundingBoxFormat.XYXY and type(targets[0]["masks"]) is tv_tensors.Mask


def test_boxes_that_are_rotated(tmp_path):
    """Beside those that are not, and only where there are some."""
    at = tmp_path / "rotated.tar"
    said = [{"bbox": [10, 12, 8, 4, 30], "category_id": 1}, {"bbox": [1, 2, 3, 4], "category_id": 2}]
    sets.tar_of(at, {"0.png": sets.png(24, 24, 3, bytes(24 * 24 * 3)), "0.json": json.dumps(said).encode()})
    with mr.torch.Loader(str(at), f"flip(1) pad(to={SIDE})", targets="boxes", batch_size=1, tv_tensors=False) as loader:
        target = next(iter(loader)).targets[0]
        expected = torch.tensor([[14.0, 12, 8, 4, -30], [0, 0, 0, 0, 0]])
        assert torch.allclose(target["rotated"], expected, atol=1e-4)
        assert target["boxes"][1].tolist() == [20, 2, 23, 6]
        assert torch.allclose(target["area"], torch.tensor([32.0, 12]), atol=1e-3)


@pytest.mark.parametrize("workers", [0, 2])
def test_targets_from_workers(path, workers):
    dataset = mr.torch.BatchDataset(
        path, f"pad(to={SIDE})", targets=ALL, batch_size=5, workers=workers, tv_tensors=False
    )
    loads = torch.utils.data.DataLoader(
        dataset, batch_size=None, num_workers=workers, multiprocessing_context="fork" if workers else None
    )
    numbers = []
    for _, targets in loads:
        for target in targets:
            numbers.append(target["image_id"])
            check_stored(target, target["image_id"])
    assert sorted(numbers) == list(range(COUNT))


@pytest.mark.parametrize("name", ["boxes", "keypoints", "masks"])
def test_one_kind_alone(path, name):
    with loader_of(path, targets=name) as loader, loader_of(path) as all_of_it:
        for batch, other in zip(loader, all_of_it, strict=True):
            for target, all_targets in zip(batch.targets, other.targets, strict=True):
                assert set(target) == {"image_id", "labels", "iscrowd", name} | ({"area"} if name == "boxes" else set())
                assert torch.equal(target[name], all_targets[name]) and torch.equal(
                    target["labels"], all_targets["labels"]
                )
