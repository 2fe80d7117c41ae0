"""Removal of no-ops: copies, blocked gradients, dropout in prediction mode, choices."""

from mxcy.graph.rewrite import Rewrite
from mxcy.ops.core.record import find

__all__ = ["run"]

_WHERE = find("where")


def run(graph, target):
    """Bypass operators that only pass on their input.

    In training graphs an output is kept unless an operator of the same pass computes its input, and
    for no other output: the forward pass has to write it.
    """
    rewrite, trains = Rewrite(graph), graph.forward < len(graph.nodes)
    outputs = {number for number, _ in graph.outputs}
    for number, node in rewrite.visit():
        if node.op is _WHERE and not trains and len(set(rewrite.inputs(node)[1:])) == 1:
            rewrite.replace((number, 0), rewrite.entry(node.inputs[1]))
        elif node.op is None or not _hands_on(node, graph.specs[number]):
            rewrite.keep(number)
        elif trains and not _may_go(graph, number, outputs):
            rewrite.keep(number)
        else:
            rewrite.replace((number, 0), rewrite.entry(node.inputs[0]))
            if number in outputs:
                outputs.add(node.inputs[0][0])
    return rewrite.finish()


def _hands_on(node, specs):
    """Whether the node's only used output is its first input, in value and shape."""
    if node.op.forwards is None or not node.op.forwards(node.attrs):
        return False
    return len(specs) == 1 or node.op.visible(node.attrs) == 1


def _may_go(graph, number, outputs):
    """Whether a training graph can bypass a node that passes on its input."""
    source, _ = graph.nodes[number].inputs[0]
    if graph.nodes[source].op is None or len(graph.specs[number]) > 1:
        return False
    same_pass = (number < graph.forward) == (source < graph.forward)
    return same_pass and (number not in outputs or source not in outputs)
