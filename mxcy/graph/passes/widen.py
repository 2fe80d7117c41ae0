"""Float32 execution of operators without a bfloat16 kernel, and removal of reverted casts."""

from mxcy._base.dtypes import CODES
from mxcy.graph.analysis.casts import CASTS
from mxcy.graph.rewrite import Rewrite
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.prepare import prepare

__all__ = ["run"]

_FLOAT, _BFLOAT = CODES["float32"], CODES["bfloat16"]
_CAST, _AMP_CAST = CASTS


def run(graph, target):
    """Insert casts around nodes that would otherwise run by their reference."""
    if not any(spec.dtype == _BFLOAT for specs in graph.specs for spec in specs):
        return graph
    known: dict = {}
    rewrite = Rewrite(graph)
    for number, node in rewrite.visit():
        if node.op is None:
            rewrite.keep(number)
        elif node.op is _AMP_CAST and _undoes(rewrite, node):
            rewrite.replace((number, 0), rewrite.node(rewrite.inputs(node)[0]).inputs[0])
        elif _is_lacking(graph, number, target, known):
            _widen(rewrite, graph, number)
        else:
            rewrite.keep(number)
    return rewrite.finish()


def _undoes(rewrite, node):
    """Whether a cast to float32 reverts a cast inserted here."""
    (source,) = rewrite.inputs(node)
    narrowing = rewrite.node(source)
    return (
        node.attrs.dtype == "float32" and narrowing.op is _CAST and narrowing.name.endswith(_ENDING)
    )


_ENDING = "_narrowed"


def _is_lacking(graph, number, target, known):
    """Whether a node has a float32 kernel but no bfloat16 kernel."""
    node, outs = graph.nodes[number], graph.specs[number]
    ins = [graph.spec(entry) for entry in node.inputs]
    bfloat16 = any(spec.dtype == _BFLOAT for spec in (*ins, *outs))
    if not bfloat16 or node.op in CASTS or node.op.foreign or node.op.writes:
        return False
    if not all(spec.known for spec in ins):
        return False
    key = node.signature, tuple((spec.shape, spec.dtype) for spec in ins)
    if key not in known:
        widened = [_widened(spec) for spec in ins]
        lacks = prepare(node.op, node.attrs, ins, target).kernel is None
        known[key] = lacks and _fits(prepare(node.op, node.attrs, widened, target), outs)
    return known[key]


def _fits(call, outs):
    """Whether a call with float32 inputs has a kernel and equal results up to the dtype."""
    return call.kernel is not None and [(s.shape, s.dtype) for s in call.outs] == [
        (s.shape, _widened(s).dtype) for s in outs
    ]


def _widened(spec):
    return Spec(spec.shape, _FLOAT if spec.dtype == _BFLOAT else spec.dtype)


def _widen(rewrite, graph, number):
    """Copy a node with inputs cast to float32 and results cast back."""
    node = graph.nodes[number]
    inputs = [
        rewrite.add("Cast", {"dtype": "float32"}, [entry])
        if rewrite.spec(entry).dtype == _BFLOAT
        else entry
        for entry in rewrite.inputs(node)
    ]
    again, _ = rewrite.add(node.op, node.attrs, inputs, node.name, node.extra)
    for index, spec in enumerate(graph.specs[number]):
        new = again, index
        if spec.dtype == _BFLOAT:
            name = f"{node.name}_{index}{_ENDING}"
            new = rewrite.add("Cast", {"dtype": "bfloat16"}, [new], name)
        rewrite.replace((number, index), new)
