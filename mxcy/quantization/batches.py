"""Calibration data: iterators and data loaders as batches of named arrays."""

import numpy as np

from mxcy.gluon.data.dataset import Dataset
from mxcy.io import DataBatch, DataDesc, DataIter
from mxcy.ndarray import NDArray

__all__ = ["DataIterWrapper", "as_data_iter", "named_batches"]


class DataIterWrapper(DataIter):
    """A data iterator over any iterable of arrays or lists of arrays, such as a data loader.

    Inputs are named ``data``, ``data1``; from three inputs on ``data0``, ``data1``, ``data2``...

    Parameters
    ----------
    calib_data : iterable
    """

    def __init__(self, calib_data):
        try:
            first = next(iter(calib_data))
        except TypeError as error:
            raise TypeError(f"calib_data is not a valid iterator. {error}") from None
        except StopIteration:
            raise ValueError("calib_data yields no batch") from None
        arrays = _arrays(first)
        super().__init__(arrays[0].shape[0])
        self._data = calib_data
        names = [f"data{i}" for i in range(len(arrays))]
        if len(arrays) < 3:
            names[0] = "data"
        self.provide_data = [
            DataDesc(name, array.shape) for name, array in zip(names, arrays, strict=True)
        ]
        self.provide_label = []
        self.reset()

    def reset(self):
        """Start over."""
        self._iter = iter(self._data)

    def next(self):
        """Return the next batch.

        Returns
        -------
        DataBatch
        """
        return DataBatch(data=_arrays(next(self._iter)))


def _arrays(batch):
    arrays = list(batch) if isinstance(batch, (list, tuple)) else [batch]
    if arrays and len(arrays[0].shape) > 5:  # (batch, clips, ...) of videos: merge both axes
        arrays[0] = arrays[0].reshape((-1, *arrays[0].shape[2:]))
    return arrays


def as_data_iter(calib_data):
    """Return a data iterator and the `DataDesc` of its data.

    Raises
    ------
    ValueError
        If `calib_data` is a single array or a dataset instead of batches.
    """
    if isinstance(calib_data, (NDArray, np.ndarray)):
        raise ValueError(
            "calib_data: expected a DataLoader, a DataIter or a list of batches, got "
            f"{type(calib_data).__name__} of shape {calib_data.shape}"
        )
    if isinstance(calib_data, Dataset):
        raise ValueError(
            "calib_data: expected a DataLoader, a DataIter or a list of batches, got "
            f"{type(calib_data).__name__}; pass DataLoader(dataset, batch_size=32)"
        )
    if not isinstance(calib_data, DataIter):
        calib_data = DataIterWrapper(calib_data)
    return calib_data, calib_data.provide_data


def named_batches(calib_data, names, examples=None, count=None):
    """Iterate over calibration data as batches of arrays by input name.

    Parameters
    ----------
    calib_data : DataIter
    names : list of str
        Names of the inputs; further arrays of a batch are dropped.
    examples, count : int, optional
        Stop after this number of examples, or of batches.

    Yields
    ------
    dict of str to NDArray
    """
    seen = 0
    for number, batch in enumerate(calib_data, 1):
        arrays = _arrays(batch.data if isinstance(batch, DataBatch) else batch)
        yield dict(zip(names, arrays, strict=False))
        seen += calib_data.batch_size
        if (examples is not None and seen >= examples) or (count is not None and number >= count):
            break
