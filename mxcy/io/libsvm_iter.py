"""Batches of the sparse lines of LibSVM's format."""

import copy
import math

import numpy as np

from mxcy.base import MXNetError
from mxcy.files import local_path
from mxcy.io.lines import LinesLoader
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
        label = lines[np.arange(len(data))]
    elif o.label_shape != (1,):
        raise MXNetError(f"LibSVMIter: label_shape {o.label_shape} needs label_libsvm")
    step = -(-len(data) // o.num_parts)
    part = slice(step * o.part_index, step * (o.part_index + 1))
    loader = LinesLoader(data.part(part), label[part], o.batch_size, o.round_batch)
    return MXDataIter(loader, data_name=o.data_name, label_name=o.label_name)


class _Lines:
    """The lines of files, in compressed rows."""

    def __init__(self, paths, shape, dtype):
        self._shape, self.dtype = shape, np.dtype(dtype)
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
        self._begins, self._ends = np.array(ends[:-1], np.int64), np.array(ends[1:], np.int64)
        self._columns, self._values = np.array(columns, np.int64), np.array(values, dtype)
        if columns and not 0 <= min(columns) <= max(columns) < math.prod(shape):
            raise MXNetError(
                f"LibSVMIter: {paths} has columns from {min(columns)} to {max(columns)}, which do "
                f"not fit into the shape {shape}"
            )

    def __len__(self):
        return len(self._ends)

    @property
    def shape(self):
        """The shape of all lines together."""
        return (len(self), *self._shape)

    def part(self, lines):
        """Some of the lines, by a slice."""
        made = copy.copy(self)
        made._begins, made._ends = self._begins[lines], self._ends[lines]
        return made

    def __getitem__(self, rows):
        """Some lines as an array of the shape after the axis of lines."""
        made = np.zeros((len(rows), math.prod(self._shape)), self.dtype)
        for place, (begin, end) in enumerate(
            zip(self._begins[rows], self._ends[rows], strict=True)
        ):
            made[place, self._columns[begin:end]] = self._values[begin:end]
        return made.reshape(-1, *self._shape)


def _text(path):
    try:
        with open(local_path(path)) as file:
            return file.readlines()
    except OSError as error:
        raise MXNetError(f"LibSVMIter: cannot read {path}: {error.strerror}") from None
