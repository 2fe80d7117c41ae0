"""The store optimizers of SVRG, which keep the mean gradients over all data."""

import mxcy as mx
from mxcy.contrib.svrg_optimization.svrg_optimizer import _SVRGOptimizer


def test_weights_are_trained_and_means_are_kept():
    names = {0: "w", 1: "w_full"}
    settings = {"learning_rate": 0.5, "momentum": 0.9, "param_idx2name": names}
    optimizer = mx.optimizer.create("_SVRGOptimizer", default_optimizer="sgd", **settings)
    assert isinstance(optimizer, _SVRGOptimizer) and optimizer.default_opt.momentum == 0.9
    weights = {index: mx.nd.ones(2) for index in names}
    states = {index: optimizer.create_state(index, weight) for index, weight in weights.items()}
    assert states[0] is not None and states[1] is None
    for index, weight in weights.items():
        optimizer.update(index, weight, mx.nd.array([2, 4]), states[index])
    assert weights[0].asnumpy().tolist() == [0, -1]
    assert weights[1].asnumpy().tolist() == [2, 4]
    optimizer.update("w_full", weights[1], mx.nd.array([5, 6]), None)
    assert weights[1].asnumpy().tolist() == [5, 6]


def test_default_optimizer_may_be_an_instance():
    inner = mx.optimizer.SGD(learning_rate=2.0)
    optimizer = _SVRGOptimizer(inner, param_idx2name={0: "w"}, learning_rate=7.0)
    weight = mx.nd.ones(1)
    optimizer.update(0, weight, mx.nd.ones(1), optimizer.create_state(0, weight))
    assert optimizer.default_opt is inner and weight.asscalar() == -1
