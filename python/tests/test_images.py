# SPDX-License-Identifier: Apache-2.0
"""mr.decode, mr.encode, mr.info, mr.recode: Pillow's pixels, round trips, and any bytes as input."""

import io
import mmap
import pathlib
import random
import struct
import zlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import cores
import numpy as np
import pytest
from PIL import Image, ImageOps

import millrace as mr
from millrace import _core

RNG = np.random.default_rng(7)
PHOTO = (
    np.add.outer(np.arange(90), np.arange(130))[:, :, None] * (1, 2, 3) + RNG.integers(0, 20, (90, 130, 3))
).astype(np.uint8)


def stored(form: str, pixels: Any = PHOTO, **how: Any) -> bytes:
    to = io.BytesIO()
    Image.fromarray(pixels).save(to, form, **how)
    return to.getvalue()


JPEG = stored("JPEG", quality=90)
PNG = stored("PNG")
WEBP = stored("WEBP", lossless=True)


def pillow(data: bytes, mode: str | None = None) -> Any:
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image.convert(mode) if mode else image)


JPEGS = {
    "4:2:0": stored("JPEG", quality=80, subsampling=2),
    "4:2:2": stored("JPEG", quality=80, subsampling=1),
    "4:4:4": stored("JPEG", quality=95, subsampling=0),
    "progressive": stored("JPEG", quality=80, progressive=True),
    "gray": stored("JPEG", PHOTO[:, :, 0]),
    "odd": stored("JPEG", PHOTO[:61, :47]),
    "one": stored("JPEG", PHOTO[:1, :1]),
}
PNGS = {
    "rgb": PNG,
    "gray": stored("PNG", PHOTO[:, :, 0]),
    "rgba": stored("PNG", np.dstack([PHOTO, PHOTO[:, :, 0]])),
    "la": stored("PNG", PHOTO[:, :, :2]),
    "16": stored("PNG", PHOTO[:, :, 0].astype(np.uint16) * 251),
    "one": stored("PNG", PHOTO[:1, :1]),
}


@pytest.mark.parametrize("name", JPEGS)
def test_jpeg_is_pillows_bit_for_bit(name: str) -> None:
    assert np.array_equal(mr.decode(JPEGS[name]).numpy(), pillow(JPEGS[name]))
    assert np.array_equal(mr.decode(JPEGS[name], mode="RGB").numpy(), pillow(JPEGS[name], "RGB"))


@pytest.mark.parametrize("name", PNGS)
def test_png_is_pillows_bit_for_bit(name: str) -> None:
    image = mr.decode(PNGS[name])
    assert np.array_equal(image.numpy(), pillow(PNGS[name]))
    assert image.dtype == ("uint16" if name == "16" else "uint8")


def test_other_forms_of_the_same_pixels() -> None:
    for data in (
        WEBP,
        mr.encode(PHOTO, "webp", lossless=True),
        mr.encode(PHOTO, "ppm"),
        mr.encode(PHOTO, "raw"),
        mr.encode(PHOTO, "l3"),
        mr.encode(PHOTO, "l3", preset="small", threads=2),
        mr.encode(PHOTO, "png"),
    ):
        assert np.array_equal(mr.decode(data).numpy(), PHOTO)


def test_every_kind_of_data(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.jpg"
    path.write_bytes(JPEG)
    expected = pillow(JPEG).tobytes()
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        for data in (
            path,
            str(path),
            JPEG,
            bytearray(JPEG),
            memoryview(JPEG),
            np.frombuffer(JPEG, np.uint8),
            mapped,
            io.BytesIO(JPEG),
            open(path, "rb"),
        ):
            assert mr.decode(data).tobytes() == expected
            if not isinstance(data, (io.BytesIO, io.BufferedReader)):
                assert mr.info(data)["width"] == 130
    with pytest.raises(TypeError):
        mr.decode(17)
    with pytest.raises((BufferError, ValueError)):
        mr.decode(np.frombuffer(JPEG, np.uint8)[::2])
    with pytest.raises(FileNotFoundError):
        mr.decode(tmp_path / "none.jpg")


def test_info() -> None:
    told = mr.info(JPEGS["4:2:2"])
    assert (told["form"], told["width"], told["height"], told["channels"], told["depth"]) == ("jpeg", 130, 90, 3, 8)
    assert told["subsampling"] == "4:2:2" and told["color"] == "ycbcr" and not told["lossless"]
    assert mr.info(JPEGS["progressive"])["progressive"] and mr.info(PNGS["16"])["depth"] == 16
    assert mr.info(mr.encode(PHOTO, "l3"))["tiles"] > 0


@pytest.mark.parametrize("data", [*JPEGS.values(), *PNGS.values(), WEBP], ids=[*JPEGS, *PNGS, "webp"])
def test_regions_are_parts_of_the_whole(data: bytes) -> None:
    whole = mr.decode(data).numpy()
    height, width = whole.shape[:2]
    draw = random.Random(3)
    for _ in range(12):
        x, y = draw.randrange(width), draw.randrange(height)
        w, h = draw.randint(1, width - x), draw.randint(1, height - y)
        for index in (None, _core.row_index(data)):
            part = mr.decode(data, region=(x, y, w, h), index=index).numpy()
            assert np.array_equal(part, whole[y : y + h, x : x + w])
    small = mr.decode(data, reduce=2).numpy()
    assert small.shape[:2] == ((height + 1) // 2, (width + 1) // 2)
    if width > 1:
        part = mr.decode(data, reduce=2, region=(1, 1, small.shape[1] - 1, small.shape[0] - 1)).numpy()
        assert np.array_equal(part, small[1:, 1:])
    for region in ((0, 0, width + 1, 1), (width, 0, 1, 1), (1 << 31, 1 << 31, 1 << 31, 1 << 31)):
        with pytest.raises(mr.ArgumentError):
            mr.decode(data, region=region)


def test_channels_depth_mode() -> None:
    assert mr.decode(PNG, channels=4).shape == (90, 130, 4) and mr.decode(PNG, mode="L").shape == (90, 130)
    assert np.array_equal(mr.decode(PNG, mode="L").numpy(), pillow(PNG, "L"))
    assert mr.decode(PNG, depth=16).dtype == "uint16"
    assert np.array_equal(mr.decode(PNGS["16"], depth=8).numpy(), pillow(PNGS["16"]) >> 8)
    assert mr.decode(PNG, mode="LA").shape == (90, 130, 2) and mr.decode(PNG, mode="I;16").dtype == "uint16"
    with pytest.raises(mr.ArgumentError, match="mode cannot be 'CMYK'"):
        mr.decode(PNG, mode="CMYK")
    with pytest.raises(mr.ArgumentError, match="the one or the others"):
        mr.decode(PNG, mode="RGB", channels=3)
    for wrong in ({"channels": 5}, {"depth": 12}, {"reduce": 3}):
        with pytest.raises(mr.ArgumentError):
            mr.decode(PNG, **wrong)
    for bad in ({"channels": -1}, {"region": (0, 0, -1, 1)}):
        with pytest.raises(ValueError):
            mr.decode(PNG, **bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation(orientation: int) -> None:
    exif = Image.Exif()
    exif[0x112] = orientation
    data = stored("JPEG", exif=exif, quality=90)
    with Image.open(io.BytesIO(data)) as image:
        upright, as_stored = np.asarray(ImageOps.exif_transpose(image)), np.asarray(image)
    assert np.array_equal(mr.decode(data).numpy(), upright)
    assert np.array_equal(mr.decode(data, orient=False).numpy(), as_stored)
    assert mr.info(data)["orientation"] == orientation


def test_values_of_a_palette() -> None:
    image = Image.fromarray(PHOTO[:, :, 0] % 5, "P")
    image.putpalette([0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9])
    to = io.BytesIO()
    image.save(to, "PNG")
    assert np.array_equal(mr.decode(to.getvalue(), channels=1, values=True).numpy(), PHOTO[:, :, 0] % 5)
    assert mr.decode(to.getvalue()).shape == (90, 130, 3)


@pytest.mark.parametrize("form", ["png", "ppm", "raw", "l3"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("channels", [0, 1, 2, 3, 4])
def test_round_trips(form: str, dtype: Any, channels: int) -> None:
    pixels = RNG.integers(0, 1 << (8 * dtype().itemsize), (33, 21) + ((channels,) if channels else ()), dtype)
    try:
        data = mr.encode(pixels, form)
    except mr.DataError as error:
        assert error.code == "MR_EUNSUPPORTED" and (form, channels) in (("ppm", 2), ("ppm", 4)) or dtype is np.uint16
        return
    back = mr.decode(data).numpy()
    assert back.dtype == dtype and np.array_equal(back.reshape(33, 21, -1), pixels.reshape(33, 21, -1))


def test_strides() -> None:
    wide = RNG.integers(0, 256, (40, 60, 3), np.uint8)
    views = [
        wide[::-1],
        wide[::2],
        wide[5:20, 7:30],
        wide[::-3, 10:],
        wide[:, ::-1],
        wide.transpose(1, 0, 2),
        wide[:, :, 0],
        wide[:, :, ::-1],
        np.asfortranarray(wide),
        wide[:1, ::5],
        wide[3:4, 3:4],
        wide[:, :1],
        np.broadcast_to(wide[:1], wide.shape),
    ]
    for view in views:
        assert np.array_equal(mr.decode(mr.encode(view, "png")).numpy(), view)
    for apart in (wide[:, ::2], wide[:, :, ::-1]):
        with pytest.raises((mr.ArgumentError, BufferError)):
            _core.encode(apart, "png")


def test_what_cannot_be_encoded() -> None:
    for wrong in (
        np.zeros((4, 4, 3), np.float32),
        np.zeros((4, 4, 5), np.uint8),
        np.zeros((4,), np.uint8),
        np.zeros((2, 4, 4, 3), np.uint8),
        np.zeros((0, 4, 3), np.uint8),
        np.zeros((4, 4), np.int8),
        np.zeros((4, 4), ">u2"),
        b"bytes",
    ):
        with pytest.raises(mr.ArgumentError):
            mr.encode(wrong, "png")
    with pytest.raises(TypeError):
        mr.encode("text", "png")
    with pytest.raises(TypeError):
        mr.encode([[1, 2], [3, 4]], "png")
    with pytest.raises(mr.ArgumentError, match="no form 'gif' .one of: jpeg"):
        mr.encode(PHOTO, "gif")
    with pytest.raises(mr.ArgumentError):
        mr.encode(PHOTO, "jpeg", quality=101)
    with pytest.raises(mr.ArgumentError, match="subsampling cannot be '4:2:3'"):
        mr.encode(PHOTO, "jpeg", subsampling="4:2:3")
    with pytest.raises(mr.ArgumentError, match="preset cannot be"):
        mr.encode(PHOTO, "l3", preset="tiny")


def test_whatever_has_pixels(tmp_path: pathlib.Path) -> None:
    picture = Image.fromarray(PHOTO)
    array = mr.decode(PNG)
    for image in (PHOTO, picture, array, memoryview(PHOTO)):
        assert np.array_equal(mr.decode(mr.encode(image)).numpy(), PHOTO)
    for mode in ("L", "LA", "RGBA", "1", "P", "CMYK", "YCbCr"):
        converted = picture.convert(mode)
        back = mr.decode(mr.encode(converted)).numpy()
        expected = converted if mode in ("L", "LA", "RGBA") else converted.convert("L" if mode == "1" else "RGB")
        assert np.array_equal(back, np.asarray(expected)), mode
    deep = Image.fromarray(PHOTO[:, :, 0].astype(np.uint16) * 200)
    assert np.array_equal(mr.decode(mr.encode(deep)).numpy(), np.asarray(deep))
    path = tmp_path / "p.jpg"
    assert mr.encode(PHOTO, path=path, quality=85, subsampling="4:4:4") == path.read_bytes()
    assert mr.info(path)["form"] == "jpeg" and mr.info(path)["subsampling"] == "4:4:4"


def test_torch_tensors() -> None:
    torch = pytest.importorskip("torch")
    tensor = torch.from_numpy(PHOTO)
    assert np.array_equal(mr.decode(mr.encode(tensor)).numpy(), PHOTO)
    planes = tensor.permute(2, 0, 1).contiguous()
    assert np.array_equal(mr.decode(mr.encode(planes.permute(1, 2, 0))).numpy(), PHOTO)
    assert torch.equal(mr.decode(PNG).torch(), tensor)


def test_recode_is_exact() -> None:
    l3 = mr.recode(JPEG, "l3")
    assert l3.exact and l3.has_origin and l3.why == "" and isinstance(l3, bytes)
    assert mr.recode(l3, "jpeg") == JPEG
    assert np.array_equal(mr.decode(l3).numpy(), pillow(JPEG))
    without = mr.recode(JPEG, "l3", without_origin=True)
    assert not without.has_origin and len(without) < len(l3)
    png = mr.recode(JPEG, "png")
    assert not png.exact and np.array_equal(mr.decode(png).numpy(), pillow(JPEG))


def test_options_are_stored() -> None:
    icc = b"a profile that nobody reads" * 10
    data = mr.encode(PHOTO, "jpeg", orientation=6, icc=icc, progressive=True)
    told = mr.info(data)
    assert told["orientation"] == 6 and told["has_icc"] and told["progressive"]
    assert mr.decode(data).shape == (130, 90, 3)


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_of(width: int, height: int, data: bytes = b"\0") -> bytes:
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")


def test_hostile_bytes() -> None:
    for nothing in (b"", b"\0", b"GIF89a" + b"\0" * 100, b"not an image at all", bytes(1000)):
        for call in (mr.decode, mr.info):
            with pytest.raises(mr.DataError) as caught:
                call(nothing)
            assert caught.value.code in ("MR_EFORMAT", "MR_ETRUNCATED")
        with pytest.raises(mr.DataError):
            mr.recode(nothing, "l3")
    with pytest.raises(mr.LimitError):
        mr.decode(png_of(1 << 30, 1 << 30))
    with pytest.raises(mr.LimitError):
        mr.decode(PNG, limits={"pixels": 1000})
    with pytest.raises(mr.LimitError):
        mr.decode(PNG, limits={"nbytes": 100})
    with pytest.raises(mr.DataError):
        mr.decode(png_of(3000, 3000))  # too little data
    with pytest.raises(mr.DataError):
        mr.decode(png_of(0, 5))
    with pytest.raises(mr.ArgumentError, match="a limit cannot be 'pixel'"):
        mr.decode(PNG, limits={"pixel": 3})
    with pytest.raises(ValueError):
        mr.decode(PNG, limits={"pixels": -1})


ALL = {
    "jpeg": JPEG,
    "progressive": JPEGS["progressive"],
    "png": PNG,
    "webp": WEBP,
    "lossy webp": mr.encode(PHOTO, "webp"),
    "ppm": mr.encode(PHOTO, "ppm"),
    "raw": mr.encode(PHOTO, "raw"),
    "l3": mr.encode(PHOTO, "l3"),
    "l3 of jpeg": bytes(mr.recode(JPEG, "l3")),
}


@pytest.mark.parametrize("name", ALL)
def test_truncated(name: str) -> None:
    data = ALL[name]
    for length in [*range(0, min(len(data), 64)), *range(64, len(data) - 2, max(1, len(data) // 40))]:
        with pytest.raises(mr.DataError):
            mr.decode(data[:length])
    try:
        mr.decode(data[: len(data) * 3 // 4], accept_damaged=True)
    except mr.DataError:
        pass


@pytest.mark.parametrize("name", ALL)
def test_garbled(name: str) -> None:
    draw = random.Random(11)
    for _ in range(150):
        data = bytearray(ALL[name])
        for _ in range(draw.randint(1, 8)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        for call in (
            mr.info,
            mr.decode,
            lambda d: mr.decode(d, region=(1, 1, 20, 20), accept_damaged=True),
            lambda d: mr.recode(d, "l3"),
            _core.row_index,
        ):
            try:
                call(bytes(data))
            except mr.Error as error:
                assert isinstance(error, (mr.DataError, mr.LimitError, mr.ArgumentError)), error


def test_garbled_annotations() -> None:
    good = b'{"annotations": [{"bbox": [1, 2, 3, 4], "category_id": 7, "keypoints": [1, 2, 2]}], "label": 3}'
    told = _core.annotation(good)
    assert told["count"] == 1 and told["label"] == 3 and told["boxes"].tolist() == [[1, 2, 3, 4]]
    assert _core.annotation(b"[]")["boxes"].shape == (0, 4) and _core.annotation(b"[]")["keypoint_starts"].tolist() == [
        0
    ]
    draw = random.Random(5)
    for _ in range(500):
        data = bytearray(good[: draw.randint(0, len(good))])
        if data:
            data[draw.randrange(len(data))] = draw.randrange(256)
        try:
            _core.annotation(data)
        except mr.Error as error:
            assert isinstance(error, (mr.DataError, mr.LimitError))
    with pytest.raises(mr.DataError):
        _core.annotation(b'[{"bbox": [1, 2, 3]}]')


def test_a_wrong_index_is_an_error() -> None:
    index = _core.row_index(JPEG)
    assert index is not None and _core.row_index(PNG) is None
    for wrong in (index[:-1], b"x" + index[1:], _core.row_index(JPEGS["4:4:4"])):
        with pytest.raises(mr.Error):
            mr.decode(JPEG, region=(0, 60, 16, 16), index=wrong)


def test_errors_name_the_file(tmp_path: pathlib.Path) -> None:
    bad = tmp_path / "bad.jpg"
    bad.write_bytes(JPEG[:300])
    for call in (mr.decode, lambda path: mr.recode(path, "l3")):
        with pytest.raises(mr.DataError, match="bad.jpg") as caught:
            call(bad)
        assert caught.value.code == "MR_ETRUNCATED"


def test_many_threads_at_once() -> None:
    expected = {name: mr.decode(data).tobytes() for name, data in ALL.items()}

    def work(number: int) -> bool:
        name = list(ALL)[number % len(ALL)]
        if number % 5 == 4:
            return bool(np.array_equal(mr.decode(mr.encode(PHOTO, ("png", "l3", "raw")[number % 3])).numpy(), PHOTO))
        return mr.decode(ALL[name]).tobytes() == expected[name]

    with ThreadPoolExecutor(24) as pool:
        assert all(pool.map(work, range(600)))


def test_what_is_decoded_stays() -> None:
    first = mr.decode(PNG)
    view = np.asarray(first)
    del first
    for _ in range(50):
        mr.decode(JPEG)
    assert np.array_equal(view, PHOTO) and view.flags.writeable


@cores.unsanitized("sanitizers keep what is freed for a while")
def test_large_images_leave_little_behind() -> None:
    large = np.zeros((5000, 5000, 3), np.uint8)
    data = mr.encode(large, "jpeg")

    def resident() -> int:
        for line in pathlib.Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) * 1024
        return 0

    before = resident()
    for _ in range(3):
        mr.decode(data)
        mr.encode(large, "png", effort=1)
    assert resident() - before < 60_000_000
