"""`mx.np` transpose, squeeze and broadcast_to."""

from mxcy._base.dtypes import name_of
from mxcy._base.errors import InvalidValueError
from mxcy.ops.core.attrs import Shape, ShapeOrNone
from mxcy.ops.core.infer import Spec, normal_axis, require
from mxcy.ops.core.quantized import Quantized
from mxcy.ops.core.record import op, sample
from mxcy.ops.shape.permute import permuted
from mxcy.ops.shape.reshape import MOVE
from mxcy.ops.shape.strided import loops, strided

__all__ = ["kept_spec", "normal_order"]


def kept_spec(spec):
    """Return the spec of a result that differs from the input in values only."""
    return Spec(spec.shape, spec.dtype)


def normal_order(axes, ndim):
    """Return the order of axes for `transpose`, reversed by default."""
    if axes is None:
        return tuple(range(ndim))[::-1]
    order = tuple(normal_axis(axis, ndim, "axes") for axis in axes)
    require(len(order) == ndim, f"axes: {axes} is not a permutation of {ndim} dimensions")
    if len(set(order)) != ndim:
        raise InvalidValueError(f"axes: repeated axis in {axes}")
    return order


@op("_npi_transpose", inputs="a", numpy="transpose permute_dims(a, axes=None)")
class Transpose:
    """Permute the axes of an array, by default in reverse order."""

    axes: ShapeOrNone = None

    quantized = Quantized("_npx_quantized_transpose")
    dtypes = ("float32", "float64", "int8", "bool")
    complexes = True
    samples = (
        sample((2, 3)),
        sample((2, 3, 4), axes=(1, -1, 0)),
        sample(()),
        sample((2, 0, 3), axes=(2, 1, 0), grad=False),
        sample((40, 37), grad=False),
    )
    kernels = (
        strided(lambda a, ins, outs: permuted(normal_order(a.axes, ins[0].ndim), ins, outs)),
    )

    def infer(a, data):
        if data.shape is None:
            return Spec(None, data.dtype)
        order = normal_order(a.axes, data.ndim)
        return Spec(tuple(data.shape[axis] for axis in order), data.dtype)

    def grad(a, F, g, specs):
        order = normal_order(a.axes, len(specs[0].shape))
        return F._npi_transpose(g, axes=tuple(map(order.index, range(len(order)))))

    def ref(a, xp, data):
        return xp.transpose(data, normal_order(a.axes, data.ndim))


@op("_npi_squeeze", inputs="a", identity=True, numpy="squeeze(a, axis=None, out=None)")
class Squeeze:
    """Remove axes of size 1: all of them, or those given."""

    axis: ShapeOrNone = None

    kernels = MOVE
    dtypes = ("float32", "int8", "bool")
    complexes = True
    samples = (
        sample((2, 1, 3, 1)),
        sample((2, 1, 3, 1), axis=(1,)),
        sample((1, 1), axis=(0, -1)),
        sample(()),
        sample((0, 1), grad=False),
    )

    def infer(a, data):
        shape = data.shape
        if shape is None:
            return Spec(None, data.dtype)
        if a.axis is None:
            require(-1 not in shape, f"a: expected a complete shape, got {shape}")
            return Spec(tuple(extent for extent in shape if extent != 1), data.dtype)
        if not shape and set(a.axis) <= {0, -1}:  # as NumPy
            return Spec((), data.dtype)
        gone = {normal_axis(axis, len(shape)) for axis in a.axis}
        for axis in gone:
            if shape[axis] not in (1, -1):
                raise InvalidValueError(
                    f"cannot select an axis to squeeze out which has size not equal to one: {shape}"
                )
        kept = tuple(extent for axis, extent in enumerate(shape) if axis not in gone)
        return Spec(kept, data.dtype)

    def grad(a, F, g, specs):
        return F._backward_reshape(g, shape=specs[0].shape)

    def ref(a, xp, data):
        return data.reshape(Squeeze.infer(a, [Spec(data.shape)])[0].shape)


def _aligned(shape, target):
    """Return element strides of an array of `shape` broadcast to `target`; 0 where repeated."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step if extent != 1 else 0)
        step *= extent
    strides += [0] * (len(target) - len(shape))
    return strides[::-1]


@op("_npi_broadcast_to", inputs="array", numpy="broadcast_to(array, shape)")
class BroadcastTo:
    """Broadcast an array along new axes and axes of size 1; -2 keeps an extent."""

    shape: Shape

    dtypes = ("float32", "float64", "int8", "bool")
    complexes = True
    samples = (
        sample((3, 1), shape=(2, 3, 4)),
        sample((), shape=(2, 2)),
        sample((2, 3), shape=(4, -2, -2)),
        sample((1, 3), shape=(0, 3), grad=False),
        sample((2, 3), shape=(2, 3)),
        sample((), shape=()),
    )
    kernels = (
        strided(lambda a, ins, outs: loops(outs[0].shape, _aligned(ins[0].shape, outs[0].shape))),
    )

    def infer(a, array):
        if array.shape is None:
            return Spec(None, array.dtype)
        target = a.shape or ()
        lead = len(target) - array.ndim
        require(lead >= 0, f"shape: {array.shape} cannot be broadcast to {target}")
        extents = tuple(
            array.shape[i - lead] if extent == -2 and i >= lead else extent
            for i, extent in enumerate(target)
        )
        for extent, wanted in zip(array.shape, extents[lead:], strict=True):
            require(
                extent in (1, -1, wanted), f"shape: {array.shape} cannot be broadcast to {target}"
            )
        require(min(extents, default=0) >= 0, f"shape: expected no negative sizes, got {target}")
        return Spec(extents, array.dtype)

    def grad(a, F, g, specs):
        shape = specs[0].shape
        (target,) = BroadcastTo.infer(a, [specs[0]])
        lead = len(target.shape) - len(shape)
        repeated = tuple(
            i + lead for i, n in enumerate(shape) if n == 1 and target.shape[i + lead] != 1
        )
        axes = (*range(lead), *repeated)
        if not axes:
            return g
        summed = F._npi_sum(g, axis=axes, dtype=name_of(target.dtype))
        return F._backward_reshape(summed, shape=shape)

    def ref(a, xp, array):
        return xp.broadcast_to(array, BroadcastTo.infer(a, [Spec(array.shape)])[0].shape)
