"""The table of quantized nodes that MXCY_VERBOSE=passes prints."""

from mxcy.graph.node import topological

__all__ = ["print_table", "quantized_nodes"]


def quantized_nodes(entries):
    """Return the quantized operators of a graph by the names of their float nodes.

    Parameters
    ----------
    entries : list of (SymbolNode, int)
        A quantized graph.
    """
    return {
        node.name.removeprefix("quantized_"): node.op.name
        for node in topological(entries)
        if node.op is not None and node.name.startswith("quantized_")
    }


def print_table(result=None, ranges=None):
    """Print which nodes were quantized and why others were not, or the ranges of layers.

    Parameters
    ----------
    result : mxcy.graph.passes.quantize.Quantized, optional
    ranges : dict of str to (float, float), optional
    """
    rows = []
    if result is not None:
        rows += quantized_nodes(result.entries).items()
        rows += [(name, f"float: {reason}") for name, reason in result.kept.items()]
    if ranges is not None:
        rows += [
            (name, f"{float(low):.6g} ... {float(high):.6g}")
            for name, (low, high) in ranges.items()
        ]
    width = max((len(name) for name, _ in rows), default=0)
    for name, choice in rows:
        print(f"mxcy quantize {name:{width}}  {choice}", flush=True)
