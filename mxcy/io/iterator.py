"""The interface of data iterators, and the one that changes the length of another."""

from mxcy.io.batch import DataBatch

__all__ = ["DataIter", "ResizeIter"]


class DataIter:
    """Base of all iterators over batches.

    A subclass either defines `next`, or `iter_next`, `getdata`, `getlabel` and so on, of which
    `next` is made. It has `provide_data` and `provide_label`, lists of `DataDesc`.

    Parameters
    ----------
    batch_size : int
        Entries per batch.
    """

    def __init__(self, batch_size=0):
        self.batch_size = batch_size

    def __iter__(self):
        return self

    def __next__(self):
        return self.next()

    def reset(self):
        """Start over."""

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
        """Move to the next batch; False when there is none."""

    def getdata(self):
        """The input arrays of the current batch, a list of NDArray."""

    def getlabel(self):
        """The labels of the current batch, a list of NDArray."""

    def getindex(self):
        """Which entries of the data set the current batch holds; None when that is unknown."""

    def getpad(self):
        """How many entries at the end of the current batch only fill it up."""


class CurrentBatchIter(DataIter):
    """An iterator whose `iter_next` leaves the batch in `current_batch`."""

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
    """Refuse what is no iterator over batches.

    Parameters
    ----------
    argument : str
        What it was passed as, for the message.
    value : object

    Raises
    ------
    TypeError
        When it describes no data.
    """
    if not hasattr(value, "provide_data"):
        raise TypeError(
            f"{argument}: expected a DataIter, such as mx.io.NDArrayIter(array), got "
            f"{type(value).__name__}"
        )


class ResizeIter(CurrentBatchIter):
    """Gives another iterator a number of batches per epoch.

    Parameters
    ----------
    data_iter : DataIter
        Where the batches come from; it is begun anew whenever it ends.
    size : int
        Batches per epoch.
    reset_internal : bool
        Whether `reset` begins `data_iter` anew too, or goes on where it is.
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
