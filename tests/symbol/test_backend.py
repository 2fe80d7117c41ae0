"""Symbols rewritten for the oneDNN backend: fused operators, same results."""

import json

import numpy as np
import pytest

import mxcy as mx
from mxcy.base import MXNetError


def network():
    data = mx.sym.var("data")
    x = mx.sym.Convolution(data, kernel=(3, 3), num_filter=16, pad=(1, 1), name="conv")
    x = mx.sym.BatchNorm(x, fix_gamma=False, name="norm")
    x = mx.sym.Activation(x, act_type="relu", name="relu")
    x = mx.sym.Dropout(x, p=0.5)
    x = mx.sym.FullyConnected(x, num_hidden=8, name="dense")
    return mx.sym.Activation(x, act_type="sigmoid", name="out")


@pytest.mark.parametrize("backend", ["ONEDNN", "MKLDNN"])
def test_fused_operators_and_equal_results(backend):
    symbol = network()
    executor = symbol.simple_bind(mx.cpu(), grad_req="null", data=(2, 3, 8, 8))
    for array in (*executor.arg_arrays, *executor.aux_arrays):
        array[:] = mx.nd.random.uniform(0.1, 1, shape=array.shape)
    expected = executor.forward()[0].asnumpy()
    for rewritten in (
        symbol.optimize_for(backend),
        symbol.optimize_for(backend, args=executor.arg_dict, aux=executor.aux_dict),
        symbol.get_backend_symbol(backend),
    ):
        text = rewritten.tojson()
        nodes = [node["op"] for node in json.loads(text)["nodes"] if node["op"] != "null"]
        kind = backend.lower()
        assert nodes == [f"_sg_{kind}_conv", f"_sg_{kind}_fully_connected"]
        assert set(rewritten.list_inputs()) == set(symbol.list_inputs())
        again = mx.sym.load_json(text).bind(
            mx.cpu(),
            {n: executor.arg_dict[n] for n in rewritten.list_arguments()},
            aux_states={n: executor.aux_dict[n] for n in rewritten.list_auxiliary_states()},
        )
        np.testing.assert_allclose(again.forward()[0].asnumpy(), expected, rtol=1e-4, atol=1e-5)


def test_unknown_backends():
    with pytest.warns(UserWarning, match="nothing is unknown"):
        symbol = network()
        assert symbol.optimize_for("nothing").tojson() == symbol.tojson()
    with pytest.raises(MXNetError, match="choose one of ONEDNN"):
        network().get_backend_symbol("nothing")


def bound(symbol, **shapes):
    executor = symbol.simple_bind(mx.cpu(), grad_req="null", **shapes)
    for array in (*executor.arg_arrays, *executor.aux_arrays):
        array[:] = mx.nd.random.uniform(0.1, 1, shape=array.shape)
    return executor


def test_a_watched_executor_of_a_rewritten_symbol_computes_the_same():
    executor = bound(network().optimize_for("ONEDNN"), data=(2, 3, 8, 8))
    expected = executor.forward()[0].asnumpy()
    seen = []
    executor.set_monitor_callback(lambda name, array: seen.append(name))
    np.testing.assert_allclose(executor.forward()[0].asnumpy(), expected, rtol=1e-4, atol=1e-5)
    assert "sg_onednn_fully_connected_eltwise_0_output" in seen


def test_parameters_of_a_rewritten_symbol_may_be_computed():
    """Folding runs once for variables only: here it has to run each time."""
    rewritten = network().optimize_for("ONEDNN")
    plain = bound(network(), data=(2, 3, 8, 8))
    composed = rewritten(conv_weight=mx.sym.var("half") * 2)
    values = {n: a for n, a in plain.arg_dict.items() if n != "conv_weight"}
    values["half"] = plain.arg_dict["conv_weight"] / 2
    executor = composed.bind(mx.cpu(), values, aux_states=plain.aux_dict)
    for _ in range(2):
        expected = plain.forward()[0].asnumpy()
        actual = executor.forward()[0].asnumpy()
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)
        values["half"][:] = values["half"] * 3
        plain.arg_dict["conv_weight"][:] = values["half"] * 2
