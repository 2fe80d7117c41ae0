"""Graphs as csr arrays, whose elements are the numbers of edges: samples and parts of them.

These are the operators that DGL runs on MXNet. They have several sparse outputs of sizes that
depend on values, so they are functions on the arrays, computed by NumPy, and not for symbols.
"""

import numpy as np

from mxcy.base import MXNetError, _Null
from mxcy.ndarray._contrib.graph_samples import sampled
from mxcy.ndarray._functions import creation
from mxcy.ndarray.sparse.creation import csr_matrix
from mxcy.ndarray.sparse.csr import CSRNDArray

__all__ = [
    "dgl_adjacency",
    "dgl_csr_neighbor_non_uniform_sample",
    "dgl_csr_neighbor_uniform_sample",
    "dgl_graph_compact",
    "dgl_subgraph",
    "edge_id",
]


class _Graph:
    """The parts of a csr array as NumPy arrays."""

    def __init__(self, array, function):
        if not isinstance(array, CSRNDArray):
            raise MXNetError(
                f"{function}: expected a graph, a csr array, got {type(array).__name__}"
            )
        self.edges, self.indptr = array.data.asnumpy(), array.indptr.asnumpy()
        self.columns = array.indices.asnumpy()
        self.rows = np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))
        self.shape, self.context = array.shape, array.context

    def csr(self, edges, columns, indptr, shape):
        """A csr array beside this graph's."""
        return csr_matrix((edges, columns, indptr), shape=shape, ctx=self.context)


def _vertices(array, limit, function):
    """A sorted array of vertices as a NumPy array.

    Raises
    ------
    MXNetError
    """
    vertices = array.asnumpy()
    if vertices.ndim != 1 or vertices.dtype != np.int64:
        raise MXNetError(
            f"{function}: expected vertices as int64 in one dimension, got {vertices.dtype} of "
            f"shape {vertices.shape}"
        )
    if vertices.size and not (0 <= vertices.min() and vertices.max() < limit):
        raise MXNetError(f"{function}: expected vertices from 0 to {limit - 1}")
    return vertices


def _pointers(rows, count):
    """The indptr of a csr array with these rows of its entries, which are sorted."""
    return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=count))]).astype(np.int64)


def dgl_csr_neighbor_uniform_sample(
    csr_matrix, *seed_arrays, num_args=_Null, num_hops=1, num_neighbor=2, max_num_vertices=100
):
    """Sample the surroundings of vertices: edges to some neighbours, from there to others, ...

    Parameters
    ----------
    csr_matrix : CSRNDArray
        The graph; row v has the edges that a sample takes from vertex v.
    *seed_arrays : NDArray
        Vertices to start from, int64; there is a sample for each array.
    num_args : int, optional
        How many arrays there are, with the graph.
    num_hops : int
        How many edges the farthest vertices are away.
    num_neighbor : int
        How many edges are taken from a vertex; all of them if it has no more.
    max_num_vertices : int
        Of a sample; what would come then is left out.

    Returns
    -------
    list of NDArray and CSRNDArray
        For all samples the vertices, sorted, shape ``(max_num_vertices + 1,)``, whose last element
        is their number; then for all samples the edges, with a row for each of these vertices,
        shape ``(max_num_vertices, vertices of the graph)``; then the hops to each vertex, shape
        ``(max_num_vertices,)``. Elements behind the vertices are 0.

    Raises
    ------
    MXNetError
        When a seed is no vertex, or there are more than `max_num_vertices`.
    """
    name = "dgl_csr_neighbor_uniform_sample"
    _check_count(name, num_args, 1 + len(seed_arrays))
    graph = _Graph(csr_matrix, name)
    samples = [
        sampled(
            graph,
            _vertices(seeds, graph.shape[0], name),
            None,
            num_hops,
            num_neighbor,
            max_num_vertices,
            name,
        )
        for seeds in seed_arrays
    ]
    return _outputs(graph, samples, max_num_vertices)


def dgl_csr_neighbor_non_uniform_sample(
    csr_matrix,
    probability,
    *seed_arrays,
    num_args=_Null,
    num_hops=1,
    num_neighbor=2,
    max_num_vertices=100,
):
    """The same as `dgl_csr_neighbor_uniform_sample`, with unequal chances of the neighbours.

    Parameters
    ----------
    csr_matrix : CSRNDArray
    probability : NDArray
        What the chances of the graph's vertices are proportional to, shape (vertices,).
    *seed_arrays, num_args, num_hops, num_neighbor, max_num_vertices
        See `dgl_csr_neighbor_uniform_sample`.

    Returns
    -------
    list of NDArray and CSRNDArray
        As there; before the hops come for all samples the probabilities of their vertices.
    """
    name = "dgl_csr_neighbor_non_uniform_sample"
    _check_count(name, num_args, 2 + len(seed_arrays))
    graph = _Graph(csr_matrix, name)
    chances = probability.asnumpy()
    if chances.shape != graph.shape[1:]:
        raise MXNetError(
            f"{name}: probability: expected shape {graph.shape[1:]}, got {chances.shape}"
        )
    samples = [
        sampled(
            graph,
            _vertices(seeds, graph.shape[0], name),
            chances,
            num_hops,
            num_neighbor,
            max_num_vertices,
            name,
        )
        for seeds in seed_arrays
    ]
    return _outputs(graph, samples, max_num_vertices, chances)


def _check_count(function, num_args, count):
    if num_args is not _Null and int(num_args) != count:
        raise MXNetError(f"{function}: num_args says {num_args} arrays, got {count}")


def _outputs(graph, samples, limit, chances=None):
    """The sets of arrays of which samplers return one of each for all samples."""
    vertices, edges, probabilities, hops = [], [], [], []
    for kept, levels, rows, places in samples:
        padding = np.zeros(limit - len(kept), np.int64)
        vertices.append(np.concatenate([kept, padding, [len(kept)]]))
        hops.append(np.concatenate([levels, padding]))
        parts = graph.edges[places], graph.columns[places], _pointers(rows, limit)
        edges.append(graph.csr(*parts, (limit, graph.shape[1])))
        if chances is not None:
            probabilities.append(np.concatenate([chances[kept], padding.astype(chances.dtype)]))
    dense = [
        [creation.array(part, ctx=graph.context, dtype=part.dtype) for part in parts]
        for parts in (vertices, probabilities, hops)
    ]
    return [*dense[0], *edges, *dense[1], *dense[2]]


def dgl_subgraph(graph, *data, num_args=_Null, return_mapping):
    """The parts of a graph between some of its vertices.

    Parameters
    ----------
    graph : CSRNDArray
    *data : NDArray
        Vertices, int64 and sorted; there is a part for each array.
    num_args : int, optional
        How many arrays there are, with the graph.
    return_mapping : bool
        Whether the edges' numbers in the graph are returned as well.

    Returns
    -------
    CSRNDArray or list of CSRNDArray
        For all parts the edges numbered from 0 on, as int64; then, with `return_mapping`, for all
        parts the same edges with their numbers in the graph.

    Raises
    ------
    MXNetError
        When vertices are not sorted or not in the graph.
    """
    _check_count("dgl_subgraph", num_args, 1 + len(data))
    whole = _Graph(graph, "dgl_subgraph")
    parts = []
    for array in data:
        vertices = _vertices(array, whole.shape[0], "dgl_subgraph")
        if (np.diff(vertices) < 0).any():
            raise MXNetError("dgl_subgraph: expected sorted vertices")
        parts.append(_between(whole, vertices))
    return _numbered(whole, parts, return_mapping)


def _between(graph, vertices):
    """(places of the edges between vertices, rows and columns in these, number of vertices)."""
    position = np.full(max(graph.shape), -1)
    position[vertices] = np.arange(len(vertices))
    rows, columns = position[graph.rows], position[graph.columns]
    places = np.flatnonzero((rows >= 0) & (columns >= 0))
    return places, rows[places], columns[places], len(vertices)


def _numbered(graph, parts, return_mapping):
    """The arrays of parts of a graph, with new and perhaps with old numbers of their edges."""
    new, old = [], []
    for places, rows, columns, count in parts:
        indptr, shape = _pointers(rows, count), (count, count)
        new.append(graph.csr(np.arange(len(places)), columns, indptr, shape))
        if return_mapping:
            old.append(graph.csr(graph.edges[places], columns, indptr, shape))
    arrays = new + old
    return arrays[0] if len(arrays) == 1 else arrays


def dgl_graph_compact(*graph_data, num_args=_Null, return_mapping, graph_sizes):
    """Leave out the empty rows and columns of samples.

    Parameters
    ----------
    *graph_data : CSRNDArray and NDArray
        The edges of samples, then as many arrays with their vertices, as samplers return them.
    num_args : int, optional
        How many arrays there are.
    return_mapping : bool
        Whether the edges' numbers in the samples are returned as well.
    graph_sizes : int or tuple of int
        The numbers of the samples' vertices.

    Returns
    -------
    CSRNDArray or list of CSRNDArray
        For all samples the edges numbered from 0 on, between vertices as numbered in the sample;
        then, with `return_mapping`, the same edges with their numbers in the samples.

    Raises
    ------
    MXNetError
        When arrays or sizes do not belong together.
    """
    name = "dgl_graph_compact"
    _check_count(name, num_args, len(graph_data))
    try:
        sizes = [int(size) for size in graph_sizes]
    except TypeError:
        sizes = [int(graph_sizes)]
    half = len(graph_data) // 2
    if len(graph_data) % 2 or len(sizes) != half:
        raise MXNetError(
            f"{name}: expected as many graphs as arrays of vertices and graph_sizes, got "
            f"{len(graph_data)} arrays and {len(sizes)} sizes"
        )
    results = []
    for edges, ids, size in zip(graph_data[:half], graph_data[half:], sizes, strict=True):
        graph = _Graph(edges, name)
        if not 0 <= size < ids.size:
            raise MXNetError(f"{name}: graph_sizes: got {size} of {ids.size - 1} vertices")
        vertices = _vertices(ids[:size], graph.shape[1], name)
        if graph.indptr[min(size, graph.shape[0])] != len(graph.columns):
            raise MXNetError(f"{name}: graph_sizes: there are edges after the first {size} rows")
        position = np.full(graph.shape[1], -1)
        position[vertices] = np.arange(size)
        columns = position[graph.columns]
        if (columns < 0).any():
            raise MXNetError(f"{name}: an edge leads to a vertex that is not in the list")
        parts = [(np.arange(len(columns)), graph.rows, columns, size)]
        results.append(_numbered(graph, parts, return_mapping))
    if not return_mapping:
        return results[0] if len(results) == 1 else results
    return [pair[number] for number in (0, 1) for pair in results]


def dgl_adjacency(data):
    """A graph with 1 for each edge.

    Parameters
    ----------
    data : CSRNDArray

    Returns
    -------
    CSRNDArray
        float32.
    """
    graph = _Graph(data, "dgl_adjacency")
    ones = np.ones(len(graph.columns), np.float32)
    return graph.csr(ones, graph.columns, graph.indptr, graph.shape)


def edge_id(data, u, v):
    """The numbers of edges.

    Parameters
    ----------
    data : CSRNDArray
        The graph.
    u, v : NDArray
        Vertices where edges begin and end, shape (edges,).

    Returns
    -------
    NDArray
        The graph's elements at (u, v), -1 where there is no edge; shape (edges,).

    Raises
    ------
    MXNetError
        When the shapes differ.
    """
    graph = _Graph(data, "edge_id")
    begins, ends = u.asnumpy(), v.asnumpy()
    if begins.ndim != 1 or begins.shape != ends.shape:
        raise MXNetError(
            f"edge_id: u, v: expected one dimension and one length, got {u.shape} and {v.shape}"
        )
    keys = graph.rows * graph.shape[1] + graph.columns
    order = np.argsort(keys, kind="stable")
    wanted = begins.astype(np.int64) * graph.shape[1] + ends.astype(np.int64)
    places = np.searchsorted(keys, wanted, sorter=order)
    result = np.full(len(wanted), -1, graph.edges.dtype)
    inside = places < len(keys)
    at = order[places[inside]]
    there = keys[at] == wanted[inside]
    result[np.flatnonzero(inside)[there]] = graph.edges[at[there]]
    return creation.array(result, ctx=graph.context, dtype=result.dtype)
