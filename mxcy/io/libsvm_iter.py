"""Batches of the sparse lines of LibSVM's format."""

import math

import numpy as np

from mxcy.base import MXNetError
from mxcy.files import local_path
from mxcy.io.loader_iter import MXDataIter
from mxcy.io.parameters import BATCHES, Parameter, dtype_of, iterator, parsed
from mxcy.ops.attrs import REQUIRED, Int, Shape, Str

__all__ = ["LibSVMIter"]

_NO_FILE = "NULL"
_TABLE = (
    Parameter("data_libsvm", Str, REQUIRED, "The file; several are separated by ``;``."),
    Parameter("data_shape", Shape, REQUIRED, "(columns,): how many there are, from 0 on."),
    Parameter("label_libsvm", Str, _NO_FILE, "A file with the labels, in the same format."),
    Parameter("label_shape", Shape, (1,), "The shape of a label in there."),
    Parameter("num_parts", Int, 1, "Into how many parts the lines are divided."),
    Parameter("part_index", Int, 0, "Which part to read."),
    *BATCHES,
)


@iterator(_TABLE)
def LibSVMIter(**kwargs):
    """Iterate over lines of a label and of ``column:value`` pairs.

    MXNet gives the data as sparse arrays; here batches are dense, (batch_size, columns). Labels are
    the first numbers of the lines, unless there is a file with them.

    Parameters
    ----------
    **kwargs

    Returns
    -------
    MXDataIter

    Raises
    ------
    MXNetError
        When a file is missing, or is in another format, or has columns beyond the shape.
    """
    o = parsed("LibSVMIter", _TABLE, kwargs)
    if not 0 <= o.part_index < o.num_parts:
        raise MXNetError(
            f"LibSVMIter: part_index must be from 0 to num_parts - 1 = {o.num_parts - 1}, got "
            f"{o.part_index}"
        )
    dtype = dtype_of(o.dtype, "float32")
    data = _Lines(o.data_libsvm, o.data_shape, dtype)
    label = data.labels
    if o.label_libsvm != _NO_FILE:
        lines = _Lines(o.label_libsvm, o.label_shape, dtype)
        if len(lines) < len(data):
            raise MXNetError(
                f"LibSVMIter: {o.data_libsvm} has {len(data)} lines, {o.label_libsvm} {len(lines)}"
            )
        label = lines.dense(np.arange(len(data)))
    elif o.label_shape != (1,):
        raise MXNetError(f"LibSVMIter: label_shape {o.label_shape} needs label_libsvm")
    step = -(-len(data) // o.num_parts)
    part = np.arange(step * o.part_index, min(step * (o.part_index + 1), len(data)))
    loader = _LinesLoader(data, label, part, o.batch_size, o.round_batch)
    return MXDataIter(loader, data_name=o.data_name, label_name=o.label_name)


class _Lines:
    """The lines of files, in compressed rows."""

    def __init__(self, paths, shape, dtype):
        self.shape, self._dtype = shape, dtype
        labels, ends, columns, values = [], [0], [], []
        for path in paths.split(";"):
            for number, line in enumerate(_text(path), 1):
                label, *pairs = line.split() or ("",)
                if not label:
                    continue
                try:
                    split = [pair.split(":") for pair in pairs]
                    labels.append(float(label))
                    columns += [int(column) for column, _ in split]
                    values += [float(value) for _, value in split]
                except ValueError:
                    raise MXNetError(
                        f"LibSVMIter: line {number} of {path} is no label and column:value pairs: "
                        f"{line[:80]!r}"
                    ) from None
                ends.append(len(columns))
        self.labels = np.array(labels, dtype)
        self._ends, self._columns = np.array(ends), np.array(columns, np.int64)
        self._values = np.array(values, dtype)
        if columns and not 0 <= min(columns) <= max(columns) < math.prod(shape):
            raise MXNetError(
                f"LibSVMIter: {paths} has columns from {min(columns)} to {max(columns)}, which do "
                f"not fit into the shape {shape}"
            )

    def __len__(self):
        return len(self.labels)

    def dense(self, rows):
        """Some lines as an array of the shape after the axis of lines."""
        made = np.zeros((len(rows), math.prod(self.shape)), self._dtype)
        for place, row in enumerate(rows):
            part = slice(self._ends[row], self._ends[row + 1])
            made[place, self._columns[part]] = self._values[part]
        return made.reshape(-1, *self.shape)


def _text(path):
    try:
        with open(local_path(path)) as file:
            return file.readlines()
    except OSError as error:
        raise MXNetError(f"LibSVMIter: cannot read {path}: {error.strerror}") from None


class _LinesLoader:
    """Batches of lines in their order."""

    def __init__(self, data, label, part, batch_size, round_batch):
        self._data, self._label, self._part, self._round = data, label, part, round_batch
        self._batch_size, self._start = batch_size, 0
        self.data_shape = (batch_size, *data.shape)
        self.label_shape = (batch_size, *label.shape[1:])
        self.data_dtype, self.label_dtype = data.labels.dtype.type, label.dtype.type

    def restart(self):
        self._start = 0

    def load(self):
        count = len(self._part)
        if self._start >= count:
            return None
        places = np.arange(self._start, self._start + self._batch_size)
        pad = max(0, self._start + self._batch_size - count)
        self._start += self._batch_size
        if pad and not self._round:
            places = np.minimum(places, count - 1)
        rows = self._part[places % count]
        return self._data.dense(rows), self._label[rows], pad, rows
