"""Ranges of quantized arrays that are known when a graph is planned."""

from mxcy._base.dtypes import code_of
from mxcy.ops.core.record import find

__all__ = ["known_ranges"]

#: operators whose result keeps the range of their data
_KEEPING = {
    find(f"_contrib_quantized_{name}")
    for name in ("act", "pooling", "flatten", "reshape", "transpose")
}
_CONCAT = find("_contrib_quantized_concat")
_QUANTIZE, _REQUANTIZE = find("_contrib_quantize_v2"), find("_contrib_requantize")
#: operators that give the calibrated range as it is
_GIVING = {
    find(f"_contrib_quantized_{name}") for name in ("elemwise_add", "elemwise_mul", "batch_norm")
}
_UNSIGNED = code_of("uint8")


def known_ranges(graph):
    """The ranges that attributes tell.

    Parameters
    ----------
    graph : Graph
        With specs.

    Returns
    -------
    dict
        Entry of a quantized array -> (minimum, maximum), as the operator would give them.
    """
    found: dict = {}
    for number, node in enumerate(graph.nodes):
        if node.op is None or len(graph.specs[number]) != 3:
            continue
        known = _range_of(graph, number, node, found)
        if known is not None:
            found[number, 0] = known
    return found


def _range_of(graph, number, node, found):
    """The range of a node's first output, or None."""
    if node.op in _KEEPING:
        return found.get(node.inputs[0])
    if node.op is _CONCAT:
        ranges = [found.get(entry) for entry in node.inputs[: node.attrs.num_args]]
        if None in ranges:
            return None
        return min(low for low, _ in ranges), max(high for _, high in ranges)
    low, high = (getattr(node.attrs, f"{end}_calib_range", None) for end in ("min", "max"))
    if low is None or high is None:
        return None
    if node.op in _GIVING:
        return low, high
    top = max(abs(low), abs(high))
    unsigned = graph.specs[number][0].dtype == _UNSIGNED
    if node.op is _REQUANTIZE:
        return (0.0, top) if unsigned else (-top, top)
    if node.op is not _QUANTIZE:
        return None
    as_given = unsigned or graph.spec(node.inputs[0]).dtype == graph.specs[number][0].dtype
    return (low, high) if as_given else (-top, top)
