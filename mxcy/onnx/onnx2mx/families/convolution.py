"""Convolutions and transposed convolutions."""

import math

import numpy as np

from mxcy.base import MXNetError
from mxcy.onnx.onnx2mx.families.padding import padded
from mxcy.onnx.onnx2mx.families.parts import sliced
from mxcy.onnx.onnx2mx.families.windows import Windows
from mxcy.onnx.onnx2mx.table import row

__all__ = ["convolution"]


def _check(a, weight):
    if a.kernel_shape and tuple(a.kernel_shape) != weight.shape[2:]:
        raise MXNetError(
            f"attribute kernel_shape: {a.kernel_shape} is not that of weights {weight.shape}"
        )
    if not 1 <= weight.ndim - 2 <= 3:
        raise NotImplementedError(f"convolutions with weights of shape {weight.shape}")


def convolution(F, a, x, weight, bias=None):
    """Apply Convolution, padding the data first if the padding is asymmetric."""
    _check(a, weight)
    windows = Windows(a, x, weight.full_shape[2:])
    pad = windows.before
    if not windows.even:
        x = padded(F, x, (0, 0, *windows.before), (0, 0, *windows.after))
        pad = (0,) * len(pad)
    weight = F.layer_weight(weight, x)
    if bias is not None and bias.array is not None:
        F.parameter(bias)
    return F(
        "Convolution",
        x,
        weight,
        bias,
        kernel=windows.kernel,
        stride=windows.strides,
        dilate=windows.dilations,
        pad=pad,
        num_filter=weight.shape[0],
        num_group=a.group,
        no_bias=bias is None,
    )


@row("Conv")
def conv(F, a, x, weight, bias=None):
    return convolution(F, a, x, weight, bias)


def _transposed_padding(a, x, windows):
    """(before, after) to crop from the full result; negative numbers extend it."""
    dims = len(windows.kernel)
    more = tuple(a.output_padding or (0,) * dims)
    wanted = a.output_shape
    if not wanted and a.auto_pad in (None, "", "NOTSET", "VALID"):
        return windows.before, [p - m for p, m in zip(windows.after, more, strict=True)]
    extents = x.plane
    if wanted:
        wanted = wanted[-dims:]
    else:
        wanted = [n * s for n, s in zip(extents, windows.strides, strict=True)]
    before, after = [], []
    for n, s, span, m, out in zip(
        extents, windows.strides, windows.spans(), more, wanted, strict=True
    ):
        total = s * (n - 1) + m + span - out
        half = total // 2
        # An odd element is cropped from the end for SAME_UPPER, else from the start.
        first = half if a.auto_pad == "SAME_UPPER" else total - half
        if total < 0:
            first = 0
        before.append(first)
        after.append(total - first - m)
    return before, after


@row("ConvTranspose")
def conv_transpose(F, a, x, weight, bias=None):
    _check(a, weight)
    pads = a.pads
    a.values["auto_pad"], kind = None, a.auto_pad  # refers to the result here
    windows = Windows(a, x, weight.full_shape[2:])
    a.values["auto_pad"] = kind
    before, after = _transposed_padding(a, x, windows)
    for part in (weight, bias):
        if part is not None and part.array is not None:
            F.parameter(part)
    dims = len(windows.kernel)
    adj = tuple(p - q for p, q in zip(before, after, strict=True))
    fits = all(0 <= n < s for n, s in zip(adj, windows.strides, strict=True))
    fits = fits and min(before) >= 0 and (pads is None or not a.output_shape)
    common = {
        "kernel": windows.kernel,
        "stride": windows.strides,
        "dilate": windows.dilations,
        "num_filter": weight.shape[1] * a.group,
        "num_group": a.group,
    }
    if fits:
        return F(
            "Deconvolution",
            x,
            weight,
            bias,
            pad=tuple(before),
            adj=adj,
            no_bias=bias is None,
            **common,
        )
    full = F("Deconvolution", x, weight, no_bias=True, **common)
    extents = [n if p >= 0 else n - p for n, p in zip(full.plane, after, strict=True)]
    full = padded(F, full, (0,) * (dims + 2), (0, 0, *(max(-p, 0) for p in after)))
    ends = [n - max(p, 0) for n, p in zip(extents, after, strict=True)]
    cropped = sliced(F, full, before, ends, range(2, dims + 2))
    return cropped if bias is None else cropped + bias.reshape(1, -1, *(1,) * dims)


@row("DeformConv", since=19)
def deform_conv(F, a, x, weight, offset, bias=None, mask=None):
    _check(a, weight)
    windows = Windows(a, x, weight.full_shape[2:])
    if len(windows.kernel) != 2:
        raise NotImplementedError("deformable convolutions in other than two dimensions")
    pad = windows.before
    if not windows.even:
        x = padded(F, x, (0, 0, *windows.before), (0, 0, *windows.after))
        pad = (0, 0)
    inputs = (x, offset, weight, bias) if mask is None else (x, offset, mask, weight, bias)
    name = "DeformableConvolution" if mask is None else "ModulatedDeformableConvolution"
    return F(
        f"_contrib_{name}",
        *inputs,
        kernel=windows.kernel,
        stride=windows.strides,
        dilate=windows.dilations,
        pad=pad,
        num_filter=weight.shape[0],
        num_group=a.group,
        num_deformable_group=a.offset_group,
        no_bias=bias is None,
    )


@row("Col2Im", since=18)
def col2im(F, a, x, image, block):
    image, block = image.integers("the input image_shape"), block.integers("block_shape")
    dims = len(image)
    strides, dilations = a.strides or (1,) * dims, a.dilations or (1,) * dims
    pads = a.pads or (0,) * 2 * dims
    if dims == 2 and pads[:2] == pads[2:]:
        return F(
            "col2im",
            x,
            output_size=image,
            kernel=block,
            stride=tuple(strides),
            dilate=tuple(dilations),
            pad=tuple(pads[:2]),
        )
    batch, rows, count = x.full_shape
    # A transposed convolution with one-hot filters moves each row to its position in the block.
    padded_image = [n + pads[i] + pads[i + dims] for i, n in enumerate(image)]
    steps = [
        (n - (k - 1) * d - 1) // s + 1
        for n, k, d, s in zip(padded_image, block, dilations, strides, strict=True)
    ]
    if math.prod(steps) != count:
        raise MXNetError(f"{count} blocks, but {steps} fit the image")
    size = math.prod(block)
    parts = x.reshape(batch, rows // size, *block, *steps)
    return _assembled(F, parts, block, steps, strides, dilations, pads, padded_image)


def _assembled(F, parts, block, steps, strides, dilations, pads, padded_image):
    """Sum strided parts, each moved to its position in the block."""
    dims, total = len(block), None
    for place in np.ndindex(*block):
        part = parts
        for axis, n in enumerate(place):
            part = F.part(part, axis + 2, n, n + 1)
        batch, channels = parts.full_shape[:2]
        part = part.reshape(batch, channels, *steps)
        for axis in range(dims):
            part = _spread(F, part, axis + 2, steps[axis], strides[axis],
                           place[axis] * dilations[axis], padded_image[axis])  # fmt: skip
        total = part if total is None else total + part
    ends = [n - p for n, p in zip(padded_image, pads[dims:], strict=True)]
    return sliced(F, total, pads[:dims], ends, range(2, dims + 2))


def _spread(F, x, axis, count, stride, first, extent):
    """Move elements of an axis to `first`, `first + stride`, ... of `extent`, zeros between."""
    matrix = np.zeros((count, extent), np.float32)
    matrix[np.arange(count), first + stride * np.arange(count)] = 1
    moved = x.transpose(*(i for i in range(x.ndim) if i != axis), axis)
    moved = F("_npi_matmul", moved, F.constant(matrix).astype(x.dtype))
    order = list(range(x.ndim - 1))
    order.insert(axis, x.ndim - 1)
    return moved.transpose(*order)
