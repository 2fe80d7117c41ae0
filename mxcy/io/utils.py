"""Conversion of users' arguments to named arrays."""

import numpy as np

from mxcy import ndarray as nd
from mxcy.ndarray import NDArray

__all__ = ["is_array", "named_arrays", "rows_of"]


def is_array(value):
    """Whether a value is an NDArray, a NumPy array, or a data set like h5py's."""
    return isinstance(value, NDArray | np.ndarray) or all(
        hasattr(value, name) for name in ("shape", "dtype", "__getitem__")
    )


def named_arrays(data, allow_empty, default_name):
    """Convert an argument for data or labels to named arrays.

    Parameters
    ----------
    data : array, list of arrays, dict of str to array, or None
        The user's argument. NumPy arrays become float32 NDArrays; data sets stay in their files.
    allow_empty : bool
        Whether to allow no arrays.
    default_name : str
        Name of a single array; those of a list are called ``_0_name``, ``_1_name``, ...

    Returns
    -------
    list of (str, array)
        Arrays sorted by name.

    Raises
    ------
    TypeError
        If there is anything but arrays.
    AssertionError
        If an array is required but missing.
    """
    assert data is not None or allow_empty, f"{default_name}: there is no array"
    data = [] if data is None else data
    if is_array(data):
        data = [data]
    if isinstance(data, list):
        assert data or allow_empty, f"{default_name}: there is no array"
        if len(data) == 1:
            data = {default_name: data[0]}
        else:
            data = {f"_{i}_{default_name}": array for i, array in enumerate(data)}
    if not isinstance(data, dict):
        raise TypeError(
            "Input must be NDArray, numpy.ndarray, h5py.Dataset a list of them or dict with them "
            "as values"
        )
    return sorted((name, _as_array(name, array)) for name, array in data.items())


def _as_array(name, value):
    if getattr(value, "format", None) == "csr":
        return nd.array(value)  # SciPy's sparse matrices
    if isinstance(value, NDArray) or (is_array(value) and not isinstance(value, np.ndarray)):
        return value
    try:
        return nd.array(value)
    except (TypeError, ValueError):
        raise TypeError(
            f"Invalid type '{type(value)}' for {name}, should be NDArray, numpy.ndarray or "
            "h5py.Dataset"
        ) from None


def rows_of(array, rows):
    """Take rows of an array.

    Parameters
    ----------
    array : NDArray or data set in a file
        The array.
    rows : numpy.ndarray of int
        Row indices, in any order.

    Returns
    -------
    NDArray
    """
    first, last = int(rows[0]), int(rows[-1])
    together = last - first + 1 == len(rows) and bool((np.diff(rows) == 1).all())
    if isinstance(array, NDArray):
        if together:
            return array[first : last + 1]
        return nd.take(array, nd.array(rows, dtype="int64", ctx=array.context))
    if together:
        return nd.array(array[first : last + 1])
    # Data sets in files require increasing, unique indices.
    unique, back = np.unique(rows, return_inverse=True)
    return nd.array(np.asarray(array[unique])[back])


_init_data = named_arrays  # imported by users' iterators
