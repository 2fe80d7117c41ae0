"""Values of a bucket in memory that all ranks share: sums, or weights that are updated there."""

from mxcy.dist.keys.ownership import update_in_shared_memory
from mxcy.dist.keys.piecewise import PiecewiseUpdate
from mxcy.dist.keys.shared_memory import SharedValues

__all__ = ["ValuesInSharedMemory"]

_PIECEWISE_BYTES = 2 << 20  # from this size on, a single key is updated in pieces


class ValuesInSharedMemory:
    """Sums or updates a bucket in shared memory, and keeps its values there.

    Parameters
    ----------
    bucket : Bucket
    lease : callable
        See `SharedValues`.
    """

    def __init__(self, bucket, lease):
        self._bucket, self._lease = bucket, lease
        self._piecewise = None  # PiecewiseUpdate or None: of buckets updated in pieces, if possible
        self._values = None  # SharedValues or None: the current values, after an update

    @property
    def in_pieces(self):
        """bool: whether the bucket is updated in pieces."""
        return self._piecewise is not None and self._piecewise.possible

    @property
    def takes_pieces(self):
        """bool: whether to update a bucket in pieces even if it fits into buffers.

        Several keys are packed into the input buffer, where other ranks may read them at once.
        """
        bucket = self._bucket
        large = bucket.nbytes >= _PIECEWISE_BYTES and len(bucket.slots) == 1
        return large and bucket.updating is not None

    def reset(self):
        """Forget how the bucket was divided."""
        self._piecewise = None

    def fit(self, buffers):
        """Whether all keys can be updated in memory that all ranks share.

        Parameters
        ----------
        buffers : SharedBuffers or None

        Returns
        -------
        bool
        """
        if buffers is None:
            return False
        fits = self._bucket.length <= buffers.capacity
        if fits and not self.takes_pieces:
            return True
        if self._piecewise is None:
            self._piecewise = PiecewiseUpdate(self._bucket, buffers.inputs)
        return fits or self._piecewise.possible

    def update(self, source, sums, buffers):
        """Have all keys updated, in memory that they `fit`.

        Parameters
        ----------
        source : numpy.ndarray
            Pushed values.
        sums : numpy.ndarray
            For sums.
        buffers : SharedBuffers

        Yields
        ------
        request

        Returns
        -------
        SharedValues
        """
        push, current = self._bucket.bucket_push, self._values is not None
        self._make_way()
        if self.in_pieces:
            if source is buffers.own:  # pushed before updates were sharded
                source = source.copy()
            yield from self._piecewise.run(source, sums, current, push)
            values = SharedValues(self._piecewise, self._piecewise.cuts, self._lease)
        else:
            cuts = yield from update_in_shared_memory(
                self._bucket, source, sums, buffers, current, push and push.on_parts
            )
            values = SharedValues(buffers, cuts, self._lease)
        self._values = values
        return values

    def sum(self, buffers):
        """Have all keys summed that were pushed at once, in buffers that they fit.

        Parameters
        ----------
        buffers : SharedBuffers

        Yields
        ------
        request

        Returns
        -------
        SharedValues
        """
        push = self._bucket.bucket_push
        self._make_way()
        source = buffers.own if push.source is None else push.source
        cuts = yield from buffers.sum_whole(
            source, source if push.in_place else None, push.on_parts
        )
        self._values = SharedValues(buffers, cuts, self._lease)
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
