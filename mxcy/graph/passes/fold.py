"""Constant folding: subgraphs without variables are evaluated if their results are small."""

import numpy as np

from mxcy._base import dtypes
from mxcy.graph.evaluate import evaluate_node
from mxcy.graph.graph import Graph, Node
from mxcy.graph.node import attrs_of
from mxcy.graph.passes import dce
from mxcy.graph.planning.plan import ONCE
from mxcy.ops.core.record import find
from mxcy.ops.elementwise.constant import written

__all__ = ["run"]

#: maximum number of elements to evaluate
_MOST_ELEMENTS = 4096
#: maximum size in bytes of non-uniform arrays stored as attributes
_MOST_BYTES = 2048
_BF16 = dtypes.CODES["bfloat16"]
_UNWRITTEN = {code for code in dtypes.DTYPES if dtypes.is_complex(code)} | {_BF16}


def run(graph, target=None):
    """Replace operators with constant inputs by ``_full`` or ``_constant``.

    Operators that draw random numbers or write variables are kept. Inputs of which only the shape
    is used count as constant. If a node has several outputs, all of them must be small.
    """
    known = {}  # entry -> value
    nodes, specs = list(graph.nodes), list(graph.specs)
    added = []  # (number of the folded node, index, replacement), for outputs after the first
    folded = False
    outputs = {number for number, _ in graph.outputs}
    for number, node in enumerate(graph.nodes):
        values = _compute(graph, number, node, known)
        if values is None:
            continue
        for index, value in enumerate(values):
            known[number, index] = value
        if not node.inputs:
            continue
        replacements = [_constant(node, value, number not in outputs) for value in values]
        if None in replacements:
            continue
        folded = True
        nodes[number], specs[number] = replacements[0], graph.specs[number][:1]
        added += [(number, index, entry) for index, entry in enumerate(replacements[1:], 1)]
    if not folded:
        return graph
    rewritten = Graph(nodes, graph.outputs, specs, graph.forward)
    return dce.run(_insert(rewritten, graph.specs, added) if added else rewritten)


def _compute(graph, number, node, known):
    """The values of a node's outputs, or None if it cannot be folded."""
    op = node.op
    if op is None or op.uses_rng or op.eager is not None or op.foreign is not None:
        return None
    if op.mutated(len(node.inputs)):
        return None
    specs = graph.specs[number]
    ins = []
    for position, entry in enumerate(node.inputs):
        if position in op.ignored:
            ins.append(_any_value(graph.spec(entry)))
        elif entry in known:
            ins.append(known[entry])
        else:
            return None
    if any(spec.size > _MOST_ELEMENTS or spec.dtype in _UNWRITTEN for spec in specs):
        return None
    return evaluate_node(node, ins, specs)


def _any_value(spec):
    """Make an array of a spec without allocating its memory."""
    kind = np.float32 if spec.dtype == _BF16 else dtypes.dtype_of(spec.dtype)
    return np.broadcast_to(np.zeros((), kind), spec.shape)


def _constant(node, value, once):
    """Make a node for a value, or None if it is too large."""
    value = np.asarray(value)
    number = float(value.flat[0]) if value.size else 0.0
    if not value.size or ((value == value.flat[0]).all() and number == value.flat[0]):
        op, extra = find("_full"), node.extra
        attrs = {"shape": value.shape, "value": number, "dtype": value.dtype.name}
    elif value.nbytes <= _MOST_BYTES:
        op, attrs = find("_constant"), written(value)
        extra = {**node.extra, ONCE: ""} if once else node.extra
    else:
        return None
    return Node(op, node.name, attrs_of(op, attrs), (), extra)


def _insert(graph, old_specs, added):
    """Insert the nodes of further outputs right after those of the first."""
    moved, nodes, specs = {}, [], []
    extra = {}
    for number, index, node in added:
        extra.setdefault(number, []).append((index, node))
    forward = 0
    for number, node in enumerate(graph.nodes):
        inputs = [moved[entry] for entry in node.inputs]
        for index in range(len(graph.specs[number])):
            moved[number, index] = (len(nodes), index)
        nodes.append(Node(node.op, node.name, node.attrs, inputs, node.extra))
        specs.append(graph.specs[number])
        for index, further in extra.get(number, ()):
            moved[number, index] = (len(nodes), 0)
            nodes.append(further)
            specs.append([old_specs[number][index]])
        if number < graph.forward:
            forward = len(nodes)
    return Graph(nodes, [moved[entry] for entry in graph.outputs], specs, forward)
