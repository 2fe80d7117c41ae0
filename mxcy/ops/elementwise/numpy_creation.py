"""Array creation operators of `mx.np`."""

import math

import numpy as np

from mxcy._base import dtypes
from mxcy.ops.core.attrs import (
    Bool,
    Double,
    DoubleOrNone,
    DType,
    Field,
    Int,
    IntOrNone,
    Long,
    Offset,
    Shape,
    Str,
    ULong,
)
from mxcy.ops.core.in_symbols import TYPED, InSymbols
from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.params import LINSPACE, SCALAR
from mxcy.ops.core.record import native, op, register, sample
from mxcy.ops.core.result_types import default_float

__all__ = []

_ELEMENT = DType(None, *dtypes.CODES)
_LONG = dtypes.CODES["int64"]


def _code(a, default=None):
    """Return the requested dtype, by default the floating-point one."""
    if a.dtype is not None:
        return dtypes.code_of(a.dtype)
    return default_float(a.numpy_types) if default is None else default


def _infer(a):
    shape = () if a.shape is None else a.shape
    require(min(shape, default=0) >= 0, f"shape {shape}: sizes must not be negative")
    return Spec(shape, _code(a))


def _filled(xp, a, code, value):
    word = dtypes.name_of(code)
    return xp.full(a.shape or (), value, "float32" if word == "bfloat16" else word)


def _fill(value):
    """Return the kernel that fills an array."""
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
        in_symbols=TYPED,
        complexes=True,
        doc=f"Return a new array of {_name}, of the default floating-point dtype unless given.",
        numpy=f"{_name}(shape, dtype=None, order='C', ctx=None, device=None)",
    )


@op(
    "_npi_eye",
    inputs="",
    uses_types=True,
    in_symbols=TYPED,
    complexes=True,
    dtypes=("float32",),
    numpy="eye(N, M=None, k=0, dtype=None, order='C', ctx=None, device=None)",
)
class Eye:
    """Return a matrix with ones on a diagonal and zeros elsewhere."""

    N: Int
    M: IntOrNone = None
    k: Offset = 0
    ctx: Str = ""
    dtype: _ELEMENT = None

    samples = (sample(N=3), sample(N=2, M=4, k=1), sample(N=3, k=-1, dtype="int8"), sample(N=0))

    def infer(a):
        columns = a.N if a.M is None else a.M
        require(a.N >= 0 and columns >= 0, f"N, M: expected no negative sizes: {a.N}, {columns}")
        return Spec((a.N, columns), _code(a))

    def ref(a, xp):
        word = dtypes.name_of(_code(a))
        return xp.eye(a.N, a.M, a.k, "float32" if word == "bfloat16" else word)


def _bounds(a):
    """Return start and stop; with one bound the range starts at 0."""
    return (0.0, a.start) if a.stop is None else (a.start, a.stop)


@op(
    "_npi_arange", inputs="", uses_types=True, in_symbols=TYPED, complexes=True, dtypes=("float32",)
)
class Arange:
    """Return evenly spaced values in [start, stop), or in [0, start) with one bound."""

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


_KINDS = ("int", "uint", "double")  # of scalars, by `value_type`


def _kind(a):
    require(a.value_type in (0, 1, 2), f"value_type: expected 0, 1 or 2, got {a.value_type}")
    return _KINDS[a.value_type]


def _filling(a):
    return getattr(a, f"{_kind(a)}_value")


@op("_npi_full", inputs="", uses_types=True, in_symbols=TYPED, complexes=True, dtypes=("float32",))
class Full:
    """Return a new array filled with a scalar.

    The scalar is `int_value`, `uint_value` or `double_value` for `value_type` 0, 1 or 2.
    """

    shape: Shape = ()
    ctx: Str = ""
    dtype: _ELEMENT = None
    double_value: Double = 0.0
    int_value: Long = 0
    uint_value: ULong = 0
    value_type: Int = 2

    kernels = (
        native(
            "fill",
            SCALAR,
            lambda a, ins, outs: {"scalar": float(_filling(a))},
            select=lambda ins, outs: outs[0].dtype,
            when=lambda a, ins, outs: (
                None if float(_filling(a)) == _filling(a) else "the scalar is not a double"
            ),
        ),
    )
    samples = (
        sample(shape=(2, 3), double_value=1.5),
        sample(shape=(), int_value=3, value_type=0, dtype="int64"),
        sample(shape=(4,), uint_value=2**64 - 1, value_type=1, dtype="uint64"),
        sample(shape=(2,), int_value=1, value_type=0, dtype="bool"),
        sample(shape=(0, 2), int_value=-(2**62) - 1, value_type=0, dtype="int64"),
        sample(shape=(3,), int_value=-(2**62) - 1, value_type=0, dtype="int64"),
    )

    def infer(a):
        _kind(a)
        return _infer(a)

    def ref(a, xp):
        word = dtypes.name_of(_code(a))
        with np.errstate(all="ignore"):
            value = xp.asarray(_filling(a)).astype("float32" if word == "bfloat16" else word)
        return xp.full(a.shape or (), value, value.dtype)


def _ends(a):
    return getattr(a, f"start_{_kind(a)}"), getattr(a, f"stop_{_kind(a)}")


def _line(a, ins, outs):
    start, stop = map(float, _ends(a))
    step = (stop - start) / max(a.num - a.endpoint, 1)
    return {"start": start, "step": step, "last": stop, "has_last": a.endpoint}


def _refuse_line(a, ins, outs):
    fits = all(abs(end) < 2**53 for end in _ends(a)) and _line(a, ins, outs)["step"] != 0
    return None if fits else "ends that are large, not finite or equal"


@op(
    "_npi_linspace",
    inputs="",
    uses_types=True,
    in_symbols=TYPED,
    complexes=True,
    dtypes=("float32",),
)
class Linspace:
    """Return `num` evenly spaced values from a start to a stop.

    These are `start_int` and `stop_int`, and so on, according to `value_type`: 0 for signed, 1 for
    unsigned integers, 2 for floating-point numbers.
    """

    start_double: Double = 0.0
    stop_double: Double = 0.0
    start_int: Long = 0
    stop_int: Long = 0
    start_uint: ULong = 0
    stop_uint: ULong = 0
    num: Long = 50
    endpoint: Bool = True
    ctx: Str = ""
    dtype: _ELEMENT = None
    value_type: Int = 0

    samples = (
        sample(stop_int=1, num=5),
        sample(stop_double=1.5, num=4, endpoint=False, value_type=2),
        sample(stop_int=9, num=4, dtype="int32"),
        sample(start_uint=2, stop_uint=3, num=1, value_type=1),
        sample(start_int=2, stop_int=3, num=0),
        sample(start_double=0.1, stop_double=-7.3, num=133, value_type=2),
        sample(stop_double=1.0, num=17, value_type=2, dtype="float64"),
    )

    kernels = (native("linspace", LINSPACE, _line, when=_refuse_line),)

    def infer(a):
        _kind(a)
        require(a.num >= 0, f"num: expected no negative number of values, got {a.num}")
        return Spec((a.num,), _code(a))

    def ref(a, xp):
        word = dtypes.name_of(_code(a))
        values = xp.linspace(*_ends(a), a.num, a.endpoint)
        if dtypes.dtype_of(_code(a)).kind in "iu":
            values = xp.floor(values)
        return values.astype("float32" if word == "bfloat16" else word)


for _name, _value in (("zeros_like", 0.0), ("ones_like", 1.0)):
    register(
        f"_npi_{_name}",
        inputs="a",
        in_symbols=InSymbols(
            noted_as=(
                "_npi_full_like",
                {"dtype": "dtype", "ctx": "ctx"},
                {"fill_value": str(_value)},
            )
        ),
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
        complexes=True,
        doc=f"Return an array of {_name[:-5]} with the shape and, unless given, dtype of `a`.",
        numpy=f"{_name}(a, dtype=None, order='C', ctx=None, device=None, out=None)",
    )
