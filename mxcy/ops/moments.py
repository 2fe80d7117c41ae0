"""Mean and variance in one operator."""

from math import prod

from mxcy.ops.attrs import Bool, ShapeOrNone
from mxcy.ops.infer import Spec, normal_axes, require
from mxcy.ops.record import op, sample

__all__ = []


def _reduced(a, shape):
    axes = normal_axes(a.axes, len(shape), "axes")
    if a.keepdims:
        return tuple(1 if i in axes else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in axes) or (1,)


@op("moments", outputs="mean var", names={"centre": ("out", 0)})
class Moments:
    """Mean and variance over the dimensions `axes`.

    Raises
    ------
    MXNetError
        When no axes are given.
    """

    axes: ShapeOrNone = None
    keepdims: Bool = False

    def infer(a, data):
        require(
            a.axes, "axes: must be given; list every dimension for the moments of the whole array"
        )
        shape = None if data.shape is None else _reduced(a, data.shape)
        return Spec(shape, data.dtype), Spec(shape, data.dtype)

    def grad(a, F, g, data, centre, specs):
        shape = specs[0].shape
        axes = normal_axes(a.axes, len(shape))
        kept = tuple(1 if i in axes else n for i, n in enumerate(shape))
        count = prod(shape[i] for i in axes)
        mean, for_mean, for_var = (F._backward_reshape(x, shape=kept) for x in (centre, *g))
        spread = F.broadcast_mul(F.broadcast_sub(data, mean), for_var) * 2.0
        return F.broadcast_add(spread, for_mean) / count

    def ref(a, xp, data):
        axes = normal_axes(a.axes, data.ndim)
        mean = data.mean(axes, keepdims=True).astype(data.dtype)
        var = ((data - mean) ** 2).mean(axes).astype(data.dtype)
        shape = _reduced(a, data.shape)
        return mean.reshape(shape), var.reshape(shape)

    samples = (
        sample((3, 4), axes=(0,)),
        sample((3, 4, 2), axes=(-1, 0), keepdims=True),
        sample((3, 4), axes=(0, 1)),
    )
