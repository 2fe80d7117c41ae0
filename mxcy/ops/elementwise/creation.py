"""Array creation operators: constants, ranges, the identity matrix."""

import math

from mxcy._base import dtypes
from mxcy.ops.core.attrs import Bool, Double, DoubleOrNone, DType, Field, Int, Long, Shape, Str
from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.params import SCALAR
from mxcy.ops.core.record import native, op, register, sample

_NUMBER = DType("bfloat16", "float16", "float32", "float64", "int32", "int64", "int8", "uint8")
_ELEMENT = DType("bfloat16", "bool", *_NUMBER.choices[1:])
_EYE_ELEMENT = DType(*_NUMBER.choices[1:])


def _working_dtype(a):
    """Return the NumPy dtype of a reference's computation; half types are rounded on storing."""
    return "float32" if a.dtype in ("bfloat16", "float16") else a.dtype


def _fill(value):
    """Return the kernel that fills the output with ``value(a)``."""
    return native(
        "fill",
        struct=SCALAR,
        params=lambda a, ins, outs: {"scalar": value(a)},
        select=lambda ins, outs: outs[0].dtype,
    )


# --- constants -----------------------------------------------------------------------------------


def _infer_constant(a):
    shape = () if a.shape is None else a.shape
    require(min(shape, default=0) >= 0, f"shape {shape}: sizes must not be negative")
    return Spec(shape, dtypes.code_of(a.dtype))


def _constant(name, value, doc, fields=(), samples=()):
    """Register an operator that creates an array filled with ``value(a)``."""
    register(
        name,
        inputs="",
        fields=fields,
        infer=_infer_constant,
        ref=lambda a, xp: xp.full(a.shape or (), xp.asarray(value(a)).astype(_working_dtype(a))),
        kernels=(_fill(value),),
        samples=samples,
        dtypes=("float32",),
        doc=doc,
    )


_PLACE = (Field("ctx", Str, ""), Field("dtype", _ELEMENT, "float32"))
_SIZED = (
    sample(shape=(2, 3)),
    sample(shape=(4,), dtype="int64"),
    sample(shape=(2, 0)),
    sample(shape=(), dtype="float64"),
    sample(shape=(3,), dtype="bool"),
)

for _name, _value in (("zeros", 0.0), ("ones", 1.0)):
    _constant(
        f"_{_name}",
        lambda a, value=_value: value,
        f"Return a new array of {_name}.",
        (Field("shape", Shape, ()), *_PLACE),
        _SIZED,
    )
_constant(
    "_full",
    lambda a: a.value,
    "Return a new array filled with a scalar.",
    (Field("shape", Shape, None), *_PLACE, Field("value", Double)),
    (sample(shape=(2, 3), value=2.5), sample(shape=(4,), value=-3.0, dtype="int32")),
)


# --- ranges --------------------------------------------------------------------------------------


def _bounds(a):
    """Return start and stop; with one bound the range starts at 0."""
    return (0.0, a.start) if a.stop is None else (a.start, a.stop)


@op("_arange", inputs="", dtypes=("float32",))
class Arange:
    """Return evenly spaced values in the half-open interval [start, stop).

    With one bound the interval is [0, start). Every value is repeated `repeat` times.
    """

    start: Double
    stop: DoubleOrNone = None
    step: Double = 1.0
    repeat: Int = 1
    infer_range: Bool = False
    ctx: Str = ""
    dtype: _NUMBER = "float32"

    def infer(a):
        start, stop = _bounds(a)
        finite = all(map(math.isfinite, (start, stop, a.step)))
        require(finite, f"start, stop, step: expected finite numbers, got {start, stop, a.step}")
        require(a.step != 0, "step must not be 0")
        require(a.repeat > 0, f"repeat must be positive, got {a.repeat}")
        require(
            (start < stop) if a.step > 0 else (start > stop),
            f"Invalid range (start, stop, step) = ({start:g},{stop:g},{a.step:g})",
        )
        count = (stop - start) / a.step
        require(count < 1 << 62, f"step: {a.step} makes too many values")
        return Spec((math.ceil(count) * a.repeat,), dtypes.code_of(a.dtype))

    def ref(a, xp):
        start, stop = _bounds(a)
        dtype = _working_dtype(a)
        count = math.ceil((stop - start) / a.step)
        # MXNet computes in the result's dtype: an int32 range from 0.5 by 1.5 is 0, 1, 2 ...
        first, step = (xp.asarray(value).astype(dtype) for value in (start, a.step))
        return xp.repeat(first + xp.arange(count).astype(dtype) * step, a.repeat)

    samples = (
        sample(start=5.0),
        sample(start=1.0, stop=2.0, step=0.3),
        sample(start=10.0, stop=0.0, step=-3.0, repeat=2),
        sample(start=0.5, stop=10.5, step=1.5, dtype="int32"),
    )


@op("_linspace", inputs="", dtypes=("float32",))
class Linspace:
    """Return `num` evenly spaced values from start to stop, including stop if `endpoint`."""

    start: Double
    stop: Double
    num: Int
    endpoint: Bool = True
    ctx: Str = ""
    dtype: _NUMBER = "float32"

    def infer(a):
        require(a.num >= 0, f"num must not be negative, got {a.num}")
        return Spec((a.num,), dtypes.code_of(a.dtype))

    def ref(a, xp):
        values = xp.linspace(a.start, a.stop, a.num, endpoint=a.endpoint)
        return values.astype(_working_dtype(a))

    samples = (
        sample(start=0.0, stop=1.0, num=5),
        sample(start=3.0, stop=-1.0, num=4, endpoint=False),
        sample(start=0.5, stop=10.5, num=8, dtype="int32"),
        sample(start=2.0, stop=3.0, num=1),
    )


@op("_eye", inputs="", dtypes=("float32",))
class Eye:
    """Return an (N, M) matrix with ones on the k-th diagonal; M is N if not positive."""

    N: Long
    M: Long = 0
    k: Long = 0
    ctx: Str = ""
    dtype: _EYE_ELEMENT = "float32"

    def infer(a):
        require(a.N >= 0, f"N must not be negative, got {a.N}")
        return Spec((a.N, a.M if a.M > 0 else a.N), dtypes.code_of(a.dtype))

    def ref(a, xp):
        return xp.eye(a.N, a.M if a.M > 0 else a.N, a.k, dtype=_working_dtype(a))

    samples = (sample(N=3), sample(N=2, M=4, k=1), sample(N=3, k=-1, dtype="int32"))
