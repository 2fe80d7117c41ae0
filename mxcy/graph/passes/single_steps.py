"""Recurrent layers that run one step of one sequence read their weights from beginning to end.

Such a step waits for memory only, which is fastest in one long stream (docs/performance_notes.md).
"""

from mxcy.graph.planning.plan import ONCE
from mxcy.graph.rewrite import Rewrite
from mxcy.ops.core.record import find

__all__ = ["run"]

_RNN = find("RNN")
_FEWEST = 1 << 16  # parameters; fewer stay in the caches, in any order


def run(graph, target):
    """Arrange the weights of those layers whose parameters do not change between runs."""
    rewrite = Rewrite(graph)
    for number, node in rewrite.visit():
        if node.op is not _RNN or not _fits(graph, target, node):
            rewrite.keep(number)
            continue
        attrs = {name: getattr(node.attrs, name) for name in _RNN.schema.names}
        data, parameters, *states = rewrite.inputs(node)
        width = {"inputs": graph.spec(node.inputs[0]).shape[2]}
        extra = {**graph.nodes[node.inputs[1][0]].extra, ONCE: ""}
        arranged = rewrite.add("_rnn_unit_panels", {**attrs, **width}, [parameters], None, extra)
        inputs = [data, arranged, *states]
        new = rewrite.add("_rnn_single_step", attrs, inputs, node.name, node.extra)
        for index in range(len(graph.specs[number])):
            rewrite.replace((number, index), (new[0], index))
    return rewrite.finish()


def _fits(graph, target, node):
    a, data, parameters = node.attrs, *map(graph.spec, node.inputs[:2])
    source = graph.nodes[node.inputs[1][0]]
    return (
        data.known
        and data.shape[:2] == (1, 1)
        and parameters.size >= _FEWEST
        and (source.op is None or ONCE in source.extra)
        and not (a.train or a.use_sequence_length or a.projection_size)
        and target.has_kernel("rnn_unit_panels", data.dtype)
    )
