"""Calls of unary elementwise operators: special values, gradients, integers, casts."""

import numpy as np

from .case import Case, array, draw

_ODD = array(np.nan, 0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, np.inf, -np.inf, 1e30, -7.25, 100, 3.3)
_SMALL = array(-0.9, -0.3, 0.1, 0.2, 0.7)
_ABOVE = array(1.0, 1.3, 2.0, 5.0, 10.0)
_WHOLE = np.array([0, 1, 2, 3, -1, -2, -5, 100])

_FUNCTIONS = """
    abs arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil cos cosh degrees erf exp expm1 fix
    floor log log10 log1p log2 logical_not negative radians rcbrt reciprocal relu rint round rsqrt
    sigmoid sign sin sinh softsign sqrt square tan tanh zeros_like ones_like identity BlockGrad
"""


def functions():
    for op in _FUNCTIONS.split():
        for name, values in (("odd", _ODD), ("small", _SMALL), ("above", _ABOVE)):
            wrt = () if op == "BlockGrad" else (0,)
            yield f"{op} {name}", Case(op, values, wrt=wrt)
    for op in ("gamma", "gammaln", "erfinv"):  # MXNet computes these and digamma less accurately
        for name, values in (("odd", _ODD), ("small", _SMALL)):
            yield f"{op} {name}", Case(op, values, wrt=(0,), tol=10)


def integers():
    for op in "abs ceil exp floor logical_not negative relu round sigmoid sign sqrt square".split():
        for dtype in ("int32", "int64", "int8"):
            yield f"{op} {dtype}", Case(op, _WHOLE.astype(dtype))
        yield f"{op} uint8", Case(op, np.abs(_WHOLE).astype("uint8"))


def halves():
    for op in "exp log tanh sin sqrt reciprocal round".split():
        yield op, Case(op, np.where(_ODD == 1e30, 1e4, _ODD).astype("float16"))


def with_numbers():
    for name, bounds in (("inside", (-1.5, 2.5)), ("crossed", (3, 2)), ("wide", (-1000, 1000))):
        attrs = dict(zip(("a_min", "a_max"), bounds, strict=True))
        yield f"clip {name}", Case("clip", _ODD, wrt=(0,), **attrs)
        for dtype in ("int32", "int8"):
            yield f"clip {name} {dtype}", Case("clip", _WHOLE.astype(dtype), **attrs)
        yield f"clip {name} uint8", Case("clip", np.abs(_WHOLE).astype("uint8"), **attrs)
    for sigma in (0.5, 1.0, 2.0):
        yield f"smooth_l1 {sigma}", Case("smooth_l1", _ODD, wrt=(0,), scalar=sigma)
    yield "smooth_l1", Case("smooth_l1", draw(3, 4, low=-2, high=2), wrt=(0,))
    for name, attrs in (("default", {}), ("given", {"alpha": 0.3, "beta": 0.1})):
        yield f"hard_sigmoid {name}", Case("hard_sigmoid", _ODD, wrt=(0,), **attrs)
    yield "quadratic", Case("contrib.quadratic", draw(3, 4), wrt=(0,), a=2.0, b=-1.0, c=0.5)
    yield "div_sqrt_dim", Case("contrib.div_sqrt_dim", draw(3, 5), wrt=(0,))
    yield "gradientmultiplier", Case("contrib.gradientmultiplier", draw(3), wrt=(0,), scalar=-2.0)
    for op in ("round_ste", "sign_ste"):
        yield op, Case(f"contrib.{op}", draw(9, low=-3, high=3), wrt=(0,))


def casts():
    values = np.array([5.7, -5.2, 3, -1, 0, 7, 120, 100, -127.5])
    for source in ("float32", "float64", "float16", "int32", "int64", "int8"):
        for target in ("float32", "float64", "float16", "int32", "int64", "int8", "uint8", "bool"):
            yield f"{source} {target}", Case("cast", values.astype(source), dtype=target)
    yield "gradient", Case("cast", draw(3, 4), wrt=(0,), dtype="float64")
    yield "amp_cast", Case("amp_cast", draw(3, 4), dtype="float16")
    yield "amp_multicast", Case("amp_multicast", draw(3), draw(2, 2), wrt=(0, 1), num_outputs=2)


FAMILY = (functions, integers, halves, with_numbers, casts)
