"""Calls of dense layers, activations, embeddings, products and small operators."""

import numpy as np

from .case import Case, array, draw, normal


def dense():
    weight, bias = normal(4, 6, seed=1), normal(4, seed=2)
    for name, shape, more in (
        ("flat", (3, 6), {}),
        ("flattened", (3, 2, 3), {}),
        ("last", (2, 3, 6), {"flatten": False}),
    ):
        data = normal(*shape)
        yield name, Case("FullyConnected", data, weight, bias, wrt=(0, 1, 2), num_hidden=4, **more)
        yield (
            f"{name}-no_bias",
            Case("FullyConnected", data, weight, wrt=(0, 1), num_hidden=4, no_bias=True, **more),
        )


def activations():
    for kind in ("relu", "sigmoid", "tanh", "softrelu", "softsign"):
        yield kind, Case("Activation", normal(3, 5) * 3, wrt=(0,), act_type=kind)
        half = normal(3, 5, dtype="float16")
        yield f"{kind}-half", Case("Activation", half, act_type=kind)


def leaky():
    data = normal(2, 3, 4) * 2
    for kind, more in (("leaky", {"slope": 0.1}), ("elu", {"slope": 0.7}), ("gelu", {})):
        yield kind, Case("LeakyReLU", data, wrt=(0,), act_type=kind, **more)
    yield "selu", Case("LeakyReLU", data, act_type="selu")  # the gradient of another function
    slopes = array(0.1, 0.2, 0.3)
    yield "prelu", Case("LeakyReLU", data, slopes, wrt=(0, 1), act_type="prelu")
    yield "prelu-one", Case("LeakyReLU", data, slopes[:1], wrt=(0, 1), act_type="prelu")


def embeddings():
    weight, given = normal(5, 3), {"input_dim": 5, "output_dim": 3}
    rows = array([0, 4, 1], [1, 1, 7])  # the last one is beyond the weight
    yield "floats", Case("Embedding", rows, weight, wrt=(1,), **given)
    yield "integers", Case("Embedding", rows.astype("int32"), weight, wrt=(1,), **given)
    yield "sparse", Case("contrib.SparseEmbedding", rows, weight, **given)


def products():
    for left, right, more in (
        ((3, 4), (4, 5), {}),
        ((4, 3), (4, 5), {"transpose_a": True}),
        ((3, 4), (5, 4), {"transpose_b": True}),
        ((4,), (4,), {}),
        ((2, 3, 4), (4, 5), {}),
        ((3, 4), (4, 2, 5), {}),
        ((2, 4, 3), (2, 4, 5), {"transpose_a": True}),
    ):
        name = f"{left}{right}{''.join(more)}"
        if len(left) < 3 or not more:
            yield (
                f"dot-{name}",
                Case("dot", normal(*left), normal(*right, seed=1), wrt=(0, 1), **more),
            )
    for left, right, more in (
        ((2, 3, 4), (2, 4, 5), {}),
        ((2, 4, 3), (2, 4, 5), {"transpose_a": True}),
        ((2, 3, 4), (2, 5, 4), {"transpose_b": True}),
    ):
        case = Case("batch_dot", normal(*left), normal(*right, seed=1), wrt=(0, 1), **more)
        yield f"batch-{left}{right}", case


def made():
    yield "zeros", Case("zeros", shape=(2, 3), dtype="int32")
    yield "ones", Case("ones", shape=(2, 3), dtype="float16")
    yield "full", Case("full", shape=(2, 3), val=2.5)
    yield "eye", Case("eye", N=3, M=5, k=1)
    yield "eye-below", Case("eye", N=4, k=-2)
    yield "arange", Case("arange", start=1, stop=7, step=1.5, repeat=2)
    yield "arange-integers", Case("arange", start=5, stop=-3, step=-2, dtype="int64")
    yield "linspace", Case("linspace", start=1, stop=2, num=7)
    yield "linspace-open", Case("linspace", start=1, stop=2, num=7, endpoint=False)


def checks():
    good, bad = normal(3, 4), array(1, np.inf, 2)
    yield "finite", Case("all_finite", good)
    yield "infinite", Case("all_finite", bad)
    yield "all", Case("multi_all_finite", good, good * 2, num_arrays=2)
    yield "one", Case("multi_all_finite", good, bad, num_arrays=2)
    values = array(0, 1, 2.5, 3, 7, 10, 11)
    yield "histogram", Case("_internal._histogram", values, bin_cnt=5, range=(0, 10))
    yield "histogram-edges", Case("_internal._histogram", values, array(0, 2, 3, 8))
    near = normal(3, 4) + 1e-6
    yield "close", Case("contrib.allclose", normal(3, 4), near, rtol=1e-4, atol=1e-5)
    yield "not-close", Case("contrib.allclose", normal(3, 4), near + 1, rtol=1e-4, atol=1e-5)


def compared():
    a, b = draw(3, 4, low=-2, high=2).round(), draw(3, 4, low=-2, high=2, seed=5).round()
    names = ("equal", "not_equal", "greater", "greater_equal", "lesser", "lesser_equal")
    for name in (*names, "logical_and", "logical_or", "logical_xor"):
        yield name, Case(f"_internal._{name}", a, b)


def elements():
    for name, inputs in (("trunc", normal(3, 4) * 3), ("digamma", draw(3, 4, low=0.2, high=5))):
        yield name, Case(name, inputs, wrt=(0,), version=2)
    for name in ("log_sigmoid", "mish"):
        yield name, Case(name, normal(3, 4) * 3, wrt=(0,), version=2)


def inside():
    """Internal operators of layers and assignments."""
    parts = normal(4), normal(6, seed=3)
    yield "parameters", Case("_internal._rnn_param_concat", *parts, wrt=(0, 1), dim=0)
    like = normal(2, 3), normal(2, 3, seed=5)
    yield "like", Case("_internal._identity_with_attr_like_rhs", *like, wrt=(0,))
    rows = np.array([[0, 2], [1, 0]])
    inputs = normal(3, 2), array(7, 8), rows
    yield "set", Case("_internal._scatter_set_nd", *inputs, shape=(3, 2), out=(0,), states=(0,))


FAMILY = (dense, activations, leaky, embeddings, products, made, checks, compared, elements, inside)
