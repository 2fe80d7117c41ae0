"""Quantized layers, written as float layers between DequantizeLinear and QuantizeLinear.

Runtimes fuse such patterns to 8-bit layers. The real value of an int32 result is passed on as
`Value.real` to the operator that quantizes it to 8 bits; the integers are only computed if used.
"""

import numpy as np

from mxcy.graph.control import EXPANSIONS
from mxcy.graph.control import expand as expand_graph
from mxcy.graph.graph import Graph, Node
from mxcy.onnx.mx2onnx.converters.layers import convolution, fully_connected, pooling
from mxcy.onnx.mx2onnx.registry import convert
from mxcy.ops.core.record import find
from mxcy.ops.quantization.layers import whole_bias
from mxcy.ops.quantization.ranges import LARGEST, LIMITS, calibrated, limit_of, reach_of

__all__ = ["dequantized", "quantized", "range_of", "step_of"]

_TINY = np.finfo(np.float32).tiny


def reach(G, low, high):
    """Maximum magnitude of a range: a float32 if known, else a Value."""
    if low.array is not None and high.array is not None:
        return np.float32(max(abs(low.array.reshape(-1)[0]), abs(high.array.reshape(-1)[0])))
    return G.reshape(G.Max(G.Abs(low), G.Abs(high)), [])


def step_of(G, low, high, largest):
    """Quantization step of a range; at least the smallest positive number."""
    return step(G, reach(G, low, high), largest)


def step(G, top, largest):
    """Quantization step for which `largest` steps reach `top`."""
    if isinstance(top, np.float32):
        return np.float32(max(top / np.float32(largest), _TINY))
    return G.Max(top / float(largest), G.const(np.float32(_TINY)))


def _value(G, number):
    return G.const(number) if isinstance(number, np.float32) else number


def dequantized(G, x, unit):
    """Dequantize 8-bit integers."""
    zero = G.const(np.zeros((), x.dtype))
    return G.DequantizeLinear(x, _value(G, unit), zero, dtype=np.float32, shape=x.shape)


def quantized(G, real, unit, kind):
    """Quantize floats to 8-bit integers."""
    zero = G.const(np.zeros((), kind))
    return G.QuantizeLinear(real, _value(G, unit), zero, dtype=kind, shape=real.shape)


def range_of(G, kind, top, low=None):
    """Minimum and maximum, as vectors of one element."""
    if isinstance(top, np.float32):
        low = np.float32(0) if kind == np.uint8 else -top
        return [G.const(np.asarray([n], np.float32)) for n in (low, top)]
    top = G.reshape(top, [1])
    return [G.full([1], 0, np.float32) if kind == np.uint8 else G.Neg(top), top]


def _range(G, a):
    """The range given by attributes, unmodified."""
    return [G.const(np.asarray([n], np.float32)) for n in (a.min_calib_range, a.max_calib_range)]


def _wide(G, real, top):
    """Quantize floats to int32 values with `real` set, and their range."""
    units = G.op("Div", G.const(np.float64(LIMITS["int32"])), G.cast(_value(G, top), np.float64))
    exact = G.op("Mul", G.cast(real, np.float64), units)
    ends = np.iinfo(np.int32)
    numbers = G.cast(G.clip(G.Round(exact), ends.min, ends.max), np.int32)
    numbers.real = real
    return [numbers, *range_of(G, np.int8, top)]


def _largest(G, x):
    """The largest magnitude; 0 for empty arrays."""
    if 0 in x.shape:
        return np.float32(0)
    top = G.reduce("Max", G.Abs(x))
    return top if -1 not in x.shape else G.Max(top, G.const(np.float32(0)))


def _at_least(G, top):
    """Bound a magnitude from below, to allow division."""
    if isinstance(top, np.float32):
        return np.float32(max(top, _TINY))
    return G.Max(top, G.const(np.float32(_TINY)))


# --- convolution and dense layers ----------------------------------------------------------------


def _layer(a, G, plain, x, weight, *others):
    """int32 results of a layer and their range; `plain` creates the float layer."""
    bias, *ranges = others if not a.no_bias else (None, *others)
    steps = [
        step_of(G, ranges[0], ranges[1], LARGEST[x.dtype.name]),
        step_of(G, ranges[2], ranges[3], LARGEST["int8"]),
    ]
    known = all(isinstance(part, np.float32) for part in steps)
    unit = np.float32(steps[0] * steps[1]) if known else G.op("Mul", *(_value(G, s) for s in steps))
    in_steps = None if bias is None else _whole(G, x, bias, ranges)
    # The integers, exact for sums of up to 24 bits.
    sums = plain(a, G, G.cast(x, np.float32), G.cast(weight, np.float32), in_steps)
    numbers = G.cast(sums, np.int32)
    real_bias = None
    if in_steps is not None:
        real_bias = in_steps * _value(G, unit)
        if in_steps.array is not None and known:
            int32_bias = G.const(in_steps.array.astype(np.int32))
            real_bias = G.DequantizeLinear(int32_bias, G.const(unit), dtype=np.float32)
            real_bias.shape = bias.shape
    numbers.real = plain(
        a, G, dequantized(G, x, steps[0]), dequantized(G, weight, steps[1]), real_bias
    )
    numbers.real.shape = G.out.shape
    top = np.float32(2**31) * unit if known else unit * float(2**31)
    return [numbers, *range_of(G, np.int8, top)]


def _whole(G, x, bias, ranges):
    """The bias in units of the sums' step, as floats."""
    tops = [reach(G, low, high) for low, high in zip(ranges[::2], ranges[1::2], strict=True)]
    if bias.array is not None and all(isinstance(top, np.float32) for top in tops):
        reaches = dict(zip(("data", "weight", "bias"), tops, strict=True))
        numbers = {"data": np.zeros(0, x.dtype), "bias": bias.array}
        return G.const(whole_bias(np, numbers, reaches).astype(np.float32))
    data, weight, own = (_value(G, top) for top in tops)
    factor = own * float(limit_of(x.dtype)) / (data * weight)
    return G.cast(G.cast(G.cast(bias, np.float32) * factor, np.int32), np.float32)


@convert("_contrib_quantized_conv")
def quantized_convolution(a, G, x, weight, *others):
    """Conv between dequantization and quantization."""
    return _layer(a, G, convolution, x, weight, *others)


@convert("_contrib_quantized_fully_connected")
def quantized_dense(a, G, x, weight, *others):
    """Gemm or MatMul between dequantization and quantization."""
    if a.flatten and x.ndim != 2:
        shape = (x.shape[0], -1 if -1 in x.shape[1:] else int(np.prod(x.shape[1:])))
        x = G.op("Flatten", x, axis=1, shape=shape, dtype=x.dtype)
    return _layer(a, G, fully_connected, x, weight, *others)


@convert("_contrib_requantize")
def requantize(a, G, x, low, high):
    """Quantize to 8 bits with a range that is given or computed at run time."""
    kind = G.out.dtype
    real = x.real
    if real is None:
        real = G.cast(x, np.float32) * _value(G, step_of(G, low, high, LIMITS["int32"]))
    top = reach_of(a) if calibrated(a) else _largest(G, real)
    unit = step(G, top, LARGEST[kind.name])
    return [quantized(G, real, unit, kind), *range_of(G, kind, top)]


# --- operators that change the range -------------------------------------------------------------


def _operands(G, x, y, ranges):
    parts = zip((x, y), ranges[::2], ranges[1::2], strict=True)
    return [dequantized(G, v, step_of(G, low, high, limit_of(v.dtype))) for v, low, high in parts]


@convert("_contrib_quantized_elemwise_add")
def quantized_add(a, G, x, y, *ranges):
    """8-bit sum if its range is given, else int32."""
    total = G.op("Add", *_operands(G, x, y, ranges))
    if calibrated(a):
        kind = G.out.dtype
        return [quantized(G, total, step(G, reach_of(a), limit_of(kind)), kind), *_range(G, a)]
    tops = [reach(G, low, high) for low, high in zip(ranges[::2], ranges[1::2], strict=True)]
    known = all(isinstance(top, np.float32) for top in tops)
    top = np.float32(tops[0] + tops[1]) if known else G.op("Add", *(_value(G, t) for t in tops))
    return _wide(G, total, _at_least(G, top))


@convert("_contrib_quantized_elemwise_mul")
def quantized_multiply(a, G, x, y, *ranges):
    """Float product, truncated 8-bit product, or int32 product."""
    product = G.op("Mul", *_operands(G, x, y, ranges))
    if a.enable_float_output:
        return product
    if calibrated(a):
        scaled = product * float(LIMITS["int8"] / max(reach_of(a), _TINY))
        return [G.cast(G.clip(scaled, -128, 127), np.int8), *_range(G, a)]
    numbers = G.op("Mul", G.cast(x, np.int32), G.cast(y, np.int32))
    numbers.real = product
    steps = [
        step_of(G, low, high, LARGEST[v.dtype.name])
        for v, low, high in zip((x, y), ranges[::2], ranges[1::2], strict=True)
    ]
    if all(isinstance(part, np.float32) for part in steps):
        top = np.float32(2**31) * np.float32(steps[0] * steps[1])
    else:
        top = G.op("Mul", *(_value(G, s) for s in steps)) * float(2**31)
    return [numbers, *range_of(G, np.int8, top)]


@convert("_contrib_quantized_concat")
def quantized_concat(a, G, *values):
    """The range covers those of all inputs."""
    count = a.num_args
    arrays, ranges = values[:count], values[count:]
    lows, highs = ranges[::2], ranges[1::2]
    low, high = (
        parts[0] if count == 1 else G.op(kind, *parts)
        for kind, parts in (("Min", lows), ("Max", highs))
    )
    if all(x.array is not None for x in ranges):
        low = G.const(np.asarray(min(x.array for x in lows), np.float32).reshape(1))
        high = G.const(np.asarray(max(x.array for x in highs), np.float32).reshape(1))
    kind = G.out.dtype
    reals = [
        dequantized(G, x, step_of(G, least, most, limit_of(x.dtype)))
        for x, least, most in zip(arrays, lows, highs, strict=True)
    ]
    joined = G.concat(reals, a.dim)
    return [quantized(G, joined, step_of(G, low, high, limit_of(kind)), kind), low, high]


@convert("_contrib_quantized_batch_norm")
def quantized_normalization(a, G, x, gamma, beta, mean, variance, low, high):
    """BatchNormalization between dequantization and quantization, with gamma unmodified."""
    real = dequantized(G, x, step_of(G, low, high, limit_of(x.dtype)))
    axis = a.axis % x.ndim
    order = [i for i in range(x.ndim) if i != axis]
    order.insert(1, axis)
    transposed = G.transpose(real, order)
    normalized = G.BatchNormalization(transposed, gamma, beta, mean, variance, epsilon=a.eps)
    normalized.shape = transposed.shape
    real = G.transpose(normalized, [order.index(i) for i in range(x.ndim)])
    if calibrated(a):
        return [quantized(G, real, step(G, reach_of(a), LIMITS["int8"]), np.int8), *_range(G, a)]
    top = _largest(G, real)
    return [quantized(G, real, step(G, top, LIMITS["int8"]), np.int8), *range_of(G, np.int8, top)]


# --- operators that keep the range ---------------------------------------------------------------


@convert("_contrib_quantized_act")
def quantized_relu(a, G, x, low, high):
    """Replace negative integers by 0."""
    unit = step_of(G, low, high, limit_of(x.dtype))
    return [quantized(G, G.Relu(dequantized(G, x, unit)), unit, x.dtype), low, high]


@convert("_contrib_quantized_pooling")
def quantized_pooling(a, G, x, low, high):
    """Pooling between dequantization and quantization with equal steps, so maxima are exact."""
    unit = step_of(G, low, high, limit_of(x.dtype))
    pooled = pooling(a, G, dequantized(G, x, unit))
    pooled.shape = G.out.shape
    return [quantized(G, pooled, unit, x.dtype), low, high]


@convert("_contrib_quantized_embedding")
def quantized_embedding(a, G, x, weight, low, high):
    """Gather integer rows; ids are clipped."""
    ids = G.clip(G.cast(x, np.int64), 0, a.input_dim - 1)
    return [G.gather(weight, ids), low, high]


def _moved(name):
    """Create a converter that applies an operator's float converter to integers."""
    return lambda a, G, x, low, high: [find(name).onnx(a, G, x), low, high]


convert("_contrib_quantized_flatten")(_moved("Flatten"))
convert("_contrib_quantized_reshape")(_moved("Reshape"))
convert("_contrib_quantized_transpose")(_moved("transpose"))
convert("_npx_quantized_reshape")(_moved("_npx_reshape"))
convert("_npx_quantized_transpose")(_moved("_npi_transpose"))


# --- fused layers --------------------------------------------------------------------------------


def _expanded(a, G, *values):
    """Convert the layer and the operators fused into it by their own converters."""
    node, sources = G.node, {f"in{i}": value for i, value in enumerate(values)}
    variables = [Node(None, name, None, ()) for name in sources]
    numbers = range(len(values))
    copy = Node(node.op, node.name, node.attrs, [(i, 0) for i in numbers], node.extra)
    specs = [G.translation.spec_of(value) for value in values]
    outs = [G.translation.spec_of(value) for value in G.outs]
    graph = Graph(
        [*variables, copy],
        [(len(values), i) for i in range(len(outs))],
        [*([spec] for spec in specs), outs],
    )
    return G.translation.graph(expand_graph(graph), sources, prefix=f"{node.name}_", named=False)


for _record in EXPANSIONS:
    if _record.layer is None and _record.name.startswith("_sg_"):
        convert(_record.name)(_expanded)


def _of_channels(G, weight, units):
    """Dequantize int8 filters with one step each."""
    numbers = np.rint(weight / units.reshape(-1, *(1,) * (weight.ndim - 1))).astype(np.int8)
    zeros = G.const(np.zeros(len(units), np.int8))
    return G.DequantizeLinear(
        G.const(numbers), G.const(units.astype(np.float32)), zeros, axis=0, dtype=np.float32,
        shape=weight.shape,
    )  # fmt: skip


@convert("_round_filters")
def round_filters(a, G, weight):
    """Quantize constant filters to int8 with one step each."""
    if weight.array is not None and weight.array.size and G.opset >= 13:
        rows = np.abs(weight.array.astype(np.float32)).reshape(len(weight.array), -1).max(axis=1)
        units = np.where(rows > 0, rows, np.float32(1)) / np.float32(LARGEST["int8"])
        return _of_channels(G, weight.array, units)
    axes = tuple(range(1, weight.ndim))
    top = G.reduce("Max", G.Abs(weight), axes, keepdims=True)
    unit = G.Where(G.Greater(top, G.like(top, 0)), top, G.like(top, 1)) / LARGEST["int8"]
    return G.Round(weight / unit) * unit


@convert("_dequantize_parameter")
def dequantize_parameter(a, G, x, low, high):
    """Use the step that corresponds to the range."""
    return dequantized(G, x, step_of(G, low, high, LARGEST["int8"]))


@convert("_quantize_wide")
def quantize_wide(a, G, x):
    """Quantize to int32 values with `real` set."""
    top = _largest(G, x)
    (numbers, *_) = _wide(G, x, _at_least(G, top))
    return [numbers, *range_of(G, np.int8, top)]
