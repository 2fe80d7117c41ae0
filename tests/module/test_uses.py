"""Uses of modules in programs: element types, several outputs, no labels, regression."""

import numpy as np
import pytest

import mxcy as mx

DRAW = np.random.RandomState(0)
DATA = DRAW.randn(20, 4)
LABEL = np.arange(20) % 3


def classifier():
    x = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc")
    return mx.sym.SoftmaxOutput(x, name="softmax")


@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_data_decide_on_the_element_type(dtype):
    batches = mx.io.NDArrayIter(
        mx.nd.array(DATA, dtype=dtype), mx.nd.array(LABEL, dtype=dtype), batch_size=5
    )
    mod = mx.mod.Module(classifier())
    mx.random.seed(1)
    mod.fit(
        batches,
        num_epoch=2,
        optimizer_params={"learning_rate": 0.1, "momentum": 0.9, "multi_precision": True},
        initializer=mx.init.Xavier(),
    )
    assert {array.dtype for array in mod.get_params()[0].values()} == {np.dtype(dtype).type}
    assert mod.predict(batches).dtype is np.dtype(dtype).type
    # the sum that real MXNet 1.9.1 comes to
    total = mod.get_params()[0]["fc_weight"].asnumpy().astype(np.float64).sum()
    assert total == pytest.approx(-0.557, abs=2e-3)


def test_batches_of_another_type_are_converted():
    x = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc")
    mod = mx.mod.Module(x, label_names=None)
    mod.bind([("data", (5, 4))], for_training=False)
    mod.init_params(mx.init.One())
    results = []
    for dtype in ("float32", "float64", "int32"):
        mod.forward(mx.io.DataBatch([mx.nd.array(np.ones((5, 4)), dtype=dtype)]))
        results.append(mod.get_outputs()[0].asnumpy())
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


def test_several_outputs():
    x = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc")
    both = mx.sym.Group([mx.sym.SoftmaxOutput(x, name="softmax"), mx.sym.BlockGrad(x, name="raw")])
    mod, batches = mx.mod.Module(both), mx.io.NDArrayIter(DATA, LABEL, 5)
    metric = mx.metric.Accuracy(output_names=["softmax_output"], label_names=["softmax_label"])
    mod.fit(batches, eval_metric=metric, num_epoch=1)
    assert mod.output_shapes == [("softmax_output", (5, 3)), ("raw_output", (5, 3))]
    probabilities, raw = mod.predict(batches)
    assert probabilities.shape == raw.shape == (20, 3)
    np.testing.assert_allclose(raw.softmax().asnumpy(), probabilities.asnumpy(), rtol=1e-5)


@pytest.mark.parametrize("devices", [1, 2])
def test_training_without_labels(devices):
    x = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
    loss = mx.sym.MakeLoss(mx.sym.sum(mx.sym.square(x), axis=1), name="loss")
    mod = mx.mod.Module(loss, label_names=None, context=[mx.cpu(i) for i in range(devices)])
    batches, seen = mx.io.NDArrayIter(DATA, None, 10), []
    mod.fit(
        batches,
        eval_metric=mx.metric.Loss(),
        num_epoch=5,
        optimizer_params={"learning_rate": 0.2},
        batch_end_callback=lambda param: seen.append(param.eval_metric.get()[1]),
        initializer=mx.init.Xavier(),
    )
    assert seen[-1] < 0.5 * seen[0]
    assert mod.output_shapes == [("loss_output", (10,))]


def test_regression():
    x = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=1, name="fc")
    line = mx.sym.LinearRegressionOutput(x, mx.sym.var("target"), name="line")
    mod = mx.mod.Module(line, label_names=["target"])
    batches = mx.io.NDArrayIter(DATA, DATA.sum(axis=1), 5, label_name="target")
    mx.random.seed(1)
    mod.fit(
        batches,
        eval_metric="mse",
        num_epoch=20,
        optimizer_params={"learning_rate": 0.1},
        initializer=mx.init.Xavier(),
    )
    np.testing.assert_allclose(mod.get_params()[0]["fc_weight"].asnumpy(), 1, atol=0.02)


def test_groups_on_other_devices():
    with mx.AttrScope(ctx_group="first"):
        x = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc")
    with mx.AttrScope(ctx_group="second"):
        x = mx.sym.SoftmaxOutput(x, name="softmax")
    mod = mx.mod.Module(x, group2ctxs={"first": mx.cpu(1), "second": mx.cpu(2)})
    mod.bind([("data", (5, 4))], [("softmax_label", (5,))])
    mod.init_params()
    mod.forward_backward(mx.io.DataBatch([mx.nd.ones((5, 4))], [mx.nd.ones(5)]))
    assert mod.get_outputs()[0].shape == (5, 3)
    with pytest.raises(AssertionError, match="an item for each context"):
        other = mx.mod.Module(x, group2ctxs=[{}, {}])
        other.bind([("data", (5, 4))], [("softmax_label", (5,))])


def test_batch_normalization_differs_between_training_and_prediction():
    x = mx.sym.BatchNorm(mx.sym.var("data"), name="bn", fix_gamma=False, momentum=0.5)
    mod = mx.mod.Module(mx.sym.MakeLoss(x), label_names=None)
    mod.bind([("data", (20, 4))])
    mod.init_params()
    batch = mx.io.DataBatch([mx.nd.array(DATA)])
    mod.forward(batch, is_train=False)
    np.testing.assert_allclose(
        mod.get_outputs()[0].asnumpy(), DATA / np.sqrt(1 + 1e-3), rtol=1e-4, atol=1e-5
    )
    mod.forward_backward(batch)
    np.testing.assert_allclose(mod.get_outputs()[0].asnumpy().mean(axis=0), 0, atol=1e-5)
    _, states = mod.get_params()  # nothing was updated: the values of the beginning
    assert (states["bn_moving_mean"].asnumpy() == 0).all()
    mod.init_optimizer()
    mod.forward_backward(batch)
    mod.update()
    _, states = mod.get_params()
    assert (states["bn_moving_mean"].asnumpy() != 0).all()


def test_loops_of_users_own():
    """Programs build loops from the imports of mx.model and mx.module.base_module."""
    from mxcy.io.io import _init_data
    from mxcy.model import (
        _create_kvstore,
        _initialize_kvstore,
        _update_params,
        _update_params_on_kvstore,
    )
    from mxcy.module.base_module import _as_list, _check_input_names, _parse_data_desc

    network = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, no_bias=True, name="fc")
    _check_input_names(network, ["data"], "data", True)
    with pytest.raises(ValueError, match="input with name 'zz'"):
        _check_input_names(network, ["zz"], "data", True)
    data, label = _parse_data_desc(["data"], [], [("data", (2, 3))], None)
    assert data == [("data", (2, 3))] and label is None and _as_list(3) == [3]
    assert [name for name, _ in _init_data(np.ones((2, 3)), False, "data")] == ["data"]

    def one_step(on_store):
        weights = [[mx.nd.ones((2,), ctx=mx.cpu(i)) for i in range(2)]]
        grads = [[mx.nd.ones((2,), ctx=mx.cpu(i)) for i in range(2)]]
        values = {"w": mx.nd.ones((2,))}
        store, _ = _create_kvstore("local", 2, values)
        sgd = mx.optimizer.SGD(learning_rate=0.25)
        if on_store:
            store.set_optimizer(sgd)
        _initialize_kvstore(store, weights, values, ["w"], on_store)
        if on_store:
            _update_params_on_kvstore(weights, grads, store, ["w"])
        else:
            _update_params(weights, grads, mx.optimizer.get_updater(sgd), 2, store, ["w"])
        return [weight.asnumpy().tolist() for weight in weights[0]]

    assert one_step(True) == one_step(False) == [[0.5, 0.5]] * 2
