"""Iterator over arrays in memory."""

import numpy as np

from mxcy.base import MXNetError
from mxcy.io.batch import DataBatch, DataDesc
from mxcy.io.iterator import DataIter
from mxcy.io.utils import named_arrays, rows_of

__all__ = ["NDArrayIter"]

_LAST_BATCH = ("pad", "discard", "roll_over")


class NDArrayIter(DataIter):
    """Iterate over batches of arrays along their first axis.

    Parameters
    ----------
    data : array, list of arrays or dict of str to array
        The inputs: NDArrays, NumPy arrays (converted to float32), h5py data sets. Batches of csr
        arrays are csr and require ``last_batch_handle='discard'``.
    label : array, list of arrays or dict of str to array, optional
        The labels.
    batch_size : int
        Samples per batch.
    shuffle : bool
        Visit the samples in random order, drawn each epoch from `numpy.random`.
    last_batch_handle : {'pad', 'discard', 'roll_over'}
        Handling of an incomplete last batch: pad it from the start, drop it, or carry its
        samples over to the next epoch.
    data_name, label_name : str
        Names of single arrays; those of a list are called ``_0_data``, ``_1_data``, ...
    layout : str
        Layout of all arrays; the batch axis must be first.

    Attributes
    ----------
    data, label : list of (str, array)
        The arrays, sorted by name.
    num_data : int
        Number of samples.
    cursor : int
        First sample of the current batch; negative for samples carried over.

    Raises
    ------
    TypeError
        If there is anything but arrays.
    ValueError
        If the number of labels differs, or `last_batch_handle` is unknown.
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
        self._order = self.idx.copy()  # this epoch's order of samples
        #: likewise, after samples carried over from the last epoch
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
        # Both shuffle the previous epoch's order, which reproduces MXNet's for every seed.
        np.random.shuffle(self.idx)
        self._order = self._order[self.idx]

    def hard_reset(self):
        """Restart without samples carried over from the last epoch."""
        self._begin(left_over=self._line[:0])

    def reset(self):
        """Restart; with 'roll_over' after the end, samples of an incomplete batch come first."""
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
        """Indices of the samples in the current batch."""
        start = self.cursor + len(self._line) - self.num_data
        if start < 0:
            raise MXNetError("NDArrayIter: there is no current batch; call next or iter_next first")
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
