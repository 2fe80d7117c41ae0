"""Slicing, taking and joining rows and columns of csr arrays.

These move a few words per entry, which NumPy does at memory speed.
"""

import numpy as np

from mxcy._base.errors import MXNetError
from mxcy.ops.core.attrs import Enum, Int, Long, LongTuple
from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.record import op, sample
from mxcy.ops.indexing.indexing import resolved
from mxcy.ops.shape.concat import check_count
from mxcy.ops.sparse.parts import INT64, csr_sample, fill_csr, stored_entries

__all__ = []

_MODES = Enum("clip", "wrap", "raise")
_TYPES = ("float32", "float64", "float16", "int32")


def _indptr(xp, lengths):
    return xp.concatenate([[0], xp.cumsum(lengths)]).astype("int64")


def _check_counted(indptr, expected, nnz):
    if nnz != expected[-1] or (indptr != expected).any():
        raise MXNetError("indptr: does not match the number of entries of the result")


# --- slices --------------------------------------------------------------------------------------


def _check_slice(a, rows):
    fits = len(a.begin) == len(a.end) == 2 and all(
        0 <= low <= high for low, high in zip(a.begin, a.end, strict=True)
    )
    require(
        fits and (rows < 0 or a.end[0] <= rows),
        f"begin and end: expected a row and a column within {rows} rows, got {a.begin}, {a.end}",
    )


def _sliced(a, xp, indices, indptr):
    """Return the positions of the slice's entries, and its indptr."""
    indptr = indptr[a.begin[0] : a.end[0] + 1]
    extent = max(int(indices.max()) + 1, 0) if indices.size else 0
    rows, stored = stored_entries(xp, indices, indptr, extent)
    columns = indices[stored]
    kept = (columns >= a.begin[1]) & (columns < a.end[1])
    counts = xp.bincount(rows[kept], minlength=len(indptr) - 1)
    return stored.start + xp.flatnonzero(kept), _indptr(xp, counts)


_SLICE = {"begin": (1, 2), "end": (6, 8)}


@op("_csr_slice_indptr", inputs="indices indptr")
class CsrSliceIndptr:
    """Compute the indptr of the slice of a csr array from (row, column) `begin` to `end`."""

    begin: LongTuple
    end: LongTuple

    def infer(a, indices, indptr):
        _check_slice(a, fill_csr(None, indices, indptr))
        return Spec((a.end[0] - a.begin[0] + 1,), INT64)

    def ref(a, xp, indices, indptr):
        return _sliced(a, xp, indices, indptr)[1]

    def samples():
        return (
            sample(*csr_sample(7, 9)[1:], **_SLICE),
            sample(*csr_sample(7, 9)[1:], begin=(3, 0), end=(3, 9)),
        )


@op("_csr_slice", inputs="data indices indptr sliced_indptr", outputs="data indices")
class CsrSlice:
    """Compute data and indices of the slice of a csr array from (row, column) `begin` to `end`.

    `sliced_indptr` is the result of `_csr_slice_indptr`, and `nnz` its last entry.
    """

    begin: LongTuple
    end: LongTuple
    nnz: Long

    def infer(a, data, indices, indptr, sliced_indptr):
        require(a.nnz >= 0, f"nnz: must not be negative, got {a.nnz}")
        _check_slice(a, fill_csr(data, indices, indptr))
        sliced_indptr.fill("sliced_indptr", (a.end[0] - a.begin[0] + 1,), INT64)
        return Spec((a.nnz,), data.dtype), Spec((a.nnz,), INT64)

    def ref(a, xp, data, indices, indptr, sliced_indptr):
        places, counted = _sliced(a, xp, indices, indptr)
        _check_counted(sliced_indptr, counted, a.nnz)
        return data[places], indices[places] - a.begin[1]

    samples = (
        sample(
            (4,),
            np.array([0, 2, 3, 1]),
            np.array([0, 2, 3, 4]),
            np.array([0, 1, 2]),
            begin=(0, 1),
            end=(2, 4),
            nnz=2,
            dtypes=_TYPES,
        ),
        sample(
            (4,),
            np.array([0, 2, 3, 1]),
            np.array([0, 2, 3, 4]),
            np.array([0]),
            begin=(1, 0),
            end=(1, 4),
            nnz=0,
        ),
    )


# --- take ------------------------------------------------------------------------------


def _taken(a, xp, indptr, ids):
    """Return the rows `ids` and the indptr of their array."""
    rows = len(indptr) - 1
    ids = xp.clip(resolved(xp, ids, rows, a.mode), 0, max(rows - 1, 0))
    lengths = xp.diff(indptr)
    if (lengths < 0).any():
        raise MXNetError("indptr: must not decrease")
    return ids, _indptr(xp, lengths[ids])


@op("_csr_take_indptr", inputs="indptr ids")
class CsrTakeIndptr:
    """Compute the indptr of the rows `ids` of a csr array, as `take` along axis 0."""

    mode: _MODES = "clip"

    def infer(a, indptr, ids):
        indptr.fill("indptr", (-1,), INT64)
        require(indptr.shape[0] != 0, "indptr: must have at least one element")
        ids.fill("ids", (-1,))
        return Spec((ids.shape[0] + 1 if ids.shape[0] >= 0 else -1,), INT64)

    def ref(a, xp, indptr, ids):
        return _taken(a, xp, indptr, ids)[1]

    def samples():
        return (
            sample(csr_sample(7, 9)[2], np.array([6, 0, 9, -1, 3])),
            sample(csr_sample(7, 9)[2], np.array([6, 0, 9, -1, 3], "float32"), mode="wrap"),
            sample(csr_sample(7, 9)[2], np.array([], "int64"), mode="raise"),
        )


@op("_csr_take", inputs="data indices indptr ids taken_indptr", outputs="data indices")
class CsrTake:
    """Compute data and indices of the rows `ids` of a csr array.

    `taken_indptr` is the result of `_csr_take_indptr`, and `nnz` its last entry.
    """

    nnz: Long
    mode: _MODES = "clip"

    def infer(a, data, indices, indptr, ids, taken_indptr):
        require(a.nnz >= 0, f"nnz: must not be negative, got {a.nnz}")
        fill_csr(data, indices, indptr)
        ids.fill("ids", (-1,))
        taken_indptr.fill("taken_indptr", (ids.shape[0] + 1 if ids.shape[0] >= 0 else -1,), INT64)
        return Spec((a.nnz,), data.dtype), Spec((a.nnz,), INT64)

    def ref(a, xp, data, indices, indptr, ids, taken_indptr):
        rows, counted = _taken(a, xp, indptr, ids)
        _check_counted(taken_indptr, counted, a.nnz)
        if indptr[0] < 0 or indptr[-1] > len(data):
            raise MXNetError(f"indptr: must increase from 0 to at most {len(data)}")
        starts = xp.repeat(indptr[rows] - counted[:-1], xp.diff(counted))
        places = starts + xp.arange(a.nnz)
        return data[places], indices[places]

    samples = (
        sample(
            (4,),
            np.array([0, 2, 3, 1]),
            np.array([0, 2, 3, 4]),
            np.array([2, 0, 0]),
            np.array([0, 1, 3, 5]),
            nnz=5,
            dtypes=_TYPES,
        ),
        sample(
            (0,), np.array([], "int64"), np.array([0, 0]), np.array([0]), np.array([0, 0]), nnz=0
        ),
    )


# --- concatenation -------------------------------------------------------------------------------


@op("_csr_concat_indptr", inputs="", variadic="indptr", num_args="num_args")
class CsrConcatIndptr:
    """Concatenate the indptr of csr arrays stacked along rows."""

    num_args: Int

    def infer(a, ins):
        check_count(a, ins, "indptr")
        rows = 0
        for i, spec in enumerate(ins):
            spec.fill(f"indptr{i}", (-1,), INT64)
            require(spec.shape[0] != 0, f"indptr{i}: must have at least one element")
            rows = -1 if -1 in (rows, spec.shape[0]) else rows + spec.shape[0] - 1
        return Spec((rows + 1 if rows >= 0 else -1,), INT64)

    def ref(a, xp, parts):
        return _indptr(xp, xp.concatenate([xp.diff(indptr) for indptr in parts]))

    def samples():
        return (
            sample(csr_sample(7, 9)[2], csr_sample(3, 9)[2], csr_sample(0, 9)[2]),
            sample(csr_sample(7, 9)[2]),
        )
