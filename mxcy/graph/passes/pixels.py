"""Convolutions whose only window is the whole image become dense layers.

Their weights are used once per image: kernels of plain convolutions, which share them among pixels,
read large ones at a fraction of the memory's speed. Those of blocked arrays do not, so layers with
whole blocks of filters stay.
"""

import math

from mxcy._base.dtypes import CODES
from mxcy.graph.analysis.users import Users
from mxcy.graph.planning.plan import ONCE
from mxcy.graph.rewrite import Rewrite
from mxcy.ops.core.record import find

__all__ = ["run"]

_FLOAT = CODES["float32"]
_CONVOLUTION, _NORM = find("Convolution"), find("BatchNorm")
_LEAST = 1 << 20  # weights; smaller ones stay in the caches


def run(graph, target):
    """Replace the convolutions with large weights, unless a normalisation can be folded in."""
    settings = target.settings
    off = settings["MXNET_DISABLE_ONEDNN_CONV_OPT"] or settings["MXNET_DISABLE_ONEDNN_FC_OPT"]
    if not target.block or off:
        return graph
    users, rewrite = Users(graph), Rewrite(graph)
    for number, node in rewrite.visit():
        if node.op is _CONVOLUTION and _is_dense(graph, users, number, target.block):
            rewrite.replace((number, 0), _dense(rewrite, node, graph.specs[number][0].shape))
        else:
            rewrite.keep(number)
    return rewrite.finish()


def _is_dense(graph, users, number, block):
    node = graph.nodes[number]
    a, (data, weight) = node.attrs, (graph.spec(entry) for entry in node.inputs[:2])
    if not (data.known and weight.known) or data.dtype != _FLOAT:
        return False
    if a.layout not in (None, "NCW", "NCHW", "NCDHW"):
        return False
    if a.num_group != 1 or a.kernel != data.shape[2:] or any(a.pad) or weight.size < _LEAST:
        return False
    if graph.specs[number][0].shape[1] % block == 0:
        return False
    reader = users.only(number)
    constant = graph.nodes[node.inputs[1][0]].op is None
    return constant and (reader is None or graph.nodes[reader].op is not _NORM)


def _dense(rewrite, node, shape):
    """Append the dense layer and a reshape of its result; return the entry."""
    data, weight, *bias = rewrite.inputs(node)
    depth = math.prod(rewrite.spec(weight).shape[1:])
    matrix = {"shape": (shape[1], depth)}
    weight = rewrite.add("Reshape", matrix, [weight], None, {ONCE: ""})
    attrs = {"num_hidden": shape[1], "no_bias": node.attrs.no_bias}
    out = rewrite.add("FullyConnected", attrs, [data, weight, *bias], node.name)
    return rewrite.add("Reshape", {"shape": shape}, [out])
