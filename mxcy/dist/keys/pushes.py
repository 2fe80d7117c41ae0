"""Pushes of a whole bucket, and leases of buffers."""

from typing import NamedTuple

import numpy as np

from mxcy.base import MXNetError

__all__ = ["BucketPush", "KeyArrays", "Lease", "Rounds", "failure_text"]


class Rounds:
    """Counters of pushes of a whole bucket: submitted, arrived, and summed."""

    def __init__(self):
        self.submitted = self.pushes = self.sums = 0


class KeyArrays(NamedTuple):
    """Addresses of arrays of all keys of a bucket, which are contiguous."""

    #: the first element of each key in the bucket, then its length
    starts: np.ndarray
    #: what is pushed
    sources: np.ndarray
    #: what takes the results, if anything
    targets: np.ndarray | None
    #: keeps their memory alive
    owner: object


class BucketPush:
    """A push and pull of all keys of a bucket.

    Parameters
    ----------
    fill : callable
        ``fill(buffer)`` packs the pushed arrays into a buffer.
    source : numpy.ndarray or None
        The packed arrays, if they are contiguous and stay unchanged until reduced.
    on_done : callable
        ``on_done(error, sums, lease, taken)``, called on the progress thread with an error message
        or None, all sums, or None if they have been delivered key by key, and whether the targets
        of `arrays` have the results already.
    since : float
        Time of arrival.
    arrays : callable
        Returns the `KeyArrays`, where ranks share memory; without targets if these take something
        else than sums, or weights where updates are sharded.
    in_place : bool
        Whether `source` may receive the sums.
    """

    def __init__(self, fill, source, on_done, since, arrays=None, in_place=False):
        self.fill, self.source, self.on_done, self.since = fill, source, on_done, since
        self.arrays, self.in_place = arrays, in_place

    def await_keys(self, slots):
        """Call `on_done` when all keys, which are pushed singly instead, have been delivered."""
        left = len(slots)

        def on_done(error):
            nonlocal left
            left -= 1
            if left == 0 or (error and left > 0):
                left = 0
                self.on_done(error, None, None, False)

        for slot in slots:
            slot.pulls.append((slot.arrived, on_done, self.since))
            slot.complete_pulls()


class Lease:
    """Returns a buffer to its bucket when the lease is no longer referenced."""

    def __init__(self, free, buffer):
        self._free, self._buffer = free, buffer

    def __del__(self):
        self._free.append(self._buffer)


def failure_text(error):
    """The message of an error in a user's updater."""
    return str(error) if isinstance(error, MXNetError) else f"{type(error).__name__}: {error}"
