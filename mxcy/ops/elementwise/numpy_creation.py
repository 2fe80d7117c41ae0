"""Functions of `mx.np` that make arrays of nothing, as operators."""

import math

from mxcy._base import dtypes
from mxcy.ops.core.attrs import Bool, Double, DoubleOrNone, DType, Field, Int, IntOrNone, Shape, Str
from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.params import SCALAR
from mxcy.ops.core.record import native, op, register, sample
from mxcy.ops.core.result_types import default_float

__all__ = []

_ELEMENT = DType(None, *dtypes.CODES)
_LONG = dtypes.CODES["int64"]


def _code(a, default=None):
    """The element type that a call asks for, by default a floating one."""
    if a.dtype is not None:
        return dtypes.code_of(a.dtype)
    return default_float(a.numpy_types) if default is None else default


def _infer(a):
    shape = () if a.shape is None else a.shape
    require(min(shape, default=0) >= 0, f"shape {shape}: extents must not be negative")
    return Spec(shape, _code(a))


def _filled(xp, a, code, value):
    word = dtypes.name_of(code)
    return xp.full(a.shape or (), value, "float32" if word == "bfloat16" else word)


def _fill(value):
    """The kernel that fills an array."""
    return native(
        "fill",
        SCALAR,
        lambda a, ins, outs: {"scalar": value},
        select=lambda ins, outs: outs[0].dtype,
    )


_SIZED = (
    sample(shape=(2, 3)),
    sample(shape=()),
    sample(shape=(0, 2)),
    sample(shape=(4,), dtype="bool"),
    sample(shape=(4,), dtype="uint16"),
)

for _name, _value in (("zeros", 0.0), ("ones", 1.0)):
    register(
        f"_npi_{_name}",
        inputs="",
        fields=(Field("shape", Shape, ()), Field("ctx", Str, ""), Field("dtype", _ELEMENT, None)),
        infer=_infer,
        ref=lambda a, xp, _value=_value: _filled(xp, a, _code(a), _value),
        kernels=(_fill(_value),),
        samples=_SIZED,
        dtypes=("float32",),
        uses_types=True,
        doc=f"An array of {_name}, of the default floating type unless another is given.",
        numpy=f"{_name}(shape, dtype=None, order='C', ctx=None, device=None)",
    )


@op(
    "_npi_eye",
    inputs="",
    uses_types=True,
    dtypes=("float32",),
    numpy="eye(N, M=None, k=0, dtype=None, order='C', ctx=None, device=None)",
)
class Eye:
    """A matrix with ones on a diagonal and zeros elsewhere."""

    N: Int
    M: IntOrNone = None
    k: Int = 0
    ctx: Str = ""
    dtype: _ELEMENT = None

    samples = (sample(N=3), sample(N=2, M=4, k=1), sample(N=3, k=-1, dtype="int8"), sample(N=0))

    def infer(a):
        columns = a.N if a.M is None else a.M
        require(a.N >= 0 and columns >= 0, f"N, M: expected no negative extents: {a.N}, {columns}")
        return Spec((a.N, columns), _code(a))

    def ref(a, xp):
        word = dtypes.name_of(_code(a))
        return xp.eye(a.N, a.M, a.k, "float32" if word == "bfloat16" else word)


def _bounds(a):
    """The first and the last bound; with one bound the range starts at 0."""
    return (0.0, a.start) if a.stop is None else (a.start, a.stop)


@op("_npi_arange", inputs="", uses_types=True, dtypes=("float32",))
class Arange:
    """Evenly spaced values in the half-open interval from start to stop, or from 0 to `start`."""

    start: Double
    stop: DoubleOrNone = None
    step: Double = 1.0
    ctx: Str = ""
    dtype: _ELEMENT = None

    samples = (
        sample(start=5),
        sample(start=1, stop=2, step=0.25),
        sample(start=3, stop=-3, step=-2, dtype="int32"),
        sample(start=3, stop=1),
    )

    def infer(a):
        start, stop = _bounds(a)
        finite = all(map(math.isfinite, (start, stop, a.step)))
        require(finite, f"start, stop, step: expected finite numbers, got {start, stop, a.step}")
        require(a.step != 0, "step must not be 0")
        count = max(math.ceil((stop - start) / a.step), 0)
        require(count < 1 << 62, f"step: {a.step} makes too many values")
        return Spec((count,), _code(a))

    def ref(a, xp):
        start, stop = _bounds(a)
        count = max(math.ceil((stop - start) / a.step), 0)
        word = dtypes.name_of(_code(a))
        values = start + a.step * xp.arange(count)
        return values.astype("float32" if word == "bfloat16" else word)


@op("_npi_linspace", inputs="", uses_types=True, dtypes=("float32",))
class Linspace:
    """`num` evenly spaced values from start to stop."""

    start: Double
    stop: Double
    num: Int = 50
    endpoint: Bool = True
    ctx: Str = ""
    dtype: _ELEMENT = None

    samples = (
        sample(start=0, stop=1, num=5),
        sample(start=0, stop=1, num=4, endpoint=False),
        sample(start=0, stop=9, num=4, dtype="int32"),
        sample(start=2, stop=3, num=1),
        sample(start=2, stop=3, num=0),
    )

    def infer(a):
        require(a.num >= 0, f"num: expected no negative number of values, got {a.num}")
        return Spec((a.num,), _code(a))

    def ref(a, xp):
        word = dtypes.name_of(_code(a))
        values = xp.linspace(a.start, a.stop, a.num, a.endpoint)
        if dtypes.dtype_of(_code(a)).kind in "iu":
            values = xp.floor(values)
        return values.astype("float32" if word == "bfloat16" else word)


for _name, _value in (("zeros_like", 0.0), ("ones_like", 1.0)):
    register(
        f"_npi_{_name}",
        inputs="a",
        fields=(Field("dtype", _ELEMENT, None), Field("ctx", Str, "")),
        infer=lambda a, x: Spec(x.shape, x.dtype if a.dtype is None else dtypes.code_of(a.dtype)),
        grad=lambda a, F, g: None,
        ignores=("a",),
        ref=lambda a, xp, x, _value=_value: xp.full(
            x.shape, _value, x.dtype if a.dtype in (None, "bfloat16") else a.dtype
        ),
        kernels=(
            native(
                "fill",
                SCALAR,
                lambda a, ins, outs, _value=_value: {"scalar": _value},
                select=lambda ins, outs: outs[0].dtype,
                mixed=True,
            ),
        ),
        samples=(
            sample((3, 4), grad=False),
            sample((), grad=False),
            sample((2, 0), dtype="int64", grad=False),
        ),
        dtypes=("float32", "float64", "int32", "bool"),
        doc=f"An array of {_name[:-5]} of the shape and, unless another is given, type of `a`.",
        numpy=f"{_name}(a, dtype=None, order='C', ctx=None, device=None)",
    )
