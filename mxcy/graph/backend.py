"""Symbols rewritten for a backend: what `Symbol.optimize_for` and `get_backend_symbol` return.

The only backend is oneDNN, under its names of MXNet 1.9 and 2.0: its fused layers are put in the
place of the operators they stand for. ``..._QUANTIZE`` does it with a view to 8-bit integers,
and in quantized symbols lets layers give such numbers at once. Layouts and kernels are chosen
later, when the symbol is bound.
"""

import warnings

from mxcy._base.errors import MXNetError
from mxcy.graph.fused import chains, ranges
from mxcy.graph.graph import from_entries
from mxcy.graph.infer import infer_partial
from mxcy.graph.node import SymbolNode, clone
from mxcy.graph.passes import casts, simplify

__all__ = ["BACKENDS", "partition", "to_entries"]

#: name -> (what nodes are called after, whether for 8-bit integers)
_KINDS = {
    "ONEDNN": ("onednn", False),
    "MKLDNN": ("mkldnn", False),
    "ONEDNN_QUANTIZE": ("onednn", True),
    "MKLDNN_QUANTIZE": ("mkldnn", True),
}
BACKENDS = tuple(_KINDS)
_PASSES = (simplify.run, casts.run)


def partition(entries, backend, target, known=None, strict=True):
    """The entries of a symbol as a backend wants them, for prediction.

    Parameters
    ----------
    entries : list of (SymbolNode, int)
    backend : str
        One of `BACKENDS`.
    target : Target
    known : dict of str to Spec, optional
        What is known of variables.
    strict : bool
        Whether an unknown backend is an error; a warning otherwise.

    Raises
    ------
    MXNetError
        When there is no such backend.
    """
    if backend.upper() not in BACKENDS:
        message = f"backend {backend} is not known, choose one of {', '.join(BACKENDS)}"
        if strict:
            raise MXNetError(message)
        warnings.warn(message, stacklevel=3)
        return entries
    graph = whole = from_entries(entries)
    graph.specs = infer_partial(graph, known or {})
    for run in _PASSES:
        graph = run(graph, target)
    rewritten = clone(entries) if graph is whole else to_entries(graph)
    kind, among_8_bits = _KINDS[backend.upper()]
    rewritten = chains.fuse(rewritten, kind, among_8_bits)
    return ranges.settle(rewritten, target.settings) if among_8_bits else rewritten


def to_entries(graph):
    """The linked form of a graph: entries of its outputs."""
    symbol_nodes: list = []
    for node in graph.nodes:
        inputs = [(symbol_nodes[number], index) for number, index in node.inputs]
        texts = {} if node.op is None else _texts(node)
        symbol_nodes.append(SymbolNode(node.op, node.name, {**texts, **node.extra}, inputs))
    return [(symbol_nodes[number], index) for number, index in graph.outputs]


def _texts(node):
    """The attributes of a node that differ from their defaults, as text."""
    texts = {}
    for field in node.op.schema.fields:
        value = getattr(node.attrs, field.name)
        if value != field.value or type(value) is not type(field.value):
            texts[field.name] = str(value)
    return texts
