"""PyTorch in channels_last: as a frozen, optimized script, or compiled.

The network is built from PyTorch's modules, from the same description as for all contenders.
"""

from pathlib import Path

import numpy as np
import torch
import torch._inductor.config as inductor
from torch import fx, nn
from torch.nn import functional

from benchmarks.score.graph import read_graph

MODULES = {"relu": nn.ReLU, "sigmoid": nn.Sigmoid, "tanh": nn.Tanh, "softrelu": nn.Softplus}


def _tensor(array):
    return nn.Parameter(torch.from_numpy(array), requires_grad=False)


def _convolution(node, weight, bias=None):
    module = nn.Conv2d(
        weight.shape[1] * node.get("num_group", 1),
        weight.shape[0],
        node.pair("kernel", 1),
        node.pair("stride", 1),
        node.pair("pad", 0),
        node.pair("dilate", 1),
        node.get("num_group", 1),
        bias is not None,
        device="meta",
    )
    module.weight = _tensor(weight)
    if bias is not None:
        module.bias = _tensor(bias)
    return module


def _dense(node, weight, bias=None):
    module = nn.Linear(weight.shape[1], weight.shape[0], bias is not None, device="meta")
    module.weight = _tensor(weight)
    if bias is not None:
        module.bias = _tensor(bias)
    return nn.Sequential(nn.Flatten(), module) if node.get("flatten", True) else module


def _batch_norm(node, gamma, beta, mean, variance):
    module = nn.BatchNorm2d(len(gamma), eps=float(node.get("eps", 1e-3)))
    with torch.no_grad():
        module.weight.copy_(torch.from_numpy(gamma))
        if node.get("fix_gamma", True):
            module.weight.fill_(1)
        module.bias.copy_(torch.from_numpy(beta))
        module.running_mean.copy_(torch.from_numpy(mean))
        module.running_var.copy_(torch.from_numpy(variance))
    return module


def _pooling(node):
    if node.get("global_pool"):
        return {"avg": nn.AdaptiveAvgPool2d, "max": nn.AdaptiveMaxPool2d}[node.get("pool_type")](1)
    window = [node.pair("kernel", 1), node.pair("stride", 1), node.pair("pad", 0)]
    ceil = node.get("pooling_convention") == "full"
    if node.get("pool_type", "max") == "max":
        return nn.MaxPool2d(*window, ceil_mode=ceil)
    return nn.AvgPool2d(
        *window, ceil_mode=ceil, count_include_pad=node.get("count_include_pad", True)
    )


MAKERS = {
    "Activation": lambda node: MODULES[node.get("act_type")](),
    "BatchNorm": _batch_norm,
    "Convolution": _convolution,
    "Flatten": lambda node: nn.Flatten(),
    "FullyConnected": _dense,
    "LRN": lambda node: nn.LocalResponseNorm(
        node.get("nsize"), node.get("alpha", 1e-4), node.get("beta", 0.75), node.get("knorm", 2.0)
    ),
    "Pooling": _pooling,
    "SoftmaxOutput": lambda node: nn.Softmax(1),
    "clip": lambda node: nn.Hardtanh(float(node.get("a_min")), float(node.get("a_max"))),
    "L2Normalization": lambda node: _ChannelNorm(float(node.get("eps", 1e-10))),
    "softmax": lambda node: nn.Softmax(node.get("axis", -1)),
}


class _ChannelNorm(nn.Module):
    """Divide by the norm of each pixel's channels."""

    def __init__(self, eps):
        super().__init__()
        self._eps = eps

    def forward(self, data):
        return data * torch.rsqrt((data * data).sum(1, keepdim=True) + self._eps)


#: operators without parameters of their own -> function of the inputs
FUNCTIONS = {
    "Concat": lambda node: lambda *data: torch.cat(data, node.get("dim", 1)),
    "Dropout": lambda node: lambda data: data,
    "Reshape": lambda node: lambda data: data.reshape(len(data), *node.get("shape")[1:]),
    "_copy": lambda node: lambda data: data,
    "broadcast_mul": lambda node: torch.mul,
    "elemwise_add": lambda node: torch.add,
    "elemwise_mul": lambda node: torch.mul,
    "hard_sigmoid": lambda node: functional.hardsigmoid,
    "sigmoid": lambda node: torch.sigmoid,
    "transpose": lambda node: lambda data: data.permute(node.get("axes")),
}


def build(folder):
    """A module, in evaluation mode, from ``symbol.json`` and ``weights.npz`` in a folder."""
    root, graph, values = nn.Module(), fx.Graph(), []
    nodes = read_graph(folder)
    with np.load(Path(folder, "weights.npz")) as weights:
        for node in nodes:
            inputs = [values[position] for position in node.inputs]
            if node.op == "null":
                known = node.name in weights.files
                label = node.name.endswith("label")
                value = node.name if known or label else graph.placeholder(node.name)
            elif node.op in FUNCTIONS:
                data = tuple(_read(root, graph, weights, value) for value in inputs)
                value = graph.call_function(FUNCTIONS[node.op](node), data)
            else:
                given = [weights[name] for name in inputs[1:] if name in weights.files]
                root.add_module(node.name, MAKERS[node.op](node, *given))
                value = graph.call_module(node.name, (inputs[0],))
            values.append(value)
    graph.output(values[-1])
    return fx.GraphModule(root, graph).eval()


def _read(root, graph, weights, value):
    """The value of a graph; of a parameter's name, the parameter."""
    if isinstance(value, fx.Node):
        return value
    root.register_parameter(value, _tensor(weights[value]))
    return graph.get_attr(value)


class Contender:
    """See `worker.py`; subclasses define how the module is optimized."""

    def __init__(self, folder, threads):
        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)
        self._module = self.make(folder)
        self._fast = None

    def make(self, folder):
        return build(folder).to(memory_format=torch.channels_last)

    def tensor(self, data):
        return torch.from_numpy(data).contiguous(memory_format=torch.channels_last)

    def bind(self, data):
        self._data = self.tensor(data)
        self.optimize()

    def run(self):
        self._out = self._fast(self._data)

    def output(self):
        return self._out.numpy()

    def about(self):
        return f"PyTorch {torch.__version__}"


class Scripted(Contender):
    """Traced, frozen, optimized for inference."""

    def optimize(self):
        if self._fast is None:
            traced = torch.jit.freeze(torch.jit.trace(self._module, self._data))
            self._fast = torch.jit.optimize_for_inference(traced)
        self._fast(self._data)  # the executor specializes during the first runs


class Compiled(Contender):
    """torch.compile with frozen weights: once for dynamic batch sizes, once for single images."""

    def optimize(self):
        inductor.freezing = True
        if len(self._data) > 1:
            torch._dynamo.mark_dynamic(self._data, 0)
        if self._fast is None:
            self._fast = torch.compile(self._module)
        self._fast(self._data)
