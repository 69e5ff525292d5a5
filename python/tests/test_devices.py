# SPDX-License-Identifier: Apache-2.0
"""Who prepares: devices by name, one or several; what is said of those that cannot be had."""

import pickle

import pytest
from demo import folder

import millrace as mr


def make(**options):
    return mr.Loader(folder(), "rrc(24) flip", **{"batch_size": 8, "to": "array", **options})


def bytes_of(loader):
    return b"".join(batch.images.tobytes() for batch in loader)


def has_opencl():
    try:
        make(device="opencl").close()
    except mr.Error:
        return False
    return True


needs_opencl = pytest.mark.skipif(not has_opencl(), reason="no OpenCL device can be used here")


@pytest.mark.parametrize(
    ("device", "words"),
    [
        ("opncl", 'there is no device "opncl": do you mean opencl?'),
        ("gpu", 'there is no device "gpu": do you mean opencl?'),
        ("", "the device has no name: cpu is the host"),
        (["cpu", ""], "a device of the list has no name"),
        (["cpu", "cpu"], "the device cpu is named twice"),
        (("opencl:1", "cpu", "opencl:1"), "the device opencl:1 is named twice"),
        ("cpu,opencl:x", "behind the colon stands its number, from 0 on"),
        (["cpu", "sim"], '"sim" in a list: what is simulated has devices and a time of its own, and is named alone'),
        ("auto,cpu", "auto is the host with every accelerator: it is named alone"),
        ([f"opencl:{i}" for i in range(9)], "more than 8 devices are named"),
        ([], "names nobody"),
    ],
)
def test_names_that_are_none(device, words):
    with pytest.raises(mr.ArgumentError) as caught:
        make(device=device)
    assert words in str(caught.value)


@pytest.mark.parametrize("device", [3, [3], ["cpu", None], b"cpu", {"cpu": 1}, 0.5])
def test_what_is_no_name(device):
    with pytest.raises(TypeError, match="device=.* is neither a text, as .cpu,opencl:0., nor a list of them"):
        make(device=device)


@pytest.mark.parametrize("memory", ["much", -1, True])
def test_memory_that_is_none(memory):
    with pytest.raises((mr.ArgumentError, TypeError), match="device_memory"):
        make(device_memory=memory)


def test_without_a_library(monkeypatch):
    monkeypatch.setenv("MILLRACE_OPENCL", "/nowhere/libOpenCL.so")
    alone = make(device="auto")
    assert bytes_of(alone) == bytes_of(make()) and alone.stats()["devices"] == []
    for device in ("opencl", "cpu,opencl:0"):
        with pytest.raises(mr.Error, match="OpenCL"):
            make(device=device)


def test_a_budget_of_a_simulated_device(tmp_path):
    machine = tmp_path / "machine.json"
    machine.write_text(
        '{"devices": [{"name": "cpu", "lanes": 2}, {"name": "big", "kind": "accelerator", "memory_mb": 500}]}'
    )
    loader = make(device=f"sim:{machine}", device_memory=1000, policy="naive-device")
    assert bytes_of(loader) == bytes_of(make())
    assert [device["samples"] > 0 for device in loader.stats()["devices"]] == [True, False]
    assert make(device_memory="2MB")._options["device_memory_nbytes"] == 2_000_000


@needs_opencl
@pytest.mark.parametrize("device", ["opencl", "cpu,opencl", ["cpu", "opencl:0"], ("opencl:0",), "auto"])
def test_the_same_bytes(device):
    loader = make(device=device, device_memory="64MB")
    assert bytes_of(loader) == bytes_of(make())
    names = [one["name"] for one in loader.stats()["devices"]]
    if device != "auto":
        assert [name.split(":")[0] for name in names] == (["cpu", "opencl"] if "cpu" in str(device) else ["opencl"])
        assert names[-1] in str(loader.report())
    again = pickle.loads(pickle.dumps(loader))
    again.set_epoch(0)
    assert bytes_of(again) == bytes_of(make())


@needs_opencl
def test_an_accelerator_alone_is_in_the_report():
    loader = make(device="opencl:0")
    bytes_of(loader)
    assert "on opencl:0" in str(loader.report()).splitlines()[0]
    assert loader.stats()["devices"][0]["samples"] >= len(loader.dataset)


def test_torch():
    torch = pytest.importorskip("torch")

    def of(**options):
        return mr.torch.Loader(folder(), "rrc(24) flip", batch_size=8, copy=True, **options)

    with pytest.raises(mr.ArgumentError, match="both say who prepares"):
        of(device="cpu,opencl:0", prepare_on="cpu")
    with pytest.raises(mr.ArgumentError, match="do you mean opencl"):
        of(prepare_on=["cpu", "opencll"])
    with pytest.raises(TypeError, match="prepare_on=.* is neither a text"):
        of(prepare_on=3)
    plain = torch.cat([images for images, _ in of()])
    for options in ({"prepare_on": "cpu"}, {"prepare_on": "auto", "device": "cpu"}, {"device": "auto"}):
        assert torch.equal(torch.cat([images for images, _ in of(**options)]), plain)
    if has_opencl():
        loader = of(device=["cpu", "opencl:0"])
        assert torch.equal(torch.cat([images for images, _ in loader]), plain)
        assert [one["name"] for one in loader.stats()["devices"]] == ["cpu", "opencl:0"]
        again = pickle.loads(pickle.dumps(loader))
        assert again._options["device"] == "cpu,opencl:0"
