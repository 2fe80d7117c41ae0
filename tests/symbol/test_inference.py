"""infer_shape and infer_type: results, errors, unknown dimensions."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.base import MXNetError

S = mx.sym


@pytest.fixture
def a():
    return S.var("a")


@pytest.fixture
def b():
    return S.var("b")


@pytest.fixture
def fc(a):
    return S.FullyConnected(a, num_hidden=10, name="fc")


def test_shapes(fc):
    whole = ([(2, 3), (10, 3), (10,)], [(2, 10)], [])
    assert fc.infer_shape(a=(2, 3)) == fc.infer_shape((2, 3)) == whole
    assert fc.infer_shape_partial(a=(0, 3)) == ([(0, 3), (10, 3), (10,)], [(0, 10)], [])
    assert fc.infer_shape_partial(a=(-1, 3))[1] == [(0, 10)]
    assert S.exp(fc).get_internals().infer_shape(a=(2, 3))[1] == [
        (2, 3),
        (10, 3),
        (10,),
        (2, 10),
        (2, 10),
    ]


def test_auxiliary_shapes(a):
    bn = S.BatchNorm(a, name="bn")
    assert bn.infer_shape(a=(2, 3, 4, 4)) == (
        [(2, 3, 4, 4), (3,), (3,)],
        [(2, 3, 4, 4)],
        [(3,), (3,)],
    )


@pytest.mark.parametrize("given", [{}, {"a": ()}, {"a": (0, 3)}])
def test_incomplete_shapes_warn(fc, given):
    with pytest.warns(UserWarning, match="Cannot decide shape.*\n\ta: "):
        assert fc.infer_shape(**given) == (None, None, None)


def test_contradictions_and_wrong_arguments(fc):
    with pytest.raises(MXNetError, match="fc.*weight"):
        fc.infer_shape(a=(2, 3), fc_weight=(3, 3))
    with pytest.raises(MXNetError, match="zz not found"):
        fc.infer_shape(zz=(3, 3))
    with pytest.raises(TypeError, match="'a'"):
        fc.infer_shape(a=[2, 3])
    with pytest.raises(TypeError, match="argument 0"):
        fc.infer_shape([2, 3])
    with pytest.raises(ValueError, match="positional or kwargs"):
        fc.infer_shape((2, 3), fc_weight=(3, 3))
    with pytest.raises(MXNetError):
        fc.infer_shape((2, 3), None, None, (3,))


def test_both_ways(a, b):
    assert (a + b).infer_shape(a=(3, 4)) == ([(3, 4), (3, 4)], [(3, 4)], [])
    assert (a + b).infer_shape(a=(3, 0), b=(0, 4))[1] == [(3, 4)]
    assert (S.transpose(a, axes=(1, 0)) + b).infer_shape(b=(2, 6))[0] == [(6, 2), (2, 6)]
    assert (S.tanh(S.exp(a) * 2) + b).infer_shape(b=(2, 6))[0] == [(2, 6), (2, 6)]
    assert (S.expand_dims(a, axis=-1) + b).infer_shape(b=(2, 1))[0] == [(2,), (2, 1)]


def test_variables_tell_of_themselves(b):
    known = S.var("s", shape=(2, 0), dtype="float16")
    assert (known + b).infer_shape(b=(0, 5))[0] == [(2, 5), (2, 5)]
    assert (S.var("s", shape=(2, 3)) + b).infer_shape(s=(7, 5))[0] == [(7, 5), (7, 5)]
    assert (known * b).infer_type()[0] == [np.float16, np.float16]
    assert (known * b).infer_type(s="float32")[0] == [np.float32, np.float32]
    for attrs in ({"__shape__": "(2, x"}, {"__dtype__": "77"}):
        broken = S.var("s")
        broken._set_attr(**attrs)
        with pytest.raises(MXNetError, match=next(iter(attrs))):
            (broken.infer_shape if "__shape__" in attrs else broken.infer_type)()


def test_types_that_operators_assume_settle_no_shapes():
    """An Embedding's dtype is float32 unless the weight's is known."""
    words = mx.gluon.nn.Embedding(20, 8)
    layer = mx.gluon.rnn.LSTM(8, layout="NTC", input_size=8)
    for block in (words, layer):
        block.cast("float64")
    out = layer(words(mx.sym.var("data")))
    assert out.infer_shape(data=(2, 5))[1] == [(2, 5, 8)]
    module = mx.mod.Module(out, label_names=None)
    module.bind([mx.io.DataDesc("data", (2, 5), dtype="float64")], for_training=False)
    module.init_params()
    module.forward(mx.io.DataBatch([mx.nd.ones((2, 5), dtype="float64")]))
    assert module.get_outputs()[0].dtype is np.float64


def test_shapes_of_constants_are_inferred(b):
    """A recurrent network's first state has an unknown batch size."""
    assert (S.zeros((0, 4)) + b).infer_shape(b=(3, 4)) == ([(3, 4)], [(3, 4)], [])
    assert S.zeros((0, 0)).infer_shape_partial() == ([], [(0, 0)], [])
    state = S.zeros((0, 5), name="state")
    weights = {"weight": S.var("w"), "bias": S.var("v")}
    step = S.FullyConnected(b, num_hidden=5, name="i") + S.FullyConnected(
        state, num_hidden=5, **weights
    )
    shapes = dict(zip(step.list_arguments(), step.infer_shape(b=(3, 4))[0], strict=True))
    assert shapes["w"] == (5, 5) and step.infer_shape(b=(3, 4))[1] == [(3, 5)]
    arrays = {name: mx.nd.ones(shape) for name, shape in shapes.items()}
    assert step.eval(**arrays)[0].asnumpy().tolist() == [[6.0] * 5] * 3


def test_numpy_shapes(a, b):
    with mx.np_shape():
        assert (a + b).infer_shape(a=(0, 3))[1] == [(0, 3)]
        assert (a + b).infer_shape_partial(a=(-1, 3))[1] == [(-1, 3)]
        assert (a + b).infer_shape_partial() == ([None, None], [None], [])
        assert S.exp(a).infer_shape(a=())[1] == [()]
        assert S.zeros((0, 4)).infer_shape() == ([], [(0, 4)], [])


def test_types(fc, a, b):
    assert fc.infer_type(a="float16") == ([np.float16] * 3, [np.float16], [])
    assert fc.infer_type("float64") == fc.infer_type(fc_weight=np.float64)
    assert fc.infer_type_partial() == ([None] * 3, [None], [])
    assert (S.cast(a, dtype="int32") + b).infer_type_partial()[0] == [None, np.int32]
    assert S.BatchNorm(a).infer_type(a="float16") == (
        [np.float16, np.float32, np.float32],
        [np.float16],
        [np.float32] * 2,
    )
    with pytest.warns(UserWarning, match="Cannot decide type"):
        assert fc.infer_type() == (None, None, None)
    with pytest.raises(MXNetError, match="fc"):
        fc.infer_type(a="float32", fc_weight="float16")
    with pytest.raises(MXNetError, match="zz not found"):
        fc.infer_type(zz="float32")
    with pytest.raises(TypeError):
        fc.infer_type("complex64")


def test_eval(a, b):
    one = mx.nd.ones((2,))
    (out,) = (a + 2 * b).eval(ctx=mx.cpu(), a=one, b=one)
    assert out.asnumpy().tolist() == [3, 3]
    with pytest.raises(ValueError, match="b"):
        (a + b).eval(a=one)
