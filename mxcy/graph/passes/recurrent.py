"""Caching of the concatenated parameters of recurrent layers.

Layers have separate arrays for weights and biases, which operator RNN needs as one. In prediction
the nodes that concatenate them run once, like those that pack weights. With
MXNET_RNN_USE_WEIGHT_CACHE they do not run again even if a parameter was written.
"""

import logging

from mxcy.graph.graph import Graph, Node
from mxcy.graph.planning.plan import FIXED, ONCE
from mxcy.ops.core.record import find

__all__ = ["run"]

_RNN = find("RNN")
_warned: set[str] = set()


def run(graph, target):
    """Mark the nodes that compute recurrent layers' parameters from variables only."""
    constant = _constant(graph)
    marked: set[int] = set()
    waiting = [node.inputs[1][0] for node in graph.nodes if node.op is _RNN]
    while waiting:
        number = waiting.pop()
        node = graph.nodes[number]
        if node.op is not None and constant[number] and number not in marked:
            marked.add(number)
            waiting += [source for source, _ in node.inputs]
    if not marked:
        return graph
    extra = {ONCE: ""}
    if target.settings["MXNET_RNN_USE_WEIGHT_CACHE"]:
        _log("MXNET_RNN_USE_WEIGHT_CACHE=1: changes of recurrent layers' parameters have no effect")
        extra[FIXED] = ""
    nodes = [
        Node(node.op, node.name, node.attrs, node.inputs, {**node.extra, **extra})
        if number in marked
        else node
        for number, node in enumerate(graph.nodes)
    ]
    return Graph(nodes, graph.outputs, graph.specs, graph.forward)


def _constant(graph):
    """For each node whether it depends only on variables that the graph does not write."""
    written = {entry for node in graph.nodes for entry in node.mutates()}
    constant: list[bool] = []
    for number, node in enumerate(graph.nodes):
        if node.op is None:
            constant.append((number, 0) not in written)
        else:
            pure = not node.op.uses_rng and not node.mutates() and node.op.foreign is None
            constant.append(
                pure and bool(node.inputs) and all(constant[source] for source, _ in node.inputs)
            )
    return constant


def _log(text):
    """Log a warning, once."""
    if text not in _warned:
        _warned.add(text)
        logging.getLogger("mxcy").warning(text)
