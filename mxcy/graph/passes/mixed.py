"""Layer normalisation and attention of bfloat16 arrays without casts.

Mixed precision computes both in float32, between casts from bfloat16 and one back. Kernels that
read and write bfloat16 and compute in float32 save the traffic.
"""

from mxcy._base.dtypes import CODES
from mxcy.graph.analysis.casts import CASTS
from mxcy.graph.analysis.users import Users
from mxcy.graph.rewrite import Rewrite
from mxcy.ops.core.prepare import prepare
from mxcy.ops.core.record import find

__all__ = ["run"]

_FLOAT, _BFLOAT = CODES["float32"], CODES["bfloat16"]
#: operator -> (the one for bfloat16 arrays, number of its arrays); attention is loaded late
_MIXED = {
    "LayerNorm": ("_mixed_layer_norm", lambda a: 1),
    "_attention": ("_mixed_attention", lambda a: max(a.sources) + 1),
}


def run(graph, target):
    """Replace ``cast(f(cast(x), ...))`` where all readers of f cast to bfloat16."""
    users = Users(graph)
    fitting = {n for n in range(len(graph.nodes)) if _fits(graph, users, n, target)}
    if not fitting:
        return graph
    rewrite = Rewrite(graph)
    for number, node in rewrite.visit():
        if number in fitting:
            op, attrs, entries = _narrow(graph, node)
            inputs = [rewrite.entry(entry) for entry in entries]
            rewrite.replace((number, 0), rewrite.add(op, attrs, inputs, node.name))
        elif node.op in CASTS and node.inputs[0][0] in fitting:
            rewrite.replace((number, 0), rewrite.entry(node.inputs[0]))
        else:
            rewrite.keep(number)
    return rewrite.finish()


def _narrow(graph, node):
    """Return the operator, attributes and inputs of a node without its casts."""
    name, count = _MIXED[node.op.name]
    op, count = find(name), count(node.attrs)
    attrs = {field.name: getattr(node.attrs, field.name) for field in op.schema.fields}
    sources = [graph.nodes[source].inputs[0] for source, _ in node.inputs[:count]]
    return op, attrs, [*sources, *node.inputs[count:]]


def _fits(graph, users, number, target):
    """Whether a node is between casts from and to bfloat16, and there is a kernel without them."""
    node = graph.nodes[number]
    if node.op is None or node.op.name not in _MIXED:
        return False
    arrays = node.inputs[: _MIXED[node.op.name][1](node.attrs)]
    if not all(
        _casts(graph, source, _FLOAT) and graph.spec(graph.nodes[source].inputs[0]).dtype == _BFLOAT
        for source, _ in arrays
    ):
        return False
    if not all(not output and _casts(graph, user, _BFLOAT) for user, _, output in users[number]):
        return False
    op, _, entries = _narrow(graph, node)
    specs = [graph.spec(entry) for entry in entries]
    return prepare(op, node.attrs, specs, target).kernel is not None


def _casts(graph, number, dtype):
    """Whether a node is a cast to a dtype."""
    return number >= 0 and graph.nodes[number].op in CASTS and graph.specs[number][0].dtype == dtype
