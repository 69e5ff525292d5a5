# SPDX-License-Identifier: Apache-2.0
"""Each allocation of the extension module fails once: MemoryError or the same result, nothing lost, no crash."""

import os
import pathlib
import shutil
import subprocess

import cores
import pytest

TEXT = """
    import ctypes, faulthandler, gc, pathlib, sys
    faulthandler.enable()
    from millrace import _core

    failing = ctypes.CDLL(None)
    failing.failing_watch.argtypes = [ctypes.c_size_t] * 2
    failing.failing_arm.argtypes = [ctypes.c_long]
    failing.failing_fired.restype = ctypes.c_bool
    failing.failing_live.restype = ctypes.c_long
    maps = [line.split() for line in open("/proc/self/maps") if "/_core." in line]
    ends = [int(end, 16) for words in maps for end in words[0].split("-")]

    folder = sys.argv[1]
    jpeg = min(pathlib.Path(folder).rglob("*.jpeg")).read_bytes()
    image = _core.decode(jpeg)
    dataset, recipe = _core.Dataset([folder]), _core.Recipe("rrc(32) flip")

    def cook():
        made = _core.Recipe("rrc(32) flip normalize(imagenet)")
        texts = made.text, made.steps(), made.output(), made.explain(64, 48)
        return texts, made.visible().hash, made.apply(image).tobytes()

    def load():
        loader = _core.Loader(dataset, recipe, batch=4, threads=2, epochs=1, timeout_ns=20 * 10**9)
        found = []
        for _ in range(2):
            batch = loader.next()
            found += [batch.hash(), batch.images[1:].copy().tobytes(), batch.key(1), batch.lists(), batch.mix()]
            found += [memoryview(batch.images).nbytes, batch.soft_labels(9).tobytes()]
            batch.images.__dlpack__()
        state = loader.state()
        return found, state, loader.stats()["batches"]

    def prepare():
        preparer = _core.Preparer(dataset, recipe)
        return [preparer.run(i).tobytes() for i in range(2)]

    works = [
        cook, load, prepare,
        lambda: _core.Dataset([folder], index="none").read(1),
        lambda: (_core.info(jpeg), _core.decode(jpeg, limits={"pixels": 10**6}).tobytes(), _core.row_index(jpeg)),
        lambda: (_core.encode(image, "jpeg"), _core.encode(image, "png"), _core.recode(jpeg, "l3")),
    ]
    for number, work in enumerate(works):
        expected = [work() for _ in range(3)][0]  # what is kept for the next call is there now
        failing.failing_watch(min(ends), max(ends))
        assert work() == expected
        gc.collect()
        before, at, fired = failing.failing_live(), 0, True
        while fired:
            failing.failing_arm(at)
            try:
                result = work()
            except MemoryError:
                result = expected
            fired = failing.failing_fired()
            failing.failing_arm(-1)
            assert result == expected, (number, at)
            at += 1
        assert work() == expected
        del result
        gc.collect()
        assert failing.failing_live() <= before, (number, before, failing.failing_live())
    print("well")
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
@pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="another malloc is preloaded, a sanitizer's perhaps")
@pytest.mark.skipif(os.confstr_names.get("CS_GNU_LIBC_VERSION") is None, reason="malloc is glibc's")
def test_every_allocation_may_fail(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = cores.generate(tmp_path / "set", 12, "--forms=jpeg")
    source, made = pathlib.Path(__file__).parent / "failing.c", tmp_path / "failing.so"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", made, source, "-pthread"], check=True)
    monkeypatch.setenv("LD_PRELOAD", str(made))
    assert cores.run(TEXT, folder) == "well\n"
