"""Slicing operators, and assignment to slices."""

from mxcy.ops.core.attrs import Bool, Bounds, Double, Dynamic, Int, IntOrNone, Shape
from mxcy.ops.core.infer import (
    Spec,
    back_data,
    back_dtype,
    normal_axes,
    normal_axis,
    require,
    same_dtype,
    whole_shape,
)
from mxcy.ops.core.record import op, sample
from mxcy.ops.shape.strided import BASE, FILL, SCALAR, loops, strided, strides_of, walk
from mxcy.ops.sparse.rules import sliced

__all__ = []

_NARROW = ("float32", "float16", "bfloat16", "int8", "int64", "bool")


# --- slice ---------------------------------------------------------------------------------------


def _ranges(a, shape):
    """Return a Python range of indices per dimension; None if the extent is unknown."""
    n = len(a.begin)
    require(n <= len(shape), f"begin: {a.begin} has more entries than {shape} has dimensions")
    require(len(a.end) == n, f"begin {a.begin} and end {a.end} differ in length")
    step = () if a.step == (None,) else a.step  # a single None is the default
    require(len(step) in (0, n), f"begin {a.begin} and step {a.step} differ in length")
    require(0 not in a.step, f"step: must not be zero, got {a.step}")
    missing = len(shape) - n
    cuts = map(slice, a.begin, a.end, step or (None,) * n)
    cuts = [*cuts, *[slice(None)] * missing]
    return [
        None if extent == -1 else range(*cut.indices(extent))
        for cut, extent in zip(cuts, shape, strict=True)
    ]


def _lengths(ranges):
    return tuple(-1 if indices is None else len(indices) for indices in ranges)


def _box(ranges, shape):
    """Return extents, strides and offset of the elements of `shape` at `ranges`."""
    offset, strides = walk(shape, [r.start for r in ranges], [r.step for r in ranges])
    return _lengths(ranges), strides, offset


def _cut(a, shape):
    return tuple(
        slice(r.start, r.stop if r.stop >= 0 else None, r.step) if r else slice(0)
        for r in _ranges(a, shape)
    )


def _read_loops(ranges_of):
    def params(a, ins, outs):
        shape, strides, offset = _box(ranges_of(a, ins[0].shape, outs[0].shape), ins[0].shape)
        return loops(shape, strides, src_offset=offset)

    return (strided(params),)


def _slice_params(a):
    return {"begin": a.begin, "end": a.end, "step": a.step}


@op("slice", aliases=("crop", "_sparse_slice", "_npi_slice", "_npx_slice"))
class Slice:
    """Slice the first dimensions by ``begin:end:step``, as Python does.

    The three lists have one entry per sliced dimension; None stands for the default.

    Raises
    ------
    MXNetError
        If the lists differ in length or are longer than the shape, or a step is zero.
    """

    begin: Bounds
    end: Bounds
    step: Bounds = ()

    infer_back = back_dtype

    def infer(a, data):
        if data.shape is None:
            return Spec(None, data.dtype)
        return Spec(_lengths(_ranges(a, data.shape)), data.dtype)

    def grad(a, F, g, specs):
        return F._backward_slice(g, **_slice_params(a), shape=specs[0].shape)

    def ref(a, xp, data):
        return data[_cut(a, data.shape)]

    stypes = (sliced(_ranges),)
    kernels = _read_loops(lambda a, whole, part: _ranges(a, whole))
    complexes = True
    samples = (
        sample((3, 4), begin=(0, 1), end=(2, 4)),
        sample((5, 6), begin=(None, 0), end=(None, 5), step=(-1, 2)),
        sample((5, 4), begin=(1,), end=(None,), dtypes=_NARROW),
        sample((5, 4), begin=(-9, -2), end=(9, None)),
        sample((5, 4), begin=(4, 3), end=(-9, 0), step=(-2, -1)),
        sample((3, 4), begin=(2,), end=(1,)),
        sample((3, 4), begin=(), end=()),
    )


def _fill_params(a, ins, outs):
    shape, strides, offset = _box(_ranges(a, outs[0].shape), outs[0].shape)
    return loops(shape, strides_of(shape), strides, dst_offset=offset, before=FILL)


@op("_backward_slice")
class SliceGradient:
    """Write `data` to ``begin:end:step`` of zeros of the given shape."""

    begin: Bounds
    end: Bounds
    step: Bounds = ()
    shape: Shape

    def infer(a, data):
        data.fill("data", _lengths(_ranges(a, whole_shape(a.shape))))
        return Spec(a.shape, data.dtype)

    def grad(a, F, g):
        return F.slice(g, **_slice_params(a))

    def ref(a, xp, data):
        out = xp.zeros(a.shape, data.dtype)
        out[_cut(a, a.shape)] = data
        return out

    kernels = (strided(_fill_params),)
    complexes = True
    samples = (sample((2, 3), begin=(None, 1), end=(1, 7), step=(-2, 2), shape=(5, 6)),)


def _axis_range(a, shape):
    """Return (axis, begin, end) of slice_axis for a shape."""
    axis = normal_axis(a.axis, len(shape))
    extent = shape[axis]
    if extent == -1:
        return axis, None, None
    begin = a.begin + extent if a.begin < 0 else a.begin
    end = extent if a.end is None else a.end + extent if a.end < 0 else a.end
    require(
        0 <= begin < end <= extent,
        f"begin, end: {a.begin}:{a.end} does not lie in dimension {axis} of {shape}, or is empty",
    )
    return axis, begin, end


def _axis_ranges(a, shape, part):
    axis, begin, end = _axis_range(a, shape)
    return [range(begin, end) if i == axis else range(n) for i, n in enumerate(shape)]


@op("slice_axis")
class SliceAxis:
    """Slice one dimension by ``begin:end``; negative positions count from its end.

    Raises
    ------
    MXNetError
        If the range is empty or out of bounds.
    """

    axis: Int
    begin: Int
    end: IntOrNone

    infer_back = back_dtype

    def infer(a, data):
        if data.shape is None:
            return Spec(None, data.dtype)
        axis, begin, end = _axis_range(a, data.shape)
        shape = list(data.shape)
        shape[axis] = -1 if begin is None else end - begin
        return Spec(tuple(shape), data.dtype)

    def grad(a, F, g, specs):
        shape = specs[0].shape
        axis, begin, end = _axis_range(a, shape)
        skipped = (None,) * axis
        return F._backward_slice(g, begin=(*skipped, begin), end=(*skipped, end), shape=shape)

    def ref(a, xp, data):
        axis, begin, end = _axis_range(a, data.shape)
        return xp.take(data, xp.arange(begin, end), axis)

    kernels = _read_loops(_axis_ranges)
    complexes = True
    samples = (
        sample((3, 4), axis=1, begin=1, end=3),
        sample((3, 4), axis=-1, begin=-2, end=None),
        sample((3, 4, 2), axis=0, begin=0, end=-1, dtypes=_NARROW),
    )


def _like_shape(a, data, like):
    """Return the shape of `data` with the extents of `like` along the chosen dimensions."""
    require(
        a.axes or len(data) == len(like),
        f"shape_like: {like} and data {data} differ in their number of dimensions",
    )
    shape = list(data)
    for axis in normal_axes(a.axes, len(data), "axes") if a.axes else range(len(data)):
        require(axis < len(like), f"axes: {axis} is out of bounds for shape_like {like}")
        require(
            like[axis] <= data[axis] or -1 in (like[axis], data[axis]),
            f"shape_like: dimension {axis} of {like} is larger than that of {data}",
        )
        shape[axis] = like[axis]
    return tuple(shape)


@op("slice_like", aliases=("_npx_slice_like",), inputs="data shape_like", ignores=("shape_like",))
class SliceLike:
    """Slice `data` from the origin to the extents of `shape_like`.

    `axes` are the dimensions to slice, all by default.
    """

    axes: Shape = ()

    infer_back = back_dtype

    def infer(a, data, shape_like):
        if data.shape is None or shape_like.shape is None:
            return Spec(None, data.dtype)
        return Spec(_like_shape(a, data.shape, shape_like.shape), data.dtype)

    def grad(a, F, g, specs):
        end = _like_shape(a, specs[0].shape, specs[1].shape)
        return F._backward_slice(g, begin=(0,) * len(end), end=end, shape=specs[0].shape)

    def ref(a, xp, data, shape_like):
        return data[tuple(map(slice, _like_shape(a, data.shape, shape_like.shape)))]

    kernels = _read_loops(lambda a, whole, part: [range(n) for n in part])
    complexes = True
    samples = (sample((3, 4), (2, 3)), sample((3, 4), (2, 3, 9), axes=(-1,)))


# --- assignment ----------------------------------------------------------------------------------


def _write_params(source, scalar):
    def params(a, ins, outs):
        shape, strides, offset = _box(_ranges(a, outs[0].shape), outs[0].shape)
        src = strides_of(shape) if source == 1 else [0] * len(shape)
        return loops(
            shape, src, strides, dst_offset=offset, before=BASE, source=source, scalar=scalar
        )

    return (strided(params, inplace=True),)


@op("_slice_assign", aliases=("_crop_assign", "_npi_slice_assign"), inputs="lhs rhs")
class SliceAssign:
    """Assign `rhs` to ``begin:end:step`` of a copy of `lhs`."""

    begin: Bounds
    end: Bounds
    step: Bounds = ()

    def infer(a, lhs, rhs):
        dtype = same_dtype((lhs, rhs), ("lhs", "rhs"))
        if lhs.shape is not None:
            rhs.fill("rhs", _lengths(_ranges(a, lhs.shape)))
        return Spec(lhs.shape, dtype)

    def grad(a, F, g):
        return F._slice_assign_scalar(g, scalar=0, **_slice_params(a)), F.slice(
            g, **_slice_params(a)
        )

    def ref(a, xp, lhs, rhs):
        out = xp.array(lhs)
        out[_cut(a, lhs.shape)] = rhs
        return out

    kernels = _write_params(source=1, scalar=0.0)
    complexes = True
    samples = (
        sample((3, 4), (2, 2), begin=(0, 1), end=(2, 3)),
        sample((5, 4), (3, 4), begin=(None,), end=(None,), step=(-2,), dtypes=_NARROW),
        sample((3, 4), (0, 4), begin=(1,), end=(1,)),
    )


@op("_slice_assign_scalar", aliases=("_crop_assign_scalar", "_npi_slice_assign_scalar"))
class SliceAssignScalar:
    """Assign a scalar to ``begin:end:step`` of a copy of `data`."""

    scalar: Dynamic(Double) = 0.0
    begin: Bounds
    end: Bounds
    step: Bounds = ()

    def infer(a, data):
        if data.shape is not None:
            _ranges(a, data.shape)
        return Spec(data.shape, data.dtype)

    infer_back = back_data

    def grad(a, F, g):
        return F._slice_assign_scalar(g, scalar=0, **_slice_params(a))

    def ref(a, xp, data):
        out = xp.array(data)
        out[_cut(a, data.shape)] = a.scalar
        return out

    kernels = _write_params(source=SCALAR, scalar=None)
    complexes = True
    samples = (
        sample((3, 4), begin=(0, 1), end=(2, 3), scalar=2.5),
        sample((5, 4), begin=(None, 0), end=(None, None), step=(-2, 3), scalar=3, dtypes=_NARROW),
    )


# --- Crop ----------------------------------------------------------------------------------------


def _crop_box(a, shapes):
    """Return offsets and extents of Crop's rectangle."""
    require(
        0 < len(shapes) == a.num_args <= 2,
        f"num_args: must be 1 or 2, got {a.num_args} for {shapes}",
    )
    data = shapes[0]
    require(all(len(shape) == 4 for shape in shapes), f"data: needs 4 dimensions, got {shapes}")
    size = shapes[1][2:] if len(shapes) == 2 else a.h_w
    require(
        len(size) == 2 and all(1 <= n <= extent for n, extent in zip(size, data[2:], strict=True)),
        f"h_w: cannot cut a rectangle of {tuple(size)} out of {data}",
    )
    if a.center_crop:
        offset = tuple((extent - n) // 2 for n, extent in zip(size, data[2:], strict=True))
    else:
        offset = a.offset
    require(len(offset) == 2, f"offset: expected (y, x), got {offset}")
    fits = zip(offset, size, data[2:], strict=True)
    require(
        all(0 <= start <= extent - n for start, n, extent in fits),
        f"offset: a rectangle of {tuple(size)} at {offset} leaves {data}",
    )
    return offset, tuple(size)


def _crop_bounds(a, shapes):
    (top, left), (height, width) = _crop_box(a, shapes)
    return (None, None, top, left), (None, None, top + height, left + width)


def _crop_loops(a, ins, outs):
    (top, left), _ = _crop_box(a, [spec.shape for spec in ins])
    offset, strides = walk(ins[0].shape, (0, 0, top, left), (1,) * 4)
    return loops(outs[0].shape, strides, src_offset=offset)


@op("Crop", inputs="", variadic="data", num_args="num_args")
class Crop:
    """Crop the last two dimensions of images (batch, channel, height, width).

    The crop has the size of the second array, or `h_w`; it starts at `offset`, or is centred with
    `center_crop`.
    """

    num_args: Int
    offset: Shape = (0, 0)
    h_w: Shape = (0, 0)
    center_crop: Bool = False

    def infer(a, ins):
        shapes = [spec.shape for spec in ins]
        require(ins, "data: expected an image, and optionally one with the size to crop to")
        if any(shape is None or -1 in shape for shape in shapes):
            return Spec((-1,) * 4, ins[0].dtype)
        _, size = _crop_box(a, shapes)
        return Spec((*shapes[0][:2], *size), ins[0].dtype)

    def grad(a, F, g, specs):
        begin, end = _crop_bounds(a, [spec.shape for spec in specs])
        return F._backward_slice(g, begin=begin, end=end, shape=specs[0].shape)

    def ref(a, xp, arrays):
        begin, end = _crop_bounds(a, [array.shape for array in arrays])
        return arrays[0][tuple(map(slice, begin, end))]

    kernels = (strided(_crop_loops),)
    complexes = True
    samples = (
        sample((1, 2, 4, 5), h_w=(2, 2), offset=(1, 2)),
        sample((1, 2, 4, 5), (1, 1, 3, 2), center_crop=True),
    )
