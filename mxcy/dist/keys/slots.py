"""Keys as a store's processes add them up, and which of them travel together."""

import math
from collections import deque

import numpy as np

__all__ = ["Slot", "plan"]


class Slot:
    """A key in its bucket.

    Parameters
    ----------
    key : int or str
    shape : tuple of int
    dtype : numpy.dtype
        Of the sums; the arrays that are pushed have it.
    deliver : callable
        ``deliver(sum, lease)`` gets each sum; it keeps `lease` as long as it needs `sum`.
    still : bool
        Whether it is hardly ever pushed: others do not wait for it then.

    Attributes
    ----------
    submitted, pushes, sums : int
        How many pushes of this key alone the program has called for, how many have come here, and
        how many sums have been delivered.
    pulls : deque
        Those who wait: the round that they need, a function of the text of an error or None, and
        since when.
    failed : str or None
        Why there will be no more sums.
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
        self.place = slice(0, 0)

    @property
    def arrived(self):
        """int: how often the key has been pushed here, alone or with its bucket."""
        return self.pushes + (self.bucket.rounds.pushes if self.bucket else 0)

    @property
    def rounds(self):
        """int: how many sums there have been."""
        return self.sums + (self.bucket.rounds.sums if self.bucket else 0)

    @property
    def complete(self):
        """bool: whether all that the program has called for has come here."""
        return (
            self.submitted == self.pushes
            and self.bucket.rounds.submitted == self.bucket.rounds.pushes
        )

    def answer(self):
        """Tell those who wait for rounds that are done, or for nothing any more."""
        while self.pulls and (self.failed or self.pulls[0][0] <= self.rounds):
            needed, on_done, _ = self.pulls.popleft()
            on_done(self.failed if self.rounds < needed or self.failed else None)


def plan(slots, bound, first, most):
    """Group keys into buckets: the last ones first, as backward passes finish them.

    Parameters
    ----------
    slots : list of Slot
        In the order in which they were put into the store.
    bound, first : int
        Bytes at which a bucket is closed, and at which the first one is.
    most : int
        How many buckets there may be; they grow where there would be more.

    Returns
    -------
    list of list of Slot
    """
    while True:
        groups, open_groups = [], {}
        for slot in reversed(slots):
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
            if sum(one.bytes for one in group) >= closed:
                del open_groups[kind]
        kinds = len({(slot.dtype, slot.still) for slot in slots})
        if len(groups) <= max(most, kinds):
            return groups
        bound *= 2
