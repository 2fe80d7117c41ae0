"""Compression of gradients to one or two bits per element."""

from importlib import import_module

from mxcy import ndarray as nd
from mxcy.base import MXNetError
from mxcy.context import cpu
from mxcy.kvstore.engine_calls import operation, window

__all__ = ["GradientCompression", "PackedCompression"]


class GradientCompression:
    """Quantizes gradients with error feedback: the residual is added to the next gradient.

    Parameters
    ----------
    type : {'1bit', '2bit'}
        One bit: -1 or 1. Two bits: minus `threshold`, 0 or `threshold`.
    threshold : float
        Threshold of the higher level; for two bits, of both outer levels.

    Raises
    ------
    MXNetError
        If the type is unknown, or the threshold is not positive for '2bit'.
    """

    def __init__(self, type="2bit", threshold=0.5):
        if type not in ("1bit", "2bit"):
            raise MXNetError(f"Unknown type for gradient compression {type}")
        self.type, self.threshold = type, float(threshold)
        if type == "2bit" and self.threshold <= 0:
            raise MXNetError(f"threshold must be greater than 0 for 2bit, got {threshold}")
        self._lost = {}
        # Most stores do not need it, and it needs symbols.
        rounding = import_module("mxcy.kvstore.rounding").rounding
        self._round = rounding(self.type, self.threshold)

    def __call__(self, key, device, gradient):
        """Return the quantized gradient.

        Parameters
        ----------
        key, device : int or str
            Identify the residual to use.
        gradient : NDArray
            The gradient, float32.

        Returns
        -------
        NDArray
        """
        gradient = gradient.as_nd_ndarray()
        lost = self._lost.get((key, device))
        if lost is None:
            lost = nd.zeros_like(gradient)
        sent, self._lost[key, device] = self._round(gradient, lost)
        return sent


class PackedCompression:
    """Quantizes gradients likewise, to packed bits: in one pass over gradient and residual.

    Parameters
    ----------
    levels : mxcy.dist.keys.levels.Levels
    """

    def __init__(self, levels):
        self._levels, self._lost = levels, {}

    def __call__(self, key, gradient):
        """Return the packed bits.

        Parameters
        ----------
        key : int or str
            Identifies the residual to use.
        gradient : NDArray
            In host memory, float32.

        Returns
        -------
        NDArray
        """
        lost = self._lost.get(key)
        if lost is None:
            lost = self._lost[key] = nd.zeros(gradient.shape, cpu(), gradient.dtype)
        packed = nd.empty((self._levels.bytes_of(gradient.size),), cpu(), "uint8")
        views = [window(array).numpy_view() for array in (gradient, lost, packed)]
        name = f"KVStore.push({key!r}), compression"
        operation(lambda: self._levels.round(*views), [gradient], [lost, packed], name, "normal")
        return packed
