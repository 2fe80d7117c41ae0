"""Several processes on each of several machines: network namespaces, which need root."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mxcy.dist.worlds.machines import levels_of
from tests.dist.jobs import needs_mpi

_HOSTS = Path(__file__).parents[2] / "benchmarks" / "dist" / "two_hosts.py"
_PROGRAM = """
import json
import mxcy as mx
store = mx.kv.create("dist_sync")
values = [mx.nd.full(length, store.rank + 1) for length in (300_001, 3)]
store.init([0, 1], values)
for _ in range(2):
    store.pushpull([0, 1], values)
levels = store.handle.progress.world.levels
ends = [value.asnumpy()[[0, -1]].tolist() for value in values]
print("\\n" + json.dumps([store.rank, levels, *ends]), flush=True)
"""


def _namespaces():
    if os.geteuid() != 0 or shutil.which("ip") is None or shutil.which("tc") is None:
        return False
    name = f"mxtry{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, timeout=30)
    if made.returncode == 0:
        subprocess.run(["ip", "netns", "del", name], check=True, timeout=30)
    return made.returncode == 0


def test_levels():
    assert levels_of(3, ["a", "a", "b", "b"]) == (1, 1)
    assert levels_of(1, ["a", "b", "a", "b"]) == (1, 0)
    for hosts in (["a", "a"], ["a", "b"], ["a", "a", "b"]):
        assert levels_of(0, hosts) is None


@needs_mpi
@pytest.mark.dist_long
def test_two_hosts():
    if not _namespaces():
        pytest.skip("network namespaces need root, ip and tc")
    line = [sys.executable, str(_HOSTS), "-n", "4", "--timeout", "60"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [*line, sys.executable, "-c", _PROGRAM],
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    told = sorted(json.loads(line) for line in done.stdout.splitlines() if line.startswith("["))
    assert [(rank, levels) for rank, levels, *_ in told] == [
        (0, [0, 0]),
        (1, [0, 1]),
        (2, [1, 0]),
        (3, [1, 1]),
    ]
    assert all(sums == [[40, 40], [40, 40]] for _, _, *sums in told)
