"""Samplers: the order of a data set's items, and their grouping into batches."""

import numbers

import numpy as np

from mxcy._base.listing import listing

__all__ = [
    "Sampler",
    "SequentialSampler",
    "RandomSampler",
    "FilterSampler",
    "BatchSampler",
    "IntervalSampler",
    "SplitSampler",
]

__dir__ = listing(__name__)


class Sampler:
    """Base class of samplers: sized iterables of indices or of lists of indices."""

    def __iter__(self):
        """Iterate over the indices."""
        raise NotImplementedError(f"{type(self).__name__} does not define __iter__")

    def __len__(self):
        """Return the number of indices."""
        raise NotImplementedError(f"{type(self).__name__} does not define __len__")


class SequentialSampler(Sampler):
    """Consecutive indices.

    Parameters
    ----------
    length : int
        Number of indices.
    start : int
        The first index.
    """

    def __init__(self, length, start=0):
        self._length = length
        self._start = start

    def __iter__(self):
        return iter(range(self._start, self._start + self._length))

    def __len__(self):
        return self._length


class RandomSampler(Sampler):
    """Indices in random order, drawn from NumPy's global generator.

    Parameters
    ----------
    length : int
        The indices are 0 to ``length - 1``.
    """

    def __init__(self, length):
        self._length = length

    def __iter__(self):
        indices = np.arange(self._length)
        np.random.shuffle(indices)
        return iter(indices)

    def __len__(self):
        return self._length


class FilterSampler(Sampler):
    """Indices of the items that satisfy a predicate.

    Parameters
    ----------
    fn : callable
        Predicate on an item.
    dataset : Dataset
        The items.
    """

    def __init__(self, fn, dataset):
        self._indices = [i for i in range(len(dataset)) if fn(dataset[i])]

    def __iter__(self):
        return iter(self._indices)

    def __len__(self):
        return len(self._indices)


def _positive_integer(batch_size):
    """Convert a batch size, which may be a float without a fraction, to int."""
    if not isinstance(batch_size, numbers.Real) or batch_size < 1 or batch_size % 1:
        raise ValueError(f"batch_size must be a positive integer, got {batch_size!r}")
    return int(batch_size)


class BatchSampler(Sampler):
    """Lists of `batch_size` indices of another sampler.

    Parameters
    ----------
    sampler : Sampler
        The indices.
    batch_size : int
        Length of the lists.
    last_batch : {'keep', 'discard', 'rollover'}
        Keep an incomplete last batch, drop it, or carry its indices over to the next epoch.
    """

    def __init__(self, sampler, batch_size, last_batch="keep"):
        self._sampler = sampler
        self._batch_size = _positive_integer(batch_size)
        self._last_batch = last_batch
        self._check_last_batch()
        self._left_over = []

    def __iter__(self):
        batch, self._left_over = self._left_over, []
        for index in self._sampler:
            batch.append(index)
            if len(batch) == self._batch_size:
                yield batch
                batch = []
        if not batch:
            return
        self._check_last_batch()
        if self._last_batch == "keep":
            yield batch
        elif self._last_batch == "rollover":
            self._left_over = batch

    def __len__(self):
        self._check_last_batch()
        if self._last_batch == "keep":
            return -(-len(self._sampler) // self._batch_size)
        if self._last_batch == "discard":
            return len(self._sampler) // self._batch_size
        return (len(self._left_over) + len(self._sampler)) // self._batch_size

    def _check_last_batch(self):
        if self._last_batch not in ("keep", "discard", "rollover"):
            raise ValueError(
                "last_batch must be one of 'keep', 'discard', or 'rollover', "
                f"but got {self._last_batch}"
            )


class IntervalSampler(Sampler):
    """Every `interval`-th index, then the skipped ones.

    Parameters
    ----------
    length : int
        The indices are 0 to ``length - 1``.
    interval : int
        Step between indices, at most `length`.
    rollover : bool
        Restart at 1, 2, ... until all indices are visited.
    """

    def __init__(self, length, interval, rollover=True):
        assert interval <= length, (
            f"interval {interval} must be less than or equal to length {length}"
        )
        self._length = length
        self._interval = interval
        self._rollover = rollover

    def __iter__(self):
        for start in range(self._interval if self._rollover else 1):
            yield from range(start, self._length, self._interval)

    def __len__(self):
        return self._length if self._rollover else -(-self._length // self._interval)


class SplitSampler(Sampler):
    """One worker's share of the indices of a data set; together the workers cover all.

    Parameters
    ----------
    length : int
        The indices are 0 to ``length - 1``.
    num_parts : int
        Number of workers.
    part_index : int
        Index of this worker.
    shuffle : bool
        Redistribute all indices each epoch, in an order determined by `seed` and the epoch.
    seed : int
        Must be the same for all workers.
    last : {'wrap', 'drop', 'keep'}
        If the indices cannot be split evenly: repeat the first ones, drop the last ones, or
        give the first workers one more, which a synchronous store does not support.

    Raises
    ------
    ValueError
        For inconsistent numbers, or an unknown `last`.
    """

    def __init__(self, length, num_parts=1, part_index=0, shuffle=True, seed=0, last="wrap"):
        if length < 0 or num_parts < 1 or not 0 <= part_index < num_parts:
            raise ValueError(
                f"SplitSampler: part {part_index} of {num_parts} of {length} indices: expected "
                "0 <= part_index < num_parts"
            )
        if last not in ("wrap", "drop", "keep"):
            raise ValueError(f"SplitSampler: last must be wrap, drop or keep, got {last!r}")
        self._length, self._parts, self._part = length, num_parts, part_index
        self._shuffle, self._seed, self._last = shuffle, seed, last
        self._epoch = 0

    def set_epoch(self, epoch):
        """Set the next epoch; each iteration increments it.

        Parameters
        ----------
        epoch : int
            Must be the same for all workers.
        """
        self._epoch = epoch

    def __iter__(self):
        order = np.arange(self._length)
        if self._shuffle:
            order = np.random.RandomState([self._seed, self._epoch]).permutation(self._length)
        self._epoch += 1
        if self._last == "drop":
            order = order[: len(self) * self._parts]
        elif self._last == "wrap":
            order = np.resize(order, len(self) * self._parts)
        return iter(order[self._part :: self._parts].tolist())

    def __len__(self):
        if self._last == "drop":
            return self._length // self._parts
        if self._last == "wrap":
            return -(-self._length // self._parts)
        return len(range(self._part, self._length, self._parts))
