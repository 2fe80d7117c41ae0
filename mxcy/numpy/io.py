"""`mx.np` functions that read and write arrays: files, text and memory."""

import io
import os
from contextlib import nullcontext
from importlib import import_module

import numpy as onp

from mxcy._base.files import replacing
from mxcy._base.listing import listing
from mxcy.numpy._calls.by_numpy import as_onp
from mxcy.numpy._calls.operands import as_np_array, from_onp
from mxcy.numpy._creation.rules import default_float, named_type, place

__all__ = [
    "frombuffer",
    "fromfile",
    "fromiter",
    "fromstring",
    "genfromtxt",
    "load",
    "loadtxt",
    "save",
    "savetxt",
    "savez",
    "savez_compressed",
]

__dir__ = listing(__name__)

_PACKERS = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}  # by text file extension


def _to_write(file, end):
    """Open a binary file to write; a path gets this extension and is replaced atomically."""
    if hasattr(file, "write"):
        return nullcontext(file)
    path = os.fspath(file)
    return replacing(path if path.endswith(end) else path + end)


def genfromtxt(fname, *args, ctx=None, device=None, **kwargs):
    """Load an array from a text file with `numpy.genfromtxt`, which handles missing values.

    Parameters
    ----------
    fname : str, path, file or list of str
        Source to read from.
    *args, **kwargs
        Further arguments of `numpy.genfromtxt`, such as `dtype`, `delimiter` and `skip_header`.
    ctx, device : Device, optional
        Device of the result; the current device by default.

    Returns
    -------
    ndarray
        A tuple of arrays with ``unpack=True`` if columns have several types.

    Raises
    ------
    TypeError
        If columns have several types, or one holds text.
    """
    return _columns(onp.genfromtxt(fname, *args, **kwargs), place(ctx, device))


def _columns(read, where):
    """Convert to an array, or to one array per column if they have several dtypes."""
    if isinstance(read, list):
        return tuple(_array(column, where) for column in read)
    return _array(read, where)


def _array(values, where):
    if values.dtype.names:
        raise TypeError(f"an mx.np array has elements of one type, got {values.dtype}")
    return from_onp(values, values.dtype, where)


def loadtxt(fname, *args, ctx=None, device=None, **kwargs):
    """Load an array from a text file without missing values with `numpy.loadtxt`.

    Parameters
    ----------
    fname : str, path, file or list of str
        Source to read from.
    *args, **kwargs
        Further arguments of `numpy.loadtxt`, such as `dtype`, `delimiter` and `skiprows`.
    ctx, device : Device, optional
        Device of the result; the current device by default.

    Returns
    -------
    ndarray
        A tuple of arrays with ``unpack=True`` if columns have several types.
    """
    return _columns(onp.loadtxt(fname, *args, **kwargs), place(ctx, device))


def savetxt(fname, X, *args, **kwargs):  # noqa: N803  its public name
    """Save an array to a text file.

    Parameters
    ----------
    fname : str, path or file
    X : array_like
        1-D or 2-D array.
    *args, **kwargs
        Further arguments of `numpy.savetxt`, such as `fmt` and `delimiter`.
    """
    if hasattr(fname, "write"):
        onp.savetxt(fname, _values(X), *args, **kwargs)
        return
    text = io.BytesIO()
    onp.savetxt(text, _values(X), *args, **kwargs)
    packer = _PACKERS.get(os.path.splitext(os.fspath(fname))[1])
    with replacing(fname) as file:
        file.write(import_module(packer).compress(text.getvalue()) if packer else text.getvalue())


def save(file, arr):
    """Save an array to a ``.npy`` file; the extension is added if missing.

    Parameters
    ----------
    file : str, path or file
    arr : array_like
    """
    with _to_write(file, ".npy") as target:
        onp.save(target, _values(arr), allow_pickle=False)


def savez(file, *args, **kwds):
    """Save arrays to a ``.npz`` file; the extension is added if missing.

    Parameters
    ----------
    file : str, path or file
    *args : array_like
        Saved as ``arr_0``, ``arr_1`` and so on.
    **kwds : array_like
        Arrays by name.
    """
    _save_all(onp.savez, file, args, kwds)


def savez_compressed(file, *args, **kwds):
    """Save arrays to a compressed ``.npz`` file; see `savez`."""
    _save_all(onp.savez_compressed, file, args, kwds)


def _save_all(save_by, file, args, kwds):
    arrays = {name: _values(array) for name, array in kwds.items()}
    with _to_write(file, ".npz") as target:
        save_by(target, *map(_values, args), **arrays)


def _values(array):
    return as_np_array(array).asnumpy()


def load(file, ctx=None, device=None):
    """Load the array of a ``.npy`` file, or a dict of the arrays of a ``.npz`` file.

    Parameters
    ----------
    file : str, path or file
    ctx, device : Device, optional
        Device of the results; the current device by default.

    Returns
    -------
    ndarray or dict of str to ndarray
    """
    where = place(ctx, device)
    read = onp.load(file, allow_pickle=False)
    if isinstance(read, onp.ndarray):
        return _array(read, where)
    with read:
        return {name: _array(read[name], where) for name in read.files}


def fromfile(file, dtype=None, count=-1, sep="", offset=0, ctx=None, device=None):
    """Load a 1-D array from a raw binary or text file.

    Parameters
    ----------
    file : str, path or file
    dtype : dtype, optional
        Default floating-point type if omitted.
    count : int
        Number of elements to read; -1 reads all.
    sep : str
        Separator of a text file; empty for a binary file.
    offset : int
        Number of bytes to skip.
    ctx, device : Device, optional
        Device of the result; the current device by default.

    Returns
    -------
    ndarray
    """
    read = onp.fromfile(file, _type(dtype), count, sep, offset)
    return _array(read, place(ctx, device))


def frombuffer(buffer, dtype=None, count=-1, offset=0, ctx=None, device=None):
    """Create a 1-D array from a copy of a buffer.

    Parameters
    ----------
    buffer : bytes-like
    dtype : dtype, optional
        Default floating-point type if omitted.
    count : int
        Number of elements to read; -1 reads all.
    offset : int
        Number of bytes to skip.
    ctx, device : Device, optional
        Device of the result; the current device by default.

    Returns
    -------
    ndarray
    """
    return _array(onp.frombuffer(buffer, _type(dtype), count, offset), place(ctx, device))


def fromstring(string, dtype=None, count=-1, *, sep=" ", ctx=None, device=None):
    """Create a 1-D array from the numbers in a string.

    Parameters
    ----------
    string : str
    dtype : dtype, optional
        Default floating-point type if omitted.
    count : int
        Number of elements to read; -1 reads all.
    sep : str
        Separator between numbers.
    ctx, device : Device, optional
        Device of the result; the current device by default.

    Returns
    -------
    ndarray
    """
    return _array(onp.fromstring(string, _type(dtype), count, sep=sep), place(ctx, device))


def fromiter(iter, dtype=None, count=-1, ctx=None, device=None):
    """Create a 1-D array from an iterable.

    Parameters
    ----------
    iter : iterable of number
    dtype : dtype, optional
        Default floating-point type if omitted.
    count : int
        Number of elements to read; -1 reads all.
    ctx, device : Device, optional
        Device of the result; the current device by default.

    Returns
    -------
    ndarray
    """
    numbers = (as_onp(value) for value in iter)
    return _array(onp.fromiter(numbers, _type(dtype), count), place(ctx, device))


def _type(dtype):
    return default_float() if dtype is None else named_type(dtype)
