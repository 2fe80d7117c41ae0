"""Iterator over comma-separated files."""

import math

import numpy as np

from mxcy._base import dtypes
from mxcy._base.files import local_path
from mxcy.base import MXNetError
from mxcy.io.lines import LinesLoader
from mxcy.io.loader_iter import MXDataIter
from mxcy.ops.core.attrs import Bool, Int, Shape, UInt

__all__ = ["CSVIter"]

_NO_FILE = "NULL"
_DTYPES = ("float32", "int32", "int64")


def CSVIter(
    data_csv,
    data_shape,
    label_csv=_NO_FILE,
    label_shape=(1,),
    batch_size=None,
    round_batch=True,
    prefetch_buffer=4,
    ctx="cpu",
    dtype=None,
    data_name="data",
    label_name="softmax_label",
    num_parts=1,
    part_index=0,
    **_,
):
    """Iterate over the lines of a comma-separated file.

    Parameters
    ----------
    data_csv : str
        File with one sample per line; separate several files by ``;``.
    data_shape : tuple of int
        Shape of one sample.
    label_csv : str
        File with the labels; without it they are 0.
    label_shape : tuple of int
        Shape of one label; ``(1,)`` gives labels of shape (batch_size,).
    batch_size : int
        Samples per batch.
    round_batch : bool
        Pad the last batch with the first samples, which the next epoch then skips. Otherwise
        the padding is left over from the previous batch.
    prefetch_buffer, ctx
        Accepted for compatibility; the file is read as a whole.
    dtype : {'float32', 'int32', 'int64'}, optional
        Dtype of data and labels.
    data_name, label_name : str
        Names of the inputs and the labels.
    num_parts, part_index : int
        Number of parts of the lines, and index of the part to read; not in MXNet.

    Returns
    -------
    MXDataIter

    Raises
    ------
    MXNetError
        If a file is missing, or its lines do not fit the shape.
    """
    if batch_size is None:
        raise MXNetError("CSVIter: Required parameter batch_size of int is not presented")
    dtype = "float32" if dtype in (None, "None") else dtypes.name_of(dtypes.code_of(dtype))
    if dtype not in _DTYPES:
        raise MXNetError(f"CSVIter: dtype must be one of {_DTYPES}, got {dtype!r}")
    data = _read(data_csv, Shape.parse(data_shape), dtype)
    label_shape = Shape.parse(label_shape)
    if label_csv == _NO_FILE:
        label = np.zeros((len(data), *label_shape), dtype)
    else:
        label = _read(label_csv, label_shape, dtype)
    if len(label) < len(data):
        raise MXNetError(f"CSVIter: {data_csv} has {len(data)} lines, {label_csv} {len(label)}")
    num_parts, part_index = Int.parse(num_parts), Int.parse(part_index)
    if not 0 <= part_index < num_parts:
        raise MXNetError(
            f"CSVIter: part_index must be from 0 to num_parts - 1 = {num_parts - 1}, got "
            f"{part_index}"
        )
    begin, end = (len(data) * part // num_parts for part in (part_index, part_index + 1))
    data, label = data[begin:end], label[begin:end]
    if label_shape == (1,):
        label = label.reshape(-1)
    loader = LinesLoader(data, label, UInt.parse(batch_size), Bool.parse(round_batch))
    return MXDataIter(loader, data_name=data_name, label_name=label_name)


def _read(paths, shape, dtype):
    """Read files to an array (lines, *shape)."""
    tables = []
    for path in paths.split(";"):
        try:
            table = np.loadtxt(local_path(path), dtype, delimiter=",", comments=None, ndmin=2)
        except OSError as error:
            raise MXNetError(f"CSVIter: cannot read {path}: {error}") from None
        except ValueError as error:
            raise MXNetError(f"CSVIter: {path} is not a table of {dtype}: {error}") from None
        if table.shape[1] != math.prod(shape):
            raise MXNetError(
                "CSVIter: The data size in CSV do not match size of shape: "
                f"specified shape={shape}, the csv row-length={table.shape[1]} in {path}"
            )
        tables.append(table)
    return np.concatenate(tables).reshape(-1, *shape)
