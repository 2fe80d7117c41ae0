"""The optimizer of a Module, and the store behind it."""

import numpy as np
import pytest

import mxcy as mx
from tests.module.modules import batch, batches, ready


def test_stores():
    mod = ready(devices=2)
    for store, kind, on_store in (
        ("local", "local", True),
        ("device", "device", True),
        (None, None, False),
        (mx.kv.create("device"), "device", True),
        ("teststore", "teststore", False),
    ):
        mod.init_optimizer(kvstore=store, force_init=True)
        assert (mod._kvstore.type if mod._kvstore else None) == kind
        assert (mod._updater is None) == on_store
        mod.forward_backward(batch(10))
        mod.update()
    with pytest.raises(TypeError, match="kvstore must be KVStore, str or None"):
        mod.init_optimizer(kvstore=5, force_init=True)
    assert ready()._kvstore is None


def test_the_store_can_be_kept_from_updating(monkeypatch):
    monkeypatch.setenv("MXNET_UPDATE_ON_KVSTORE", "0")
    mod = ready(devices=2)
    mod.init_optimizer(kvstore="device")
    assert mod._kvstore is not None and mod._updater is not None


def test_compressed_gradients_reach_the_store():
    mod = ready(devices=2, compression_params={"type": "2bit", "threshold": 1e-3})
    mod.init_optimizer(kvstore="device", optimizer_params={"learning_rate": 1.0})
    before = mod.get_params()[0]["fc2_bias"].asnumpy()
    mod.forward_backward(batch(10))
    mod.update()
    steps = (mod.get_params()[0]["fc2_bias"].asnumpy() - before) / (1e-3 / 10)
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-2)


def test_own_optimizers_are_warned_about():
    mod = ready()
    with pytest.warns(UserWarning, match="rescale_grad is not normalized"):
        mod.init_optimizer(optimizer=mx.optimizer.SGD())
    assert mod._optimizer.idx2name[0] == "fc1_weight"
    mod.init_optimizer(optimizer=mx.optimizer.SGD(rescale_grad=0.1), force_init=True)
    with pytest.raises(ValueError, match="Cannot find optimizer none"):
        mod.init_optimizer(optimizer="none", force_init=True)
    with pytest.raises(AssertionError, match="a name or an Optimizer"):
        mod.init_optimizer(optimizer=5, force_init=True)


def test_rates_of_single_weights():
    weight = mx.sym.var("w_weight", lr_mult=0.0)
    x = mx.sym.FullyConnected(mx.sym.var("data"), weight=weight, num_hidden=3, name="fc")
    mod = mx.mod.Module(mx.sym.SoftmaxOutput(x, name="softmax"))
    mod.fit(batches(), num_epoch=1, initializer=mx.init.One())
    assert (mod.get_params()[0]["w_weight"].asnumpy() == 1).all()
    assert (mod.get_params()[0]["fc_bias"].asnumpy() != 0).any()
