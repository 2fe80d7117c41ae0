"""Arrays of `mx.np` over memory of others."""

from mxcy._base import dtypes
from mxcy.ndarray._exchange import dlpack
from mxcy.ndarray._functions import creation
from mxcy.numpy._calls.operands import from_onp

__all__ = ["from_dlpack", "from_numpy"]


def from_dlpack(x):
    """An array over the memory of another library's array, or of a DLPack capsule.

    Parameters
    ----------
    x : object
        A capsule, or what offers ``__dlpack__``.

    Returns
    -------
    ndarray
    """
    return dlpack.taken(x).as_np_ndarray()


def from_numpy(ndarray, zero_copy=True):
    """An array made of a NumPy array.

    Parameters
    ----------
    ndarray : numpy.ndarray
    zero_copy : bool
        Share the memory: `ndarray` becomes read-only, since both would change together. Otherwise
        copy.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        When memory that is not contiguous shall be shared.
    """
    if not zero_copy:
        return from_onp(ndarray)
    return creation.over_numpy(ndarray, dtypes.code_of(ndarray.dtype)).as_np_ndarray()
