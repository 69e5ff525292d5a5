# SPDX-License-Identifier: Apache-2.0
"""mr.pack, mr.verify: the command's bytes; Ctrl-C, and going on; what is damaged is told. And the line of progress."""

import io
import os
import pathlib
import pty
import shutil
import signal
import subprocess
import sys
import time
from typing import Any

import cores
import pytest
from conftest import command

import millrace as mr
from millrace._progress import Line, showing
from millrace._quantity import bytes_text, count_text, read_nbytes, read_share, time_text
from millrace.packing import read_forms


def tree(folder: pathlib.Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize(
    "forms, words, options",
    [
        ("original", [], {}),
        (["original", "l3"], ["--forms=original,l3"], {"threads": 1}),
        ("jpeg,l3:share=30%,raw:short-side=64", ["--forms=jpeg,l3:share=30%,raw:short-side=64"], {"threads": 3}),
        (
            ["original", "jpeg:max-side=96,quality=90,share=0.5", {"form": "png", "short_side": 48}],
            ["--forms=original,jpeg:max-side=96:quality=90:share=50%,png:short-side=48", "--shard-samples=10"],
            {"shard_samples": 10},
        ),
        (
            "l3,webp",
            ["--forms=l3,webp", "--max-side=100", "--filter=lanczos", "--pillow=12"],
            {"max_side": 100, "filter": "lanczos", "pillow": 12},
        ),
        (
            "original,l3",
            [
                "--forms=original,l3",
                "--budget=2MB",
                "--shard-size=200kB",
                "--align=page",
                "--no-row-index",
                "--no-check",
            ],
            {"budget": "2MB", "shard_size": "200kB", "align": "page", "row_index": False, "check": False},
        ),
        ("original", ["--part=1/3", "--shard-samples=10"], {"part": "1/3", "shard_samples": 10}),
    ],
)
def test_packs_the_commands_bytes(
    folder: pathlib.Path, tmp_path: pathlib.Path, forms: Any, words: list[str], options: dict[str, Any]
) -> None:
    command("pack", folder, "-o", tmp_path / "command", *words)
    report = mr.pack(folder, tmp_path / "python", forms, **options)
    assert tree(tmp_path / "python") == tree(tmp_path / "command")
    assert report.refused == 0 and report.shards >= 1 and report.seconds > 0


def test_report(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    seen: list[dict[str, Any]] = []
    to = tmp_path / "out"
    report = mr.pack(mr.Dataset(folder), to, "original,jpeg,l3", progress=lambda now: seen.append(dict(now)))
    assert report.samples == 48 and list(report.forms) == ["original", "jpeg", "l3"] and not report.was_complete
    assert report.absent == sum(not sample.key.endswith(("jpg", "jpeg")) for sample in mr.Dataset(folder))
    text = str(report)
    assert text.startswith(f"Packed 48 samples into {to}: 1 shard, ") and "l3 " in text and "left out" in text
    assert seen and seen[-1]["verb"] == "packing" and seen[-1]["done"] == seen[-1]["total"] == 48
    assert report.to_dict()["samples"] == 48 and len(report.open()) == 48
    again = mr.pack(folder, to, "original,jpeg,l3")
    assert again.was_complete and str(again).startswith(f"{to} is complete already: 48 samples")


def test_a_sample_without_the_first_form(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    mr.pack(folder, tmp_path / "out", "png,l3")
    packed, dataset = mr.Dataset(tmp_path / "out"), mr.Dataset(folder)
    for ours, stored in zip(packed, dataset):
        assert ours.image.tobytes() == stored.image.tobytes()
        assert ours.info()["form"] == ("png" if stored.key.endswith("png") else "l3")


@pytest.mark.parametrize(
    "forms, text",
    [
        ("", "no form ''"),
        ([], "forms is empty"),
        ("jpg", "no form 'jpg'; did you mean jpeg"),
        ("jpeg:max-sid=3", "did you mean max-side"),
        ("jpeg:max-side=0", "max-side cannot be '0' .a number from 1 to 65535"),
        ("jpeg:max-side=9:short-side=9", "cannot both be"),
        ("original:max-side=9", "cannot be reduced"),
        ("l3:share=50%", "the first form is for all samples"),
        ("l3,raw:share=0", "share cannot be"),
        ("l3,raw:share=150%", "share cannot be"),
        ("jpeg:quality=50", "quality is for jpeg and webp that are made anew"),
        ("raw:effort=3", "effort is for l3"),
        ("l3,l3:share=0.5", "is there twice"),
    ],
)
def test_forms_that_cannot_be(folder: pathlib.Path, tmp_path: pathlib.Path, forms: Any, text: str) -> None:
    with pytest.raises(mr.ArgumentError, match=text):
        mr.pack(folder, tmp_path / "x", forms)
    assert not (tmp_path / "x").exists()


def test_forms_are_read() -> None:
    assert read_forms("jpeg:max-side=512,quality=90,l3:share=0.5") == [
        {"form": "jpeg", "max_side": 512, "quality": 90},
        {"form": "l3", "share": 500000, "max_side": 0, "short_side": 0},
    ]
    assert read_forms(["original", {"form": "raw", "short-side": 256}])[1] == {"form": "raw", "short_side": 256}


def test_what_cannot_be_packed(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    with pytest.raises(mr.ArgumentError, match="inside of"):
        mr.pack(folder, folder / "packed")
    with pytest.raises(mr.ArgumentError, match="the same folder as"):
        mr.pack(folder, folder)
    for wrong in ("3/3", "x", (2,), 5):
        with pytest.raises(mr.ArgumentError, match="part cannot be"):
            mr.pack(folder, tmp_path / "x", part=wrong)  # type: ignore[arg-type]
    with pytest.raises(mr.ArgumentError, match="budget cannot be 'much'"):
        mr.pack(folder, tmp_path / "x", budget="much")
    with pytest.raises(mr.ArgumentError, match="filter cannot be"):
        mr.pack(folder, tmp_path / "x", filter="sinc")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    with pytest.raises(mr.Error, match="full"):
        mr.pack(folder, tmp_path / "full")
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(mr.Error, match="file"):
        mr.pack(folder, file)


def test_bad_images_are_kept_out(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(folder, source)
    key = mr.Dataset(folder)[5].key
    (source / key).write_bytes((source / key).read_bytes()[:200])
    with pytest.raises(mr.LimitError, match="bad images: 1.*max_bad.*quarantine.jsonl"):
        mr.pack(source, tmp_path / "out")
    report = mr.pack(source, tmp_path / "out", max_bad="5%")
    assert report.refused == 1 and "1 bad image kept out" in str(report)
    packed = mr.Dataset(tmp_path / "out")
    with pytest.raises(mr.DataError, match=key.rsplit(".")[0]):
        packed[5].image
    assert packed[6].image.tobytes() == mr.Dataset(folder)[6].image.tobytes()


def test_verify(packed: pathlib.Path, tmp_path: pathlib.Path) -> None:
    assert mr.verify(packed) and str(mr.verify(packed)).startswith(f"{packed} is whole: ")
    damaged = tmp_path / "damaged"
    shutil.copytree(packed, damaged)
    record = mr.Dataset(damaged).core.record(9, "l3")
    shard = pathlib.Path(mr.Dataset(damaged).core.file(record["file"]))
    data = bytearray(shard.read_bytes())
    data[record["offset"] + record["nbytes"] // 2] ^= 1
    shard.write_bytes(data)
    report = mr.verify(damaged, threads=2)
    assert not report and report.damaged_samples == 1 and report.lost_samples == 0
    found = [finding for finding in report.found if finding.ordinal == 9]
    assert found and found[0].form == "l3" and found[0].survivors == ["original"] and found[0].key
    assert "original of it is whole" in str(report)
    with pytest.raises(mr.DataError, match="(?s).*") as caught:
        mr.Dataset(damaged)[9].bytes("l3")
    assert found[0].key in str(caught.value)
    with pytest.raises(mr.Error, match="nothing"):
        mr.verify(tmp_path / "nothing")


PACK = """
import sys, time
import millrace as mr
print("begins", flush=True)
def told(now):
    if now["verb"] == "packing" and now["done"] and not told.said:
        told.said = True
        print("packing", flush=True)
told.said = False
try:
    report = mr.pack(sys.argv[1], sys.argv[2], "l3,raw,webp:max-side=399", shard_samples=8, threads=1, progress=told)
    print("done", report.shards_found)
except KeyboardInterrupt:
    print("interrupted", time.time(), flush=True)
"""


@pytest.fixture(scope="module")
def slow(scratch: pathlib.Path) -> pathlib.Path:
    """Enough that packing it takes seconds."""
    to = scratch / "slow"
    command("generate", to, "--count=96", "--size=400x300", "--forms=png=1", "--seed=4")
    return to


def test_ctrl_c_and_on_it_goes(slow: pathlib.Path, tmp_path: pathlib.Path) -> None:
    words = [sys.executable, "-c", PACK, str(slow), str(tmp_path / "out")]
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "begins\n" and child.stdout.readline() == "packing\n"
    time.sleep(0.3)
    sent = time.time()
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=120)
    assert out.startswith("interrupted"), out + err
    assert float(out.split()[1]) - sent < cores.AT_ONCE and child.returncode == 0
    assert mr.pack(slow, tmp_path / "out", "l3,raw,webp:max-side=399", shard_samples=8, threads=1).shards == 12
    mr.pack(slow, tmp_path / "whole", "l3,raw,webp:max-side=399", shard_samples=8)
    assert tree(tmp_path / "out") == tree(tmp_path / "whole")


def test_an_exception_of_the_callable_stops_it(slow: pathlib.Path, tmp_path: pathlib.Path) -> None:
    def refuse(now: Any) -> None:
        if now["verb"] == "packing":
            raise RuntimeError("enough")

    start = time.monotonic()
    with pytest.raises(RuntimeError, match="enough"):
        mr.pack(slow, tmp_path / "out", "l3", progress=refuse)
    assert time.monotonic() - start < cores.AT_ONCE


def test_sizes() -> None:
    for text, nbytes in (
        ("200GB", 200 * 10**9),
        ("1.5 GiB", 3 << 29),
        ("64 MB", 64 * 10**6),
        ("17", 17),
        (5, 5),
        ("3kb", 3000),
        ("2TiB", 2 << 40),
        ("10B", 10),
    ):
        assert read_nbytes(text) == nbytes
    for wrong in ("", "GB", "-3", "3 parsecs", -1, 1.5, True):
        with pytest.raises(mr.ArgumentError):
            read_nbytes(wrong)  # type: ignore[arg-type]
    assert [read_share(x) for x in ("30%", "0.5", 0.25, 1, "0", "0.00001%")] == [300000, 500000, 250000, 1000000, 0, 1]
    assert [bytes_text(x) for x in (999, 1000, 4_156_415, 99_960, 999_600)] == [
        "999 B",
        "1.00 kB",
        "4.16 MB",
        "100 kB",
        "1.00 MB",
    ]
    assert time_text(61.6) == "1:02" and time_text(3602) == "1:00:02"
    assert count_text(1281167, "sample") == "1,281,167 samples" and count_text(1, "shard") == "1 shard"


NOW = {
    "verb": "packing",
    "done": 512,
    "total": 1024,
    "unit": "samples",
    "in_nbytes": 5 << 20,
    "out_nbytes": 3 << 20,
    "refused": 2,
}


def test_the_line() -> None:
    line = Line(io.StringIO())
    for width in (20, 40, 60, 80, 120, 200):
        text = line.text(NOW, 100.0, width)
        assert text.startswith("packing ") and "50%" in text and (len(text) < width or width < 40)
    whole = line.text(NOW, 100.0, 200)
    assert "512 of 1,024" in whole and "100 a second" in whole and "0:05 left" in whole and "2 refused" in whole
    assert line.text({**NOW, "total": 0, "unit": "files"}, 0.0, 80).startswith("packing  512 files")
    assert "a second" in line.text({**NOW, "unit": "bytes"}, 5e6, 80)


def test_nothing_is_shown_but_on_a_terminal(capfd: Any, folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    mr.pack(folder, tmp_path / "out", "l3")
    out, err = capfd.readouterr()
    assert out == err == ""
    with showing(True) as show:
        assert show is None
    with showing(False) as show:
        assert show is None
    with showing(print) as show:
        assert show is print


def test_a_terminal_sees_the_line(slow: pathlib.Path, tmp_path: pathlib.Path) -> None:
    ours, theirs = pty.openpty()
    code = "import sys, millrace as mr; mr.pack(sys.argv[1], sys.argv[2], 'l3')"
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(slow), str(tmp_path / "out")],
        stdout=theirs,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm", "PYTHONIOENCODING": "utf-8", "COLUMNS": "100"},
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is gone
            break
        if not part:
            break
        seen += part
    os.close(ours)
    assert child.wait(60) == 0, seen
    assert b"\rpacking " in seen and b"of 96" in seen and seen.endswith(b"\r\033[K"), seen[-500:]
