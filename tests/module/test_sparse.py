"""Modules on csr batches, with dense and with row_sparse weights."""

import warnings

import numpy as np
import pytest

import mxcy as mx

DATA = np.eye(6, dtype="float32")
LABELS = np.arange(6) % 2


def batches():
    data = mx.nd.sparse.csr_matrix(DATA)
    return mx.io.NDArrayIter(data, LABELS, 2, last_batch_handle="discard")


def network(data_stype, weight_stype):
    data = mx.sym.var("data", stype=data_stype)
    weight = mx.sym.var("fc_weight", stype=weight_stype, shape=(6, 2))
    label = mx.sym.var("softmax_label")
    return mx.sym.SoftmaxOutput(mx.sym.dot(data, weight), label, name="softmax")


def trained(module, rows_of=None):
    iterator = batches()
    module.bind(iterator.provide_data, iterator.provide_label)
    module.init_params(mx.init.One())
    module.init_optimizer(kvstore="local", optimizer_params={"learning_rate": 0.5})
    for _ in range(3):
        iterator.reset()
        for batch in iterator:
            if rows_of is not None:
                module.prepare(batch, sparse_row_id_fn=rows_of)
            module.forward_backward(batch)
            module.update()
    return module.get_params()[0]["fc_weight"]


def test_batches_of_csr_arrays_are_csr():
    actual = [batch.data[0] for batch in batches()]
    assert [x.stype for x in actual] == ["csr"] * 3
    assert np.array_equal(np.concatenate([x.asnumpy() for x in actual]), DATA)
    shuffled = mx.io.NDArrayIter(
        mx.nd.sparse.csr_matrix(DATA), LABELS, 2, shuffle=True, last_batch_handle="discard"
    )
    assert sum(batch.data[0].asnumpy() for batch in shuffled).sum() == 6
    with pytest.raises(NotImplementedError, match="discard"):
        mx.io.NDArrayIter(mx.nd.sparse.csr_matrix(DATA), LABELS, 2)


@pytest.mark.parametrize("weight_stype", ["default", "row_sparse"])
@pytest.mark.parametrize("contexts", [[mx.cpu()], [mx.cpu(0), mx.cpu(1)]])
def test_training_equals_that_on_dense_batches(weight_stype, contexts):
    want = trained(mx.mod.Module(network("default", "default"), context=contexts))
    module = mx.mod.Module(network("csr", weight_stype), context=contexts)
    actual = trained(module)
    assert actual.stype == weight_stype
    assert module._exec_group.grad_arrays[0][0].stype == "row_sparse"
    np.testing.assert_allclose(actual.asnumpy(), want.asnumpy(), rtol=1e-5)


def test_rows_on_demand():
    def rows_of(batch):
        asked.append(batch)
        return {"fc_weight": batch.data[0].indices}

    asked = []
    module = mx.mod.Module(network("csr", "row_sparse"), context=[mx.cpu(0), mx.cpu(1)])
    actual = trained(module, rows_of)
    want = trained(mx.mod.Module(network("default", "default")))
    assert len(asked) == 9
    np.testing.assert_allclose(actual.asnumpy(), want.asnumpy(), rtol=1e-5)


def test_prepare_without_a_store_does_nothing():
    module = mx.mod.Module(network("csr", "row_sparse"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        trained(module, lambda batch: {"fc_weight": batch.data[0].indices})
    assert any("sparse_row_id_fn is not invoked" in str(w.message) for w in caught)
