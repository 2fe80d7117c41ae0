"""Data sets: collections of items accessed by index."""

import os

from mxcy import recordio
from mxcy._base.listing import listing
from mxcy.gluon.data.sampler import FilterSampler, Sampler, SequentialSampler
from mxcy.ndarray import NDArray

__all__ = ["ArrayDataset", "Dataset", "RecordFileDataset", "SimpleDataset"]

__dir__ = listing(__name__)


class Dataset:
    """Base class of data sets; subclasses define ``__getitem__`` and ``__len__``."""

    def __getitem__(self, idx):
        """Return the item number `idx`."""
        raise NotImplementedError(f"{type(self).__name__} does not define __getitem__")

    def __len__(self):
        """Return the number of items."""
        raise NotImplementedError(f"{type(self).__name__} does not define __len__")

    def __mx_handle__(self):
        """Return self; MXNet 2 returns a C++ counterpart, which is not needed here."""
        return self

    def filter(self, fn):
        """Return a data set of the items that satisfy a predicate.

        Parameters
        ----------
        fn : callable
            Predicate on an item.

        Returns
        -------
        Dataset
        """
        return _SampledDataset(self, FilterSampler(fn, self))

    def shard(self, num_shards, index):
        """Return one of several parts of nearly equal size.

        Parameters
        ----------
        num_shards : int
            Number of parts.
        index : int
            Index of the part, from 0.

        Returns
        -------
        Dataset
        """
        assert index < num_shards, f"Shard index out of bound: {index} out of {num_shards}"
        assert num_shards > 0, "Number of shards must be greater than 0"
        assert index >= 0, "Index must be non-negative"
        size, longer = divmod(len(self), num_shards)
        start = size * index + min(index, longer)
        return _SampledDataset(self, SequentialSampler(size + (index < longer), start))

    def take(self, count):
        """Return a data set of the first items.

        Parameters
        ----------
        count : int or None
            Number of items; None or a large number keeps all.

        Returns
        -------
        Dataset
        """
        if count is None or count > len(self):
            count = len(self)
        return _SampledDataset(self, SequentialSampler(count))

    def sample(self, sampler):
        """Return a data set of the items selected by a sampler.

        Parameters
        ----------
        sampler : Sampler
            Source of the indices, iterated once.

        Returns
        -------
        Dataset

        Raises
        ------
        TypeError
            If `sampler` is not a `Sampler`.
        """
        if not isinstance(sampler, Sampler):
            raise TypeError(
                f"Invalid sampler type: {type(sampler)}. Expected gluon.data.Sampler instead."
            )
        return _SampledDataset(self, sampler)

    def transform(self, fn, lazy=True):
        """Return a data set of transformed items.

        Parameters
        ----------
        fn : callable
            Function of an item; a tuple is unpacked into arguments.
        lazy : bool
            Transform each item when it is read, instead of all items now.

        Returns
        -------
        Dataset
        """
        transformed = _TransformedDataset(self, fn)
        if lazy:
            return transformed
        return SimpleDataset([transformed[i] for i in range(len(transformed))])

    def transform_first(self, fn, lazy=True):
        """Return a data set in which the first part of each item is transformed.

        Parameters
        ----------
        fn : callable
            Function of the first part of an item.
        lazy : bool
            See `transform`.

        Returns
        -------
        Dataset
        """
        return self.transform(_OnFirst(fn), lazy)


class SimpleDataset(Dataset):
    """A data set over any object with ``__len__`` and ``__getitem__``, such as a list.

    Parameters
    ----------
    data : sequence
        The items.
    """

    def __init__(self, data):
        self._data = data

    def __len__(self):
        return len(self._data)

    def __getitem__(self, idx):
        return self._data[idx]


class ArrayDataset(Dataset):
    """A data set of tuples with one entry from each of several arrays.

    Parameters
    ----------
    *args : sequence
        Arrays, lists or data sets of equal length. With a single one, items are not tuples.
    """

    def __init__(self, *args):
        assert len(args) > 0, "ArrayDataset: expected at least one array"
        self._length = len(args[0])
        self._data = []
        for i, data in enumerate(args):
            assert len(data) == self._length, (
                "All arrays must have the same length; "
                f"array[0] has length {self._length} while array[{i}] has {len(data)}."
            )
            if isinstance(data, NDArray) and len(data.shape) == 1:
                data = data.asnumpy()  # so that items are numbers
            self._data.append(data)

    def __getitem__(self, idx):
        if len(self._data) == 1:
            return self._data[0][idx]
        return tuple(data[idx] for data in self._data)

    def __len__(self):
        return self._length


class RecordFileDataset(Dataset):
    """A data set of the records in a RecordIO file; items are bytes.

    Parameters
    ----------
    filename : str
        The file ``NAME.rec``, with its index ``NAME.idx`` in the same folder.

    Raises
    ------
    MXNetError
        If one of them is missing.
    """

    def __init__(self, filename):
        self.filename = filename
        self.idx_file = os.path.splitext(filename)[0] + ".idx"
        self._record = recordio.MXIndexedRecordIO(self.idx_file, filename, "r")

    def __getitem__(self, idx):
        return self._record.read_idx(self._record.keys[idx])

    def __len__(self):
        return len(self._record.keys)


class _SampledDataset(Dataset):
    def __init__(self, dataset, sampler):
        self._dataset = dataset
        self._indices = list(sampler)

    def __len__(self):
        return len(self._indices)

    def __getitem__(self, idx):
        return self._dataset[self._indices[idx]]


class _TransformedDataset(Dataset):
    def __init__(self, dataset, fn):
        self._dataset = dataset
        self._fn = fn

    def __len__(self):
        return len(self._dataset)

    def __getitem__(self, idx):
        item = self._dataset[idx]
        return self._fn(*item) if isinstance(item, tuple) else self._fn(item)


class _OnFirst:
    """A function on the first part of an item (a class, so that it can be pickled)."""

    def __init__(self, fn):
        self._fn = fn

    def __call__(self, first, *others):
        return (self._fn(first), *others) if others else self._fn(first)
