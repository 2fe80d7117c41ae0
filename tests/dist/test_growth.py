"""Jobs in which workers join while they run."""

import subprocess
import sys
import threading

import pytest

from mxcy.tools import jobs, launch
from tests.conditions import await_that
from tests.dist.jobs import job, needs_mpi, start
from tests.dist.test_shrink import needs_open_mpi

#: a step's whole batch is divided among the current workers; `STEPS` steps give the same
#: weights as a single worker, whenever workers join
_PROGRAM = r"""
import json, os, signal, sys, time
import mxcy as mx, numpy as np
from mxcy import autograd, gluon
STEPS, BATCH = 20, 24
store = mx.kv.create("dist_sync")
changes = []
store.on_change(lambda old, new: changes.append((old, new)))
draw = np.random.RandomState(0)
inputs = draw.randn(STEPS, BATCH, 10).astype("float32")
labels = draw.randint(0, 3, (STEPS, BATCH)).astype("float32")

def train(store, tell=lambda step: None):
    mx.random.seed(3 if store is None else 100 + store.joined_at)
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(WIDTH, activation="relu", in_units=10))
    net.add(gluon.nn.Dense(3, in_units=WIDTH))
    net.initialize(mx.init.Xavier())
    if store is None or not store.joined_at:
        mx.random.seed(3)
        net.initialize(mx.init.Xavier(), force_reinit=True)
    net.hybridize()
    settings = {"learning_rate": 0.02, "wd": 0.01, **SETTINGS}
    trainer = gluon.Trainer(net.collect_params(), OPTIMIZER, settings, kvstore=store)
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    for step in range(store.joined_at if store else 0, STEPS):
        rank, size = (store.rank, store.num_workers) if store else (0, 1)
        share = slice(rank * BATCH // size, (rank + 1) * BATCH // size)
        with autograd.record():
            error = loss(net(mx.nd.array(inputs[step][share])), mx.nd.array(labels[step][share]))
        error.backward()
        trainer.step(BATCH)
        tell(step)
    return [p.data().asnumpy() for p in net.collect_params().values()]

def wait_for(size):
    # until there are so many workers, or will be after the next step
    while store.num_workers < size and not store.handle.progress.admission.awaits:
        time.sleep(0.01)
"""
_END = r"""
shared, alone = train(store, tell), train(None)
for a, b in zip(shared, alone):
    np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
print(f"\nend {store.rank} {store.num_workers} {changes} {store.is_recovery}", flush=True)
"""


def _run(process, work):
    """Run a job to its end, with an action in between."""
    try:
        thread = threading.Thread(target=work)
        thread.start()
        out, err = process.communicate(timeout=120)
        thread.join()
    finally:
        if process.poll() is None:
            process.terminate()
            process.communicate(timeout=10)
    return process.returncode, sorted(filter(None, out.splitlines())), err


def _ask(process, *counts):
    """Have workers join a running job; returns the message if they could not."""
    await_that(lambda: jobs.running().get(process.pid))
    for count in counts:
        line = [sys.executable, "-m", "mxcy.tools.launch", "--join", str(process.pid)]
        done = subprocess.run(
            [*line, "-n", str(count)], capture_output=True, text=True, timeout=100
        )
        _said.append((done.returncode, done.stderr))


_said = []
#: with an epsilon above tiny gradients, since these depend on the order of additions
_SETTINGS = {"adam": {"epsilon": 1e-2}, "sgd": {"momentum": 0.9}, "lamb": {}}


def _program(optimizer, width, tell, end=_END):
    code = _PROGRAM.replace("OPTIMIZER", repr(optimizer)).replace("WIDTH", str(width))
    return code.replace("SETTINGS", repr(_SETTINGS[optimizer])) + tell + end


#: of two joins, one after the other
_TWICE = r"""
def tell(step):
    if step == 3:
        wait_for(3)
    if step == 9:
        wait_for(4)
"""


@needs_mpi
@pytest.mark.parametrize(
    ("optimizer", "width"),
    [
        ("adam", 3000),  # whose states are divided among the workers
        pytest.param("sgd", 16, marks=pytest.mark.dist_long),
        pytest.param("lamb", 16, marks=pytest.mark.dist_long),
    ],
)
def test_somebody_asks(optimizer, width):
    process = start(2, _program(optimizer, width, _TWICE))
    _said.clear()
    code, lines, err = _run(process, lambda: _ask(process, 1, 1))
    assert code == 0, err
    assert _said == [(0, "")] * 2
    told = ["[(2, 3), (3, 4)] False"] * 2 + ["[(3, 4)] True", "[] True"]
    assert lines == [f"end {rank} 4 {each}" for rank, each in enumerate(told)], err


#: all workers have the same weights, and so do new stores
_ALIKE = r"""
other = mx.kv.create("dist_sync")
sums = mx.nd.array([float(np.abs(array).sum()) for array in shared])
mine = sums.asnumpy()
other.init("sums", sums)
other.pushpull("sums", sums)
np.testing.assert_allclose(sums.asnumpy() / store.num_workers, mine, rtol=1e-6)
print(f"\nend {store.rank} {store.num_workers} {changes}", flush=True)
"""
_MODULE = r"""
class Batches:
    batch_size, step = 12, store.joined_at
    provide_data = [mx.io.DataDesc("data", (12, 10))]
    provide_label = [mx.io.DataDesc("softmax_label", (12,))]
    def reset(self):
        pass
    def __iter__(self):
        while self.step < STEPS:
            tell(self.step)
            draw = np.random.RandomState(self.step * 10 + store.rank)
            self.step += 1
            content = [mx.nd.array(draw.randn(12, 10))], [mx.nd.array(draw.randint(0, 3, 12))]
            yield mx.io.DataBatch(*content, pad=0)
data = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc")
mx.random.seed(store.rank)
module = mx.mod.Module(mx.sym.SoftmaxOutput(data, name="softmax"))
settings = {"learning_rate": 0.1, "momentum": 0.9}
initializer = mx.init.Uniform(0.5)
module.fit(
    Batches(), num_epoch=1, kvstore=store, optimizer_params=settings, initializer=initializer
)
shared = [array.asnumpy() for _, array in sorted(module.get_params()[0].items())]
"""
_KEPT = """kept = mx.kv.checkpoint(store, net, trainer, FOLDER, every=6)
    assert kept.step == store.joined_at
    loss"""


@needs_mpi
@pytest.mark.dist_long
@pytest.mark.parametrize("what", ["bits", "checkpoint", "module"])
def test_what_else_goes_on(what, tmp_path):
    end = (_MODULE if what == "module" else "shared = train(store, tell)") + _ALIKE
    code = _program("sgd", 16, _TWICE, end)
    if what == "bits":
        bits = {"type": "2bit", "threshold": 0.01}
        code = code.replace("kvstore=store)", f"kvstore=store, compression_params={bits})")
    if what == "checkpoint":
        code = code.replace("loss", _KEPT.replace("FOLDER", repr(str(tmp_path))), 1)
        code = code.replace("tell(step)\n", "kept.done(step); tell(step)\n", 1)
    process = start(2, code)
    _said.clear()
    code, lines, err = _run(process, lambda: _ask(process, 1, 1))
    assert (code, _said) == (0, [(0, "")] * 2), err
    told = ["[(2, 3), (3, 4)]"] * 2 + ["[(3, 4)]", "[]"]
    assert lines == [f"end {rank} 4 {each}" for rank, each in enumerate(told)], err
    assert what != "checkpoint" or (tmp_path / "step-18.params").exists()


_REFUSED = r"""
store = mx.kv.create("dist_sync")
store.init("a", mx.nd.ones((4, 2)).tostype("row_sparse" if ROWS else "default"))
if SET:
    store.set_optimizer(mx.optimizer.create("sgd"))
for step in range(3):
    store._note_samples(1)
wait_for(3)
store._note_samples(1)
print(f"\nend {store.num_workers}", flush=True)
"""


@needs_mpi
@pytest.mark.dist_long
@pytest.mark.parametrize(
    ("rows", "optimizer", "servers", "text"),
    [
        (True, True, 0, "its row_sparse values are owned by workers"),
        (False, False, 0, "its optimizer runs in the workers instead of the store"),
        (False, True, 1, "it has servers; start it with -s 0"),
    ],
)
def test_nobody_can_join(rows, optimizer, servers, text):
    end = _REFUSED.replace("ROWS", str(rows)).replace("SET", str(optimizer))
    process = start(2, _program("sgd", 3, "", end), servers=servers)
    _said.clear()
    code, lines, err = _run(process, lambda: _ask(process, 1))
    assert (code, lines) == (0, ["end 2"] * 2), err
    assert _said == [(1, f"launch: no worker has joined: {text}\n")]
    assert f"no process can join the job: {text}" in err


def test_requests_that_come_to_nothing(capsys):
    assert launch.main(["--join", "1", "-n", "1"]) == 1
    assert "process 1 is not a launcher of a job on this machine" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        launch.parse(["--join", "1", "-n", "1", "python"])
    assert "give no command" in capsys.readouterr().err


#: rank 1 dies in the fifth step and is replaced after a later one
_DEATH = r"""
def tell(step):
    if step == 4 and store.rank == 1 and not store.joined_at:
        os.kill(os.getpid(), signal.SIGKILL)
    mx.nd.waitall()  # nobody runs ahead of the news
    if step == 10:
        wait_for(3)
"""


@needs_open_mpi
@pytest.mark.parametrize(
    ("optimizer", "width"),
    [("sgd", 16), pytest.param("adam", 3000, marks=pytest.mark.dist_long)],  # the latter in parts
)
def test_a_killed_worker_is_replaced(optimizer, width):
    end = _END.replace("rtol=1e-4, atol=1e-5", "rtol=1, atol=1")  # part of one step is missing
    code = _program(optimizer, width, _DEATH, end)
    done = job(3, code, "--min-workers", "2", "--max-restarts", "1", timeout=100)
    assert done.code == 0, done.err
    ends = ["[(3, 2), (2, 3)] False"] * 2 + ["[] True"]
    assert done.lines == [f"end {rank} 3 {each}" for rank, each in enumerate(ends)], done.err


@needs_open_mpi
@pytest.mark.dist_long
def test_somebody_asks_a_job_that_may_shrink():
    """The states of each part of the weights are those of two workers before and afterwards."""
    once = _TWICE.replace("step == 9", "False").replace("wait_for(3)", "wait_for(4)")
    process = start(3, _program("adam", 3000, once), "--min-workers", "2")
    _said.clear()
    code, lines, err = _run(process, lambda: _ask(process, 1))
    assert (code, _said) == (0, [(0, "")]), err
    told = ["[(3, 4)] False"] * 3 + ["[] True"]
    assert lines == [f"end {rank} 4 {each}" for rank, each in enumerate(told)], err


def test_options():
    options = launch.parse(["-n", "4", "--min-workers", "3", "--max-restarts", "2", "x"])
    assert "MXCY_DIST_REPLACEMENTS=2" in launch.job_line(options, "mpiexec", "openmpi")
