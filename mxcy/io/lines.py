"""Loader of batches of lines from files in memory."""

import numpy as np

__all__ = ["LinesLoader"]


class LinesLoader:
    """Batches of lines in order; see `MXDataIter`.

    Parameters
    ----------
    data, label : numpy.ndarray, or object indexed by rows
        One entry per line.
    batch_size : int
    round_batch : bool
        Pad the last batch with the first lines, which the next epoch then skips.
    """

    def __init__(self, data, label, batch_size, round_batch):
        self._data, self._label, self._round = data, label, round_batch
        self._batch_size = batch_size
        self.data_shape = (batch_size, *data.shape[1:])
        self.label_shape = (batch_size, *label.shape[1:])
        self.data_dtype, self.label_dtype = data.dtype.type, label.dtype.type
        self._start = 0
        self._rows = np.zeros(batch_size, np.int64)

    def restart(self):
        """Start an epoch."""
        # The first lines were used to pad the last batch.
        over = self._start - len(self._data)
        self._start = over % len(self._data) if self._round and over > 0 else 0
        self.batches = -((self._start - len(self._data)) // self._batch_size)

    def load(self):
        """The next batch: data, labels, padding and row numbers; None after the last."""
        if self._start >= len(self._data):
            return None
        rows = np.arange(self._start, self._start + self._batch_size)
        pad = max(0, int(rows[-1]) + 1 - len(self._data))
        if self._round:
            rows %= len(self._data)
        else:
            rows[self._batch_size - pad :] = self._rows[self._batch_size - pad :]
        self._rows = rows
        self._start += self._batch_size
        return self._data[rows], self._label[rows], pad, rows
