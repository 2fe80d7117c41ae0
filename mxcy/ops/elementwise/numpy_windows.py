"""Further array creation operators of `mx.np`: windows, constants, logspace."""

from mxcy._base import dtypes
from mxcy.ops.core.attrs import Bool, Double, DType, Field, Int, Long, Shape, Str
from mxcy.ops.core.in_symbols import TYPED
from mxcy.ops.core.infer import Spec, require, require_value
from mxcy.ops.core.record import op, register, sample, stop
from mxcy.ops.core.result_types import default_float

__all__ = []

_ELEMENT = DType(None, *dtypes.CODES)


def _code(a):
    return default_float(a.numpy_types) if a.dtype is None else dtypes.code_of(a.dtype)


def _cast(code, values):
    """Cast values to a dtype for a reference."""
    word = dtypes.name_of(code)
    return values.astype("float32" if word == "bfloat16" else word)


def _vector(a, count, name):
    require(count >= 0, f"{name}: expected no negative number, got {count}")
    return Spec((count,), _code(a))


def _register_window(name, formula):
    register(
        f"_npi_{name}",
        inputs="",
        fields=(Field("M", Int), Field("dtype", _ELEMENT, None), Field("ctx", Str, "")),
        infer=lambda a: _vector(a, max(a.M, 0), "M"),
        ref=lambda a, xp: _cast(_code(a), getattr(xp, name)(a.M)),
        samples=(sample(M=5), sample(M=1), sample(M=0), sample(M=8, dtype="float64")),
        dtypes=("float32",),
        uses_types=True,
        in_symbols=TYPED,
        doc=f"Return a window of `M` points, {formula}; empty if `M` is not positive.",
        numpy=f"{name}(M, dtype=None, ctx=None, device=None)",
    )


_register_window("hanning", "0.5 - 0.5 cos(2 pi n / (M - 1))")
_register_window("hamming", "0.54 - 0.46 cos(2 pi n / (M - 1))")
_register_window("blackman", "0.42 - 0.5 cos(2 pi n / (M - 1)) + 0.08 cos(4 pi n / (M - 1))")


@op("_npi_identity", inputs="", uses_types=True, in_symbols=TYPED, dtypes=("float32",))
class Identity:
    """Return the identity matrix; `shape` holds its extent twice."""

    shape: Shape = ()
    ctx: Str = ""
    dtype: _ELEMENT = None

    complexes = True
    samples = (sample(shape=(3, 3)), sample(shape=(0, 0)), sample(shape=(2, 2), dtype="int8"))

    def infer(a):
        require_value(
            len(a.shape) == 2 and a.shape[0] == a.shape[1] >= 0,
            f"shape: expected one size twice, got {a.shape}",
        )
        return Spec(a.shape, _code(a))

    def ref(a, xp):
        return _cast(_code(a), xp.identity(a.shape[0]))


@op("_npi_logspace", inputs="", uses_types=True, in_symbols=TYPED, dtypes=("float32",))
class Logspace:
    """Return `num` log-spaced values from ``base ** start`` to ``base ** stop``."""

    start: Double
    stop: Double
    num: Long = 50
    endpoint: Bool = True
    base: Double = 10.0
    ctx: Str = ""
    dtype: _ELEMENT = None

    complexes = True
    samples = (
        sample(start=0, stop=2, num=5),
        sample(start=0, stop=1, num=4, endpoint=False, base=2.0),
        sample(start=0, stop=3, num=4, dtype="int32"),
        sample(start=1, stop=1, num=0),
    )

    def infer(a):
        return _vector(a, a.num, "num")

    def ref(a, xp):
        return _cast(_code(a), xp.logspace(a.start, a.stop, a.num, a.endpoint, a.base))


@op("_npi_full_like", inputs="a", ignores=("a",), dtypes=("float32", "int32", "bool"))
class FullLike:
    """Return an array with the shape and, unless given, dtype of `a`, filled with a scalar."""

    fill_value: Double
    ctx: Str = ""
    dtype: _ELEMENT = None

    grad = stop
    complexes = True
    samples = (
        sample((2, 3), fill_value=1, grad=False),
        sample((), fill_value=2.5, dtype="float64", grad=False),
        sample((0, 2), fill_value=3, grad=False),
    )

    def infer(a, x):
        return Spec(x.shape, x.dtype if a.dtype is None else dtypes.code_of(a.dtype))

    def ref(a, xp, x):
        kind = x.dtype if a.dtype in (None, "bfloat16") else a.dtype
        return xp.full(x.shape, xp.asarray(a.fill_value).astype(kind), kind)
