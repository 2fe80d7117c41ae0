"""Values of a bucket in memory that all ranks share: sums, or weights that are updated there."""

from mxcy.dist.keys.shared_memory import SharedArray, SharedValues

__all__ = ["ValuesInSharedMemory"]


class ValuesInSharedMemory:
    """Sums or updates a bucket in shared memory, and keeps its values there.

    Parameters
    ----------
    bucket : Bucket
    lease : callable
        Returns a buffer for all values, and its lease.
    """

    def __init__(self, bucket, lease):
        self._bucket, self._lease = bucket, lease
        self._array = None  # SharedArray or None: as the bucket is divided now
        self._values = None  # SharedValues or None: the current values

    def reset(self):
        """Forget how the bucket was divided."""
        self.keep()
        self._array = None

    def sum(self, arrays):
        """Sum all keys.

        Parameters
        ----------
        arrays : KeyArrays

        Yields
        ------
        request
        """
        self._make_way()
        yield from self._shared().sum(arrays)

    def update(self, arrays, sums):
        """Update all keys.

        Parameters
        ----------
        arrays : KeyArrays
        sums : numpy.ndarray
            For sums.

        Yields
        ------
        request
        """
        current = self._values is not None
        self._make_way()
        yield from self._shared().update(arrays, sums, current)

    def _shared(self):
        if self._array is None:
            self._array = SharedArray(self._bucket)
        return self._array

    def keep_shared(self):
        """Have the values stay where they are until the next session; return `SharedValues`."""
        self._values = SharedValues(self._array, self._lease)
        return self._values

    def _make_way(self):
        """Make way for the values of this session."""
        if self._values is not None and self._bucket.bucket_push is not None:
            self._values.drop()  # nobody reads the bucket's values until it is done
            self._values = None
        else:
            self.keep()

    def keep(self):
        """Copy the values from shared memory, which is about to be used."""
        if self._values is not None:
            self._values.copy()
            self._values = None
