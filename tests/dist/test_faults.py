"""The errors of all processes when one of four fails, and the monitoring ring."""

import os
import socket
import subprocess
import sys
from types import SimpleNamespace

import pytest

from mxcy.dist.worlds.neighbour import Neighbour, identity
from tests.conditions import await_that
from tests.dist.jobs import job, needs_mpi

#: rank 1 does something before its third push
_PROGRAM = """
import os, signal, sys, time
import mxcy as mx
store = mx.kv.create("dist_sync")
store.init("w", mx.nd.zeros(4))
out = mx.nd.zeros(4)
def fail(key, total, stored):
    raise ValueError("of the updater")
for step in range(50):
    if store.rank == 1 and step == 2:
        EVENT
    store.pushpull("w", mx.nd.ones(4), out=out)
    out.wait_to_read()
print(f"\\nthe end of {store.rank}", flush=True)
"""

#: event, part of its message, environment variables
FAULTS = {
    "kill": ("os.kill(os.getpid(), signal.SIGKILL)", "died, in round 3 of key 'w'", {}),
    "crash": ("os.kill(os.getpid(), signal.SIGSEGV)", "died, in round 3 of key 'w'", {}),
    "os._exit": ("os._exit(0)", "died, in round 3 of key 'w'", {}),
    "stop": (
        "os.kill(os.getpid(), signal.SIGSTOP)",
        "has given no sign of life for 2 seconds (PS_HEARTBEAT_TIMEOUT), in round 3 of key 'w'",
        {"PS_HEARTBEAT_INTERVAL": "0.2", "PS_HEARTBEAT_TIMEOUT": "2"},
    ),
    "exception": ("raise RuntimeError('of rank 1')", "RuntimeError: of rank 1", {}),
    "exit code": ("sys.exit(3)", "", {}),
    "early end": ("sys.exit(0)", "left the job in round 3 of key 'w', which it has not", {}),
    "shape": (
        "store.push('w', mx.nd.ones(5))",
        "MXNetError: key w has a value of shape (4,), got (5,)",
        {},
    ),
    "updater": ("store._set_updater(fail)", "key 'w', round 3: ValueError: of the updater", {}),
}
#: events for which the survivors' error names the rank
_NAMED = ("kill", "crash", "os._exit", "stop", "early end")
#: events of every test run, together with test_shutdown.py; `make test-dist` runs all
_USUAL = ("kill",)


@needs_mpi
@pytest.mark.parametrize(
    "name",
    [
        name if name in _USUAL else pytest.param(name, marks=pytest.mark.dist_long)
        for name in FAULTS
    ],
)
def test_one_of_four(name):
    event, said, variables = FAULTS[name]
    done = job(4, _PROGRAM.replace("EVENT", event), timeout=90, **variables)
    assert done.code != 0, done.err
    assert "the end of" not in done.out
    assert said in done.err, done.err
    if name in _NAMED:
        assert f"rank 1 ({socket.gethostname()}) {said}" in done.err
    if name == "exception":  # and no other error hides it
        assert "MXNetError" not in done.err


@needs_mpi
def test_no_shared_memory_is_left():
    """The launcher removes what MPI would have removed at a normal end."""
    code = """
import os, signal
import mxcy as mx
store = mx.kv.create("dist_sync")
store._barrier()
lines = open("/proc/self/maps").read().splitlines()
print("\\n".join(line.split()[-1] for line in lines if "/dev/shm/mpi" in line), flush=True)
store._barrier()
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = job(2, code)
    assert done.code != 0
    assert not any(os.path.exists(path) for path in done.lines), done.lines


def test_a_ring_of_signs_of_life():
    """Heartbeats go to the next process; those missed while this one is stopped do not count."""
    beats = []
    world = SimpleNamespace(rank=0, size=3, hosts="abc", processes=[["", 0]] * 3)
    neighbour = Neighbour(world, beats.append, interval=1, timeout=4)
    assert neighbour.rank == 2
    assert [neighbour.step(now) for now in (10.0, 10.5, 11.0, 12.0)] == [None] * 4
    assert beats == [1, 1, 1]
    neighbour.note_heartbeat(12.5)
    assert [neighbour.step(now) for now in (13.5, 14.5, 15.5, 16.4)] == [None] * 4
    said = "has given no sign of life for 4 seconds (PS_HEARTBEAT_TIMEOUT)"
    assert neighbour.step(16.6) == said
    neighbour.note_heartbeat(20.0)
    assert neighbour.step(21.0) is None
    assert neighbour.step(90.0) is None  # it was stopped itself
    assert [neighbour.step(now) for now in (91.0, 92.5, 94.0)] == [None] * 3
    assert neighbour.step(94.5) == said


def test_without_a_timeout_nobody_counts_as_dead():
    world = SimpleNamespace(rank=0, size=2, hosts="ab", processes=[["", 0]] * 2)
    neighbour = Neighbour(world, pytest.fail, interval=1)
    assert [neighbour.step(now) for now in (1.0, 1000.0, 2000.0)] == [None] * 3


def test_a_process_that_has_ended_is_noticed():
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    own = identity()
    world = SimpleNamespace(rank=0, size=2, hosts="aa", processes=[own, [own[0], other.pid]])
    neighbour = Neighbour(world, pytest.fail)
    try:
        if neighbour._process is None:
            pytest.skip("this system has no pidfd_open")
        assert neighbour.step(1.0) is None
        other.communicate(b"\n", timeout=60)
        moments = iter(range(2, 10**9))
        await_that(lambda: neighbour.step(next(moments)) == "died")
    finally:
        other.kill()
        other.wait()
        neighbour.close()
