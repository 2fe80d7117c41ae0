"""Gradients of variables: plans write them in place where that is unobservable."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd, gluon

GPU = mx.gpu(0)
VALUES = np.random.default_rng(0).standard_normal((3, 4)).astype("float32")


class Product(gluon.HybridBlock):
    """A small plan: the sum of tanh(x * w) * w."""

    def hybrid_forward(self, F, x, w):
        return F.sum(F.tanh(F.exp(x * w) + 1) * w)


def product():
    block = Product()
    block.hybridize()
    return block


def variables(ctx, **attached):
    """Return two arrays with gradients."""
    arrays = [mx.nd.array(VALUES * factor, ctx=ctx) for factor in (1, 0.5)]
    for array in arrays:
        array.attach_grad(**attached)
    return arrays


def on_both(program):
    """Return a program's results on the CPU and on the GPU as NumPy arrays."""
    return [[array.asnumpy() for array in program(ctx)] for ctx in (mx.cpu(), GPU)]


def same(program):
    here, there = on_both(program)
    for expected, result in zip(here, there, strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)


def test_they_stay_where_they_are():
    x, w = variables(GPU)
    block = product()
    places = x.grad.address, w.grad.address
    for _ in range(3):
        with autograd.record():
            y = block(x, w)
        y.backward()
        assert (x.grad.address, w.grad.address) == places


@pytest.mark.parametrize("request_", ["write", "add"])
def test_a_variable_of_several_blocks(request_):
    def program(ctx):
        x, w = variables(ctx, grad_req=request_)
        one, other = product(), product()
        for _ in range(2):
            with autograd.record():
                y = one(x, w) + other(w, x) * 3 + (x * w).sum()
            y.backward()
        return [x.grad, w.grad]

    same(program)


def test_one_variable_for_both_inputs():
    def program(ctx):
        x, _ = variables(ctx)
        block = product()
        with autograd.record():
            y = block(x, x)
        y.backward()
        return [x.grad]

    same(program)


def test_grad_leaves_those_of_variables():
    def program(ctx):
        x, w = variables(ctx)
        block = product()
        with autograd.record():
            y = block(x, w)
        y.backward(retain_graph=True)
        before = [x.grad.copy(), w.grad.copy()]
        with autograd.record():
            z = block(x * 2, w)
        return [*before, x.grad, w.grad, *autograd.grad(z, [x, w])]

    same(program)


def test_readers_of_a_gradient():
    """A gradient that is also an input of the block, or the head gradient."""

    def program(ctx):
        x, w = variables(ctx)
        block = product()
        with autograd.record():
            y = block(x, w)
        y.backward()
        with autograd.record():
            y = block(x, w.grad)
        y.backward()
        found = [x.grad.copy()]
        layer = gluon.nn.HybridSequential()
        layer.add(*(gluon.nn.Dense(4, in_units=4, activation="tanh") for _ in range(2)))
        layer.initialize(mx.init.Constant(0.25), ctx=ctx)
        layer.hybridize()
        with autograd.record():
            y = layer(x)
        y.backward(x.grad)
        return [*found, x.grad, layer[0].weight.grad(ctx), layer[1].weight.grad(ctx)]

    same(program)


def test_marked_variables():
    def program(ctx):
        x, w = (mx.nd.array(VALUES * factor, ctx=ctx) for factor in (1, 0.5))
        gradient = mx.nd.zeros((3, 4), ctx=ctx)
        autograd.mark_variables([x], [gradient])
        autograd.mark_variables([w], [mx.nd.zeros((3, 4), ctx=ctx)])
        block = product()
        with autograd.record():
            y = block(x, w) * 2
        y.backward()
        return [gradient, w.grad]

    same(program)


def test_a_graph_that_is_used_twice():
    def program(ctx):
        x, w = variables(ctx)
        block = product()
        with autograd.record():
            y = block(x, w)
        y.backward(retain_graph=True)
        first = [x.grad.copy(), w.grad.copy()]
        y.backward(mx.nd.full((1,), 3.0, ctx=ctx))
        return [*first, x.grad, w.grad]

    same(program)


def test_part_of_a_larger_array():
    def program(ctx):
        x, w = (mx.nd.array(VALUES * factor, ctx=ctx) for factor in (1, 0.5))
        all_of_them = mx.nd.zeros((2, 3, 4), ctx=ctx)
        autograd.mark_variables([x, w], [all_of_them[0], all_of_them[1]])
        block = product()
        with autograd.record():
            y = block(x, w)
        y.backward()
        return [all_of_them]

    same(program)
