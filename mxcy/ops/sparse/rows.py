"""Row ids, and operations that gather and sum rows by them."""

import numpy as np

from mxcy._base.errors import MXNetError
from mxcy.ops.core.attrs import Enum, Int, Long
from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.params import IDS
from mxcy.ops.core.record import op, sample, values
from mxcy.ops.indexing.indexing import resolved, sum_dtype
from mxcy.ops.shape.concat import check_count
from mxcy.ops.sparse.parts import INT64, check_rows, fill_rows, row_sparse_sample, sparse_native

__all__ = []

_ANY = ("float32", "float64", "int32", "int64", "uint8")
_FLOATS = ("float32", "float64", "float16", "bfloat16")
_MOVED = (*_FLOATS, "int32", "uint8")


def _padded(xp, part, length):
    out = xp.zeros(length, "int64")
    out[: len(part)] = part
    return out


def _ids_params(a, ins, outs):
    return {"extent": a.extent, "clips": a.mode == "clip"}


def _serial(a, ins, outs):
    """Return the cost of kernels that use a single thread."""
    return 0


def _rows_work(a, ins, outs):
    """Return the cost of reading and writing rows."""
    return ins[0].size + outs[0].size


def _count(a, ids):
    """Return the number of ids, -1 if unknown."""
    require(a.extent >= 0, f"extent: must not be negative, got {a.extent}")
    return ids.size if ids.shape is not None and -1 not in ids.shape else -1


# --- ids -----------------------------------------------------------------------------------------


@op("_unique_ids", inputs="ids", outputs="ids count")
class UniqueIds:
    """Return the sorted unique ids, padded with zeros, and their count.

    Ids out of bounds for `extent` are clipped, or raise in mode ``'raise'``.
    """

    extent: Long
    mode: Enum("clip", "raise") = "clip"

    def infer(a, ids):
        size = _count(a, ids)
        return Spec((size,), INT64), Spec((1,), INT64)

    def ref(a, xp, ids):
        distinct = xp.unique(xp.clip(resolved(xp, ids, a.extent, a.mode), 0, a.extent - 1))
        return _padded(xp, distinct, ids.size), xp.asarray([distinct.size])

    kernels = (
        sparse_native(
            "unique_ids",
            IDS,
            _ids_params,
            workspace=lambda a, ins, outs: 32 * ins[0].size,
            work=_serial,
        ),
    )
    samples = (
        sample(values(0, 9, (4, 6)), extent=9, dtypes=_ANY),
        sample(values(-5, 700, (4000,), "int64"), extent=600),
        sample(values(0, 10**12, (3000,), "int64"), extent=10**12, mode="raise"),
        sample((0,), extent=5),
    )


@op("_group_ids", inputs="ids", outputs="ids starts order count")
class GroupIds:
    """Return the sorted unique ids, and the positions of their occurrences.

    The i-th id occurs at the positions ``order[starts[i] : starts[i + 1]]``, in ascending order.
    The first `count` entries of `ids`, and ``count + 1`` of `starts`, are valid; others are zero.
    Ids out of bounds for `extent` are clipped, or raise in mode ``'raise'``.
    """

    extent: Long
    mode: Enum("clip", "raise") = "clip"

    def infer(a, ids):
        size = _count(a, ids)
        each = Spec((size,), INT64)
        starts = Spec((size + 1 if size >= 0 else -1,), INT64)
        return each, starts, Spec((size,), INT64), Spec((1,), INT64)

    def ref(a, xp, ids):
        ids = xp.clip(resolved(xp, ids, a.extent, a.mode), 0, a.extent - 1).reshape(-1)
        distinct, lengths = xp.unique(ids, return_counts=True)
        starts = xp.concatenate([[0], xp.cumsum(lengths)])
        return (
            _padded(xp, distinct, ids.size),
            _padded(xp, starts, ids.size + 1),
            xp.argsort(ids, kind="stable"),
            xp.asarray([distinct.size]),
        )

    kernels = (
        sparse_native(
            "group_ids",
            IDS,
            _ids_params,
            workspace=lambda a, ins, outs: 32 * ins[0].size,
            work=_serial,
        ),
    )
    samples = (
        sample(values(0, 9, (4, 6)), extent=9, dtypes=_ANY),
        sample(values(-5, 700, (4000,), "int64"), extent=600),
        sample(values(0, 10**12, (3000,), "int64"), extent=10**12, mode="raise"),
        sample(values(0, 50, (2000,), "float32"), extent=200000),
        sample((0,), extent=5),
    )


@op("_positions", inputs="ids among")
class Positions:
    """Return the position of each id in the ascending ids `among`; ``len(among)`` if absent."""

    def infer(a, ids, among):
        among.fill("among", (-1,), INT64)
        ids.fill("ids", dtype=INT64)
        return Spec(ids.shape, INT64)

    def ref(a, xp, ids, among):
        places = xp.searchsorted(among, ids)
        there = xp.append(among, [0])[places] == ids
        return xp.where(there & (places < len(among)), places, len(among))

    kernels = (sparse_native("positions"),)
    samples = (
        sample(values(0, 20, (4, 6), "int64"), np.array([0, 3, 4, 9, 17])),
        sample(values(0, 900, (500,), "int64"), np.arange(0, 900, 3)),
        sample(values(0, 9, (5,), "int64"), np.array([], "int64")),
    )


@op("_row_union", inputs="", variadic="indices", num_args="num_args", outputs="ids count")
class RowUnion:
    """Return the sorted union of ascending lists of ids, padded with zeros, and its count."""

    num_args: Int

    def infer(a, ins):
        check_count(a, ins, "indices")
        size = 0
        for i, spec in enumerate(ins):
            spec.fill(f"indices{i}", (-1,), INT64)
            size = -1 if -1 in (size, spec.shape[0]) else size + spec.shape[0]
        return Spec((size,), INT64), Spec((1,), INT64)

    def ref(a, xp, lists):
        for ids in lists:
            check_rows(xp, ids, int(ids.max()) + 1 if ids.size else 0)
        distinct = xp.unique(xp.concatenate(lists))
        return _padded(xp, distinct, sum(map(len, lists))), xp.asarray([distinct.size])

    kernels = (
        sparse_native("row_union", workspace=lambda a, ins, outs: outs[0].nbytes, work=_serial),
    )

    def samples():
        return (
            sample(np.array([1, 4, 7]), np.array([0, 4, 9])),
            sample(np.arange(500), np.arange(500), np.arange(500)),
            sample(*(row_sparse_sample(900, 300, seed=i)[1] for i in range(5))),
            sample(np.array([], "int64"), np.array([2])),
            sample(np.array([3, 5])),
        )


# --- rows ----------------------------------------------------------------------------------------


@op("_segment_sum", inputs="data order starts")
class SegmentSum:
    """Sum rows by segment: row i sums the rows ``order[starts[i] : starts[i + 1]]`` of data.

    Shapes: data (n, ...), order any length, starts (m + 1,), out (m, ...). Rows are added in the
    order given, those of half precision in float32.
    """

    def infer(a, data, order, starts):
        order.fill("order", (-1,), INT64)
        starts.fill("starts", (-1,), INT64)
        require(starts.shape[0] != 0, "starts: must have at least one element")
        if data.shape is None:
            return Spec(None, data.dtype)
        require(data.ndim > 0, "data: needs at least one dimension")
        return Spec((max(starts.shape[0] - 1, -1), *data.shape[1:]), data.dtype)

    def ref(a, xp, data, order, starts):
        lengths = xp.diff(starts)
        if starts[0] < 0 or (lengths < 0).any() or starts[-1] > len(order):
            raise MXNetError(f"starts: must increase from 0 to at most {len(order)}")
        chosen = order[starts[0] : starts[-1]]
        if chosen.size and (chosen.min() < 0 or chosen.max() >= len(data)):
            raise MXNetError(f"order: out of bounds for {len(data)} rows")
        out = xp.zeros((len(lengths), *data.shape[1:]), sum_dtype(data.dtype))
        xp.add.at(out, xp.repeat(xp.arange(len(lengths)), lengths), data[chosen])
        return out

    kernels = (sparse_native("segment_sum", work=_rows_work),)
    samples = (
        sample((6, 4), np.array([3, 0, 5, 1]), np.array([0, 2, 2, 4]), dtypes=(*_FLOATS, "int32")),
        sample((300, 70), values(0, 300, (500,), "int64"), np.arange(0, 501, 4), dtypes=_FLOATS),
        sample((5,), np.array([4, 4, 0]), np.array([0, 3])),
        sample((5, 2, 3), np.array([], "int64"), np.array([0, 0])),
    )


@op("_row_retain", inputs="data indices ids")
class RowRetain:
    """Return the rows `ids` of a row_sparse array; absent rows are zero.

    Shapes: data (n, ...), indices (n,) ascending, ids (m,) in any order, out (m, ...).
    """

    def infer(a, data, indices, ids):
        row = fill_rows(data, indices)
        ids.fill("ids", (-1,), INT64)
        return Spec(None if row is None else (*ids.shape, *row), data.dtype)

    def ref(a, xp, data, indices, ids):
        check_rows(xp, indices, int(indices.max()) + 1 if indices.size else 0)
        places = xp.searchsorted(indices, ids)
        there = (xp.append(indices, [0])[places] == ids) & (places < len(indices))
        out = xp.zeros((len(ids), *data.shape[1:]), data.dtype)
        out[there] = data[places[there]]
        return out

    kernels = (sparse_native("row_retain", work=_rows_work),)

    def samples():
        return (
            sample(*row_sparse_sample(9, 4, 3), np.array([0, 7, 2, 5, 8]), dtypes=_MOVED),
            sample(
                *row_sparse_sample(500, 300, 40), values(0, 500, (200,), "int64"), dtypes=_FLOATS
            ),
            sample(*row_sparse_sample(50, 50, 2, 2), np.arange(50)),
            sample(*row_sparse_sample(5, 0, 3), np.array([1, 1])),
            sample(*row_sparse_sample(9, 4), np.array([], "int64")),
        )


def _names(count):
    return ["ids", *(f"{part}{i}" for i in range(count) for part in ("data", "indices"))]


@op("_row_sum", inputs="", variadic="parts", num_args="num_args")
class RowSum:
    """Return the rows `ids` of the sum of row_sparse arrays.

    The inputs are the ascending `ids`, which include all stored rows, and data and indices of each
    array. Rows are added in the order of the arrays, half precision in float32.
    """

    num_args: Int

    def infer(a, ins):
        check_count(a, ins, "parts")
        require(len(ins) >= 3 and len(ins) % 2, f"parts: got {len(ins)}, expected an odd number")
        ids, parts = ins[0].fill("ids", (-1,), INT64), list(zip(ins[1::2], ins[2::2], strict=True))
        rows = [fill_rows(data, indices) for data, indices in parts]
        row = next((row for row in rows if row is not None), None)
        dtype = next((data.dtype for data, _ in parts if data.dtype is not None), None)
        for i, (data, indices) in enumerate(parts):
            data.fill(f"data{i}", None if row is None else (*indices.shape, *row), dtype)
        return Spec(None if row is None else (*ids.shape, *row), dtype)

    def ref(a, xp, parts):
        ids, arrays = parts[0], zip(parts[1::2], parts[2::2], strict=True)
        check_rows(xp, ids, int(ids.max()) + 1 if ids.size else 0)
        out = xp.zeros((len(ids), *parts[1].shape[1:]), sum_dtype(parts[1].dtype))
        for data, indices in arrays:
            check_rows(xp, indices, int(indices.max()) + 1 if indices.size else 0)
            places = xp.searchsorted(ids, indices)
            if (places == len(ids)).any() or (ids[places] != indices).any():
                raise MXNetError("parts: a stored row is missing in ids")
            out[places] += data
        return out

    kernels = (
        sparse_native(
            "row_sum",
            select=lambda ins, outs: outs[0].dtype,
            work=lambda a, ins, outs: sum(spec.size for spec in ins),
        ),
    )

    def samples():
        return (
            sample(
                np.arange(9),
                *row_sparse_sample(9, 4, 3),
                *row_sparse_sample(9, 5, 3, seed=1),
                dtypes=(*_FLOATS, "int32"),
            ),
            sample(
                np.arange(300),
                *row_sparse_sample(300, 90, 70),
                *row_sparse_sample(300, 40, 70),
                *row_sparse_sample(300, 300, 70),
            ),
            sample(np.arange(5), *row_sparse_sample(5, 5), *row_sparse_sample(5, 0)),
            sample(np.arange(5), *row_sparse_sample(5, 2, 2, 2)),
        )
