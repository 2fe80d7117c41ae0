"""What is pushed to all keys of a bucket at once, and the buffers that it travels in."""

from mxcy.base import MXNetError

__all__ = ["Lease", "Rounds", "WholePush", "failure_text"]


class Rounds:
    """How many pushes to all keys at once have been called for, have come, and have been summed."""

    def __init__(self):
        self.submitted = self.pushes = self.sums = 0


class WholePush:
    """What is pushed to all keys of a bucket at once.

    Parameters
    ----------
    fill : callable
        ``fill(buffer)`` writes all of it to the places of the keys.
    source : numpy.ndarray or None
        All of it, if it lies so and stays until it has been summed.
    on_done : callable
        ``on_done(error, sums, lease)``, on the progress thread: the text of an error or None, and
        all sums, or None if they have been delivered key by key.
    since : float
        When it came.
    in_place : bool
        Whether sums may be made in `source`: those passed to `on_done` are there then.
    """

    def __init__(self, fill, source, on_done, since, in_place=False):
        self.fill, self.source, self.on_done, self.since = fill, source, on_done, since
        self.in_place = in_place


class Lease:
    """Returns a buffer to its bucket when nobody needs what is in it."""

    def __init__(self, free, buffer):
        self._free, self._buffer = free, buffer

    def __del__(self):
        self._free.append(self._buffer)


def failure_text(error):
    """What a user's updater has failed with."""
    return str(error) if isinstance(error, MXNetError) else f"{type(error).__name__}: {error}"
