"""Elementwise operators of two arrays (of one shape, or broadcast) and of an array and a number.

One call of `binary` registers all the forms of a function: ``broadcast_x``, the form for equal
shapes, ``_x_scalar`` and, where the order matters, ``_rx_scalar``.
"""

import math

import numpy as np

from mxcy._base import dtypes
from mxcy.ops.core.attrs import Bool, Double, Dynamic, Field
from mxcy.ops.core.infer import Spec, back_dtypes, back_inputs, broadcast_shapes, same_dtype
from mxcy.ops.core.params import BROADCAST, SCALAR
from mxcy.ops.core.record import native, register, sample
from mxcy.ops.core.stypes import densely, on_stored, refuse, rule
from mxcy.ops.sparse.rules import BOTH, KEPT, MIXED, MULTIPLIED, csr_by_dense, divided, united

__all__ = ["binary", "broadcast_params", "collapse", "sum_to"]

_ALL = ("float32", "float64", "float16", "bfloat16", "int32", "int64", "int8", "uint8")
_NAMES = ("lhs", "rhs")


def _infer_broadcast(a, lhs, rhs):
    return Spec(broadcast_shapes(lhs.shape, rhs.shape), same_dtype((lhs, rhs), _NAMES))


def _infer_equal(a, lhs, rhs):
    dtype = same_dtype((lhs, rhs), _NAMES)
    if lhs.shape is not None:
        rhs.fill("rhs", lhs.shape)
    lhs.fill("lhs", rhs.shape)
    return Spec(lhs.shape, dtype)


def _refuse_unequal(a, ins, outs):
    return None if ins[0].shape == ins[1].shape else "the shapes differ"


def _strides(shape, out):
    """Element strides of a contiguous array spread over the shape `out`; 0 where it is repeated."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step if extent != 1 else 0)
        step *= extent
    strides += [0] * (len(out) - len(shape))
    return strides[::-1]


def collapse(shape, *strides):
    """Merge neighbouring dimensions that all operands walk through as one.

    Returns
    -------
    (shape, strides...) with at least one dimension
    """
    merged = []  # [extent, stride of each operand...], outermost first
    for extent, *steps in zip(shape, *strides, strict=True):
        if extent == 1:
            continue
        before = merged[-1] if merged else None
        if before and all(b == s * extent for b, s in zip(before[1:], steps, strict=True)):
            before[0] *= extent
            before[1:] = steps
        else:
            merged.append([extent, *steps])
    return tuple(zip(*(merged or [[1, *[0] * len(strides)]]), strict=True))


def broadcast_params(a, ins, outs):
    """The fields of BROADCAST."""
    out = outs[0].shape
    shape, lhs, rhs = collapse(out, _strides(ins[0].shape, out), _strides(ins[1].shape, out))
    return {"ndim": len(shape), "shape": shape, "lhs": lhs, "rhs": rhs}


def sum_to(F, g, spec, other):
    """A gradient of the broadcast of two specs, summed to the shape of the first."""
    if spec.shape == other.shape:
        return g
    out = broadcast_shapes(spec.shape, other.shape)
    if out == spec.shape:
        return g
    lead = len(out) - len(spec.shape)
    repeated = [i + lead for i, n in enumerate(spec.shape) if n == 1 and out[i + lead] != 1]
    summed = F.sum(g, axis=(*range(lead), *repeated), keepdims=True)
    if not spec.shape or 0 in spec.shape:  # which Reshape would not take for extents
        return F._backward_reshape(summed, shape=spec.shape)
    return F.Reshape(summed, shape=spec.shape) if lead else summed


def _both_grads(partial):
    """The gradient rule of a broadcast operator from its partial derivatives.

    `partial(F, g, lhs, rhs)` returns the gradients before they are summed to the inputs' shapes.
    """
    if partial is None:
        return lambda a, F, g, specs: (None, None)
    if partial.__code__.co_argcount == 2:  # asks for neither operand

        def grad(a, F, g, specs):
            left, right = partial(F, g)
            return sum_to(F, left, specs[0], specs[1]), sum_to(F, right, specs[1], specs[0])

    else:

        def grad(a, F, g, lhs, rhs, specs):
            left, right = partial(F, g, lhs, rhs)
            return sum_to(F, left, specs[0], specs[1]), sum_to(F, right, specs[1], specs[0])

    return grad


def _scalar_dtype(a, dtype):
    """The result's element type: a fraction makes float64 of integers, a number int64 of bools."""
    if dtype is None or dtypes.is_float(dtype):
        return dtype
    if not a.is_int:
        return dtypes.code_of("float64")
    return dtypes.code_of("int64") if dtype == dtypes.code_of("bool") else dtype


def _infer_scalar(a, data):
    return Spec(data.shape, _scalar_dtype(a, data.dtype))


def _back_scalar(a, ins, outs):
    floating = outs[0].dtype is not None and dtypes.is_float(outs[0].dtype)
    ins[0].fill("data", outs[0].shape, outs[0].dtype if floating and a.is_int else None)


def _refuse_other_dtype(a, ins, outs):
    same = ins[0].dtype == outs[0].dtype
    return None if same else "the result has another element type"


_SCALAR_FIELDS = (Field("scalar", Dynamic(Double), 1.0), Field("is_int", Bool, True))


def scalar_form(name, aliases, define, grad, kernel, domain, number, doc, stypes=(), factor=None):
    """Register an operator of an array and a number, which takes the result's element type."""

    def ref(a, xp, data):
        dtype = dtypes.dtype_of(_scalar_dtype(a, dtypes.code_of(data.dtype)))
        data = data.astype(dtype)
        return define(xp, data, xp.asarray(a.scalar).astype(dtype)).astype(dtype)

    register(
        name,
        aliases=aliases,
        fields=_SCALAR_FIELDS,
        infer=_infer_scalar,
        infer_back=_back_scalar,
        grad=grad,
        names={"x": ("in", 0), "y": ("out", 0)},
        ref=ref,
        kernels=(native(kernel, SCALAR, when=_refuse_other_dtype, inplace=True, pointwise=True),),
        domain=domain,
        doc=doc,
        stypes=stypes,
        factor=factor,
        dtypes=_ALL,
        samples=(
            sample((3, 4), scalar=number),
            sample((2, 3, 19), scalar=3.0, grad=False),
            sample((3, 4), scalar=2.0, grad=False, dtypes=("bool",)),
            sample((3, 4), scalar=2.5, is_int=False, grad=False, dtypes=("int32", "bool")),
        ),
    )


def binary(
    kernel,
    word,
    camel,
    define,
    partial=None,
    by_number=None,
    by_number_first=None,
    equal_shapes=None,
    broadcast=None,
    aliases=(),
    domain=(-2, 2),
    number=1.5,
    doc="",
    extra=(),
    stypes=(),
    broadcast_stypes=(),
    scalar_stypes=(),
    factor=None,
    equal_partial=None,
):
    """Register all forms of an elementwise function of two operands.

    Parameters
    ----------
    kernel : str
        Stem of the kernels' names.
    word, camel : str
        The stem in ``_<word>_scalar`` and in the old alias ``_<camel>Scalar``.
    define : callable
        ``define(xp, x, y)``.
    partial : callable, optional
        ``partial(F, g)`` or ``partial(F, g, lhs, rhs)``: the gradients of both operands, before
        summing to their shapes; without it they are zero.
    by_number, by_number_first : callable, optional
        Gradient rules ``rule(a, F, g, ...)`` of ``f(x, number)`` and ``f(number, x)``; giving the
        second registers the reversed form.
    equal_shapes : (str, tuple), optional
        Name and aliases of the form for equal shapes.
    broadcast : str, optional
        Name of the broadcast form; ``broadcast_<kernel>`` by default.
    aliases, extra : tuple
        More names of the broadcast form, and of the scalar form.
    stypes, broadcast_stypes, scalar_stypes : tuple of Rule
        What the form for equal shapes, the broadcast form and the scalar form do with sparse
        arrays.
    factor : callable, optional
        ``factor(a)``: the number by which the scalar form multiplies.
    equal_partial : callable, optional
        What `partial` is for equal shapes, where sparse arrays want other operators.
    """

    def ref(a, xp, lhs, rhs):
        return define(xp, lhs, rhs).astype(lhs.dtype)

    grad = _both_grads(partial)
    shared = {"inputs": "lhs rhs", "grad": grad, "ref": ref, "domain": domain, "dtypes": _ALL}
    whole = native(kernel, when=_refuse_unequal, inplace=True, pointwise=True)
    rows = native(f"{kernel}_broadcast", BROADCAST, broadcast_params)
    register(
        broadcast or f"broadcast_{kernel}",
        aliases=aliases,
        infer=_infer_broadcast,
        infer_back=back_dtypes,
        kernels=(whole, rows),
        doc=f"{doc} Shapes are broadcast.",
        stypes=broadcast_stypes,
        samples=(
            sample((3, 4), (3, 4)),
            sample((3, 1, 5), (4, 1)),
            sample((2, 3, 4), (1, 1, 4), grad=False),
            sample((2, 1, 1), (2, 3, 70), grad=False),
            sample((4, 5, 1), (1, 5, 6), grad=False),
        ),
        **shared,
    )
    if equal_shapes:
        name, names = equal_shapes
        register(
            name,
            aliases=names,
            infer=_infer_equal,
            infer_back=back_inputs,
            kernels=(whole,),
            doc=f"{doc} Both arrays have one shape.",
            stypes=stypes,
            samples=(sample((3, 4), (3, 4)),),
            **{**shared, "grad": _both_grads(equal_partial or partial)},
        )
    zero = lambda a, F, g: F.zeros_like(g)  # noqa: E731
    scalar_form(
        f"_{word}_scalar",
        (f"_{camel}Scalar", *extra),
        define,
        by_number or zero,
        f"{kernel}_scalar",
        domain,
        number,
        f"{doc} The second operand is a number.",
        scalar_stypes,
        factor,
    )
    if by_number_first:
        scalar_form(
            f"_r{word}_scalar",
            (f"_R{camel}Scalar",),
            lambda xp, x, s: define(xp, s, x),
            by_number_first,
            f"r{kernel}_scalar",
            domain,
            number,
            f"{doc} The first operand is a number.",
        )


def _divide(xp, x, y):
    if x.dtype.kind == "f":
        return x / y
    quotient = xp.trunc(xp.divide(x, xp.where(y == 0, 1, y)))
    return xp.where(y == 0, 0, quotient)


def _modulo(xp, x, y):
    return xp.where(y == 0, 0, xp.mod(x, xp.where(y == 0, 1, y)))


def _log(value):
    """Natural logarithm that follows IEEE rules for zero and negative numbers."""
    return math.log(value) if value > 0 else (-math.inf if value == 0 else math.nan)


def _power(xp, x, y):
    if x.dtype.kind == "f":
        return xp.power(x, y)
    return xp.power(x.astype("float64"), y)


#: adding a number makes all elements differ from zero, unless the number is zero
_SHIFTED = (*on_stored(*BOTH, when=lambda a, data: a.scalar == 0), *densely(*BOTH))
_CSR_TO_DENSE = densely("csr default", "default csr")


def _one_shape(a, lhs, rhs):
    return lhs.shape == rhs.shape


def _keeping_zero(define):
    """The rules of a comparison with a number, which is sparse where zero compares false."""
    zero = np.zeros(())
    return on_stored(*BOTH, when=lambda a, data: not define(np, zero, a.scalar))


binary(
    "add",
    "plus",
    "Plus",
    lambda xp, x, y: x + y,
    lambda F, g: (g, g),
    lambda a, F, g: g,
    equal_shapes=("elemwise_add", ("_Plus", "_add", "_grad_add", "_plus", "_sparse_elemwise_add")),
    aliases=("_sparse_broadcast_add", "_sparse_broadcast_plus", "broadcast_plus"),
    doc="Sum.",
    stypes=(*united("add"), *MIXED),
    broadcast_stypes=_CSR_TO_DENSE,
    scalar_stypes=_SHIFTED,
)
binary(
    "sub",
    "minus",
    "Minus",
    lambda xp, x, y: x - y,
    lambda F, g: (g, -g),
    lambda a, F, g: g,
    lambda a, F, g: -g,
    equal_shapes=("elemwise_sub", ("_Minus", "_minus", "_sparse_elemwise_sub", "_sub")),
    aliases=("_sparse_broadcast_minus", "_sparse_broadcast_sub", "broadcast_minus"),
    doc="Difference.",
    stypes=(*united("sub"), *MIXED),
    broadcast_stypes=_CSR_TO_DENSE,
    scalar_stypes=_SHIFTED,
)
binary(
    "mul",
    "mul",
    "Mul",
    lambda xp, x, y: x * y,
    lambda F, g, lhs, rhs: (F.broadcast_mul(g, rhs), F.broadcast_mul(g, lhs)),
    lambda a, F, g: g * a.scalar,
    equal_shapes=("elemwise_mul", ("_Mul", "_mul", "_sparse_elemwise_mul")),
    aliases=("_sparse_broadcast_mul",),
    doc="Product.",
    stypes=MULTIPLIED,
    broadcast_stypes=(csr_by_dense("elemwise_mul"),),
    scalar_stypes=KEPT,
    factor=lambda a: a.scalar,
    equal_partial=lambda F, g, lhs, rhs: (F.elemwise_mul(g, rhs), F.elemwise_mul(g, lhs)),
)
binary(
    "div",
    "div",
    "Div",
    _divide,
    lambda F, g, lhs, rhs: (F.broadcast_div(g, rhs), -(g * lhs) / (rhs * rhs)),
    lambda a, F, g: g / a.scalar,
    lambda a, F, g, x: g * (-a.scalar) / (x * x),
    domain=(0.5, 2),
    equal_shapes=("elemwise_div", ("_Div", "_div", "_sparse_elemwise_div")),
    aliases=("_sparse_broadcast_div",),
    doc="Quotient; integers are cut towards zero.",
    stypes=(*MIXED, *densely("row_sparse row_sparse")),
    broadcast_stypes=(
        csr_by_dense("elemwise_div", lambda a, lhs, rhs: lhs.shape != rhs.shape),
        refuse("csr default", "lhs and rhs have one shape: use elemwise_div", _one_shape),
    ),
    scalar_stypes=KEPT,
    factor=lambda a: 1 / a.scalar if a.scalar else None,
)
binary(
    "mod",
    "mod",
    "Mod",
    _modulo,
    lambda F, g, lhs, rhs: (g + 0, -g * F.floor(lhs / rhs)),
    lambda a, F, g: g,
    lambda a, F, g, x: -g * F.floor(a.scalar / x),
    domain=(0.6, 1.9),
    number=0.7,
    equal_shapes=("_mod", ("_Mod",)),
    doc="Remainder with the sign of the divisor; 0 for divisor 0.",
)
binary(
    "power",
    "power",
    "Power",
    _power,
    lambda F, g, lhs, rhs: (g * rhs * lhs ** (rhs - 1), g * lhs**rhs * F.log(lhs)),
    lambda a, F, g, x: g * a.scalar * x ** (a.scalar - 1.0),
    lambda a, F, g, y: g * y * _log(a.scalar),
    domain=(0.5, 2),
    equal_shapes=("_power", ("_Power",)),
    doc="Power.",
    stypes=(*MIXED, *densely("row_sparse row_sparse")),
)
binary(
    "maximum",
    "maximum",
    "Maximum",
    lambda xp, x, y: xp.maximum(x, y),
    lambda F, g, lhs, rhs: (
        g * F.broadcast_greater_equal(lhs, rhs),
        g * F.broadcast_lesser(lhs, rhs),
    ),
    lambda a, F, g, x: g * (x >= a.scalar),
    equal_shapes=("_maximum", ("_Maximum",)),
    number=0.3,
    doc="The larger value.",
    stypes=united("maximum"),
)
binary(
    "minimum",
    "minimum",
    "Minimum",
    lambda xp, x, y: xp.minimum(x, y),
    lambda F, g, lhs, rhs: (
        g * F.broadcast_lesser_equal(lhs, rhs),
        g * F.broadcast_greater(lhs, rhs),
    ),
    lambda a, F, g, x: g * (x <= a.scalar),
    equal_shapes=("_minimum", ("_Minimum",)),
    number=0.3,
    doc="The smaller value.",
    stypes=united("minimum"),
)
binary(
    "hypot",
    "hypot",
    "Hypot",
    lambda xp, x, y: xp.hypot(x, y),
    lambda F, g, lhs, rhs: (
        g * lhs / F.broadcast_hypot(lhs, rhs),
        g * rhs / F.broadcast_hypot(lhs, rhs),
    ),
    lambda a, F, g, x, y: g * x / y,
    equal_shapes=("_hypot", ("_Hypot",)),
    doc="The hypotenuse sqrt(x^2 + y^2).",
    stypes=united("hypot"),
)
# --- on what is stored ---
register(
    "_scatter_elemwise_div",
    inputs="lhs rhs",
    infer=_infer_equal,
    infer_back=back_inputs,
    grad=_both_grads(lambda F, g, lhs, rhs: (F.broadcast_div(g, rhs), -(g * lhs) / (rhs * rhs))),
    ref=lambda a, xp, lhs, rhs: _divide(xp, lhs, rhs).astype(lhs.dtype),
    kernels=(native("div", when=_refuse_unequal, inplace=True, pointwise=True),),
    samples=(sample((3, 4), (3, 4)),),
    domain=(0.5, 2),
    dtypes=_ALL,
    doc="Quotient of arrays of one shape; of a row_sparse lhs, the stored rows are divided.",
    stypes=tuple(
        rule(f"row_sparse {s} -> row_sparse", divided) for s in ("default", "row_sparse", "csr")
    ),
)
for _word, _stem, _define in (
    ("plus", "add", lambda xp, x, s: x + s),
    ("minus", "sub", lambda xp, x, s: x - s),
):
    scalar_form(
        f"_scatter_{_word}_scalar",
        (),
        _define,
        lambda a, F, g: g,
        f"{_stem}_scalar",
        (-2, 2),
        1.5,
        f"The array {_word} a number; of a sparse array, what is stored.",
        KEPT,
    )
for _stem, _camel, _define, _old in (
    ("equal", "Equal", lambda xp, x, y: x == y, "_Equal"),
    ("not_equal", "NotEqual", lambda xp, x, y: x != y, "_Not_Equal"),
    ("greater", "Greater", lambda xp, x, y: x > y, "_Greater"),
    ("greater_equal", "GreaterEqual", lambda xp, x, y: x >= y, "_Greater_Equal"),
    ("lesser", "Lesser", lambda xp, x, y: x < y, "_Lesser"),
    ("lesser_equal", "LesserEqual", lambda xp, x, y: x <= y, "_Lesser_Equal"),
    ("logical_and", "LogicalAnd", lambda xp, x, y: (x != 0) & (y != 0), "_Logical_And"),
    ("logical_or", "LogicalOr", lambda xp, x, y: (x != 0) | (y != 0), "_Logical_Or"),
    ("logical_xor", "LogicalXor", lambda xp, x, y: (x != 0) ^ (y != 0), "_Logical_Xor"),
):
    binary(
        _stem,
        _stem,
        _camel,
        _define,
        aliases=("_npx_broadcast_greater",) if _stem == "greater" else (),
        scalar_stypes=() if _stem.startswith("logical") else _keeping_zero(_define),
        equal_shapes=(f"_{_stem}", (_old,)),
        number=0.0,
        doc=f"1 where `{_stem}` holds, 0 elsewhere, in the operands' element type.",
    )
