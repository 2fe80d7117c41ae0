"""Removal of casts that a later cast reverts, with a reshape between them."""

import numpy as np

from mxcy._base.dtypes import CODES, DTYPES
from mxcy.graph.analysis.casts import CASTS
from mxcy.graph.analysis.users import Users
from mxcy.graph.rewrite import Rewrite

__all__ = ["run"]

_BFLOAT = CODES["bfloat16"]


def run(graph, target):
    """Replace ``cast(reshape(cast(x)))`` by ``reshape(x)`` if that is equivalent.

    That requires that the intermediate type represents all values of x's type, and that the
    intermediate values have no other users. The reshape may be any shape-only operator of one
    input.
    """
    if target.settings["MXNET_DISABLE_REMOVE_CASTS_PROPERTY"]:
        return graph
    undone = dict(_undone(graph))
    if not undone:
        return graph
    rewrite = Rewrite(graph)
    for number, node in rewrite.visit():
        if number in undone:
            source, shaper = undone[number]
            moved = rewrite.add(shaper.op, shaper.attrs, [rewrite.entry(source)], node.name)
            rewrite.replace((number, 0), moved)
        else:
            rewrite.keep(number)
    return rewrite.finish()


def _undone(graph):
    """Yield (number of the second cast, (input of the first cast, the reshape)) of each pair."""
    users = Users(graph)
    for first, node in enumerate(graph.nodes):
        chain = users.chain(first, _reshapes, _casts) if _casts(node) else None
        if chain is None:
            continue
        shaper, second = chain
        (entry,) = node.inputs
        source, target = graph.spec(entry).dtype, graph.specs[first][0].dtype
        back = graph.specs[second][0].dtype
        if None not in (source, target) and back == source and _holds(target, source):
            yield second, (entry, graph.nodes[shaper])


def _casts(node):
    return node.op in CASTS


def _reshapes(node):
    return node.op is not None and node.op.identity and len(node.inputs) == 1 and node.count == 1


def _holds(target, source):
    """Whether type `target` represents all values of type `source`."""
    if target == source:
        return True
    if target == _BFLOAT:
        return False
    old, new = DTYPES[CODES["float16"] if source == _BFLOAT else source], DTYPES[target]
    return old.itemsize < new.itemsize and np.can_cast(old, new, "safe")
