"""Partially known shapes: inference from outputs to inputs, and unknown dimensions.

Expected values are MXNet 1.9.1's.
"""

import pytest

import mxcy as mx

S = mx.sym


def joined(symbol, shape, **known):
    """{argument: shape} of a symbol whose output is added to something of a known shape."""
    total = S.elemwise_add(symbol, S.var("out", shape=shape))
    shapes, _, _ = total.infer_shape_partial(**known)
    return dict(zip(total.list_arguments(), shapes, strict=True))


@pytest.fixture
def a():
    return S.var("a")


def test_shapes_and_types_reach_the_inputs_of_deep_networks(a):
    deep = a
    for _ in range(50):
        deep = S.relu(deep)
    assert joined(deep, (2, 3))["a"] == (2, 3)
    types, _, _ = S.elemwise_add(deep, S.var("b", dtype="float16")).infer_type()
    assert types[0] == mx.nd.zeros(1, dtype="float16").dtype


@pytest.mark.parametrize(
    ("make", "out", "known", "expected"),
    [
        (lambda a: S.concat(a, S.var("b"), dim=1), (2, 15), {"a": (0, 10)}, (2, 10)),
        (lambda a: S.concat(a, S.var("b"), dim=1), (2, 0, 6), {}, (2, 0, 6)),
        (lambda a: S.split(a, num_outputs=2, axis=1)[0], (2, 3), {}, (2, 6)),
        (lambda a: S.split(a, num_outputs=2, axis=0, squeeze_axis=True)[1], (3, 4), {}, (2, 3, 4)),
        (lambda a: S.reshape(a, shape=(2, -1)), (2, 6), {"a": (0, 3)}, (4, 3)),
        (
            lambda a: S.Convolution(a, num_filter=4, kernel=(3, 3), pad=(1, 0)),
            (2, 4, 6, 8),
            {"a": (0, 5, 0, 0)},
            (2, 5, 6, 10),
        ),
        (
            lambda a: S.Convolution(a, num_filter=4, kernel=(3, 3), stride=(2, 1)),
            (2, 4, 6, 8),
            {"a": (0, 5, 0, 0)},
            (2, 5, 0, 10),
        ),
        (lambda a: S.amp_multicast(a, S.var("b"), num_outputs=2)[0], (2, 3), {}, (2, 3)),
    ],
)
def test_inputs_learn_from_outputs(a, make, out, known, expected):
    assert joined(make(a), out, **known)["a"] == expected


@pytest.mark.parametrize(
    "make",
    [
        lambda a: S.FullyConnected(a, num_hidden=4),
        lambda a: S.Convolution(a, num_filter=4, kernel=(3, 3)),
        lambda a: S.Embedding(a, input_dim=5, output_dim=3),
        lambda a: S.reshape(a, shape=(2, -1)),
        lambda a: S.flatten(a),
        lambda a: S.transpose(a, axes=(1, 0)),
        lambda a: S.repeat(a, repeats=2),
        lambda a: S.broadcast_to(a, shape=(2, 3)),
    ],
)
def test_fully_unknown_shapes_are_not_reported(a, make):
    symbol = make(a)
    arguments, outputs, _ = symbol.infer_shape_partial()
    assert arguments == [()] * len(symbol.list_arguments()) and outputs == [()]
    with mx.np_shape():
        arguments, outputs, _ = symbol.infer_shape_partial()
        assert arguments == [None] * len(symbol.list_arguments()) and outputs == [None]


def test_weights_wait_for_the_rank_of_the_data(a):
    state = S.FullyConnected(S.var("state"), num_hidden=4, name="h")
    shapes = joined(state, (2, 4))
    assert shapes["h_weight"] == shapes["h_bias"] == shapes["state"] == ()
    image = S.Convolution(a, num_filter=4, kernel=(3, 3), name="c")
    arguments, _, _ = image.infer_shape_partial(a=(1, 0, 0, 0))
    assert dict(zip(image.list_arguments(), arguments, strict=True)) == {
        "a": (1, 0, 0, 0),
        "c_weight": (4, 0, 3, 3),
        "c_bias": (4,),
    }


def test_products_of_batches_need_their_matrices(a):
    product = S.batch_dot(a, S.var("b"))
    assert product.infer_shape_partial(a=(0, 3, 4), b=(7, 4, 5))[1] == [(7, 3, 5)]
    assert product.infer_shape_partial(a=(0, 3, 4), b=(0, 0, 5))[1] == [()]
    with mx.np_shape():
        assert product.infer_shape_partial(a=(-1, 3, 4), b=(-1, 4, 5))[1] == [(-1, 3, 5)]
        assert product.infer_shape_partial(a=(-1, 3, 4), b=(-1, -1, 5))[1] == [None]


@pytest.mark.parametrize("make", [S.ones, S.zeros, S.random.uniform])
def test_unknown_extents_of_creation_operators(make):
    made = make(shape=(2, -1)) + S.transpose(make(shape=(3, -1)))
    (result,) = made.bind(mx.cpu(), {}).forward()
    assert result.shape == (2, 3)
    alone = make(shape=(2, -1))
    assert alone.infer_shape_partial() == ([], [(2, 0)], [])
    with pytest.raises(mx.MXNetError, match="cannot be inferred"):
        alone.bind(mx.cpu(), {})
    with pytest.raises(mx.MXNetError, match="expected shape"):
        (alone + S.var("a")).infer_shape(a=(3, 5))


def test_creation_operator_with_two_outputs():
    """What has two outputs tells its shapes itself."""
    drawn = S._internal._sample_unique_zipfian(range_max=7, shape=(0, 7))
    with mx.np_shape():
        assert drawn.infer_shape() == ([], [(0, 7), (0,)], [])


@pytest.mark.parametrize("shape", ["(1e999, 2)", "(None,)", "'one'"])
def test_unreadable_shapes_of_variables(shape):
    variable = S.Variable("x", attr={"__shape__": shape})
    with pytest.raises(mx.MXNetError, match="variable x: cannot read __shape__"):
        variable.infer_shape_partial()
