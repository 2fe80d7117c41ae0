"""Arrays over new memory, memory at an address, and memory of NumPy's arrays."""

import ctypes
import math

import numpy as np

from mxcy._base import dtypes
from mxcy._base.errors import MXNetError
from mxcy._ctypes.ndarray import NDArrayBase, wrap
from mxcy._ctypes.pending import settle_all
from mxcy._ctypes.pool import memory_of, pool_of
from mxcy._ctypes.services import services
from mxcy._ctypes.storage import Storage, memory_type

__all__ = ["empty", "from_memory", "from_numpy", "make_sparse"]

_BF16 = dtypes.BFLOAT16
_CPU_SHARED = 5


def empty(shape, dtype, context, cls=None):
    """Allocate an uninitialised array, of `mx.nd` unless a class is given."""
    if context.device_typeid == _CPU_SHARED and 0 not in shape:
        return services.shared_array(shape, dtype, context).detached(cls)
    kind = memory_type(dtype)
    size = math.prod(shape) * kind.itemsize
    pool = pool_of(context)
    try:
        if size <= 0:
            return wrap(np.empty(shape, kind), dtype, pool.context, cls=cls)
        try:
            memory, address = memory_of(pool, size, shape, kind)
        except MXNetError:
            if not settle_all():
                raise
            memory, address = memory_of(pool, size, shape, kind)
        return wrap(memory, dtype, pool.context, None, address, cls)
    except (ValueError, MXNetError) as error:
        raise MXNetError(f"{error}, for shape {shape}") from None


def from_memory(address, owner, shape, dtype, context, replaceable=False):
    """Make an array over memory at an address, which `owner` keeps alive."""
    kind = memory_type(dtype)
    octets = (ctypes.c_char * (math.prod(shape) * kind.itemsize)).from_address(address)
    array = wrap(np.frombuffer(octets, kind).reshape(shape), dtype, context)
    array._storage.owner = octets.owner = owner
    return array


def make_sparse(array, dtype, context):
    """Initialise a blank array of a sparse class, whose elements are in other arrays."""
    array._memory, array.dtype_code, array.context = np.empty(0), dtype, pool_of(context).context
    array.address, array._storage = 0, Storage(array._memory, array.context)
    array.writable, array.node, array.node_index = True, None, 0
    array.kind = None  # so that no prepared call fits it


def from_numpy(source, dtype, context, copy=True, cls=None):
    """Make an array from a C-contiguous NumPy array of the corresponding dtype.

    With ``copy=False`` it shares the memory, which must be writable and on the host.
    """
    memory = source.view(np.uint16) if dtype == _BF16 else source
    if copy:
        array = empty(memory.shape, dtype, context, cls)
        if array.on_device:
            services.upload(array, source)
        else:
            array._memory[...] = memory
        return array
    if not memory.flags.writeable:
        raise ValueError("the source array is read-only")
    home = services.default_context if services.device_memory else context
    array = wrap(memory, dtype, home, cls=cls)
    array._storage.exported = True
    return array


def detach_parts(values, positions, shapes, codes, addresses):
    """Make detached views of some arrays; None unless all match.

    Those fit that are dense, of the given shapes and types, and in the host's memory; instead of
    an array there may be a list of one. Where they lie is written to `addresses` unless that is
    None.
    """
    views = []
    for position, shape, code in zip(positions, shapes, codes, strict=True):
        value = values[position]
        if isinstance(value, list | tuple) and len(value) == 1:
            value = value[0]
        if not isinstance(value, NDArrayBase) or value.kind is None:  # a sparse one has none
            return None
        if value.dtype_code != code or value.shape != shape:
            return None
        if value.on_device or value.context.device_typeid != 1:
            return None
        views.append(value.detached())
    if addresses is not None:
        addresses[:] = [view.address for view in views]
    return views
