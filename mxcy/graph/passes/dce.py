"""Dead code elimination."""

from mxcy.graph.graph import Graph, Node

__all__ = ["run"]


def run(graph, target=None):
    """Keep nodes that outputs depend on, and operators that write a variable."""
    nodes = graph.nodes
    needed = [False] * len(nodes)
    for number, _ in graph.outputs:
        needed[number] = True
    for number in range(len(nodes) - 1, -1, -1):
        node = nodes[number]
        if not needed[number]:
            needed[number] = bool(node.mutates())
        if needed[number]:
            for source, _ in node.inputs:
                needed[source] = True
    if all(needed):
        return graph
    numbers, kept, specs = {}, [], []
    for number, node in enumerate(nodes):
        if not needed[number]:
            continue
        numbers[number] = len(kept)
        inputs = tuple((numbers[source], index) for source, index in node.inputs)
        same = inputs == node.inputs
        kept.append(node if same else Node(node.op, node.name, node.attrs, inputs, node.extra))
        specs.append(graph.specs[number])
    outputs = [(numbers[number], index) for number, index in graph.outputs]
    return Graph(kept, outputs, specs, sum(needed[: graph.forward]))
