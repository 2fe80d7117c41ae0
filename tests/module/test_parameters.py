"""The parameters of a Module: sources, sharing, files."""

import logging
import os

import numpy as np
import pytest

import mxcy as mx
from tests.module.modules import batch, network, ready


def test_setting_parameters():
    mod = ready()
    arg_params, aux_params = mod.get_params()
    with pytest.raises(RuntimeError, match="is not presented"):
        mod.set_params({"fc1_weight": mx.nd.ones((8, 5))}, {})
    mod.set_params({"fc1_weight": mx.nd.ones((8, 5))}, {}, allow_missing=True)
    assert mod.get_params()[0]["fc1_weight"].asnumpy().sum() == 40
    extra = {**arg_params, "other": mx.nd.zeros(1)}
    mod.set_params(extra, aux_params)  # as in MXNet, which checks only its own names
    with pytest.raises(ValueError, match='Find name "other" that is not in the arguments'):
        mod.set_params(extra, {}, allow_missing=True)
    mod.set_params(extra, {}, allow_missing=True, allow_extra=True)
    with pytest.raises(mx.MXNetError, match="shape"):
        mod.set_params({"fc1_weight": mx.nd.ones((8, 6))}, {}, allow_missing=True)


def test_fixed_parameters_have_no_gradient():
    mod = ready(fixed_param_names=["fc1_weight"], initializer=mx.init.One())
    mod.init_optimizer()
    mod.forward_backward(batch(10))
    mod.update()
    names = [n for n in mod._exec_group.arg_names if n in mod._param_names]
    missing = [n for n, g in zip(names, mod._exec_group.grad_arrays, strict=True) if g[0] is None]
    assert missing == ["fc1_weight"]
    assert (mod.get_params()[0]["fc1_weight"].asnumpy() == 1).all()


def test_sharing_parameters_and_optimizer():
    first = ready()
    first.init_optimizer()
    second = mx.mod.Module(network())
    second.bind([("data", (3, 5))], [("softmax_label", (3,))], shared_module=first)
    assert second.optimizer_initialized and second._optimizer is first._optimizer
    second.forward_backward(batch(3))
    second.update()
    np.testing.assert_array_equal(
        first._exec_group.param_arrays[0][0].asnumpy(),
        second._exec_group.param_arrays[0][0].asnumpy(),
    )
    wider = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=9, name="fc1")
    third = mx.mod.Module(wider, label_names=None)
    with pytest.raises(AssertionError, match="fc1_weight has shape"):
        third.bind([("data", (3, 5))], shared_module=first)


@pytest.mark.parametrize("devices", [1, 2])
def test_checkpoints_with_the_states_of_the_optimizer(tmp_path, monkeypatch, devices):
    """A loaded module continues like the saved one."""
    monkeypatch.chdir(tmp_path)
    settings = {"optimizer": "sgd", "optimizer_params": {"learning_rate": 0.1, "momentum": 0.9}}
    mod = ready(devices)
    mod.init_optimizer(**settings)
    mod.forward_backward(batch(10))
    mod.update()
    mod.save_checkpoint("net", 7, save_optimizer_states=True)
    assert sorted(os.listdir()) == ["net-0007.params", "net-0007.states", "net-symbol.json"]
    again = mx.mod.Module.load(
        "net", 7, load_optimizer_states=True, context=[mx.cpu(i) for i in range(devices)]
    )
    again.bind([("data", (10, 5))], [("softmax_label", (10,))])
    again.init_optimizer(**settings)
    for one in (mod, again):
        one.forward_backward(batch(10))
        one.update()
    for name, array in mod.get_params()[0].items():
        np.testing.assert_array_equal(array.asnumpy(), again.get_params()[0][name].asnumpy())


def test_files_of_parameters(tmp_path):
    file, mod = str(tmp_path / "net.params"), ready()
    mod.save_params(file)
    assert sorted(mx.nd.load(file)) == [
        "arg:fc1_bias",
        "arg:fc1_weight",
        "arg:fc2_bias",
        "arg:fc2_weight",
    ]
    other = ready(initializer=mx.init.One())
    other.load_params(file)
    np.testing.assert_array_equal(
        other.get_params()[0]["fc1_weight"].asnumpy(), mod.get_params()[0]["fc1_weight"].asnumpy()
    )
    mx.nd.save(file, {"fc1_weight": mx.nd.ones(1)})
    with pytest.raises(ValueError, match="Invalid param file"):
        mod.load_params(file)


def test_model_functions(tmp_path, caplog):
    prefix, mod = str(tmp_path / "net"), ready()
    with caplog.at_level(logging.INFO):
        mx.model.save_checkpoint(prefix, 3, mod.symbol, *mod.get_params())
    assert caplog.messages == [f'Saved checkpoint to "{prefix}-0003.params"']
    symbol, arg_params, aux_params = mx.model.load_checkpoint(prefix, 3)
    assert symbol.tojson() == mod.symbol.tojson() and aux_params == {}
    assert sorted(arg_params) == sorted(mod.get_params()[0])
    assert sorted(mx.model.load_params(prefix, 3)[0]) == sorted(arg_params)
    with pytest.raises(mx.MXNetError):
        mx.model.load_checkpoint(prefix, 4)
    mx.nd.save(f"{prefix}-0005.params", {})
    assert mx.model.load_params(prefix, 5) == ({}, {})
    assert "is empty" in caplog.text


def test_initializers_of_single_weights():
    weight = mx.sym.var("w", init=mx.init.Constant(5))
    x = mx.sym.FullyConnected(mx.sym.var("data"), weight=weight, num_hidden=3, name="fc")
    mod = mx.mod.Module(x, label_names=None)
    mod.bind([("data", (2, 5))])
    mod.init_params(mx.init.One())
    assert (mod.get_params()[0]["w"].asnumpy() == 5).all()
