"""Operators on padded batches of sequences, and cumulative sums.

Time steps and sequences of a batch are the first two axes, in either order; `sequence_length` has
one entry per sequence.
"""

from math import prod

from mxcy._base import dtypes
from mxcy.ops.core.attrs import Bool, DType, Float, Int, IntOrNone, Shape
from mxcy.ops.core.infer import Spec, back_data, normal_axis, require
from mxcy.ops.core.params import SCAN, SEQUENCE
from mxcy.ops.core.record import native, op, sample, values
from mxcy.ops.indexing.indexing import index_bytes, integers, wide_bytes
from mxcy.ops.shape.strided import loops, strided, strides_of

__all__ = []

_WIDE = ("float32", "float64", "float16", "bfloat16", "int8", "int64")


def _sequence_arguments(a):
    return ("data", "sequence_length") if a.use_sequence_length else ("data",)


def _check(a, data, lengths, axes=(0, 1), steps=False):
    """Check axis and lengths, inferring unknowns; `steps` requires at least one step."""
    if lengths is not None and lengths.dtype is None:
        lengths.dtype = data.dtype
    require(a.axis in axes, f"axis: must be {' or '.join(map(str, axes))}, got {a.axis}")
    if data.shape is not None:
        require(data.ndim > 1, f"data: needs at least 2 dimensions, got {data.shape}")
        if steps:
            require(data.shape[a.axis] != 0, f"data: sequences without steps, {data.shape}")
        if lengths is not None:
            lengths.fill("sequence_length", (data.shape[1 - a.axis],))


def _kernel(name, shape_of=lambda a, ins, outs: ins[0].shape):
    """Return a kernel over a batch of shape ``whole(a, ins, outs)`` and its lengths."""

    def params(a, ins, outs):
        shape = shape_of(a, ins, outs)
        return {
            "steps": shape[a.axis],
            "batch": shape[1 - a.axis],
            "inner": prod(shape[2:]),
            "axis": a.axis,
            "value": getattr(a, "value", 0.0),
        }

    def when(a, ins, outs):
        return None if len(ins) > 1 else "no sequence_length"

    return native(
        name, struct=SEQUENCE, params=params, when=when, workspace=index_bytes(1), mixed=True
    )


def _without_lengths(a, ins, outs):
    return "sequence_length is given" if len(ins) > 1 else None


def _inside(xp, a, data, lengths):
    """Return a mask of the steps within each sequence's length, in the batch's layout."""
    steps, lengths = xp.arange(data.shape[a.axis]), integers(lengths)
    inside = steps[:, None] < lengths if a.axis == 0 else steps < lengths[:, None]
    return inside.reshape(inside.shape + (1,) * (data.ndim - 2))


@op(
    "SequenceMask",
    aliases=("_npx_sequence_mask",),
    inputs="data sequence_length?",
    names={"lengths": ("in", 1)},
)
class SequenceMask:
    """Set the steps beyond each sequence's length to `value`.

    Shapes: data (steps, batch, ...) for axis 0, (batch, steps, ...) for axis 1; sequence_length
    (batch,), only with `use_sequence_length`.
    """

    use_sequence_length: Bool = False
    value: Float = 0.0
    axis: Int = 0

    arguments = _sequence_arguments

    def infer(a, data, lengths=None):
        _check(a, data, lengths)
        return Spec(data.shape, data.dtype)

    infer_back = back_data

    def grad(a, F, g, lengths):
        if lengths is None:
            return g
        return F.SequenceMask(g, lengths, use_sequence_length=True, axis=a.axis)

    def ref(a, xp, data, lengths=None):
        if lengths is None:
            return xp.array(data)
        value = xp.asarray(a.value).astype(data.dtype)
        return xp.where(_inside(xp, a, data, lengths), data, value)

    kernels = (
        native("copy_strided", when=_without_lengths, inplace=True),
        _kernel("sequence_mask"),
    )
    samples = (
        sample((4, 3, 2), values(0, 6, (3,), "int32"), use_sequence_length=True, dtypes=_WIDE),
        sample((3, 4), values(0, 6, (3,), "int64"), use_sequence_length=True, value=-7.5, axis=1),
        sample((3, 2, 2)),
    )


def _last(xp, a, data, lengths):
    """Return the index of each sequence's last step."""
    steps = data.shape[a.axis]
    if lengths is None:
        return xp.full(data.shape[1 - a.axis], steps - 1)
    return xp.clip(integers(lengths), 1, steps) - 1


def _last_loops(a, ins, outs):
    shape = ins[0].shape
    strides = strides_of(shape)
    offset = (shape[a.axis] - 1) * strides[a.axis]
    return loops(outs[0].shape, _without(strides, a.axis), src_offset=offset)


def _without(entries, axis):
    return (*entries[:axis], *entries[axis + 1 :])


@op(
    "SequenceLast",
    aliases=("_npx_sequence_last",),
    inputs="data sequence_length?",
    names={"lengths": ("in", 1)},
)
class SequenceLast:
    """Return the last step of each sequence.

    Shapes: data (steps, batch, ...) for axis 0, (batch, steps, ...) for axis 1; sequence_length
    (batch,), only with `use_sequence_length`, with values from 1 to steps (others are clipped); out
    (batch, ...).
    """

    use_sequence_length: Bool = False
    axis: Int = 0

    arguments = _sequence_arguments

    def infer(a, data, lengths=None):
        _check(a, data, lengths, steps=True)
        return Spec(data.shape and _without(data.shape, a.axis), data.dtype)

    def grad(a, F, g, lengths, specs):
        shape = specs[0].shape
        if lengths is None:
            steps = shape[a.axis]
            cut = {"begin": (None,) * a.axis + (steps - 1,), "end": (None,) * a.axis + (steps,)}
            kept_shape = (*shape[: a.axis], 1, *shape[a.axis + 1 :])
            return F._backward_slice(F._backward_reshape(g, shape=kept_shape), **cut, shape=shape)
        return F._backward_SequenceLast(g, lengths, axis=a.axis, shape=shape)

    def ref(a, xp, data, lengths=None):
        batch = xp.arange(data.shape[1 - a.axis])
        last = _last(xp, a, data, lengths)
        return data[last, batch] if a.axis == 0 else data[batch, last]

    kernels = (strided(_last_loops, when=_without_lengths), _kernel("sequence_last"))
    samples = (
        sample((4, 3, 2), values(1, 5, (3,), "int32"), use_sequence_length=True, dtypes=_WIDE),
        sample((3, 4), values(0, 6, (3,), "int64"), use_sequence_length=True, axis=1),
        sample((3, 2, 2)),
        sample((3, 4), axis=1),
    )


@op("_backward_SequenceLast", inputs="grad sequence_length")
class SequenceLastGradient:
    """Scatter `grad` to the last step of each sequence in zeros of the given shape."""

    axis: Int
    shape: Shape

    def infer(a, grad, sequence_length):
        data = Spec(a.shape, grad.dtype)
        _check(a, data, sequence_length, steps=True)
        grad.fill("grad", _without(a.shape, a.axis))
        return data

    def grad(a, F, g, sequence_length):
        return F.SequenceLast(g, sequence_length, use_sequence_length=True, axis=a.axis)

    def ref(a, xp, grad, sequence_length):
        out = xp.zeros(a.shape, grad.dtype)
        batch, last = xp.arange(a.shape[1 - a.axis]), _last(xp, a, out, sequence_length)
        out[(last, batch) if a.axis == 0 else (batch, last)] = grad
        return out

    kernels = (_kernel("sequence_last_grad", lambda a, ins, outs: a.shape),)
    samples = (
        sample((3, 2), values(1, 5, (3,), "int32"), axis=0, shape=(4, 3, 2), dtypes=_WIDE),
        sample((3,), values(1, 5, (3,), "int64"), axis=1, shape=(3, 4)),
    )


def _reverse_loops(a, ins, outs):
    strides = strides_of(ins[0].shape)
    offset = max(ins[0].shape[0] - 1, 0) * strides[0]
    return loops(ins[0].shape, (-strides[0], *strides[1:]), src_offset=offset)


@op(
    "SequenceReverse",
    aliases=("_npx_sequence_reverse",),
    inputs="data sequence_length?",
    names={"lengths": ("in", 1)},
)
class SequenceReverse:
    """Reverse each sequence, leaving steps beyond its length in place.

    Shapes: data (steps, batch, ...), sequence_length (batch,), only with `use_sequence_length`.
    `axis` must be 0.
    """

    use_sequence_length: Bool = False
    axis: Int = 0

    arguments = _sequence_arguments

    def infer(a, data, lengths=None):
        _check(a, data, lengths, axes=(0,))
        return Spec(data.shape, data.dtype)

    infer_back = back_data

    def grad(a, F, g, lengths):
        return F.SequenceReverse(
            g, *() if lengths is None else (lengths,), use_sequence_length=a.use_sequence_length
        )

    def ref(a, xp, data, lengths=None):
        steps = xp.arange(data.shape[0])[:, None]
        if lengths is None:
            return data[::-1]
        lengths = xp.clip(integers(lengths), 0, data.shape[0])
        source = xp.where(steps < lengths, lengths - 1 - steps, steps)
        return data[source, xp.arange(data.shape[1])]

    kernels = (strided(_reverse_loops, when=_without_lengths), _kernel("sequence_reverse"))
    samples = (
        sample((4, 3, 2), values(0, 6, (3,), "int32"), use_sequence_length=True, dtypes=_WIDE),
        sample((4, 3), values(0, 5, (3,), "int64"), use_sequence_length=True),
        sample((3, 2, 2)),
    )


# --- cumulative sums -----------------------------------------------------------------------------


def _scanned(a, shape):
    """Return the axis to sum along and the shape it refers to, flattened for axis=None."""
    if a.axis is None:
        return 0, (-1 if -1 in shape else prod(shape),)
    return normal_axis(a.axis, len(shape)), shape


@op("_np_cumsum", aliases=("cumsum",), inputs="a", names={"data": ("in", 0)})
class CumSum:
    """Compute the cumulative sum along `axis` (flattened by default), in dtype `dtype`."""

    axis: IntOrNone = None
    dtype: DType(None, "float16", "float32", "float64", "int32", "int64", "int8") = None

    def infer(a, data):
        dtype = data.dtype if a.dtype is None else dtypes.code_of(a.dtype)
        return Spec(None if data.shape is None else _scanned(a, data.shape)[1], dtype)

    def grad(a, F, g, specs):
        axis, _ = _scanned(a, specs[0].shape)
        sums = F.reverse(F._np_cumsum(F.reverse(g, axis=axis), axis=axis), axis=axis)
        sums = F._backward_reshape(sums, shape=specs[0].shape)
        dtype = dtypes.name_of(specs[0].dtype)
        return sums if a.dtype in (None, dtype) else F.Cast(sums, dtype=dtype)

    def ref(a, xp, data):
        dtype = a.dtype or data.dtype
        return xp.cumsum(data, a.axis, dtype=dtype)

    def _params(a, ins, outs):
        axis, shape = _scanned(a, ins[0].shape)
        return {
            "outer": prod(shape[:axis]),
            "extent": shape[axis],
            "inner": prod(shape[axis + 1 :]),
        }

    def _same_dtype(a, ins, outs):
        if outs[0].dtype == dtypes.CODES["float16"]:
            return "each sum is rounded, as in NumPy"
        return None if ins[0].dtype == outs[0].dtype else "the element types differ"

    kernels = (
        native(
            "cumsum",
            struct=SCAN,
            params=_params,
            when=_same_dtype,
            workspace=lambda a, ins, outs: wide_bytes(outs[0]),
        ),
    )
    samples = (
        sample((3, 5), dtypes=("float32", "float64", "float16", "bfloat16", "int8", "int64")),
        sample((3, 5, 2), axis=1, dtypes=("float32", "float64", "float16", "int32")),
        sample((3, 5), axis=-1, dtype="float64"),
        sample((3, 5), axis=0, dtype="int32", grad=False),
    )
