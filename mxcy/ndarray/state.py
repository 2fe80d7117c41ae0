"""Serialized state of arrays: blocks of files and pickles.

Pickles have MXNet's format, with the state ``{'handle': bytes of one array}``.
"""

import numpy as np

from mxcy import env
from mxcy._base import dtypes
from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.context import cpu
from mxcy.ndarray._files import serialization
from mxcy.ndarray._files.blocks import Block
from mxcy.ndarray.classes import sparse_class
from mxcy.ops.core.stypes import Csr, RowSparse

__all__ = ["array_of", "blank", "block_of", "reduce_array", "restore_array", "without_elements"]


def block_of(array):
    """Make a `Block` that shares an array's elements.

    Parameters
    ----------
    array : NDArray

    Returns
    -------
    Block
    """
    if array.stype != "default":
        parts = array._parts
        stored = block_of(parts.data)
        aux = tuple(block_of(part).data for part in parts.aux)
        return Block(stored.data, parts.shape, parts.stype, aux, stored.device)
    data = np.asarray(array.read_view())
    if data.dtype != dtypes.dtype_of(array.dtype_code):
        data = data.view(dtypes.dtype_of(array.dtype_code))  # bfloat16 as raw bits
    context = array.context
    return Block(data, device=(context.device_typeid, context.device_id))


def array_of(block):
    """Make an NDArray on ``cpu(0)`` from a `Block`.

    The data are copied to pool memory: NumPy memory may change unnoticed, so calls on it would be
    synchronous, and plans would pack such weights again in each run.

    Parameters
    ----------
    block : Block

    Returns
    -------
    NDArray
    """
    if block.stype != "default":
        return _sparse_array_of(block)
    return front.from_numpy(block.data, block.dtype_code, cpu())


def _sparse_array_of(block):
    """Make a sparse array from a block."""
    data, *aux = (array_of(Block(part)) for part in (block.data, *block.aux))
    if block.stype == "csr" and not aux[0].shape[0]:
        # The array never had memory: the file does not even have its row pointers.
        need, most = 8 * (block.shape[0] + 1), env.get("MXCY_MAX_ANNOUNCED_BYTES")
        if need > most:
            raise MXNetError(
                f"an empty csr array of shape {block.shape} needs {need} bytes for its rows; "
                f"MXCY_MAX_ANNOUNCED_BYTES={most}"
            )
        aux[0] = array_of(Block(np.zeros(block.shape[0] + 1, np.int64)))
    if block.stype == "csr":
        parts = Csr(data, aux[1], aux[0], tuple(block.shape))
    else:
        parts = RowSparse(data, aux[0], tuple(block.shape))
    return sparse_class(block.stype)._of_parts(parts)


def reduce_array(array):
    """Implement an array's ``__reduce__``."""
    return blank, (type(array),), {"handle": serialization.pack_array(block_of(array))}


def restore_array(array, state):
    """Implement an array's ``__setstate__``.

    Parameters
    ----------
    array : NDArray
        An array from `blank` or `without_elements`.
    state : dict
        ``{'handle': bytes of one array}``.

    Raises
    ------
    MXNetError
        If the bytes are damaged or contain no array.
    """
    content = state["handle"] if isinstance(state, dict) else state
    if isinstance(content, str):
        content = content.encode("latin1")  # bytes pickled by Python 2
    block = None if content is None else serialization.unpack_array(content, "<pickled array>")
    if block is None:
        raise MXNetError("<pickled array>: contains no array")
    array.become(array_of(block))


def without_elements():
    """Make an array of shape (0,), which `restore_array` may fill."""
    return front.from_numpy(np.zeros(0, np.float32), dtypes.code_of("float32"), cpu())


def blank(cls):
    """Make an array without memory, to be passed to `restore_array`."""
    return cls.__new__(cls)
