"""Ranges of quantized arrays that are known at planning time."""

__all__ = ["known_ranges"]


def known_ranges(graph):
    """Collect the ranges that operators' attributes specify.

    Parameters
    ----------
    graph : Graph
        A graph with specs.

    Returns
    -------
    dict
        Entry of a quantized array -> (minimum, maximum), as the operator would return.
    """
    known: dict = {}
    for number, node in enumerate(graph.nodes):
        if node.op is None or node.op.out_range is None or len(graph.specs[number]) != 3:
            continue  # the outputs are (data, minimum, maximum)
        ranges = [known.get(entry) for entry in node.inputs]
        ins = [graph.spec(entry) for entry in node.inputs]
        bounds = node.op.out_range(node.attrs, ranges, ins, graph.specs[number])
        if bounds is not None:
            known[number, 0] = bounds
    return known
