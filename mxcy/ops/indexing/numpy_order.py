"""`mx.np` cumulative sums and products, and where."""

from math import prod

import numpy as np

from mxcy._base.dtypes import CODES, code_of, dtype_of, is_inexact, name_of
from mxcy.ops.core.attrs import Bool, Double, Dynamic, Field, IntOrNone
from mxcy.ops.core.infer import Spec, broadcast_shapes, normal_axis
from mxcy.ops.core.params import SCALAR, SCAN
from mxcy.ops.core.record import Public, native, op, register, sample, stop, values
from mxcy.ops.core.result_types import ACCUMULATE, PROMOTE, TypeRule, asked, with_number
from mxcy.ops.elementwise.broadcast import sum_to
from mxcy.ops.elementwise.cast import cast_back, cast_to
from mxcy.ops.indexing.indexing import wide_bytes
from mxcy.ops.reduce.numpy_reduce import ELEMENT

__all__ = []

_FLOATS = ("float32", "float64", "float16", "bfloat16")
_ALL = (*_FLOATS, "int32", "int64", "int8", "uint8", "bool")
_INT64, _SINGLE, _BOOL = CODES["int64"], CODES["float32"], CODES["bool"]

# --- cumulative sums and products ----------------------------------------------------------------


def _scanned(a, shape):
    """Return the axis of a scan and the shape it refers to."""
    if a.axis is None:
        return 0, (-1 if -1 in shape else prod(shape),)
    return normal_axis(a.axis, len(shape)), shape


def _scan_type(a, x):
    return ACCUMULATE(a, x) if a.dtype is None else asked(a.dtype, x)


def _infer_scan(a, x):
    return Spec(None if x.shape is None else _scanned(a, x.shape)[1], _scan_type(a, x))


def _from_the_end(F, x, axis):
    return F.reverse(F._npi_cumsum(F.reverse(x, axis=axis), axis=axis), axis=axis)


def _sum_grad(F, g, x, axis):
    return _from_the_end(F, g, axis)


def _product_grad(F, g, x, axis):
    """Compute the gradient of cumprod, also after zeros: there only the first zero contributes."""
    zero = x == 0
    zeros = F._npi_cumsum(zero, axis=axis)
    first = zero * (zeros == 1)
    safe = x + first
    others = _from_the_end(F, g * F._mx_cumprod(safe, axis=axis), axis)
    before = _from_the_end(F, g * F._mx_cumprod(x, axis=axis), axis)
    return F._npi_where(zeros == 0, before / (x + zero), others * first)


def _scan(name, doc, define, partial, kernels=(), public=None, domain=(-1, 1), linear=False):
    def grad(a, F, g, x, specs):
        spec, code = specs[0], _scan_type(a, specs[0])
        if not (is_inexact(spec.dtype) or (linear and code == spec.dtype)):
            return None
        axis, shape = _scanned(a, spec.shape)
        x = F._backward_reshape(cast_to(F, x, code, spec.dtype), shape=shape)
        result = F._backward_reshape(partial(F, g, x, axis), shape=spec.shape)
        return cast_back(F, result, spec.dtype, code)

    def ref(a, xp, x):
        code = _scan_type(a, Spec(x.shape, code_of(x.dtype)))
        kind = np.dtype("float32") if name_of(code) == "bfloat16" else dtype_of(code)
        return define(xp, x, a.axis, kind).astype(kind)

    return register(
        name,
        inputs="a",
        fields=(Field("axis", IntOrNone, None), Field("dtype", ELEMENT, None)),
        names={"x": ("in", 0)},
        infer=_infer_scan,
        grad=grad,
        ref=ref,
        kernels=kernels,
        complexes=True,
        samples=(
            sample((3, 5)),
            sample((3, 5, 2), axis=1),
            sample((3, 4), axis=-1, dtype="float64"),
            sample((), grad=False),
            sample((2, 0), axis=1, grad=False),
        ),
        dtypes=_ALL,
        domain=domain,
        uses_types=True,
        doc=doc,
        numpy=public,
        amp="fp32",
    )


def _scan_params(a, ins, outs):
    axis, shape = _scanned(a, ins[0].shape)
    return {"outer": prod(shape[:axis]), "extent": shape[axis], "inner": prod(shape[axis + 1 :])}


def _scan_refusal(a, ins, outs):
    if not ins[0].size:
        return "there are no elements"
    if outs[0].dtype == CODES["float16"]:
        return "each step is rounded, as in NumPy"
    if outs[0].dtype in (_BOOL, *(CODES[name] for name in ("int16", "uint16", "uint32", "uint64"))):
        return "no kernel computes in this element type"
    return None if ins[0].dtype == outs[0].dtype else "the element types differ"


def _scan_kernel(name):
    return native(
        name,
        struct=SCAN,
        params=_scan_params,
        when=_scan_refusal,
        workspace=lambda a, ins, outs: wide_bytes(outs[0]),
    )


_scan(
    "_npi_cumsum",
    "Compute the cumulative sum along `axis`, by default of the flattened array.",
    lambda xp, x, axis, kind: xp.cumsum(x, axis, dtype=kind),
    _sum_grad,
    (_scan_kernel("cumsum"),),
    "cumsum(a, axis=None, dtype=None, out=None)",
    linear=True,
)
_scan(
    "_mx_cumprod",
    "Compute the cumulative product along `axis`, by default of the flattened array.",
    lambda xp, x, axis, kind: xp.cumprod(x, axis, dtype=kind),
    _product_grad,
    (_scan_kernel("cumprod"),),
    "cumprod(a, axis=None, dtype=None, out=None)",
    domain=(0.5, 1.5),
)

# --- where ---------------------------------------------------------------------------------------


def _common(*shapes):
    if any(shape is None for shape in shapes):
        return None
    result = ()
    for shape in shapes:
        result = broadcast_shapes(result, shape, ("condition, x", "y"))
    return result


def _chosen_grad(F, g, spec, shape, code):
    return cast_back(F, sum_to(F, g, spec, Spec(shape)), spec.dtype, code)


@op(
    "_npi_where",
    inputs="condition x y",
    numpy=Public(
        "where(condition, x=None, y=None)",
        number="_npi_where_rscalar",
        number_first="_npi_where_lscalar",
    ),
    amp="widest",
)
class Where:
    """Choose elements of `x` where `condition` is nonzero, else of `y`."""

    dtypes = _ALL
    uses_types = True
    complexes = True
    samples = (
        sample(values(0, 2, (3, 4), "int32"), (3, 4), (3, 4)),
        sample(values(0, 2, (4,), "int64"), (3, 1), (2, 1, 1)),
        sample(values(0, 2, (), "bool"), (), ()),
        sample(values(0, 2, (0,), "bool"), (1,), (), grad=False),
        sample(np.array([0.5, 0, -0.0, np.nan], "float32"), (4,), (4,)),
    )
    kernels = (
        native(
            "where",
            select=lambda ins, outs: outs[0].dtype,
            mixed=True,
            when=lambda a, ins, outs: (
                None
                if all(x.shape == outs[0].shape for x in ins)
                and ins[1].dtype == ins[2].dtype == outs[0].dtype
                and outs[0].size
                else "the operands differ in shape or element type"
            ),
        ),
    )

    def infer(a, condition, x, y):
        return Spec(_common(condition.shape, x.shape, y.shape), PROMOTE(a, x, y))

    def grad(a, F, g, condition, specs):
        shape = _common(*(spec.shape for spec in specs))
        zeros = F.zeros_like(g)
        first = F._npi_where(condition, g, zeros)
        second = F._npi_where(condition, zeros, g)
        return (
            None,
            _chosen_grad(F, first, specs[1], shape, PROMOTE(a, *specs[1:])),
            _chosen_grad(F, second, specs[2], shape, PROMOTE(a, *specs[1:])),
        )

    def ref(a, xp, condition, x, y):
        code = PROMOTE(a, *(Spec(v.shape, code_of(v.dtype)) for v in (x, y)))
        kind = np.float32 if name_of(code) == "bfloat16" else dtype_of(code)
        return xp.where(condition != 0, x.astype(kind), y.astype(kind))


def _number_or_keep(numpy_types, code, is_int):
    keeps = is_int and not numpy_types  # booleans with integers too
    return code if keeps else with_number(numpy_types, code, is_int)


_BESIDE = TypeRule(number=_number_or_keep)


def _refuse_beside(a, ins, outs):
    if ins[0].shape != ins[1].shape:
        return "the shapes differ"
    return None if ins[1].dtype == outs[0].dtype else "the result has another element type"


def _where_number(name, first):
    def infer(a, condition, x):
        return Spec(_common(condition.shape, x.shape), _BESIDE(a, x))

    def ref(a, xp, condition, x):
        code = _BESIDE(a, Spec(x.shape, code_of(x.dtype)))
        kind = np.float32 if name_of(code) == "bfloat16" else dtype_of(code)
        number = xp.asarray(a.scalar).astype(kind)
        pair = (number, x.astype(kind)) if first else (x.astype(kind), number)
        return xp.where(condition != 0, *pair)

    def grad(a, F, g, condition, specs):
        zeros = F.zeros_like(g)
        chosen = (zeros, g) if first else (g, zeros)
        shape = _common(*(spec.shape for spec in specs))
        result = F._npi_where(condition, *chosen)
        return None, _chosen_grad(F, result, specs[1], shape, _BESIDE(a, specs[1]))

    register(
        name,
        inputs="condition x",
        fields=(Field("scalar", Dynamic(Double), 0.0), Field("is_int", Bool, True)),
        infer=infer,
        grad=grad,
        ref=ref,
        complexes=True,
        samples=(
            sample(values(0, 2, (3, 4), "bool"), (3, 4), scalar=2.0, is_int=False),
            sample(values(0, 2, (4,), "int32"), (3, 1), scalar=2.0),
            sample(values(0, 2, (), "bool"), (), scalar=2.0),
            sample(values(0, 2, (2, 1500), "float32"), (2, 1500), scalar=2.0),
        ),
        kernels=(
            native(
                f"where_{'l' if first else 'r'}scalar",
                SCALAR,
                when=_refuse_beside,
                select=lambda ins, outs: outs[0].dtype,
                mixed=True,
            ),
        ),
        dtypes=_ALL,
        uses_types=True,
        doc=f"Choose `scalar` where `condition` is {'not ' if first else ''}zero, else `x`.",
    )


_where_number("_npi_where_lscalar", True)
_where_number("_npi_where_rscalar", False)


@op("_npi_where_scalar2", inputs="condition")
class WhereNumbers:
    """Choose scalar `x` where `condition` is nonzero, else scalar `y`, as float32."""

    x: Double = 0.0
    y: Double = 0.0

    dtypes = ("float32", "int8", "bool")
    samples = (sample(values(0, 2, (3, 4), "bool"), x=1.5, y=-2.0),)
    grad = stop

    def infer(a, condition):
        return Spec(condition.shape, _SINGLE)

    def ref(a, xp, condition):
        return xp.where(condition != 0, np.float32(a.x), np.float32(a.y))
