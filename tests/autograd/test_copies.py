"""Gradients are neither copied needlessly nor views of others' memory."""

import json

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd
from mxcy._library import front


def operators_of(step):
    """Run a step; return the names of the operators in it."""
    mx.profiler.set_config(profile_imperative=True, aggregate_stats=True)
    mx.profiler.set_state("run")
    step()
    mx.nd.waitall()
    mx.profiler.set_state("stop")
    return json.loads(mx.profiler.dumps(reset=True, format="json"))["Time"]["operator"]


@pytest.mark.skipif(front.package != "_cy", reason="arrays of the ctypes front keep their memory")
def test_gradients_are_not_copied_while_operations_are_pending():
    table = mx.gluon.nn.Embedding(8192, 512)
    table.initialize()
    table.hybridize()
    rows = mx.nd.arange(6)

    def step():
        with autograd.record():
            total = table(rows).sum()
        total.backward()

    step()
    operators = operators_of(step)
    assert "_embedding_grad" in operators and "_copy" not in operators
    np.testing.assert_array_equal(table.weight.grad().asnumpy().sum(1), [512] * 6 + [0] * 8186)


def test_gradients_of_dense_layers_and_means_copy_nothing():
    x, w = mx.nd.arange(6).reshape((2, 3)), mx.nd.arange(12).reshape((4, 3))
    x.attach_grad()
    w.attach_grad()

    def step():
        with autograd.record():
            out = mx.nd.FullyConnected(x, w, num_hidden=4, no_bias=True)
            loss = out.sum(axis=1, keepdims=True).mean(axis=1, keepdims=True)
        loss.backward()

    operators = operators_of(step)
    assert "dot" in operators and "Reshape" not in operators and "reshape_like" not in operators
    np.testing.assert_array_equal(x.grad.asnumpy(), [[18, 22, 26]] * 2)
    np.testing.assert_array_equal(w.grad.asnumpy(), [[3, 5, 7]] * 4)


def test_gradients_that_pass_through_are_no_views():
    x, g = mx.nd.ones((2, 1)), mx.nd.ones((2, 1))
    x.attach_grad()
    with autograd.record():
        y = x.sum(axis=1, keepdims=True)
    y.backward(g)
    g[:] = 7
    np.testing.assert_array_equal(x.grad.asnumpy(), [[1], [1]])
