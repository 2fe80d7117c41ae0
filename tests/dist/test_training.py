"""Trainers and modules of several workers match a single worker on the whole batches."""

import pytest

import mxcy as mx
from mxcy import autograd, gluon
from tests.dist.jobs import job, needs_mpi

_PROGRAM = r"""
import mxcy as mx, numpy as np
from mxcy import autograd, gluon
store = mx.kv.create("dist_sync")
rank, size = store.rank, store.num_workers
draw = np.random.RandomState(0)
inputs = draw.randn(6, 12, 10).astype("float32")
labels = draw.randint(0, 3, (6, 12)).astype("float32")

def network(seed):
    mx.random.seed(seed)
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(16, activation="relu", in_units=10), gluon.nn.LayerNorm(in_channels=16))
    net.add(gluon.nn.Dense(3, in_units=16))
    net.initialize(mx.init.Xavier())
    return net

def train(net, store, share, optimizer, on_store, hybridized):
    if hybridized:
        net.hybridize()
    settings = {"learning_rate": 0.05, "wd": 0.01}
    trainer = gluon.Trainer(
        net.collect_params(), optimizer, settings, kvstore=store, update_on_kvstore=on_store
    )
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    for step in range(6):
        if step == 4:
            trainer.set_learning_rate(0.01)
        with autograd.record():
            error = loss(net(mx.nd.array(inputs[step][share])), mx.nd.array(labels[step][share]))
        error.backward()
        trainer.step(12)
    return [p.data().asnumpy() for p in net.collect_params().values() if p.grad_req != "null"]

def compare(optimizer, on_store, hybridized, kind="dist_sync"):
    share = slice(rank * 12 // size, (rank + 1) * 12 // size)
    shared = train(network(7), kind, share, optimizer, on_store, hybridized)
    alone = train(network(7), None, slice(0, 12), optimizer, None, hybridized)
    for a, b in zip(shared, alone):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6)
"""

_MODULE = r"""
def module(store, share, seed):
    data = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc")
    mx.random.seed(seed)
    mod = mx.mod.Module(mx.sym.SoftmaxOutput(data, name="softmax"))
    count = share.stop - share.start
    batches = mx.io.NDArrayIter(
        inputs[:, share].reshape(-1, 10), labels[:, share].reshape(-1), batch_size=count
    )
    mod.fit(
        batches, num_epoch=2, kvstore=store, optimizer="sgd", initializer=mx.init.Uniform(0.5),
        optimizer_params={"learning_rate": 0.5, "momentum": 0.9},
    )
    mod.save_optimizer_states(name) if store != "local" else None
    return {k: v.asnumpy() for k, v in mod.get_params()[0].items()}

import os, sys, tempfile
name = os.path.join(os.environ["STATES"], "module.states")
shared = module("dist_sync", slice(rank * 12 // size, (rank + 1) * 12 // size), 3 + rank)
alone = module("local", slice(0, 12), 3)
for key in shared:
    np.testing.assert_allclose(shared[key], alone[key], rtol=2e-5, atol=2e-6)
store._barrier()
assert os.path.getsize(name) > 100
"""


@needs_mpi
def test_two_workers_like_one(tmp_path):
    code = _PROGRAM + _MODULE + "compare('sgd', None, False)\ncompare('adam', False, True)\n"
    ended = job(2, code + "print('\\nright', flush=True)", STATES=str(tmp_path))
    assert (ended.code, ended.lines) == (0, ["right"] * 2), ended.err


@needs_mpi
@pytest.mark.dist_long
@pytest.mark.parametrize("optimizer", ["sgd", "nag", "adam", "rmsprop", "adagrad", "ftrl"])
def test_three_workers_like_one(optimizer):
    code = _PROGRAM + (
        f"for on_store in (True, False, None):\n compare({optimizer!r}, on_store, on_store is None)"
    )
    ended = job(3, code + "\nprint('\\nright', flush=True)")
    assert (ended.code, ended.lines) == (0, ["right"] * 3), ended.err


def test_a_trainer_of_one_worker(tmp_path):
    """The store runs the optimizer even for one device, and is not chosen afresh."""
    net = gluon.nn.Dense(2, in_units=3)
    net.initialize(mx.init.One())
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1}, kvstore="dist_sync")
    for batch in (1, 2):
        with autograd.record():
            error = net(mx.nd.ones((1, 3))).sum()
        error.backward()
        trainer.step(batch)
    assert trainer._update_on_kvstore is True and trainer._distributed is True
    assert net.weight.data().asnumpy().tolist() == [[-0.5] * 3] * 2
    trainer.save_states(str(tmp_path / "states"))
    trainer.load_states(str(tmp_path / "states"))
    with pytest.raises(AssertionError, match="when parameters are updated on kvstore"):
        trainer.update(1)
    with pytest.raises(AssertionError, match="when parameters are updated on kvstore"):
        trainer.allreduce_grads()
    with pytest.raises(RuntimeError, match="shared by several processes"):
        trainer._reset_kvstore()


def test_variable_disables_sharded_updates(monkeypatch):
    monkeypatch.setenv("MXNET_UPDATE_ON_KVSTORE", "0")
    net = gluon.nn.Dense(1, in_units=1)
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", kvstore="dist")
    with autograd.record():
        error = net(mx.nd.ones((1, 1)))
    error.backward()
    trainer.allreduce_grads()
    trainer.update(1)
    assert trainer._update_on_kvstore is False
