"""Gradients of and with respect to sparse arrays."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd, nd
from mxcy.base import MXNetError

sparse = nd.sparse
DENSE = np.array([[0, 1, 0], [2, 0, 3], [0, 0, 0]], "float32")


def gradient(function, *arrays, head=None):
    with autograd.record():
        out = function(*arrays)
    out.backward(head)
    return out


def test_dot_gives_the_rows_of_used_columns():
    x = sparse.csr_matrix(DENSE[:, [0, 2, 1]])
    w = nd.ones((3, 2))
    w.attach_grad(stype="row_sparse")
    gradient(lambda: nd.dot(x, w))
    assert w.grad.stype == "row_sparse" and w.grad.indices.asnumpy().tolist() == [0, 1, 2]
    x = sparse.csr_matrix(([1.0, 2], [2, 2], [0, 1, 2]), shape=(2, 3))
    gradient(lambda: nd.dot(x, w))
    assert w.grad.indices.asnumpy().tolist() == [2]
    assert w.grad.data.asnumpy().tolist() == [[3, 3]]


def test_embedding_by_rows():
    w = nd.ones((5, 2))
    w.attach_grad(stype="row_sparse")
    ids = nd.array([3, 1, 3])
    call = lambda: nd.Embedding(ids, w, input_dim=5, output_dim=2, sparse_grad=True)  # noqa: E731
    gradient(call)
    assert w.grad.indices.asnumpy().tolist() == [1, 3]
    assert w.grad.data.asnumpy().tolist() == [[1, 1], [2, 2]]
    gradient(lambda: call() + call())  # twice in one graph
    assert w.grad.data.asnumpy().tolist() == [[2, 2], [4, 4]]


def test_adding_to_row_sparse_gradients():
    w = nd.ones((5, 2))
    w.attach_grad("add", stype="row_sparse")
    for ids in ([3, 1], [1, 4]):
        gradient(
            lambda ids=ids: nd.Embedding(
                nd.array(ids), w, input_dim=5, output_dim=2, sparse_grad=True
            )
        )
    assert w.grad.stype == "row_sparse"
    assert w.grad.asnumpy()[:, 0].tolist() == [0, 2, 0, 1, 1]


@pytest.mark.parametrize("stype", ["csr", "row_sparse"])
def test_the_gradient_has_the_storage_type_of_the_array(stype):
    x = nd.array(DENSE).tostype(stype)
    x.attach_grad()
    assert x.grad.stype == stype and not x.grad.asnumpy().any()
    gradient(lambda: nd.square(x))
    assert x.grad.stype == stype
    assert np.array_equal(x.grad.asnumpy(), 2 * DENSE)


def test_elementwise_gradients():
    x, y = (nd.array(DENSE).tostype("row_sparse") for _ in range(2))
    x.attach_grad()
    y.attach_grad()
    gradient(lambda: x * y + x - y)
    assert np.array_equal(x.grad.asnumpy(), DENSE + 1)
    assert np.array_equal(y.grad.asnumpy(), DENSE - 1)


@pytest.mark.parametrize("stype", ["csr", "row_sparse"])
def test_products_have_sparse_gradients(stype, caplog):
    """Only positions stored by the other operand contribute to the gradient."""
    x, y = (nd.array(DENSE).tostype(stype) for _ in range(2))
    x.attach_grad()
    y.attach_grad()
    gradient(lambda: x * (y * 2), head=nd.full(DENSE.shape, 3))
    for array, factor in ((x, 6), (y, 6)):
        assert array.grad.stype == stype
        assert np.array_equal(array.grad.asnumpy(), factor * DENSE)
    assert not caplog.records  # nothing fell back


def test_retain_passes_its_rows():
    x = nd.array(DENSE).tostype("row_sparse")
    x.attach_grad()
    gradient(lambda: sparse.retain(x, nd.array([1])), head=nd.full((3, 3), 2))
    assert x.grad.asnumpy().tolist() == [[0] * 3, [2] * 3, [0] * 3]


def test_casts_pass_gradients_on():
    x = nd.array(DENSE)
    x.attach_grad()
    gradient(lambda: x.tostype("csr").tostype("default") * 3)
    assert (x.grad.asnumpy() == 3).all()


def test_dense_gradient_of_a_sparse_product():
    c, w = sparse.csr_matrix(DENSE), nd.ones((3, 2))
    w.attach_grad()
    gradient(lambda: nd.dot(c, w))
    assert w.grad.stype == "default"
    assert np.array_equal(w.grad.asnumpy(), np.tile(DENSE.sum(0)[:, None], 2))


def test_gradients_as_results():
    w = nd.ones((5, 2))
    w.attach_grad()
    with autograd.record():
        y = nd.Embedding(nd.array([1]), w, input_dim=5, output_dim=2, sparse_grad=True)
    (actual,) = autograd.grad([y], [w])
    assert actual.stype == "row_sparse" and actual.indices.asnumpy().tolist() == [1]


def test_unknown_storage_types():
    with pytest.raises((MXNetError, ValueError), match="storage type"):
        nd.ones((2, 2)).attach_grad(stype="coo")


# --- symbols -------------------------------------------------------------------------------------


def test_bound_symbols_infer_storage_types():
    data = mx.sym.var("data", stype="csr")
    loss = mx.sym.dot(data, mx.sym.var("w"), name="y")
    executor = loss.simple_bind(mx.cpu(), {"data": "null", "w": "write"}, data=(3, 3), w=(3, 2))
    assert executor.arg_dict["data"].stype == "csr"
    assert executor.grad_dict["w"].stype == "row_sparse"
    executor.forward(is_train=True, data=sparse.csr_matrix(DENSE), w=nd.ones((3, 2)))
    assert np.array_equal(executor.outputs[0].asnumpy(), DENSE @ np.ones((3, 2)))
    executor.backward(nd.ones((3, 2)))
    assert executor.grad_dict["w"].indices.asnumpy().tolist() == [0, 1, 2]
    executor.backward(nd.ones((3, 2)) * 2)
    assert executor.grad_dict["w"].asnumpy()[0].tolist() == [4, 4]


def test_bound_embedding_with_a_sparse_gradient():
    ids, w = mx.sym.var("ids"), mx.sym.var("w")
    y = mx.sym.Embedding(ids, w, input_dim=5, output_dim=2, sparse_grad=True)
    executor = y.simple_bind(mx.cpu(), {"ids": "null", "w": "add"}, ids=(2,))
    assert executor.grad_dict["w"].stype == "row_sparse"
    executor.arg_dict["ids"][:] = [1, 3]
    for _ in range(2):
        executor.forward(is_train=True)
        executor.backward()
    assert executor.grad_dict["w"].asnumpy()[:, 0].tolist() == [0, 2, 0, 2, 0]


def test_symbols_cast_and_evaluate():
    x = mx.sym.var("x")
    (actual,) = mx.sym.sparse.cast_storage(x, stype="csr").eval(x=nd.array(DENSE))
    assert actual.stype == "csr" and np.array_equal(actual.asnumpy(), DENSE)


def test_dense_graphs_take_sparse_head_gradients():
    x = mx.sym.var("x")
    executor = mx.sym.exp(mx.sym.sin(x)).bind(mx.cpu(), [nd.ones((3, 3))], [nd.zeros((3, 3))])
    executor.forward(is_train=True)
    executor.backward(nd.array(DENSE).tostype("csr"))
    want = np.exp(np.sin(1)) * np.cos(1) * DENSE
    np.testing.assert_allclose(executor.grad_arrays[0].asnumpy(), want, rtol=1e-5)


def test_hybridized_blocks_take_sparse_inputs_and_heads():
    from mxcy import gluon

    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(4, activation="tanh", in_units=3), gluon.nn.Dense(3, in_units=4))
    net.initialize()
    results = []
    for hybrid in (False, True):
        net.hybridize(hybrid)
        for x in (nd.array(DENSE), nd.array(DENSE).tostype("csr")):
            gradient(lambda x=x: net(x), head=nd.array(DENSE).tostype("row_sparse"))
            results.append(net[0].weight.grad().asnumpy())
    for actual in results[1:]:
        np.testing.assert_allclose(actual, results[0], rtol=1e-5, atol=1e-6)
