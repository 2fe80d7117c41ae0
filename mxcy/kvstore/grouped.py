"""Grouping of multi-key calls: each bucket is one operation of the engine."""

import numpy as np

from mxcy._library import front
from mxcy._library.parts import copy_parts
from mxcy.dist.keys.pushes import KeyArrays

__all__ = ["Group", "groups_of"]

_LARGE = 1 << 16  # bytes


class Group:
    """The keys of a bucket within a call.

    Parameters
    ----------
    bucket : mxcy.dist.keys.buckets.Bucket
    positions : dict
        Position of each of the bucket's keys in the call.
    keys : sequence
        Keys of the call.
    shared : list of SharedKey
        The store's record of each key, in the order of the bucket.
    codes : list of int
        Dtype code of each key's arrays.
    """

    def __init__(self, bucket, positions, keys, shared, codes):
        self.bucket = bucket
        self.positions = [positions[slot.key] for slot in bucket.slots]
        self.keys = [keys[position] for position in self.positions]
        self.priority = -min(slot.number for slot in bucket.slots)
        self._shapes = [slot.shape for slot in bucket.slots]
        self.shared, self._codes = shared, codes
        self.begun = False  # whether `used_alone` has been called
        self.name = f"KVStore.pushpull({self.keys[0]!r} and {len(self.keys) - 1} others)"
        self.alone = len(self.keys) == 1
        #: whether it is worthwhile to sum in place in the pushed array
        self.large = self.alone and bucket.slots[0].bytes >= _LARGE
        itemsize = bucket.dtype.itemsize
        self.offsets = [slot.span.start * itemsize for slot in bucket.slots]
        self._offsets = np.array(self.offsets, np.int64)
        self._starts = np.array([*(s.span.start for s in bucket.slots), bucket.length], np.int64)
        self._sizes = np.array([slot.bytes for slot in bucket.slots], np.int64)

    def parts(self, values):
        """Select the group's arrays in a call; None unless they fit.

        They are private views, as a gradient's memory may change before the call runs.

        Returns
        -------
        tuple of (list of NDArray, numpy.ndarray or None)
            The addresses of several arrays come with them.
        """
        addresses = np.empty(len(self.positions), np.int64) if len(self.positions) > 1 else None
        views = front.detach_parts(values, self.positions, self._shapes, self._codes, addresses)
        return views and (views, addresses)

    def used_alone(self):
        """Engine variables of single-key calls made before the bucket existed."""
        self.begun = True
        ungrouped = [shared_key for shared_key in self.shared if shared_key.used_ungrouped]
        for shared_key in ungrouped:
            shared_key.used_ungrouped = False
        return [shared_key.var for shared_key in ungrouped]

    def fill(self, buffer, sources):
        """Gather arrays selected by `parts` into a buffer."""
        copy_parts(buffer.ctypes.data + self._offsets, _addresses(sources), self._sizes)

    def spread(self, buffer, targets):
        """Scatter a buffer to arrays selected by `parts`."""
        copy_parts(_addresses(targets), buffer.ctypes.data + self._offsets, self._sizes)

    def arrays(self, sources, targets):
        """The `KeyArrays` of arrays selected by `parts`; `targets` may be None."""
        taken = targets and _addresses(targets)
        return KeyArrays(self._starts, _addresses(sources), taken, (sources, targets))


def _addresses(selected):
    """The addresses of arrays selected by `Group.parts`."""
    arrays, addresses = selected
    return np.array([arrays[0].address], np.int64) if addresses is None else addresses


def groups_of(keys, shared, code_of):
    """Find the buckets whose keys are all in a call, once each.

    Parameters
    ----------
    keys : sequence
    shared : dict
        Record of each key: its ``slot``, the dtype name of its sums ``sum_dtype``, and whether the
        stored value has the same dtype, ``same_dtype``.
    code_of : callable
        Returns the code of a dtype name.

    Returns
    -------
    list of Group
        None while keys lack buckets.
    list of int
        Positions of all other keys.
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
        if all_there and all(shared[slot.key].same_dtype for slot in bucket.slots):
            members = [shared[slot.key] for slot in bucket.slots]
            codes = [code_of(member.sum_dtype) for member in members]
            groups.append(Group(bucket, positions, keys, members, codes))
        else:
            others += members
    return groups, others
