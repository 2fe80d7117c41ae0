"""Base classes of data iterators, and `ResizeIter`."""

from mxcy.io.batch import DataBatch

__all__ = ["DataIter", "ResizeIter"]


class DataIter:
    """Base class of iterators over batches.

    A subclass defines either `next`, or the methods `iter_next`, `getdata`, `getlabel` etc. that
    `next` calls. It has `provide_data` and `provide_label`, lists of `DataDesc`.

    Parameters
    ----------
    batch_size : int
        Samples per batch.
    """

    def __init__(self, batch_size=0):
        self.batch_size = batch_size

    def __iter__(self):
        return self

    def __next__(self):
        return self.next()

    def reset(self):
        """Restart from the first batch."""

    def next(self):
        """Return the next batch.

        Returns
        -------
        DataBatch

        Raises
        ------
        StopIteration
            After the last one.
        """
        if not self.iter_next():
            raise StopIteration
        return DataBatch(
            data=self.getdata(), label=self.getlabel(), pad=self.getpad(), index=self.getindex()
        )

    def iter_next(self):
        """Move to the next batch; return False if there is none."""

    def getdata(self):
        """Return the input arrays of the current batch, a list of NDArray."""

    def getlabel(self):
        """Return the labels of the current batch, a list of NDArray."""

    def getindex(self):
        """Return the indices of the current batch's samples, or None if unknown."""

    def getpad(self):
        """Return the number of padding samples at the end of the current batch."""


class CurrentBatchIter(DataIter):
    """An iterator whose `iter_next` stores the batch in `current_batch`."""

    current_batch = None

    def next(self):
        if not self.iter_next():
            raise StopIteration
        return self.current_batch

    def getdata(self):
        return self.current_batch.data

    def getlabel(self):
        return self.current_batch.label

    def getindex(self):
        return self.current_batch.index

    def getpad(self):
        return self.current_batch.pad


def check_iterator(argument, value):
    """Check that a value is an iterator over batches.

    Parameters
    ----------
    argument : str
        Name of the argument, for the message.
    value : object

    Raises
    ------
    TypeError
        If it has no `provide_data`.
    """
    if not hasattr(value, "provide_data"):
        raise TypeError(
            f"{argument}: expected a DataIter, such as mx.io.NDArrayIter(array), got "
            f"{type(value).__name__}"
        )


class ResizeIter(CurrentBatchIter):
    """Change the number of batches per epoch of another iterator.

    Parameters
    ----------
    data_iter : DataIter
        Source of the batches; reset whenever it ends.
    size : int
        Batches per epoch.
    reset_internal : bool
        Whether `reset` also resets `data_iter`, or continues from its position.
    """

    def __init__(self, data_iter, size, reset_internal=True):
        check_iterator("ResizeIter: data_iter", data_iter)
        super().__init__(data_iter.batch_size)
        self.data_iter = data_iter
        self.size = size
        self.reset_internal = reset_internal
        self.cur = 0
        self.provide_data = data_iter.provide_data
        self.provide_label = data_iter.provide_label
        if hasattr(data_iter, "default_bucket_key"):
            self.default_bucket_key = data_iter.default_bucket_key

    def reset(self):
        self.cur = 0
        if self.reset_internal:
            self.data_iter.reset()

    def iter_next(self):
        if self.cur == self.size:
            return False
        try:
            self.current_batch = self.data_iter.next()
        except StopIteration:
            self.data_iter.reset()
            self.current_batch = self.data_iter.next()
        self.cur += 1
        return True
