"""Functions of `mx.np` that read arrays from text."""

import numpy as onp

from mxcy._base.listing import listing
from mxcy.numpy._calls.operands import from_onp
from mxcy.numpy._creation.rules import place

__all__ = ["genfromtxt"]

__dir__ = listing(__name__)


def genfromtxt(fname, *args, ctx=None, device=None, **kwargs):
    """An array of a text file of numbers; `numpy.genfromtxt` reads it.

    Parameters
    ----------
    fname : str, path, file or list of str
        What to read.
    *args, **kwargs
        Further arguments of `numpy.genfromtxt`, such as `dtype`, `delimiter` and `skip_header`.
    ctx, device : Device, optional
        Where to put it; the current device by default.

    Returns
    -------
    ndarray
        A tuple of them with ``unpack=True`` where columns have several types.

    Raises
    ------
    TypeError
        When columns have several types, or one holds text.
    """
    where = place(ctx, device)
    read = onp.genfromtxt(fname, *args, **kwargs)
    if isinstance(read, list):
        return tuple(_array(column, where) for column in read)
    return _array(read, where)


def _array(values, where):
    if values.dtype.names:
        raise TypeError(f"genfromtxt: an array has numbers of one type, the file {values.dtype}")
    return from_onp(values, values.dtype, where)
