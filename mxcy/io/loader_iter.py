"""`MXDataIter`, the iterator over batches of a file loader."""

import numpy as np

from mxcy import ndarray as nd
from mxcy.io.batch import DataBatch, DataDesc
from mxcy.io.iterator import CurrentBatchIter

__all__ = ["MXDataIter"]


def _array(values):
    return values if isinstance(values, nd.NDArray) else nd.array(values, dtype=values.dtype)


class MXDataIter(CurrentBatchIter):
    """Iterator over the batches of a loader.

    Parameters
    ----------
    handle : object
        The loader: ``restart()`` starts an epoch, ``load()`` returns the next batch
        ``(data, label, pad, index)`` as NumPy arrays or NDArrays, or None after the last. Its
        attributes are ``data_shape``, ``label_shape`` (with the batch axis), ``data_dtype``,
        ``label_dtype``, and optionally ``batches``, the number of batches per epoch.
    data_name, label_name : str
        Names of the inputs and the labels.
    """

    def __init__(self, handle, data_name="data", label_name="softmax_label", **_):
        super().__init__(handle.data_shape[0])
        self.handle = handle
        self.provide_data = [DataDesc(data_name, handle.data_shape, handle.data_dtype)]
        self.provide_label = [DataDesc(label_name, handle.label_shape, handle.label_dtype)]
        self._repeat_first = False
        handle.restart()

    def __len__(self):
        """Number of batches per epoch; 0 if not known in advance."""
        return getattr(self.handle, "batches", 0)

    def __bool__(self):
        return True

    def debug_skip_load(self):
        """Return the first batch forever, to time everything but the loading."""
        self._repeat_first = True

    def reset(self):
        self.handle.restart()
        if not self._repeat_first:
            self.current_batch = None

    def iter_next(self):
        if self._repeat_first and self.current_batch is not None:
            return True
        loaded = self.handle.load()
        if loaded is None:
            return False
        data, label, pad, index = loaded
        self.current_batch = DataBatch(
            data=[_array(data)],
            label=[_array(label)],
            pad=pad,
            index=np.asarray(index, dtype=np.uint64),
        )
        return True

    def getitems(self):
        """The arrays of the current batch: inputs and labels, a tuple of NDArray."""
        return (*self.current_batch.data, *self.current_batch.label)

    def getdata(self):
        """The input array of the current batch, NDArray."""
        return self.current_batch.data[0]

    def getlabel(self):
        """The labels of the current batch, NDArray."""
        return self.current_batch.label[0]
