"""Discrete Fourier transforms of `contrib`, with interleaved real and imaginary parts."""

from mxcy.ops.core.attrs import Int
from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.record import op, sample

__all__ = []


def _resized(data, resize):
    """Return the data's Spec with another last extent."""
    if data.shape is None:
        return Spec(None, data.dtype)
    require(data.ndim in (2, 4), f"argument data: expected 2 or 4 dimensions, got {data}")
    last = data.shape[-1]
    return Spec((*data.shape[:-1], -1 if last == -1 else resize(last)), data.dtype)


@op("_contrib_fft", amp="fp32")
class Fft:
    """Compute the discrete Fourier transform along the last axis.

    (..., d) becomes (..., 2 d): interleaved real and imaginary parts. `compute_size` is ignored.
    """

    compute_size: Int = 128

    samples = (sample((3, 8), tol=10), sample((2, 1, 3, 5), tol=10))

    def infer(a, data):
        return _resized(data, lambda n: 2 * n)

    def grad(a, F, g):
        return F._contrib_ifft(g)

    def ref(a, xp, data):
        transformed = xp.fft.fft(data)
        pairs = xp.stack([transformed.real, transformed.imag], -1)
        return pairs.reshape(*data.shape[:-1], 2 * data.shape[-1]).astype(data.dtype)


@op("_contrib_ifft")
class Ifft:
    """Compute the real part of the unnormalised inverse Fourier transform along the last axis.

    (..., 2 d), interleaved real and imaginary parts, becomes (..., d), not divided by d.
    `compute_size` is ignored.
    """

    compute_size: Int = 128

    samples = (sample((3, 8), tol=10), sample((2, 1, 3, 10), tol=10))

    def infer(a, data):
        last = data.shape[-1] if data.shape else None
        require(
            last is None or last == -1 or last % 2 == 0,
            f"data: {data} has a last dimension of odd size",
        )
        return _resized(data, lambda n: n // 2)

    def grad(a, F, g):
        return F._contrib_fft(g)

    def ref(a, xp, data):
        pairs = data.reshape(*data.shape[:-1], -1, 2)
        transformed = xp.fft.ifft(pairs[..., 0] + 1j * pairs[..., 1], norm="forward")
        return transformed.real.astype(data.dtype)
