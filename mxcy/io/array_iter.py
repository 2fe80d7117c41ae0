"""Batches of arrays in memory."""

import numpy as np

from mxcy.base import MXNetError
from mxcy.io.batch import DataBatch, DataDesc
from mxcy.io.iterator import DataIter
from mxcy.io.utils import named_arrays, rows_of

__all__ = ["NDArrayIter"]

_LAST_BATCH = ("pad", "discard", "roll_over")


class NDArrayIter(DataIter):
    """Iterates over arrays, along their first axis.

    Parameters
    ----------
    data : array, list of arrays or dict of str to array
        The inputs: NDArrays, NumPy arrays (which become float32), data sets of h5py. Batches of
        csr arrays are csr; they want 'discard' for `last_batch_handle`.
    label : array, list of arrays or dict of str to array, optional
        The labels.
    batch_size : int
        Entries per batch.
    shuffle : bool
        Visit the entries in random order, another one in each epoch; draws from `numpy.random`.
    last_batch_handle : {'pad', 'discard', 'roll_over'}
        What becomes of the entries that do not fill a batch: they are filled up from the start,
        left out, or put in front of the next epoch.
    data_name, label_name : str
        The names of single arrays; of a list they are ``_0_data``, ``_1_data``...
    layout : str
        Layout of all arrays; the batch axis has to be the first.

    Attributes
    ----------
    data, label : list of (str, array)
        The arrays, in the order of their names.
    num_data : int
        Number of entries.
    cursor : int
        The first entry of the current batch; negative when that came over from the last epoch.

    Raises
    ------
    TypeError
        When there is something else than arrays.
    ValueError
        When there are fewer labels than data, or `last_batch_handle` is none of the three.
    """

    def __init__(
        self,
        data,
        label=None,
        batch_size=1,
        shuffle=False,
        last_batch_handle="pad",
        data_name="data",
        label_name="softmax_label",
        layout="NCHW",
    ):
        super().__init__(batch_size)
        if last_batch_handle not in _LAST_BATCH:
            raise ValueError(
                f"last_batch_handle must be one of {_LAST_BATCH}, got {last_batch_handle!r}"
            )
        if batch_size < 1 or batch_size != int(batch_size):
            raise ValueError(f"batch_size must be a positive integer, got {batch_size}")
        self.data = named_arrays(data, allow_empty=False, default_name=data_name)
        self.label = named_arrays(label, allow_empty=True, default_name=label_name)
        self.num_data = self.data[0][1].shape[0]
        sparse = any(getattr(array, "stype", "") == "csr" for _, array in self.data + self.label)
        if sparse and last_batch_handle != "discard":
            raise NotImplementedError(
                "`NDArrayIter` only supports ``CSRNDArray`` with `last_batch_handle` set to "
                "`discard`."
            )
        for name, array in self.data + self.label:
            if array.shape[0] < self.num_data:
                raise ValueError(
                    f"{name} has {array.shape[0]} entries, but {self.data[0][0]} has "
                    f"{self.num_data}"
                )
        self.shuffle = shuffle
        self.last_batch_handle = last_batch_handle
        self.layout = layout
        self.idx = np.arange(self.num_data)
        self._order = self.idx.copy()  # the entries in the order of this epoch
        #: these, after the entries that came over from the last epoch
        self._line = self._order
        self.cursor = -batch_size
        self.reset()

    @property
    def provide_data(self):
        """list of DataDesc: the inputs of each batch."""
        return self._describe(self.data)

    @property
    def provide_label(self):
        """list of DataDesc: the labels of each batch."""
        return self._describe(self.label)

    def _describe(self, arrays):
        return [
            DataDesc(name, (self.batch_size, *array.shape[1:]), array.dtype, self.layout)
            for name, array in arrays
        ]

    def _shuffle(self):
        # Both orders go on from the previous epoch's, which gives MXNet's for every seed.
        np.random.shuffle(self.idx)
        self._order = self._order[self.idx]

    def hard_reset(self):
        """Start over, and drop entries that were to come over from the last epoch."""
        self._begin(left_over=self._line[:0])

    def reset(self):
        """Start over; with 'roll_over' after the end, entries that filled no batch come first."""
        remaining = self.num_data - self.cursor
        over = self.last_batch_handle == "roll_over" and 0 < remaining < self.batch_size
        self._begin(left_over=self._line[len(self._line) - remaining :] if over else self._line[:0])

    def _begin(self, left_over):
        if self.shuffle:
            self._shuffle()
        self._line = np.concatenate([left_over, self._order])
        self.cursor = -self.batch_size - len(left_over)

    def iter_next(self):
        self.cursor += self.batch_size
        return self.cursor < self.num_data

    def next(self):
        fits = self.iter_next() and (
            self.last_batch_handle == "pad" or self.cursor + self.batch_size <= self.num_data
        )
        if not fits:
            raise StopIteration
        return DataBatch(data=self.getdata(), label=self.getlabel(), pad=self.getpad(), index=None)

    def _rows(self):
        """The entries of the current batch."""
        start = self.cursor + len(self._line) - self.num_data
        if start < 0:
            raise MXNetError("NDArrayIter: there is no current batch, call next or iter_next first")
        if self.last_batch_handle == "pad":
            return self._line[np.arange(start, start + self.batch_size) % self.num_data]
        return self._line[start : start + self.batch_size]

    def _batch_of(self, arrays):
        rows = self._rows()
        return [rows_of(array, rows) for _, array in arrays]

    def getdata(self):
        return self._batch_of(self.data)

    def getlabel(self):
        return self._batch_of(self.label)

    def getpad(self):
        over = self.cursor + self.batch_size - self.num_data
        if self.last_batch_handle == "pad" and over > 0:
            return over
        if self.last_batch_handle == "roll_over" and -self.batch_size < self.cursor < 0:
            return -self.cursor
        return 0
