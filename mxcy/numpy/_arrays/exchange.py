"""`mx.np` arrays that share memory with other libraries."""

from mxcy._base import dtypes
from mxcy.ndarray._exchange import dlpack
from mxcy.ndarray._functions import creation
from mxcy.numpy._calls.operands import from_onp

__all__ = ["from_dlpack", "from_numpy"]


def from_dlpack(x):
    """Create an array that shares memory with a DLPack capsule or another library's array.

    Parameters
    ----------
    x : object
        DLPack capsule, or an object with ``__dlpack__``.

    Returns
    -------
    ndarray
    """
    return dlpack.taken(x).as_np_ndarray()


def from_numpy(ndarray, zero_copy=True):
    """Create an array from a NumPy array.

    Parameters
    ----------
    ndarray : numpy.ndarray
    zero_copy : bool
        Share memory instead of copying. `ndarray` then becomes read-only, as a write to either
        would change both.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If the memory to share is not contiguous.
    """
    if not zero_copy:
        return from_onp(ndarray)
    return creation.over_numpy(ndarray, dtypes.code_of(ndarray.dtype)).as_np_ndarray()
