"""The operators in mx.sym and its namespaces."""

import inspect

import numpy as np
import pytest

import mxcy as mx
from mxcy.ops.core import homes
from mxcy.ops.core.record import REGISTRY

S = mx.sym
PLACES = {
    homes.MAIN: S,
    homes.INTERNAL: S._internal,
    "contrib": S.contrib,
    "linalg": S.linalg,
    "image": S.image,
    "random": S.random,
    "sparse": S.sparse,
}


def test_every_operator_is_offered_at_home():
    listed = {namespace: set(dir(place)) for namespace, place in PLACES.items()}
    for name in sorted(REGISTRY):
        namespace, short = homes.home(name)
        if namespace not in PLACES:
            continue
        assert short in listed[namespace]
        function = getattr(PLACES[namespace], short)
        if getattr(function, "__mx_params__", None) is not None:
            assert function.__name__ == short and function.__doc__.strip()
            parameters = list(inspect.signature(function).parameters)
            assert parameters[-4:] == ["name", "attr", "out", "kwargs"], name
            assert set(REGISTRY[name].schema.names) <= set(parameters), name


def test_names_that_are_no_operators_are_refused():
    with pytest.raises(AttributeError, match="nonsense"):
        _ = S.nonsense
    with pytest.raises(AttributeError):
        _ = S.contrib.exp


def test_functions_are_made_once():
    assert S.exp is S.exp is S.op.exp and mx.symbol is S


def test_creation():
    made = (
        S.zeros((2, 3)),
        S.ones((2,), dtype="int32"),
        S.full((2,), 3),
        S.arange(1, 5, 2),
        S.linspace(0, 1, 3),
        S.eye(2),
        S.zeros(3),
    )
    actual = S.Group(list(made)).eval()
    expected = (
        np.zeros((2, 3)),
        np.ones(2),
        np.full(2, 3),
        np.arange(1, 5, 2),
        np.linspace(0, 1, 3),
        np.eye(2),
        np.zeros(3),
    )
    for ours, other in zip(actual, expected, strict=True):
        np.testing.assert_array_equal(ours.asnumpy(), other)
    assert actual[1].dtype == np.int32
    assert made[2].list_attr() == {"shape": "(2,)", "dtype": "float32", "value": "3.0"}
    assert made[3].list_attr()["step"] == "2" and made[6].list_attr()["shape"] == "3"


def test_histogram_and_split():
    a = S.var("a")
    data = mx.nd.array([0, 1, 2, 3, 4, 5])
    counts, edges = S.histogram(a, 3, (0, 6)).eval(a=data)
    assert counts.asnumpy().tolist() == [2, 2, 2] and edges.asnumpy().tolist() == [0, 2, 4, 6]
    with pytest.raises(ValueError, match="null range"):
        S.histogram(a, 3)
    with pytest.raises(ValueError):
        S.histogram(a, "x")
    parts = S.split_v2(a, (1, 4)).eval(a=data)
    assert [part.asnumpy().tolist() for part in parts] == [[0], [1, 2, 3], [4, 5]]
    with pytest.raises(ValueError):
        S.split_v2(a, "x")


@pytest.mark.parametrize(
    "name, numbers",
    [
        ("uniform", (0, 2)),
        ("normal", (1, 2)),
        ("poisson", (3,)),
        ("exponential", (2,)),
        ("gamma", (2, 3)),
        ("negative_binomial", (3, 0.5)),
        ("generalized_negative_binomial", (2, 0.5)),
    ],
)
def test_random_numbers_are_those_of_arrays(name, numbers):
    symbol, eager = getattr(S.random, name), getattr(mx.nd.random, name)
    mx.random.seed(3)
    (actual,) = symbol(*numbers, shape=(4, 5)).eval()
    mx.random.seed(3)
    expected = eager(*numbers, shape=(4, 5))
    np.testing.assert_array_equal(actual.asnumpy(), expected.asnumpy())
    variables = [S.var(f"p{i}") for i in range(len(numbers))]
    arrays = {f"p{i}": mx.nd.full((3,), value) for i, value in enumerate(numbers)}
    (actual,) = symbol(*variables, shape=2).eval(**arrays)
    assert actual.shape == (3, 2)
    for bad in ("x", None):
        with pytest.raises((TypeError, ValueError)):
            symbol(bad)
    if len(numbers) == 2:
        with pytest.raises(AssertionError):
            symbol(numbers[0], variables[0])


def test_other_random_functions():
    assert S.random.randn(2, 3, loc=1).eval()[0].shape == (2, 3)
    drawn = S.random.randint(3, 7, shape=(50,)).eval()[0].asnumpy()
    assert drawn.dtype == np.int32 and set(drawn) <= {3, 4, 5, 6}
    a = S.var("a")
    shuffled = S.random.shuffle(a).eval(a=mx.nd.arange(9))[0].asnumpy()
    assert sorted(shuffled) == list(range(9))
    index, log = S.random.multinomial(a).eval(a=mx.nd.array([0, 1]))
    assert (index.asnumpy().item(), log.asnumpy().item()) == (1, 0)
    assert S.random.uniform_like(a).eval(a=mx.nd.zeros((2, 3)))[0].shape == (2, 3)


def test_zipfian():
    true = S.var("true")
    mx.random.seed(1)
    samples, of_true, of_samples = S.Group(list(S.contrib.rand_zipfian(true, 40, 5))).eval(
        true=mx.nd.array([3, 0])
    )
    drawn = samples.asnumpy()
    assert drawn.dtype == np.int64 and drawn.min() >= 0 and drawn.max() < 5
    probability = np.log((np.arange(5) + 2) / (np.arange(5) + 1)) / np.log(6)
    np.testing.assert_allclose(of_true.asnumpy(), 40 * probability[[3, 0]])
    np.testing.assert_allclose(of_samples.asnumpy(), 40 * probability[drawn])
    with pytest.raises(AssertionError):
        S.contrib.rand_zipfian(3, 4, 5)


def test_adamw():
    names = ["weight", "grad", "mean", "var"]
    arrays = {name: mx.nd.full((3,), 0.5 + i) for i, name in enumerate(names)}
    settings = {"lr": 0.1, "eta": 0.5, "wd": 0.01}
    step = S.contrib.adamw_update(*map(S.var, names), 0.25, name="step", **settings)
    assert step.list_auxiliary_states() == ["mean", "var"] and step.name == "step"
    eager = [arrays[name].copy() for name in names]
    expected = mx.nd._internal._adamw_update(*eager, mx.nd.full((1,), 0.25), **settings)
    states = {name: arrays.pop(name) for name in ("mean", "var")}
    (actual,) = step.bind(mx.cpu(), arrays, aux_states=states).forward()
    np.testing.assert_allclose(actual.asnumpy(), expected.asnumpy(), rtol=1e-6)
    np.testing.assert_allclose(states["mean"].asnumpy(), eager[2].asnumpy(), rtol=1e-6)
    factor = S.var("factor")
    step = S.contrib.mp_adamw_update(*map(S.var, [*names, "copy"]), factor, **settings)
    assert step.list_inputs() == [*names, "copy", "factor"]
