"""Stages of a forward pass: where to cut it so that the backward pass can repeat it in pieces."""

__all__ = ["best_stages", "borders"]

_TRIALS = 12


def borders(graph, threshold, marked=None):
    """The nodes whose results are kept between stages.

    A stage ends when the bytes computed in it pass the threshold, at the next place that a single
    node's results cross; when that does not come before twice the threshold, all that cross are
    kept.

    Parameters
    ----------
    graph : Graph
        With specs; only the forward pass counts.
    threshold : int
        Bytes.
    marked : set of int, optional
        Stages end only behind these nodes, whose results alone are kept.

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
    """Search for the best size of stages.

    Parameters
    ----------
    graph : Graph
    able : list of bool
        For each node of the forward pass whether it can be computed again.
    cost : callable
        ``cost(flags)``: the bytes needed when the flagged nodes are computed again.
    marked : set of int, optional
        See `borders`.
    trials : int
        How many sizes are tried, each two thirds of the one before.

    Returns
    -------
    list of bool
        Which nodes to compute again; none when no stages save anything.
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
