"""Quantization, and quantized layers."""

import functools
import math

import numpy as np

from mxcy._base import dtypes
from mxcy.base import MXNetError
from mxcy.onnx.onnx2mx.families.convolution import convolution
from mxcy.onnx.onnx2mx.families.matrix import product
from mxcy.onnx.onnx2mx.table import row
from mxcy.onnx.onnx2mx.tensors import code_of
from mxcy.onnx.onnx2mx.values import Stepped

__all__ = ["dequantize", "float_bias", "quantize", "stepped_constant"]


def _spread(F, part, x, axis, block):
    """Reshape scales or zero points for broadcasting with the data."""
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
    """Round to even, add the zero point, and saturate."""
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


_EIGHT_BITS = {dtypes.CODES[name]: name for name in ("int8", "uint8")}


def _whole(F, scale, zero):
    """(step, zero point) for per-tensor quantization with a constant float32 step, else None."""
    if scale.array is None or scale.array.size != 1 or scale.dtype != np.float32:
        return None
    if zero is not None and (zero.array is None or zero.array.size != 1):
        return None
    step = float(scale.array.reshape(()))
    if not 0 < step < math.inf:
        return None
    return {"step": step, "zero": 0 if zero is None else int(zero.array.reshape(()))}


def _stepped(F, x, scale, zero, axis):
    """int8 values of a constant and their steps, or None."""
    parts = [part for part in (x, scale, zero) if part is not None]
    if any(part.array is None or part.is_open for part in parts) or x.ndim < 1:
        return None
    if x.spec.dtype not in _EIGHT_BITS or scale.dtype != np.float32:
        return None
    axis %= x.ndim
    if any(p.ndim > 1 or p.array.size not in (1, x.shape[axis]) for p in parts[1:]):
        return None
    numbers = x.array.astype(np.int32)
    if zero is not None:
        shape = tuple(-1 if i == axis else 1 for i in range(x.ndim))
        numbers = numbers - zero.array.astype(np.int32).reshape(shape)
    if numbers.size and not -128 <= numbers.min() <= numbers.max() <= 127:
        return None
    kept = F.constant(numbers.astype(np.int8), name=x.name)
    steps = F.constant(scale.array.reshape(-1), name=scale.name)
    return Stepped(kept, steps, axis if scale.array.ndim and scale.array.size > 1 else None)


def _with_floats(F, stepped):
    weight = F.constant(stepped.floats())
    weight.stepped = stepped
    return weight


def stepped_constant(F, x, scale, zero, axis):
    """Dequantized constant with `stepped` set to its 8-bit integers, or None."""
    stepped = _stepped(F, x, scale, zero, axis)
    return stepped and _with_floats(F, stepped)


@row("QuantizeLinear", since=10)
def quantize(F, a, x, scale, zero=None):
    """Convert QuantizeLinear."""
    if zero is not None:
        code = zero.spec.dtype
    else:
        code = code_of(a.output_dtype, "attribute output_dtype") if a.output_dtype else 3
    parameters = _whole(F, scale, zero)
    if parameters and code in _EIGHT_BITS and x.array is None and x.dtype == np.float32:
        # fused into layers between quantized arrays
        return F("_quantize_linear", x, out_type=_EIGHT_BITS[code], **parameters)
    axis, block = 1 if a.axis is None else a.axis, a.block_size
    scale, zero = (_spread(F, part, x, axis, block) for part in (scale, zero))
    if x.kind != "f":
        x = x.astype(scale.dtype)
    return _quantized(F, x, scale, zero, code)


@row("DequantizeLinear", since=10)
def dequantize(F, a, x, scale, zero=None):
    """Convert DequantizeLinear."""
    parameters = _whole(F, scale, zero)
    if parameters and x.array is None and x.spec.dtype in _EIGHT_BITS and not a.output_dtype:
        return F("_dequantize_linear", x, **parameters)
    axis, block = 1 if a.axis is None else a.axis, a.block_size
    stepped = None if block else _stepped(F, x, scale, zero, axis)
    scale, zero = (_spread(F, part, x, axis, block) for part in (scale, zero))
    target = scale.dtype
    if a.output_dtype:
        target = dtypes.dtype_of(code_of(a.output_dtype, "attribute output_dtype"))
    values = x.astype("float32")
    if zero is not None:
        values = values - zero.astype("float32")
    floats = F.binary("multiply", values, scale.astype("float32")).astype(target)
    floats.stepped = stepped if target == np.float32 else None
    return floats


# --- integer layers ------------------------------------------------------------------------------


def _centred(F, x, zero, shape=None):
    """Subtract the zero point, in float32, which is exact for integers and their products."""
    values = x.astype("float32")
    if zero is None:
        return values
    zero = zero.astype("float32")
    return values - (zero if shape is None or zero.ndim == 0 else zero.reshape(*shape))


def _of_rows(zero):
    return None if zero is None or zero.ndim != 1 or zero.full_shape == (1,) else (-1, 1)


def _summed(F, left, right):
    """Matrix product, exact for integers."""
    depth = left.shape[-1]
    if depth == -1 or depth > 256:
        left, right = left.astype("float64"), right.astype("float64")
    return F("_npi_matmul", left, right)


#: maximum depth of 8-bit products whose sums are exact in float32
_EXACT = 2**24 // (255 * 128)


def _sums(F, x, x_zero, w, w_zero, axis, compute):
    """Sums of an integer layer as float32, which passes convert to an 8-bit layer.

    Parameters
    ----------
    x, w : Value
        Data and weight.
    x_zero, w_zero : Value or None
        Zero points; that of the data may be known only at run time.
    axis : int
        Axis of the weight's filters.
    compute : callable
        ``compute(data, weight)`` on floats; must be a matrix product if the data's zero point is
        unknown.

    Returns
    -------
    Value or None
        None for unsupported zero points.
    """
    one = F.constant(np.ones(1, np.float32))
    stepped = None if x.array is not None else _stepped(F, w, one, w_zero, axis)
    if stepped is None or x.spec.dtype not in _EIGHT_BITS:
        return None
    known = x_zero is None or x_zero.array is not None
    parameters = _whole(F, one, x_zero if known else None)
    if parameters is None or not known and x_zero.spec.shape != ():
        return None
    sums = compute(F("_dequantize_linear", x, **parameters), _with_floats(F, stepped))
    if known:
        return sums
    total = stepped.numbers.array.sum(axis=1 - axis, dtype=np.float64).astype(np.float32)
    return sums - F.binary("multiply", F.constant(total), x_zero.astype("float32"))


def _whole_numbers(sums, depth, exactly):
    """Convert a layer's sums to int32; `exactly` computes those too large for float32."""
    numbers = sums.astype("int32") if depth <= _EXACT else exactly()
    numbers.floats = sums
    return numbers


@row("MatMulInteger", since=10)
def matmul_integer(F, a, x, y, x_zero=None, y_zero=None):
    if y.ndim == 2 and x.ndim >= 2 and 0 not in y.shape:
        sums = _sums(F, x, x_zero, y, y_zero, 1, lambda data, weight: product(F, data, weight))
        if sums is not None:
            exactly = functools.partial(_matmul_integer, F, x, y, x_zero, y_zero)
            return _whole_numbers(sums, y.shape[0], exactly)
    return _matmul_integer(F, x, y, x_zero, y_zero)


def _matmul_integer(F, x, y, x_zero, y_zero):
    left, right = _centred(F, x, x_zero, _of_rows(x_zero)), _centred(F, y, y_zero)
    return _summed(F, left, right).astype("int32")


@row("ConvInteger", since=10)
def conv_integer(F, a, x, weight, x_zero=None, weight_zero=None):
    if x_zero is None or x_zero.array is not None:
        operands = x, x_zero, weight, weight_zero, 0
        sums = _sums(F, *operands, lambda data, filters: convolution(F, a, data, filters))
        if sums is not None:
            exactly = functools.partial(_conv_integer, F, a, x, weight, x_zero, weight_zero)
            return _whole_numbers(sums, math.prod(weight.full_shape[1:]), exactly)
    return _conv_integer(F, a, x, weight, x_zero, weight_zero)


def _conv_integer(F, a, x, weight, x_zero, weight_zero):
    shape = (-1, *(1,) * (weight.ndim - 1))
    left = _centred(F, x, x_zero)
    right = _centred(F, weight, weight_zero, shape)
    if np.prod(weight.full_shape[1:]) > 256:
        left, right = left.astype("float64"), right.astype("float64")
    return convolution(F, a, left, right).astype("int32")


def _layer(F, x, w, scale, zero, axis, compute):
    """A layer between per-tensor quantized arrays, which passes convert to an 8-bit layer.

    Parameters
    ----------
    x, w : tuple of Value
        Data and weight, each with scale and zero point.
    scale, zero : Value
        Scale and zero point of the result.
    axis : int
        Axis of the weight's scales.
    compute : callable
        ``compute(data, weight)`` on floats.

    Returns
    -------
    Value or None
        None for unsupported scales or zero points.
    """
    data, out = _whole(F, *x[1:]), _whole(F, scale, zero)
    stepped = _stepped(F, *w, axis)
    if None in (data, out, stepped) or x[0].array is not None or zero.spec.dtype not in _EIGHT_BITS:
        return None
    result = compute(F("_dequantize_linear", x[0], **data), _with_floats(F, stepped))
    return F("_quantize_linear", result, out_type=_EIGHT_BITS[zero.spec.dtype], **out)


@row("QLinearMatMul", since=10)
def qlinear_matmul(F, a, x, x_scale, x_zero, y, y_scale, y_zero, scale, zero):
    if y.ndim == 2 and x.ndim >= 2 and 0 not in y.shape:
        operands = (x, x_scale, x_zero), (y, y_scale, y_zero), scale, zero
        result = _layer(F, *operands, 1, lambda data, weight: product(F, data, weight))
        if result is not None:
            return result
    left = _centred(F, x, x_zero, _of_rows(x_zero))
    right = _centred(F, y, y_zero)
    x_scale, y_scale, scale = (s.astype("float32") for s in (x_scale, y_scale, scale))
    if _of_rows(x_scale):
        x_scale = x_scale.reshape(-1, 1)
    factor = F.binary("multiply", x_scale, y_scale)
    total = _summed(F, left, right).astype("float32")
    return _quantized(F, F.binary("multiply", total, factor), scale, zero, zero.spec.dtype)


def float_bias(F, bias, x_scale, w_scale):
    """Dequantize a bias, whose step is the product of data's and weight's; None if unknown."""
    if x_scale.array is None or w_scale.array is None:
        return None
    step = x_scale.array.reshape(-1).astype(np.float64) * w_scale.array.reshape(-1)
    return F.constant((bias.array * step).astype(np.float32), name=bias.name)


@row("QLinearConv", since=10)
def qlinear_conv(F, a, x, x_scale, x_zero, w, w_scale, w_zero, scale, zero, bias=None):
    if bias is None or bias.array is not None:
        operands = (x, x_scale, x_zero), (w, w_scale, w_zero), scale, zero
        floats = bias and float_bias(F, bias, x_scale, w_scale)
        result = _layer(
            F, *operands, 0, lambda data, weight: convolution(F, a, data, weight, floats)
        )
        if result is not None:
            return result
    channels = (-1, *(1,) * (w.ndim - 1))
    total = convolution(F, a, _centred(F, x, x_zero), _centred(F, w, w_zero, channels))
    spread = (1, -1, *(1,) * (w.ndim - 2))
    if bias is not None:
        total = total + bias.astype("float32").reshape(*spread)
    if w_scale.ndim == 1:
        w_scale = w_scale.reshape(*spread)
    total = F.binary("multiply", total, F.binary("multiply", x_scale, w_scale))
    return _quantized(F, total, scale, zero, zero.spec.dtype)
