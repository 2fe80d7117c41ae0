"""Networks whose plans depend on variables, and queries of these plans."""

import numpy as np

import mxcy as mx

__all__ = [
    "assert_same",
    "chain",
    "convolutions",
    "dense",
    "described",
    "operators",
    "predictions",
    "results",
]


def chain(count=18):
    """Elementwise operators, one after the other."""
    out = mx.sym.var("data")
    for i in range(count):
        out = mx.sym.sin(out) if i % 2 else mx.sym.tanh(out)
    return out


def dense(layers=40, width=256):
    out = mx.sym.var("data")
    for _ in range(layers):
        out = mx.sym.Activation(mx.sym.FullyConnected(out, num_hidden=width), act_type="relu")
    return out


def convolutions(blocks=4, train_norm=True):
    out = mx.sym.var("data")
    for i in range(blocks):
        out = mx.sym.Convolution(
            out, kernel=(3, 3), pad=(1, 1), num_filter=16, no_bias=True, name=f"conv{i}"
        )
        if train_norm:
            out = mx.sym.BatchNorm(out, fix_gamma=False, name=f"norm{i}")
        out = mx.sym.Activation(out, act_type="relu", name=f"relu{i}")
    return out


def described(symbol, is_train=False, **shapes):
    grads = "write" if is_train else "null"
    executor = symbol.simple_bind(mx.cpu(), grad_req=grads, **(shapes or {"data": (4, 5)}))
    return executor.describe(is_train)


def operators(symbol, **shapes):
    """The operators of the plan in prediction mode, from its text."""
    executor = symbol.simple_bind(mx.cpu(), grad_req="null", **shapes)
    lines = [line for line in executor.debug_str().splitlines() if " by " in line]
    return [line.split(": ")[1].split(" by ")[0] for line in lines]


def results(symbol, **shapes):
    """Outputs, gradients and states after a step of training."""
    executor = symbol.simple_bind(mx.cpu(), **shapes)
    random = np.random.default_rng(0)
    for array in executor.arg_arrays:
        array[:] = random.normal(size=array.shape) * 0.3
    executor.forward(is_train=True)
    executor.backward(mx.nd.ones(executor.outputs[0].shape))
    arrays = [*executor.outputs, *executor.grad_arrays, *executor.aux_arrays]
    return [array.asnumpy() for array in arrays]


def predictions(symbol, **shapes):
    """Outputs in prediction mode."""
    executor = symbol.simple_bind(mx.cpu(), grad_req="null", **shapes)
    random = np.random.default_rng(0)
    for array in executor.arg_arrays:
        array[:] = random.normal(size=array.shape) * 0.3
    return [array.asnumpy() for array in executor.forward()]


def assert_same(outcome, expected, rtol=0.0):
    for one, other in zip(outcome, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol, atol=rtol)
