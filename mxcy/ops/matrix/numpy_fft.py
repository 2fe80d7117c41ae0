"""Discrete Fourier transforms of `mx.np.fft`, over one or several axes."""

from mxcy._base.dtypes import (
    code_of,
    complex_of,
    dtype_of,
    is_complex,
    is_inexact,
    name_of,
    real_of,
)
from mxcy.ops.core.attrs import Enum, LongTuple
from mxcy.ops.core.infer import Spec, normal_axis, require
from mxcy.ops.core.record import op, sample
from mxcy.ops.core.result_types import MEAN

__all__ = []

_REVERSED = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def _axes(a, ndim):
    axes = tuple(normal_axis(axis, ndim, "axes") for axis in a.axes)
    require(axes, "axes: expected at least one")
    require(len(set(axes)) == len(axes), f"axes: {a.axes} name an axis twice")
    return axes


def _result_type(a, x):
    """Return the working dtype: 16-bit floats become 32-bit, integers the default dtype."""
    code = MEAN(a, x)
    if code is None:
        return None
    code = complex_of(code)
    return real_of(code) if a.kind == "irfft" else code


def _extents(a, shape):
    """Return the number of points along each axis."""
    axes = _axes(a, len(shape))
    require(len(a.s) in (0, len(axes)), f"s: {a.s} and axes {axes} differ in length")
    extents = list(a.s or [shape[axis] for axis in axes])
    if a.kind == "irfft" and not a.s:
        extents[-1] = 2 * (extents[-1] - 1)
    require(min(extents) > 0, f"s: expected positive numbers of points, got {extents}")
    return extents


def _infer(a, x):
    code = _result_type(a, x)
    refused = a.kind == "rfft" and x.dtype is not None and is_complex(x.dtype)
    require(not refused, "a: expected real numbers, got complex ones")
    if x.shape is None or (-1 in x.shape and not a.s):
        return Spec(None, code)
    shape, axes = list(x.shape), _axes(a, len(x.shape))
    for axis, n in zip(axes, _extents(a, x.shape), strict=True):
        shape[axis] = n
    if a.kind == "rfft":
        shape[axes[-1]] = shape[axes[-1]] // 2 + 1
    return Spec(tuple(shape), code)


def _fitted(F, g, shape, wanted):
    """Undo cropping and zero-padding of the input in its gradient."""
    for axis, (n, extent) in enumerate(zip(shape, wanted, strict=True)):
        if n > extent:
            g = F.slice_axis(g, axis=axis, begin=0, end=extent)
    if any(n < extent for n, extent in zip(shape, wanted, strict=True)):
        margins = [(0, max(extent - n, 0)) for n, extent in zip(shape, wanted, strict=True)]
        g = F._npi_pad(g, pad_width=tuple(margins))
    return g


def _weighed(F, g, n, axis, shape, code):
    """Double all values of a half spectrum except the first and the Nyquist one."""
    order = F._npi_arange(start=0, stop=shape[axis], dtype=name_of(real_of(code)))
    weights = 2 - (order == 0) - (order == n / 2)
    row = tuple(extent if i == axis else 1 for i, extent in enumerate(shape))
    return F._npi_multiply(g, F._backward_reshape(weights, shape=row))


@op("_mx_fft", inputs="a", uses_types=True, names={"x": ("in", 0)})
class Transform:
    """Compute a discrete Fourier transform over some axes.

    `kind` is ``'fft'``, its inverse ``'ifft'``, ``'rfft'`` of real input (the last axis holds the
    non-negative frequencies) or its inverse ``'irfft'``. `s` are the numbers of points along the
    axes, to which the input is cropped or zero-padded. `norm` selects whether the transform or its
    inverse is divided by the number of points.
    """

    kind: Enum("fft", "ifft", "rfft", "irfft")
    axes: LongTuple
    s: LongTuple = ()
    norm: Enum("backward", "ortho", "forward") = "backward"

    complexes = True
    infer = _infer
    samples = (
        sample((3, 8), kind="fft", axes=(-1,), grad=False, tol=10),
        sample((3, 7), kind="ifft", axes=(0,), s=(5,), grad=False, tol=10),
        sample((3, 7), kind="rfft", axes=(0, 1), norm="ortho", grad=False, tol=10),
        sample((2, 5, 4), kind="irfft", axes=(1, 2), tol=10),
        sample((2, 5), kind="irfft", axes=(1,), s=(5,), norm="forward", tol=10),
        sample((2, 3), kind="irfft", axes=(1,), s=(7,), norm="ortho", tol=10),
        sample((0, 4), kind="fft", axes=(1,), grad=False),
    )

    def grad(a, F, g, specs):
        (spec,) = specs
        if not is_inexact(spec.dtype):
            return None
        axes, points = _axes(a, spec.ndim), _extents(a, spec.shape)
        reverse = {"fft": "ifft", "ifft": "fft", "rfft": "ifft", "irfft": "rfft"}[a.kind]
        gradient = F._mx_fft(g, kind=reverse, axes=axes, s=tuple(points), norm=_REVERSED[a.norm])
        shape = list(spec.shape)
        for axis, n in zip(axes, points, strict=True):
            shape[axis] = n
        if a.kind == "irfft":
            shape[axes[-1]] = points[-1] // 2 + 1
            gradient = _weighed(F, gradient, points[-1], axes[-1], shape, spec.dtype)
        if not is_complex(spec.dtype):
            gradient = F._mx_real(gradient)
        return F._mx_astype(_fitted(F, gradient, shape, spec.shape), dtype=name_of(spec.dtype))

    def ref(a, xp, x):
        code = _result_type(a, Spec(x.shape, code_of(x.dtype)))
        kind = dtype_of(code)
        x = x.astype(dtype_of(complex_of(code) if x.dtype.kind == "c" else real_of(code)))
        transform = getattr(xp.fft, f"{a.kind}n")
        transformed = transform(x, _extents(a, x.shape), _axes(a, x.ndim), a.norm)
        return xp.asarray(transformed).astype(kind)
