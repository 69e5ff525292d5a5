# SPDX-License-Identifier: Apache-2.0
"""torchvision's transforms as recipes: the same pixels where nothing is drawn, the same text where it is, and a list of
all that cannot be taken."""

import math
import pathlib
import warnings

import pytest

numpy = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")
Image = pytest.importorskip("PIL.Image")
pytest.importorskip("torchvision")  # whose operators conftest.py declares

warnings.simplefilter("ignore")
from torchvision import transforms as v1  # noqa: E402
from torchvision import tv_tensors  # noqa: E402
from torchvision.transforms import v2  # noqa: E402
from torchvision.transforms._presets import ObjectDetection  # noqa: E402

import millrace as mr  # noqa: E402

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
F32 = v2.ToDtype(torch.float32, scale=True)
IMAGENET = [v2.ToImage(), F32, v2.Normalize(MEAN, STD)]


def images():
    random = numpy.random.default_rng(9)
    noise = Image.fromarray(random.integers(0, 256, (97, 131, 3), dtype=numpy.uint8))
    yield noise
    yield noise.resize((20, 15)).resize((157, 211), Image.Resampling.BICUBIC)
    yield noise.crop((0, 0, 40, 23))


def as_array(made):
    """Channels first, as batches have them."""
    if isinstance(made, Image.Image):
        made = numpy.asarray(made)
        return made[None] if made.ndim == 2 else made.transpose(2, 0, 1)
    return made.numpy()


# Those that draw nothing that matters.
SAME = [
    [v2.Resize((33, 70)), ObjectDetection()],
    [v2.Resize((33, 70)), v2.ConvertBoundingBoxFormat("XYXY"), v2.ToImage()],
    [v2.Resize((33, 70)), v2.ConvertBoundingBoxFormat(tv_tensors.BoundingBoxFormat.XYXY)],
    [v2.Resize(64), v2.CenterCrop(48)],
    [v2.Resize([64], v2.InterpolationMode.BICUBIC), v2.CenterCrop((48, 32))],
    [v2.Resize((33, 70))],
    [v2.Resize((33, 70), "lanczos")],
    [v2.Resize((33, 70), v2.InterpolationMode.NEAREST)],
    [v2.Resize((33, 70), v2.InterpolationMode.NEAREST_EXACT)],
    [v2.Resize((33, 70), 4)],
    [v2.Resize((33, 70), 5), v2.Identity()],
    [v2.CenterCrop((300, 20))],
    [v2.CenterCrop(50), v2.Pad((1, 2, 3, 4), fill=[10, 20, 30])],
    [v2.CenterCrop(50), v2.Pad([5], fill=7)],
    [v2.CenterCrop(50), v2.Pad((5, 9), padding_mode="reflect")],
    [v2.CenterCrop(50), v2.Pad(5, padding_mode="edge")],
    [v2.CenterCrop(50), v2.Pad(5, padding_mode="symmetric")],
    [v2.CenterCrop(50), v2.Pad(5, fill={Image.Image: 9, tv_tensors.Mask: 0, "others": 9})],
    [v2.CenterCrop(50), v2.Grayscale(3)],
    [v2.Grayscale(), v2.CenterCrop(50)],
    [v2.RGB(), v2.CenterCrop(50), v2.RandomGrayscale(1)],
    [v2.CenterCrop(50), v2.RandomHorizontalFlip(1), v2.RandomVerticalFlip(1)],
    [v2.CenterCrop(50), v2.RandomHorizontalFlip(0), v2.RandomCrop((50, 50))],
    [v2.CenterCrop(50), v2.RandomCrop((59, 57), (3, 5, 4, 4), fill=(1, 2, 3))],
    [v2.CenterCrop(50), v2.RandomCrop((59, 57), (3, 5, 4, 4), padding_mode="reflect")],
    [v1.CenterCrop(50), v1.RandomCrop((59, 57), (3, 5, 4, 4), fill=(1, 2, 3))],
    [v2.CenterCrop(50), v2.RandomRotation((30, 30))],
    [v2.CenterCrop(50), v2.RandomRotation((-77, -77), "bilinear", center=[3, 4], fill=[9, 8, 7])],
    [v2.RandomRotation((30, 30), v2.InterpolationMode.BICUBIC, expand=True, fill=9), v2.CenterCrop(50)],
    [v2.CenterCrop(50), v2.RandomAffine((30, 30), scale=(0.7, 0.7), shear=(5, 5, -3, -3), interpolation=2, fill=3)],
    [v2.CenterCrop(50), v2.RandomAffine((30, 30), shear=(5, 5), center=[10, 20])],
    [v2.ScaleJitter((60, 90), (0.5, 0.5)), v2.CenterCrop(50)],
    [v2.RandomShortestSize([40], 70), v2.CenterCrop(50)],
    [v2.RandomShortestSize(40, interpolation="bicubic"), v2.CenterCrop(50)],
    [v2.CenterCrop(50), v2.ColorJitter((1.3, 1.3))],
    [v2.CenterCrop(50), v2.ColorJitter(contrast=(0.4, 0.4))],
    [v2.CenterCrop(50), v2.ColorJitter(saturation=(1.9, 1.9))],
    [v2.CenterCrop(50), v2.ColorJitter(hue=(0.2, 0.2))],
    [v2.CenterCrop(50), v2.ColorJitter()],
    [v2.CenterCrop(50), v2.RandomInvert(1), v2.RandomPosterize(3, 1)],
    [v2.CenterCrop(50), v2.RandomSolarize(100, 1)],
    [v2.CenterCrop(50), v2.RandomSolarize(99.5, 1), v2.RandomSolarize(1e9, 1), v2.RandomSolarize(-3, 1)],
    [v2.CenterCrop(50), v2.RandomEqualize(1)],
    [v2.CenterCrop(50), v2.RandomAutocontrast(1)],
    [v2.CenterCrop(50), v2.RandomAdjustSharpness(1.7, 1)],
    [v2.CenterCrop(50), v2.RandAugment(0), v2.RandomApply([v2.RandomInvert(1)], p=1)],
    [v2.CenterCrop(50), v2.RandomApply([v2.RandomInvert(1)], p=0)],
    # On tensors, where these are the same.
    [v2.ToImage(), v2.CenterCrop(50), v2.RandomHorizontalFlip(1), v2.Pad(3, fill=9)],
    [v2.PILToTensor(), v2.CenterCrop((33, 70)), v2.RandomEqualize(1)],
    [v2.PILToTensor(), v2.CenterCrop(50), v2.ColorJitter((1.3, 1.3)), v2.RandomPosterize(3, 1), v2.ToPureTensor()],
    [v2.ToImage(), v2.CenterCrop(50), v2.RandomSolarize(99.5, 1), v2.RandomAdjustSharpness(1.7, 1), v2.ToPILImage()],
    # Floats. torchvision's ToTensor divides, and so does Millrace.
    [v2.Resize(64), v2.CenterCrop(48), v2.ToTensor()],
    [v2.Resize(64), v2.CenterCrop(48), v2.ToTensor(), v2.Normalize(MEAN, STD)],
    [v1.Resize(64), v1.CenterCrop(48), v1.ToTensor(), v1.Normalize(MEAN, STD)],
    [
        v1.ToTensor(),
        v1.CenterCrop(60),
        v1.RandomVerticalFlip(1),
        v1.Normalize([0.5], [0.5]),
        v1.RandomHorizontalFlip(1),
    ],
    [v2.CenterCrop(48), v2.ToTensor(), v2.Normalize(MEAN, STD), v2.Pad(3, padding_mode="edge")],
    [v2.CenterCrop(48), v2.ToTensor(), v2.Pad(3), v2.RandomErasing(0)],
    [v2.CenterCrop(48), v2.ToTensor(), v2.Normalize(MEAN, STD), v2.ToDtype(torch.float16)],
    [v2.CenterCrop(48), v2.ToImage(), v2.ToDtype(torch.float16, scale=True)],
    [v2.Grayscale(), v2.CenterCrop(48), v2.ToTensor(), v2.Normalize([0.5], [0.25])],
    [v2.CenterCrop(48), v2.Compose([v2.Compose([v2.RandomInvert(1)]), v2.ToTensor()])],
    torch.nn.Sequential(v2.CenterCrop(48), v2.RandomInvert(1)),
]


@pytest.mark.parametrize("transforms", SAME, ids=lambda value: str(mr.Recipe(v2.Compose(list(value)))))
def test_same_bits(transforms):
    compose = transforms if isinstance(transforms, torch.nn.Sequential) else v2.Compose(transforms)
    recipe = mr.Recipe(compose)
    for image in images():
        theirs, ours = as_array(compose(image)), recipe.apply(image).numpy()
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        assert numpy.array_equal(ours, theirs), f"{recipe}: {numpy.abs(ours.astype(float) - theirs).max()}"


# Where torchvision multiplies by 1/255, the last bit of a float may differ; on tensors and in blurs, a grey level may.
NEAR = [
    ([v2.Resize(64), v2.CenterCrop(48), v2.PILToTensor(), F32], 2**-23),
    ([v2.Resize(64), v2.CenterCrop(48), v2.ToImage(), v2.ConvertImageDtype(torch.float32)], 2**-23),
    ([v2.Resize(64), v2.CenterCrop(48), *IMAGENET], 2**-20),
    (
        [v2.CenterCrop(48), v2.ToImage(), v2.ToDtype({tv_tensors.Image: torch.float32, "others": None}, scale=True)],
        2**-23,
    ),
    ([v1.CenterCrop(48), v1.PILToTensor(), v1.ConvertImageDtype(torch.float32)], 2**-23),
    ([v2.ToImage(), v2.Resize((33, 70))], 1),
    ([v2.ToImage(), v2.CenterCrop(50), v2.ColorJitter(contrast=(1.3, 1.3))], 1),
    ([v2.ToImage(), v2.CenterCrop(50), v2.ColorJitter(saturation=(2, 2))], 1),
    ([v2.ToImage(), v2.CenterCrop(50), v2.Grayscale(3)], 1),
    ([v2.ToImage(), v2.CenterCrop(50), v2.RandomAutocontrast(1)], 1),
    ([v2.CenterCrop(50), v2.GaussianBlur((5, 9), (1.5, 1.5))], 1),
    ([v1.CenterCrop(50), v1.GaussianBlur(5, 1.5)], 1),
]


@pytest.mark.parametrize(("transforms", "error"), NEAR, ids=lambda value: "" if isinstance(value, list) else str(value))
def test_near(transforms, error):
    compose = v2.Compose(transforms)
    for image in images():
        theirs, ours = as_array(compose(image)), mr.Recipe(compose).apply(image).numpy()
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        assert numpy.abs(ours.astype(float) - theirs.astype(float)).max() <= error


def test_weights():
    """What `weights.transforms()` gives."""
    from torchvision.transforms._presets import ImageClassification

    preset = ImageClassification(crop_size=48, resize_size=64, interpolation=v2.InterpolationMode.BICUBIC)
    recipe = mr.Recipe(preset)
    assert recipe.text == "short(64, filter=bicubic) center(48) normalize(imagenet)"
    for image in images():
        assert numpy.abs(recipe.apply(image).numpy() - preset(image).numpy()).max() < 2**-20


# Those that draw: what was asked is what is said.
TEXTS = [
    (v2.RandomResizedCrop(224), "rrc(224)"),
    (
        v2.RandomResizedCrop((10, 20), (0.1, 0.9), (0.5, 2), 3),
        "rrc(20x10, scale=0.1..0.9, ratio=0.5..2, filter=bicubic)",
    ),
    (v1.RandomResizedCrop((10, 20), (0.1, 0.9)), "rrc(20x10, scale=0.1..0.9)"),
    (v2.RandomCrop(32, padding=4), "crop(32, pad=4)"),
    (v2.RandomCrop((1, 2), padding=[1, 2]), "crop(2x1, pad=1/2)"),
    (v1.RandomCrop(32, padding=(1, 2, 3, 4), padding_mode="reflect"), "crop(32, pad=1/2/3/4, border=reflect)"),
    (v2.RandomHorizontalFlip(0.3), "flip(0.3)"),
    (v2.RandomRotation(30, v2.InterpolationMode.BILINEAR, fill=None), "rotate(30, filter=bilinear)"),
    (v2.RandomRotation((-10, 20), expand=True, fill=(1, 2, 3)), "rotate(-10..20, expand=yes, fill=1/2/3)"),
    (
        v2.RandomAffine(10, (0.1, 0.2), (0.9, 1.1), (-5, 5, 0, 10), "bicubic", 9, [1, 2]),
        "affine(10, translate=0.1/0.2, scale=0.9..1.1, shear=-5..5/0..10, filter=bicubic, center=1/2, fill=9)",
    ),
    (v1.RandomAffine(0, shear=3), "affine(0, shear=3)"),
    (v2.RandomPerspective(0.3, 0.7), "perspective(0.3, 0.7)"),
    (v2.ElasticTransform(20.0, [3.0, 4.0], fill=9), "elastic(20, sigma=3/4, fill=9)"),
    (v1.ElasticTransform(20.0), "elastic(20)"),
    (v2.ScaleJitter((10, 20)), "scalejitter(10x20)"),
    (v2.RandomZoomOut({Image.Image: (1, 2, 3), tv_tensors.Mask: 0}, (1.5, 2), 0.7), "zoomout(1.5..2, 0.7, fill=1/2/3)"),
    (v2.RandomIoUCrop(0.4, sampler_options=[0.1, 1.0], trials=9), "ioucrop(scale=0.4..1, options=0.1/1, trials=9)"),
    (v2.RandomShortestSize((480, 512), 1333), "shorts(480/512, max=1333)"),
    (v2.SanitizeBoundingBoxes(3, 4, None), "sanitize(side=3, area=4)"),
    (v2.Compose([v2.RandomCrop(9), v2.ClampBoundingBoxes()]), "crop(9)"),
    (v2.ColorJitter(0.4, (0.5, 2), None, 0.1), "jitter(0.4, 0.5..2, hue=0.1)"),
    (v1.ColorJitter(0.4), "jitter(0.4)"),
    (v2.RandomGrayscale(), "grayscale(0.1)"),
    (v2.RandomInvert(), "invert"),
    (v2.RandomPosterize(4), "posterize(4)"),
    (v2.RandomSolarize(128), "solarize(128)"),
    (v2.RandomAdjustSharpness(2), "sharpness(2)"),
    (v2.RandomAutocontrast(), "autocontrast"),
    (v2.RandomEqualize(), "equalize"),
    (v2.GaussianBlur(23), "blur(23)"),
    (v2.GaussianBlur((3, 5), 2), "blur(3/5, sigma=2)"),
    (v2.JPEG((20, 80)), "jpeg(20..80)"),
    (v2.JPEG(20), "jpeg(20)"),
    (v2.RandomChannelPermutation(), "permute"),
    (v2.Compose([v2.ToImage(), v2.GaussianNoise(0.1, 0.2, False)]), "noise(0.2, mean=0.1, wrap=yes)"),
    (v2.RandAugment(), "randaug"),
    (v2.RandAugment(3, 5, 11, "bilinear", [7]), "randaug(3, 5, bins=11, filter=bilinear, fill=7)"),
    (v1.RandAugment(), "randaug"),
    (v2.AutoAugment(v2.AutoAugmentPolicy.SVHN), "autoaug(svhn)"),
    (v2.TrivialAugmentWide(11), "trivialaug(11)"),
    (v2.AugMix(5, 4, 2, 0.5, False), "augmix(5, width=4, depth=2, alpha=0.5, few=yes)"),
    (v2.AugMix(), "augmix"),
    (v2.Compose([*IMAGENET, v2.RandomErasing(0.1, value="random")]), "normalize(imagenet) erase(0.1, noise=yes)"),
    (v2.Compose([*IMAGENET, v2.RandomErasing(value=(1, 2, 3.5))]), "normalize(imagenet) erase(value=1/2/3.5)"),
    (
        v1.Compose([v1.ToTensor(), v1.Normalize(MEAN, STD), v1.RandomErasing(value=2)]),
        "normalize(imagenet) erase(value=2)",
    ),
    (v2.RandomErasing(value=7), "erase(value=7)"),
    (v2.MixUp(alpha=0.2, num_classes=10), "mixup(0.2)"),
    (v2.CutMix(num_classes=10), "cutmix"),
    (v2.RandomApply([v2.ColorJitter(0.8, 0.8, 0.8, 0.2)], 0.8), "jitter(0.8, 0.8, 0.8, 0.2, chance=0.8)"),
    (v2.RandomApply([v2.RandomHorizontalFlip(0.5)], 0.5), "flip(0.25)"),
    (v1.RandomApply([v1.GaussianBlur(9)], 0.1), "blur(9, chance=0.1)"),
    (v2.Compose([v2.RandomCrop(32), *IMAGENET, v2.RandomHorizontalFlip()]), "crop(32) flip normalize(imagenet)"),
    (v2.Compose([v2.ToImage(), v2.ToDtype(torch.uint8, scale=True)]), ""),
    (v2.Compose([v2.ToImage(), F32, F32]), "dtype(f32)"),
]


@pytest.mark.parametrize(("transform", "text"), TEXTS, ids=[text or "nothing" for _, text in TEXTS])
def test_text(transform, text):
    assert mr.Recipe(transform).text == text
    if not isinstance(transform, (v1.Compose, v2.Compose)):
        assert mr.Recipe(v2.Compose([transform])).text == text


def test_mixed_lists():
    recipe = mr.Recipe(["orient", v2.RandomResizedCrop(224), mr.HorizontalFlip(), v2.Compose(IMAGENET), "dtype(f16)"])
    assert recipe.text == "orient rrc(224) flip normalize(imagenet) dtype(f16)"
    assert mr.Recipe([v2.Compose([v2.ToImage(), F32]), mr.Normalize.half()]).text == "normalize(half)"
    assert mr.Recipe(["normalize(half)", v2.RandomErasing(value="random")]).text == "normalize(half) erase(noise=yes)"
    assert (mr.Recipe("orient") + v2.RandomResizedCrop(9)).text == "orient rrc(9)"
    assert mr.Recipe("rrc(9) normalize(half)") + v2.RandomHorizontalFlip() == mr.Recipe("rrc(9) flip normalize(half)")


class Mine(v2.Transform):
    """What a user may write."""


# What cannot be taken, and a word of the reason.
REFUSED = [
    (v2.Lambda(lambda image: image), "C threads"),
    (Mine(), "C threads"),
    (v2.RandomChoice([v2.RandomInvert()]), "all of its steps"),
    (v2.RandomOrder([v2.RandomInvert()]), "in their order"),
    (v2.RandomApply([v2.RandomInvert(), v2.RandomEqualize()]), "not several together"),
    (v2.RandomApply([v2.Resize(3)]), "not several together"),
    (v2.RandomApply([v2.RandomChoice([v2.RandomInvert()])]), "RandomChoice in it"),
    (v2.RandomApply([v2.ToTensor()]), "not several together"),
    (v2.Resize(3, antialias=False), "antialias is False"),
    (v2.Resize(3, max_size=4), "max_size is 4"),
    (v2.Resize(None, max_size=4), "max_size is 4"),
    (v2.RandomCrop(3, pad_if_needed=True), "too small"),
    (v2.RandomPhotometricDistort(), "contrast"),
    (v2.RandomResize(3, 9), "rounding"),
    (v2.FiveCrop(3), "several images"),
    (v2.TenCrop(3), "several images"),
    (v2.Pad(3, fill=0.5), "fill is a whole number"),
    (v2.Pad(3, fill={"others": 1, tv_tensors.Mask: 255}), "for masks"),
    (v2.Pad(3, fill={Image.Image: 1, tv_tensors.Image: 2}), "different kinds"),
    (v2.RandomPerspective(0), "distortion_scale has to be more than 0"),
    (v2.Normalize(MEAN, STD), "for floats"),
    (v2.GaussianNoise(), "PIL images"),
    (v2.RandomErasing(value="random"), "normalized"),
    (v2.RandomErasing(value=0.5), "grey level"),
    (v2.ToDtype(torch.float32, scale=True), "PIL image"),
    (v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32)]), "from 0 to 255"),
    (v2.Compose([v2.ToImage(), v2.ToDtype(torch.float64, scale=True)]), "float64"),
    (v2.Compose([v2.ToImage(), v2.ToDtype(torch.float16, scale=True), v2.Normalize(MEAN, STD)]), "computed in float16"),
    (v2.Compose([v2.ToImage(), v2.ToDtype(torch.float16, scale=True), F32]), "has lost"),
    (v2.Compose([*IMAGENET, v2.Normalize(MEAN, STD)]), "a Normalize before it"),
    (v2.Compose([v2.ToImage(), v2.RandomRotation(3)]), "on tensors"),
    (v2.Compose([v2.ToImage(), v2.ColorJitter(hue=0.1)]), "on tensors"),
    (v2.Compose([v2.ToImage(), v2.ColorJitter(saturation=(0, 2.1))]), "on tensors"),
    (v2.Compose([v2.ToImage(), v2.RandAugment()]), "on tensors"),
    (v2.Compose([v2.ToImage(), v2.Resize(3, "bicubic")]), "on tensors"),
    (v2.Compose([v2.ToImage(), v2.Resize(3, "nearest")]), "on tensors"),
    (v2.Compose([v2.ToImage(), v2.Resize(3, "nearest-exact")]), "on tensors"),
    (v2.Compose([v2.ToTensor(), v2.Resize(3)]), "on floats"),
    (v2.Compose([v2.ToTensor(), v2.GaussianBlur(3)]), "on floats"),
    (v2.Compose([v2.ToTensor(), v2.Pad(3, fill=1)]), "it fills"),
    (v2.Compose([*IMAGENET, v2.Pad(3)]), "it fills"),
    (v2.Compose([*IMAGENET, v2.RandomCrop(3, padding=1)]), "it fills"),
    (v2.Compose([*IMAGENET, v2.CenterCrop(3)]), "the mean"),
    (v2.Compose([*IMAGENET, v2.RandomErasing(), v2.RandomCrop(3)]), "erases"),
    (v2.Compose([v2.ToTensor(), v2.RandomErasing(value=1)]), "grey levels"),
    (v2.Compose([v2.ToTensor(), v2.ToPILImage()]), "other grey levels"),
    (v2.Compose([v2.CenterCrop(3), v2.Grayscale()]), "when they are decoded"),
    (v2.Compose([v2.Grayscale(), v2.RGB()]), "Grayscale"),
    (v2.SanitizeBoundingBoxes(labels_getter=lambda sample: sample), "labels_getter"),
    (v2.MixUp(num_classes=3, labels_getter=lambda sample: sample), "labels_getter"),
    (v2.ConvertBoundingBoxFormat("XYWH"), "always XYXY, not XYWH"),
    (v2.Compose([*IMAGENET, ObjectDetection()]), "normalize by themselves"),
    (v2.ClampBoundingBoxes(), "by crops"),
    (v2.ClampBoundingBoxes("hard"), "softly"),
    (v1.AutoAugment(), "v2.AutoAugment"),
    (v1.TrivialAugmentWide(), "v2.TrivialAugmentWide"),
    (v1.RandAugment(2, 8), "v2.RandAugment"),
    (v1.Lambda(lambda image: image), "C threads"),
]


@pytest.mark.parametrize(("transform", "why"), REFUSED, ids=[why for _, why in REFUSED])
def test_refused(transform, why):
    with pytest.raises(mr.ArgumentError) as error:
        mr.Recipe(transform)
    assert why in str(error.value)
    assert len(str(error.value)) < 700


def test_all_that_is_refused_is_listed():
    with pytest.raises(mr.ArgumentError) as error:
        mr.Recipe(["flip", v2.Compose([v2.FiveCrop(3), v2.RandomInvert(), v2.Compose([v2.Lambda(len)])]), Mine()])
    lines = str(error.value).splitlines()
    places = [line.split(",")[0].strip() for line in lines[1:] if "instead:" not in line]
    assert places == ["[1].transforms[0]", "[1].transforms[2].transforms[0]", "[2]"]
    assert sum("instead:" in line for line in lines) == 3


def test_nothing_of_torchvision_is_forgotten():
    """Every transform that it has is taken, or refused with a reason of its own."""
    from millrace import _torchvision

    known = _torchvision._TAKEN.keys() | _torchvision._REFUSED.keys() | {"Compose", "Transform"}
    for module in (v1, v2):
        found = {name for name, of in vars(module).items() if isinstance(of, type) and "transforms" in of.__module__}
        assert found - known <= {"InterpolationMode", "AutoAugmentPolicy"}
    said = (pathlib.Path(__file__).resolve().parents[2] / "doc" / "torchvision.md").read_text()
    assert not [name for name in known if f"`{name}" not in said and name != "Transform"]


def test_distribution_of_random_apply():
    """A chance of a chance, counted."""
    recipe = mr.Recipe(v2.Compose([v2.RandomApply([v2.RandomInvert(0.5)], 0.5), v2.CenterCrop(1)]))
    image = Image.new("RGB", (1, 1))
    inverted = sum(recipe.apply(image, key=key).tobytes() != bytes(3) for key in range(4000))
    assert abs(inverted - 1000) < 5 * math.sqrt(4000 * 0.25 * 0.75)


def test_a_loader_takes_a_compose(tmp_path):
    """From files to batches, the pixels that torchvision makes of what Pillow decodes."""
    (tmp_path / "a").mkdir()
    for number, image in enumerate(images()):
        image.save(tmp_path / "a" / f"{number}.jpg", quality=85)
        image.save(tmp_path / "a" / f"{number}.png")
        image.convert("L").save(tmp_path / "a" / f"{number}-gray.jpg")
    for first in (v2.RGB(), v2.Grayscale()):
        mean = [0.5] if isinstance(first, v2.Grayscale) else MEAN
        compose = v2.Compose([first, v2.Resize(40), v2.CenterCrop(32), v2.ToTensor(), v2.Normalize(mean, mean)])
        count = 0
        with mr.Loader(tmp_path, compose, batch_size=4, to="numpy") as loader:
            for batch in loader:
                for made, key in zip(batch.images, batch.keys, strict=True):
                    [file] = [file for file in tmp_path.rglob("*.*") if file.name.startswith(pathlib.Path(key).name)]
                    theirs = compose(Image.open(file).convert("RGB")).numpy()
                    assert numpy.array_equal(made, theirs), key
                    count += 1
        assert count == 9
