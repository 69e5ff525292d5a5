# SPDX-License-Identifier: Apache-2.0
"""Recipes: of texts, steps, lists of them; what they say of themselves; applied to single images."""

import array
import pickle

import pytest

import millrace as mr

TEXT = "rrc(224) flip normalize(imagenet)"


@pytest.mark.parametrize(
    "of",
    [
        TEXT,
        " rrc(224x224)\nflip(0.5)  normalize(imagenet)",
        [mr.RandomResizedCrop(224), mr.HorizontalFlip(), mr.Normalize.imagenet()],
        (mr.RandomResizedCrop(224), "flip normalize(imagenet)"),
        [mr.Recipe("rrc(224) flip"), mr.Normalize.imagenet()],
        mr.Recipe(TEXT),
        iter(["rrc(224)", "flip", "normalize(imagenet)"]),
    ],
    ids=["text", "spaces", "steps", "mixed", "recipes", "recipe", "iterator"],
)
def test_of_anything(of):
    recipe = mr.Recipe(of)
    assert recipe.text == str(recipe) == TEXT
    assert recipe == mr.Recipe(TEXT) and hash(recipe) == hash(mr.Recipe(TEXT)) and recipe.hash == mr.Recipe(TEXT).hash


def test_says_what_it_is():
    recipe = mr.Recipe(TEXT)
    assert repr(recipe) == f"Recipe('{TEXT}')" and eval(repr(recipe), {"Recipe": mr.Recipe}) == recipe
    assert recipe.steps() == ["rrc(224)", "flip", "normalize(imagenet)"] and len(recipe) == 3
    output = recipe.output()
    assert (output["shape"], output["dtype"], output["layout"]) == ((3, 224, 224), "float32", "nchw")
    assert recipe.visible().text == "rrc(224) flip layout(nhwc) dtype(u8)"
    assert "resize to 224 x 224" in recipe.explain(500, 400, key=3)
    assert recipe.explain(500, 400, key=3) != recipe.explain(500, 400, key=4)
    assert "<code>rrc(224)</code>" in recipe._repr_html_() and "3 x 224 x 224 float32, nchw" in recipe._repr_html_()
    assert "differs from image to image" in mr.Recipe("short(3)")._repr_html_()


def test_sums_and_pickles():
    recipe = mr.Recipe("rrc(224)")
    assert recipe + "flip" + mr.Normalize.half() == mr.Recipe("rrc(224) flip normalize(half)")
    assert "orient" + recipe == mr.Recipe("orient rrc(224)") and [mr.Orient()] + recipe == mr.Recipe("orient rrc(224)")
    assert recipe == mr.Recipe("rrc(224)") != mr.Recipe("rrc(225)") and recipe != "rrc(224)"
    assert pickle.loads(pickle.dumps(recipe)) == recipe
    assert mr.Recipe([]).text == "" and mr.Recipe("") == mr.Recipe([])


@pytest.mark.parametrize("of", [3, None, b"flip", {"flip": 1}, object()])
def test_of_something_else(of):
    with pytest.raises(TypeError, match="a recipe is a text, a step, a list of them"):
        mr.Recipe(of)


def test_errors_have_their_place():
    with pytest.raises(mr.ArgumentError, match=r'at character 6: no step is called "rcc": did you mean "rrc"\?'):
        mr.Recipe("flip rcc(224)")
    with pytest.raises(mr.ArgumentError, match=r"^\[1\] of the recipe: at character 1: no step"):
        mr.Recipe(["flip", "rcc(224)"])
    with pytest.raises(mr.ArgumentError, match=r"(?s)\[0\], <function .*without Python.*\[2\], 7: "):
        mr.Recipe([lambda image: image, "flip", 7])
    with pytest.raises(mr.ArgumentError, match="differs from image to image"):
        mr.Recipe("short(3)").output()


def test_the_shorter_side_is_no_size():
    said = r"differs from image to image.*Resize\(64\) makes the shorter side 64 long; Resize\(\(64, 64\)\) makes all"
    with pytest.raises(mr.ArgumentError, match=said) as error:
        mr.Recipe([mr.Resize(64), "flip"]).output()
    assert error.value.code == "MR_EARGUMENT"
    with pytest.raises(mr.ArgumentError) as error:
        mr.Recipe("shorts(32/64)").output()
    assert "Resize(" not in str(error.value)


def test_a_loader_says_it_as_well(tiny):
    with pytest.raises(mr.ArgumentError, match=r"Resize\(\(64, 64\)\)"):
        mr.Loader(tiny, [mr.Resize(64)], to="array")


@pytest.mark.parametrize("of, where", [([mr.Orient(), mr.RandomResizedCrop], r"\[1\] of the recipe"), (mr.Resize, "")])
def test_a_class_is_no_step(of, where):
    with pytest.raises(TypeError, match=rf"{where}.* is the class (\w+): call it: \1\(\.\.\.\)"):
        mr.Recipe(of)


def image_of(height, width, channels=3):
    values = array.array("B", ((7 * i * i + i // 3) % 256 for i in range(height * width * channels)))
    return memoryview(values.tobytes()).cast("B", (height, width, channels))


def test_apply_to_a_buffer():
    image = image_of(5, 7)
    made = mr.Recipe("center(7x5)").apply(image)
    assert (made.shape, made.dtype) == ((3, 5, 7), "uint8")
    assert made.tolist() == [[[image[y, x, c] for x in range(7)] for y in range(5)] for c in range(3)]
    flipped = mr.Recipe("center(7x5) flip(1) layout(nhwc)").apply(image)
    assert flipped.tolist() == [[[image[y, 6 - x, c] for c in range(3)] for x in range(7)] for y in range(5)]


def test_apply_draws():
    recipe, image = mr.Recipe("rrc(8) flip"), image_of(40, 50)
    one = recipe.apply(image, seed=1, epoch=2, key=3).tobytes()
    assert one == recipe.apply(image, seed=1, epoch=2, key=3).tobytes()
    assert (
        len({recipe.apply(image, seed=s, epoch=e, key=k).tobytes() for s in (0, 1) for e in (0, 1) for k in (0, 1)})
        == 8
    )


def test_apply_to_a_pil_image():
    Image = pytest.importorskip("PIL.Image")
    image = Image.frombytes("RGB", (7, 5), image_of(5, 7).tobytes())
    same = mr.Recipe("center(7x5) layout(nhwc)")
    assert same.apply(image).tobytes() == image.tobytes()
    assert mr.Recipe("convert(gray) center(7x5)").apply(image).tobytes() == image.convert("L").tobytes()
    assert same.apply(image.convert("L")).tobytes() == image.convert("L").convert("RGB").tobytes()
    turned = image.copy()
    turned.getexif()[0x0112] = 6
    upright = mr.Recipe("orient center(5x7) layout(nhwc)").apply(turned)
    assert upright.tobytes() == image.transpose(Image.Transpose.ROTATE_270).tobytes()


def test_apply_refuses():
    with pytest.raises((TypeError, ValueError)):
        mr.Recipe("center(4)").apply("no image")
    with pytest.raises((TypeError, ValueError)):
        mr.Recipe("convert(gray) center(4)").apply(image_of(5, 7))
