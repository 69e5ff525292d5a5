# SPDX-License-Identifier: Apache-2.0
"""loader.report(): facts, words, HTML."""

import json
import subprocess
import xml.etree.ElementTree as tree

import pytest
from demo import command, folder

import millrace as mr
from millrace import _text
from millrace.report import Report, Setting


def well_formed(html):
    """HTML that is also XML, which browsers and notebooks take without guessing."""
    return tree.fromstring(f"<root>{html.replace('&nbsp;', ' ')}</root>")


def fed(epochs=3, **options):
    loader = mr.Loader(
        folder(), "rrc(24) flip normalize(imagenet)", **{"batch_size": 8, "shuffle": True, "to": "array", **options}
    )
    for _ in range(epochs):
        for batch in loader:
            del batch
    return loader


def test_before_anything_was_fed():
    report = mr.Loader(folder(), "rrc(24)", to="array").report()
    assert str(report) == "No batch was fed yet"
    well_formed(report._repr_html_())
    assert report.to_dict()["samples"] == 0


def test_its_facts():
    loader = fed()
    report = loader.report()
    text, told = str(report), report.to_dict()
    assert told["samples"] == 150 and told["batches"] == 21
    assert text.startswith("Fed 150 images in ") and "core-ms an image" in text
    assert "s to make the loader and its first batch" in text
    for word in (
        "dataset",
        "rrc(24) flip normalize(imagenet)",
        "8 x 3 x 24 x 24 float32",
        "decode",
        "trainer",
        "memory",
        "binds",
    ):
        assert word in text
    assert abs(sum(stage["share"] for stage in told["stages"]) - 1) < 1e-9
    assert told["images_per_second"] > 0 and told["core_ms_per_image"] > 0
    assert told["rss_peak_nbytes"] >= told["memory_nbytes"] > 0
    json.dumps(told)
    assert max(map(len, text.splitlines())) <= 130
    assert repr(report) == text


def test_it_has_what_the_command_has():
    arguments = ["--recipe", "rrc(24) flip", "--batch=8", "--json"]
    theirs = json.loads(
        subprocess.run([command(), "feed", str(folder()), *arguments], check=True, capture_output=True).stdout
    )
    ours = fed(1).report().to_dict()
    python_only = {"consumer_p50_us", "consumer_p99_us"}
    command_only = {
        "dataset_samples",
        "recipe_hash",
        "device",
        "sink",
        "step_seconds",
        "epochs",
        "targets",
        "epoch_hash",
        "epoch_hashes",
        "written_files",
        "written_nbytes",
        "trace",
        "resumed",
        "stopped",
    }
    assert set(theirs) - command_only <= set(ours) | python_only
    assert set(ours["stages"][0]) == set(theirs["stages"][0])


def test_its_html():
    html = fed().report()._repr_html_()
    root = well_formed(html)
    assert len(root.findall(".//table")) == 3
    assert "images/s" in html and "color:inherit" in html
    assert "#fff" not in html and "white" not in html.replace("white-space", "")  # it reads in dark notebooks, too


def a_report(bottleneck, **changes):
    stats = fed(1).stats()
    stats.update(bottleneck=bottleneck, threads=1, **changes.pop("stats", {}))
    setting = {
        "name": "photos",
        "layout": "folder",
        "form": "stored",
        "form_kind": "jpeg",
        "forms": ("stored",),
        "recipe": "rrc(24)",
        "output": {"shape": (3, 24, 24), "dtype": "float32", "layout": "nchw"},
        "batch": 8,
        "seed": 0,
        "order": "shuffled",
        "read_depth": 64,
        "bad": "fail",
        "quarantine": None,
        **changes,
    }
    return Report(Setting(**setting), stats, 1, 2)


def test_its_advice():
    cores = a_report("cores")
    assert 'mr.pack("photos", "packed", forms=["l3"])' in str(cores) and "dtype(u8)" in str(cores)
    assert (mr._core.threads_default() == 1) == ("threads=" not in str(cores))
    assert 'form="l3"' in str(a_report("cores", forms=("jpeg", "l3"), layout="packed"))
    l3 = a_report("cores", form_kind="l3", output={"shape": (1,), "dtype": "uint8", "layout": "nchw"})
    assert "fewer pixels" not in str(l3)
    storage = str(a_report("storage", stats={"read_depth_mean": 60.0}))
    for words in ('mr.pack("photos", "packed")', 'order="windowed"', "read_depth=256"):
        assert words in storage
    assert "faster disk" in str(a_report("storage", layout="packed", order="sequential"))
    assert "keeps up" in str(a_report("consumer")) and "too little" in str(a_report(None))


def test_its_bad_samples():
    assert "3 bad samples, whose places 3 others took (quarantine=" in str(
        a_report("cores", bad="skip", stats={"bad": 3, "substitutes": 3})
    )
    assert "1 bad sample, each a black image now, listed in q.jsonl" in str(
        a_report("cores", bad="replace", quarantine="q.jsonl", stats={"bad": 1})
    )


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (_text.time_text(34.8e-6), "34.8 us"),
        (_text.time_text(68e-9), "68 ns"),
        (_text.time_text(12.0), "12.0 s"),
    ],
)
def test_quantities(made, text):
    assert made == text
