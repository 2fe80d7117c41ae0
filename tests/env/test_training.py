"""Variables for weight updates, on one device and on several."""

import itertools
import math

import numpy as np
import pytest

import mxcy as mx
from mxcy import gluon
from mxcy.kvstore.choice import choose_store
from mxcy.kvstore.tree_sum import TreeSum
from mxcy.kvstore.trees import pairs
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
        rule,
        learning_rate=0.1,
        wd=0.01,
        multi_precision=multi_precision,
        **_RULES[rule],
        **arguments,
    )
    updater = mx.optimizer.get_updater(optimizer)
    shapes = [(3 + i, 7) for i in range(10)]
    weights = [mx.nd.array(random.normal(size=shape), dtype=dtype) for shape in shapes]
    for _ in range(steps):
        grads = [mx.nd.array(random.normal(size=shape), dtype=dtype) for shape in shapes]
        updater(list(range(10)), grads, weights)
    return [weight.asnumpy() for weight in weights]


def _calls(rule):
    """The number of weights, of ten, in each optimizer call of one step."""
    optimizer, together = mx.optimizer.create(rule, **_RULES[rule]), []
    many = optimizer.update_multi_precision
    optimizer.update_multi_precision = lambda index, *rest: (
        together.append(len(index) if isinstance(index, list) else 1),
        many(index, *rest),
    )
    updater = mx.optimizer.get_updater(optimizer)
    weights = [mx.nd.ones(3) for _ in range(10)]
    updater(list(range(10)), [mx.nd.ones(3)] * 10, weights)
    return together


@pytest.mark.parametrize("rule", _RULES)
def test_optimizer_aggregation_size(monkeypatch, rule):
    """The requested number of weights is updated per call, with bit-identical results."""
    collected = []
    for size in (1, 4, 45):
        monkeypatch.setenv("MXNET_OPTIMIZER_AGGREGATION_SIZE", str(size))
        assert len(_calls(rule)) == math.ceil(10 / size)
        collected.append(_weights_after(rule) + _weights_after(rule, "float16", True))
    for weights in zip(*collected, strict=True):
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
        mx.nd,
        "multi_sgd_mom_update",
        lambda *arrays, **rest: (calls.append(len(arrays) // 3), real(*arrays, **rest)),
    )
    monkeypatch.setenv("MXNET_OPTIMIZER_AGGREGATION_SIZE", "4")
    _weights_after("sgd", steps=1)
    assert calls == [4, 4, 2]


# --- several devices --------------------------------------------------------------------------


def test_kvstore_sums(monkeypatch):
    """Large arrays are summed by the team, if allowed, with bit-identical results."""
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
        expected = (2, 0) if threads == "1" else (1, 1)
        stats = store.stats()
        assert (stats["sums"]["serial"], stats["sums"]["parallel"]) == expected
        assert stats["reduce_threads"] == int(threads)
        assert stats["bigarray_bound"] == 1000
    np.testing.assert_array_equal(sums[0], sums[1])
    np.testing.assert_array_equal(sums[0], (parts[0] + parts[1]) + parts[2])
    for bad in ("0", "1.5e3", "many"):
        monkeypatch.setenv("MXNET_KVSTORE_BIGARRAY_BOUND", bad)
        with pytest.raises(mx.MXNetError, match="MXNET_KVSTORE_BIGARRAY_BOUND"):
            mx.kv.create("local")


#: eight GPUs of a p3.16xlarge: 2 and 3 are one and two NVLinks
P3_LINKS = "02233111 20321311 23031121 32301112 31110223 13112032 11212303 11123230"


def _reduced(shape, devices=8):
    """(sum by a device store along trees, what several devices pulled, its statistics)"""
    random = np.random.default_rng(0)
    parts = [random.integers(-9, 9, shape).astype("float32") for _ in range(devices)]
    store = mx.kv.create("device")
    store.init("other", mx.nd.zeros(1))
    store.init("w", mx.nd.zeros(shape))
    store.push("w", [mx.nd.array(part, ctx=mx.cpu(i)) for i, part in enumerate(parts)])
    outs = [mx.nd.zeros(shape, ctx=mx.cpu(i)) for i in range(devices)]
    store.pull("w", out=outs)
    for i, out in enumerate(outs):
        assert out.context == mx.cpu(i)
        np.testing.assert_array_equal(out.asnumpy(), sum(parts))
    return store.stats()


@pytest.mark.parametrize("devices", [2, 3, 5, 8])
def test_trees(monkeypatch, capfd, devices):
    """Each root has a tree that visits every device once; sums equal those without trees."""
    assert _reduced((3, 4), devices)["trees"] == []
    monkeypatch.setenv("MXNET_KVSTORE_USETREE", "1")
    monkeypatch.setenv("MXNET_KVSTORE_LOGTREE", "1")
    stats = _reduced((3, 4), devices)
    assert stats["sums"] == {"serial": 0, "parallel": 0, "tree": 1}
    (trees,) = stats["trees"]
    depth = (devices - 1).bit_length()
    assert [tree[0] for tree in trees] == [[root] for root in range(devices)]
    for tree in trees:
        assert [len(level) for level in tree] == [2**k for k in range(depth + 1)]
        assert set(tree[-1]) == set(range(devices))
        for above, level in itertools.pairwise(tree):
            assert level[::2] == above
        hung = [lower for _, lower in pairs(tree)]
        assert sorted([*hung, tree[0][0]]) == list(range(devices))
    printed = capfd.readouterr().err
    assert printed.count("mxcy kvstore: trees") == 1
    assert " | ".join(" ".join(map(str, level)) for level in trees[0]) in printed


def test_trees_of_slices(monkeypatch):
    monkeypatch.setenv("MXNET_KVSTORE_USETREE", "1")
    monkeypatch.setenv("MXNET_KVSTORE_TREE_ARRAY_BOUND", "63")
    context = [mx.cpu(i) for i in range(8)]
    trees = TreeSum(context)
    assert [trees.slices(shape) for shape in ((16, 4), (15, 5), (21, 3), (63,))] == [8, 1, 1, 1]
    for shape in ((16, 4), (21, 5), (15, 5)):
        assert _reduced(shape)["sums"]["tree"] == 1


def test_best_trees(monkeypatch):
    monkeypatch.setenv("MXNET_KVSTORE_USETREE", "1")
    monkeypatch.setenv("MXCY_DEVICE_LINKS", P3_LINKS)
    speed = [[int(digit) for digit in row] for row in P3_LINKS.split()]

    def weights():
        (trees,) = _reduced((2, 2))["trees"]
        return trees, [sum(speed[a][b] for a, b in pairs(tree)) for tree in trees]

    monkeypatch.setenv("MXNET_KVSTORE_TREE_LINK_USAGE_PENALTY", "1")
    _, halved = weights()
    monkeypatch.setenv("MXNET_KVSTORE_TREE_BACKTRACK", "1")
    heaviest, best = weights()
    assert all(few <= many for few, many in zip(halved, best, strict=True))
    assert min(halved) > 7  # NVLinks only, and some of the double ones
    monkeypatch.setenv("MXNET_KVSTORE_TREE_LINK_USAGE_PENALTY", "0.5")
    spread, _ = weights()
    assert heaviest[0] == spread[0] and heaviest[1:] != spread[1:]
    used = [
        len({tuple(sorted(link)) for tree in trees for link in pairs(tree)})
        for trees in (heaviest, spread)
    ]
    assert used[1] > used[0]  # more links share the work
    monkeypatch.setenv("MXCY_DEVICE_LINKS", "01 10")
    with pytest.raises(mx.MXNetError, match="MXCY_DEVICE_LINKS has links of 2 devices"):
        _reduced((2, 2))
    for bad in ("01 00", "12 20", "012 10", "0x x0"):
        monkeypatch.setenv("MXCY_DEVICE_LINKS", bad)
        with pytest.raises(mx.MXNetError, match="symmetric"):
            _reduced((2, 2))


def _trained(store, asked, contexts, shape=(2,)):
    """(a trainer's choice, the weights after three steps)"""
    weight = gluon.Parameter("w", shape=shape)
    weight.initialize(mx.init.One(), ctx=contexts)
    trainer = gluon.Trainer(
        [weight],
        "sgd",
        {"momentum": 0.9, "learning_rate": 0.1},
        kvstore=store,
        update_on_kvstore=asked,
    )
    for step in range(3):
        with mx.autograd.record():
            losses = [(array * (step + i + 1)).sum() for i, array in enumerate(weight.list_data())]
        mx.autograd.backward(losses)
        trainer.step(1)
    return bool(trainer._update_on_kvstore), weight.list_data()[-1].asnumpy()


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


def test_variables_for_other_machines_warn():
    done = python("import mxcy", MXNET_KVSTORE_USETREE="1", DMLC_INTERFACE="eth1")
    assert "DMLC_INTERFACE has no effect: MPI has its own variables for it" in done.err
    assert "USETREE" not in done.err  # trees are used only if there is something to gain
