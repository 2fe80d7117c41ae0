"""Reductions of `mx.np`, which can reduce to 0-d and have rule-based result dtypes."""

import math

import numpy as np

from mxcy._base.dtypes import CODES, code_of, dtype_of, is_inexact, name_of, real_of
from mxcy._base.errors import InvalidValueError
from mxcy.ops.core.attrs import Bool, DType, Field, ShapeOrNone
from mxcy.ops.core.in_symbols import TYPED
from mxcy.ops.core.infer import Spec, normal_axes
from mxcy.ops.core.params import ARG, REDUCE
from mxcy.ops.core.record import native, register, sample
from mxcy.ops.core.result_types import ACCUMULATE, KEEP, MEAN, TEST, asked
from mxcy.ops.elementwise.cast import cast_back, cast_to
from mxcy.ops.reduce.reduce import reduce_params

__all__ = ["along", "axes_of", "count", "kept_shape", "numpy_reduction", "over", "refuse_scattered"]

_FLOATS = ("float32", "float64", "float16", "bfloat16")
_ALL = (*_FLOATS, "int32", "int64", "int8", "uint8", "bool")
ELEMENT = DType(None, *CODES)
_BOOL = CODES["bool"]


def axes_of(a, ndim):
    """Return the sorted axes of a reduction: all by default, none for ().

    A 0-d array accepts axes 0 and -1, as in NumPy and MXNet.
    """
    if a.axis is None or (ndim == 0 and tuple(a.axis) in ((0,), (-1,))):
        return tuple(range(ndim))
    return normal_axes(a.axis, ndim)


def kept_shape(shape, axes, keepdims):
    """Return the shape after a reduction."""
    if keepdims:
        return tuple(1 if i in axes else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in axes)


def along(shape, axes):
    """Return (outer, extent, inner) if the axes form one dimension, else None."""
    lowered = reduce_params(shape, axes)
    extents = [1, *lowered["shape"]] if lowered["first_reduced"] else lowered["shape"]
    if len(extents) > 3:
        return None
    return dict(zip(("outer", "extent", "inner"), (*extents, 1, 1), strict=False))


def refuse_scattered(a, ins, outs):
    """Return why a kernel that reduces one dimension cannot run, or None."""
    if not ins[0].size:
        return "there are no elements"
    if along(ins[0].shape, axes_of(a, ins[0].ndim)) is None:
        return "the axes form no single dimension"
    return None


def over(F, value, a, spec):
    """Broadcast a result or its gradient over the reduced axes."""
    axes = axes_of(a, len(spec.shape))
    value = F._backward_reshape(value, shape=kept_shape(spec.shape, axes, True))
    return F._npi_broadcast_to(value, shape=spec.shape)


def count(a, spec):
    """Return the number of elements per result."""
    return math.prod(spec.shape[i] for i in axes_of(a, len(spec.shape)))


def _kernel(name, rule):
    """Return the kernel of a reduction, which computes in the result's dtype."""

    def refusal(a, ins, outs):
        if not ins[0].size or not axes_of(a, ins[0].ndim):
            return "nothing is reduced"
        if outs[0].dtype == _BOOL and (rule is MEAN or ins[0].dtype != _BOOL):
            return "truth values would be truncated to integers"
        return None if real_of(ins[0].dtype) == ins[0].dtype else "the elements are complex"

    return native(
        name,
        REDUCE,
        _params,
        when=refusal,
        select=lambda ins, outs: outs[0].dtype,  # a wider dtype for integers
        mixed=True,
    )


def _gradient_rule(grad, result, linear):
    """Wrap a gradient rule to get its input in the result's dtype, ``result(a, x)``."""
    if grad is None:
        return lambda a, F, g: None

    def typed(a, F, g, x, out, specs):
        code = result(a, specs[0])
        if not (linear or is_inexact(code)) and code != specs[0].dtype:
            return None
        reduced = grad(a, F, g, cast_to(F, x, code, specs[0].dtype), out, specs[0])
        if code == specs[0].dtype:
            return reduced
        if linear and not is_inexact(specs[0].dtype):
            return F.Cast(reduced, dtype=name_of(specs[0].dtype))
        return cast_back(F, reduced, specs[0].dtype, code)

    return typed


def _result_rule(rule, typed):
    """Return the dtype rule of a result that the attribute `dtype`, if any, may override."""

    def result(a, spec):
        if typed and a.dtype is not None:
            return asked(a.dtype, spec)
        return rule(a, spec)

    return result


def _inference(name, result, needs_elements):
    def infer(a, x):
        code = result(a, x)
        if x.shape is None:
            return Spec(None, code)
        axes = axes_of(a, x.ndim)
        if needs_elements and any(x.shape[i] == 0 for i in axes):
            raise InvalidValueError(f"zero-size array to reduction {name} which has no identity")
        return Spec(kept_shape(x.shape, axes, a.keepdims), code)

    return infer


def _reference(define, rule, result):
    def ref(a, xp, x):
        axes = axes_of(a, x.ndim)
        code = result(a, Spec(x.shape, code_of(x.dtype)))
        dtype = np.float32 if name_of(code) == "bfloat16" else dtype_of(code)
        wider = x.dtype.kind == "f" and np.dtype(dtype) == np.float16  # rounded after summation
        reduced = define(xp, x if rule is TEST or wider else x.astype(dtype), axes)
        return xp.asarray(reduced).astype(dtype).reshape(kept_shape(x.shape, axes, a.keepdims))

    return ref


def _samples(grad, typed):
    return (
        sample((3, 4), grad=grad),
        sample((2, 3, 4), axis=(1,), grad=grad),
        sample((2, 3, 4), axis=(0, -1), keepdims=True, grad=grad),
        sample((), grad=grad),
        sample((3,), axis=(), grad=False),
        sample((5, 130), axis=(1,), grad=False),
        sample((2, 0, 3), axis=(0,), grad=False),
        *((sample((3, 4), dtype="bool", axis=(1,), grad=False),) if typed else ()),
    )


def numpy_reduction(
    name,
    doc,
    rule,
    define,
    grad=None,
    kernel="",
    typed=False,
    numpy=None,
    domain=(-1, 1),
    test_dtypes=_ALL,
    linear=False,
    needs_elements=False,
    complexes=True,
    amp=None,
):
    """Register a reduction over axes of `mx.np`.

    Parameters
    ----------
    name : str
        Name of the operator, ``_npi_<name>``.
    doc : str
    rule : TypeRule
        Dtype rule of the result, unless the call gives one.
    define : callable
        ``define(xp, x, axes)``, without keepdims; `x` has the result's dtype.
    grad : callable, optional
        Gradient rule, with the input in the result's dtype.
    kernel : str or Native
        Kernel that computes in the result's dtype.
    typed : bool
        Whether there is an attribute `dtype`.
    numpy : str or Public
        Public name and signature.
    domain : (float, float)
    test_dtypes : tuple of str
        Dtypes to test.
    needs_elements : bool
        Whether reducing zero elements raises.
    linear : bool
        Whether integer results have gradients, too, as in MXNet.
    complexes : bool
        Whether complex arrays are supported.
    amp : str, optional
        Mixed precision category.
    """
    fields = [Field("axis", ShapeOrNone, None)]
    if typed:
        fields.append(Field("dtype", ELEMENT, None))
    fields.append(Field("keepdims", Bool, False))

    result = _result_rule(rule, typed)
    return register(
        f"_npi_{name}",
        inputs="a",
        fields=fields,
        infer=_inference(name, result, needs_elements),
        names={"x": ("in", 0)},
        grad=_gradient_rule(grad, result, linear),
        ref=_reference(define, rule, result),
        kernels=(_kernel(kernel, rule) if isinstance(kernel, str) else kernel,),
        doc=doc,
        domain=domain,
        dtypes=test_dtypes,
        uses_types=True,
        in_symbols=TYPED if rule is MEAN else None,
        complexes=complexes,
        amp=amp,
        samples=_samples(grad is not None, typed),
        numpy=numpy,
    )


def _params(a, ins, outs):
    return reduce_params(ins[0].shape, axes_of(a, ins[0].ndim))


def _product_grad(a, F, g, x, out, spec):
    """Compute each element's gradient as the product of the others, correct for zeros, too."""
    zero = x == 0
    safe = x + zero
    others = F._npi_prod(safe, axis=a.axis, keepdims=a.keepdims)
    zeros = F._npi_sum(zero, axis=a.axis, keepdims=a.keepdims)
    without_zero = over(F, g * others * (zeros == 0), a, spec) / safe
    of_only_zero = over(F, g * others * (zeros == 1), a, spec) * zero
    return without_zero + of_only_zero


def _extremum_grad(a, F, g, x, out, spec):
    return (x == over(F, out, a, spec)) * over(F, g, a, spec)


numpy_reduction(
    "sum",
    "Compute the sum over axes.",
    ACCUMULATE,
    lambda xp, x, axes: x.sum(axes, dtype=x.dtype),
    lambda a, F, g, x, out, spec: over(F, g, a, spec),
    kernel="sum",
    typed=True,
    linear=True,
    numpy="sum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None)",
    amp="fp32",
)
numpy_reduction(
    "prod",
    "Compute the product over axes.",
    ACCUMULATE,
    lambda xp, x, axes: x.prod(axes, dtype=x.dtype),
    _product_grad,
    kernel="prod",
    typed=True,
    domain=(0.7, 1.3),
    numpy="prod product(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, "
    "where=None)",
    amp="fp32",
)
numpy_reduction(
    "mean",
    "Compute the mean over axes; integers give the default floating-point dtype.",
    MEAN,
    lambda xp, x, axes: (
        x.sum(axes, dtype=x.dtype) / math.prod(x.shape[i] for i in axes)
        if x.dtype.kind in "fc"
        else x.mean(axes)
    ),
    lambda a, F, g, x, out, spec: over(F, g / max(count(a, spec), 1), a, spec),
    kernel="mean",
    typed=True,
    numpy="mean(a, axis=None, dtype=None, out=None, keepdims=False, where=None)",
    amp="fp32",
)
for _name, _word in (("max", "maximum"), ("min", "minimum")):
    numpy_reduction(
        _name,
        f"Compute the {_word} over axes; NaN propagates.",
        KEEP,
        lambda xp, x, axes, _name=_name: getattr(xp, _name)(x, axes),
        _extremum_grad,
        kernel=_name,
        needs_elements=True,
        complexes=False,
        numpy=f"{_name} a{_name}(a, axis=None, out=None, keepdims=False, initial=None, where=None)",
    )
for _name, _word in (("all", "all elements are"), ("any", "an element is")):
    numpy_reduction(
        _name,
        f"Test whether {_word} nonzero.",
        TEST,
        lambda xp, x, axes, _name=_name: getattr(xp, _name)(x, axes),
        kernel=native(
            _name,
            ARG,
            lambda a, ins, outs: along(ins[0].shape, axes_of(a, ins[0].ndim)),
            when=refuse_scattered,
            mixed=True,
        ),
        numpy=f"{_name} {'alltrue' if _name == 'all' else 'sometrue'}"
        "(a, axis=None, out=None, keepdims=False)",
    )
