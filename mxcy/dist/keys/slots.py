"""Slots, the state of keys in an exchange, and the assignment of keys to buckets."""

import itertools
import math
from bisect import bisect_right
from collections import deque

import numpy as np

__all__ = ["Slot", "plan"]


class Slot:
    """A key and its progress.

    Parameters
    ----------
    key : int or str
    shape : tuple of int
    dtype : numpy.dtype
        Of pushed arrays and sums.
    deliver : callable
        ``deliver(sum, lease)`` takes each sum; it keeps `lease` as long as it needs `sum`.
    still : bool
        Whether it is rarely pushed; other keys do not share its bucket then.

    Attributes
    ----------
    span, place : slice
        Of elements in the sums of the bucket, and in what is sent.
    submitted, pushes, sums : int
        Pushes of this key alone that the program has submitted, pushes that have arrived here, and
        sums delivered.
    pulls : deque
        Waiting pulls: (round needed, ``on_done(error message or None)``, start time).
    failed : str or None
        The reason why there are no more sums.
    """

    def __init__(self, key, shape, dtype, deliver, still=False):
        self.key, self.shape, self.dtype = key, tuple(shape), np.dtype(dtype)
        self.deliver, self.still = deliver, still
        self.size = math.prod(self.shape)
        self.bytes = self.size * self.dtype.itemsize
        self.submitted = self.pushes = self.sums = 0
        self.inputs, self.pulls = deque(), deque()
        self.failed = None
        self.bucket, self.number = None, 0
        self.span = self.place = slice(0, 0)

    @property
    def arrived(self):
        """int: pushes that have arrived here, of the key alone or of its bucket."""
        return self.pushes + (self.bucket.rounds.pushes if self.bucket else 0)

    @property
    def rounds(self):
        """int: sums delivered, of the key alone or of its bucket."""
        return self.sums + (self.bucket.rounds.sums if self.bucket else 0)

    @property
    def complete(self):
        """bool: whether all submitted pushes have arrived here."""
        return (
            self.submitted == self.pushes
            and self.bucket.rounds.submitted == self.bucket.rounds.pushes
        )

    def complete_pulls(self):
        """Complete pulls whose round is done, or all if the key has failed."""
        while self.pulls and (self.failed or self.pulls[0][0] <= self.rounds):
            needed, on_done, _ = self.pulls.popleft()
            on_done(self.failed if self.rounds < needed or self.failed else None)


def plan(slots, bound, first, most, ends=False):
    """Group keys into buckets in reverse order, as backward passes produce gradients.

    Parameters
    ----------
    slots : list of Slot
        In order of initialization.
    bound, first : int
        Bytes at which a bucket, and the first bucket, is closed.
    most : int
        Largest number of buckets; `bound` is doubled until it suffices.
    ends : bool
        Whether the last keys, up to `first` bytes, have buckets of their own, because nothing hides
        their communication.

    Returns
    -------
    list of list of Slot
    """
    totals = list(itertools.accumulate(slot.bytes for slot in slots))
    final = bisect_right(totals, first) if ends else 0
    while True:
        groups, open_groups = [], {}
        for place, slot in reversed(list(enumerate(slots, 1))):
            if place == final:
                open_groups.clear()
            if slot.bytes >= bound:
                groups.append([slot])
                continue
            kind = slot.dtype, slot.still
            group = open_groups.get(kind)
            if group is None:
                group = open_groups[kind] = []
                groups.append(group)
            group.append(slot)
            closed = first if groups[0] is group else bound
            if sum(slot.bytes for slot in group) >= closed:
                del open_groups[kind]
        kinds = len({(slot.dtype, slot.still) for slot in slots})
        if len(groups) <= max(most, kinds * (1 + ends)):
            return groups
        bound *= 2
