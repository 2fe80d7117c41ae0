"""Stages of a forward pass, between which the backward pass can recompute it piecewise."""

__all__ = ["best_stages", "borders"]

_TRIALS = 12


def borders(graph, threshold, marked=None):
    """The nodes whose results are kept at stage boundaries.

    A stage ends once it has computed more bytes than the threshold, at the next point that only a
    single node's results cross; if there is none before twice the threshold, all results that cross
    are kept.

    Parameters
    ----------
    graph : Graph
        A graph with specs, of which only the forward pass is considered.
    threshold : int
        Size of a stage in bytes.
    marked : set of int, optional
        If given, stages end only after these nodes, and only their results are kept.

    Returns
    -------
    set of int
    """
    last = list(range(graph.forward))  # node -> its last reader
    for number, node in enumerate(graph.nodes[: graph.forward]):
        for source, _ in node.inputs:
            last[source] = number
    ending = {}
    for number, reader in enumerate(last):
        ending.setdefault(reader, []).append(number)
    kept, crossing, computed = set(), set(), 0
    for number, node in enumerate(graph.nodes[: graph.forward]):
        if node.op is not None:
            computed += sum(spec.nbytes for spec in graph.specs[number])
            if last[number] > number:
                crossing.add(number)
        crossing.difference_update(ending.get(number, ()))
        if computed <= threshold:
            continue
        if marked is None:
            ends = crossing if len(crossing) == 1 or computed > 2 * threshold else ()
        else:
            ends = marked & {number}
        if ends:
            kept |= ends
            computed = 0
    return kept


def best_stages(graph, able, cost, marked=None, trials=_TRIALS):
    """Search for the best stage size.

    Parameters
    ----------
    graph : Graph
    able : list of bool
        For each node of the forward pass whether it can be recomputed.
    cost : callable
        ``cost(flags)``: memory in bytes if the flagged nodes are recomputed.
    marked : set of int, optional
        See `borders`.
    trials : int
        Number of sizes to try, each two thirds of the previous one.

    Returns
    -------
    list of bool
        The nodes to recompute; none if stages save nothing.
    """
    best = [False] * graph.forward
    least = cost(best)
    threshold = sum(spec.nbytes for specs in graph.specs[: graph.forward] for spec in specs)
    tried = set()
    for _ in range(trials):
        threshold = threshold * 2 // 3
        kept = frozenset(borders(graph, threshold, marked))
        if kept in tried:
            continue
        tried.add(kept)
        flags = [flag and number not in kept for number, flag in enumerate(able)]
        price = cost(flags)
        if price < least:
            best, least = flags, price
    return best
