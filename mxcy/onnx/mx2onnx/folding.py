"""Folding of normalizations into preceding quantized convolutions.

A normalization's factor is multiplied into the filters' quantization steps, leaving the integers
unchanged. Runtimes then see nothing between a layer and the quantization of its result.
"""

import numpy as np

from mxcy.onnx.mx2onnx.values import Node, Value

__all__ = ["fold_normalizations"]


def _users(nodes):
    """id of a value -> number of uses as inputs; a use in a body counts as several."""
    count = {}
    for node in nodes:
        for value in node.inputs:
            count[id(value)] = count.get(id(value), 0) + 1
        if node.bodies():
            return None
    return count


def _constants(values):
    arrays = [None if value is None else value.array for value in values]
    return None if any(array is None for array in arrays) else arrays


def _filters(node, makers):
    """(DequantizeLinear, integers, steps) of a convolution's filters, or None."""
    dequantize = makers.get(id(node.inputs[1]))
    if dequantize is None or dequantize.op_type != "DequantizeLinear":
        return None
    known = _constants(dequantize.inputs[:2])
    if known is None or known[0].dtype != np.int8 or dequantize.attrs.get("axis") != 0:
        return None
    return dequantize, *known


def fold_normalizations(builder, results):
    """Fold BatchNormalization into quantized Conv nodes, modifying the builder's nodes.

    Parameters
    ----------
    builder : Builder
    results : list of Value
        Outputs of the graph, which are preserved.
    """
    users = _users(builder.nodes)
    if users is None:
        return
    makers = {id(value): node for node in builder.nodes for value in node.outputs}
    kept, changed = {id(value) for value in results}, {}
    for node in builder.nodes:
        if node.op_type != "BatchNormalization":
            continue
        layer = makers.get(id(node.inputs[0]))
        if layer is None or layer.op_type != "Conv" or len(layer.inputs) > 2:
            continue
        if users[id(node.inputs[0])] > 1 or id(node.inputs[0]) in kept:
            continue
        filters, known = _filters(layer, makers), _constants(node.inputs[1:5])
        if filters is not None and known is not None:
            changed[id(node)] = _folded(builder, node, layer, filters, known)
    if changed:
        builder.nodes = [
            part for node in builder.nodes for part in changed.get(id(node), [node])
        ]  # fmt: skip


def _folded(builder, node, layer, filters, known):
    """The nodes that replace a normalization: filters with scaled steps, and the layer."""
    dequantize, numbers, steps = filters
    gamma, beta, mean, variance = (array.astype(np.float64) for array in known)
    factor = gamma / np.sqrt(variance + node.attrs.get("epsilon", 1e-5))
    signs = np.where(factor < 0, -1, 1).reshape(-1, *(1,) * (numbers.ndim - 1))
    numbers = np.clip(numbers.astype(np.int16) * signs, -127, 127).astype(np.int8)
    tiny = np.finfo(np.float32).tiny
    steps = np.maximum(np.abs(factor) * steps, tiny).astype(np.float32)
    weight = Value(builder, builder.unique(f"{dequantize.outputs[0].name}_folded"),
                   dequantize.outputs[0].shape, np.float32)  # fmt: skip
    parts = [builder.const(numbers), builder.const(steps), *dequantize.inputs[2:]]
    bias = builder.const((beta - mean * factor).astype(np.float32))
    return [
        Node("DequantizeLinear", parts, [weight], dequantize.attrs),
        Node("Conv", [layer.inputs[0], weight, bias], node.outputs, layer.attrs),
    ]
