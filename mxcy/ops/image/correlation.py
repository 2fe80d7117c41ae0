"""Correlation of patches of two images, for optical flow networks.

Definition: Dosovitskiy et al. (2015), FlowNet.
"""

from mxcy.ops.convolution.windows import padded
from mxcy.ops.core.attrs import Bool, Field, UInt
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec, infer_gradients, require, same_dtype
from mxcy.ops.core.params import CORRELATION
from mxcy.ops.core.record import native, no_rule, op, register, sample
from mxcy.ops.norm.batch import require_float

__all__ = []

_FIELDS = (
    Field("kernel_size", UInt, 1),
    Field("max_displacement", UInt, 1),
    Field("stride1", UInt, 1),
    Field("stride2", UInt, 1),
    Field("pad_size", UInt, 0),
    Field("is_multiply", Bool, True),
)


def _radius(a):
    """Return the number of displacements on each side."""
    return a.max_displacement // a.stride2


def _extents(a, spatial):
    """Return height and width of the result; -1 if unknown."""
    border = a.max_displacement + (a.kernel_size - 1) // 2
    extents = [
        -1 if n == -1 else -((2 * border - n - 2 * a.pad_size) // a.stride1) for n in spatial
    ]
    require(
        all(n == -1 or n > 0 for n in extents),
        f"data1: {tuple(spatial)} is too small for max_displacement {a.max_displacement} and "
        f"kernel_size {a.kernel_size} with pad_size {a.pad_size}",
    )
    return extents


def _shape(a, data1, data2):
    dtype = same_dtype((data1, data2), ("data1", "data2"))
    require_float(data1, "data1")
    require(a.kernel_size % 2 == 1, f"kernel_size: expected an odd number, got {a.kernel_size}")
    require(a.stride1 > 0 and a.stride2 > 0, "stride1, stride2: expected positive numbers")
    data1.fill("data1", (-1, -1, -1, -1))
    data2.fill("data2", data1.shape)
    data1.fill("data1", data2.shape)
    spatial = _extents(a, data1.shape[2:])
    return Spec((data1.shape[0], (2 * _radius(a) + 1) ** 2, *spatial), dtype)


def _pairs(a, extents):
    """Yield each displacement's index, and the matching slices of both padded images."""
    radius, reach = _radius(a), a.max_displacement
    side = range(-radius, radius + 1)
    for number, (dy, dx) in enumerate((dy, dx) for dy in side for dx in side):
        for tap in range(a.kernel_size**2):
            first, second = [], []
            moves = dy * a.stride2, dx * a.stride2
            for n, k, move in zip(extents, divmod(tap, a.kernel_size), moves, strict=True):
                begin = reach + k
                end = begin + (n - 1) * a.stride1 + 1
                first.append(slice(begin, end, a.stride1))
                second.append(slice(begin + move, end + move, a.stride1))
            yield number, (..., *first), (..., *second)


def _forward(a, xp, data1, data2):
    extents = _extents(a, data1.shape[2:])
    lhs, rhs = (padded(xp, data, (a.pad_size,) * 2) for data in (data1, data2))
    out = xp.zeros((len(data1), (2 * _radius(a) + 1) ** 2, *extents), data1.dtype)
    for number, first, second in _pairs(a, extents):
        x, y = lhs[first], rhs[second]
        out[:, number] += (x * y if a.is_multiply else abs(x - y)).sum(1)
    return out / (a.kernel_size**2 * data1.shape[1])


def _backward(a, xp, grads, data1, data2):
    lhs, rhs = (padded(xp, data, (a.pad_size,) * 2) for data in (data1, data2))
    by_lhs, by_rhs = xp.zeros_like(lhs), xp.zeros_like(rhs)
    grads = grads / (a.kernel_size**2 * data1.shape[1])
    for number, first, second in _pairs(a, grads.shape[2:]):
        g, x, y = grads[:, number : number + 1], lhs[first], rhs[second]
        if a.is_multiply:
            by_lhs[first] += g * y
            by_rhs[second] += g * x
        else:
            sign = xp.where(x >= y, g, -g)
            by_lhs[first] += sign
            by_rhs[second] -= sign
    inner = tuple(slice(a.pad_size, a.pad_size + n) for n in data1.shape[2:])
    return by_lhs[(..., *inner)], by_rhs[(..., *inner)]


def _row(a, width):
    """Return the size of a padded row, stored in `stride1` parts."""
    return (width + 2 * a.pad_size + a.stride1 - 1) // a.stride1 * a.stride1


def _kernel(name, images, result):
    """Return the native kernel; `images` and `result` select the Specs of image 1 and result."""

    def params(a, ins, outs):
        data, out = images(ins, outs), result(ins, outs)
        return {
            "batch": data.shape[0],
            "channels": data.shape[1],
            "source": data.shape[2:],
            "target": out.shape[2:],
            "kernel": a.kernel_size,
            "reach": a.max_displacement,
            "stride1": a.stride1,
            "stride2": a.stride2,
            "pad": a.pad_size,
            "radius": _radius(a),
            "row": _row(a, data.shape[3]),
            "multiply": a.is_multiply,
        }

    def workspace(a, ins, outs):
        # Both padded images and their gradients; a vector may be read beyond the end.
        data = images(ins, outs)
        size = data.shape[1] * (data.shape[2] + 2 * a.pad_size) * _row(a, data.shape[3])
        return (4 if len(outs) > 1 else 2) * size * (data.nbytes // max(data.size, 1)) + 64

    def work(a, ins, outs):
        data, out = images(ins, outs), result(ins, outs)
        return out.size * data.shape[1] * a.kernel_size**2 // 8

    return native(name, struct=CORRELATION, params=params, workspace=workspace, work=work)


@op("Correlation", inputs="data1 data2", in_symbols=InSymbols(named=True, listed=3), amp="widest")
class Correlation:
    """Correlate each patch of an image with displaced patches of another image.

    The patches are `kernel_size` wide; every `stride1`-th place of the first image, surrounded by
    `pad_size` zeros, is compared at displacements of at most `max_displacement` in steps of
    `stride2`. The result is the mean of products, or of absolute differences unless `is_multiply`,
    over the patch and all channels.

    Shapes: data1 and data2 (batch, channels, height, width); out (batch, displacements, rows,
    columns), where displacements go row by row.

    Raises
    ------
    MXNetError
        If `kernel_size` is even or the result is empty.
    """

    kernel_size: UInt = 1
    max_displacement: UInt = 1
    stride1: UInt = 1
    stride2: UInt = 1
    pad_size: UInt = 0
    is_multiply: Bool = True

    samples = (
        sample((2, 3, 5, 6), (2, 3, 5, 6)),
        sample(
            (1, 2, 7, 22),
            (1, 2, 7, 22),
            kernel_size=3,
            max_displacement=2,
            stride1=2,
            stride2=2,
            pad_size=3,
        ),
        sample((2, 3, 5, 5), (2, 3, 5, 5), max_displacement=4, stride2=2, pad_size=4),
        sample(
            (1, 2, 8, 7),
            (1, 2, 8, 7),
            kernel_size=3,
            max_displacement=2,
            stride2=1,
            stride1=3,
            pad_size=2,
            is_multiply=False,
        ),
    )
    kernels = (_kernel("correlation", lambda ins, outs: ins[0], lambda ins, outs: outs[0]),)

    def infer(a, data1, data2):
        return _shape(a, data1, data2)

    def grad(a, F, g, data1, data2):
        attrs = {field.name: getattr(a, field.name) for field in _FIELDS}
        return tuple(F._correlation_grad(g, data1, data2, **attrs))

    def ref(a, xp, data1, data2):
        return _forward(a, xp, data1, data2)


register(
    "_correlation_grad",
    doc="""Gradients of Correlation from the output's gradient and the inputs.""",
    inputs="grads data1 data2",
    outputs="data1_grad data2_grad",
    fields=_FIELDS,
    grad=no_rule,
    infer=lambda a, grads, data1, data2: infer_gradients(_shape, a, grads, data1, data2),
    ref=_backward,
    kernels=(_kernel("correlation_grad", lambda ins, outs: ins[1], lambda ins, outs: ins[0]),),
    samples=(
        sample((2, 9, 3, 4), (2, 3, 5, 6), (2, 3, 5, 6)),
        sample(
            (1, 9, 4, 11),
            (1, 2, 7, 22),
            (1, 2, 7, 22),
            kernel_size=3,
            max_displacement=2,
            stride1=2,
            stride2=2,
            pad_size=3,
        ),
        sample(
            (1, 25, 2, 2),
            (1, 2, 8, 7),
            (1, 2, 8, 7),
            kernel_size=3,
            max_displacement=2,
            stride1=3,
            pad_size=2,
            is_multiply=False,
        ),
    ),
)
