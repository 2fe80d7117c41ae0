"""Operators on several arrays: sums of squares, finiteness checks, zero filling."""

import numpy as np

from mxcy._base import dtypes
from mxcy.ops.core.attrs import Bool, Int
from mxcy.ops.core.infer import Spec, require, same_dtype
from mxcy.ops.core.params import ALL_FINITE
from mxcy.ops.core.record import native, op, sample, values

__all__ = []

_FLOAT32 = 0
_FLOATS = ("float32", "float64", "float16", "bfloat16")


def _check_count(a, ins):
    require(ins, "data: expected at least one array, got none")
    require(a.num_arrays == len(ins), f"num_arrays: {a.num_arrays} differs from {len(ins)} inputs")


def _infer_many(a, ins):
    """Check the number of arrays, and that they have the same floating-point dtype."""
    _check_count(a, ins)
    dtype = same_dtype(ins, [f"data{i}" for i in range(len(ins))])
    floating = dtype is None or dtypes.is_float(dtype)
    require(floating, f"data: expected a floating dtype, got {ins[0]}")


@op("multi_sum_sq", inputs="", variadic="data")
class MultiSumSq:
    """Compute the sum of squares of each array, as one float32 per array."""

    num_arrays: Int

    dtypes = _FLOATS
    samples = (sample((3, 4), (5,), (2, 2, 70), num_arrays=3, tol=10), sample((9,), num_arrays=1))
    kernels = (native("multi_sum_sq", mixed=True),)

    def infer(a, ins):
        _infer_many(a, ins)
        return Spec((a.num_arrays,), _FLOAT32)

    def ref(a, xp, arrays):
        return xp.stack([(x.astype("float64") ** 2).sum() for x in arrays]).astype("float32")


def _finite_kernel():
    return native(
        "all_finite",
        struct=ALL_FINITE,
        params=lambda a, ins, outs: {"init": a.init_output},
        mixed=True,
    )


def _finite(xp, arrays):
    """Return whether all are finite: the reference with `init_output`."""
    finite = 1.0
    for array in arrays:
        finite = finite * xp.isfinite(array).all()
    return xp.asarray(finite, "float32").reshape(1)


@op("all_finite", aliases=("_npi_all_finite",), like_out=("init_output",))
class AllFinite:
    """Test whether all elements are finite: 1 or 0 as float32 of shape (1,).

    Without `init_output` a 0 that is already in ``out`` stays, so that calls can follow one
    another; without ``out`` it changes nothing.
    """

    init_output: Bool = True

    dtypes = _FLOATS
    samples = (
        sample((3, 40), grad=False),
        sample(np.array([1, np.inf], np.float32), dtypes=("float32",)),
    )
    kernels = (_finite_kernel(),)

    def infer(a, data):
        floating = data.dtype is None or dtypes.is_float(data.dtype)
        require(floating, f"data: expected a floating dtype, got {data}")
        return Spec((1,), _FLOAT32)

    def ref(a, xp, data):
        return _finite(xp, [data])


@op(
    "multi_all_finite",
    aliases=("_npi_multi_all_finite",),
    inputs="",
    variadic="data",
    like_out=("init_output",),
)
class MultiAllFinite:
    """Test whether all elements of all arrays are finite: 1 or 0 as float32 of shape (1,).

    Without `init_output` a 0 that is already in ``out`` stays, so that calls can follow one
    another; without ``out`` it changes nothing.
    """

    num_arrays: Int = 1
    init_output: Bool = True

    dtypes = _FLOATS
    samples = (sample((3, 4), (70,), num_arrays=2, grad=False),)
    kernels = (_finite_kernel(),)

    def infer(a, ins):
        _infer_many(a, ins)
        return Spec((1,), _FLOAT32)

    def ref(a, xp, arrays):
        return _finite(xp, arrays)


@op("reset_arrays", inputs="", variadic="data", outputs=(lambda a: ()), mutates=range)
class ResetArrays:
    """Set all arrays to zero."""

    num_arrays: Int

    dtypes = _FLOATS
    samples = (
        sample((3, 4), (5,), num_arrays=2, grad=False),
        sample((3,), values(1, 2, (2,), "float64"), num_arrays=2, grad=False),
    )

    def infer(a, ins):
        _check_count(a, ins)
        return ()

    def ref(a, xp, arrays):
        return [xp.zeros_like(x) for x in arrays]
