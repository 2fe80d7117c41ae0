"""Training resumed from checkpoints, with the same or another number of workers."""

import json

import numpy as np
import pytest

import mxcy as mx
from tests.dist.jobs import job, needs_mpi

#: each step takes the same six samples, dealt to the workers
_PROGRAM = """
import os, signal, sys
import numpy as np
import mxcy as mx
from mxcy.gluon import Trainer, nn
folder, steps, fatal = sys.argv[1], int(sys.argv[2]), sys.argv[3]
store = mx.kv.create("dist_sync")
net = nn.Dense(3, in_units=4)
net.initialize(mx.init.One())
trainer = Trainer(net.collect_params(), "adam", {"learning_rate": 0.1}, kvstore=store)
kept = mx.kv.checkpoint(store, net, trainer, folder, every=3)
data = np.random.RandomState(7).randn(steps, 6, 4).astype("float32")
for step in range(kept.step, steps):
    if fatal == str(step) and store.rank == 1 and not store.is_recovery:
        net.weight.data().wait_to_read()  # for rank 0 to be beyond its checkpoint
        os.kill(os.getpid(), signal.SIGKILL)
    own = mx.nd.array(data[step, store.rank :: store.num_workers])
    with mx.autograd.record():
        loss = (net(own) ** 2).sum()
    loss.backward()
    trainer.step(6)
    kept.done(step)
if store.rank == 0:
    print(f"\\nfrom {kept.step} {net.weight.data().asnumpy().ravel().tolist()}", flush=True)
"""


def trained(ranks, folder, steps, fatal="", *options):
    program = _PROGRAM.replace("sys.argv", repr(["", str(folder), str(steps), fatal]))
    done = job(ranks, program, *options, timeout=110)
    assert done.code == 0, done.err
    (line,) = [line for line in done.lines if line.startswith("from ")]
    _, began, weights = line.split(" ", 2)
    return int(began), json.loads(weights)


@needs_mpi
def test_a_killed_worker_and_a_restart(tmp_path):
    began, undisturbed = trained(1, tmp_path / "whole", 8)
    assert began == 0
    began, weights = trained(3, tmp_path / "cut", 8, "7", "--max-restarts", "1")
    assert began == 6
    np.testing.assert_allclose(weights, undisturbed, rtol=1e-5, atol=1e-6)


@needs_mpi
@pytest.mark.dist_long
def test_another_number_of_workers(tmp_path):
    _, undisturbed = trained(1, tmp_path / "whole", 8)
    trained(3, tmp_path / "cut", 6)
    began, weights = trained(2, tmp_path / "cut", 8)
    assert began == 6
    np.testing.assert_allclose(weights, undisturbed, rtol=1e-5, atol=1e-6)


def session(folder, every=2, kind="dist_sync"):
    net = mx.gluon.nn.Dense(2, in_units=2)
    net.initialize(mx.init.One())
    store = mx.kv.create(kind)
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"momentum": 0.9}, kvstore=store)
    return net, trainer, mx.kv.checkpoint(store, net, trainer, folder, every)


def train(net, trainer, kept, steps):
    for step in range(kept.step, steps):
        with mx.autograd.record():
            loss = net(mx.nd.array([[1, 2]])).sum()
        loss.backward()
        trainer.step(1)
        kept.done(step)
    return net.weight.data().asnumpy().tolist()


@pytest.mark.parametrize("kind", ["dist_sync", "local"])
def test_one_process(tmp_path, kind, monkeypatch):
    whole = train(*session(tmp_path / "whole", kind=kind), 5)
    train(*session(tmp_path / "cut", kind=kind), 3)
    assert sorted(path.name for path in (tmp_path / "cut").iterdir()) == [
        "manifest.json",
        "step-2.params",
        "step-2.states",
    ]
    net, trainer, kept = session(tmp_path / "cut", kind=kind)
    assert kept.step == 2
    assert train(net, trainer, kept, 5) == whole
    assert not mx.kv.create(kind).is_recovery
    monkeypatch.setenv("DMLC_NUM_ATTEMPT", "1")
    assert mx.kv.create(kind).is_recovery


def test_damage(tmp_path):
    train(*session(tmp_path), 2)
    states = tmp_path / "step-2.states"
    content = bytearray(states.read_bytes())
    content[-3] ^= 1
    states.write_bytes(content)
    with pytest.raises(mx.MXNetError, match=r"step-2\.states is damaged"):
        session(tmp_path)
    states.unlink()
    with pytest.raises(mx.MXNetError, match="step-2.states: No such file"):
        session(tmp_path)
    (tmp_path / "manifest.json").write_text('{"step": 2', encoding="utf-8")
    with pytest.raises(mx.MXNetError, match=r"manifest\.json is damaged"):
        session(tmp_path)


def test_refusals(tmp_path):
    net, trainer, kept = session(tmp_path)
    train(net, trainer, kept, 1)
    with pytest.raises(mx.MXNetError, match="before the trainer's first step"):
        mx.kv.checkpoint(mx.kv.create("local"), net, trainer, tmp_path)
    with pytest.raises(mx.MXNetError, match="every=0"):
        session(tmp_path, every=0)
