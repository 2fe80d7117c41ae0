"""Calls with arrays of all storage types, for the real MXNet and for ours.

This file imports neither: `call` gets the module.
"""

import itertools

import numpy as np

SHAPE = (4, 4)
TYPES = {"d": "default", "c": "csr", "r": "row_sparse"}

UNARY = (
    "abs arcsin arcsinh arctan arctanh cbrt ceil degrees expm1 fix floor log1p negative radians "
    "relu rint round sign sin sinh sqrt square tan tanh trunc BlockGrad identity make_loss "
    "zeros_like exp cos log10 sigmoid softsign erf ones_like rsqrt reciprocal cosh arccosh gamma"
).split()
INTERNAL_BINARY = "_maximum _minimum _hypot _power _identity_with_attr_like_rhs".split()
BINARY = "elemwise_add elemwise_sub elemwise_mul elemwise_div".split() + INTERNAL_BINARY
BROADCAST = "broadcast_add broadcast_sub broadcast_mul broadcast_maximum broadcast_equal".split()
COMPARISONS = "equal not_equal greater greater_equal lesser lesser_equal".split()
REVERSED = "_rminus_scalar _rdiv_scalar _power_scalar _rpower_scalar _maximum_scalar _hypot_scalar"


def cases():
    """Yield (operator, attributes, number of inputs)."""
    for name in UNARY:
        yield name, {}, 1
    for name in ("_mul_scalar", "_div_scalar", *REVERSED.split()):
        yield name, {"scalar": 2.0}, 1
    for name, scalar in itertools.product(("_plus_scalar", "_minus_scalar"), (0.0, 1.5)):
        yield name, {"scalar": scalar}, 1
    for name, scalar in itertools.product(COMPARISONS, (-1.0, 0.0, 1.0)):
        yield f"_{name}_scalar", {"scalar": scalar}, 1
    yield "clip", {"a_min": -0.5, "a_max": 0.5}, 1
    for name in ("sum", "mean"):
        for attrs in ({}, {"axis": 0}, {"axis": 1}, {"axis": 1, "keepdims": True}, {"axis": -1}):
            yield name, attrs, 1
    for attrs in ({}, {"ord": 1}, {"axis": 0}, {"axis": 1}, {"axis": (0, 1)}):
        yield "norm", attrs, 1
    for attrs in ({"begin": (1,), "end": (3,)}, {"begin": (0, 1), "end": (3, 3)}):
        yield "slice", attrs, 1
    yield "slice", {"begin": (0,), "end": (4,), "step": (2,)}, 1
    yield "slice_axis", {"axis": 0, "begin": 0, "end": 2}, 1
    yield "transpose", {}, 1
    yield "softmax", {}, 1
    yield "_contrib_quadratic", {"a": 2.0, "b": 3.0}, 1
    yield "_contrib_quadratic", {"a": 2.0, "c": 3.0}, 1
    for name in BINARY + BROADCAST:
        yield name, {}, 2
    flags = (False, True)
    for left, right, stype in itertools.product(flags, flags, (None, "default")):
        attrs = {"transpose_a": left, "transpose_b": right}
        yield "dot", attrs if stype is None else {**attrs, "forward_stype": stype}, 2
    yield "concat", {"dim": 0}, 2
    yield "concat", {"dim": 1}, 2
    yield "add_n", {}, 3
    yield "where", {}, 3


def calls():
    """Yield (key, operator, attributes, storage types), without those that are all dense."""
    for name, attrs, count in cases():
        for letters in itertools.product("dcr", repeat=count):
            if set(letters) != {"d"} and not (count == 3 and len(set(letters)) == 3):
                shown = ", ".join(f"{k}={v}" for k, v in attrs.items())
                yield f"{name}({''.join(letters)}; {shown})", name, attrs, letters


def values(position):
    """The elements of input number `position`: those of rows 1 and 3 are zero."""
    drawn = np.random.RandomState(position).uniform(-0.9, 0.9, SHAPE)
    drawn[1::2] = 0
    drawn[np.abs(drawn) < 0.25] = 0
    return drawn.astype("float32")


def inputs(mx, letters):
    """The arrays of a call."""
    return [mx.nd.array(values(i)).tostype(TYPES[kind]) for i, kind in enumerate(letters)]


def function(mx, name):
    """The function of an operator, wherever the module has it."""
    if name.startswith("_contrib_"):
        return getattr(mx.nd.contrib, name[len("_contrib_") :])
    if name == "identity":
        return mx.nd.identity
    return getattr(mx.nd._internal if name.startswith("_") else mx.nd, name)
