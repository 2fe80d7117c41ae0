"""Fusion of relu into batch normalisations of training graphs.

It runs before differentiation, so that the backward pass recomputes the clipped values: neither the
normalised array nor a mask is stored. Controlled by MXNET_USE_FUSION.
"""

from mxcy._base.dtypes import CODES
from mxcy.graph.analysis.users import Users
from mxcy.graph.rewrite import Rewrite
from mxcy.ops.core.record import find

__all__ = ["run"]

_NORM, _WITH_RELU = find("BatchNorm"), find("_batch_norm_relu")
_ACTS = {("relu", 0.0, 0.0): "relu", ("clip", 0.0, 6.0): "relu6"}
_FLOATS = (CODES["float32"], CODES["float64"])


def run(graph):
    """Fuse each normalisation by batch statistics with a relu that is its only reader.

    Parameters
    ----------
    graph : Graph
        The graph of a forward pass, with specs.

    Returns
    -------
    Graph
    """
    pairs = _pairs(graph)
    if not pairs:
        return graph
    norms = set(pairs.values())
    rewrite = Rewrite(graph)
    for number, node in rewrite.visit():
        if number in pairs:
            norm = graph.nodes[pairs[number]]
            names = ("eps", "momentum", "fix_gamma", "axis")
            attrs = {name: getattr(norm.attrs, name) for name in names}
            attrs["act"] = _act(node)
            entry = rewrite.add(_WITH_RELU, attrs, rewrite.inputs(norm), node.name, node.extra)
            rewrite.replace((number, 0), entry)
        elif number not in norms:
            rewrite.keep(number)
    return rewrite.finish()


def _pairs(graph):
    """Make {number of an activation: number of the preceding normalisation}."""
    users, pairs = Users(graph), {}
    for number, node in enumerate(graph.nodes):
        if node.op is not _NORM or not _by_batch(graph, number):
            continue
        after = users.only(number)
        if after is None or _act(graph.nodes[after]) is None:
            continue
        if graph.nodes[after].extra == node.extra:  # same placement and mirroring
            pairs[after] = number
    return pairs


def _by_batch(graph, number):
    """Whether a node normalises images by batch statistics."""
    attrs, spec = graph.nodes[number].attrs, graph.specs[number][0]
    own = attrs.train and not attrs.use_global_stats and not attrs.output_mean_var
    return own and spec.dtype in _FLOATS and len(spec.shape) > 2 and attrs.axis == 1


def _act(node):
    """The name of an activation in `_batch_norm_relu`, or None."""
    return None if node.op.epilogue is None else _ACTS.get(node.op.epilogue(node.attrs))
