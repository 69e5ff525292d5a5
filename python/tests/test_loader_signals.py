# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C and handlers of other signals, while a loader is waited for."""

import os
import signal
import subprocess
import sys
import threading
import time

import cores
import pytest
from demo import folder, make

import millrace as mr


def test_ctrl_c_ends_a_wait():
    code = f"""
import sys, time, threading, signal, os
sys.path.insert(0, {os.path.dirname(__file__)!r})
import millrace as mr
loader = mr.Loader({str(folder())!r}, "rrc(24)", batch_size=8, slots=2, to="array")
batches = iter(loader)
held = [next(batches), next(batches)]
threading.Timer(0.5, lambda: (globals().update(at=time.monotonic()), os.kill(os.getpid(), signal.SIGINT))).start()
try:
    next(batches)
except KeyboardInterrupt:
    took = time.monotonic() - at
held.clear()
print(took < {cores.AT_ONCE}, next(batches).number)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["True", "2"], done.stderr


def test_ctrl_c_does_not_wait_for_other_threads():
    code = f"""
import sys, time, threading, signal, os
import millrace as mr
loader = mr.Loader({str(folder())!r}, "rrc(24)", batch_size=8, slots=2, timeout={cores.AT_ONCE * 2}, to="array")
batches = iter(loader)
held = [next(batches), next(batches)]
threading.Thread(target=lambda: next(batches), daemon=True).start()
time.sleep(0.2)
threading.Timer(0.5, lambda: (globals().update(at=time.monotonic()), os.kill(os.getpid(), signal.SIGINT))).start()
try:
    next(batches)
except KeyboardInterrupt:
    took = time.monotonic() - at
print(took < {cores.AT_ONCE}, flush=True)
os._exit(0)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["True"], done.stderr


def test_ctrl_c_behind_a_batch_does_not_wait_for_other_threads(monkeypatch):
    """The other thread has the lock, and waits for the next."""
    loader = make(slots=2, timeout=cores.AT_ONCE * 2)
    batches, held = iter(loader), []
    held.append(next(batches))
    waiter = threading.Thread(target=lambda: pytest.raises(mr.ClosedError, next, batches))

    def fail(raw):
        held.append(raw)
        monkeypatch.undo()
        waiter.start()
        while not loader._inside:
            time.sleep(0.001)
        raise KeyboardInterrupt

    monkeypatch.setattr(loader, "_after_next", fail)
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        next(batches)
    assert time.monotonic() - begun < cores.AT_ONCE
    loader.close()
    waiter.join()


@pytest.mark.parametrize("asked", ["iter()", "load_state_dict()", "next()"])
def test_a_signals_handler_inside_of_a_batch_is_told(asked):
    loader = make(slots=2)
    batches, came, said = iter(loader), [], []
    held = [next(batches), next(batches)]
    state = loader.state_dict()
    calls = {
        "iter()": lambda: iter(loader),
        "load_state_dict()": lambda: loader.load_state_dict(state),
        "next()": lambda: next(batches),
    }

    def handle(_signal, _frame):
        came.append(asked)
        assert len(came) == 1, "it waits for its own thread"
        with pytest.raises(RuntimeError) as caught:
            calls[asked]()
        said.append(str(caught.value))
        held.clear()

    before = signal.signal(signal.SIGALRM, handle)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3, cores.AT_ONCE)
        assert next(batches).number == 2  # as if nothing had been
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(said) == 1 and said[0].startswith(f"{asked} in a signal's handler")
    calls[asked]()
