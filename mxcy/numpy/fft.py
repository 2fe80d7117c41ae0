"""`mx.np.fft`: differentiable discrete Fourier transforms."""

import operator

import numpy as onp

from mxcy.base import integer_types
from mxcy.numpy._arrays.operators import function
from mxcy.numpy._calls.general import into, operate
from mxcy.numpy._calls.operands import as_np_array, from_onp
from mxcy.numpy._creation.rules import default_float, place
from mxcy.numpy._math.elementwise import conj
from mxcy.ops.core.infer import normal_axis

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]


def __dir__():
    return __all__


_REVERSED = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


def _norm(norm):
    if norm not in (None, *_REVERSED):
        raise ValueError(f"norm: expected 'backward', 'ortho' or 'forward', got {norm!r}")
    return norm or "backward"


def _points(n, name):
    """Check a number of points; -1 stands for the input's own."""
    n = operator.index(n)
    if n < 1 and n != -1:
        raise ValueError(f"{name}: invalid number of data points: {n}")
    return n


def _transformed(kind, name, a, s, axes, norm, out):
    """Transform over several axes."""
    array, norm = as_np_array(a), _norm(norm)
    if axes is None:
        axes = range(array.ndim - (array.ndim if s is None else len(s)), array.ndim)
    axes = tuple(normal_axis(operator.index(axis), array.ndim, name) for axis in axes)
    if not axes:
        raise ValueError(f"{name}: expected an axis at least")
    if s is not None and len(s) != len(axes):
        raise ValueError(f"{name}: s {s} and axes {axes} differ in length")
    sizes = [array.shape[axis] for axis in axes]
    points = sizes if s is None else [_points(n, name) for n in s]
    points = [extent if n == -1 else n for n, extent in zip(points, sizes, strict=True)]
    if kind == "irfft" and s is None:
        points[-1] = 2 * (sizes[-1] - 1)
    if min(points) < 1:
        raise ValueError(f"{name}: there are no data points in an array of shape {array.shape}")
    if kind == "rfft" and array.dtype.kind == "c":
        raise TypeError(f"{name}: expected real numbers, got {array.dtype}")
    result = operate("_mx_fft", array, kind=kind, s=tuple(points), axes=axes, norm=norm)
    return into(result, out)


def _one(kind, name, a, n, axis, norm, out):
    return _transformed(kind, name, a, None if n is None else (n,), (axis,), norm, out)


def fft(a, n=None, axis=-1, norm=None, out=None):
    """Compute the discrete Fourier transform along an axis.

    Parameters
    ----------
    a : array_like
    n : int, optional
        Number of points; the input is cropped or zero-padded to it.
    axis : int
    norm : {'backward', 'ortho', 'forward'}, optional
        Normalisation: ``'backward'`` (default) scales the inverse transform by 1/n, ``'forward'``
        the forward one, ``'ortho'`` both by 1/sqrt(n).
    out : ndarray, optional
        Array to write the result to.

    Returns
    -------
    ndarray
        complex64 for float32 and float16, complex128 for float64; integers are treated as the
        default floating-point dtype.
    """
    return _one("fft", "fft", a, n, axis, norm, out)


def ifft(a, n=None, axis=-1, norm=None, out=None):
    """Compute the inverse discrete Fourier transform along an axis; parameters as in `fft`."""
    return _one("ifft", "ifft", a, n, axis, norm, out)


def rfft(a, n=None, axis=-1, norm=None, out=None):
    """Compute the Fourier transform of real input: the first ``n // 2 + 1`` values of `fft`.

    The other values are their conjugates. Parameters as in `fft`.
    """
    return _one("rfft", "rfft", a, n, axis, norm, out)


def irfft(a, n=None, axis=-1, norm=None, out=None):
    """Compute the inverse of `rfft`: `n` real values, by default ``2 * (m - 1)`` for m inputs.

    Parameters as in `fft`.
    """
    return _one("irfft", "irfft", a, n, axis, norm, out)


def hfft(a, n=None, axis=-1, norm=None, out=None):
    """Compute the Fourier transform of a signal with Hermitian symmetry, given its first half.

    The `n` results are real. Parameters as in `irfft`.
    """
    return _one("irfft", "hfft", conj(a), n, axis, _REVERSED[_norm(norm)], out)


def ihfft(a, n=None, axis=-1, norm=None, out=None):
    """Compute the inverse of `hfft`: the first half of the Hermitian signal.

    Parameters as in `rfft`.
    """
    return into(conj(_one("rfft", "ihfft", a, n, axis, _REVERSED[_norm(norm)], None)), out)


def fftn(a, s=None, axes=None, norm=None, out=None):
    """Compute the discrete Fourier transform along several axes.

    Parameters
    ----------
    a : array_like
    s : sequence of int, optional
        Number of points along each axis; the input is cropped or zero-padded to it. -1 keeps the
        input's extent.
    axes : sequence of int, optional
        By default all, or the last ``len(s)`` axes if `s` is given.
    norm : {'backward', 'ortho', 'forward'}, optional
        See `fft`.
    out : ndarray, optional
        Array to write the result to.

    Returns
    -------
    ndarray
    """
    return _transformed("fft", "fftn", a, s, axes, norm, out)


def ifftn(a, s=None, axes=None, norm=None, out=None):
    """Compute the inverse Fourier transform along several axes; parameters as in `fftn`."""
    return _transformed("ifft", "ifftn", a, s, axes, norm, out)


def rfftn(a, s=None, axes=None, norm=None, out=None):
    """Compute the Fourier transform of real input along several axes: `rfft` along the last one.

    Parameters as in `fftn`.
    """
    return _transformed("rfft", "rfftn", a, s, axes, norm, out)


def irfftn(a, s=None, axes=None, norm=None, out=None):
    """Compute the inverse of `rfftn`: `irfft` along the last axis; parameters as in `fftn`."""
    return _transformed("irfft", "irfftn", a, s, axes, norm, out)


def fft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """Compute the Fourier transform along two axes; parameters as in `fftn`."""
    return _transformed("fft", "fft2", a, s, axes, norm, out)


def ifft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """Compute the inverse Fourier transform along two axes; parameters as in `fftn`."""
    return _transformed("ifft", "ifft2", a, s, axes, norm, out)


def rfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """Compute the Fourier transform of real input along two axes; parameters as in `rfftn`."""
    return _transformed("rfft", "rfft2", a, s, axes, norm, out)


def irfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """Compute the inverse of `rfft2`; parameters as in `irfftn`."""
    return _transformed("irfft", "irfft2", a, s, axes, norm, out)


def _frequencies(name, n, d, dtype, device):
    if not isinstance(n, integer_types):
        raise ValueError(f"{name}: n should be an integer, got {n!r}")
    return from_onp(getattr(onp.fft, name)(n, d), dtype or default_float(), place(device))


def fftfreq(n, d=1.0, dtype=None, device=None):
    """Return the frequencies of the bins of `fft`, in cycles per unit.

    Parameters
    ----------
    n : int
        Number of points.
    d : float
        Sample spacing.
    dtype : dtype, optional
        Default floating-point type if omitted.
    device : Device, optional

    Returns
    -------
    ndarray
        Zero and the positive frequencies first, then the negative ones.
    """
    return _frequencies("fftfreq", n, d, dtype, device)


def rfftfreq(n, d=1.0, dtype=None, device=None):
    """Return the frequencies of the bins of `rfft`; parameters as in `fftfreq`."""
    return _frequencies("rfftfreq", n, d, dtype, device)


def _shifted(x, axes, backwards):
    array = as_np_array(x)
    if axes is None:
        axes = tuple(range(array.ndim))
    axes = (axes,) if hasattr(axes, "__index__") else tuple(axes)
    shift = [array.shape[axis] // 2 for axis in axes]
    shift = tuple(-n if backwards else n for n in shift)
    return function("roll")(array, shift, axes) if axes else function("positive")(array)


def fftshift(x, axes=None):
    """Shift the zero-frequency component to the centre of each axis.

    Parameters
    ----------
    x : array_like
    axes : int or sequence of int, optional
        All by default.

    Returns
    -------
    ndarray
    """
    return _shifted(x, axes, False)


def ifftshift(x, axes=None):
    """Undo `fftshift`; same parameters."""
    return _shifted(x, axes, True)
