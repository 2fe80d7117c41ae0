"""Fusion of normalisations into depthwise convolutions of training graphs.

It runs before differentiation, after `norms`: neither the normalised array nor the gradient of the
convolution's data is stored. Controlled by MXNET_USE_FUSION.
"""

from mxcy.graph.analysis.users import Users
from mxcy.graph.rewrite import Rewrite
from mxcy.ops.convolution.conv import conv_attrs
from mxcy.ops.core.record import find
from mxcy.ops.fused.norm_depthwise import refusal

__all__ = ["run"]

_NORM, _CONV, _FUSED = find("_batch_norm_relu"), find("Convolution"), find("_norm_depthwise")


def run(graph, wrt, has_kernel):
    """Fuse each depthwise convolution with a normalisation of which it is the only reader.

    Parameters
    ----------
    graph : Graph
        The graph of a forward pass, with specs.
    wrt : list of str
        Names of the variables whose gradients are wanted.
    has_kernel : callable
        Tells, given a name and a dtype, whether the device that will run the graph has a kernel.

    Returns
    -------
    Graph
    """
    pairs = _pairs(graph, set(wrt), has_kernel)
    if not pairs:
        return graph
    norms = set(pairs.values())
    rewrite = Rewrite(graph)
    for number, node in rewrite.visit():
        if number in pairs:
            norm = graph.nodes[pairs[number]]
            names = ("eps", "momentum", "fix_gamma", "act")
            attrs = conv_attrs(node.attrs) | {name: getattr(norm.attrs, name) for name in names}
            inputs = [*rewrite.inputs(norm), rewrite.entry(node.inputs[1])]
            entry = rewrite.add(_FUSED, attrs, inputs, node.name, node.extra)
            rewrite.replace((number, 0), entry)
        elif number not in norms:
            rewrite.keep(number)
    return rewrite.finish()


def _pairs(graph, wrt, has_kernel):
    """Make {number of a convolution: number of the preceding normalisation}."""
    users, pairs, wanted = Users(graph), {}, set()
    for number, node in enumerate(graph.nodes):
        inputs = {source for source, _ in node.inputs}
        if inputs & wanted or (node.op is None and node.name in wrt):
            wanted.add(number)
        # Without a backward pass, a normalisation keeps its moving statistics.
        if node.op is not _NORM or node.attrs.axis != 1 or number not in wanted:
            continue
        after = users.only(number)
        if after is None or not _fits(graph.nodes[after], (number, 0)):
            continue
        spec, kernel = graph.specs[number][0], f"norm_depthwise_{node.attrs.act}"
        attrs = graph.nodes[after].attrs
        if len(spec.shape) != 4 or refusal(attrs, spec.shape[1]):
            continue
        if has_kernel(kernel, spec.dtype) and graph.nodes[after].extra == node.extra:
            pairs[after] = number
    return pairs


def _fits(node, data):
    """Whether a node is a convolution of `data` without bias."""
    return node.op is _CONV and node.attrs.no_bias and node.inputs[0] == data
