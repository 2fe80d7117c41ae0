"""Casts that change no type are removed; those of several arrays become single casts."""

import numpy as np
import pytest

import mxcy as mx
from mxcy._execute.planned import Planned, target
from mxcy.graph.graph import from_entries
from mxcy.graph.infer import infer
from mxcy.graph.passes import same_types
from mxcy.graph.verify import verify
from mxcy.ops.core.infer import Spec

S = mx.sym


def graph_of(symbol, **arrays):
    graph = from_entries(symbol._entries)
    return infer(graph, {n: Spec(a.shape, a.dtype_code) for n, a in arrays.items()})


def drawn(*shape, dtype="float32"):
    return mx.nd.array(np.random.RandomState(0).uniform(-1, 1, shape), dtype=dtype)


@pytest.mark.parametrize(("second", "casts"), [("float32", 0), ("float16", 1), ("bfloat16", 1)])
def test_arrays_are_cast_one_by_one(second, casts):
    a, b = drawn(2, 3), drawn(2, 3, dtype=second)
    both = S.amp_multicast(S.relu(S.var("a")), S.relu(S.var("b")), num_outputs=2)
    graph = graph_of(both[0] + both[1], a=a, b=b)
    after = verify(same_types.run(graph, target()))
    counts = after.count_ops()
    assert "amp_multicast" not in counts
    assert counts.get("Cast", 0) == casts
    planned = Planned(graph, mx.cpu(), True)
    (out,) = planned.new_outputs()
    values = {"a": a, "b": b}
    planned.forward([*(values[n] for n in planned.variables), out], planned.new_arena())
    want = np.maximum(a.asnumpy(), 0) + np.maximum(b.astype("float32").asnumpy(), 0)
    np.testing.assert_allclose(out.asnumpy(), want, rtol=1e-6)


def test_casts_to_other_types_stay():
    graph = graph_of(S.Cast(S.var("a"), dtype="float16"), a=drawn(3))
    assert same_types.run(graph, target()) is graph


@pytest.mark.parametrize("last", [False, True])
def test_training_keeps_required_casts(last):
    """Casts of variables, which may be written before the backward pass, and outputs."""
    x = S.Cast(S.var("a"), dtype="float32")
    y = S.amp_cast(x * x, dtype="float32")
    y = y if last else y * 3
    a = drawn(2, 3)
    executor = y.bind(mx.cpu(), {"a": a}, {"a": mx.nd.zeros((2, 3))})
    (out,) = executor.forward(is_train=True)
    scale, before = (1 if last else 3), a.asnumpy()
    np.testing.assert_allclose(out.asnumpy(), scale * before**2, rtol=1e-6)
    a[:] = 100
    executor.backward(mx.nd.ones((2, 3)))
    np.testing.assert_allclose(executor.grad_dict["a"].asnumpy(), 2 * scale * before, rtol=1e-6)


def test_a_multicast_as_output_of_training():
    a, b = drawn(2, 3), drawn(2, 3)
    both = S.amp_multicast(S.var("a") * 2, S.var("b") * 3, num_outputs=2)
    gradients = {n: mx.nd.zeros((2, 3)) for n in "ab"}
    executor = S.Group([both[0], both[1]]).bind(mx.cpu(), {"a": a, "b": b}, gradients)
    first, second = executor.forward(is_train=True)
    np.testing.assert_allclose(first.asnumpy(), 2 * a.asnumpy(), rtol=1e-6)
    np.testing.assert_allclose(second.asnumpy(), 3 * b.asnumpy(), rtol=1e-6)
    executor.backward([mx.nd.ones((2, 3))] * 2)
    assert (gradients["a"].asnumpy() == 2).all() and (gradients["b"].asnumpy() == 3).all()
