"""Quantization to 8 bits and dequantization.

ONNX Runtime computes layers between the two in 8 bits.
"""

import numpy as np

from mxcy.onnx.mx2onnx.converters.quantized_layers import quantized, range_of, reach, step_of
from mxcy.onnx.mx2onnx.registry import convert
from mxcy.ops.quantization.ranges import LARGEST, calibrated, limit_of, reach_of

__all__ = []


def _vector(G, number):
    return G.const(np.asarray([number], np.float32))


@convert("_contrib_quantize_v2")
def quantize(a, G, x):
    """Symmetric quantization; the range is given, or computed at run time."""
    kind = G.out.dtype
    if x.dtype != np.float32:  # integers are passed through
        top = np.float32(limit_of(x.dtype))
        low, high = (
            (a.min_calib_range, a.max_calib_range)
            if calibrated(a)
            else (np.float32(0) if x.dtype == np.uint8 else -top, top)
        )
        return [x, _vector(G, low), _vector(G, high)]
    limit, zero = np.float32(limit_of(kind)), G.const(np.zeros((), kind))
    if calibrated(a):
        top = reach_of(a)
        low, high = np.float32(a.min_calib_range), np.float32(a.max_calib_range)
        if kind == np.int8:
            low, high = -top, top
        step = G.const(np.float32(max(top / limit, np.finfo(np.float32).tiny)))
        return [G.QuantizeLinear(x, step, zero, dtype=kind), _vector(G, low), _vector(G, high)]
    if 0 in x.shape:
        return [G.full(G.dims(x), 0, kind), _vector(G, 0), _vector(G, 0)]
    low, high = G.reduce("Min", x), G.reduce("Max", x)
    top = G.Max(G.Abs(low), G.Abs(high))
    if kind == np.int8:
        low, high = G.Neg(top), top
    step = G.Max(top / limit, G.like(x, np.finfo(np.float32).tiny))
    numbers = G.QuantizeLinear(x, step, zero, dtype=kind)
    return [numbers, G.reshape(low, [1]), G.reshape(high, [1])]


@convert("_contrib_dequantize")
def dequantize(a, G, x, low, high):
    """Use the step that corresponds to the range."""
    limit, zero = np.float32(limit_of(x.dtype)), G.const(np.zeros((), x.dtype))
    if low.array is not None and high.array is not None:
        top = np.float32(max(abs(low.array.reshape(-1)[0]), abs(high.array.reshape(-1)[0])))
        step = G.const(np.float32(top / limit))
    else:
        step = G.reshape(G.Max(G.Abs(low), G.Abs(high)) / limit, [])
    return G.DequantizeLinear(x, step, zero, dtype=np.float32)


@convert("_quantize_linear")
def quantize_linear(a, G, x):
    """Convert to the ONNX operator of the same name."""
    step, zero = G.const(np.float32(a.step)), G.const(np.asarray(a.zero, G.out.dtype))
    return G.QuantizeLinear(x, step, zero, dtype=G.out.dtype)


@convert("_dequantize_linear")
def dequantize_linear(a, G, x):
    """Convert to the ONNX operator of the same name."""
    step, zero = G.const(np.float32(a.step)), G.const(np.asarray(a.zero, x.dtype))
    return G.DequantizeLinear(x, step, zero, dtype=np.float32)


@convert("_dequantize_filters")
def dequantize_filters(a, G, weight, steps):
    """Use one step per channel, from opset 13 on."""
    if G.opset >= 13:
        zeros = None if steps.array is None else G.const(np.zeros(steps.shape, np.int8))
        return G.DequantizeLinear(weight, steps, zeros, axis=0, dtype=np.float32)
    floats = G.Cast(weight, to=1, dtype=np.float32)
    return floats * G.reshape(steps, [-1, *(1,) * (len(weight.shape) - 1)])


@convert("_contrib_quantize")
def quantize_by_range(a, G, x, low, high):
    """Use the step that corresponds to a range; int8 does not use -128."""
    kind = G.out.dtype
    step = step_of(G, low, high, LARGEST[np.dtype(kind).name])
    numbers = quantized(G, x, step, kind)
    if kind == np.uint8:
        return [numbers, low, high]
    top = reach(G, low, high)
    return [G.op("Max", numbers, G.const(np.int8(-127))), *range_of(G, kind, top)]
