"""How jobs end when one of their processes ends early, fails, or hangs."""

import pytest

from tests.dist.jobs import job, needs_mpi

#: rank 1 does something in the third step; the others would wait for it
_PROGRAM = r"""
import os, signal, sys, time
import mxcy as mx
def steps(event):
    store = mx.kv.create("dist_sync")
    store.init("w", mx.nd.zeros(4))
    out = mx.nd.zeros(4)
    for step in range(5):
        if store.rank == 1 and step == 2:
            event(store)
        store.push("w", mx.nd.ones(4))
        store.pull("w", out)
        out.wait_to_read()
    print(f"\nrank {store.rank} is done {out.asnumpy()[0]}", flush=True)
"""


def ended(event, ranks=3, **settings):
    return job(ranks, _PROGRAM + event, timeout=40, **settings)


@needs_mpi
def test_uncaught_exception():
    done = ended("def event(store): raise RuntimeError('of rank 1')\nsteps(event)")
    assert done.code != 0 and "is done" not in done.out
    assert "RuntimeError: of rank 1" in done.err


@needs_mpi
def test_early_exit():
    done = ended("def event(store): sys.exit(0)\nsteps(event)")
    assert done.code != 0 and "is done" not in done.out
    assert "left the job in round 3 of key 'w', which it has not pushed" in done.err
    assert "rank 1 (" in done.err


@needs_mpi
@pytest.mark.dist_long
def test_a_worker_without_a_store():
    done = job(2, _PROGRAM + "os.environ['DMLC_WORKER_ID'] == '0' and steps(None)", timeout=40)
    assert done.code != 0
    assert "left the job before init of key 'w'" in done.err


@needs_mpi
@pytest.mark.dist_long
@pytest.mark.parametrize(
    "event",
    [
        "sys.exit(3)",
        "os._exit(3)",
        "os._exit(0)",
        "os.kill(os.getpid(), signal.SIGKILL)",
        "os.kill(os.getpid(), signal.SIGSEGV)",
    ],
)
def test_exit_with_an_error_code(event):
    done = ended(f"def event(store): {event}\nsteps(event)")
    assert done.code != 0 and "is done" not in done.out


@needs_mpi
@pytest.mark.parametrize("kind", ["dist_sync", "dist_async"])
def test_errors_of_all_workers_while_much_is_under_way(kind):
    """The others' engines wait for messages that never come; they end nevertheless."""
    done = job(
        2,
        f"""
import mxcy as mx
store = mx.kv.create("{kind}")
store.init("w", mx.nd.zeros(500000))
store.set_optimizer(mx.optimizer.SGD())
out = mx.nd.zeros(500000)
for _ in range(10):
    store.pushpull("w", mx.nd.ones(500000), out=out)
raise ValueError("of the program")
""",
        timeout=100,
    )
    assert done.code != 0 and "ValueError: of the program" in done.err


@needs_mpi
@pytest.mark.dist_long
def test_caught_exit_is_no_failure():
    done = ended(
        "def event(store):\n try: sys.exit(3)\n except SystemExit: pass\nsteps(event)", servers=1
    )
    assert done.code == 0, done.err
    assert done.lines == [f"rank {rank} is done 3.0" for rank in range(3)]


@needs_mpi
def test_a_stopped_worker():
    done = ended(
        "def event(store): os.kill(os.getpid(), signal.SIGSTOP)\nsteps(event)",
        MXCY_DIST_TIMEOUT="1",
    )
    assert done.code != 0
    assert "waited 1 seconds (MXCY_DIST_TIMEOUT) for round 3 of key 'w': rank 1" in done.err
    assert "does not answer" in done.err


@needs_mpi
@pytest.mark.dist_long
def test_late_and_slow_workers():
    done = ended(
        "time.sleep(1.0 * (os.environ['DMLC_WORKER_ID'] == '2'))\n"
        "def event(store): time.sleep(1)\nsteps(event)"
    )
    assert done.code == 0, done.err
    assert done.lines == [f"rank {rank} is done 3.0" for rank in range(3)]


@needs_mpi
@pytest.mark.dist_long
def test_different_shapes():
    done = job(
        2,
        "import mxcy as mx\nstore = mx.kv.create('dist')\n"
        "store.init(3, mx.nd.zeros(store.rank + 1))",
        timeout=40,
    )
    assert done.code != 0
    assert (
        "rank 0 initializes key 3 of shape (1,) and dtype float32, rank 1 key 3 of shape (2,)"
        in (done.err)
    )


@needs_mpi
@pytest.mark.dist_long
def test_a_failing_updater():
    done = ended(
        "def event(store):\n"
        " def fail(key, total, stored): raise ValueError('of the updater')\n"
        " store._set_updater(fail)\n"
        "steps(event)"
    )
    assert done.code != 0
    assert "key 'w', round 3: ValueError: of the updater" in done.err
