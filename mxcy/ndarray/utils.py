"""`mx.nd.save`, `mx.nd.load`, `mx.nd.load_frombuffer`: array files."""

import os

from mxcy._base import older_paths
from mxcy._base.listing import listing
from mxcy._semantics.switches import is_np_shape, np_shape_of_scope
from mxcy.ndarray._files import serialization
from mxcy.ndarray.ndarray import NDArray
from mxcy.ndarray.state import array_of, block_of

__all__ = ["load", "load_frombuffer", "save"]

__getattr__ = older_paths.offer(__name__, "mxcy.ndarray", ("array", "empty", "zeros"))
__dir__ = listing(__name__)


def save(fname, data, format=None) -> None:
    """Save arrays to a file.

    An existing file is replaced atomically, so that a crash leaves either the old or the new one.

    Parameters
    ----------
    fname : str, path or binary file object
        Destination.
    data : NDArray, list of NDArray or dict of str to NDArray
        The arrays, named by a dict.
    format : {None, 'v1x', 'np', 'npz'}
        ``'v1x'`` for MXNet 1.x, ``'np'`` for MXNet 2.x, ``'npz'`` for NumPy and MXNet 2.x. The
        default is ``'np'`` with NumPy shape semantics (sparse arrays: ``'v1x'``). Without, it is
        ``'v1x'``, but ``'np'`` if an array has no dimensions.

    Raises
    ------
    TypeError
        If a value is not an NDArray, or a key not a str.
    ValueError
        If `data` is not an array, list or dict, or the format is unknown.
    MXNetError
        If the file cannot be written, or the format cannot store the arrays.

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
    blocks = [block_of(array) for array in data]
    serialization.save(fname, blocks, names, format, np_shape=is_np_shape())


def load(fname):
    """Load arrays from a file.

    Parameters
    ----------
    fname : str, path or binary file object
        A file written by `save` or MXNet 0.x to 2.x, or a ``.npz`` or ``.npy`` file.

    Returns
    -------
    list of NDArray or dict of str to NDArray
        A dict if the file has names. The arrays are on ``cpu(0)``, regardless of their original
        context, and keep their storage types. None represents "no array".

    Raises
    ------
    TypeError
        If `fname` has another type.
    MXNetError
        If the file cannot be read or is damaged, or an enclosing `np_shape` scope demands other
        shape semantics than those it was saved with.
    """
    if not (isinstance(fname, (str, os.PathLike)) or hasattr(fname, "readinto")):
        raise TypeError(f"fname required to be a string, got {type(fname).__name__}")
    return _arrays(*serialization.load(fname, np_shape=np_shape_of_scope()))


def load_frombuffer(buf):
    """Load arrays from the bytes of a file; like `load`.

    Parameters
    ----------
    buf : bytes, bytearray or memoryview
        Content of an array file.

    Returns
    -------
    list of NDArray or dict of str to NDArray

    Raises
    ------
    TypeError
        If `buf` does not contain bytes.
    MXNetError
        If the bytes are damaged, or have other shape semantics than an enclosing `np_shape` scope.
    """
    if not isinstance(buf, (bytes, bytearray, memoryview)):
        raise TypeError(f"buf required to be bytes, got {type(buf).__name__}")
    return _arrays(*serialization.loads(buf, np_shape=np_shape_of_scope()))


def _arrays(blocks, names):
    blocks.reverse()
    arrays = []
    while blocks:  # free each block once converted, as files may be large
        block = blocks.pop()
        arrays.append(None if block is None else array_of(block))
    return arrays if names is None else dict(zip(names, arrays, strict=True))
