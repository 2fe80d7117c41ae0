"""Faults in the engine's threads."""

import signal
import subprocess
import sys

PROGRAM = """
import ctypes
import mxcy as mx

x = mx.nd.ones(1)
mx.engine.push(lambda: ctypes.string_at(0), [], [x])
x.wait_to_read()
"""


def test_a_fault_in_a_worker_is_reported():
    command = [sys.executable, "-X", "faulthandler", "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == -signal.SIGSEGV
    assert "Segmentation fault" in done.stderr
    assert "string_at" in done.stderr
