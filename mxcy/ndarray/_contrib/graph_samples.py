"""Samples of graphs by walks from some vertices on."""

import warnings
from collections import deque

import numpy as np

from mxcy.base import MXNetError
from mxcy.ops.random.distributions import generator

__all__ = ["sampled"]


def sampled(graph, seeds, chances, hops, neighbors, limit, function):
    """Vertices around some, and edges between them.

    Parameters
    ----------
    graph
        Has ``indptr`` and ``columns``.
    seeds : numpy.ndarray
    chances : numpy.ndarray or None
        Of the graph's vertices; None for equal ones.
    hops, neighbors, limit : int
        How many edges away, edges from a vertex, vertices of the sample.
    function : str
        Whose error it is.

    Returns
    -------
    vertices, levels : numpy.ndarray
        Sorted, and how many hops from a seed they are.
    rows, places : numpy.ndarray
        Of the edges: the position of their first vertex, and their place in the graph.

    Raises
    ------
    MXNetError
        When there are more seeds than the sample may have vertices.
    """
    levels = dict.fromkeys(np.unique(seeds).tolist(), 0)
    if len(levels) > limit:
        raise MXNetError(f"{function}: {len(levels)} seeds, but max_num_vertices is {limit}")
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
    """The places of some edges from a vertex, in their order."""
    places = np.arange(graph.indptr[vertex], graph.indptr[vertex + 1])
    if len(places) <= count:
        return places
    weights = None if chances is None else chances[graph.columns[places]].astype(np.float64)
    if weights is not None:
        possible = weights > 0
        places, weights = places[possible], weights[possible]
        count, weights = min(count, len(places)), weights / weights.sum()
    return np.sort(generator(np).choice(places, count, replace=False, p=weights))
