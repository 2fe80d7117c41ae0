"""OpenMP teams of the threads that call operators."""

import subprocess
import sys

import pytest

import mxcy as mx

PROGRAM = """
from pathlib import Path
import mxcy as mx

def own():
    "Threads that the main thread started, which have its name."
    names = [path.read_text() for path in Path("/proc/self/task").glob("*/comm")]
    return names.count(Path("/proc/self/comm").read_text())

net = mx.gluon.nn.HybridSequential()
for _ in range(10):
    net.add(mx.gluon.nn.Dense(512, in_units=512))
net.initialize()
net.hybridize(static_alloc=True, static_shape=True)
data = mx.nd.ones((1024, 512))  # too much for the calling thread
net(data).wait_to_read()
before = own()
for power in range(12, 24):
    (mx.nd.ones(2**power) * 2).wait_to_read()
    if own() > before:
        break
started = own() - before
net(data).wait_to_read()
print(started, own() - before)
"""


@pytest.mark.skipif(mx.runtime.threads()["team"] != 2, reason="needs a team of two")
def test_plans_end_the_team_of_their_caller():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=True
    )
    # Otherwise two idle teams have more threads than there are CPUs, and sleep at once.
    assert done.stdout.split() == ["1", "0"]
