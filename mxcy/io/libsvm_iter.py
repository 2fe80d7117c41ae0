"""Iterator over LibSVM files."""

import numpy as np

from mxcy import ndarray as nd
from mxcy.base import MXNetError
from mxcy.io.libsvm_lines import read_lines
from mxcy.io.lines import LinesLoader
from mxcy.io.loader_iter import MXDataIter
from mxcy.io.parameters import BATCHES, Parameter, dtype_of, iterator, parsed
from mxcy.ops.core.attrs import REQUIRED, Int, Shape, Str

__all__ = ["LibSVMIter"]

_NO_FILE = "NULL"
_TABLE = (
    Parameter("data_libsvm", Str, REQUIRED, "File; separate several by ``;``."),
    Parameter("data_shape", Shape, REQUIRED, "(columns,): number of columns, counted from 0."),
    Parameter("label_libsvm", Str, _NO_FILE, "File with the labels, in the same format."),
    Parameter("label_shape", Shape, (1,), "(columns,) of a label in that file."),
    Parameter("num_parts", Int, 1, "Number of parts of the files, by bytes."),
    Parameter("part_index", Int, 0, "Index of the part to read: the lines that start in it."),
    *BATCHES,
)


@iterator(_TABLE)
def LibSVMIter(**kwargs):
    """Iterate over lines of a label and ``column:value`` pairs.

    Batches of data are csr arrays (batch_size, columns). Labels are the first numbers of the lines,
    or csr arrays if there is a label file. The last batch is padded with the first lines. Text
    after ``#`` is ignored.

    Parameters
    ----------
    **kwargs

    Returns
    -------
    MXDataIter

    Raises
    ------
    MXNetError
        If a file is missing or malformed, or has columns beyond the shape.
    """
    o = parsed("LibSVMIter", _TABLE, kwargs)
    _check(o)
    dtype = np.dtype(dtype_of(o.dtype, "float32"))
    rows, before = read_lines(o.data_libsvm, o.data_shape[0], dtype, o.part_index, o.num_parts)
    labels = rows.labels
    if o.label_libsvm != _NO_FILE:
        lines, _ = read_lines(o.label_libsvm, o.label_shape[0], dtype)
        if len(lines) < before + len(rows):
            raise MXNetError(
                f"LibSVMIter: {o.data_libsvm} has {before + len(rows)} lines, {o.label_libsvm} "
                f"{len(lines)}"
            )
        labels = _CsrRows(lines.part(before, before + len(rows)))
    loader = LinesLoader(_CsrRows(rows), labels, o.batch_size, o.round_batch)
    return MXDataIter(loader, data_name=o.data_name, label_name=o.label_name)


def _check(o):
    """Check that the parameters are consistent."""
    if not 0 <= o.part_index < o.num_parts:
        raise MXNetError(
            f"LibSVMIter: part_index must be from 0 to num_parts - 1 = {o.num_parts - 1}, got "
            f"{o.part_index}"
        )
    for name, shape in (("data_shape", o.data_shape), ("label_shape", o.label_shape)):
        if len(shape) != 1 or shape[0] < 1:
            raise MXNetError(f"LibSVMIter: {name} must be (columns,), got {shape}")
    if (o.label_libsvm == _NO_FILE) != (o.label_shape == (1,)):
        raise MXNetError(
            "LibSVMIter: a label_shape other than (1,) needs label_libsvm, and vice versa; got "
            f"{o.label_shape} and {o.label_libsvm}"
        )
    if not o.round_batch:
        raise MXNetError("LibSVMIter: round_batch=False is not supported for sparse batches")


class _CsrRows:
    """Rows that are indexed to csr arrays."""

    def __init__(self, rows):
        self._rows, self.shape, self.dtype = rows, rows.shape, rows.dtype

    def __len__(self):
        return len(self._rows)

    def __getitem__(self, rows):
        parts = self._rows.take(rows)
        return nd.sparse.csr_matrix(parts, shape=(len(rows), self.shape[1]), dtype=self.dtype)
