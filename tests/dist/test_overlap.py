"""Gradients are sent during the backward pass of a hybridized network."""

import threading

import pytest

import mxcy as mx
from mxcy import autograd, gluon
from tests.dist.jobs import job, needs_mpi

WIDTH = 400  # a layer's gradient is large enough for a separate bucket


def _network(seed=3):
    mx.random.seed(seed)
    net = gluon.nn.HybridSequential()
    for _ in range(3):
        net.add(gluon.nn.Dense(WIDTH, in_units=WIDTH, activation="tanh"))
    net.initialize(mx.init.Xavier())
    net.hybridize()
    return net


def _step(net, trainer, data):
    with autograd.record():
        error = net(data).square().sum()
    error.backward()
    trainer.step(4)


def _weights(net):
    return [parameter.data().asnumpy() for parameter in net.collect_params().values()]


def _train(monkeypatch, overlap, watch=None):
    monkeypatch.setenv("MXCY_DIST_OVERLAP", str(int(overlap)))
    monkeypatch.setenv("MXCY_DIST_BUCKET_BYTES", str(WIDTH * WIDTH * 4))
    net, draw = _network(), mx.nd.random.uniform(shape=(4, WIDTH))
    data = draw.copy()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1}, kvstore="dist")
    for _ in range(2):
        _step(net, trainer, data)
    if watch is not None:
        mx.nd.waitall()
        watch(net, trainer, data)
    else:
        _step(net, trainer, data)
    return _weights(net)


def test_the_last_layers_are_sent_before_the_first_ones_are_computed(monkeypatch):
    """The first layer's gradient needs the data, which are blocked until others are sent."""
    sent, everything = [], threading.Event()

    def watch(net, trainer, data):
        exchange = trainer._kvstore.handle.exchange
        going, take = threading.Event(), exchange.take_bucket
        went = []

        def noting(bucket, *arguments):
            sent.append([slot.key for slot in bucket.slots])
            going.set()
            take(bucket, *arguments)

        def hold(done):
            def later():
                went.append(going.wait(30))
                done()

            threading.Thread(target=later, daemon=True).start()

        monkeypatch.setattr(exchange, "take_bucket", noting)
        with autograd.record():
            error = net(data).square().sum()
        error.wait_to_read()
        mx.engine.push(hold, writes=[data], property="async")
        error.backward()
        trainer.step(4)
        mx.nd.waitall()
        assert went == [True], "nothing was sent while the backward pass waited"
        everything.set()

    _train(monkeypatch, True, watch)
    assert everything.is_set()
    first_keys = {0, 1}
    assert not first_keys & set(sent[0]) and any(0 in keys for keys in sent)


def test_weights_without_overlap(monkeypatch):
    """They are bit-identical, and the backward pass is not split."""
    mx.random.seed(1)
    weights = {}
    for overlap in (True, False):
        mx.random.seed(1)
        weights[overlap] = _train(monkeypatch, overlap)
    for one, other in zip(weights[True], weights[False], strict=True):
        assert (one == other).all()


@pytest.mark.parametrize("overlap", [True, False])
def test_pieces_of_the_backward_pass(monkeypatch, overlap):
    monkeypatch.setenv("MXCY_DIST_OVERLAP", str(int(overlap)))
    net = _network()
    data = mx.nd.ones((4, WIDTH))
    with autograd.record():
        net(data)
        arrays = [data, *(p.data() for p in net.collect_params().values())]
        by_name = dict(zip(["data", *net.collect_params()], arrays, strict=True))
        cached = net._cached_op
        actual = cached.describe(*(by_name.get(name, data) for name in cached._names))
    assert (len(actual["segments"]["backward"]) > 1) == overlap


_TWO = r"""
import hashlib, os
import mxcy as mx
from mxcy import autograd, gluon
digests = []
for overlap in "10":
    os.environ["MXCY_DIST_OVERLAP"] = overlap
    for on_store in (True, False):
        mx.random.seed(3)
        net = gluon.nn.HybridSequential()
        for _ in range(3):
            net.add(gluon.nn.Dense(400, in_units=400, activation="tanh"))
        net.initialize(mx.init.Xavier())
        net.hybridize()
        store = mx.kv.create("dist_sync")
        trainer = gluon.Trainer(
            net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9}, kvstore=store,
            update_on_kvstore=on_store,
        )
        for step in range(4):
            data = mx.nd.random.uniform(shape=(4, 400)) + store.rank
            with autograd.record():
                error = net(data).square().sum()
            error.backward()
            trainer.step(8)
        bits = b"".join(p.data().asnumpy().tobytes() for p in net.collect_params().values())
        digests.append(hashlib.sha256(bits).hexdigest())
assert len(set(digests)) == 1, digests
print("\n" + digests[0], flush=True)
"""


@needs_mpi
@pytest.mark.dist_long
def test_two_workers_have_the_same_bits():
    ended = job(2, _TWO)
    assert ended.code == 0 and len(ended.lines) == 2 and len(set(ended.lines)) == 1, ended.err


@pytest.mark.parametrize("together", [True, False])
def test_a_gradient_that_gets_other_memory_before_it_is_sent(together):
    store, x, out = mx.kv.create("dist"), mx.nd.ones(3), mx.nd.zeros(3)
    store.init(["w", "v"], [mx.nd.zeros(3)] * 2)
    store.pushpull(["w", "v"], [mx.nd.zeros(3), mx.nd.zeros(3)])
    store._settle()
    x.attach_grad()
    completions = []
    for factor in (2, 3):
        with autograd.record():
            y = x * factor
        y.backward()
        mx.nd.waitall() if factor == 2 else None
        if factor == 2:
            mx.engine.push(completions.append, writes=[x.grad], property="async")
            if together:
                store.pushpull(["w", "v"], [x.grad, mx.nd.ones(3)], out=[out, mx.nd.zeros(3)])
            else:
                store.push("w", x.grad)
                store.pull("w", out)
    completions[0]()
    assert out.asnumpy().tolist() == [2, 2, 2] and x.grad.asnumpy().tolist() == [3, 3, 3]
