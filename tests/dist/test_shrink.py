"""Jobs that continue when workers die; most tests need Open MPI and are skipped elsewhere."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from mxcy.tools import launch
from tests.dist.jobs import job, needs_mpi

_MPIEXEC = Path(sys.executable).parent / "mpiexec"


def _has_open_mpi():
    if importlib.util.find_spec("mpi4py") is None or not _MPIEXEC.exists():
        return False
    done = subprocess.run([str(_MPIEXEC), "--version"], capture_output=True, text=True, timeout=60)
    return "open mpi" in done.stdout.lower()


def needs_open_mpi(test):
    missing = not _has_open_mpi()
    return needs_mpi(pytest.mark.skipif(missing, reason="this takes Open MPI: mxcy[dist-ft]")(test))


#: rank 1 does something before its third round of three keys, in two buckets
_PROGRAM = """
import os, signal, sys, time
import mxcy as mx
store = mx.kv.create("dist_sync")
changes = []
store.on_change(lambda old, new: changes.append((old, new)))
keys = ["a", "b", "c"]
store.init(keys, [mx.nd.zeros(length) for length in (3, 2, 3000)])
outs = [mx.nd.zeros(length) for length in (3, 2, 3000)]
seen = []
for step in range(30):
    if store.rank == 1 and step == 2 and store.num_workers == 4:
        EVENT
    store.pushpull(keys, [mx.nd.ones(length) for length in (3, 2, 3000)], out=outs)
    seen.append([out.asnumpy()[0] for out in outs])
assert seen[:2] == [[4, 4, 4]] * 2, seen
assert all(total in (4, LAST) for step in seen for total in step), seen
assert seen[-20:] == [[LAST] * 3] * 20, seen
print(f"\\nend {store.rank} {store.num_workers} {changes}", flush=True)
"""
_EVENTS = {
    "kill": "os.kill(os.getpid(), signal.SIGKILL)",
    "exception": "raise RuntimeError('of rank 1')",
    "_exit": "os._exit(0)",
    "stop": "os.kill(os.getpid(), signal.SIGSTOP)",
}


def shrunk(event, least, last=3, **variables):
    program = _PROGRAM.replace("EVENT", _EVENTS[event]).replace("LAST", str(last))
    options = ("--min-workers", str(least))
    return job(
        4, program, *options, servers=0, timeout=100, MXCY_DIST_BUCKET_BYTES="100", **variables
    )


@needs_open_mpi
@pytest.mark.parametrize("event", [*_EVENTS])
def test_a_killed_worker(event):
    timeout = {"PS_HEARTBEAT_TIMEOUT": "3"} if event == "stop" else {}
    done = shrunk(event, 3, **timeout)
    assert done.code == 0, done.err
    ends = [line for line in done.lines if line.startswith("end")]
    assert ends == [f"end {rank} 3 [(4, 3)]" for rank in range(3)], done.out + done.err
    assert "ended without a goodbye: rank 1" in done.err


#: rank 1 dies; momentum shows in the weights, exactly, whoever held its states
_UPDATED = """
import os, signal, threading
import mxcy as mx, numpy as np
store = mx.kv.create("dist_sync")
keys, lengths = ["a", "b"], (50_000, 30_000)
store.init(keys, [mx.nd.zeros(length) for length in lengths])
store.set_optimizer(mx.optimizer.SGD(learning_rate=0.5, momentum=0.5))
outs = [mx.nd.zeros(length) for length in lengths]
weights, momenta = ([np.zeros(length, "float32") for length in lengths] for _ in range(2))
sizes = (4, 3)
for step in range(12):
    if store.rank == 1 and step == 3 and store.num_workers == 4:
        threading.Timer(SECONDS, os.kill, (os.getpid(), signal.SIGKILL)).start()
    gradients = [(np.arange(length) % 5 + step % 3).astype("float32") for length in lengths]
    store.pushpull(keys, [mx.nd.array(gradient) for gradient in gradients], out=outs)
    for i, (gradient, out) in enumerate(zip(gradients, outs)):
        known = [momenta[i] * 0.5 - gradient * size * 0.5 for size in sizes]
        right = [np.array_equal(weights[i] + after, out.asnumpy()) for after in known]
        assert any(right), (step, keys[i], out.asnumpy()[:5])
        sizes = sizes[right.index(True):] if i else sizes
        momenta[i] = known[right.index(True)]
        weights[i] += momenta[i]
    while step == 8 and store.num_workers == 4 and store.rank == 1:
        pass  # until it is dead
assert sizes == (3,) and "a" not in store._updater.states
print(f"\\nend {store.rank} {store.num_workers}", flush=True)
"""


@needs_open_mpi
@pytest.mark.parametrize("seconds", [0, 0.002, 0.01])
def test_states_of_a_killed_worker(seconds):
    code = _UPDATED.replace("SECONDS", str(seconds))
    done = job(4, code, "--min-workers", "3", timeout=100, MXCY_DIST_BUCKET_BYTES="100000")
    assert done.code == 0, done.err
    assert done.lines == [f"end {rank} 3" for rank in range(3)], done.out + done.err


@needs_open_mpi
def test_nobody_dies():
    done = job(2, "import mxcy as mx; mx.kv.create('dist_sync')", "--min-workers", "1")
    assert done.code == 0 and "goodbye" not in done.err
    done = job(2, "1 / 0", "--min-workers", "1")
    assert done.code != 0 and "ZeroDivisionError" in done.err


@needs_open_mpi
def test_scale():
    done = shrunk("kill", 2, last=4, MXCY_ELASTIC_SCALE="1")
    assert done.code == 0, done.err


@needs_open_mpi
def test_too_few():
    done = shrunk("kill", 4)
    assert done.code != 0
    assert "died; 3 workers are left, and --min-workers is 4" in done.err


def test_options(capsys):
    options = launch.parse(["-n", "4", "--min-workers", "3", "x"])
    assert options.num_servers == 0
    line = launch.job_line(options, "mpiexec", "openmpi")
    assert "--with-ft" in line and "MXCY_DIST_MIN_WORKERS=3" in line
    with pytest.raises(SystemExit):
        launch.parse(["-n", "4", "-s", "1", "--min-workers", "3", "x"])
    assert "use -s 0" in capsys.readouterr().err
