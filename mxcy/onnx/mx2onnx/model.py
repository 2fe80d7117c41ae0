"""Conversion of a `Builder` to ONNX protobufs."""

import numpy as np

from mxcy._base import dtypes
from mxcy._base.errors import MXNetError
from mxcy.onnx.mx2onnx.values import Body
from mxcy.onnx.package import onnx_package

__all__ = ["element_type", "live", "make_model"]


def element_type(dtype):
    """The ONNX code of a dtype."""
    onnx = onnx_package()
    if dtype == dtypes.bfloat16:
        return onnx.TensorProto.BFLOAT16
    return onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


def live(nodes, wanted):
    """The nodes that results depend on, including those in bodies.

    Parameters
    ----------
    nodes : list of Node
    wanted : iterable of Value

    Returns
    -------
    (list of Node, set of int)
        The nodes, and the ids of all used values.
    """
    used, kept = {id(value) for value in wanted}, []
    for node in reversed(nodes):
        if not any(id(value) in used for value in node.outputs):
            continue
        kept.append(node)
        used.update(id(value) for value in node.inputs if value is not None)
        for body in node.bodies():
            body.nodes, inside = live(body.nodes, body.outputs)
            used |= inside
    return kept[::-1], used


def _tensor(name, array):
    onnx = onnx_package()
    if array.dtype == dtypes.bfloat16:
        code = onnx.TensorProto.BFLOAT16
        return onnx.helper.make_tensor(name, code, array.shape, array.tobytes(), raw=True)
    return onnx.numpy_helper.from_array(np.asarray(array, order="C"), name)


def _described(value, extents=None):
    """Describe a value as an input or output of a graph."""
    shape = value.shape
    if shape is not None:
        named = extents or (None,) * len(shape)
        shape = [n if e == -1 else e for e, n in zip(shape, named, strict=True)]
    return onnx_package().helper.make_tensor_value_info(
        value.name, element_type(value.dtype), shape
    )


def _node(node):
    helper = onnx_package().helper
    if node.proto is not None:
        return node.proto
    attrs = {}
    for name, value in node.attrs.items():
        if isinstance(value, np.dtype | type):
            value = element_type(value)
        elif isinstance(value, np.ndarray):
            value = _tensor(name, value)
        elif isinstance(value, Body):
            value = helper.make_graph(
                [_node(inner) for inner in value.nodes],
                value.name,
                [_described(x) for x in value.inputs],
                [_described(x) for x in value.outputs],
            )
        attrs[name] = value
    return helper.make_node(
        node.op_type,
        ["" if value is None else value.name for value in node.inputs],
        [value.name for value in node.outputs],
        name=node.outputs[0].name,
        **attrs,
    )


def make_model(builder, inputs, outputs, name="mxcy", extra=()):
    """Create the ModelProto of a builder's graph.

    Parameters
    ----------
    builder : Builder
    inputs : list of (Value, extents)
        Inputs and their extents; names or None for those only known at run time.
    outputs : list of Value
    name : str
    extra : iterable of TensorProto
        Constants added by users' converters.

    Returns
    -------
    ModelProto
    """
    onnx = onnx_package()
    helper = onnx.helper
    nodes, used = live(builder.nodes, outputs)
    constants = [
        _tensor(value.name, array)
        for value, array in builder.constants.values()
        if id(value) in used
    ]
    graph = helper.make_graph(
        [_node(node) for node in nodes],
        name,
        [_described(value, extents) for value, extents in inputs],
        [_described(value) for value in outputs],
        [*constants, *extra],
    )
    opset = helper.make_opsetid("", builder.opset)
    try:
        version = helper.find_min_ir_version_for([opset])
    except ValueError as error:
        raise MXNetError(f"the installed onnx does not know opset {builder.opset}") from error
    model = helper.make_model(graph, opset_imports=[opset], producer_name="mxcy")
    model.ir_version = version
    return model
