"""Write an image classifier as an ONNX file.

Runs in the environment of ONNX Runtime. The batch size is
the dynamic dimension "N".
"""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from benchmarks.score.graph import read_graph

__all__ = ["write_onnx"]

OPSET = 17
ACTIVATIONS = {"relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh", "softrelu": "Softplus"}


def _window(node):
    """Attributes of convolution and pooling."""
    top, left = node.pair("pad", 0)
    return {
        "kernel_shape": node.pair("kernel", 1),
        "strides": node.pair("stride", 1),
        "pads": (top, left, top, left),
    }


def _convolution(node, ins, weights):
    return (
        "Conv",
        ins,
        {**_window(node), "dilations": node.pair("dilate", 1), "group": node.get("num_group", 1)},
    )


def _pooling(node, ins, weights):
    kind = {"max": "MaxPool", "avg": "AveragePool"}[node.get("pool_type", "max")]
    if node.get("global_pool"):
        return f"Global{kind}", ins, {}
    attrs = {**_window(node), "ceil_mode": int(node.get("pooling_convention") == "full")}
    if kind == "AveragePool":
        attrs["count_include_pad"] = int(node.get("count_include_pad", True))
    return kind, ins, attrs


def _dense(node, ins, weights):
    return "Gemm", ins, {"transB": 1}


def _batch_norm(node, ins, weights):
    if node.get("fix_gamma", True):
        weights[ins[1]] = np.ones_like(weights[ins[1]])
    return "BatchNormalization", ins, {"epsilon": float(node.get("eps", 1e-3))}


def _clip(node, ins, weights):
    bounds = []
    for end in ("a_min", "a_max"):
        bounds.append(f"{node.name}_{end}")
        weights[bounds[-1]] = np.array(node.get(end), "float32")
    return "Clip", [*ins, *bounds], {}


def _lrn(node, ins, weights):
    attrs = {"size": node.get("nsize"), "alpha": float(node.get("alpha", 1e-4))}
    return (
        "LRN",
        ins,
        {**attrs, "beta": float(node.get("beta", 0.75)), "bias": float(node.get("knorm", 2))},
    )


WRITERS = {
    "Activation": lambda node, ins, weights: (ACTIVATIONS[node.get("act_type")], ins, {}),
    "BatchNorm": _batch_norm,
    "Concat": lambda node, ins, weights: ("Concat", ins, {"axis": node.get("dim", 1)}),
    "Convolution": _convolution,
    "Dropout": lambda node, ins, weights: ("Identity", ins, {}),
    "Flatten": lambda node, ins, weights: ("Flatten", ins, {}),
    "FullyConnected": _dense,
    "LRN": _lrn,
    "Pooling": _pooling,
    "SoftmaxOutput": lambda node, ins, weights: ("Softmax", ins[:1], {"axis": 1}),
    "clip": _clip,
    "_copy": lambda node, ins, weights: ("Identity", ins, {}),
    "elemwise_add": lambda node, ins, weights: ("Add", ins, {}),
}


def write_onnx(folder, path):
    """Write an ONNX file with the weights of ``folder/weights.npz``.

    Parameters
    ----------
    folder : str or Path
        Holds ``symbol.json``, ``weights.npz`` and ``images.npy``.
    path : str or Path
        The file to write.

    Raises
    ------
    KeyError
        If an operator of the network is not supported here.
    """
    with np.load(Path(folder, "weights.npz")) as file:
        weights = {name: file[name] for name in file.files}
    shape = np.load(Path(folder, "images.npy"), mmap_mode="r").shape
    nodes = read_graph(folder)
    written = []
    for node in nodes:
        if node.op != "null":
            names = [nodes[position].name for position in node.inputs]
            op, ins, attrs = WRITERS[node.op](node, names, weights)
            written.append(helper.make_node(op, ins, [node.name], name=node.name, **attrs))
    graph = helper.make_graph(
        written,
        "network",
        [helper.make_tensor_value_info("data", TensorProto.FLOAT, ["N", *shape[1:]])],
        [helper.make_tensor_value_info(nodes[-1].name, TensorProto.FLOAT, ["N", None])],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    onnx.save(model, str(path))
