"""Adapter of Gluon data loaders for modules."""

from mxcy import ndarray as nd
from mxcy.io import DataDesc, DataIter

__all__ = ["DataLoaderIter"]


class DataLoaderIter(DataIter):
    """Iterate over a loader whose batches are pairs of data and labels.

    Parameters
    ----------
    loader : gluon.data.DataLoader
        The loader; its first batch determines the shapes, and a smaller last one is padded.
    data_name, label_name : str
        Names in the symbol.
    dtype : str
        Dtype of the batches.
    """

    def __init__(self, loader, data_name="data", label_name="softmax_label", dtype="float32"):
        super().__init__()
        self._loader = loader
        data, label = next(iter(loader))
        self.batch_size = data.shape[0]
        self.dtype = dtype
        self.provide_data = [DataDesc(data_name, data.shape, dtype)]
        self.provide_label = [DataDesc(label_name, label.shape, dtype)]
        self._batches = self._current = None
        self.reset()

    def reset(self):
        """Restart from the first batch."""
        self._batches = iter(self._loader)

    def iter_next(self):
        self._current = next(self._batches, None)
        return self._current is not None

    def getdata(self):
        return [self._filled(self._current[0])]

    def getlabel(self):
        return [self._filled(self._current[1])]

    def getpad(self):
        return self.batch_size - self._current[0].shape[0]

    def _filled(self, array):
        """Pad an array to a full batch with zeros."""
        array = array.astype(self.dtype)
        pad = self.batch_size - array.shape[0]
        if not pad:
            return array
        missing = nd.zeros((pad, *array.shape[1:]), dtype=self.dtype, ctx=array.context)
        return nd.concat(array, missing, dim=0)
