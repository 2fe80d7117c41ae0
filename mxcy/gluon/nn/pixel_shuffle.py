"""Sub-pixel upsampling layers (Shi et al., 2016), which rearrange channels into pixels."""

from mxcy.gluon.block import HybridBlock
from mxcy.gluon.nn._windows import as_tuple

__all__ = ["PixelShuffle1D", "PixelShuffle2D", "PixelShuffle3D"]


class _PixelShuffle(HybridBlock):
    """(n, factors * c, size...) becomes (n, c, size * factor...)."""

    _ndim = None

    def __init__(self, factor, **kwargs):
        super().__init__(**kwargs)
        self._factors = as_tuple(factor, self._ndim)
        assert len(self._factors) == self._ndim, (
            f"factor must be a number or a list of {self._ndim} ints, got {factor}"
        )

    def hybrid_forward(self, F, x):
        ndim, factors = self._ndim, self._factors
        # Split the factors off the channels one by one: (n, c, f1, f2, ..., s1, s2, ...).
        for axis in range(ndim):
            kept = [0] * axis
            x = F.reshape(x, [0, -4, -1, factors[ndim - 1 - axis], *kept, *[0] * ndim])
        order = [0, 1]
        for axis in range(ndim):
            order += [2 + ndim + axis, 2 + axis]
        x = F.transpose(x, axes=order)
        return F.reshape(x, [0, 0, *[-3] * ndim])

    def __repr__(self):
        return f"{type(self).__name__}({self._factors if self._ndim > 1 else self._factors[0]})"


class PixelShuffle1D(_PixelShuffle):
    """(n, f * c, w) becomes (n, c, w * f).

    Parameters
    ----------
    factor : int
        The factor f.
    **kwargs
        See `Block`.
    """

    _ndim = 1


class PixelShuffle2D(_PixelShuffle):
    """(n, f1 * f2 * c, h, w) becomes (n, c, h * f1, w * f2).

    Parameters
    ----------
    factor : int or tuple of int
        The factors.
    **kwargs
        See `Block`.
    """

    _ndim = 2


class PixelShuffle3D(_PixelShuffle):
    """(n, f1 * f2 * f3 * c, d, h, w) becomes (n, c, d * f1, h * f2, w * f3).

    Parameters
    ----------
    factor : int or tuple of int
        The factors.
    **kwargs
        See `Block`.
    """

    _ndim = 3
