"""Ranges of quantized arrays that are known when a graph is planned."""

__all__ = ["known_ranges"]


def known_ranges(graph):
    """The ranges that records tell.

    Parameters
    ----------
    graph : Graph
        With specs.

    Returns
    -------
    dict
        Entry of a quantized array -> (minimum, maximum), as the operator would give them.
    """
    known: dict = {}
    for number, node in enumerate(graph.nodes):
        if node.op is None or node.op.out_range is None or len(graph.specs[number]) != 3:
            continue  # of three outputs two are the range
        ranges = [known.get(entry) for entry in node.inputs]
        ins = [graph.spec(entry) for entry in node.inputs]
        bounds = node.op.out_range(node.attrs, ranges, ins, graph.specs[number])
        if bounds is not None:
            known[number, 0] = bounds
    return known
