"""Storage type inference over a graph, by the rules (`stypes`) of its operators."""

from mxcy._base.dtypes import STORAGE_TYPES
from mxcy.ops.core import stypes
from mxcy.ops.core.infer import Spec

__all__ = ["declared", "infer_stypes", "makes_sparse"]

_NAMES = {str(code): name for name, code in STORAGE_TYPES.items() if code >= 0}


def declared(extra):
    """The storage type declared by a variable's attributes, by default ``'default'``."""
    return _NAMES.get(extra.get("__storage_type__"), "default")


def infer_stypes(graph, known):
    """Infer the storage types of all values.

    Parameters
    ----------
    graph : Graph
        A graph with specs.
    known : dict of str to str
        Storage types of variables; others have their declared one.

    Returns
    -------
    list of str
        The storage type of each node's outputs.
    """
    result = []
    for node in graph.nodes:
        if node.op is None:
            result.append(known.get(node.name) or declared(node.extra))
            continue
        ins = tuple(result[source] for source, _ in node.inputs)
        specs = [graph.spec(entry) for entry in node.inputs]
        rule = stypes.find(node.op, node.attrs, ins, specs) if node.op.stypes else None
        result.append("default" if rule is None else rule.out)
    return result


def makes_sparse(op, a, count):
    """Whether an operator on dense inputs has a sparse result or gradient."""
    specs = [Spec((-1, -1)) for _ in range(count)]
    return op.sparse_gradient(a) or stypes.makes_sparse(op, a, specs)
