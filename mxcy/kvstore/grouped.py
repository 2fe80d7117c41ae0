"""Calls of many keys: what travels in one bucket is one operation of the engine."""

import numpy as np

from mxcy._library import front
from mxcy._library.parts import copy_parts

__all__ = ["Group", "groups_of"]

_LARGE = 1 << 16  # bytes


class Group:
    """All keys of a bucket, as parts of a call.

    Parameters
    ----------
    bucket : mxcy.dist.keys.buckets.Bucket
    positions : dict
        Where in the call each key of the bucket is.
    keys : sequence
        The call's.
    shared : list of Shared
        What the store knows of each key, in the order of the bucket.
    codes : list of int
        The element type of each key's arrays.
    """

    def __init__(self, bucket, positions, keys, shared, codes):
        self.bucket = bucket
        self.positions = [positions[slot.key] for slot in bucket.slots]
        self.keys = [keys[position] for position in self.positions]
        self.priority = -min(slot.number for slot in bucket.slots)
        self._shapes = [slot.shape for slot in bucket.slots]
        self.shared, self._codes = shared, codes
        self._begun = False
        #: whether sums are worth making in the array that is pushed
        self.large = len(self.keys) == 1 and bucket.slots[0].bytes >= _LARGE
        itemsize = bucket.dtype.itemsize
        self.offsets = [slot.place.start * itemsize for slot in bucket.slots]
        self._offsets = np.array(self.offsets, np.int64)
        self._sizes = np.array([slot.bytes for slot in bucket.slots], np.int64)

    def parts(self, values):
        """The group's arrays among those of a call, and where they lie; None unless they fit.

        They are views that nobody else has: gradients may get other memory before the call's turn.
        """
        addresses = np.empty(len(self.positions), np.int64)
        views = front.detach_parts(values, self.positions, self._shapes, self._codes, addresses)
        return views and (views, addresses)

    def used_alone(self):
        """What orders calls of single keys that came before there was a bucket; once."""
        if self._begun:
            return []
        self._begun = True
        early = [one for one in self.shared if one.early]
        for one in early:
            one.early = False
        return [one.var for one in early]

    def fill(self, buffer, addresses):
        """Copy what lies at the addresses to the keys' places in a buffer."""
        copy_parts(buffer.ctypes.data + self._offsets, addresses, self._sizes)

    def spread(self, buffer, addresses):
        """The way back."""
        copy_parts(addresses, buffer.ctypes.data + self._offsets, self._sizes)


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
            members = [shared[slot.key] for slot in bucket.slots]
            codes = [code_of(one.travels) for one in members]
            groups.append(Group(bucket, positions, keys, members, codes))
        else:
            others += members
    return groups, others
