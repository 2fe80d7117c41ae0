"""Sparse parameters and gradients in Gluon, with trainers and stores."""

import copy
import gc
import weakref

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd, gluon, nd

CONTEXTS = [[mx.cpu()], [mx.cpu(0), mx.cpu(1)]]


def backward(layer, contexts, ids):
    with autograd.record():
        outputs = [layer(nd.array(ids, ctx=ctx)).sum() for ctx in contexts]
    autograd.backward(outputs)


@pytest.mark.parametrize("contexts", CONTEXTS)
@pytest.mark.parametrize("hybrid", [False, True])
def test_embedding_with_a_sparse_gradient(contexts, hybrid):
    layers = [gluon.nn.Embedding(6, 2, sparse_grad=flag) for flag in (True, False)]
    for layer in layers:
        layer.initialize(mx.init.One(), ctx=contexts)
        layer.hybridize(hybrid)
        trainer = gluon.Trainer(layer.collect_params(), "adagrad", {"learning_rate": 0.1})
        for ids in ([1, 3], [3, 5]):
            backward(layer, contexts, ids)
            trainer.step(2)
    sparse, dense = (layer.weight for layer in layers)
    assert sparse.grad(contexts[0]).stype == "row_sparse"
    assert sparse.grad(contexts[0]).indices.asnumpy().tolist() == [3, 5]
    for ctx in contexts:
        np.testing.assert_allclose(sparse.data(ctx).asnumpy(), dense.data(ctx).asnumpy(), rtol=1e-5)


@pytest.mark.parametrize("contexts", CONTEXTS)
def test_sparse_embedding_lies_in_the_store(contexts, tmp_path):
    layer = gluon.contrib.nn.SparseEmbedding(6, 2)
    layer.initialize(mx.init.One(), ctx=contexts)
    trainer = gluon.Trainer(layer.collect_params(), "sgd", {"learning_rate": 0.1})
    for _ in range(2):
        backward(layer, contexts, [1, 3])
        trainer.step(1)
    everywhere = layer.weight.row_sparse_data(nd.arange(6))
    change = 0.2 * len(contexts)
    np.testing.assert_allclose(
        everywhere.asnumpy()[:, 0], [1, 1 - change, 1, 1 - change, 1, 1], rtol=1e-6
    )
    some = layer.weight.row_sparse_data(nd.array([4, 1, 4]))
    assert some.indices.asnumpy().tolist() == [1, 4]
    assert len(layer.weight.list_row_sparse_data(nd.array([0]))) == len(contexts)
    path = str(tmp_path / "sparse.params")
    layer.save_parameters(path)
    assert nd.load(path)["weight"].stype == "row_sparse"
    assert nd.load(path)["weight"].indices.shape == (6,)
    layer.load_parameters(path)
    assert np.allclose(layer.weight.row_sparse_data(nd.arange(6)).asnumpy()[1], 1 - change)


def test_every_row_of_a_sparse_parameter_is_initialized():
    parameter = gluon.Parameter("w", shape=(4, 2), stype="row_sparse", init="zeros")
    parameter.initialize()
    gluon.Trainer([parameter], "sgd")
    assert parameter.row_sparse_data(nd.arange(4)).data.shape == (4, 2)


def test_unsupported_calls_on_sparse_parameters():
    with pytest.raises(AssertionError, match="stype for Parameter 'w' must be one of"):
        gluon.Parameter("w", stype="coo")
    sparse = gluon.Parameter("w", shape=(4, 2), stype="row_sparse")
    sparse.initialize()
    dense = gluon.Parameter("v", shape=(4, 2))
    dense.initialize()
    for method in (sparse.data, sparse.list_data):
        with pytest.raises(RuntimeError, match=r"Please use row_sparse_data\(\) instead"):
            method()
    with pytest.raises(RuntimeError, match=r"Please use data\(\) instead"):
        dense.row_sparse_data(nd.array([1]))
    with pytest.raises(RuntimeError, match="when no Trainer is created with it"):
        sparse.row_sparse_data(nd.array([1]))


def test_stores_of_sparse_parameters():
    def step(**arguments):
        parameter = gluon.Parameter("w", shape=(4, 2), stype="row_sparse", grad_stype="row_sparse")
        parameter.initialize()
        trainer = gluon.Trainer([parameter], "sgd", **arguments)
        parameter.row_sparse_data(nd.array([1]))
        return trainer

    with pytest.raises(TypeError, match="Cannot create 'None' KVStore with row_sparse parameters"):
        step(kvstore=None)
    with pytest.raises(ValueError, match="Cannot set update_on_kvstore=False when sparse weights"):
        step(update_on_kvstore=False)
    assert step(kvstore="local")._update_on_kvstore


def test_zero_grad_empties_sparse_gradients():
    layer = gluon.nn.Embedding(6, 2, sparse_grad=True)
    layer.initialize()
    backward(layer, [mx.cpu()], [1])
    layer.weight.zero_grad()
    assert layer.weight.grad().indices.shape == (0,)


def test_linear_model_on_csr_batches():
    """Losses equal those of the same model on dense batches."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (32, 10)).astype("float32") * (rng.random((32, 10)) < 0.3)
    y = nd.array(x @ rng.uniform(-1, 1, (10, 1)))
    losses = {}
    for stype in ("csr", "default"):
        data, w = nd.array(x).tostype(stype), nd.zeros((10, 1))
        w.attach_grad(stype="row_sparse" if stype == "csr" else "default")
        optimizer = mx.optimizer.create("adam", learning_rate=0.1, lazy_update=False)
        state = optimizer.create_state(0, w)
        losses[stype] = []
        for _ in range(10):
            with autograd.record():
                loss = nd.square(nd.dot(data, w) - y).mean()
            loss.backward()
            optimizer.update(0, w, w.grad, state)
            losses[stype].append(loss.asscalar())
    np.testing.assert_allclose(losses["csr"], losses["default"], rtol=1e-5)
    assert losses["csr"][-1] < losses["csr"][0] / 2


def sparse_parameters(contexts, count=2):
    """Parameters of 4 rows in a store after a step that subtracted `rate`, and their trainer."""
    parameters = [
        gluon.Parameter(f"w{i}", shape=(4, 1), stype="row_sparse", grad_stype="row_sparse")
        for i in range(count)
    ]
    for parameter in parameters:
        parameter.initialize(init="zeros", ctx=contexts)
    trainer = gluon.Trainer(parameters, "sgd", {"learning_rate": 1.0})
    one_step(parameters, trainer)
    return parameters, trainer


def one_step(parameters, trainer):
    everywhere = nd.arange(4)
    with autograd.record():
        ys = [w + 1 for p in parameters for w in p.list_row_sparse_data(everywhere)]
    autograd.backward(ys)
    trainer.step(1)


def all_values(parameter):
    return parameter.row_sparse_data(nd.arange(4)).asnumpy().ravel().tolist()


@pytest.mark.parametrize("contexts", CONTEXTS)
def test_sparse_parameters_and_their_trainer_end_without_the_garbage_collector(contexts):
    parameters, trainer = sparse_parameters(contexts)
    ends = [weakref.ref(o) for o in (*parameters, trainer, trainer._kvstore, trainer.optimizer)]
    gc.disable()
    try:
        del parameters, trainer
        assert [end() for end in ends] == [None] * 5
    finally:
        gc.enable()


@pytest.mark.parametrize("contexts", CONTEXTS)
def test_rows_outlive_the_trainer(contexts, tmp_path):
    parameters, trainer = sparse_parameters(contexts, 1)
    (parameter,) = parameters
    parameter.list_row_sparse_data(nd.array([2]))
    ended = weakref.ref(trainer)
    del trainer
    assert ended() is None
    less = -1.0 * len(contexts)
    assert parameter.row_sparse_data(nd.array([1, 3])).indices.asnumpy().tolist() == [1, 3]
    assert parameter._reduce().asnumpy().ravel().tolist() == [less] * 4
    assert copy.deepcopy(parameter)._reduce().asnumpy().ravel().tolist() == [less] * 4
    parameter.row_sparse_data(nd.array([0]))
    trainer = gluon.Trainer(parameters, "sgd", {"learning_rate": 1.0})  # begins with all rows
    one_step(parameters, trainer)
    assert all_values(parameter) == [2 * less] * 4
    parameter.row_sparse_data(nd.array([0]))
    parameter._set_trainer(None)
    assert parameter._reduce().asnumpy().ravel().tolist() == [2 * less] * 4
    parameter.set_data(nd.ones((4, 1)))
    assert parameter._reduce().asnumpy().ravel().tolist() == [1] * 4


@pytest.mark.parametrize("contexts", CONTEXTS)
@pytest.mark.parametrize("how", ["set_data", "initialize", "cast"])
def test_a_new_value_of_one_sparse_parameter_leaves_the_rows_of_others(contexts, how):
    (first, second), trainer = sparse_parameters(contexts)
    less = -1.0 * len(contexts)
    for parameter in (first, second):
        parameter.list_row_sparse_data(nd.array([2]))  # their arrays have this row only
    if how == "set_data":
        first.set_data(nd.full((4, 1), 5))
    elif how == "initialize":
        first.initialize(mx.init.Constant(5), ctx=contexts, force_reinit=True)
    else:
        first.cast("float64")
        assert first.row_sparse_data(nd.array([1])).dtype == np.float64
    begin = less if how == "cast" else 5
    assert all_values(first) == [begin] * 4
    assert all_values(second) == [less] * 4
    one_step([first, second], trainer)
    assert (all_values(first), all_values(second)) == ([begin + less] * 4, [2 * less] * 4)


def test_a_new_value_of_a_dense_parameter_leaves_the_rows_of_sparse_ones():
    (sparse,), before = sparse_parameters(CONTEXTS[0], 1)
    del before
    dense = gluon.Parameter("v", shape=(4, 1))
    dense.initialize()
    trainer = gluon.Trainer([sparse, dense], "sgd", {"learning_rate": 1.0})
    sparse.row_sparse_data(nd.array([2]))
    dense.set_data(nd.ones((4, 1)))
    assert trainer._kvstore is None
    assert all_values(sparse) == [-1] * 4
