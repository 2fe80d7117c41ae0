"""Functions of complex numbers, and casts between all dtypes.

MXNet has no complex numbers: these operators are mxcy's own.
"""

from mxcy._base import dtypes
from mxcy.ops.core.attrs import DType, Field
from mxcy.ops.core.infer import Spec, back_shape, require
from mxcy.ops.core.record import native, register, sample
from mxcy.ops.core.result_types import KEEP, MAGNITUDE, TypeRule

__all__ = []

_KINDS = ("float32", "float64", "complex64", "complex128")


def _as_type(F, g, code):
    """Cast a gradient to another dtype; complex to real takes the real part."""
    return F._mx_astype(g, dtype=dtypes.name_of(code))


def _astype_infer(a, data):
    code = dtypes.code_of(a.dtype)
    require(
        data.dtype is None or not dtypes.is_complex(data.dtype) or dtypes.is_complex(code),
        f"cannot cast {dtypes.name_of(data.dtype or 0)} to {a.dtype}: take the real part, .real",
    )
    return Spec(data.shape, code)


def _astype_grad(a, F, g, specs):
    code = specs[0].dtype
    if not dtypes.is_inexact(code):
        return None
    if dtypes.is_complex(dtypes.code_of(a.dtype)) and not dtypes.is_complex(code):
        g = F._mx_real(g)
    return _as_type(F, g, code)


def _no_kernel(a, ins, outs):
    return "the result is complex" if dtypes.is_complex(outs[0].dtype) else None


register(
    "_mx_astype",
    fields=(Field("dtype", DType(*dtypes.CODES)),),
    infer=_astype_infer,
    infer_back=back_shape,
    grad=_astype_grad,
    # bfloat16 is float32 here; storing rounds it.
    ref=lambda a, xp, data: data.astype("float32" if a.dtype == "bfloat16" else a.dtype),
    kernels=(native("cast", mixed=True, when=_no_kernel),),
    domain=(-100, 100),
    dtypes=("float32", "float64", "float16", "bfloat16", "int32", "int8", "uint8"),
    complexes=True,
    samples=(
        sample((3, 4), dtype="float64", grad=False),
        sample((3, 4), dtype="int16", dtypes=("int32", "int8"), grad=False),
        sample((), dtype="complex64", grad=False),
        sample((3, 4), dtype="complex128", dtypes=("complex64", "complex128"), grad=False),
        sample((2, 0), dtype="uint16", grad=False),
    ),
    doc="Cast to any dtype; complex arrays only to complex dtypes.",
)


def _turned_type(numpy_types, code):
    return dtypes.complex_of(code)


_COMPLEX = TypeRule(_turned_type)


def _part(name, doc, rule, define, grad, samples=None):
    """Register a function of the parts of complex numbers."""
    register(
        name,
        inputs="x",
        infer=lambda a, x: Spec(x.shape, rule(a, x)),
        infer_back=lambda a, ins, outs: ins[0].fill("x", outs[0].shape),
        grad=grad,
        ref=define,
        samples=samples
        or (
            sample((3, 4), grad=False),
            sample((2, 3, 19), grad=False),
            sample((), grad=False),
            sample((2, 0), grad=False),
        ),
        dtypes=_KINDS,
        complexes=True,
        uses_types=True,
        doc=doc,
    )


def _back_to(F, g, spec, factor=None):
    """Convert a real gradient to the input's dtype, times a factor that may be imaginary."""
    if not dtypes.is_complex(spec.dtype):
        return g
    g = _as_type(F, g, spec.dtype)
    return g if factor is None else F._mx_times_i(g)


_part(
    "_mx_real",
    "The real part.",
    MAGNITUDE,
    lambda a, xp, x: xp.array(xp.real(x)),
    lambda a, F, g, specs: _back_to(F, g, specs[0]),
)
_part(
    "_mx_imag",
    "The imaginary part; zero for real arrays.",
    MAGNITUDE,
    lambda a, xp, x: xp.array(xp.imag(x)),
    lambda a, F, g, specs: (
        _back_to(F, g, specs[0], "i") if dtypes.is_complex(specs[0].dtype) else None
    ),
)
_part(
    "_mx_conj",
    "The complex conjugate.",
    KEEP,
    lambda a, xp, x: xp.conjugate(x),
    lambda a, F, g: F._mx_conj(g),
)
_part(
    "_mx_times_i",
    "Complex numbers times the imaginary unit.",
    _COMPLEX,
    lambda a, xp, x: x * xp.asarray(1j, xp.result_type(x, xp.complex64)),
    lambda a, F, g, specs: (
        -F._mx_times_i(g)
        if dtypes.is_complex(specs[0].dtype)
        else _as_type(F, F._mx_imag(g), specs[0].dtype)
    ),
)
