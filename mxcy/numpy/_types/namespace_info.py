"""Inspection of `mx.np` as defined by the array API standard."""

import numpy as onp

from mxcy._base import dtypes
from mxcy._library import front
from mxcy.context import cpu, current_context, gpu, num_gpus
from mxcy.numpy._types.promotion import isdtype
from mxcy.ops.core.result_types import default_float

__all__ = ["__array_api_version__", "__array_namespace_info__"]

__array_api_version__ = "2024.12"

_DIMENSIONS = 32  # limit of the kernels; NumPy's functions go up to 64
#: name -> dtype, for those in the standard
_STANDARD = {
    name: dtypes.dtype_of(code) for name, code in dtypes.CODES.items() if code not in dtypes.HALVES
}


class __array_namespace_info__:  # noqa: N801  its public name
    """Capabilities, devices and dtypes of `mx.np`."""

    def capabilities(self):
        """Return the capabilities that the standard leaves to libraries.

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
        """Return the device on which arrays are created by default.

        Returns
        -------
        Device
        """
        return current_context()

    def devices(self):
        """Return the available devices.

        Returns
        -------
        list of Device
        """
        devices = [cpu(), *map(gpu, range(num_gpus()))]
        current = current_context()
        return devices if current in devices else [*devices, current]

    def default_dtypes(self, *, device=None):
        """Return the default dtypes.

        Parameters
        ----------
        device : Device, optional
            Ignored: dtypes are the same on all devices.

        Returns
        -------
        dict
            Dtypes by kind.
        """
        real = dtypes.dtype_of(default_float(front.has_numpy_types()))
        integral = onp.dtype(onp.int64)
        return {
            "real floating": real,
            "complex floating": onp.result_type(real, onp.complex64),
            "integral": integral,
            "indexing": integral,
        }

    def dtypes(self, *, device=None, kind=None):
        """Return the supported dtypes of the standard.

        Parameters
        ----------
        device : Device, optional
            Ignored: dtypes are the same on all devices.
        kind : str or tuple of str, optional
            Kinds to include; see `isdtype`.

        Returns
        -------
        dict
            Dtypes by name.
        """
        return {
            name: dtype for name, dtype in _STANDARD.items() if kind is None or isdtype(dtype, kind)
        }
