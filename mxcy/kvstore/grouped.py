"""Calls of many keys: what travels in one bucket is one operation of the engine."""

import ctypes

from mxcy.context import cpu
from mxcy.ndarray import NDArray

__all__ = ["Group", "groups_of"]

_LARGE = 1 << 16  # bytes from which on other threads may go on during a copy
_copy = ctypes.memmove
_copy_small = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)(
    ctypes.cast(ctypes.memmove, ctypes.c_void_p).value
)


class Group:
    """All keys of a bucket, as parts of a call.

    Parameters
    ----------
    bucket : mxcy.dist.buckets.Bucket
    positions : dict
        Where in the call each key of the bucket is.
    keys : sequence
        The call's.
    codes : list of int
        The element type of each key's arrays, in the order of the bucket.
    """

    def __init__(self, bucket, positions, keys, codes):
        self.bucket = bucket
        self.positions = [positions[slot.key] for slot in bucket.slots]
        self.keys = [keys[position] for position in self.positions]
        self.priority = -min(slot.number for slot in bucket.slots)
        self._shapes = [slot.shape for slot in bucket.slots]
        self._codes = codes
        itemsize = bucket.dtype.itemsize
        self.offsets = [slot.place.start * itemsize for slot in bucket.slots]
        self._sizes = [slot.bytes for slot in bucket.slots]
        self._copies = [_copy if size >= _LARGE else _copy_small for size in self._sizes]

    def arrays(self, values):
        """The arrays of the group among those of a call; None unless these fit as they are."""
        arrays = [values[position] for position in self.positions]
        if not _are_arrays(arrays):
            arrays = [
                each[0] if isinstance(each, list | tuple) and len(each) == 1 else each
                for each in arrays
            ]
            if not _are_arrays(arrays):
                return None
        if any(array.stype != "default" for array in arrays):
            return None
        if [array.shape for array in arrays] != self._shapes:
            return None
        if [array.dtype_code for array in arrays] != self._codes:
            return None
        here = cpu().device_typeid
        if any(context.device_typeid != here for context in {array.context for array in arrays}):
            return None
        return arrays

    def fill(self, buffer, addresses):
        """Copy what lies at the addresses to the keys' places in a buffer."""
        start = buffer.ctypes.data
        for copy, offset, address, size in zip(
            self._copies, self.offsets, addresses, self._sizes, strict=True
        ):
            copy(start + offset, address, size)

    def spread(self, buffer, addresses):
        """The way back."""
        start = buffer.ctypes.data
        for copy, offset, address, size in zip(
            self._copies, self.offsets, addresses, self._sizes, strict=True
        ):
            copy(address, start + offset, size)


def _are_arrays(values):
    return all(issubclass(kind, NDArray) for kind in set(map(type, values)))


def groups_of(keys, shared, code_of):
    """The buckets of which a call has all keys, each once.

    Parameters
    ----------
    keys : sequence
    shared : dict
        Of each key the ``slot``, the name of the type in which it ``travels``, and whether the
        stored value has that type: ``plain``.
    code_of : callable
        The code of a type's name.

    Returns
    -------
    list of Group
        None while keys have no buckets yet.
    list of int
        The positions of all other keys.
    """
    positions, buckets = {}, {}
    for position, key in enumerate(keys):
        known = shared.get(key)
        if known is None or known.slot is None or key in positions:
            return None, []
        if known.slot.bucket is None:
            return None, []
        positions[key] = position
        buckets.setdefault(known.slot.bucket, []).append(position)
    groups, others = [], []
    for bucket, members in buckets.items():
        all_there = len(members) == len(bucket.slots)
        if all_there and all(shared[slot.key].plain for slot in bucket.slots):
            codes = [code_of(shared[slot.key].travels) for slot in bucket.slots]
            groups.append(Group(bucket, positions, keys, codes))
        else:
            others += members
    return groups, others
