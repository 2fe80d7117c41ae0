"""Backend partitioning of symbols, for `Symbol.optimize_for` and `get_backend_symbol`.

One backend is oneDNN, under its names in MXNet 1.9 and 2.0: operators are replaced by its fused
layers. ``..._QUANTIZE`` prepares for int8, and in quantized symbols lets layers return int8
directly. Layouts and kernels are chosen later, when the symbol is bound. The others enclose
operators selected by name in subgraphs, see `selection`.
"""

from mxcy._base.errors import MXNetError
from mxcy._base.warning import warn
from mxcy.graph import selection
from mxcy.graph.fused import chains, ranges
from mxcy.graph.graph import from_entries
from mxcy.graph.infer import infer_partial
from mxcy.graph.node import SymbolNode, clone
from mxcy.graph.passes import casts, simplify

__all__ = ["BACKENDS", "is_known", "partition", "to_entries"]

#: backend name -> (prefix of node names, whether for int8)
_KINDS = {
    "ONEDNN": ("onednn", False),
    "MKLDNN": ("mkldnn", False),
    "ONEDNN_QUANTIZE": ("onednn", True),
    "MKLDNN_QUANTIZE": ("mkldnn", True),
}
BACKENDS = tuple(_KINDS)
_PASSES = (simplify.run, casts.run)


def partition(entries, backend, target, known=None, strict=True):
    """Partition a symbol for a backend, for prediction.

    Parameters
    ----------
    entries : list of (SymbolNode, int)
    backend : str
        One of `BACKENDS` or of `selection.BACKENDS`.
    target : Target
    known : dict of str to Spec, optional
        Known specs of variables.
    strict : bool
        Whether an unknown backend is an error rather than a warning.

    Raises
    ------
    MXNetError
        If there is no such backend, or no operators are selected for it.
    """
    if backend in selection.BACKENDS:
        return selection.partition(entries, backend)
    if not is_known(backend, strict):
        return entries
    graph = original = from_entries(entries)
    graph.specs = infer_partial(graph, known or {})
    for run in _PASSES:
        graph = run(graph, target)
    rewritten = clone(entries) if graph is original else to_entries(graph)
    kind, among_8_bits = _KINDS[backend.upper()]
    rewritten = chains.fuse(rewritten, kind, among_8_bits)
    return ranges.settle(rewritten, target.settings) if among_8_bits else rewritten


def is_known(backend, strict=False):
    """Return whether there is a backend of this name, with a warning or an error if not.

    Parameters
    ----------
    backend : str
    strict : bool
        Whether an unknown backend is an error.
    """
    if backend in selection.BACKENDS or backend.upper() in BACKENDS:
        return True
    known = (*BACKENDS, *selection.BACKENDS)
    message = f"backend {backend} is unknown; choose one of {', '.join(known)}"
    if strict:
        raise MXNetError(message)
    warn(message)
    return False


def to_entries(graph):
    """Convert a graph to linked nodes; return the entries of its outputs."""
    symbol_nodes: list = []
    for node in graph.nodes:
        inputs = [(symbol_nodes[number], index) for number, index in node.inputs]
        texts = {} if node.op is None else _texts(node)
        symbol_nodes.append(SymbolNode(node.op, node.name, {**texts, **node.extra}, inputs))
    return [(symbol_nodes[number], index) for number, index in graph.outputs]


def _texts(node):
    """The non-default attributes of a node as str."""
    texts = {}
    for field in node.op.schema.fields:
        value = getattr(node.attrs, field.name)
        if value != field.value or type(value) is not type(field.value):
            texts[field.name] = str(value)
    return texts
