"""`mx.np` functions that round or replace elements."""

import numpy as np

from mxcy._base import dtypes
from mxcy.ops.core.attrs import Bool, Double, DoubleOrNone, Int
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.params import SCALAR2
from mxcy.ops.core.public import Public
from mxcy.ops.core.record import native, op, sample

__all__ = []

_FLOATS = ("float32", "float64", "float16", "bfloat16")
_ALL = (*_FLOATS, "int32", "int64", "int8", "uint8")


def _infer_same(a, x):
    return Spec(x.shape, x.dtype)


#: kernels that scale by a power of ten, round, and scale back
_POWERS = (("round_decimals", False), ("round_tens", True))


def _by_power(name, negative):
    def refusal(a, ins, outs):
        if (a.decimals < 0) != negative or abs(a.decimals) > 22:
            return "decimals of another kind"
        exact = dtypes.name_of(ins[0].dtype) in ("float32", "float64")
        return None if exact else "each step rounds to half precision"

    def params(a, ins, outs):
        return {"p": 10.0 ** abs(a.decimals), "q": 10.0 ** abs(a.decimals)}

    return native(name, SCALAR2, params, when=refusal, inplace=True)


@op(
    "_npi_around",
    inputs="x",
    in_symbols=InSymbols(spellings={"decimal": "decimals"}),
    numpy="around round round_(x, decimals=0, out=None, **kwargs)",
)
class Around:
    """Round to the given number of decimals, halves to even; negative `decimals` round to tens."""

    decimals: Int = 0

    dtypes = _ALL
    complexes = True
    domain = (-30, 30)
    complexes = True
    samples = (
        sample((3, 4)),
        sample((3, 4), decimals=1, grad=False),
        sample((5,), decimals=-1, grad=False),
        sample(()),
        sample((2, 0), grad=False),
    )
    kernels = (
        native(
            "around",
            when=lambda a, ins, outs: "decimals are asked for" if a.decimals else None,
            inplace=True,
        ),
        *(_by_power(name, negative) for name, negative in _POWERS),
    )

    infer = _infer_same

    def grad(a, F, g):
        return F.zeros_like(g)

    def ref(a, xp, x):
        if x.dtype.kind not in "fc" and a.decimals >= 0:
            return x
        return xp.round(x, a.decimals)


@op(
    "_npi_nan_to_num",
    inputs="x",
    numpy=Public(
        "nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None, **kwargs)",
        rename={"copy": "in place"},  # handled in Python
    ),
)
class NanToNum:
    """Replace NaN by 0 and infinities by the largest finite values, or by given values."""

    copy: Bool = True
    nan: Double = 0.0
    posinf: DoubleOrNone = None
    neginf: DoubleOrNone = None

    dtypes = (*_ALL, "bool")
    complexes = True
    samples = (
        sample((3, 4)),
        sample(
            np.array([np.nan, np.inf, -np.inf, 2.0]), nan=1.0, posinf=5.0, neginf=-5.0, grad=False
        ),
        sample(()),
    )

    infer = _infer_same

    def grad(a, F, g, x):
        return g * ((x - x) == 0)  # 1 where elements are finite

    def ref(a, xp, x):
        if x.dtype.kind not in "fc":
            return x
        return xp.nan_to_num(x, nan=a.nan, posinf=a.posinf, neginf=a.neginf)
