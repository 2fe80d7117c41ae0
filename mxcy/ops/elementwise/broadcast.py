"""Elementwise binary operators: equal shapes, broadcast shapes, and array with scalar.

One call of `binary` registers all forms of a function: ``broadcast_x``, the form for equal shapes,
``_x_scalar`` and, for non-commutative functions, ``_rx_scalar``.
"""

from mxcy._base import dtypes
from mxcy.ops.core.attrs import Bool, Double, Dynamic, Field
from mxcy.ops.core.infer import Spec, back_dtypes, back_inputs, broadcast_shapes, same_dtype
from mxcy.ops.core.params import BROADCAST, SCALAR
from mxcy.ops.core.record import native, register, sample

__all__ = [
    "ALL",
    "binary",
    "both_grads",
    "broadcast_params",
    "collapse",
    "infer_equal",
    "refuse_unequal",
    "scalar_form",
    "sum_to",
]

ALL = ("float32", "float64", "float16", "bfloat16", "int32", "int64", "int8", "uint8")
_NAMES = ("lhs", "rhs")


def _infer_broadcast(a, lhs, rhs):
    return Spec(broadcast_shapes(lhs.shape, rhs.shape), same_dtype((lhs, rhs), _NAMES))


def infer_equal(a, lhs, rhs):
    """Infer the result of operands of equal shape."""
    dtype = same_dtype((lhs, rhs), _NAMES)
    if lhs.shape is not None:
        rhs.fill("rhs", lhs.shape)
    lhs.fill("lhs", rhs.shape)
    return Spec(lhs.shape, dtype)


def refuse_unequal(a, ins, outs):
    """Refuse operands of different shapes, which the reference takes."""
    return None if ins[0].shape == ins[1].shape else "the shapes differ"


def _strides(shape, out):
    """Return element strides of a contiguous array broadcast to `out`; 0 where repeated."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step if extent != 1 else 0)
        step *= extent
    strides += [0] * (len(out) - len(shape))
    return strides[::-1]


def collapse(shape, *strides):
    """Merge adjacent dimensions that are contiguous in all operands.

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
    """Return the fields of BROADCAST."""
    out = outs[0].shape
    shape, lhs, rhs = collapse(out, _strides(ins[0].shape, out), _strides(ins[1].shape, out))
    return {"ndim": len(shape), "shape": shape, "lhs": lhs, "rhs": rhs}


def sum_to(F, g, spec, other):
    """Sum a gradient of two broadcast specs to the shape of the first."""
    if spec.shape == other.shape:
        return g
    out = broadcast_shapes(spec.shape, other.shape)
    if out == spec.shape:
        return g
    lead = len(out) - len(spec.shape)
    repeated = [i + lead for i, n in enumerate(spec.shape) if n == 1 and out[i + lead] != 1]
    summed = F.sum(g, axis=(*range(lead), *repeated), keepdims=True)
    if not spec.shape or 0 in spec.shape:  # Reshape would read 0 as a code
        return F._backward_reshape(summed, shape=spec.shape)
    return F.Reshape(summed, shape=spec.shape) if lead else summed


def both_grads(partial):
    """Return the gradient rule of a broadcast operator, given its partial derivatives.

    `partial(F, g, lhs, rhs)` returns the gradients before they are summed to the inputs' shapes.
    """
    if partial is None:
        return lambda a, F, g, specs: (None, None)
    if partial.__code__.co_argcount == 2:  # needs neither operand

        def grad(a, F, g, specs):
            left, right = partial(F, g)
            return sum_to(F, left, specs[0], specs[1]), sum_to(F, right, specs[1], specs[0])

    else:

        def grad(a, F, g, lhs, rhs, specs):
            left, right = partial(F, g, lhs, rhs)
            return sum_to(F, left, specs[0], specs[1]), sum_to(F, right, specs[1], specs[0])

    return grad


def _scalar_dtype(a, dtype):
    """Return the result dtype: integers with a fractional scalar give float64, bools int64."""
    if dtype is None or dtypes.is_inexact(dtype):
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


def scalar_form(
    name,
    aliases,
    define,
    grad,
    kernel,
    domain,
    number,
    doc,
    stypes=(),
    factor=None,
    complexes=False,
    amp=None,
):
    """Register an operator of an array and a scalar, computed in the result's dtype."""

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
        complexes=complexes,
        amp=amp,
        dtypes=ALL,
        samples=(
            sample((3, 4), scalar=number),
            sample((2, 3, 19), scalar=3.0, grad=False),
            sample((3, 4), scalar=2.0, grad=False, dtypes=("bool",)),
            sample((3, 4), scalar=2.5, is_int=False, grad=False, dtypes=("int32", "bool")),
        ),
    )


_BROADCAST_SAMPLES = (
    sample((3, 4), (3, 4)),
    sample((3, 1, 5), (4, 1)),
    sample((2, 3, 4), (1, 1, 4), grad=False),
    sample((2, 1, 1), (2, 3, 70), grad=False),
    sample((4, 5, 1), (1, 5, 6), grad=False),
)


def _zero(a, F, g):
    return F.zeros_like(g)


def _scalar_forms(
    kernel,
    word,
    camel,
    define,
    by_number,
    by_number_first,
    aliases,
    doc,
    stypes,
    factor,
    amp,
    **shared,
):
    """Register the forms with a scalar as second and, given a rule, as first operand."""
    scalar_form(
        f"_{word}_scalar",
        (f"_{camel}Scalar", *aliases),
        define,
        by_number or _zero,
        f"{kernel}_scalar",
        doc=f"{doc} The second operand is a scalar.",
        stypes=stypes,
        factor=factor,
        amp=amp[0],
        **shared,
    )
    if by_number_first:
        scalar_form(
            f"_r{word}_scalar",
            (f"_R{camel}Scalar",),
            lambda xp, x, s: define(xp, s, x),
            by_number_first,
            f"r{kernel}_scalar",
            doc=f"{doc} The first operand is a scalar.",
            amp=amp[1],
            **shared,
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
    complexes=False,
    quantized=None,
    amp=("widest", "widest", None, None),
):
    """Register all forms of an elementwise binary function.

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
        summing to their shapes; zero if omitted.
    by_number, by_number_first : callable, optional
        Gradient rules ``rule(a, F, g, ...)`` of ``f(x, number)`` and ``f(number, x)``; giving the
        second registers the reversed form.
    equal_shapes : (str, tuple), optional
        Name and aliases of the form for equal shapes.
    broadcast : str, optional
        Name of the broadcast form; ``broadcast_<kernel>`` by default.
    aliases, extra : tuple
        Further names of the broadcast form and of the scalar form.
    stypes, broadcast_stypes, scalar_stypes : tuple of Rule
        Storage type rules of the form for equal shapes, the broadcast form and the scalar form.
    factor : callable, optional
        ``factor(a)``: the number by which the scalar form multiplies.
    equal_partial : callable, optional
        `partial` for equal shapes, if sparse arrays need other operators.
    complexes : bool
        Whether complex arrays are supported, as gradients of `mx.np` need.
    quantized : Quantized, optional
        Quantized counterpart of the form for equal shapes.
    amp : tuple
        Mixed precision categories of the form for equal shapes, the broadcast form, the scalar form
        and the reversed one.
    """

    def ref(a, xp, lhs, rhs):
        return define(xp, lhs, rhs).astype(lhs.dtype)

    grad = both_grads(partial)
    shared = {"inputs": "lhs rhs", "grad": grad, "ref": ref, "domain": domain, "dtypes": ALL}
    shared["complexes"] = complexes
    same_shape = native(kernel, when=refuse_unequal, inplace=True, pointwise=True)
    register(
        broadcast or f"broadcast_{kernel}",
        aliases=aliases,
        infer=_infer_broadcast,
        infer_back=back_dtypes,
        kernels=(same_shape, native(f"{kernel}_broadcast", BROADCAST, broadcast_params)),
        doc=f"{doc} Shapes are broadcast.",
        stypes=broadcast_stypes,
        amp=amp[1],
        samples=_BROADCAST_SAMPLES,
        **shared,
    )
    if equal_shapes:
        register(
            equal_shapes[0],
            aliases=equal_shapes[1],
            infer=infer_equal,
            infer_back=back_inputs,
            kernels=(same_shape,),
            doc=f"{doc} Both arrays have the same shape.",
            stypes=stypes,
            quantized=quantized,
            amp=amp[0],
            samples=(sample((3, 4), (3, 4)),),
            **{**shared, "grad": both_grads(equal_partial or partial)},
        )
    _scalar_forms(
        kernel,
        word,
        camel,
        define,
        by_number,
        by_number_first,
        aliases=extra,
        doc=doc,
        stypes=scalar_stypes,
        factor=factor,
        amp=amp[2:],
        domain=domain,
        number=number,
        complexes=complexes,
    )
