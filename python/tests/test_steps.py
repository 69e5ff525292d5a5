# SPDX-License-Identifier: Apache-2.0
"""The classes of steps: every step and parameter of the text has one, and errors say what was typed."""

import copy
import inspect
import pathlib
import pickle
import pydoc
import re
import subprocess
import sys

import pytest

import millrace as mr
from millrace import _step_arguments, steps

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "step"

# Steps with everything set to what is not its default, and the text of each: what the text has, Python can say.
WHOLE = [
    (steps.Orient(), "orient"),
    (steps.Convert("gray", 16), "convert(gray, 16)"),
    (steps.Resize((10, 20), "bicubic"), "resize(20x10, filter=bicubic)"),
    (steps.Resize(10, "box"), "short(10, filter=box)"),
    (steps.Short(10, "box"), "short(10, filter=box)"),
    (steps.CenterCrop((10, 20), (1, 2, 3)), "center(20x10, fill=1/2/3)"),
    (steps.RandomCrop(32, (1, 2, 3, 4), False, 5), "crop(32, pad=1/2/3/4, fill=5)"),
    (steps.RandomCrop(32, 4, padding_mode="edge"), "crop(32, pad=4, border=edge)"),
    (
        steps.RandomResizedCrop((10, 20), (0.1, 0.5), (0.5, 2), "lanczos"),
        "rrc(20x10, scale=0.1..0.5, ratio=0.5..2, filter=lanczos)",
    ),
    (steps.Pad((1, 2), 9), "pad(1/2, fill=9)"),
    (steps.Pad(3, padding_mode="reflect"), "pad(3, border=reflect)"),
    (steps.Pad(to=(10, 20)), "pad(to=20x10)"),
    (steps.HorizontalFlip(0.25), "flip(0.25)"),
    (steps.VerticalFlip(0.25), "vflip(0.25)"),
    (steps.Normalize((0.1, 0.2, 0.3), (0.4, 0.5, 0.6)), "normalize(mean=0.1/0.2/0.3, std=0.4/0.5/0.6)"),
    (steps.Normalize.imagenet(), "normalize(imagenet)"),
    (steps.Normalize.cifar10(), "normalize(cifar10)"),
    (steps.Normalize.cifar100(), "normalize(cifar100)"),
    (steps.Normalize.clip(), "normalize(clip)"),
    (steps.Normalize.half(), "normalize(half)"),
    (steps.Layout("nhwc"), "layout(nhwc)"),
    (steps.Dtype("bfloat16"), "dtype(bf16)"),
    (
        steps.RandomRotation((1, 2), "bilinear", True, (3, 4), 5, 0.5),
        "rotate(1..2, filter=bilinear, expand=yes, center=3/4, fill=5, chance=0.5)",
    ),
    (
        steps.RandomAffine(10, (0.1, 0.2), (0.5, 2), (-1, 1, -2, 3), "bicubic", 7, (8, 9), 0.5),
        "affine(10, translate=0.1/0.2, scale=0.5..2, shear=-1..1/-2..3, filter=bicubic, center=8/9, fill=7, "
        "chance=0.5)",
    ),
    (steps.Shear((-1, 2), "bicubic", 3, (4, 5), 0.5), "shear(-1..2, filter=bicubic, center=4/5, fill=3, chance=0.5)"),
    (steps.Translate((0.1, 0.2), "bilinear", 3, 0.5), "translate(0.1/0.2, filter=bilinear, fill=3, chance=0.5)"),
    (steps.RandomPerspective(0.2, 0.3, "nearest", 4), "perspective(0.2, 0.3, filter=nearest, fill=4)"),
    (
        steps.ElasticTransform((1, 2), (3, 4), "nearest", 5, 0.5),
        "elastic(1/2, sigma=3/4, filter=nearest, fill=5, chance=0.5)",
    ),
    (steps.ScaleJitter((20, 10), (0.5, 1), "box"), "scalejitter(20x10, scale=0.5..1, filter=box)"),
    (steps.RandomZoomOut(3, (2, 3), 0.25), "zoomout(2..3, 0.25, fill=3)"),
    (
        steps.RandomIoUCrop(0.4, 0.9, 0.6, 1.9, (0.2, 1), 30),
        "ioucrop(scale=0.4..0.9, ratio=0.6..1.9, options=0.2/1, trials=30)",
    ),
    (steps.RandomShortestSize((10, 20), 30, "box"), "shorts(10/20, max=30, filter=box)"),
    (steps.SanitizeBoundingBoxes(2, 3), "sanitize(side=2, area=3)"),
    (steps.Brightness(0.4, 0.5), "brightness(0.4, chance=0.5)"),
    (steps.Contrast((0.5, 2), 0.5), "contrast(0.5..2, chance=0.5)"),
    (steps.Saturation(0.4, 0.5), "saturation(0.4, chance=0.5)"),
    (steps.Hue(0.1, 0.5), "hue(0.1, chance=0.5)"),
    (steps.ColorJitter(0.1, (0.5, 2), 0.3, 0.4, 0.5), "jitter(0.1, 0.5..2, 0.3, 0.4, chance=0.5)"),
    (steps.RandomGrayscale(), "grayscale(0.1)"),
    (steps.Gamma((0.5, 2), 1.5, 0.5), "gamma(0.5..2, gain=1.5, chance=0.5)"),
    (steps.RandomInvert(0.25), "invert(0.25)"),
    (steps.RandomPosterize(3, 0.25), "posterize(3, 0.25)"),
    (steps.RandomSolarize(3, 0.25), "solarize(3, 0.25)"),
    (steps.RandomEqualize(0.25), "equalize(0.25)"),
    (steps.RandomAutocontrast(0.25), "autocontrast(0.25)"),
    (steps.RandomAdjustSharpness(2, 0.25), "sharpness(2, 0.25)"),
    (steps.GaussianBlur((3, 5), (1, 2), 0.5), "blur(3/5, sigma=1..2, chance=0.5)"),
    (steps.JPEG((20, 80), 0.5), "jpeg(20..80, chance=0.5)"),
    (steps.RandomChannelPermutation(0.5), "permute(chance=0.5)"),
    (steps.GaussianNoise(0.1, 0.2, False, 0.5), "noise(0.2, mean=0.1, wrap=yes, chance=0.5)"),
    (steps.RandAugment(3, 5, 11, "bilinear", 6), "randaug(3, 5, bins=11, filter=bilinear, fill=6)"),
    (steps.AutoAugment("svhn", "bilinear", 6), "autoaug(svhn, filter=bilinear, fill=6)"),
    (steps.TrivialAugmentWide(11, "bilinear", 6), "trivialaug(11, filter=bilinear, fill=6)"),
    (
        steps.AugMix(5, 4, 2, 0.5, False, "nearest", 6),
        "augmix(5, width=4, depth=2, alpha=0.5, few=yes, filter=nearest, fill=6)",
    ),
    (steps.RandomErasing(0.25, (0.1, 0.2), (0.5, 2), 7), "erase(0.25, scale=0.1..0.2, ratio=0.5..2, value=7)"),
    (steps.RandomErasing(value="random"), "erase(noise=yes)"),
    (steps.Cutout(16, 0.5, 3), "cutout(16, 0.5, fill=3)"),
    (steps.MixUp(0.2, 0.5), "mixup(0.2, 0.5)"),
    (steps.CutMix(0.2, 0.5), "cutmix(0.2, 0.5)"),
]


@pytest.mark.parametrize(("step", "text"), WHOLE, ids=lambda value: value if isinstance(value, str) else "")
def test_text(step, text):
    assert step.text == text
    assert mr.Recipe(text).text == text  # which is what the library writes


@pytest.mark.parametrize("step", [step for step, _ in WHOLE], ids=repr)
def test_value(step):
    assert eval(repr(step), vars(steps)) == step
    for other in (pickle.loads(pickle.dumps(step)), copy.deepcopy(step)):
        assert other == step and hash(other) == hash(step) and repr(other) == repr(step)
    assert step != steps.Cutout(77) and step != step.text
    with pytest.raises(AttributeError):
        step.p = 1
    assert isinstance(mr.Recipe(step), mr.Recipe)


def test_every_step_has_a_class():
    source = (SOURCE / "steps.c").read_text()
    kinds = {name.lower() for name in re.findall(r"\[MR_STEP_(\w+) - 1\]", source)}
    words = {word for file in SOURCE.glob("step_*.c") for word in re.findall(r'\.name = "(\w+)"', file.read_text())}
    assert len(kinds) == 50
    assert {step._step for step in steps.ALL} == words - {"user"}
    assert len(steps.ALL) == len(kinds) - 1  # a user's step is a C function


def test_every_parameter_is_reachable(tmp_path):
    """By the table of the parser."""
    table = tmp_path / "table.json"
    table.write_text('[[["Invert", 0.5]]]')
    texts = [text for _, text in WHOLE] + [steps.AutoAugment(file=table).text]
    reached = {(word, name) for text in texts for word, name in _parameters_of(text)}
    for kind, names in _parameters().items():
        word = kind.lower()
        plain, named = names
        for name in named:
            assert (word, name) in reached, f"{word} has {name}"
        for place, name in enumerate(plain):
            assert (word, name) in reached or (word, place) in reached, f"{word} has {name}"


def _parameters_of(text):
    """(step, name) of what is named in a text, (step, place) of what is not."""
    word, _, inside = text.partition("(")
    for place, part in enumerate(inside.rstrip(")").split(", ") if inside else []):
        yield word, part.partition("=")[0] if "=" in part else place


def _parameters():
    """The parser's tables: of each kind the names of those that may stand without one, and of the others."""
    source = (SOURCE / "recipe_words.c").read_text()
    source = re.sub(r"\\\n", " ", source)
    macros = {
        "CHANCE": ("chance", False),
        "PLAIN_CHANCE": ("chance", True),
        "SAMPLING": ("filter", False),
        "FILL": ("fill", False),
        "CENTER": ("center", False),
        "DEGREES": ("degrees", True),
    }
    lists = {}
    for name, body in re.findall(r"static const mr__param (\w+)\[\] = \{(.*?)\};\n", source, re.S):
        body = re.sub(r"\bSHEARS\b", 'NUMBERS("shear")', body)
        plain, named = [], []
        for match in re.finditer(
            r'(PLAIN|NEEDED|PARAM|REAL|WHOLE|SPREAD|FACTORS|NUMBERS)\("(\w+)"(?=([^{}]*))|\b([A-Z_]+)\b', body
        ):
            if match[2]:
                is_plain = match[1] in ("PLAIN", "NEEDED") or (
                    match[1] != "PARAM" and ".plain" in match[3]
                )  # of braces of its own
                (plain if is_plain else named).append(match[2])
            elif match[4] in macros:
                (plain if macros[match[4]][1] else named).append(macros[match[4]][0])
        lists[name] = plain, named
    return {kind: lists[name] for kind, name in re.findall(r"\[MR_STEP_(\w+)\] = PARAMS\((\w+)\)", source)}


def test_tables_are_read():
    """That the two tests above see what there is."""
    found = _parameters()
    assert found["RRC"] == (["size"], ["scale", "ratio", "filter"])
    assert found["AFFINE"] == (["degrees"], ["translate", "scale", "shear", "filter", "center", "fill", "chance"])
    assert len(found) == 48  # all but orient and user


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: steps.HorizontalFlip(1.5), 'HorizontalFlip(1.5): p is from 0 to 1, not "1.5"'),
        (lambda: steps.RandomResizedCrop(0), 'RandomResizedCrop(0): size is from 1 to 16384, not "0"'),
        (
            lambda: steps.RandomResizedCrop(9, (2, 1)),
            'RandomResizedCrop(9, (2, 1)): scale ends before it begins: "2..1"',
        ),
        (lambda: steps.RandomResizedCrop("a"), "RandomResizedCrop('a'): size is a number, not 'a'"),
        (lambda: steps.RandomResizedCrop((1, 2, 3)), "size is one number or (height, width), not (1, 2, 3)"),
        (lambda: steps.RandomResizedCrop(9, 0.5), "scale is (low, high), not 0.5"),
        (lambda: steps.Resize(9, "area"), "interpolation is one of nearest, lanczos, bilinear, bicubic, box, hamming"),
        (lambda: steps.Resize(9, antialias=False), "antialias is always True, not False"),
        (lambda: steps.Resize(9, max_size=12), "max_size is None, not 12"),
        (lambda: steps.RandomCrop(9, pad_if_needed=True), "pad_if_needed is False, not True"),
        (
            lambda: steps.RandomRotation(9, "lanczos"),
            "interpolation is one of nearest, bilinear, bicubic, not 'lanczos'",
        ),
        (lambda: steps.RandomZoomOut(side_range=(0.5, 2)), "side_range=0.5..2;"),
        (lambda: steps.RandAugment(0), 'RandAugment(0): num_ops is from 1 to 16, not "0"'),
        (lambda: steps.Pad(), "Pad(): padding or to, one of them"),
        (lambda: steps.Pad(3, to=4), "Pad(3, to=4): padding or to, one of them"),
        (lambda: steps.Pad(3, 256), 'Pad(3, 256): fill is from 0 to 255, not "256"'),
        (lambda: steps.RandomErasing(value="x"), "value is a number, one for each channel, or \"random\", not 'x'"),
        (lambda: steps.Dtype("int64"), "dtype is one of uint8, float32, float16, bfloat16, auto, not 'int64'"),
        (lambda: steps.AutoAugment("mine"), 'no policy is called "mine": there are imagenet, cifar10, svhn'),
        (lambda: steps.AutoAugment(file='a"b'), "file has no quotes"),
        (lambda: steps.GaussianBlur(4), "GaussianBlur(4): "),
        (lambda: steps.GaussianBlur(), "GaussianBlur needs kernel_size: it has kernel_size, sigma, p"),
        (lambda: steps.GaussianBlur(3, size=4), "GaussianBlur has no argument 'size': it has kernel_size, sigma, p"),
        (lambda: steps.GaussianBlur(3, kernel_size=4), "GaussianBlur: kernel_size is given twice"),
        (lambda: steps.Orient(3), "Orient: 1 arguments, and it has none"),
        (lambda: steps.Normalize((0.5, 0.5), (0.5, 0.5, 0.5)), "mean is one number, or one for each channel"),
        (lambda: steps.Normalize([0.5] * 7, 0.5), "mean is one number, or one for each channel (3, or 4 with alpha)"),
        (lambda: steps.Normalize(0.5, []), "std is one number, or one for each channel (3, or 4 with alpha), not 0"),
        (lambda: steps.Normalize([0.5] * 3, [0.5] * 4), "a mean of 3 channels and an std of 4"),
        (lambda: steps.HorizontalFlip(True), "p is a number, not True"),
        (lambda: steps.HorizontalFlip(float("nan")), "HorizontalFlip(nan): "),
    ],
)
def test_errors_say_what_was_typed(make, said):
    with pytest.raises((ValueError, TypeError)) as error:
        make()
    assert said in str(error.value)
    assert "\n" not in str(error.value) and "at character" not in str(error.value)
    if isinstance(error.value, mr.Error):
        assert error.value.code == "MR_EARGUMENT"


def test_names_of_torchvision():
    assert mr.RandomHorizontalFlip is mr.HorizontalFlip and mr.RandomVerticalFlip is mr.VerticalFlip
    assert mr.Resize(256).text == "short(256)" and mr.Resize([256]).text == "short(256)"
    assert mr.Resize((1, 2)).text == "resize(2x1)"
    assert mr.RandomResizedCrop(224) == mr.RandomResizedCrop((224, 224), scale=[0.08, 1])
    assert mr.Short(256) == mr.Resize(256)


def test_help():
    assert set(steps.__all__) == {step.__name__ for step in steps.ALL} | {
        "Step",
        "RandomHorizontalFlip",
        "RandomVerticalFlip",
    }
    for step in steps.ALL:
        assert step.__doc__ and "Step" not in step.__doc__.splitlines()[0]
        for name in inspect.signature(step).parameters:
            assert name in step.__doc__, f"{step.__name__} says nothing of {name}"
    assert str(inspect.signature(mr.HorizontalFlip)) == "(p: float = 0.5)"


@pytest.mark.parametrize("step", steps.ALL, ids=lambda step: step.__name__)
def test_help_is_short_and_public(step):
    """What a user reads: arguments with types that everybody knows, and nothing of how steps are made."""
    said = pydoc.plain(pydoc.render_doc(step))
    assert len(said.splitlines()) <= 30 + (20 if step is steps.Normalize else 0)
    assert "__" not in said and not re.search(r"\b_\w", said)
    own = [name for name, value in vars(_step_arguments).items() if hasattr(value, "__metadata__")]
    assert not re.search(rf": '?({'|'.join(own)})\b", said.partition("Args:")[0])


def test_help_of_the_package():
    assert len(pydoc.render_doc(mr).splitlines()) < 2800
    said = pydoc.plain(pydoc.render_doc(mr.RandomResizedCrop))
    assert "size: int | tuple[int, int], scale: tuple[float, float] = (0.08, 1.0)" in said


def test_help_of_the_package_without_torch():
    """It asks for all that the package names; what cannot be imported is not named."""
    hide = "import sys; sys.modules['torch'] = None; import importlib.util as u; found = u.find_spec\n"
    hide += "u.find_spec = lambda name, *rest: None if name == 'torch' else found(name, *rest)\n"
    code = hide + "import pydoc, millrace; assert 'RandomResizedCrop' in pydoc.plain(pydoc.render_doc(millrace))"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_is_equal_is_one_recipe():
    """One number for all channels, or so many that are equal."""
    for half in (mr.Normalize([0.5] * 3, [0.5] * 3), mr.Normalize((0.5,), (0.5,)), mr.Normalize(0.5, [0.5, 0.5, 0.5])):
        assert half.text == "normalize(half)" and half == mr.Normalize.half()
        assert mr.Recipe(half).hash == mr.Recipe("normalize(half)").hash
    assert mr.Normalize([0.4] * 3, [0.2] * 3).text == "normalize(mean=0.4, std=0.2)"
    assert mr.Normalize([0.4] * 3, [0.2, 0.2, 0.3]).text == "normalize(mean=0.4, std=0.2/0.2/0.3)"


def test_numbers_of_others():
    numpy = pytest.importorskip("numpy")
    assert mr.HorizontalFlip(numpy.float32(0.25)).text == "flip(0.25)"
    assert mr.Normalize(numpy.array([0.5, 0.25, 0.5]), numpy.ones(3)).text == "normalize(mean=0.5/0.25/0.5, std=1)"
    assert mr.Dtype(numpy.float16).text == "dtype(f16)" and mr.Dtype(numpy.dtype("float16")).text == "dtype(f16)"
    assert mr.Normalize(1e-7, 1e22).text == "normalize(mean=1e-07, std=1e+22)"
