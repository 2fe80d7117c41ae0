"""`mx.nd.save`, `mx.nd.load`, `mx.nd.load_frombuffer`: arrays in files."""

import os

from mxcy._base import older_paths
from mxcy._base.listing import listing
from mxcy.ndarray._files import serialization
from mxcy.ndarray.ndarray import NDArray
from mxcy.ndarray.state import array_of, block_of

__all__ = ["load", "load_frombuffer", "save"]

__getattr__ = older_paths.offer(__name__, "mxcy.ndarray", ("array", "empty", "zeros"))
__dir__ = listing(__name__)


def save(fname, data, format=None) -> None:
    """Save arrays to a file.

    A file that exists is replaced only when the new one is complete, so that a crash leaves one or
    the other.

    Parameters
    ----------
    fname : str, path or binary file object
        Where to write.
    data : NDArray, list of NDArray or dict of str to NDArray
        The arrays; a dict gives them names.
    format : {None, 'v1x', 'np', 'npz'}
        ``'v1x'`` for MXNet 1.x, ``'np'`` for MXNet 2.x, ``'npz'`` for NumPy and for MXNet 2.x. By
        default it is ``'v1x'``, or ``'np'`` where an array has no dimensions or a dimension of
        zero.

    Raises
    ------
    TypeError
        When a value is no NDArray, or a key no str.
    ValueError
        When `data` is neither an array nor a list nor a dict, or there is no such format.
    MXNetError
        When the file cannot be written, or the format cannot hold the arrays.

    Examples
    --------
    >>> mx.nd.save('two.params', {'w': mx.nd.ones((2, 3)), 'b': mx.nd.zeros(3)})
    >>> mx.nd.load('two.params')['b'].shape
    (3,)
    """
    names = None
    if isinstance(data, NDArray):
        data = [data]
    elif isinstance(data, dict):
        names, data = list(data), list(data.values())
    elif not isinstance(data, list):
        raise ValueError(
            "data needs to either be a NDArray, dict of str, NDArray pairs or a list of NDArrays, "
            f"not {type(data).__name__}"
        )
    for value in data:
        if not isinstance(value, NDArray):
            raise TypeError(
                "save only accepts a dict of str to NDArray or a list of NDArray, "
                f"got a value of type {type(value).__name__}"
            )
    for name in names or ():
        if not isinstance(name, str):
            raise TypeError(f"save only accepts names of type str, got {name!r}")
    serialization.save(fname, [block_of(array) for array in data], names, format)


def load(fname):
    """Load arrays from a file.

    Parameters
    ----------
    fname : str, path or binary file object
        A file of `save`, of MXNet 0.x to 2.x, or a ``.npz`` or ``.npy`` file.

    Returns
    -------
    list of NDArray or dict of str to NDArray
        A dict when the file gives names. The arrays are on ``cpu(0)`` wherever they were saved,
        with their storage types. None stands where a file says "no array".

    Raises
    ------
    TypeError
        When `fname` is of another type.
    MXNetError
        When the file cannot be read or is damaged.
    """
    if not (isinstance(fname, (str, os.PathLike)) or hasattr(fname, "readinto")):
        raise TypeError(f"fname required to be a string, got {type(fname).__name__}")
    return _arrays(*serialization.load(fname))


def load_frombuffer(buf):
    """Load arrays from the content of a file; like `load`.

    Parameters
    ----------
    buf : bytes, bytearray or memoryview
        What a file of arrays holds.

    Returns
    -------
    list of NDArray or dict of str to NDArray

    Raises
    ------
    TypeError
        When `buf` does not hold bytes.
    MXNetError
        When the bytes are damaged.
    """
    if not isinstance(buf, (bytes, bytearray, memoryview)):
        raise TypeError(f"buf required to be bytes, got {type(buf).__name__}")
    return _arrays(*serialization.loads(buf))


def _arrays(blocks, names):
    blocks.reverse()
    arrays = []
    while blocks:  # each is freed when it has become an array: files may be large
        block = blocks.pop()
        arrays.append(None if block is None else array_of(block))
    return arrays if names is None else dict(zip(names, arrays, strict=True))
