"""Loading torchvision's parameters into the model zoo's networks.

Both list their layers in the order of computation, so layers are matched by position; names only
group the tensors of a layer. Where an architecture differs in details, the zoo's network is
modified to compute the same as torchvision's.
"""

import os

import numpy as np

from mxcy.base import MXNetError
from mxcy.context import current_context
from mxcy.gluon import nn
from mxcy.gluon.model_zoo import vision
from mxcy.interop.safetensors import load_safetensors
from mxcy.interop.torch_files import load_torch
from mxcy.ndarray import array as nd_array

__all__ = ["from_torchvision", "load_layers"]

#: name of a layer's tensor in PyTorch -> in Gluon
_PARTS = {
    "weight": ("weight", "gamma"),
    "bias": ("bias", "beta"),
    "running_mean": ("running_mean",),
    "running_var": ("running_var",),
}


# --- layers in order -----------------------------------------------------------------------------


def _torch_layers(state):
    """Group a state dict by layers: [(name, {part: NumPy array})]."""
    layers = {}
    for name, value in state.items():
        layer, _, part = name.rpartition(".")
        if part == "num_batches_tracked":
            continue
        if part not in _PARTS:
            raise MXNetError(f"tensor {name!r}: expected a layer's {', '.join(_PARTS)}")
        layers.setdefault(layer, {})[part] = (
            value if isinstance(value, np.ndarray) else value.asnumpy()
        )
    return list(layers.items())


def _own_layers(block):
    """The blocks with own parameters, in the order of definition."""
    layers = []
    for child in block._children.values():
        layers += _own_layers(child)
    if any(p is not None for p in getattr(block, "_reg_params", {}).values()):
        layers.append(block)
    return layers


def load_layers(net, state, ctx=None):
    """Load a PyTorch state dict into a network with the same layers in the same order.

    Parameters
    ----------
    net : Block
        Network with the convolutions, dense layers and normalizations of the state dict; biases
        missing there are set to 0.
    state : dict of str to NDArray or numpy.ndarray
    ctx : Context or list of Context, optional
        Contexts of the parameters; the current one by default.

    Raises
    ------
    MXNetError
        If a layer has another type or shape, or is missing; the message names both.
    """
    torch_layers, own_layers = _torch_layers(state), _own_layers(net)
    if len(torch_layers) != len(own_layers):
        raise MXNetError(
            f"the network has {len(own_layers)} layers, the state dict {len(torch_layers)}"
        )
    ready = []
    for (name, parts), layer in zip(torch_layers, own_layers, strict=True):
        ready += _matched(name, dict(parts), layer)
    for parameter, value in ready:  # all layers fit: load them
        parameter.shape = value.shape
        parameter._load_init(nd_array(value), ctx or current_context())


def _matched(name, parts, layer):
    """Match the tensors of a layer: [(parameter, array)]."""
    pairs = []
    for own, parameter in layer._reg_params.items():
        if parameter is None:
            continue
        part = next((p for p, names in _PARTS.items() if own in names and p in parts), None)
        shape = parameter.shape
        if part is None and own == "bias":
            value = np.zeros(shape, np.float32)
        elif part is None:
            raise MXNetError(f"layer {name!r} has no tensor for {parameter.name}")
        else:
            value = parts.pop(part)
        if len(shape) != value.ndim or any(
            n not in (0, -1, m) for n, m in zip(shape, value.shape, strict=True)
        ):
            raise MXNetError(
                f"layer {name!r}: its {part} has shape {value.shape}, {parameter.name} {shape}"
            )
        pairs.append((parameter, np.ascontiguousarray(value, np.float32)))
    if parts:
        raise MXNetError(
            f"layer {name!r}: {layer.name} has no parameter for its {', '.join(parts)}"
        )
    return pairs


# --- architectures -------------------------------------------------------------------------------


def _strided_like_torch(net):
    """Move the strides of bottlenecks to their 3 x 3 convolutions, as in torchvision."""
    for stage in net.features._children.values():
        for block in getattr(stage, "_children", {}).values():
            if type(block).__name__ == "BottleneckV1":
                first, middle = (block.body[i]._kwargs for i in (0, 3))
                first["stride"], middle["stride"] = middle["stride"], first["stride"]


def _with_bias(net):
    """Add a bias to the last layer of MobileNetV2."""
    old = net.output[0]
    with net.name_scope():
        head = nn.HybridSequential(prefix="output_")
        with head.name_scope():
            channels = old._kwargs["num_filter"]
            head.add(nn.Conv2D(channels, kernel_size=1, prefix="pred_"), nn.Flatten())
    net.output = head


def _mobilenet_state(state):
    """Add the zoo's additional layer: an expansion of the first block by a factor of 1."""
    result = {}
    for name, value in state.items():
        value = value if isinstance(value, np.ndarray) else value.asnumpy()
        if name == "features.1.conv.0.0.weight":
            count = value.shape[0]
            eye = np.eye(count, dtype=np.float32).reshape(count, count, 1, 1)
            result["expand.weight"] = eye
            # An identity normalization: epsilon is included in the variance.
            unit = np.ones(count, np.float32)
            result.update(
                {
                    "expand_bn.weight": unit,
                    "expand_bn.bias": 0 * unit,
                    "expand_bn.running_mean": 0 * unit,
                    "expand_bn.running_var": unit - np.float32(1e-5),
                }
            )
        if name == "classifier.1.weight":
            value = value.reshape(*value.shape, 1, 1)
        result[name] = value
    return result


def _without_auxiliary(state):
    return {name: value for name, value in state.items() if not name.startswith("AuxLogits.")}


class _Architecture:
    """How to convert a zoo network to a torchvision model."""

    def __init__(self, make, change=None, translate=None):
        self.make, self.change, self.translate = make, change, translate


_MODELS = {
    "alexnet": _Architecture(vision.alexnet),
    "inception_v3": _Architecture(vision.inception_v3, translate=_without_auxiliary),
    "mobilenet_v2": _Architecture(vision.mobilenet_v2_1_0, _with_bias, _mobilenet_state),
    **{
        f"densenet{n}": _Architecture(getattr(vision, f"densenet{n}")) for n in (121, 161, 169, 201)
    },
    **{f"resnet{n}": _Architecture(getattr(vision, f"resnet{n}_v1")) for n in (18, 34)},
    **{
        f"resnet{n}": _Architecture(getattr(vision, f"resnet{n}_v1"), _strided_like_torch)
        for n in (50, 101, 152)
    },
    **{f"squeezenet1_{n}": _Architecture(getattr(vision, f"squeezenet1_{n}")) for n in (0, 1)},
    **{
        f"vgg{n}{bn}": _Architecture(getattr(vision, f"vgg{n}{bn}"))
        for n in (11, 13, 16, 19)
        for bn in ("", "_bn")
    },
}


def _state_of(source, ctx):
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        source = load_safetensors(path) if path.endswith(".safetensors") else load_torch(path)
    for key in ("state_dict", "model"):  # wrappers used by training programs
        if isinstance(source, dict) and isinstance(source.get(key), dict):
            source = source[key]
    if not isinstance(source, dict):
        raise MXNetError(f"expected a state dict, got {type(source).__name__}")
    return {name.removeprefix("module."): value for name, value in source.items()}


def from_torchvision(name, source, ctx=None, classes=1000):
    """Create the zoo's equivalent of a torchvision model, with its parameters.

    Parameters
    ----------
    name : str
        torchvision's name of the model, e.g. ``resnet50`` or ``mobilenet_v2``.
    source : str, path or dict
        State dict, or file of one, written by `torch.save` or as safetensors.
    ctx : Context or list of Context, optional
        Contexts of the parameters; the current one by default.
    classes : int
        Number of classes of the model.

    Returns
    -------
    HybridBlock
        Network whose inputs are torchvision's: RGB with mean 0 and standard deviation 1.

    Raises
    ------
    ValueError
        If the zoo has no such network.
    MXNetError
        If the file or the state dict does not fit the model.
    """
    if name not in _MODELS:
        raise ValueError(f"no network for torchvision's {name!r}; choose from {sorted(_MODELS)}")
    model, state = _MODELS[name], _state_of(source, ctx)
    net = model.make(classes=classes)
    if model.change is not None:
        model.change(net)
    load_layers(net, state if model.translate is None else model.translate(state), ctx)
    return net
