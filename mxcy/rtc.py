"""`mx.rtc`: CUDA source compiled at run time, for which this backend has no compiler."""

from mxcy.base import MXNetError

__all__ = ["CudaModule"]


class CudaModule:
    """CUDA source code; refused, as by every MXNet that was built for CPUs alone.

    Parameters
    ----------
    source : str
    options : sequence of str
    exports : sequence of str

    Raises
    ------
    MXNetError
        Always.
    """

    def __init__(self, source, options=(), exports=()):
        raise MXNetError(
            "CudaModule: mxcy computes on CPUs; there is no CUDA to compile the source with. A "
            "mx.operator.CustomOp runs Python, and with it NumPy, Numba or Cython"
        )
