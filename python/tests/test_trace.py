# SPDX-License-Identifier: Apache-2.0
"""Policies, simulated machines and what a loader tells of its devices; traces."""

import json
import pathlib

import pytest
from demo import folder

import millrace as mr

MACHINES = pathlib.Path(__file__).parents[2] / "examples" / "hardware"


def fed(epochs=1, **options):
    loader = mr.Loader(folder(), "rrc(24) flip", **{"batch_size": 8, "to": "array", **options})
    for _ in range(epochs):
        for batch in loader:
            del batch
    return loader


def tasks_of(path):
    trace = json.loads(path.read_text(encoding="utf-8"))
    return trace, [event["args"] for event in trace["traceEvents"] if event.get("cat") == "task"]


def test_a_trace_of_the_host(tmp_path):
    loader = fed(2, trace=1000, threads=2)
    loader.write_trace(tmp_path / "trace.json")
    trace, tasks = tasks_of(tmp_path / "trace.json")
    samples = len(loader.dataset)
    first = [task["sample"] for task in tasks if task["epoch"] == 0]
    assert sorted(first) == list(range(samples)) and len(tasks) >= 2 * samples
    assert all(task["key"] and task["reason"] and task["actual_us"] > 0 for task in tasks)
    assert trace["otherData"]["policy"] == "auto" and not trace["otherData"]["simulated"]
    stats = loader.stats()
    assert stats["traced"] >= len(tasks) and stats["forgotten"] == 0  # it works ahead
    assert [device["name"] for device in stats["devices"]] == ["cpu"] and not stats["simulated"]
    assert "policy" in str(loader.report()) and "imulated" not in str(loader.report())


def test_a_short_memory_keeps_the_last(tmp_path):
    loader = fed(2, trace=5)
    loader.write_trace(str(tmp_path / "trace.json"))
    trace, tasks = tasks_of(tmp_path / "trace.json")
    fewest = 2 * len(loader.dataset) - 5
    assert len(tasks) == 5 and loader.stats()["forgotten"] >= trace["otherData"]["forgotten"] >= fewest


def test_what_cannot_be_written(tmp_path):
    with pytest.raises(mr.ArgumentError, match="nothing is remembered"):
        fed().write_trace(tmp_path / "trace.json")
    loader = fed(trace=10)
    with pytest.raises(OSError, match="nowhere.*No such file"):
        loader.write_trace(tmp_path / "nowhere" / "trace.json")
    for wrong in (3, None):
        with pytest.raises(TypeError, match="path"):
            loader.write_trace(wrong)
    loader.write_trace(tmp_path / "trace.json")  # and goes on
    loader.close()
    with pytest.raises(mr.ClosedError):
        loader.write_trace(tmp_path / "trace.json")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"policy": "quick"}, "policy cannot be 'quick'.*auto.*fusion"),
        ({"beside": "always"}, "beside cannot be 'always'.*overlapped"),
        ({"trace": 2**22 + 1}, "trace"),
        ({"trace": -1}, "trace"),
        ({"device": "sim:nowhere.json"}, "nowhere.json"),
    ],
)
def test_what_cannot_be_asked_for(options, words):
    with pytest.raises((mr.Error, ValueError, OSError), match=words):
        fed(**options)


@pytest.mark.parametrize("policy", ["auto", "fusion", "interbatch", "intrabatch", "naive-device"])
def test_a_simulated_machine(tmp_path, policy):
    machine = f"sim:{MACHINES / 'small-node.json'}"
    loader = fed(2, device=machine, policy=policy, beside="overlapped", trace=1000)
    stats = loader.stats()
    assert stats["simulated"] and stats["policy"] == policy and stats["beside"] == "overlapped"
    assert sum(device["samples"] for device in stats["devices"]) >= stats["samples"]
    text, told = str(loader.report()), loader.report().to_dict()
    assert text.startswith("Simulated: ") and "images/s (simulated)" in text and "core-ms" not in text
    assert [device["name"] for device in told["devices"]] == ["cpu", "gpu0"]
    assert "Simulated" in loader.report()._repr_html_()
    assert told["bottleneck"] in ("consumer", "devices", "none")
    loader.write_trace(tmp_path / "trace.json")
    trace, _ = tasks_of(tmp_path / "trace.json")
    assert trace["otherData"]["note"] == "times are of a simulated machine"


def test_mishaps_are_told(tmp_path):
    gpu = {"name": "gpu0", "kind": "accelerator", "speed": 50, "faults": [{"kind": "wrong", "every": 7}]}
    machine = {"name": "odd", "devices": [{"name": "cpu", "kind": "cpu", "speed": 0.1, "lanes": 1}, gpu]}
    (tmp_path / "odd.json").write_text(json.dumps(machine))
    loader = fed(4, device=f"sim:{tmp_path / 'odd.json'}", policy="naive-device")
    devices = {device["name"]: device for device in loader.stats()["devices"]}
    failed = [device for device in devices.values() if device["failures"]]
    assert failed and devices["cpu"]["failures"] == 0
    assert all(d["failures"] == d["gave_back"] + d["late"] + d["damaged"] + d["no_memory"] for d in devices.values())
    assert all(device["mishap"] for device in failed)
    text = " ".join(str(loader.report()).split())
    assert "gave images that were damaged, set aside" in text and "not lost, but prepared again" in text


def test_cores_are_shared_by_name():
    loader = fed(2, share="millrace-python-test", threads=1)
    stats = loader.stats()
    assert stats["cores_lent_seconds"] == 0.0 and stats["cores_borrowed_seconds"] >= 0.0
    with pytest.raises(ValueError, match="share"):
        fed(1, share="no such / name")
