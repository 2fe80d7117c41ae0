"""Leave out casts that a later cast undoes, with a change of shape between them."""

import numpy as np

from mxcy.dtypes import CODES, DTYPES
from mxcy.graph.rewrite import Rewrite

__all__ = ["run"]

_CAST, _BFLOAT = "Cast", CODES["bfloat16"]


def run(graph, target):
    """Let ``cast(expand_dims(cast(x)))`` be ``expand_dims(x)`` where that is the same.

    That is when every value of x's type is one of the type between, and nobody else uses what lies
    between the casts.
    """
    if target.settings["MXNET_DISABLE_REMOVE_CASTS_PROPERTY"]:
        return graph
    users, made = graph.users(), Rewrite(graph)
    for number, node in enumerate(graph.nodes):
        found = _undone(graph, users, number)
        if found is None:
            made.keep(number)
        else:
            source, shaper = found
            moved = made.add(shaper.op, shaper.attrs, [made.entry(source)], node.name)
            made.replace((number, 0), moved)
    return made.finish()


def _undone(graph, users, number):
    """(entry, node): what the first cast casts, and the change of shape before the second."""
    nodes = graph.nodes
    second = nodes[number]
    if second.op is None or second.op.name != _CAST:
        return None
    middle = second.inputs[0][0]
    shaper = nodes[middle]
    if shaper.op is None or shaper.op.name != "expand_dims":
        return None
    begin = shaper.inputs[0][0]
    first = nodes[begin]
    if first.op is None or first.op.name != _CAST or len(users[begin]) + len(users[middle]) > 2:
        return None
    source, wide = graph.spec(first.inputs[0]).dtype, graph.specs[begin][0].dtype
    back = graph.specs[number][0].dtype
    known = None not in (source, wide)
    return (first.inputs[0], shaper) if known and back == source and _holds(wide, source) else None


def _holds(wide, narrow):
    """Whether every value of one type is one of the other."""
    if wide == narrow:
        return True
    if wide == _BFLOAT:
        return False
    old, new = DTYPES[CODES["float16"] if narrow == _BFLOAT else narrow], DTYPES[wide]
    return old.itemsize < new.itemsize and np.can_cast(old, new, "safe")
