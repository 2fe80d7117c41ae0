"""Graphs as csr arrays: sampling and subgraphs."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.base import MXNetError

contrib = mx.nd.contrib


def ids(*vertices):
    return mx.nd.array(vertices, dtype="int64")


@pytest.fixture
def complete():
    """All edges between five vertices, numbered from 1 on."""
    dense = np.zeros((5, 5), np.int64)
    dense[~np.eye(5, dtype=bool)] = np.arange(1, 21)
    return mx.nd.sparse.csr_matrix(dense, dtype="int64")


@pytest.fixture
def ring():
    """Edges from each of 30 vertices to the next two, and from 0 to all."""
    dense = np.zeros((30, 30), np.int64)
    for vertex in range(30):
        dense[vertex, [(vertex + 1) % 30, (vertex + 2) % 30]] = 2 * vertex + 1, 2 * vertex + 2
    dense[0, 1:] = np.arange(100, 129)
    return mx.nd.sparse.csr_matrix(dense, dtype="int64")


def taken_apart(sample, limit):
    """(vertices, edges as a dense array, further sets without padding) of one sample."""
    ids, edges, *others = sample
    assert ids.shape == (limit + 1,) and edges.stype == "csr"
    edges.check_format(full_check=True)
    count = int(ids[-1].asscalar())
    assert (ids[count:-1].asnumpy() == 0).all()
    assert all(array.shape == (limit,) for array in others)
    return (
        ids[:count].asnumpy(),
        edges.tostype("default").asnumpy(),
        *(array[:count].asnumpy() for array in others),
    )


@pytest.mark.parametrize("hops", [1, 2, 4])
@pytest.mark.parametrize("neighbors", [1, 2, 5])
def test_samples_follow_edges(ring, hops, neighbors):
    sample = contrib.dgl_csr_neighbor_uniform_sample(
        ring, ids(0, 10), num_args=2, num_hops=hops, num_neighbor=neighbors, max_num_vertices=40
    )
    vertices, edges, levels = taken_apart(sample, 40)
    whole = ring.asnumpy()
    assert (np.diff(vertices) > 0).all() and levels[vertices == 10] == levels[vertices == 0] == 0
    assert levels.max() <= hops
    for row, (vertex, level) in enumerate(zip(vertices, levels, strict=True)):
        places = np.flatnonzero(edges[row])
        degree = np.count_nonzero(whole[vertex])
        assert len(places) == (min(degree, neighbors) if level < hops else 0)
        np.testing.assert_array_equal(edges[row, places], whole[vertex, places])
        assert set(places) <= set(vertices)
    assert not edges[len(vertices) :].any()


def test_samples_for_several_seeds_and_the_random_seed(complete):
    def draw():
        mx.random.seed(5)
        return contrib.dgl_csr_neighbor_uniform_sample(
            complete, ids(0), ids(3, 1), num_args=3, max_num_vertices=6
        )

    first, second, first_edges, second_edges, first_levels, second_levels = draw()
    assert len(taken_apart((first, first_edges, first_levels), 6)[0]) == 3
    vertices, _, levels = taken_apart((second, second_edges, second_levels), 6)
    assert set(vertices[levels == 0]) == {1, 3}
    for one, other in zip(draw(), draw(), strict=True):
        np.testing.assert_array_equal(one.asnumpy(), other.asnumpy())


def test_chances_of_neighbors(complete):
    chances = mx.nd.array([0.5, 0, 1, 0, 3])
    seen = set()
    for _ in range(20):
        sample = contrib.dgl_csr_neighbor_non_uniform_sample(
            complete, chances, ids(1), num_args=3, num_neighbor=2, max_num_vertices=5
        )
        vertices, edges, probabilities, _ = taken_apart(sample, 5)
        np.testing.assert_array_equal(probabilities, chances.asnumpy()[vertices])
        seen |= set(np.flatnonzero(edges[list(vertices).index(1)]))
    assert seen == {0, 2, 4}


def test_samples_end_at_their_limit(complete):
    with pytest.warns(UserWarning, match="max_num_vertices, 3"):
        sample = contrib.dgl_csr_neighbor_uniform_sample(
            complete, ids(0), num_hops=3, num_neighbor=4, max_num_vertices=3
        )
    vertices, edges, _ = taken_apart(sample, 3)
    assert len(vertices) == 3
    assert set(np.flatnonzero(edges.any(axis=0))) <= set(vertices)
    with pytest.raises(MXNetError, match="4 seeds, but max_num_vertices is 3"):
        contrib.dgl_csr_neighbor_uniform_sample(complete, ids(0, 1, 2, 3), max_num_vertices=3)


@pytest.mark.parametrize("limit", [4, 7])
def test_compact_samples(complete, limit):
    sample = contrib.dgl_csr_neighbor_uniform_sample(
        complete, ids(2), num_neighbor=2, max_num_vertices=limit
    )
    vertices, edges, _ = taken_apart(sample, limit)
    size = sample[0][-1].asnumpy()
    plain = contrib.dgl_graph_compact(sample[1], sample[0], graph_sizes=size, return_mapping=False)
    new, old = contrib.dgl_graph_compact(
        sample[1], sample[0], num_args=2, graph_sizes=(3,), return_mapping=True
    )
    assert plain.shape == new.shape == (3, 3)
    np.testing.assert_array_equal(old.asnumpy(), edges[:3][:, vertices])
    np.testing.assert_array_equal(new.data.asnumpy(), [0, 1])
    for one in (plain, old):
        np.testing.assert_array_equal(one.indices.asnumpy(), new.indices.asnumpy())
        np.testing.assert_array_equal(one.indptr.asnumpy(), new.indptr.asnumpy())
    for sizes in ((2,), (9,), (3, 3)):
        with pytest.raises(MXNetError, match="dgl_graph_compact: "):
            contrib.dgl_graph_compact(sample[1], sample[0], graph_sizes=sizes, return_mapping=False)


def test_parts_between_vertices(complete):
    """The values are those of MXNet 1.9.1."""
    new, old = contrib.dgl_subgraph(complete, ids(0, 2, 4), return_mapping=True)
    assert new.asnumpy().tolist() == [[0, 0, 1], [2, 0, 3], [4, 5, 0]]
    assert old.asnumpy().tolist() == [[0, 2, 4], [9, 0, 12], [17, 19, 0]]
    assert new.indices.asnumpy().tolist() == old.indices.asnumpy().tolist() == [1, 2, 0, 2, 0, 1]
    pair, lonely = contrib.dgl_subgraph(
        complete, ids(0, 2), ids(1), num_args=3, return_mapping=False
    )
    assert pair.shape == (2, 2) and lonely.shape == (1, 1) and lonely.indices.size == 0
    for bad, text in (
        (ids(2, 0), "sorted"),
        (ids(0, 9), "from 0 to 4"),
        (mx.nd.array([0, 1]), "int64"),
    ):
        with pytest.raises(MXNetError, match=f"dgl_subgraph: expected .*{text}"):
            contrib.dgl_subgraph(complete, bad, return_mapping=True)


def test_adjacency_and_numbers_of_edges(complete):
    ones = contrib.dgl_adjacency(complete)
    assert ones.dtype == np.float32
    np.testing.assert_array_equal(ones.asnumpy(), complete.asnumpy() != 0)
    numbers = contrib.edge_id(complete, ids(0, 0, 1, 4, 4), ids(0, 1, 4, 3, 4))
    assert numbers.dtype == np.int64 and numbers.asnumpy().tolist() == [-1, 1, 8, 20, -1]
    with pytest.raises(MXNetError, match="edge_id: u, v"):
        contrib.edge_id(complete, ids(0), ids(0, 1))


def test_other_arguments_are_refused(complete):
    with pytest.raises(MXNetError, match="expected a graph, a csr array, got NDArray"):
        contrib.dgl_adjacency(mx.nd.ones((2, 2)))
    with pytest.raises(MXNetError, match="num_args is 3, but got 2 arrays"):
        contrib.dgl_csr_neighbor_uniform_sample(complete, ids(0), num_args=3)
    with pytest.raises(MXNetError, match="probability: expected shape"):
        contrib.dgl_csr_neighbor_non_uniform_sample(complete, mx.nd.ones(3), ids(0))
