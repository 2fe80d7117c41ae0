"""Pushes of a whole bucket, and leases of buffers."""

from mxcy.base import MXNetError

__all__ = ["Lease", "Rounds", "BucketPush", "failure_text"]


class Rounds:
    """Counters of pushes of a whole bucket: submitted, arrived, and summed."""

    def __init__(self):
        self.submitted = self.pushes = self.sums = 0


class BucketPush:
    """A push and pull of all keys of a bucket.

    Parameters
    ----------
    fill : callable
        ``fill(buffer)`` packs the pushed arrays into a buffer.
    source : numpy.ndarray or None
        The packed arrays, if they are contiguous and stay unchanged until reduced.
    on_done : callable
        ``on_done(error, sums, lease)``, called on the progress thread with an error message or
        None, and all sums, or None if they have been delivered key by key.
    since : float
        Time of arrival.
    in_place : bool
        Whether `source` may receive the sums.
    on_parts : callable, optional
        ``on_parts(starts, parts, last)`` gets results that are in memory of all ranks, in several
        calls, this rank's own ones early: the first element of each part in the bucket, in order,
        the parts, and whether they are the last ones. `on_done` follows.
    targets : callable, optional
        With `on_parts`: returns the addresses of the arrays that take results and their first
        elements in the bucket, then its length, for those who copy results themselves and call
        ``on_parts([], [], True)``.
    """

    def __init__(self, fill, source, on_done, since, in_place=False, on_parts=None, targets=None):
        self.fill, self.source, self.on_done, self.since = fill, source, on_done, since
        self.in_place, self.on_parts, self.targets = in_place, on_parts, targets

    def await_keys(self, slots):
        """Call `on_done` when all keys, which are pushed singly instead, have been delivered."""
        left = len(slots)

        def on_done(error):
            nonlocal left
            left -= 1
            if left == 0 or (error and left > 0):
                left = 0
                self.on_done(error, None, None)

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
