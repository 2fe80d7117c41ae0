"""What the array API standard asks about a namespace."""

import numpy as onp

from mxcy._base import dtypes
from mxcy._library import front
from mxcy.context import cpu, current_context, gpu, num_gpus
from mxcy.numpy._types.promotion import isdtype
from mxcy.ops.core.result_types import default_float

__all__ = ["__array_api_version__", "__array_namespace_info__"]

__array_api_version__ = "2024.12"

_DIMENSIONS = 32  # which kernels take; what NumPy's functions do has up to 64
#: name -> element type, of those that the standard knows
_STANDARD = {
    name: dtypes.dtype_of(code) for name, code in dtypes.CODES.items() if code not in dtypes.HALVES
}


class __array_namespace_info__:  # noqa: N801  its public name
    """What `mx.np` can do, on which devices, and with which element types."""

    def capabilities(self):
        """What the standard leaves to libraries.

        Returns
        -------
        dict
        """
        return {
            "boolean indexing": True,
            "data-dependent shapes": True,
            "max dimensions": _DIMENSIONS,
        }

    def default_device(self):
        """The device on which functions create arrays.

        Returns
        -------
        Device
        """
        return current_context()

    def devices(self):
        """The devices that can hold arrays.

        Returns
        -------
        list of Device
        """
        devices = [cpu(), *map(gpu, range(num_gpus()))]
        current = current_context()
        return devices if current in devices else [*devices, current]

    def default_dtypes(self, *, device=None):
        """The element types that arrays have unless programs name one.

        Parameters
        ----------
        device : Device, optional
            They are the same on all.

        Returns
        -------
        dict
            By kind of numbers.
        """
        real = dtypes.dtype_of(default_float(front.has_numpy_types()))
        whole = onp.dtype(onp.int64)
        return {
            "real floating": real,
            "complex floating": onp.result_type(real, onp.complex64),
            "integral": whole,
            "indexing": whole,
        }

    def dtypes(self, *, device=None, kind=None):
        """The element types of the standard.

        Parameters
        ----------
        device : Device, optional
            They are the same on all.
        kind : str or tuple of str, optional
            Of which kinds, as `isdtype` has them.

        Returns
        -------
        dict
            By name.
        """
        return {
            name: dtype for name, dtype in _STANDARD.items() if kind is None or isdtype(dtype, kind)
        }
