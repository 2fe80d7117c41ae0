"""Common subexpression elimination.

Controlled by MXNET_ELIMINATE_COMMON_EXPR. Operators that draw random numbers are kept, as are those
that read a variable written in the graph.
"""

from mxcy.graph.graph import Graph, Node
from mxcy.graph.passes import dce

__all__ = ["run"]


def run(graph, target):
    """Merge nodes with equal operator, attributes and inputs into the first of them.

    A node of the backward pass is merged into one of the forward pass only if the backward pass
    reads that one anyway: otherwise its result would occupy memory in between. Outputs of the graph
    remain distinct entries.
    """
    if not target.settings.get("MXNET_ELIMINATE_COMMON_EXPR", True):
        return graph
    written = {entry for node in graph.nodes for entry in node.mutates()}
    kept_for_backward = _read_by_backward(graph)
    returned = {number for number, _ in graph.outputs}  # nodes that compute outputs
    first = {}  # signature -> number of the first node with it
    merged = {}  # number -> number of its replacement
    nodes = []
    for number, node in enumerate(graph.nodes):
        if any(source in merged for source, _ in node.inputs):
            inputs = [(merged.get(source, source), index) for source, index in node.inputs]
            node = Node(node.op, node.name, node.attrs, inputs, node.extra)
        nodes.append(node)
        if not _is_pure(node, written):
            continue
        key = (node.signature, node.inputs)
        other = first.setdefault(key, number)
        if other == number or (number in returned and other in returned):
            continue
        if other < graph.forward <= number and other not in kept_for_backward:
            first[key] = number
            continue
        merged[number] = other
        if number in returned:
            returned.add(other)
    if not merged:
        return graph
    outputs = [(merged.get(number, number), index) for number, index in graph.outputs]
    return dce.run(Graph(nodes, outputs, graph.specs, graph.forward))


def _is_pure(node, written):
    if node.op is None or node.op.uses_rng or node.op.foreign is not None:
        return False
    return not any(entry in written for entry in node.inputs)


def _read_by_backward(graph):
    """The nodes of the forward pass whose results the backward pass reads."""
    return {
        source
        for node in graph.nodes[graph.forward :]
        if node.op is not None
        for position, (source, _) in enumerate(node.inputs)
        if source < graph.forward and position not in node.op.ignored
    }
