"""Operators that join or split arrays along a dimension."""

from itertools import accumulate, pairwise
from math import prod

from mxcy.ops.core.attrs import Bool, Field, Int, Shape
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import (
    Spec,
    back_dtype,
    back_dtypes,
    normal_axis,
    numbered,
    require,
    same_dtype,
)
from mxcy.ops.core.params import BLOCKS
from mxcy.ops.core.quantized import Quantized
from mxcy.ops.core.record import by_onednn, native, op, register, sample
from mxcy.ops.core.stypes import rule
from mxcy.ops.sparse.rules import concatenated

__all__ = ["check_count", "join_specs"]

_ALL = ("float32", "float64", "float16", "bfloat16", "int8", "int64")


def check_count(a, ins, name="data"):
    """Require `num_args` inputs, at least one."""
    require(len(ins) >= 1, f"{name}: expected at least one array, got none")
    require(
        len(ins) == a.num_args, f"{name}: expected num_args={a.num_args} arrays, got {len(ins)}"
    )


def _names(ins):
    return [f"data{i}" for i in range(len(ins))]


def _agree(ins, shapes):
    """Infer the common shape of all inputs from `shapes`; None if all are unknown."""
    common = Spec()
    for spec, shape, name in zip(ins, shapes, _names(ins), strict=True):
        if shape is not None:
            Spec(spec.shape).fill(name, common.shape)
            common.fill(name, shape)
    if common.shape is not None:
        for spec, name in zip(ins, _names(ins), strict=True):
            spec.fill(name, common.shape)
    return common.shape


def _with(shape, axis, extent):
    return (*shape[:axis], extent, *shape[axis + 1 :])


def _without(shape, axis):
    return (*shape[:axis], *shape[axis + 1 :])


def _kernel(name, rows):
    """Return a kernel that copies blocks; ``rows(a, ins, outs)`` is the number per array."""
    return native(name, struct=BLOCKS, params=lambda a, ins, outs: {"rows": rows(a, ins, outs)})


# --- join ----------------------------------------------------------------------------------------


def join_specs(dim, ins):
    """Infer the shapes of arrays to join along a dimension; return the result's shape."""
    known = [spec for spec in ins if spec.shape is not None]
    if not known:
        return None
    axis = normal_axis(dim, known[0].ndim, "dim")
    others = _agree(ins, [spec.shape and _with(spec.shape, axis, -1) for spec in ins])
    extents = [spec.shape[axis] for spec in ins]
    return _with(others, axis, -1 if -1 in extents else sum(extents))


def _concat_infer(a, ins):
    check_count(a, ins)
    dtype = same_dtype(ins, _names(ins))
    return Spec(join_specs(a.dim, ins), dtype)


def _concat_back(a, ins, outs, most=1):
    """Infer inputs from the output; unknown extents along the dimension share the remainder."""
    back_dtypes(a, ins, outs)
    shape = outs[0].shape
    if shape is None:
        return
    axis = normal_axis(a.dim, len(shape), "dim")
    for spec, name in zip(ins, _names(ins), strict=True):
        spec.fill(name, _with(shape, axis, -1))
    extents = [spec.shape[axis] for spec in ins]
    unknown = [number for number, extent in enumerate(extents) if extent == -1]
    if shape[axis] == -1 or not 0 < len(unknown) <= most:
        return
    left = shape[axis] - sum(extents) - len(unknown)
    if left >= 0 and left % len(unknown) == 0:
        for number in unknown:
            ins[number].fill(_names(ins)[number], _with(shape, axis, left // len(unknown)))


def _rnn_param_back(a, ins, outs):
    """Infer weights of unknown input width, equal for both directions of the first layer."""
    _concat_back(a, ins, outs, most=2)


def _concat_grad(a, F, g, specs):
    if len(specs) == 1:
        return g
    axis = normal_axis(a.dim, specs[0].ndim)
    starts = accumulate((spec.shape[axis] for spec in specs[:-1]), initial=0)
    return F._split_v2(g, indices=tuple(starts), axis=axis)


def _concat_rows(a, ins, outs):
    return prod(outs[0].shape[: normal_axis(a.dim, outs[0].ndim)])


def _joins(rows):
    """The `joins` of a record whose kernel copies these rows."""
    return lambda a, ins, outs: rows(a, ins, outs) == 1


def _concat(name, aliases, doc, infer_back=_concat_back, stypes=(), quantized=None, amp=None):
    fields = (Field("num_args", Int), Field("dim", Int, 1))
    return register(
        name,
        aliases=aliases,
        fields=fields,
        inputs="",
        variadic="data",
        num_args="num_args",
        infer=_concat_infer,
        stypes=stypes,
        amp=amp,
        infer_back=infer_back,
        grad=_concat_grad,
        ref=lambda a, xp, arrays: xp.concatenate(arrays, a.dim),
        kernels=(_kernel("concat", _concat_rows), by_onednn(_kernel("concat", _concat_rows))),
        joins=_joins(_concat_rows),
        batched=lambda a, ins: range(len(ins)) if normal_axis(a.dim, ins[0].ndim) else (),
        complexes=True,
        quantized=quantized,
        samples=(
            sample((2, 3), (2, 4), (2, 1)),
            sample((2, 3), (4, 3), dim=0, dtypes=_ALL),
            sample((2, 3, 2), (2, 3, 5), dim=-1),
            sample((5, 1), (5, 1), dtypes=_ALL),
            sample((2, 0), (2, 3)),
            sample((3, 2)),
        ),
        doc=doc,
    )


def _rows_below(a, *specs):
    return a.dim in (0, -2)


_concat(
    "Concat",
    ("concat", "_sparse_concat", "_npi_concatenate"),
    """Concatenate arrays along dimension `dim`.

    Their dtypes and all other extents must agree.

    Raises
    ------
    MXNetError
        If shapes or dtypes do not match.
    """,
    stypes=(rule("csr... -> csr", concatenated, _rows_below),),
    quantized=Quantized("_contrib_quantized_concat"),
    amp="widest/either",
)
_concat(
    "_rnn_param_concat",
    ("_npi_rnn_param_concat",),
    "Concatenate the parameters of a recurrent layer, as Concat does.",
    _rnn_param_back,
)


@op("stack", aliases=("_npi_stack",), inputs="", variadic="data", num_args="num_args", amp="widest")
class Stack:
    """Stack arrays of the same shape along a new dimension `axis`."""

    axis: Int = 0
    num_args: Int

    infer_back = back_dtypes

    def infer(a, ins):
        check_count(a, ins)
        dtype = same_dtype(ins, _names(ins))
        shape = _agree(ins, [spec.shape for spec in ins])
        if shape is None:
            return Spec(None, dtype)
        axis = normal_axis(a.axis, len(shape) + 1)
        return Spec((*shape[:axis], len(ins), *shape[axis:]), dtype)

    def grad(a, F, g, specs):
        return F.SliceChannel(g, num_outputs=len(specs), axis=a.axis, squeeze_axis=True)

    def ref(a, xp, arrays):
        return xp.stack(arrays, a.axis)

    def rows(a, ins, outs):
        return prod(outs[0].shape[: normal_axis(a.axis, outs[0].ndim)])

    kernels = (_kernel("concat", rows),)
    joins = _joins(rows)
    complexes = True
    samples = (
        sample((2, 3), (2, 3)),
        sample((2, 3), (2, 3), (2, 3), axis=-1, dtypes=_ALL),
        sample((2, 3, 4), (2, 3, 4), axis=1),
        sample((), ()),
    )


# --- split ---------------------------------------------------------------------------------------


def _split_rows(a, ins, outs):
    return prod(ins[0].shape[: normal_axis(a.axis, ins[0].ndim)])


_SPLIT = (_kernel("split", _split_rows),)


def _joined(F, g, a, ndim):
    """Return the gradient of a split array from those of its parts."""
    if not isinstance(g, list):
        g = [g]
    if a.squeeze_axis:
        return F.stack(*g, axis=normal_axis(a.axis, ndim))
    return F.Concat(*g, dim=a.axis)


@op(
    "SliceChannel",
    aliases=("split", "_npx_slice_channel"),
    in_symbols=InSymbols(named_input=True, named=True),
)
class SliceChannel:
    """Split an array into `num_outputs` equal parts along `axis`.

    With `squeeze_axis` the parts must have extent 1 there, and the dimension is removed.

    Raises
    ------
    MXNetError
        If the extent is not a multiple of `num_outputs`, or not equal to it with `squeeze_axis`.
    """

    num_outputs: Int
    axis: Int = 1
    squeeze_axis: Bool = False

    def outputs(a):
        return numbered(a.num_outputs, "num_outputs")

    def infer_back(a, ins, outs):
        """Infer the extent along the axis, the sum over all parts."""
        back_dtype(a, ins, outs)
        part = Spec()
        for number, spec in enumerate(outs):
            part.fill(f"output {number}", spec.shape)
        if part.shape is None:
            return
        if a.squeeze_axis:
            axis = normal_axis(a.axis, part.ndim + 1)
            shape = (*part.shape[:axis], a.num_outputs, *part.shape[axis:])
        else:
            axis = normal_axis(a.axis, part.ndim)
            extent = part.shape[axis]
            shape = _with(part.shape, axis, -1 if extent == -1 else extent * a.num_outputs)
        ins[0].fill("data", shape)

    def infer(a, data):
        n = len(numbered(a.num_outputs, "num_outputs"))
        if data.shape is None:
            return [Spec(None, data.dtype) for _ in range(n)]
        axis = normal_axis(a.axis, data.ndim)
        extent = data.shape[axis]
        require(
            extent % n == 0 or extent == -1,
            f"num_outputs: dimension {axis} of {data.shape} cannot be cut into {n} equal parts",
        )
        if a.squeeze_axis:
            require(
                extent in (n, -1),
                f"squeeze_axis: dimension {axis} of {data.shape} must have size {n}",
            )
            shape = _without(data.shape, axis)
        else:
            shape = _with(data.shape, axis, -1 if extent == -1 else extent // n)
        return [Spec(shape, data.dtype) for _ in range(n)]

    def grad(a, F, g, specs):
        return _joined(F, g, a, specs[0].ndim)

    def ref(a, xp, data):
        parts = xp.split(data, a.num_outputs, a.axis)
        return [xp.squeeze(part, a.axis) for part in parts] if a.squeeze_axis else parts

    kernels = _SPLIT
    complexes = True
    samples = (
        sample((4, 6), num_outputs=3),
        sample((4, 2, 3), num_outputs=2, axis=-2, squeeze_axis=True, dtypes=_ALL),
        sample((4, 3), num_outputs=3, axis=-1, dtypes=_ALL),
        sample((2, 3), num_outputs=1, axis=0),
    )


def _part_count(a):
    return a.sections if a.sections > 0 else len(a.indices)


def _bounds(a, extent):
    """Return the start and end of the parts of a dimension."""
    if a.sections > 0:
        size, larger = divmod(extent, a.sections)
        sizes = [size + 1] * larger + [size] * (a.sections - larger)
        return list(pairwise(accumulate(sizes, initial=0)))
    require(a.indices and a.indices[0] == 0, f"indices: the first must be 0, got {a.indices}")
    bounds = list(pairwise((*a.indices, extent)))
    for begin, end in bounds:
        require(
            0 <= begin <= end <= extent,
            f"indices: {a.indices} are not ascending positions in a dimension of size {extent}",
        )
    return bounds


@op(
    "_split_v2",
    aliases=("_npi_split", "_npi_array_split", "_npi_dsplit"),
    in_symbols=InSymbols(named_input=True),
)
class SplitV2:
    """Split an array along `axis` at `indices`, or into `sections` parts.

    `indices` are the start positions of the parts, the first being 0. If `sections` does not divide
    the extent, the first parts are larger by one. With `squeeze_axis` the dimension is removed from
    parts of size 1.
    """

    indices: Shape
    axis: Int = 1
    squeeze_axis: Bool = False
    sections: Int = 0

    def outputs(a):
        return numbered(_part_count(a), "sections")

    infer_back = back_dtype

    def infer(a, data):
        n = len(numbered(_part_count(a), "sections"))
        if data.shape is None:
            return [Spec(None, data.dtype) for _ in range(n)]
        axis = normal_axis(a.axis, data.ndim)
        if data.shape[axis] == -1:
            extents = [-1] * n
        else:
            extents = [end - begin for begin, end in _bounds(a, data.shape[axis])]
        if a.squeeze_axis:
            require(
                all(extent in (1, -1) for extent in extents),
                f"squeeze_axis: the parts have sizes {extents}, expected 1",
            )
            return [Spec(_without(data.shape, axis), data.dtype) for _ in range(n)]
        return [Spec(_with(data.shape, axis, extent), data.dtype) for extent in extents]

    def grad(a, F, g, specs):
        return _joined(F, g, a, specs[0].ndim)

    def ref(a, xp, data):
        bounds = _bounds(a, data.shape[a.axis])
        parts = [xp.take(data, xp.arange(begin, end), a.axis) for begin, end in bounds]
        return [xp.squeeze(part, a.axis) for part in parts] if a.squeeze_axis else parts

    kernels = _SPLIT
    complexes = True
    samples = (
        sample((3, 7), indices=(0, 2, 5)),
        sample((3, 7), indices=(), sections=3),
        sample((3, 2, 2), indices=(0, 1), axis=-2, squeeze_axis=True),
        sample((5, 2), indices=(0, 0, 3), axis=0, dtypes=_ALL),
    )
