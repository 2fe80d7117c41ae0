"""Graphs as csr arrays whose values are edge ids: sampling and subgraphs.

These are MXNet's operators for DGL. They have several sparse outputs with value-dependent sizes, so
they are implemented by NumPy on arrays, and not available for symbols.
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
        """Make a csr array on this graph's context."""
        return csr_matrix((edges, columns, indptr), shape=shape, ctx=self.context)


def _vertices(array, limit, function):
    """Return an array of vertices as a sorted NumPy array.

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
    """Compute the indptr of a csr array from the sorted rows of its entries."""
    return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=count))]).astype(np.int64)


def dgl_csr_neighbor_uniform_sample(
    csr_matrix, *seed_arrays, num_args=_Null, num_hops=1, num_neighbor=2, max_num_vertices=100
):
    """Sample neighbourhoods: edges to some neighbours, from there to others, ...

    Parameters
    ----------
    csr_matrix : CSRNDArray
        The graph; row v has the edges from vertex v.
    *seed_arrays : NDArray
        Seed vertices, int64; one sample per array.
    num_args : int, optional
        Number of arrays, including the graph.
    num_hops : int
        Maximum distance of sampled vertices in edges.
    num_neighbor : int
        Maximum number of edges sampled per vertex.
    max_num_vertices : int
        Maximum number of vertices per sample; further ones are dropped.

    Returns
    -------
    list of NDArray and CSRNDArray
        For each sample the vertices, sorted, shape ``(max_num_vertices + 1,)``, whose last element
        is their number; then for each sample the edges, one row per vertex, shape
        ``(max_num_vertices, vertices of the graph)``; then the number of hops to each vertex,
        shape ``(max_num_vertices,)``. Unused elements are 0.

    Raises
    ------
    MXNetError
        If a seed is not a vertex, or there are more seeds than `max_num_vertices`.
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
    """Sample like `dgl_csr_neighbor_uniform_sample`, with non-uniform probabilities.

    Parameters
    ----------
    csr_matrix : CSRNDArray
    probability : NDArray
        Sampling weights of the graph's vertices, shape (vertices,).
    *seed_arrays, num_args, num_hops, num_neighbor, max_num_vertices
        See `dgl_csr_neighbor_uniform_sample`.

    Returns
    -------
    list of NDArray and CSRNDArray
        As there; the probabilities of each sample's vertices precede the hops.
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
        raise MXNetError(f"{function}: num_args is {num_args}, but got {count} arrays")


def _outputs(graph, samples, limit, chances=None):
    """The groups of arrays that samplers return, each with one array per sample."""
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
    """Extract the subgraphs induced by sets of vertices.

    Parameters
    ----------
    graph : CSRNDArray
    *data : NDArray
        Vertices, int64 and sorted; one subgraph per array.
    num_args : int, optional
        Number of arrays, including the graph.
    return_mapping : bool
        Whether to return the original edge ids as well.

    Returns
    -------
    CSRNDArray or list of CSRNDArray
        The subgraphs with edge ids counted from 0, int64; then, with `return_mapping`, the
        subgraphs with their original edge ids.

    Raises
    ------
    MXNetError
        If vertices are not sorted or not in the graph.
    """
    _check_count("dgl_subgraph", num_args, 1 + len(data))
    source = _Graph(graph, "dgl_subgraph")
    parts = []
    for array in data:
        vertices = _vertices(array, source.shape[0], "dgl_subgraph")
        if (np.diff(vertices) < 0).any():
            raise MXNetError("dgl_subgraph: expected sorted vertices")
        parts.append(_between(source, vertices))
    return _numbered(source, parts, return_mapping)


def _between(graph, vertices):
    """Return (positions of the edges between vertices, their rows, their columns, count)."""
    position = np.full(max(graph.shape), -1)
    position[vertices] = np.arange(len(vertices))
    rows, columns = position[graph.rows], position[graph.columns]
    places = np.flatnonzero((rows >= 0) & (columns >= 0))
    return places, rows[places], columns[places], len(vertices)


def _numbered(graph, parts, return_mapping):
    """Make the arrays of subgraphs, with new and optionally original edge ids."""
    new, old = [], []
    for places, rows, columns, count in parts:
        indptr, shape = _pointers(rows, count), (count, count)
        new.append(graph.csr(np.arange(len(places)), columns, indptr, shape))
        if return_mapping:
            old.append(graph.csr(graph.edges[places], columns, indptr, shape))
    arrays = new + old
    return arrays[0] if len(arrays) == 1 else arrays


def dgl_graph_compact(*graph_data, num_args=_Null, return_mapping, graph_sizes):
    """Remove the empty rows and columns of samples.

    Parameters
    ----------
    *graph_data : CSRNDArray and NDArray
        The edges of samples, then the vertices of each, as returned by samplers.
    num_args : int, optional
        Number of arrays.
    return_mapping : bool
        Whether to return the original edge ids as well.
    graph_sizes : int or tuple of int
        Number of vertices of each sample.

    Returns
    -------
    CSRNDArray or list of CSRNDArray
        The samples with edge ids counted from 0 and vertices renumbered; then, with
        `return_mapping`, with their original edge ids.

    Raises
    ------
    MXNetError
        If arrays and sizes are inconsistent.
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
            f"{name}: expected one graph, one array of vertices and one size per sample, got "
            f"{len(graph_data)} arrays and {len(sizes)} sizes"
        )
    results = []
    for edges, ids, size in zip(graph_data[:half], graph_data[half:], sizes, strict=True):
        graph = _Graph(edges, name)
        if not 0 <= size < ids.size:
            raise MXNetError(f"{name}: graph_sizes: {size} exceeds the {ids.size - 1} vertices")
        vertices = _vertices(ids[:size], graph.shape[1], name)
        if graph.indptr[min(size, graph.shape[0])] != len(graph.columns):
            raise MXNetError(f"{name}: graph_sizes: there are edges after the first {size} rows")
        position = np.full(graph.shape[1], -1)
        position[vertices] = np.arange(size)
        columns = position[graph.columns]
        if (columns < 0).any():
            raise MXNetError(f"{name}: an edge leads to a vertex outside the sample")
        parts = [(np.arange(len(columns)), graph.rows, columns, size)]
        results.append(_numbered(graph, parts, return_mapping))
    if not return_mapping:
        return results[0] if len(results) == 1 else results
    return [pair[number] for number in (0, 1) for pair in results]


def dgl_adjacency(data):
    """Return the adjacency matrix of a graph, with 1 for each edge.

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
    """Look up the ids of edges.

    Parameters
    ----------
    data : CSRNDArray
        The graph.
    u, v : NDArray
        Source and target vertices of the edges, shape (edges,).

    Returns
    -------
    NDArray
        Edge ids, the graph's values at (u, v); -1 if there is no edge. Shape (edges,).

    Raises
    ------
    MXNetError
        If the shapes differ.
    """
    graph = _Graph(data, "edge_id")
    begins, ends = u.asnumpy(), v.asnumpy()
    if begins.ndim != 1 or begins.shape != ends.shape:
        raise MXNetError(
            f"edge_id: u, v: expected 1-d arrays of equal length, got {u.shape} and {v.shape}"
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
