# SPDX-License-Identifier: Apache-2.0
"""loader.peek(): the very samples that come next, and nothing is taken."""

import base64
import re
import shutil
import xml.etree.ElementTree as tree
from dataclasses import replace

import pytest
from demo import annotated, folder, picture

import millrace as mr
from millrace.report import Report


def make(recipe="rrc(24) flip normalize(imagenet)", **options):
    return mr.Loader(folder(), recipe, **{"batch_size": 8, "shuffle": True, "to": "array", **options})


def pictures(html):
    return [base64.b64decode(data) for data in re.findall(r'src="data:image/png;base64,([^"]+)"', html)]


def test_it_shows_what_comes_next():
    loader = make()
    first = loader.peek(12)
    coming = []
    for batch in loader:
        if batch.number == 1:
            middle = loader.peek(4)
            assert [s.ordinal for s in middle.samples] != [s.ordinal for s in first.samples][:4]
        coming += batch.ordinals.tolist()
    assert [s.ordinal for s in first.samples] == coming[:12]
    assert [s.ordinal for s in middle.samples] == coming[16:20]
    assert [s.position for s in middle.samples] == [16, 17, 18, 19]
    after = loader.peek(3)
    assert after.epoch == 1 and [s.ordinal for s in after.samples] == next(iter(loader)).ordinals.tolist()[:3]


def test_nothing_is_taken():
    loader, other = make(), make()
    batches = iter(loader)
    next(batches)
    loader.peek()
    state = loader.state_dict()
    loader.peek(20)
    assert loader.state_dict() == state
    assert next(batches).ordinals.tolist() == [batch.ordinals.tolist() for batch in other][1]


def test_after_break_the_next_epoch_is_shown():
    loader = make()
    for _ in loader:
        break
    peek = loader.peek(2)
    assert peek.epoch == 1
    assert [s.ordinal for s in peek.samples] == next(iter(loader)).ordinals.tolist()[:2]


def test_its_pixels_are_those_of_the_recipe():
    loader = make("rrc(24) flip layout(nhwc)")
    peek = loader.peek(5)
    images = next(iter(loader)).images
    for place, sample in enumerate(peek.samples):
        assert sample.image.tobytes() == images[place].tobytes()
        assert mr.decode(sample.png()).tobytes() == sample.image.tobytes()


@pytest.mark.parametrize("recipe", ["rrc(24) mixup(4) layout(nhwc)", "rrc(24) cutmix(1) layout(nhwc)"])
def test_mixed_recipes(recipe):
    loader = make(recipe)
    peek = loader.peek(5)
    batch = next(iter(loader))
    assert [s.ordinal for s in peek.samples] == batch.ordinals.tolist()[:5]
    assert all(sample.image.tobytes() == batch.images[place].tobytes() for place, sample in enumerate(peek.samples))
    assert re.search(r"\d \w+ \d+% \+ \d \w+ \d+%", str(peek))


def test_ranks_and_ends():
    loader = make(rank=1, world=2, batch_size=4)
    assert [s.ordinal for s in loader.peek(6).samples] == [n for batch in loader for n in batch.ordinals.tolist()][:6]
    loader = make(drop_last=True)
    assert len(loader.peek(100)) == 48
    assert len(make().peek(100)) == 50
    batches = iter(make(batch_size=50))
    next(batches)
    with pytest.raises(mr.ArgumentError, match="n=0 .* at least 1"):
        make().peek(0)


def test_its_text():
    text = str(make().peek(3))
    assert text.startswith("The next 3 samples, of epoch 0")
    assert re.search(r"\d (lying|round|standing)", text)
    assert "recipe   rrc(24) flip normalize(imagenet)" in text and "3 x 24 x 24 float32 nchw" in text
    assert repr(make().peek(3)) == text


def test_its_html():
    html = make().peek(6)._repr_html_()
    root = tree.fromstring(f"<root>{html}</root>")
    assert len(root.findall(".//figure")) == 6
    for png in pictures(html):
        assert mr.decode(png).shape == (24, 24, 3)


def test_boxes_and_masks_are_drawn():
    for targets in (("boxes", "masks"), ("boxes", "mask"), ("masks",), ("keypoints",)):
        loader = mr.Loader(annotated(), "resize(64x48)", targets=targets, to="array")
        peek = loader.peek(6)
        html = peek._repr_html_()
        root = tree.fromstring(f"<root>{html}</root>".replace(' xmlns="http://www.w3.org/2000/svg"', ""))
        assert len(root.findall(".//rect")) == (6 if "boxes" in targets else 0)
        masks = [picture for picture in pictures(html) if mr.decode(picture).shape[2] == 4]
        assert len(masks) == {"masks": 4, "mask": 6}.get(targets[-1], 0)
        assert peek.png()
    assert "2 objects" in str(mr.Loader(annotated(), "resize(64x48)", targets="boxes", to="array").peek(3))


def test_its_sheet():
    sheet = mr.decode(make().peek(6).png(columns=3))
    assert sheet.shape == (2 * 28 + 4, 3 * 28 + 4, 3)


def test_gray():
    peek = make("convert(gray) rrc(24)").peek(2)
    assert mr.decode(peek.png()).shape == (32, 60, 3)
    tree.fromstring(f"<root>{peek._repr_html_()}</root>")


def test_keys_are_escaped():
    sample = mr.Loader(folder(), "rrc(24)", to="array").peek(1).samples[0]
    from millrace.peek import Peek, Sample

    odd = Sample(0, 0, '<b>"x"&', 0, "<i>", sample.image)
    tree.fromstring(f"<root>{Peek([odd], 0, [('recipe', '<script>')])._repr_html_()}</root>")


def test_names_stay_on_their_line(tmp_path):
    odd = tmp_path / "cat\x1b[31m"
    odd.mkdir()
    (odd / "a\nb.png").write_bytes(mr.encode(picture(1), "png"))
    loader = mr.Loader(tmp_path, "rrc(24)", to="array", quarantine=tmp_path / "bad\x1b.jsonl")
    text = str(loader.peek(1))
    assert r"cat\x1b[31m/a\nb" in text and r"0 cat\x1b[31m" in text and "\x1b" not in text
    assert "\x1b" not in repr(loader.dataset[0]) and "\x1b" not in repr(loader.dataset)
    next(iter(loader))
    setting = replace(loader.report()._setting, name="a\x1b\nb")
    assert r"a\x1b\nb" in str(Report(setting, loader.stats(), 1, 1))


@pytest.mark.parametrize("targets", [(), ("boxes",)])
def test_bad_samples_are_black(tiny, tmp_path, targets):
    shutil.copytree(tiny, tmp_path / "set")
    bad = sorted((tmp_path / "set").rglob("*.png"))[3]
    bad.write_bytes(bad.read_bytes()[:60])
    loader = mr.Loader(tmp_path / "set", "rrc(24)", bad="replace", batch_size=4, to="array", targets=targets)
    peek = loader.peek(10)
    assert [sample.label is None for sample in peek.samples] == [place == 3 for place in range(10)]
    black = peek.samples[3]
    assert not any(black.image.tobytes()) and black.text == "-" and black.targets == {}
    assert peek.png() and len(pictures(peek._repr_html_())) == 10 and len(str(peek).splitlines()) > 10
