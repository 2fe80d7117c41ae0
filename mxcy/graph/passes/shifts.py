"""Gradients of shifts that a normalisation by batch statistics removes again: zeros.

A shift of a channel before such a normalisation, e.g. a convolution's bias, has no effect, so the
gradient of the data sums to zero over each channel; computed, the sum is a rounding error.
"""

from mxcy._base.dtypes import name_of
from mxcy.graph.rewrite import Rewrite
from mxcy.ops.core.infer import normal_axis
from mxcy.ops.core.record import find

__all__ = ["run"]

_SUM = find("sum")
_GRADIENTS = tuple(map(find, ("_batch_norm_grad", "_batch_norm_relu_grad", "_norm_depthwise_grad")))


def run(graph, target):
    """Replace sums over all axes but the channels' of gradients of normalised data by zeros."""
    rewrite = Rewrite(graph)
    for number, node in rewrite.visit():
        if node.op is _SUM and _vanishes(graph, node):
            spec = graph.specs[number][0]
            attrs = {"shape": spec.shape, "dtype": name_of(spec.dtype)}
            rewrite.replace((number, 0), rewrite.add("_zeros", attrs, [], node.name, node.extra))
        else:
            rewrite.keep(number)
    return rewrite.finish()


def _vanishes(graph, node):
    source, index = node.inputs[0]
    before = graph.nodes[source]
    if before.op not in _GRADIENTS or index != 0:
        return False
    if before.op.uses_mode and (not before.attrs.train or before.attrs.use_global_stats):
        return False
    ndim = len(graph.spec(node.inputs[0]).shape)
    channels = normal_axis(getattr(before.attrs, "axis", 1), ndim)
    axes = {normal_axis(axis, ndim) for axis in node.attrs.axis or ()}
    kept = axes if node.attrs.exclude else set(range(ndim)) - axes
    return bool(axes) and kept == {channels}
