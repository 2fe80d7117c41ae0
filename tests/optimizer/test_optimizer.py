"""Optimizers beyond golden values: rates, counts, both styles of subclasses, updaters."""

import pickle
import re

import numpy as np
import pytest

import mxcy as mx
from mxcy import optimizer as opt
from mxcy import profile


def test_create():
    assert isinstance(opt.create("Adam", beta1=0.5), opt.Adam)
    with pytest.raises(ValueError, match="Cannot find optimizer nothing"):
        opt.create("nothing")
    with pytest.raises(TypeError, match="foo"):
        opt.SGD(foo=1)


def test_multipliers_by_name():
    names = {0: "a_weight", 1: "a_bias", 2: "a_gamma", 3: "b"}
    rule = opt.Optimizer(param_idx2name=names, learning_rate=0.5, wd=0.25)
    assert rule._get_wds([0, 1, 2, 3]) == [0.25, 0, 0.25, 0]
    rule.set_wd_mult({"a_bias": 3})
    rule.set_lr_mult({"a_bias": 3, 0: 0.5})
    assert rule._get_wds([0, 1]) == [0.25, 0.75]
    assert rule._get_lrs([0, 1, 2]) == [0.25, 1.5, 0.5]


def test_updates_are_counted_per_weight_and_device():
    rule = opt.SGD()
    rule._update_count([0, 1])
    rule._update_count(0)
    assert rule.num_update == 2
    rule._set_current_context(3)
    rule._update_count(0)
    assert rule.num_update == 2 and rule._index_update_count == {0: 1}


def test_learning_rate_and_scheduler():
    rule = opt.SGD(learning_rate=0.7)
    rule.set_learning_rate(0.3)
    assert rule.learning_rate == 0.3
    scheduler = mx.lr_scheduler.FactorScheduler(1, 0.5, base_lr=0.3)
    assert opt.SGD(lr_scheduler=scheduler).learning_rate == 0.3
    rule = opt.SGD(lr_scheduler=scheduler, learning_rate=0.7)
    assert rule.learning_rate == scheduler.base_lr == 0.7
    with pytest.raises(UserWarning, match="LRScheduler"):
        rule.set_learning_rate(1)


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("rmsprop", {"clip_weights": 0.6}),
        ("rmsprop", {"centered": True}),
        ("ftml", {"clip_gradient": 0.1}),
        ("signum", {"wd_lh": 0.1}),
        ("signum", {"momentum": 0.0}),
    ],
)
def test_row_sparse_gradients_warn_once(name, arguments, caplog, monkeypatch):
    """Their steps equal dense ones; hyperparameters that change do not warn again."""
    monkeypatch.setattr("mxcy.ndarray.sparse.fallback._warned", set())
    results = []
    for stype in ("default", "row_sparse"):
        schedule = mx.lr_scheduler.FactorScheduler(1, 0.9, base_lr=0.1)
        update = opt.get_updater(opt.create(name, lr_scheduler=schedule, wd=0.01, **arguments))
        weight = mx.nd.array([[0.5, -1], [2, 0.25], [1, 1]])
        with caplog.at_level("WARNING", "mxcy"):
            for step in range(1, 4):
                gradient = mx.nd.array([[0.5, -0.25], [0, 0], [step, -1]]).tostype(stype)
                update(0, gradient, weight)
        results.append(weight.asnumpy())
    np.testing.assert_allclose(results[1], results[0], rtol=1e-6)
    assert sum("Storage type fallback" in record.message for record in caplog.records) == 1


def test_multi_precision_keeps_small_changes():
    weight = mx.nd.ones((1,), dtype="float16")
    updater = opt.get_updater(opt.NAG(learning_rate=1e-4, multi_precision=True))
    for _ in range(100):
        updater(0, mx.nd.ones((1,), dtype="float16"), weight)
    assert weight.dtype == np.float16 and weight.asscalar() == np.float16(0.99)


def test_float16_without_multi_precision_warns():
    with pytest.warns(UserWarning, match="multi_precision=True option of the SGD"):
        opt.SGD(momentum=0.9).create_state_multi_precision(0, mx.nd.ones((1,), dtype="float16"))


class OldStyle(opt.Optimizer):
    """Updates one weight at a time, like optimizers for MXNet 1.x."""

    def update(self, index, weight, grad, state):
        self._update_count(index)
        weight -= self._get_lr(index) * grad


class NewStyle(opt.Optimizer):
    """Updates lists of weights, like optimizers for MXNet 2.x."""

    def step(self, indices, weights, grads, states):
        self._update_count(indices)
        for weight, grad, lr in zip(weights, grads, self._get_lrs(indices), strict=True):
            weight -= lr * grad


@pytest.mark.parametrize("kind", [OldStyle, NewStyle, opt.SGD])
def test_both_styles_of_subclasses(kind):
    rule = kind(learning_rate=1)
    weights = [mx.nd.zeros(2), mx.nd.zeros(2)]
    grads = [mx.nd.ones(2), mx.nd.ones(2)]
    updater = opt.get_updater(rule)
    updater([0, 1], grads, weights)
    updater(0, grads[0], weights[0])
    rule.step([1], [weights[1]], [grads[1]], [None])
    assert [weight.asnumpy().tolist() for weight in weights] == [[-2, -2]] * 2
    assert rule.num_update == 2


def test_an_optimizer_without_arithmetic():
    with pytest.raises(NotImplementedError, match="Optimizer does not define update"):
        opt.Optimizer().update(0, mx.nd.ones(1), mx.nd.ones(1), None)


def test_updating_together_equals_updating_apart():
    def weights_after(aggregate_num):
        rule = opt.SGD(momentum=0.9, learning_rate=0.1, wd=0.1, aggregate_num=aggregate_num)
        updater = opt.get_updater(rule)
        weights = [mx.nd.ones(2) * i for i in range(6)]
        for _ in range(2):
            updater(list(range(6)), [mx.nd.ones(2)] * 6, weights)
        return [weight.asnumpy() for weight in weights]

    np.testing.assert_allclose(weights_after(4), weights_after(0), rtol=1e-6)


def test_states_of_an_updater():
    updater = opt.get_updater(opt.SGD(momentum=0.9))
    weight = mx.nd.ones(2)
    updater(b"w", mx.nd.ones(2), weight)
    assert list(updater.states) == ["w"] and updater.states_synced == {"w": True}
    again = opt.get_updater(opt.SGD(momentum=0.1))
    again.set_states(updater.get_states())
    assert again.optimizer.momentum == 0.1 and again.states_synced == {"w": False}
    np.testing.assert_array_equal(again.states["w"].asnumpy(), updater.states["w"].asnumpy())
    again.set_states(updater.get_states(dump_optimizer=True))
    assert again.optimizer.momentum == 0.9
    again("w", mx.nd.ones(2, ctx=mx.cpu(1)), weight.as_in_context(mx.cpu(1)))
    assert again.states["w"].context == mx.cpu(1)


def test_states_with_foreign_classes_are_refused():
    class Trap:
        def __reduce__(self):
            return (print, ("called",))

    with pytest.raises(mx.MXNetError):
        opt.get_updater(opt.SGD()).set_states(pickle.dumps({0: Trap()}))


def pickled_optimizer(**attributes):
    """States with an optimizer whose attributes were replaced; None takes one away."""
    rule = opt.SGD()
    vars(rule).update(attributes)
    for name in [name for name, value in attributes.items() if value is ...]:
        delattr(rule, name)
    return pickle.dumps(({}, rule))


def deep_state():
    state = ()
    for _ in range(17):
        state = (state, 1)
    return state


def endless_state():
    state = [1]
    state.append(state)
    return state


@pytest.mark.parametrize(
    "content, expected",
    [
        (b"", "not a valid pickle"),
        (b"K\x05.", "expected a dict, got int"),
        (b"N.", "expected a dict, got NoneType"),
        (pickle.dumps([1, 2]), "expected a dict, got list"),
        (pickle.dumps((1, 2)), "expected an optimizer, got int"),
        (pickle.dumps((opt.SGD(), {})), "expected an optimizer, got dict"),
        (pickle.dumps((1, opt.SGD())), "expected a dict, got int"),
        (pickle.dumps({None: 1}), "expected int or str indices, got None"),
        (pickle.dumps({0: deep_state()}), "too many levels"),
        (pickle.dumps({0: endless_state()}), "too many levels"),
        (pickle.dumps({0: [(1, 2)] * 40_000}), "too many levels or parts"),
        (pickled_optimizer(lr="0.1"), "SGD.lr is str, expected Real or NoneType"),
        (pickled_optimizer(wd=...), "SGD without wd"),
        (pickled_optimizer(lr_scheduler=3), "SGD.lr_scheduler is int, expected LRScheduler"),
        (pickled_optimizer(_index_update_count=[]), "SGD._index_update_count is list"),
        (pickled_optimizer(update=1), "SGD.update is a method"),
    ],
)
def test_other_content_leaves_the_states(content, expected):
    updater = opt.get_updater(opt.SGD(momentum=0.9))
    updater(0, mx.nd.ones(2), mx.nd.ones(2))
    states, synced, rule = updater.states, updater.states_synced, updater.optimizer
    with pytest.raises(mx.MXNetError, match=re.escape(expected)):
        updater.set_states(content)
    assert updater.states is states and updater.states_synced is synced
    assert updater.optimizer is rule


def test_the_file_of_bad_states_is_named(tmp_path):
    path = tmp_path / "bad.states"
    path.write_bytes(b"K\x05.")
    net = mx.gluon.nn.Dense(1, in_units=1)
    net.initialize()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd")
    with pytest.raises(mx.MXNetError, match="bad.states: optimizer states: expected a dict"):
        trainer.load_states(str(path))
    with pytest.raises(FileNotFoundError):
        trainer.load_states(str(tmp_path / "none"))


def test_pickled_optimizers_forget_parameters():
    parameter = mx.gluon.Parameter("w", lr_mult=3)
    rule = opt.Adam(param_dict={0: parameter}, beta1=0.5)
    again = pickle.loads(pickle.dumps(rule))
    assert again.beta1 == 0.5 and again.param_dict == {}
    assert rule._get_lr(0) == 3 * again._get_lr(0)


def test_lars_corrects_momentum_when_the_rate_changes():
    def momentum_factor(rates):
        class Table(mx.lr_scheduler.LRScheduler):
            def __call__(self, num_update):
                return rates[min(max(num_update, 1), len(rates)) - 1]

        updater = opt.get_updater(opt.LARS(momentum=0.5, eta=1e-20, lr_scheduler=Table()))
        weight, grad = mx.nd.ones(1), mx.nd.ones(1)
        updater(0, grad, weight)
        updater.states[0][:] = 1
        updater(0, grad, weight)
        return updater.states[0].asscalar()

    assert momentum_factor([0.1, 0.1]) == pytest.approx(0.5)
    assert momentum_factor([0.1, 0.2]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("kind", "arguments", "expected"),
    [
        ("AdamW", {}, [1.7076834, 1.292313]),
        ("AdamW", {"wd": 0.1}, [1.6932796, 1.2841649]),
        ("AdamW", {"wd": 0.1, "correct_bias": False}, [0.7503693, 2.1605105]),
        ("AdaBelief", {}, [1.6620202, 1.3378717]),
        ("AdaBelief", {"wd": 0.1, "correct_bias": False}, [0.5982144, 2.3908372]),
        ("LANS", {"wd": 0.1}, [1.4832877, 1.3875333]),
        ("LAMB", {"wd": 0.1}, [1.4820065, 1.3856472]),
    ],
)
def test_optimizers_of_mxnet_2(kind, arguments, expected):
    updater = opt.get_updater(getattr(opt, kind)(learning_rate=0.1, **arguments))
    weight = mx.nd.array([2, 1])
    for step in range(3):
        updater(0, mx.nd.array([3, -1]) * (step + 1), weight)
    # Values of MXNet 2.0.0b1, whose fused and unfused steps differ by 5e-5.
    np.testing.assert_allclose(weight.asnumpy(), expected, rtol=2e-5)


@pytest.fixture
def mxnet_2():
    """Follow MXNet 2, with the array semantics that were active before."""
    before = profile.current()
    profile.set_current("2.0", "a test")
    yield
    profile.set_current(*before)


@pytest.mark.parametrize(
    ("kind", "arguments", "expected"),
    [
        ("AdaDelta", {"wd": 0.1}, [1.9987992, 1.0012175]),
        ("AdaGrad", {"wd": 0.1}, [1.7315124, 1.271185]),
        ("AdaGrad", {"epsilon": 0.5}, [1.7542879, 1.2104914]),
        ("NAG", {"wd": 0.1, "clip_gradient": 2.0}, [0.2596666, 2.1693444]),
        ("NAG", {"wd": 0.1, "momentum": 0.0}, [0.152568, 1.566309]),
    ],
)
def test_weights_decay_through_the_gradient_as_in_mxnet_2(mxnet_2, kind, arguments, expected):
    updater = opt.get_updater(getattr(opt, kind)(learning_rate=0.1, **arguments))
    weight = mx.nd.array([2, 1])
    for step in range(3):
        updater(0, mx.nd.array([3, -1]) * (step + 1), weight)
    np.testing.assert_allclose(weight.asnumpy(), expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("kind", "arguments", "expected"),
    [
        ("Adam", {}, [1.6999594, 1.2900343]),
        ("Adamax", {}, [1.7173433, 1.2408462]),
        ("Nadam", {}, [1.7304021, 1.3011315]),
        ("FTML", {}, [1.7755175, 1.2527733]),
        ("RMSProp", {}, [1.2272213, 1.8685598]),
        ("RMSProp", {"centered": True, "momentum": 0.5}, [0.75881147, 2.3577476]),
        ("RMSProp", {"clip_weights": 1.2}, [0.74650419, 1.2]),
    ],
)
def test_gradients_are_clipped_before_decay_as_in_mxnet_2(mxnet_2, kind, arguments, expected):
    optimizer = getattr(opt, kind)(0.1, wd=0.1, clip_gradient=2.0, rescale_grad=0.5, **arguments)
    count = 1 if kind == "Nadam" else 2  # all weights share Nadam's schedule
    updater, weights = opt.get_updater(optimizer), [mx.nd.array([2, 1]) for _ in range(count)]
    for step in range(3):
        updater(list(range(count)), [mx.nd.array([3, -1]) * (step + 1)] * count, weights)
    for weight in weights:
        np.testing.assert_allclose(weight.asnumpy(), expected, rtol=2e-5)


def test_what_else_differs_in_mxnet_2(mxnet_2):
    rule = opt.SGD(wd=0.5, param_idx2name={0: "a_weight", 1: "a_bias"})
    assert rule._get_wds([0, 1]) == [0.5, 0.5]
    assert opt.LARS(wd=0.5, param_idx2name={0: "a_bias"})._get_wds([0]) == [0.5]
    weight, grad = mx.nd.ones(2) * 3, mx.nd.ones(2)
    tester = opt.create("test", learning_rate=0.5, rescale_grad=2, wd=1.0)
    tester.update([0], [weight], [grad], [tester.create_state(0, weight)])
    assert weight.asnumpy().tolist() == [0.5, 0.5] and tester.num_update == 1


@pytest.mark.parametrize("kind", ["SGD", "NAG", "LARS"])
def test_float32_weights_come_first_in_states_of_mxnet_2(mxnet_2, kind):
    weights = [mx.nd.ones(2).astype("float16") for _ in range(2)]
    rule = getattr(opt, kind)(learning_rate=0.5, momentum=0.9, multi_precision=True)
    states = [rule.create_state_multi_precision(i, w) for i, w in enumerate(weights)]
    assert states[0][0].asnumpy().tolist() == [1, 1] and states[0][1].asnumpy().tolist() == [0, 0]
    rule.update_multi_precision([0, 1], weights, [w * 1 for w in weights], states)
    assert (states[0][0].asnumpy() < 1).all() and (states[1][1].asnumpy() != 0).all()
    np.testing.assert_array_equal(weights[0].asnumpy(), states[0][0].asnumpy().astype("float16"))


def test_states_of_rmsprop_in_mxnet_2(mxnet_2):
    weight = mx.nd.array([0.25, 0.5])
    rule = opt.RMSProp()
    state = rule.create_state(0, weight)
    rule.update([0], [weight], [mx.nd.ones(2)], [state])
    np.testing.assert_allclose(state.asnumpy(), 0.1, rtol=1e-6)
    rule = opt.RMSProp(rho=0.5, centered=True)
    mean, variance, step = state = rule.create_state(1, weight)
    rule.update([1], [weight], [mx.nd.ones(2) * 2], [state])
    assert mean.asnumpy().tolist() == [1, 1] and variance.asnumpy().tolist() == [2, 2]
    assert (step.asnumpy() < 0).all()
