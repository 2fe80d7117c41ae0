"""Variables that decide how weights are updated, on one device and on several."""

import math

import numpy as np
import pytest

import mxcy as mx
from mxcy import gluon
from mxcy.kvstore.choice import choose_store
from tests.env.run import python

# --- many weights in one call -----------------------------------------------------------------

_RULES = {
    "sgd": {"momentum": 0.9},
    "lars": {"momentum": 0.9},
    "adamw": {},
    "adabelief": {},
    "lamb": {},
    "lans": {},
}


def _weights_after(rule, dtype="float32", multi_precision=False, steps=3, **arguments):
    random = np.random.default_rng(5)
    optimizer = mx.optimizer.create(
        rule, learning_rate=0.1, wd=0.01, multi_precision=multi_precision, **_RULES[rule],
        **arguments,
    )  # fmt: skip
    updater = mx.optimizer.get_updater(optimizer)
    shapes = [(3 + i, 7) for i in range(10)]
    weights = [mx.nd.array(random.normal(size=shape), dtype=dtype) for shape in shapes]
    for _ in range(steps):
        grads = [mx.nd.array(random.normal(size=shape), dtype=dtype) for shape in shapes]
        updater(list(range(10)), grads, weights)
    return [weight.asnumpy() for weight in weights]


def _calls(rule):
    """How many of ten weights are handed to the optimizer in each of its calls of one step."""
    optimizer, together = mx.optimizer.create(rule, **_RULES[rule]), []
    many = optimizer.update_multi_precision
    optimizer.update_multi_precision = lambda index, *rest: (
        together.append(len(index) if isinstance(index, list) else 1), many(index, *rest)
    )  # fmt: skip
    updater = mx.optimizer.get_updater(optimizer)
    weights = [mx.nd.ones(3) for _ in range(10)]
    updater(list(range(10)), [mx.nd.ones(3)] * 10, weights)
    return together


@pytest.mark.parametrize("rule", _RULES)
def test_optimizer_aggregation_size(monkeypatch, rule):
    """As many weights as asked for change in one call, and to the same bits."""
    found = []
    for size in (1, 4, 45):
        monkeypatch.setenv("MXNET_OPTIMIZER_AGGREGATION_SIZE", str(size))
        assert len(_calls(rule)) == math.ceil(10 / size)
        found.append(_weights_after(rule) + _weights_after(rule, "float16", True))
    for weights in zip(*found, strict=True):
        assert np.isfinite(weights[0]).all()
        np.testing.assert_array_equal(weights[0], weights[1])
        np.testing.assert_array_equal(weights[0], weights[2])


def test_the_size_of_aggregation_has_bounds(monkeypatch):
    monkeypatch.setenv("MXNET_OPTIMIZER_AGGREGATION_SIZE", "100")
    with pytest.warns(UserWarning, match="=100: SGD updates at most 60"):
        assert mx.optimizer.SGD().aggregate_num == 60
    with pytest.warns(UserWarning, match="LAMB updates at most 45"):
        assert mx.optimizer.LAMB().aggregate_num == 45
    assert mx.optimizer.SGD(aggregate_num=3).aggregate_num == 3
    assert mx.optimizer.RMSProp().aggregate_num == 0
    monkeypatch.setenv("MXNET_OPTIMIZER_AGGREGATION_SIZE", "0")
    with pytest.raises(mx.MXNetError, match="MXNET_OPTIMIZER_AGGREGATION_SIZE='0'"):
        mx.optimizer.SGD()


def test_one_operator_takes_many_weights(monkeypatch):
    calls = []
    real = mx.nd.multi_sgd_mom_update
    monkeypatch.setattr(
        mx.nd, "multi_sgd_mom_update",
        lambda *arrays, **rest: (calls.append(len(arrays) // 3), real(*arrays, **rest)),
    )  # fmt: skip
    monkeypatch.setenv("MXNET_OPTIMIZER_AGGREGATION_SIZE", "4")
    _weights_after("sgd", steps=1)
    assert calls == [4, 4, 2]


# --- several devices --------------------------------------------------------------------------


def test_kvstore_sums(monkeypatch):
    """Big arrays are added up by the team, if it may; the bits do not depend on that."""
    monkeypatch.setenv("MXNET_KVSTORE_BIGARRAY_BOUND", "1e3")
    random, sums = np.random.default_rng(0), []
    parts = [random.normal(size=(4, 1000)).astype("float32") for _ in range(3)]
    for threads in ("1", "4"):
        monkeypatch.setenv("MXNET_KVSTORE_REDUCTION_NTHREADS", threads)
        store = mx.kv.create("local")
        store.init([0, 1], [mx.nd.zeros((4, 1000)), mx.nd.zeros(999)])
        store.push(0, [mx.nd.array(part, ctx=mx.cpu(i)) for i, part in enumerate(parts)])
        store.push(1, [mx.nd.ones(999, ctx=mx.cpu(i)) for i in range(2)])
        out = mx.nd.zeros((4, 1000))
        store.pull(0, out=out)
        sums.append(out.asnumpy())
        expected = {"serial": 2, "parallel": 0} if threads == "1" else {"serial": 1, "parallel": 1}
        stats = store.stats()
        assert stats["sums"] == expected and stats["reduce_threads"] == int(threads)
        assert stats["bigarray_bound"] == 1000
    np.testing.assert_array_equal(sums[0], sums[1])
    np.testing.assert_array_equal(sums[0], (parts[0] + parts[1]) + parts[2])
    for bad in ("0", "1.5e3", "many"):
        monkeypatch.setenv("MXNET_KVSTORE_BIGARRAY_BOUND", bad)
        with pytest.raises(mx.MXNetError, match="MXNET_KVSTORE_BIGARRAY_BOUND"):
            mx.kv.create("local")


def _trained(store, asked, contexts, shape=(2,)):
    """(a trainer's choice, the weights after three steps)"""
    weight = gluon.Parameter("w", shape=shape)
    weight.initialize(mx.init.One(), ctx=contexts)
    trainer = gluon.Trainer(
        [weight], "sgd", {"momentum": 0.9, "learning_rate": 0.1}, kvstore=store,
        update_on_kvstore=asked,
    )  # fmt: skip
    for step in range(3):
        with mx.autograd.record():
            losses = [(array * (step + i + 1)).sum() for i, array in enumerate(weight.list_data())]
        mx.autograd.backward(losses)
        trainer.step(1)
    return trainer._update_on_kvstore, weight.list_data()[-1].asnumpy()


@pytest.mark.parametrize(
    ("value", "store", "asked", "devices", "expected"),
    [
        ("1", "device", None, 2, True),
        ("0", "device", None, 2, False),
        ("1", "device", False, 2, False),
        ("0", "device", True, 2, True),
        ("1", None, None, 2, False),
        ("1", "local", None, 1, False),
    ],
)
def test_update_on_kvstore(monkeypatch, value, store, asked, devices, expected):
    monkeypatch.setenv("MXNET_UPDATE_ON_KVSTORE", value)
    contexts = [mx.cpu(i) for i in range(devices)]
    chosen, weights = _trained(store, asked, contexts)
    assert chosen == expected
    np.testing.assert_allclose(weights, _trained(store, not chosen, contexts)[1], rtol=1e-6)
    if asked is None:
        there = choose_store(store, devices, {"w": mx.nd.ones(2)})[1]
        assert there == expected
        assert choose_store(store, devices, {"w": mx.nd.ones(2**24 + 1)})[1] == (
            expected and store != "local"
        )


def test_a_local_store_does_not_update_giants(monkeypatch):
    monkeypatch.setattr("mxcy.kvstore.choice.LARGEST_UPDATE", 3)
    contexts = [mx.cpu(0), mx.cpu(1)]
    assert _trained("local", None, contexts, (4,))[0] is False
    assert _trained("local", None, contexts, (3,))[0] is True
    assert _trained("device", None, contexts, (4,))[0] is True


def test_what_needs_other_machines_warns():
    done = python("import mxcy", MXNET_KVSTORE_USETREE="1", DMLC_ROLE="worker")
    assert "DMLC_ROLE has no effect: there is no store over several processes" in done.err
    assert "USETREE" not in done.err  # trees are used only if there is something to gain
