"""`PrefetchingIter`, which loads batches in background threads."""

from concurrent.futures import ThreadPoolExecutor

from mxcy.io.batch import DataBatch, DataDesc
from mxcy.io.iterator import CurrentBatchIter, check_iterator

__all__ = ["PrefetchingIter"]


def _next_or_none(iterator):
    try:
        return iterator.next()
    except StopIteration:
        return None


def _renamed(descriptions, names):
    """Rename descriptions by a mapping."""
    result = []
    for description in descriptions:
        if not isinstance(description, DataDesc):
            description = DataDesc(*description)
        result.append(
            DataDesc(
                names[description.name], description.shape, description.dtype, description.layout
            )
        )
    return result


class PrefetchingIter(CurrentBatchIter):
    """Fetch the next batch of other iterators in threads, while the current one is in use.

    An exception in a thread is raised by `next`.

    Parameters
    ----------
    iters : DataIter or list of DataIter
        Iterators of equal length, whose batches are combined.
    rename_data, rename_label : list of dict of str to str, optional
        New names of inputs and labels, per iterator.

    Raises
    ------
    AssertionError
        If there is no iterator; while iterating, if the iterators are inconsistent.
    """

    def __init__(self, iters, rename_data=None, rename_label=None):
        iters = iters if isinstance(iters, list) else [iters]
        assert iters, "PrefetchingIter needs at least one iterator"
        for iterator in iters:
            check_iterator("PrefetchingIter: iters", iterator)
        self.iters = iters
        self.n_iter = len(iters)
        self.rename_data = rename_data
        self.rename_label = rename_label
        super().__init__(self.provide_data[0][1][0])
        self._threads = ThreadPoolExecutor(self.n_iter, thread_name_prefix="mxcy-prefetch")
        self._ahead = None
        self._fetch()

    def __del__(self):
        threads = getattr(self, "_threads", None)
        if threads is not None:
            threads.shutdown(wait=False, cancel_futures=True)

    @property
    def provide_data(self):
        """list of DataDesc: the inputs of each batch."""
        return self._described("provide_data", self.rename_data)

    @property
    def provide_label(self):
        """list of DataDesc: the labels of each batch."""
        return self._described("provide_label", self.rename_label)

    def _described(self, attribute, renaming):
        described = [getattr(iterator, attribute) for iterator in self.iters]
        if renaming is not None:
            described = [_renamed(d, names) for d, names in zip(described, renaming, strict=True)]
        return sum(described, [])

    def _fetch(self):
        self._ahead = [self._threads.submit(_next_or_none, iterator) for iterator in self.iters]

    def reset(self):
        for future in self._ahead:
            future.exception()  # waits, ignoring errors of the abandoned epoch
        for iterator in self.iters:
            iterator.reset()
        self._fetch()

    def iter_next(self):
        batches = [future.result() for future in self._ahead]
        first = batches[0]
        assert all((batch is None) == (first is None) for batch in batches), (
            "Number of entry mismatches between iterators"
        )
        if first is None:
            return False
        assert all(batch.pad == first.pad for batch in batches), (
            "Number of pad mismatches between iterators"
        )
        self._fetch()
        self.current_batch = DataBatch(
            data=sum((batch.data for batch in batches), []),
            label=sum((batch.label or [] for batch in batches), []),
            pad=first.pad,
            index=first.index,
            bucket_key=first.bucket_key,
            provide_data=self.provide_data,
            provide_label=self.provide_label,
        )
        return True
