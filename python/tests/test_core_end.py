# SPDX-License-Identifier: Apache-2.0
"""The extension module among signals, forks and ends of interpreters."""

import pathlib
import signal
import time

import cores
import pytest


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return cores.generate(tmp_path_factory.mktemp("end") / "set")


HOLD_ALL = """
    import sys, time
    from millrace import _core
    loader = _core.Loader(_core.Dataset([sys.argv[1]]), _core.Recipe("resize(8x8)"), batch=4, threads=1, slots=2)
    held = [loader.next(), loader.next()]
    print("waiting", flush=True)
    try:
        loader.next()
    except KeyboardInterrupt:
        print(time.monotonic(), flush=True)
    held.clear()
    print(loader.next().size)
"""


def test_interrupt_ends_a_wait(folder: str) -> None:
    with cores.program(HOLD_ALL, folder) as child:
        assert child.stdout and child.stdout.readline() == "waiting\n"
        time.sleep(0.3)
        began = time.monotonic()
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=120)
    ended, size = out.split()
    assert float(ended) - began < cores.AT_ONCE, (began, out, err)
    assert child.returncode == 0 and size == "4" and err == ""


def test_interrupt_ends_a_wait_while_other_threads_wait_too(folder: str) -> None:
    text = HOLD_ALL.replace('print("waiting"', "import threading\n" + """
    def other():
        while loader.next() is not None: pass
    threads = [threading.Thread(target=other, daemon=True) for _ in range(3)]
    for t in threads: t.start()
    print("waiting\"""").replace("print(loader.next().size)", "print(4, flush=True); loader.close()")  # fmt: skip
    with cores.program(text, folder) as child:
        assert child.stdout and child.stdout.readline() == "waiting\n"
        time.sleep(0.3)
        began = time.monotonic()
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=120)
    ended, size = out.split()
    assert float(ended) - began < cores.AT_ONCE, (began, out, err)
    assert size == "4"


def test_daemon_threads_may_wait_at_the_end(folder: str) -> None:
    text = """
        import sys, threading, time
        sys.path.insert(0, sys.argv[2])
        import cores
        loader = cores.loader(sys.argv[1], slots=2)
        held = [loader.next(), loader.next()]
        for _ in range(3):
            threading.Thread(target=loader.next, daemon=True).start()
        time.sleep(0.1)
        print("well")
    """
    assert cores.run(text, folder, pathlib.Path(__file__).parent) == "well\n"


def test_views_outlive_the_interpreter(folder: str) -> None:
    """Whatever order things go in at the end, nothing crashes: also a deleter that exit() calls when Python is gone."""
    text = """
        import ctypes, sys
        sys.path.insert(0, sys.argv[2])
        import cores, numpy
        from millrace import _core
        loader = cores.loader(sys.argv[1], slots=6)
        a, b, c = loader.next(), loader.next(), loader.next()
        kept = [numpy.asarray(a.images), numpy.from_dlpack(b.images), c.images, c.images.__dlpack__()]
        sys.modules["kept for ever"] = kept
        sys.kept = memoryview(b.labels)
        deleter, inside = cores.consume(loader.next().images.__dlpack__(max_version=(1, 0)))
        address = ctypes.cast(deleter, ctypes.c_void_p)
        ctypes.CDLL(None).__cxa_atexit(address, ctypes.c_void_p(inside), None)
        print(loader.held)
    """
    assert cores.run(text, folder, pathlib.Path(__file__).parent) == "4\n"


def test_torch_views_outlive_the_interpreter(folder: str) -> None:
    pytest.importorskip("torch")
    text = """
        import sys, torch
        sys.path.insert(0, sys.argv[2])
        import cores
        loader = cores.loader(sys.argv[1], slots=6)
        torch.kept = [loader.next().images.torch(), loader.next().labels.torch()[1:]]
        print(loader.held)
    """
    assert cores.run(text, folder, pathlib.Path(__file__).parent) == "2\n"


def test_interpreters_that_nobody_ends_do_not_hang(folder: str) -> None:
    """Python ends them on its way out, where who releases the GIL does not get it back."""
    pytest.importorskip("_xxsubinterpreters")
    text = """
        import _xxsubinterpreters, sys
        one = _xxsubinterpreters.create()
        _xxsubinterpreters.run_string(one, f'''
        import sys
        sys.path[:0] = {sys.path + [sys.argv[2]]!r}
        from millrace import _core
        loader = _core.Loader(_core.Dataset([{sys.argv[1]!r}]), _core.Recipe("resize(32x32)"), batch=4, threads=2)
        batch = loader.next()
        other = _core.Loader(_core.Dataset([{sys.argv[1]!r}]), _core.Recipe("resize(32x32)"), batch=4, threads=2)
        view = other.next().images
        '''.replace(chr(10) + " " * 8, chr(10)))
        print("well", flush=True)
    """
    with cores.program(text, folder, pathlib.Path(__file__).parent) as child:
        try:
            out, err = child.communicate(timeout=120)
        finally:
            child.kill()
    assert (child.returncode, out, err) == (0, "well\n", "")


@cores.unsanitized("GCC's AddressSanitizer forks with its allocator locked, if another thread is just using it")
def test_forked_children_are_refused_and_harmless(folder: str) -> None:
    text = """
        import gc, os, sys
        sys.path.insert(0, sys.argv[2])
        import cores
        from millrace import _core
        loader = cores.loader(sys.argv[1], threads=2, slots=4)
        batch = loader.next()
        view, labels = memoryview(batch.images), batch.labels.tolist()
        child = os.fork()
        if child == 0:
            asked = [lambda: loader.restore("{}"), lambda: loader.batches, batch.hash, batch.lists, batch.mix]
            asked += [lambda: batch.key(0), lambda: batch.label(0), lambda: batch.targets(0)]
            for call in [loader.next, loader.state, loader.stats, lambda: batch.soft_labels(4), *asked]:
                try:
                    call()
                except _core.ForkedError as error:
                    assert "fork" in str(error) and error.code == "MR_EFORKED", error
                else:
                    print("not refused", call)
            sum(view.tobytes())
            assert batch.labels.tolist() == labels and loader.held == 1
            del batch, view
            loader.stop()
            loader.close()
            gc.collect()
            again = cores.loader(sys.argv[1])
            assert again.next().size == 4
            sys.exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert loader.next().size == 4
        print("well")
    """
    assert cores.run(text, folder, pathlib.Path(__file__).parent) == "well\n"


def test_a_fork_while_another_thread_waits(folder: str) -> None:
    text = """
        import os, sys, threading, time
        sys.path.insert(0, sys.argv[2])
        import cores
        from millrace import _core
        loader = cores.loader(sys.argv[1], slots=2)
        held = [loader.next(), loader.next()]
        thread = threading.Thread(target=loader.next)
        thread.start()
        time.sleep(0.12)  # between two looks for signals, 50 ms apart: so it has the turn
        child = os.fork()
        if child == 0:
            for call in [loader.next, lambda: loader.restore("{}")]:
                try:
                    call()
                except _core.ForkedError:
                    print("refused", flush=True)
            held.clear()
            del loader
            os._exit(0)
        os.waitpid(child, 0)
        held.clear()
        thread.join()
        print("well")
    """
    assert cores.run(text, folder, pathlib.Path(__file__).parent) == "refused\nrefused\nwell\n"


@cores.unsanitized("GCC's AddressSanitizer forks with its allocator locked, if another thread is just using it")
def test_a_preparer_is_its_processs(folder: str) -> None:
    """A thread of the parent may be in the midst of a run: half of it would be the child's."""
    text = """
        import os, sys, threading
        from millrace import _core
        dataset, recipe = _core.Dataset([sys.argv[1]]), _core.Recipe("rrc(32)")
        preparer = _core.Preparer(dataset, recipe)
        def run():
            while going:
                preparer.run(3)
        going = True
        thread = threading.Thread(target=run)
        thread.start()
        for _ in range(10):
            child = os.fork()
            if child == 0:
                into = bytearray(32 * 32 * 3)
                for call in [lambda: preparer.run(2), lambda: preparer.run_into(2, into), preparer.targets]:
                    try:
                        call()
                    except _core.ForkedError as error:
                        assert "fork" in str(error)
                    else:
                        os._exit(2)
                del preparer, call
                _core.Preparer(dataset, recipe).run(2)
                os._exit(0)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        going = False
        thread.join()
        print("well")
    """
    assert cores.run(text, folder) == "well\n"
