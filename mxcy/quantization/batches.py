"""Calibration data: iterators and loaders as batches of named arrays."""

import numpy as np

from mxcy.io import DataBatch, DataDesc, DataIter
from mxcy.ndarray import NDArray

__all__ = ["DataIterWrapper", "as_data_iter", "named_batches"]


class DataIterWrapper(DataIter):
    """A data iterator over anything that gives arrays or lists of them, such as a data loader.

    The inputs are called ``data``, ``data1``...; of three and more ``data0``, ``data1``...

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
    if arrays and len(arrays[0].shape) > 5:  # clips of a video: the first two axes are one
        arrays[0] = arrays[0].reshape((-1, *arrays[0].shape[2:]))
    return arrays


def as_data_iter(calib_data):
    """(a data iterator, the descriptions of its data).

    Raises
    ------
    ValueError
        For an array, whose rows are no batches.
    """
    if isinstance(calib_data, (NDArray, np.ndarray)):
        raise ValueError(
            "calib_data: expected batches, as a DataLoader, a DataIter or a list has them, got "
            f"{type(calib_data).__name__} of shape {calib_data.shape}"
        )
    if not isinstance(calib_data, DataIter):
        calib_data = DataIterWrapper(calib_data)
    return calib_data, calib_data.provide_data


def named_batches(calib_data, names, examples=None, count=None):
    """Go through calibration data.

    Parameters
    ----------
    calib_data : DataIter
    names : list of str
        What the inputs are called; further arrays are left out.
    examples, count : int, optional
        Stop after that many examples, or batches.

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
