"""Steps that update all weights in one call: bit-identical to single updates; conditions."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.ops.core import params
from tests.ops.kernel_call import run_kernel

RULES = {
    "sgd": {},
    "sgd with momentum": {"momentum": 0.9},
    "nag": {"momentum": 0.9},
    "nag without momentum": {},
    "adam": {},
    "adamw": {},
    "adamw uncorrected": {"correct_bias": False},
}
#: more than operators with rates in their attributes take, with a size of each kind
SHAPES = [(1,), (17,), (3, 5), (1000,), (70, 33), (2, 3, 4, 5)] * 11 + [(200, 401)]


def make(rule, **arguments):
    """An optimizer with everything that affects learning rates."""
    names = {i: f"layer{i}_{'weight' if i % 3 else 'bias'}" for i in range(len(SHAPES))}
    optimizer = mx.optimizer.create(
        rule.split()[0],
        wd=0.01,
        lr_scheduler=mx.lr_scheduler.FactorScheduler(2, 0.5, base_lr=0.1),
        rescale_grad=0.7,
        param_idx2name=names,
        **{**RULES[rule], **arguments},
    )
    optimizer.set_lr_mult({"layer4_weight": 3.0})
    return optimizer


def train(optimizer, dtypes, steps=3, shapes=SHAPES):
    """All weights and states after some steps."""
    random = np.random.default_rng(3)
    updater = mx.optimizer.get_updater(optimizer)
    kinds = [dtypes[i % len(dtypes)] for i in range(len(shapes))]
    pairs = list(zip(shapes, kinds, strict=True))
    weights = [mx.nd.array(random.normal(size=s), dtype=dtype) for s, dtype in pairs]
    for _ in range(steps):
        grads = [mx.nd.array(random.normal(size=s), dtype=dtype) for s, dtype in pairs]
        updater(list(range(len(shapes))), grads, weights)
    states = [flat(updater.states[i]) for i in range(len(shapes))]
    return [array.asnumpy() for array in (*weights, *sum(states, []))]


def flat(state):
    """The arrays of a state."""
    if state is None:
        return []
    return sum(map(flat, state), []) if isinstance(state, tuple) else [state]


@pytest.mark.parametrize("clip", [None, 0.3])
@pytest.mark.parametrize(
    ("dtypes", "multi_precision"),
    [(("float32",), False), (("float16", "float64", "float32"), True), (("float16",), False)],
)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.filterwarnings("ignore:Accumulating with float16")
def test_same_bits_as_one_by_one(rule, dtypes, multi_precision, clip):
    common = {"clip_gradient": clip, "multi_precision": multi_precision}
    together = train(make(rule, **common), dtypes)
    alone = train(make(rule, aggregate_num=1, **common), dtypes)
    assert len(together) == len(alone)
    for one, other in zip(together, alone, strict=True):
        assert np.isfinite(one).all()
        np.testing.assert_array_equal(one, other)


def train_on_same_arrays(rule, **how):
    """Weights after steps on the same arrays, with one change between steps."""
    random = np.random.default_rng(4)
    optimizer = make(rule, **how)
    updater = mx.optimizer.get_updater(optimizer)
    shapes = [(3,), (20,), (4, 5)]
    weights, others = ([mx.nd.array(random.normal(size=s)) for s in shapes] for _ in range(2))
    grads = [mx.nd.array(random.normal(size=s)) for s in shapes]
    order = [0, 1, 2]

    def step():
        for grad in grads:
            grad[:] = mx.nd.array(random.normal(size=grad.shape))
        updater(order, grads, weights)
        updater(order, grads, weights)

    step()
    optimizer.lr_scheduler.base_lr = 0.05
    step()
    optimizer.wd, optimizer.rescale_grad = 0.1, 0.3
    step()
    weights[1] = others[1]
    step()
    grads[2] = grads[2] * 2
    step()
    order.reverse(), weights.reverse(), grads.reverse()
    step()
    updater.set_states(updater.get_states())
    step()
    updater.optimizer = make("adam", **how)
    updater.states.clear()
    step()
    updater(order[::2], grads[::2], weights[::2])
    step()
    states = [flat(updater.states[i]) for i in range(3)]
    return [array.asnumpy() for array in (*weights, *others, *sum(states, []))]


@pytest.mark.parametrize("rule", RULES)
def test_steps_on_the_same_arrays_see_what_changes(rule):
    together, alone = train_on_same_arrays(rule), train_on_same_arrays(rule, aggregate_num=1)
    assert len(together) == len(alone)
    for one, other in zip(together, alone, strict=True):
        assert np.isfinite(one).all()
        np.testing.assert_array_equal(one, other)


def test_lists_of_other_lengths_are_refused_at_any_step():
    updater = mx.optimizer.get_updater(make("sgd"))
    weights, grads = [mx.nd.ones((2,)), mx.nd.ones((3,))], [mx.nd.ones((2,)), mx.nd.ones((3,))]
    for _ in range(3):
        updater([0, 1], grads, weights)
    for short in ([0, 1], grads[:1], weights), ([0, 1], grads, weights[:1]), ([0], grads, weights):
        with pytest.raises(ValueError, match="zip"):
            updater(*short)


def calls_of(monkeypatch, *names):
    """A list that receives the number of weights of every call of some operators."""
    calls = []
    for name in names:
        real = getattr(mx.nd._internal, name)

        def counted(*arrays, real=real, **attrs):
            calls.append(attrs["num_weights"])
            return real(*arrays, **attrs)

        monkeypatch.setattr(mx.nd._internal, name, counted)
    return calls


def many_layers():
    """A network with 80 weights."""
    net = mx.gluon.nn.HybridSequential()
    net.add(*(mx.gluon.nn.Dense(3, in_units=3) for _ in range(40)))
    net.initialize()
    return net


@pytest.mark.parametrize("rule", ["sgd", "adam"])
def test_trainers_and_modules_step_once(rule, monkeypatch):
    calls = calls_of(monkeypatch, "_sgd_all", "_adam_all")
    net = many_layers()
    trainer = mx.gluon.Trainer(net.collect_params(), rule)
    with mx.autograd.record():
        loss = net(mx.nd.ones((2, 3))).sum()
    loss.backward()
    trainer.step(2)
    assert calls == [80]
    module = mx.mod.Module(net(mx.sym.var("data")), label_names=None)
    module.bind([("data", (2, 3))])
    module.init_params()
    module.init_optimizer(optimizer=rule)
    module.forward(mx.io.DataBatch([mx.nd.ones((2, 3))], []), is_train=True)
    module.backward([mx.nd.ones((2, 3))])
    module.update()
    assert calls == [80, 80]


def test_a_number_that_was_asked_for_counts(monkeypatch):
    calls = calls_of(monkeypatch, "_sgd_all")
    train(make("sgd", aggregate_num=4), ("float32",), steps=1)
    monkeypatch.setenv("MXNET_OPTIMIZER_AGGREGATION_SIZE", "4")
    train(make("sgd"), ("float32",), steps=1)
    assert calls == []
    monkeypatch.delenv("MXNET_OPTIMIZER_AGGREGATION_SIZE")
    assert mx.optimizer.SGD().aggregate_num == 4
    train(make("sgd"), ("float32",), steps=1)
    assert calls == [len(SHAPES)]


@pytest.mark.parametrize("method", ["update", "update_multi_precision", "step", "fused_step"])
def test_user_defined_methods_are_called(method):
    """Classes that override methods get weights as in MXNet."""
    seen = []

    def own(self, index, weight, grad, state):
        seen.append(len(index) if isinstance(index, list) else 1)

    kind = type("Own", (mx.optimizer.Adam,), {method: own})
    train(kind(learning_rate=0.1), ("float32",), steps=1)
    assert seen == [1] * len(SHAPES)


def test_states_of_different_structure_go_one_by_one(monkeypatch):
    """Momenta of some weights only."""
    calls = calls_of(monkeypatch, "_sgd_all", "_sgd_mom_all")
    optimizer = mx.optimizer.SGD(learning_rate=0.5, momentum=0.5)
    updater = mx.optimizer.get_updater(optimizer)
    weights, grads = [mx.nd.ones(3), mx.nd.ones(3)], [mx.nd.ones(3), mx.nd.ones(3)]
    updater.states[0], updater.states_synced[0] = None, True
    updater.states[1], updater.states_synced[1] = mx.nd.zeros(3), True
    optimizer.aggregate_num = 1
    updater([0, 1], grads, weights)
    for weight in weights:
        np.testing.assert_array_equal(weight.asnumpy(), [0.5] * 3)
    assert calls == []


def test_resumed_states_match_an_uninterrupted_run(tmp_path):
    """A Trainer that resumes from saved states matches an uninterrupted one."""
    ends = []
    for broken in (False, True):
        mx.random.seed(7)
        net = many_layers()
        trainer = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
        for number in range(4):
            if broken and number == 2:
                trainer.save_states(str(tmp_path / "states"))
                trainer = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
                trainer.load_states(str(tmp_path / "states"))
            with mx.autograd.record():
                loss = net(mx.nd.ones((2, 3)) * number).sum()
            loss.backward()
            trainer.step(2)
        ends.append([p.data().asnumpy() for p in net.collect_params().values()])
    for one, other in zip(*ends, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("sizes", [(5,), (1000, 3), (1, 70_000, 17, 0, 4096)])
def test_any_team_computes_the_same(sizes):
    packed = params.STEP_ALL.pack(
        weights=len(sizes),
        per=3,
        momentum=0.9,
        beta1=0,
        beta2=0,
        epsilon=0,
        rescale_grad=0.5,
        clip_gradient=-1,
    )
    rates = np.array([0.1 * (i + 1) for i in range(len(sizes))] + [0.01] * len(sizes))
    results = []
    for threads in (1, 2):
        random = np.random.default_rng(1)
        ins = [random.normal(size=n).astype("float32") for n in sizes for _ in range(3)]
        outs = [np.full(n, np.nan, np.float32) for n in sizes]
        run_kernel("_sgd_mom_all", [*ins, rates], outs, packed, threads=threads)
        results.append([*outs, *ins])
    for one, two in zip(*results, strict=True):
        np.testing.assert_array_equal(one, two)
    for weight, new, moved in zip(ins[::3], outs, ins[2::3], strict=True):
        np.testing.assert_array_equal(new, weight + moved)
