"""Random-walk samples of graphs."""

import warnings
from collections import deque

import numpy as np

from mxcy.base import MXNetError
from mxcy.ops.random.distributions import generator

__all__ = ["sampled"]


def sampled(graph, seeds, chances, hops, neighbors, limit, function):
    """Sample vertices around seeds, and the edges between them.

    Parameters
    ----------
    graph
        A graph with ``indptr`` and ``columns``.
    seeds : numpy.ndarray
    chances : numpy.ndarray or None
        Sampling weights of the graph's vertices; None for uniform ones.
    hops, neighbors, limit : int
        Maximum number of hops, of neighbors per vertex, and of sampled vertices.
    function : str
        Name of the caller, for error messages.

    Returns
    -------
    vertices, levels : numpy.ndarray
        The vertices, sorted, and their distances in hops from a seed.
    rows, places : numpy.ndarray
        For each edge the position of its source vertex, and its position in the graph.

    Raises
    ------
    MXNetError
        If there are more seeds than `limit`.
    """
    levels = dict.fromkeys(np.unique(seeds).tolist(), 0)
    if len(levels) > limit:
        raise MXNetError(f"{function}: got {len(levels)} seeds, but max_num_vertices is {limit}")
    taken, waiting, truncated = {}, deque(levels), False
    while waiting:
        vertex = waiting.popleft()
        if levels[vertex] == hops or vertex >= len(graph.indptr) - 1:
            continue
        kept = []
        for place in _chosen(graph, vertex, chances, neighbors):
            neighbor = int(graph.columns[place])
            if neighbor not in levels:
                if len(levels) == limit:
                    truncated = True
                    continue
                levels[neighbor] = levels[vertex] + 1
                waiting.append(neighbor)
            kept.append(place)
        taken[vertex] = kept
    if truncated:
        warnings.warn(
            f"{function}: a sample has reached max_num_vertices, {limit}: use fewer seeds or "
            "neighbors",
            UserWarning,
            stacklevel=4,
        )
    vertices = np.array(sorted(levels), np.int64)
    edges = [taken.get(vertex, []) for vertex in vertices.tolist()]
    rows = np.repeat(np.arange(len(vertices)), [len(places) for places in edges])
    places = np.array([place for places in edges for place in places], np.int64)
    return vertices, np.array([levels[v] for v in vertices.tolist()], np.int64), rows, places


def _chosen(graph, vertex, chances, count):
    """Choose edges of a vertex; return their positions, sorted."""
    places = np.arange(graph.indptr[vertex], graph.indptr[vertex + 1])
    if len(places) <= count:
        return places
    weights = None if chances is None else chances[graph.columns[places]].astype(np.float64)
    if weights is not None:
        possible = weights > 0
        places, weights = places[possible], weights[possible]
        count, weights = min(count, len(places)), weights / weights.sum()
    return np.sort(generator(np).choice(places, count, replace=False, p=weights))
