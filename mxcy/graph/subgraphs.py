"""Graphs cut where plans cannot go: subgraphs, which plans can run, and what is between.

A node stands alone if something of it is sparse (an input, an output, or a gradient), or if it is
control flow whose course depends on values. All others form subgraphs as large as can be: subgraph
number s has what waits for s rows of lone nodes, one row for another, so that subgraphs and rows
run in turn.
"""

from typing import NamedTuple

from mxcy.graph.control import looks_at_values
from mxcy.graph.graph import from_entries
from mxcy.graph.infer import infer
from mxcy.graph.node import SymbolNode, topological
from mxcy.graph.storage_types import infer_stypes

__all__ = ["Cut", "Piece", "cut"]


class Piece(NamedTuple):
    """A lone node or a subgraph.

    Attributes
    ----------
    node : SymbolNode or None
        The lone node.
    entries : list of (SymbolNode, int)
        The outputs of the subgraph, whose variables stand for `inputs`.
    inputs, outputs : list of (int, int)
        The numbers of the values that are read and made: all outputs of a lone node.
    """

    node: SymbolNode | None
    entries: list
    inputs: list
    outputs: list


class Cut(NamedTuple):
    """A symbol in pieces; values are numbered (node in topological order, output index).

    Attributes
    ----------
    variables : list of (int, int)
        The numbers of the variables, in the order of ``list_inputs``.
    pieces : list of Piece
        In an order in which they can run.
    outputs : list of (int, int)
    lines : list of str
        Each node, in topological order, with the storage types it has.
    """

    variables: list
    pieces: list
    outputs: list
    lines: list


def cut(entries, known, stypes, differentiable):
    """A symbol in pieces.

    Parameters
    ----------
    entries : list of (SymbolNode, int)
    known : dict of str to Spec
        The shapes and types of the variables.
    stypes : dict of str to str
        Their storage types.
    differentiable : bool
        Whether there will be a backward pass.

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
    """What is told of each node."""
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
    """Whether something of a node is sparse, for each node."""
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
    """How many rows of lone nodes each node waits for."""
    stages: list[int] = []
    for i, node in enumerate(graph.nodes):
        before = (stages[s] + (alone[s] and not alone[i]) for s, _ in node.inputs)
        stages.append(max(before, default=0))
    return stages


def _needed(graph, alone, stages):
    """The values that others than the subgraph want which makes them."""
    needed = set(graph.outputs)
    for i, node in enumerate(graph.nodes):
        for entry in node.inputs:
            if alone[i] or stages[entry[0]] != stages[i]:
                needed.add(entry)
    return needed


def _subgraph(order, graph, members, needed):
    """The Piece of some nodes."""
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
