"""The executor manager for several devices, used by programs older than modules."""

import logging

import numpy as np
import pytest

import mxcy as mx
from mxcy.executor_manager import (
    DataParallelExecutorManager,
    _check_arguments,
    _load_data,
    _split_input_slice,
)


def classifier():
    x = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc")
    x = mx.sym.BatchNorm(x, name="bn")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(x, num_hidden=2, name="out"), name="softmax")


def trained_names(symbol):
    return [name for name in symbol.list_arguments() if name not in ("data", "softmax_label")]


#: the results of real MXNet 1.9.1
MEANS = {
    "bn_beta": [0.4652, -0.0324, 0.4017],
    "bn_gamma": [1.0, 1.0, 1.0],
    "bn_moving_mean": [0.6008, 0.7883, 0.8026],
    "bn_moving_var": [1.2399, 0.9966, 0.924],
    "fc_bias": [-0.1057, 0.6928, 0.399],
    "fc_weight": [0.6887, -0.9012, 0.4818],
    "out_bias": [0.1243, -0.8731],
    "out_weight": [0.4758, 0.1786, -0.209],
}


def test_training_on_two_devices():
    draw = np.random.RandomState(0)
    data = draw.randn(20, 4).astype("float32")
    batches = mx.io.NDArrayIter(data, (data.sum(1) > 0).astype("float32"), 10)
    symbol = classifier()
    names = trained_names(symbol)
    manager = DataParallelExecutorManager(
        symbol,
        [mx.cpu(0), mx.cpu(1)],
        batches,
        symbol.list_arguments(),
        names,
        symbol.list_auxiliary_states(),
        work_load_list=[3, 2],
    )
    shapes, _, aux_shapes = symbol.infer_shape(data=(10, 4))
    arguments = dict(zip(symbol.list_arguments(), shapes, strict=True))
    arguments = {
        name: mx.nd.array(draw.uniform(-1, 1, shape))
        for name, shape in arguments.items()
        if name in names
    }
    states = dict(zip(symbol.list_auxiliary_states(), map(mx.nd.ones, aux_shapes), strict=True))
    manager.set_params(arguments, states)
    metric = mx.metric.create("ce")
    updater = mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=0.1))
    for _ in range(3):
        batches.reset()
        for batch in batches:
            manager.load_data_batch(batch)
            manager.forward(is_train=True)
            manager.backward()
            manager.update_metric(metric, batch.label)
            for i, (weights, grads) in enumerate(
                zip(manager.param_arrays, manager.grad_arrays, strict=True)
            ):
                for k in range(2):
                    updater(2 * i + k, grads[k], weights[k])
    manager.copy_to(arguments, states)
    assert manager.slices == [slice(0, 6), slice(6, 10)]
    assert metric.get()[1] == pytest.approx(1.002993, abs=1e-4)
    for name, expected in MEANS.items():
        actual = {**arguments, **states}[name].asnumpy().ravel()[:3]
        np.testing.assert_allclose(actual, expected, atol=2e-4, err_msg=name)


def test_buckets_share_parameters(caplog):
    def network(key):
        weighted = mx.sym.broadcast_mul(mx.sym.var("data"), mx.sym.var("w", shape=(1, 1)))
        return mx.sym.make_loss(mx.sym.sum(weighted), name=f"loss{key}")

    class Buckets(list):
        batch_size, default_bucket_key = 2, 5
        provide_data, provide_label = [mx.io.DataDesc("data", (2, 5))], []

    with caplog.at_level(logging.INFO):
        manager = DataParallelExecutorManager(
            network(5), [mx.cpu()], Buckets(), ["data", "w"], ["w"], [], sym_gen=network
        )
    assert "cpu(0)" in caplog.text
    manager.set_params({"w": mx.nd.full((1, 1), 3)}, {})
    for key in (5, 2, 5):
        data = [mx.io.DataDesc("data", (2, key))]
        batch = mx.io.DataBatch(
            [mx.nd.ones((2, key))], [], bucket_key=key, provide_data=data, provide_label=[]
        )
        manager.load_data_batch(batch)
        manager.forward(is_train=True)
        manager.backward()
        assert manager.curr_execgrp.train_execs[0].outputs[0].asscalar() == 6 * key
        assert manager.grad_arrays[0][0].asscalar() == 2 * key
    assert sorted(manager.execgrp_bucket) == [2, 5]


def test_monitors_and_refusals():
    symbol = classifier()
    batches = mx.io.NDArrayIter(np.zeros((4, 4)), np.zeros(4), 4)
    settings = (batches, symbol.list_arguments(), trained_names(symbol), [])
    manager = DataParallelExecutorManager(symbol, [mx.cpu()], *settings)
    monitor = mx.mon.Monitor(1)
    manager.install_monitor(monitor)
    monitor.tic()
    manager.load_data_batch(next(batches))
    manager.forward()
    assert any(name == "fc_output" for _, name, _ in monitor.toc())
    with pytest.raises(mx.MXNetError, match="2 work loads were given for 1 contexts"):
        DataParallelExecutorManager(symbol, [mx.cpu()], *settings, work_load_list=[1, 1])
    with pytest.raises(ValueError, match="empty"):
        _split_input_slice(1, [1, 1])
    with pytest.raises(ValueError, match="several variables for argument x"):
        _check_arguments(mx.sym.var("x") + mx.sym.var("x"))
    batch = mx.io.DataBatch([mx.nd.zeros((3, 4))])
    with pytest.raises(mx.MXNetError, match="3 entries, expected 4"):
        _load_data(batch, [[(slice(0, 4), mx.nd.zeros((4, 4)))]])
