"""Quantized numbers, by their definitions."""

import math

import numpy as np

from mxcy._base import dtypes
from mxcy.base import MXNetError
from mxcy.onnx.onnx2mx.families.convolution import convolution
from mxcy.onnx.onnx2mx.table import row
from mxcy.onnx.onnx2mx.tensors import code_of
from mxcy.onnx.onnx2mx.values import Value
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.record import find

__all__ = []


def _spread(F, part, x, axis, block):
    """Scales or zero points so that they meet the data."""
    if part is None or part.ndim == 0:
        return part
    if block:
        axis %= x.ndim
        repeated = F("_npi_repeat", part, repeats=block, axis=axis)
        extent = x.full_shape[axis]
        return F.part(repeated, axis, 0, extent)
    if part.ndim == 1 and x.ndim != 1 and part.full_shape == (1,):
        return part.reshape()
    if part.ndim != 1:
        raise MXNetError(f"scales of shape {part.shape} need the attribute block_size")
    axis %= x.ndim
    return part.reshape(*(-1 if i == axis else 1 for i in range(x.ndim)))


def _quantized(F, x, scale, zero, code):
    """Round to even, move, and stay within the type."""
    if scale.spec.dtype != x.spec.dtype:
        scale = scale.astype(x.dtype)
    rounded = F("_npi_rint", x / scale)
    if rounded.dtype != np.float64:
        rounded = rounded.astype("float32")
    if zero is not None:
        rounded = rounded + zero.astype(rounded.dtype)
    ends = np.iinfo(dtypes.DTYPES[code])
    rounded = F("clip", rounded, a_min=ends.min, a_max=ends.max)
    return rounded.astype("int32").astype(dtypes.name_of(code))


#: element type -> how far it reaches in steps, as our quantization counts
_REACH = {dtypes.CODES["int8"]: 127.5, dtypes.CODES["uint8"]: 255.5}


def _plain_step(x, scale, zero):
    """The step of symmetric quantization by one constant float, or None."""
    one = scale.array is not None and scale.array.size == 1 and scale.dtype == np.float32
    none = zero is None or zero.array is not None and not zero.array.any()
    return float(scale.array.reshape(())) if one and none and scale.array > 0 else None


def _own_steps(x):
    """The range that our quantization gave a value, two Values, or None."""
    if x.entry is None or x.entry[0].op is not _QUANTIZE or x.entry[1]:
        return None
    return [Value(x.F, Spec((1,), _FLOAT), entry=(x.entry[0], i)) for i in (1, 2)]


def _same(x, own, step):
    """Whether a value was quantized by the step by which it is dequantized."""
    return math.isclose(
        x.entry[0].parsed.max_calib_range, _REACH[x.spec.dtype] * step, rel_tol=1e-6
    )


_QUANTIZE, _FLOAT = find("_contrib_quantize_v2"), dtypes.CODES["float32"]


@row("QuantizeLinear", since=10)
def quantize(F, a, x, scale, zero=None):
    if zero is not None:
        code = zero.spec.dtype
    else:
        code = code_of(a.output_dtype, "attribute output_dtype") if a.output_dtype else 3
    step = _plain_step(x, scale, zero)
    if step is not None and code in _REACH and x.array is None and x.dtype == np.float32:
        # Ours, which layers between such arrays take into themselves.
        top = _REACH[code] * step
        low = 0.0 if dtypes.name_of(code) == "uint8" else -top
        word = dtypes.name_of(code)
        return F(
            "_contrib_quantize_v2", x, out_type=word, min_calib_range=low, max_calib_range=top
        )[0]
    axis, block = 1 if a.axis is None else a.axis, a.block_size
    scale, zero = (_spread(F, part, x, axis, block) for part in (scale, zero))
    if x.kind != "f":
        x = x.astype(scale.dtype)
    return _quantized(F, x, scale, zero, code)


@row("DequantizeLinear", since=10)
def dequantize(F, a, x, scale, zero=None):
    step = _plain_step(x, scale, zero)
    own = _own_steps(x)
    if own is not None and step is not None and not a.output_dtype and _same(x, own, step):
        return F("_contrib_dequantize", x, *own)
    axis, block = 1 if a.axis is None else a.axis, a.block_size
    scale, zero = (_spread(F, part, x, axis, block) for part in (scale, zero))
    target = scale.dtype
    if a.output_dtype:
        target = dtypes.dtype_of(code_of(a.output_dtype, "attribute output_dtype"))
    wide = x.astype("float32")
    if zero is not None:
        wide = wide - zero.astype("float32")
    floats = F.binary("multiply", wide, scale.astype("float32")).astype(target)
    floats.stepped = x.array is not None and x.spec.dtype in _REACH
    return floats


# --- layers over integers ------------------------------------------------------------------------


def _centred(F, x, zero, shape=None):
    """The integers without their zero point, as float32: exact, as are their products."""
    wide = x.astype("float32")
    if zero is None:
        return wide
    zero = zero.astype("float32")
    return wide - (zero if shape is None or zero.ndim == 0 else zero.reshape(*shape))


def _of_rows(zero):
    return None if zero is None or zero.ndim != 1 or zero.full_shape == (1,) else (-1, 1)


def _summed(F, left, right):
    """The product of matrices, exact for integers."""
    depth = left.shape[-1]
    if depth == -1 or depth > 256:
        left, right = left.astype("float64"), right.astype("float64")
    return F("_npi_matmul", left, right)


@row("MatMulInteger", since=10)
def matmul_integer(F, a, x, y, x_zero=None, y_zero=None):
    left, right = _centred(F, x, x_zero, _of_rows(x_zero)), _centred(F, y, y_zero)
    return _summed(F, left, right).astype("int32")


@row("ConvInteger", since=10)
def conv_integer(F, a, x, weight, x_zero=None, weight_zero=None):
    shape = (-1, *(1,) * (weight.ndim - 1))
    left = _centred(F, x, x_zero)
    right = _centred(F, weight, weight_zero, shape)
    if np.prod(weight.full_shape[1:]) > 256:
        left, right = left.astype("float64"), right.astype("float64")
    return convolution(F, a, left, right).astype("int32")


@row("QLinearMatMul", since=10)
def qlinear_matmul(F, a, x, x_scale, x_zero, y, y_scale, y_zero, scale, zero):
    left = _centred(F, x, x_zero, _of_rows(x_zero))
    right = _centred(F, y, y_zero)
    x_scale, y_scale, scale = (s.astype("float32") for s in (x_scale, y_scale, scale))
    if _of_rows(x_scale):
        x_scale = x_scale.reshape(-1, 1)
    factor = F.binary("multiply", x_scale, y_scale)
    total = _summed(F, left, right).astype("float32")
    return _quantized(F, F.binary("multiply", total, factor), scale, zero, zero.spec.dtype)


@row("QLinearConv", since=10)
def qlinear_conv(F, a, x, x_scale, x_zero, w, w_scale, w_zero, scale, zero, bias=None):
    channels = (-1, *(1,) * (w.ndim - 1))
    total = convolution(F, a, _centred(F, x, x_zero), _centred(F, w, w_zero, channels))
    spread = (1, -1, *(1,) * (w.ndim - 2))
    if bias is not None:
        total = total + bias.astype("float32").reshape(*spread)
    if w_scale.ndim == 1:
        w_scale = w_scale.reshape(*spread)
    total = F.binary("multiply", total, F.binary("multiply", x_scale, w_scale))
    return _quantized(F, total, scale, zero, zero.spec.dtype)
