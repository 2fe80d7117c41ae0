"""Join the parameters of recurrent layers only when one of them was written.

Layers have arrays for weights and biases of their own, which operator RNN wants in one. In
prediction the nodes that join them run once, as those that pack weights do. With
MXNET_RNN_USE_WEIGHT_CACHE they do not even run again when a parameter was written.
"""

import logging

from mxcy.graph.graph import Graph, Node
from mxcy.graph.planning.plan import FIXED, ONCE
from mxcy.ops.core.record import find

__all__ = ["run"]

_RNN = find("RNN")
_warned: set[str] = set()


def run(graph, target):
    """Mark what recurrent layers' parameters are made by, where that depends on variables only."""
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
        _tell(
            "MXNET_RNN_USE_WEIGHT_CACHE=1: changes of recurrent layers' parameters have no effect"
        )
        extra[FIXED] = ""
    nodes = [
        Node(node.op, node.name, node.attrs, node.inputs, {**node.extra, **extra})
        if number in marked
        else node
        for number, node in enumerate(graph.nodes)
    ]
    return Graph(nodes, graph.outputs, graph.specs, graph.forward)


def _constant(graph):
    """For each node whether it depends on variables only, which nothing in the graph writes."""
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


def _tell(text):
    """Log a warning, once."""
    if text not in _warned:
        _warned.add(text)
        logging.getLogger("mxcy").warning(text)
