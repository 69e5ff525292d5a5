# SPDX-License-Identifier: Apache-2.0
"""What notebooks show: pictures of arrays, tables of loaders, batches and reports."""

import base64
import html.parser
import re

import pytest
from demo import folder, picture, tar

import millrace as mr


class Balance(html.parser.HTMLParser):
    """That every element is closed."""

    def __init__(self, text):
        super().__init__()
        self.open = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        if tag not in ("img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        pass


def pictures(text):
    return [base64.b64decode(data) for data in re.findall(r"data:image/png;base64,([^\"]+)", text)]


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
@pytest.mark.parametrize("shape", [(7, 5), (7, 5, 1), (7, 5, 3), (7, 5, 4), (1, 4096)])
def test_pictures_of_arrays(shape, dtype):
    array = mr._core.empty(shape, dtype)
    memoryview(array).cast("B")[:] = bytes(i * 37 % 251 for i in range(array.nbytes))
    shown = mr.decode(array._repr_png_())
    assert shown.dtype == dtype and shown.tobytes() == array.tobytes()
    rows = array[::-2]
    assert mr.decode(rows._repr_png_()).tobytes() == rows.tobytes()


@pytest.mark.parametrize(
    "shape, dtype",
    [((4,), "uint8"), ((7, 5, 2), "uint8"), ((3, 7, 5), "uint8"), ((0, 5), "uint8"), ((1, 4097), "uint8"),
     ((7, 5), "float32"), ((7, 5), "int64"), ((2, 7, 5, 3), "uint8"), ((), "uint8")],
)  # fmt: skip
def test_what_is_no_picture_has_none(shape, dtype):
    assert mr._core.empty(shape, dtype)._repr_png_() is None


@pytest.mark.parametrize("copy", [False, True])
@pytest.mark.parametrize("recipe", ["resize(16x12) dtype(u8)", "resize(16x12) dtype(u8) layout(nhwc)"])
@pytest.mark.parametrize("to", ["array", "numpy", "torch"])
def test_batches_of_pictures(to, recipe, copy):
    if to != "array":
        pytest.importorskip(to)
    with mr.Loader(folder(), recipe, batch_size=20, to=to, copy=copy) as loader:
        batch = next(iter(loader))
        text = batch._repr_html_()
        Balance(text)
        shown = pictures(text)
        assert len(shown) == 16 and "and 4 more" in text
        with mr.Loader(folder(), "resize(16x12)", to="array") as again:
            wanted = [sample.image.tobytes() for sample in again.peek(3).samples]
        assert [mr.decode(png).tobytes() for png in shown[:3]] == wanted


def test_batches_of_numbers_are_a_table():
    with mr.Loader(folder(), "resize(16x12) normalize(imagenet)", batch_size=6, to="array") as loader:
        text = next(iter(loader))._repr_html_()
    Balance(text)
    assert not pictures(text) and "lying/000" in text and "0 lying" in text and "more" not in text


def test_batches_say_how_they_are_mixed():
    with mr.Loader(folder(), "resize(16x12) normalize(imagenet) mixup(50)", batch_size=6, to="array") as loader:
        assert re.search(r"mixup: \d+% of each and \d+% of another", next(iter(loader))._repr_html_())


def test_loaders():
    loader = mr.Loader(folder(), "resize(16x12)", batch_size=6, shuffle=True, seed=3, drop_last=True, to="array")
    text = loader._repr_html_()
    Balance(text)
    assert "shuffled, seed 3" in text and "8 of 6 x 3 x 12 x 16 uint8 nchw" in text and "50 samples" in text
    loader.close()
    assert "closed" in loader._repr_html_()


def test_reports_of_packing(tmp_path):
    packed = mr.pack(folder(), tmp_path / "<packed>", ["jpeg", "l3"], progress=False)
    text = packed._repr_html_()
    Balance(text)
    assert "&lt;packed&gt;" in text and "l3" in text and "stored" in text
    assert "complete already" in mr.pack(folder(), tmp_path / "<packed>", ["jpeg", "l3"], progress=False)._repr_html_()
    whole = mr.verify(tmp_path / "<packed>", progress=False)._repr_html_()
    Balance(whole)
    assert "is whole" in whole
    shard = next((tmp_path / "<packed>").rglob("*.tar"))
    data = bytearray(shard.read_bytes())
    data[len(data) // 2] ^= 1
    shard.write_bytes(data)
    broken = mr.verify(tmp_path / "<packed>", progress=False)._repr_html_()
    Balance(broken)
    assert "what is wrong" in broken and shard.name in broken


def test_keys_break_at_slashes():
    name = "n02536864/n02536864_with_a_long_name.JPEG"
    path = tar("long.tar", [(name, {"jpg": mr.encode(picture(0), "jpeg")})])
    with mr.Loader(path, "resize(16x12)", to="array") as loader:
        text = loader.peek(1)._repr_html_()
    assert "overflow-wrap:anywhere" not in text and 'class="part"' in text and "/</span><span" in text
