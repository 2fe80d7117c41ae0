"""Op-by-op execution of symbols, for value-dependent shapes and for inspection."""

from mxcy import autograd
from mxcy._base.errors import MXNetError
from mxcy._library import front
from mxcy.graph.backend import to_entries
from mxcy.graph.control import EXPANSIONS, expand
from mxcy.graph.graph import from_entries
from mxcy.graph.infer import infer
from mxcy.graph.node import SymbolNode, topological
from mxcy.ndarray import NDArray
from mxcy.ndarray.register import function
from mxcy.ops.core.infer import Spec

__all__ = ["run_eagerly", "runner"]


def run_eagerly(entries, arrays, watch=None, order=None):
    """Run a symbol op by op, recording on the tape when recording is on.

    Parameters
    ----------
    entries : list of (SymbolNode, int)
    arrays : dict of str to NDArray
        Values of the variables by name.
    watch : callable, optional
        ``watch(node, inputs, outputs)`` is called after every operator, with lists of arrays.
    order : list of SymbolNode, optional
        The nodes in topological order, for callers that run a symbol repeatedly.

    Returns
    -------
    list of NDArray
    """
    policy = front.set_numpy_types(False)  # graphs follow MXNet's type rules, as in plans
    casting = front.set_casting(False)  # and contain all casts of mixed precision
    try:
        results = _computed(order or topological(entries), arrays, watch)
    finally:
        front.set_numpy_types(policy)
        front.set_casting(casting)
    return [results[id(node)][index] for node, index in entries]


def _computed(order, arrays, watch):
    """Compute {id of a node: list of its outputs}."""
    results = {}
    for node in order:
        if node.op is None:
            if node.name not in arrays:
                raise MXNetError(f"variable {node.name} has no value")
            results[id(node)] = [arrays[node.name]]
            continue
        inputs = [results[id(source)][index] for source, index in node.inputs]
        results[id(node)] = runner(node)(inputs)
        if watch is not None:
            watch(node, inputs, results[id(node)])
    return results


def runner(node):
    """Make ``run(inputs)``, which maps a list of a node's inputs to a list of its outputs.

    Parameters
    ----------
    node : SymbolNode
        An operation.

    Returns
    -------
    callable
    """
    op = node.op
    if op in EXPANSIONS:
        return lambda inputs: _run_expanded(node, inputs)
    call, known = function(op), op.schema.by_name
    attributes = {name: text for name, text in node.attrs.items() if name in known}
    names = None if op.variadic else op.arguments(node.parsed)

    def run(inputs):
        if names is None:
            outputs = call(*inputs, **attributes)
        else:
            outputs = call(**dict(zip(names, inputs, strict=True)), **attributes)
        return [outputs] if isinstance(outputs, NDArray) else outputs

    return run


def _run_expanded(node, inputs):
    """Run control flow op by op and return its outputs."""
    arrays = {f"in{i}": array for i, array in enumerate(inputs)}
    variables = [(SymbolNode(None, name), 0) for name in arrays]
    alone = SymbolNode(node.op, node.name, node.attrs, variables)
    entries = [(alone, index) for index in range(len(node.outputs()))]
    known = {name: Spec(array.shape, array.dtype_code) for name, array in arrays.items()}
    graph = expand(infer(from_entries(entries, autograd.is_training()), known))
    return run_eagerly(to_entries(graph), arrays)
