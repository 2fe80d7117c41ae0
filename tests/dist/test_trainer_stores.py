"""Trainers of two workers with each type of store: who updates, errors, equal weights."""

import pytest

import mxcy as mx
from tests.dist.jobs import job, needs_mpi

_PROGRAM = r"""
import os
import mxcy as mx, numpy as np
from mxcy import autograd, gluon
draw = np.random.RandomState(0)
inputs = draw.randn(5, 8, 6).astype("float32")
words = draw.randint(0, 9, (5, 8, 3))
labels = draw.randint(0, 3, (5, 8)).astype("float32")

def dense(dtype="float32"):
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(7, activation="tanh", in_units=6), gluon.nn.Dense(3, in_units=7))
    net.initialize(mx.init.Xavier())
    net.cast(dtype)
    return net, inputs.astype(dtype)

def sparse_gradients():
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Embedding(9, 4, sparse_grad=True), gluon.nn.Dense(3, in_units=12))
    net.initialize(mx.init.Xavier())
    return net, words

def sparse_weights():
    net = gluon.nn.Sequential()
    net.add(gluon.contrib.nn.SparseEmbedding(9, 4), gluon.nn.Dense(3, in_units=12))
    net.initialize(mx.init.Xavier())
    return net, words

def train(store, rank, size, make, on_store=None, add=False, **settings):
    mx.random.seed(5)
    net, data = make()
    parameters = net.collect_params()
    if add:
        parameters.setattr("grad_req", "add")
    settings = {"learning_rate": 0.1, "momentum": 0.9, **settings}
    if "lr_scheduler" in settings:
        settings["lr_scheduler"] = settings["lr_scheduler"]()
    trainer = gluon.Trainer(parameters, "sgd", settings, kvstore=store, update_on_kvstore=on_store)
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    share = slice(rank * 8 // size, (rank + 1) * 8 // size)
    for step in range(5):
        for _ in range(1 + add):
            with autograd.record():
                shown = mx.nd.array(data[step][share], dtype=data.dtype)
                error = loss(net(shown), mx.nd.array(labels[step][share], dtype="float32"))
            error.backward()
        trainer.step(8)
        if add:
            for parameter in parameters.values():
                parameter.zero_grad()
    rows = mx.nd.arange(9)
    weights = [
        p.row_sparse_data(rows).asnumpy() if p._stype == "row_sparse" else p.data().asnumpy()
        for p in parameters.values()
    ]
    return trainer._update_on_kvstore, weights

def compare(make, kinds, tolerance=2e-5, **settings):
    # of each store and answer to who updates: who does, or the error
    alone = train("local" if make is sparse_weights else None, 0, 1, make, **settings)[1]
    for kind, asked, expected in kinds:
        store = mx.kv.create(kind)
        place = store, store.rank, store.num_workers
        try:
            on_store, together = train(*place, make, asked, **settings)
        except ValueError as error:
            assert expected in str(error), (kind, asked, error)
            continue
        assert on_store is expected, (kind, asked, on_store)
        if "async" not in kind:
            for a, b in zip(together, alone):
                np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
"""
_END = "\nprint('\\nright', flush=True)"

_SYNC = (
    _PROGRAM
    + r"""
in_workers = "Cannot set update_on_kvstore=False"
usual = [("dist_sync", None, True), ("dist_sync", True, True)]
compare(dense, [*usual, ("dist_sync", False, False), ("dist_device_sync", None, True)])
compare(sparse_gradients, [*usual, ("dist_sync", False, in_workers)])
compare(sparse_weights, [*usual, ("dist_sync", False, in_workers)])
compare(dense, [("dist_sync", None, True), ("dist_sync", False, False)], add=True)
compare(lambda: dense("float16"), usual[:1], tolerance=4e-3, multi_precision=True)
halve = lambda: mx.lr_scheduler.FactorScheduler(step=2, factor=0.5, base_lr=0.2)
compare(dense, [("dist_sync", None, True), ("dist_sync", False, False)], lr_scheduler=halve)
os.environ["MXNET_UPDATE_ON_KVSTORE"] = "0"
compare(dense, [("dist_sync", None, False), ("dist_sync", True, True)])
"""
)
_ASYNC = (
    _PROGRAM
    + r"""
for make in (dense, sparse_gradients, sparse_weights):
    compare(make, [("dist_async", None, True), ("dist_async", True, True)])
compare(dense, [("dist_async", False, "Please set update_on_kvstore=True when training in async")])
for make in (sparse_gradients, sparse_weights):
    compare(make, [("dist_async", False, "Cannot set update_on_kvstore=False")])
"""
)
_SUMS_ONLY = (
    _PROGRAM
    + r"""
said = "Please set update_on_kvstore=False when training with"
for kind in KINDS:
    compare(dense, [(kind, None, False), (kind, False, False), (kind, True, said)])
"""
)
_FORWARD = (
    _PROGRAM
    + r"""
def weights(kind, share):
    data = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc")
    mx.random.seed(4)
    batches = mx.io.NDArrayIter(
        inputs[:, share].reshape(-1, 6), labels[:, share].reshape(-1), share.stop - share.start
    )
    model = mx.model.FeedForward.create(
        mx.sym.SoftmaxOutput(data, name="softmax"), batches, num_epoch=2, kvstore=kind,
        learning_rate=0.5, momentum=0.9, initializer=mx.init.Uniform(0.5),
        rescale_grad=1 / 8,
    )
    return {name: array.asnumpy() for name, array in model.arg_params.items()}
store = mx.kv.create("dist_sync")
together = weights(store, slice(4 * store.rank, 4 * store.rank + 4))
alone = weights("local", slice(0, 8))
for name in alone:
    np.testing.assert_allclose(together[name], alone[name], rtol=2e-5, atol=2e-6)
"""
)


@needs_mpi
@pytest.mark.dist_long
@pytest.mark.parametrize("part", ["sync", "async", "FeedForward"])
def test_two_workers(part):
    code = {"sync": _SYNC, "async": _ASYNC, "FeedForward": _FORWARD}[part]
    ended = job(2, code + _END, timeout=150)
    assert (ended.code, ended.lines) == (0, ["right"] * 2), ended.err


@needs_mpi
@pytest.mark.dist_long
@pytest.mark.parametrize(
    ("kinds", "options"), [(["horovod", "byteps"], ()), (["dist_sync"], ("--p3",))]
)
def test_stores_without_an_optimizer(kinds, options):
    code = _SUMS_ONLY.replace("KINDS", repr(kinds))
    ended = job(2, code + _END, *options, timeout=150)
    assert (ended.code, ended.lines) == (0, ["right"] * 2), ended.err


def test_parameters_without_gradients_keep_no_bucket_waiting():
    net = mx.gluon.nn.HybridSequential()
    for _ in range(3):
        net.add(mx.gluon.nn.Dense(4, in_units=4), mx.gluon.nn.BatchNorm(in_channels=4))
    net.initialize()
    store = mx.kv.create("dist_sync")
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", kvstore=store)
    with mx.autograd.record():
        total = net(mx.nd.ones((2, 4))).sum()
    total.backward()
    trainer.step(2)
    store._settle()
    wanted = [parameter.grad_req != "null" for parameter in trainer._params]
    buckets = store.stats()["buckets"]
    kinds = [({wanted[key] for key in bucket["keys"]}, bucket["sessions"]) for bucket in buckets]
    assert sorted(kinds, key=str) == [({False}, 0), ({True}, 1)]


def test_buckets_follow_the_layers(monkeypatch):
    """Backward passes compute the last layers' gradients first, whatever the parameters' names."""
    monkeypatch.setenv("MXCY_DIST_BUCKET_BYTES", "1")
    net = mx.gluon.nn.Sequential(prefix="")
    net.add(*(mx.gluon.nn.Dense(2, in_units=2, use_bias=False, prefix=name) for name in "cab"))
    net.initialize()
    names = sorted(net.collect_params())
    store = mx.kv.create("dist_sync")
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", kvstore=store)
    with mx.autograd.record():
        loss = net(mx.nd.ones((1, 2))).sum()
    loss.backward()
    trainer.step(1)
    mx.nd.waitall()
    keys = [bucket["keys"] for bucket in store.stats()["buckets"]]
    assert [names[number] for (number,) in keys] == ["bweight", "aweight", "cweight"]
