"""im2col and col2im: image patches as columns of matrices, and back."""

import math

from mxcy.ops.convolution.windows import Window, padded, reach, resolve, windows
from mxcy.ops.core.attrs import Field, Shape
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.params import CONV
from mxcy.ops.core.record import native, op, register, sample

__all__ = []


def _places(a, extents):
    """Return the number of windows along each dimension; -1 if unknown."""
    kernel, stride, dilate, pad = resolve(a)
    require(
        len(extents) == len(kernel),
        f"expected {len(kernel)} spatial dimensions as in kernel {kernel}, got {tuple(extents)}",
    )
    places = []
    for n, r, s, p in zip(extents, reach(kernel, dilate), stride, pad, strict=True):
        require(n == -1 or r <= n + 2 * p, f"kernel: size {r} exceeds the padded input {n + 2 * p}")
        places.append(-1 if n == -1 else (n + 2 * p - r) // s + 1)
    return places


def _product(extents):
    return -1 if -1 in extents else math.prod(extents)


def _attrs(a):
    return {"kernel": a.kernel, "stride": a.stride, "dilate": a.dilate, "pad": a.pad}


def _kernel(name, roles):
    """Return the native kernel; ``roles(ins, outs)`` is (images, columns)."""

    def params(a, ins, outs):
        image = roles(ins, outs)[0]
        kernel, stride, dilate, pad = resolve(a)
        missing = 3 - len(kernel)
        ones, zeros = (1,) * missing, (0,) * missing
        return {
            "batch": image.shape[0],
            "groups": 1,
            "channels": image.shape[1],
            "filters": 0,
            "source": ones + image.shape[2:],
            "target": ones + tuple(_places(a, image.shape[2:])),
            "kernel": ones + kernel,
            "stride": ones + stride,
            "dilate": ones + dilate,
            "pad": zeros + pad,
        }

    return native(
        name, struct=CONV, params=params, work=lambda a, ins, outs: roles(ins, outs)[1].size
    )


@op("im2col", in_symbols=InSymbols(named_input=True))
class Im2Col(Window):
    """Extract the patches of a sliding window over images as columns.

    Shapes: data (batch, channels, spatial...) with one to three spatial dimensions; out (batch,
    channels * prod(kernel), windows). A convolution is the product of its weights with these
    columns; `stride`, `dilate` and `pad` are a convolution's.

    Raises
    ------
    MXNetError
        If the kernel exceeds the padded data.
    """

    kernels = (_kernel("im2col", lambda ins, outs: (ins[0], outs[0])),)
    samples = (
        sample((2, 3, 4, 5), kernel=(2, 3)),
        sample((1, 2, 5, 6), kernel=(3, 2), stride=(2, 1), dilate=(1, 2), pad=(1, 2)),
        sample((2, 2, 7), kernel=(3,), stride=(2,)),
        sample((1, 1, 3, 4, 3), kernel=(2, 2, 2)),
    )

    def infer(a, data):
        if data.shape is None:
            return Spec((-1, -1, -1), data.dtype)
        require(data.ndim >= 3, f"data: expected (batch, channels, spatial...), got {data.shape}")
        batch, channels, *extents = data.shape
        rows = -1 if channels == -1 else channels * math.prod(a.kernel)
        return Spec((batch, rows, _product(_places(a, extents))), data.dtype)

    def grad(a, F, g, specs):
        return F.col2im(g, output_size=specs[0].shape[2:], **_attrs(a))

    def ref(a, xp, data):
        kernel, stride, dilate, pad = resolve(a)
        spatial, padded_data = _places(a, data.shape[2:]), padded(xp, data, pad)
        columns = [
            padded_data[(..., *window)] for _, window in windows(kernel, stride, dilate, spatial)
        ]
        return xp.stack(columns, 2).reshape(len(data), -1, math.prod(spatial))


def _infer_image(a, data):
    data.fill("data", (-1, -1, -1))
    batch, rows, columns = data.shape
    taps, places = math.prod(a.kernel), math.prod(_places(a, a.output_size))
    require(
        rows == -1 or rows % taps == 0, f"data: {rows} rows cannot be divided among {taps} taps"
    )
    require(
        columns in (-1, places),
        f"data: {columns} columns, but {places} windows in output_size {a.output_size}",
    )
    return Spec((batch, -1 if rows == -1 else rows // taps, *a.output_size), data.dtype)


def _to_image(a, xp, data):
    kernel, stride, dilate, pad = resolve(a)
    spatial, size = _places(a, a.output_size), a.output_size
    columns = data.reshape(len(data), -1, math.prod(kernel), *spatial)
    padded_image = xp.zeros(
        (*columns.shape[:2], *(n + 2 * p for n, p in zip(size, pad, strict=True))), data.dtype
    )
    for number, (_, window) in enumerate(windows(kernel, stride, dilate, spatial)):
        padded_image[(..., *window)] += columns[:, :, number]
    return padded_image[(..., *(slice(p, p + n) for n, p in zip(size, pad, strict=True)))]


register(
    "col2im",
    doc="""Sum patches at the positions that im2col took them from: the transpose of im2col.

Shapes: data (batch, channels * prod(kernel), windows); out (batch, channels, *output_size).

Raises
------
MXNetError
    If the data does not have the extents of im2col's result.""",
    fields=(
        Field("output_size", Shape),
        Field("kernel", Shape),
        Field("stride", Shape, ()),
        Field("dilate", Shape, ()),
        Field("pad", Shape, ()),
    ),
    infer=_infer_image,
    grad=lambda a, F, g: F.im2col(g, **_attrs(a)),
    ref=_to_image,
    kernels=(_kernel("col2im", lambda ins, outs: (outs[0], ins[0])),),
    samples=(
        sample((2, 18, 9), kernel=(2, 3), output_size=(4, 5)),
        sample(
            (1, 12, 24), kernel=(3, 2), output_size=(5, 6), stride=(2, 1), dilate=(1, 2), pad=(1, 2)
        ),
        sample((2, 6, 3), kernel=(3,), output_size=(7,), stride=(2,)),
    ),
)
