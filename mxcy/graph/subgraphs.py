"""Splitting of graphs into subgraphs that plans can run and nodes that they cannot.

A node is separate if any of its inputs, outputs or gradients is sparse, or if it is value-dependent
control flow. The others form maximal subgraphs: subgraph s consists of the nodes that depend on s
successive levels of separate nodes, so that subgraphs and levels alternate.
"""

from typing import NamedTuple

from mxcy.graph.control import looks_at_values
from mxcy.graph.graph import from_entries
from mxcy.graph.infer import infer
from mxcy.graph.node import SymbolNode, topological
from mxcy.graph.storage_types import infer_stypes

__all__ = ["Cut", "Piece", "cut"]


class Piece(NamedTuple):
    """A separate node or a subgraph.

    Attributes
    ----------
    node : SymbolNode or None
        The separate node.
    entries : list of (SymbolNode, int)
        The outputs of the subgraph, whose variables represent `inputs`.
    inputs, outputs : list of (int, int)
        Ids of the values read and computed; for a separate node, all outputs.
    """

    node: SymbolNode | None
    entries: list
    inputs: list
    outputs: list


class Cut(NamedTuple):
    """A split symbol; value ids are (node in topological order, output index).

    Attributes
    ----------
    variables : list of (int, int)
        Ids of the variables, in the order of ``list_inputs``.
    pieces : list of Piece
        The pieces in execution order.
    outputs : list of (int, int)
    lines : list of str
        A description of each node with its storage types, in topological order.
    """

    variables: list
    pieces: list
    outputs: list
    lines: list


def cut(entries, known, stypes, differentiable):
    """Split a symbol.

    Parameters
    ----------
    entries : list of (SymbolNode, int)
    known : dict of str to Spec
        Specs of the variables.
    stypes : dict of str to str
        Storage types of the variables.
    differentiable : bool
        Whether a backward pass will follow.

    Returns
    -------
    Cut
    """
    order = topological(entries)
    graph = infer(from_entries(entries), known)
    inferred = infer_stypes(graph, stypes)
    alone = [
        node.op is not None and (sparse or looks_at_values(node))
        for node, sparse in zip(order, _sparse(graph, inferred, differentiable), strict=True)
    ]
    stages = _stages(graph, alone)
    needed = _needed(graph, alone, stages)
    pieces = []
    for stage in range(max(stages, default=0) + 1):
        members = [i for i, s in enumerate(stages) if s == stage and graph.nodes[i].op is not None]
        dense = [i for i in members if not alone[i]]
        if dense:
            pieces.append(_subgraph(order, graph, dense, needed))
        for i in members:
            if alone[i]:
                outputs = [(i, index) for index in range(graph.nodes[i].count)]
                pieces.append(Piece(order[i], [], list(graph.nodes[i].inputs), outputs))
    lines = _lines(graph, inferred, alone)
    return Cut([(i, 0) for i in graph.variables()], pieces, graph.outputs, lines)


def _lines(graph, inferred, alone):
    """Describe each node."""
    lines = []
    for i, node in enumerate(graph.nodes):
        if node.op is None:
            lines.append(f"{node.name}: {inferred[i]}")
            continue
        ins = ", ".join(inferred[source] for source, _ in node.inputs)
        end = ", alone" if alone[i] else ""
        lines.append(f"{node.name}: {node.op.name} [{ins}] -> {inferred[i]}{end}")
    return lines


def _sparse(graph, inferred, differentiable):
    """For each node whether any of its values or gradients is sparse."""
    return [
        node.op is not None
        and (
            inferred[i] != "default"
            or any(inferred[source] != "default" for source, _ in node.inputs)
            or (differentiable and node.op.sparse_gradient(node.attrs))
        )
        for i, node in enumerate(graph.nodes)
    ]


def _stages(graph, alone):
    """The number of levels of separate nodes that each node depends on."""
    stages: list[int] = []
    for i, node in enumerate(graph.nodes):
        before = (stages[s] + (alone[s] and not alone[i]) for s, _ in node.inputs)
        stages.append(max(before, default=0))
    return stages


def _needed(graph, alone, stages):
    """The values that are used outside the subgraph that computes them."""
    needed = set(graph.outputs)
    for i, node in enumerate(graph.nodes):
        for entry in node.inputs:
            if alone[i] or stages[entry[0]] != stages[i]:
                needed.add(entry)
    return needed


def _subgraph(order, graph, members, needed):
    """Make the Piece of some nodes."""
    nodes: dict[int, SymbolNode] = {}
    variables: dict[tuple[int, int], SymbolNode] = {}

    def source(entry):
        number, index = entry
        if number in nodes:
            return nodes[number], index
        if entry not in variables:
            node = order[number]
            name = node.name if node.op is None else f"{number} {index}"
            variables[entry] = SymbolNode(None, name, node.attrs if node.op is None else None)
        return variables[entry], 0

    for i in members:
        node, inputs = order[i], [source(entry) for entry in graph.nodes[i].inputs]
        nodes[i] = SymbolNode(node.op, node.name, node.attrs, inputs)
    outputs = [
        (i, index) for i in members for index in range(graph.nodes[i].count) if (i, index) in needed
    ]
    heads = [source(entry) for entry in outputs]
    numbers = {id(node): entry for entry, node in variables.items()}
    inputs = [numbers[id(node)] for node in topological(heads) if node.op is None]
    return Piece(None, heads, inputs, outputs)
