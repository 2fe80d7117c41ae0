"""What an array is outside of a program: a block of a file, or a pickle.

An array is pickled as MXNet pickles it, with the state ``{'handle': bytes of one array}``.
"""

import logging

import numpy as np

from mxcy import _front, dtypes, env
from mxcy.base import MXNetError
from mxcy.context import cpu
from mxcy.ndarray import serialization
from mxcy.ndarray.blocks import Block, to_dense

__all__ = [
    "array_of", "blank", "block_of", "reduce_array", "restore_array", "without_elements"
]  # fmt: skip

_told: set = set()  # the storage types whose arrays were read


def block_of(array):
    """The `Block` with the elements of an array, which it shares.

    Parameters
    ----------
    array : NDArray

    Returns
    -------
    Block
    """
    data = np.asarray(array.read_view())
    if data.dtype != dtypes.dtype_of(array.dtype_code):
        data = data.view(dtypes.dtype_of(array.dtype_code))  # the bits of bfloat16
    context = array.context
    return Block(data, device=(context.device_typeid, context.device_id))


def array_of(block):
    """A dense NDArray on ``cpu(0)`` with the data of a `Block`.

    They are copied to memory of the pool: what lies in NumPy's may change without notice, so calls
    on it wait, and plans would pack such weights anew for each run.

    Parameters
    ----------
    block : Block

    Returns
    -------
    NDArray
    """
    if block.stype != "default" and block.stype not in _told:
        _told.add(block.stype)
        if env.get("MXNET_STORAGE_FALLBACK_LOG_VERBOSE"):
            logging.getLogger("mxcy").warning(
                "a %s array that was read becomes a dense one on cpu(0), which takes more memory; "
                "MXNET_STORAGE_FALLBACK_LOG_VERBOSE=0 silences this", block.stype,
            )  # fmt: skip
    return _front.from_numpy(to_dense(block), block.dtype_code, cpu())


def reduce_array(array):
    """What an array's ``__reduce__`` returns."""
    return blank, (type(array),), {"handle": serialization.pack_array(block_of(array))}


def restore_array(array, state):
    """Give a blank array the elements of a state; what an array's ``__setstate__`` does.

    Parameters
    ----------
    array : NDArray
        Made by `blank`, or without elements.
    state : dict
        ``'handle'`` holds the bytes of one array.

    Raises
    ------
    MXNetError
        When the bytes are damaged or hold no array.
    """
    content = state["handle"] if isinstance(state, dict) else state
    if isinstance(content, str):
        content = content.encode("latin1")  # so Python 2 wrote bytes
    block = None if content is None else serialization.unpack_array(content, "<pickled array>")
    if block is None:
        raise MXNetError("<pickled array>: holds no array")
    array.become(array_of(block))


def without_elements():
    """An array of shape (0,); `restore_array` may give it elements, as to a blank one."""
    return _front.from_numpy(np.zeros(0, np.float32), dtypes.code_of("float32"), cpu())


def blank(cls):
    """An array without memory, to be handed to `restore_array`."""
    return cls.__new__(cls)
