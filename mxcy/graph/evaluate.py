"""Reference evaluation of graphs, which defines the meaning of a graph.

Slow and simple. Passes fold constants with it; tests compare passes and plans with it.
"""

import numpy as np

from mxcy._base import dtypes
from mxcy._base.errors import MXNetError
from mxcy.ops.core.reference import compute, narrow, widen

__all__ = ["evaluate", "evaluate_node"]

_BF16 = dtypes.CODES["bfloat16"]


def evaluate(graph, values, exact=False):
    """Compute a graph.

    Parameters
    ----------
    graph : Graph
        A graph, with specs unless `exact`.
    values : dict of str to numpy.ndarray
        Values of the variables; bfloat16 as float32.
    exact : bool
        Whether results keep the dtype returned by the references, so that a graph can be evaluated
        in another precision than its own.

    Returns
    -------
    list of numpy.ndarray
        The outputs; bfloat16 as float32.
    dict of str to numpy.ndarray
        New values of variables written by operators.
    """
    computed, written = {}, {}
    for number, node in enumerate(graph.nodes):
        if node.op is None:
            try:
                computed[number, 0] = values[node.name]
            except KeyError:
                raise MXNetError(f"variable {node.name} has no value") from None
            continue
        specs = None if exact else graph.specs[number]
        results = evaluate_node(node, [computed[entry] for entry in node.inputs], specs)
        for index in range(node.count):
            computed[number, index] = results[index]
        for entry, value in zip(node.mutates(), results[node.count :], strict=True):
            computed[entry] = value
            if graph.nodes[entry[0]].op is None:
                written[graph.nodes[entry[0]].name] = value
    return [computed[entry] for entry in graph.outputs], written


def evaluate_node(node, ins, specs=None):
    """Compute the outputs of a node, followed by the new values of inputs it writes.

    Parameters
    ----------
    node : Node
    ins : list of numpy.ndarray
    specs : list of Spec, optional
        Specs that the outputs must match.
    """
    op = node.op
    results = list(compute(op, node.attrs, ins))
    for index, spec in enumerate(specs or ()):
        if np.shape(results[index]) != spec.shape:
            raise MXNetError(
                f"node {node.name}: the reference of {op.name} returned shape "
                f"{np.shape(results[index])}, inference gave {spec.shape}"
            )
        results[index] = _stored(results[index], spec.dtype)
    return results


def _stored(values, code):
    """Round values to an element type."""
    if code == _BF16:
        return widen(narrow(np.asarray(values, np.float32)))
    with np.errstate(all="ignore"):
        return np.asarray(values).astype(dtypes.dtype_of(code), copy=False)
