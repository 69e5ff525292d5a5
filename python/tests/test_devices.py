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
    with pytest.raises(mr.Error, match="OpenCL"):
        make(device="opencl")
    for device in ("cpu,opencl", "cpu,opencl:0"):
        beside = make(device=device)
        assert bytes_of(beside) == bytes_of(make())
        assert "OpenCL library" in beside.stats()["left_out"]
        assert "  left out  " in str(beside.report())


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


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "no accelerator is here that could have them: name one, as in opencl:0 or cpu,opencl:0"),
        ({"keep": "there"}, "keep cannot be 'there' (one of: host, device)"),
        ({"copy": True, "device": "opencl"}, "copy=True copies them: leave one out"),
    ],
)
def test_what_cannot_be_kept(options, words):
    with pytest.raises(mr.ArgumentError) as caught:
        make(**{"keep": "device", **options})
    assert words in str(caught.value)


@needs_opencl
def test_nobody_mixes_on_a_device():
    with pytest.raises(mr.ArgumentError, match="the recipe mixes them"):
        mr.Loader(folder(), "rrc(24) mixup(0.2)", device="opencl", keep="device")


@needs_opencl
@pytest.mark.parametrize("device", ["opencl", "cpu,opencl"])
def test_batches_that_stay_on_a_device(device):
    there, here = make(device=device, keep="device"), make()
    for batch, plain in zip(there, here, strict=True):
        assert batch.raw.hash() == plain.raw.hash() and plain.device is None and plain.raw.device_data is None
        assert batch.labels.tolist() == plain.labels.tolist()
        assert batch.device["name"].startswith("opencl:") and batch.device["memory"] == batch.raw.device_data
        assert all(isinstance(batch.device[name], int) for name in ("memory", "context", "device", "queue"))
        with pytest.raises(mr.ArgumentError, match="in memory of the device .keep=.device.."):
            batch.images  # noqa: B018
        assert "<table>" in batch._repr_html_()


@needs_opencl
def test_pyopencl_takes_what_stays():
    cl, numpy = pytest.importorskip("pyopencl"), pytest.importorskip("numpy")
    for batch, plain in zip(make(device="opencl", keep="device"), make(pad=True, to="numpy"), strict=True):
        queue = cl.CommandQueue.from_int_ptr(batch.device["queue"])
        buffer = cl.Buffer.from_int_ptr(batch.device["memory"])
        images = numpy.empty(plain.images.shape, plain.images.dtype)
        cl.enqueue_copy(queue, images, buffer)
        assert (images == plain.images).all()


def test_what_is_here(monkeypatch):
    found = mr.devices()
    assert found[0].device == "cpu" and found[0].usable and found[0].why == "" and found[0].units >= 1
    assert found[0].lacks == () and {"jpeg", "png", "l3"} <= set(found[0].decodes)
    assert str(found[0]) == f"cpu: {found[0].name}"
    assert len({one.device for one in found}) == len(found) and all(one.usable == (one.why == "") for one in found)
    with pytest.raises(AttributeError):
        found[0].usable = False
    if has_opencl():
        usable = [one for one in found if one.usable and one.device.startswith("opencl:")]
        assert usable and usable[0].memory_nbytes > 0 and "l3" in usable[0].decodes
        assert all(one.device != "cpu" or not one.is_host for one in usable)
    monkeypatch.setenv("MILLRACE_OPENCL", "/nowhere/libOpenCL.so")
    missing = [one for one in mr.devices() if not one.usable]
    assert missing and "not usable" in str(missing[0]) and missing[0].why


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
    with pytest.raises(mr.ArgumentError, match="tensors are made of the host's memory"):
        of(device="opencl", keep="device")
    plain = torch.cat([images for images, _ in of()])
    for options in ({"prepare_on": "cpu"}, {"prepare_on": "auto", "device": "cpu"}, {"device": "auto"}):
        assert torch.equal(torch.cat([images for images, _ in of(**options)]), plain)
    if has_opencl():
        loader = of(device=["cpu", "opencl:0"])
        assert torch.equal(torch.cat([images for images, _ in loader]), plain)
        assert [one["name"] for one in loader.stats()["devices"]] == ["cpu", "opencl:0"]
        again = pickle.loads(pickle.dumps(loader))
        assert again._options["device"] == "cpu,opencl:0"
