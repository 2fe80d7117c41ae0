"""Memory of parameters: gradients before they are computed, values while a file is read."""

import ctypes
import mmap
import os

import numpy as np
import pytest

import mxcy as mx
from mxcy.gluon import Parameter, nn

LARGE = (1024, 700)  # too large for pages shared with other arrays


def resident_pages(array):
    """How many of the pages of an array's memory are in use."""
    start = array.address - array.address % mmap.PAGESIZE
    size = array.address + array.size * array.dtype(0).itemsize - start
    states = (ctypes.c_ubyte * -(-size // mmap.PAGESIZE))()
    result = ctypes.CDLL(None, use_errno=True).mincore(
        ctypes.c_void_p(start), ctypes.c_size_t(size), states
    )
    assert result == 0, os.strerror(ctypes.get_errno())
    return sum(state & 1 for state in states)


def test_gradients_take_memory_when_they_are_computed():
    parameter = Parameter("weight", shape=LARGE)
    parameter.initialize(mx.init.One())
    gradient = parameter.grad()
    assert resident_pages(gradient) == 0
    assert resident_pages(parameter.data()) > 600
    with mx.autograd.record():
        y = (parameter.data() * 3).sum()
    y.backward()
    assert parameter.grad() is gradient
    assert (gradient.asnumpy() == 3).all()
    assert resident_pages(gradient) > 600


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
def test_gradients_are_zeros_at_first(dtype):
    parameter = Parameter("weight", shape=LARGE, dtype=dtype)
    parameter.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
    for context, gradient in zip(parameter.list_ctx(), parameter.list_grad(), strict=True):
        assert gradient.context == context and gradient.shape == LARGE
        assert gradient.dtype == parameter.data(context).dtype
        assert not gradient.asnumpy().any()
    parameter.grad_req = "add"
    for _ in range(2):
        with mx.autograd.record():
            y = (parameter.data(mx.cpu(1)) * 2).sum()
        y.backward()
    assert (parameter.grad(mx.cpu(1)).asnumpy() == 4).all()
    assert not parameter.grad(mx.cpu(0)).asnumpy().any()
    parameter.zero_grad()
    assert not parameter.grad(mx.cpu(1)).asnumpy().any()


def test_gradients_outlive_their_parameters():
    parameter = Parameter("weight", shape=LARGE)
    parameter.initialize()
    gradient = parameter.grad()
    rows = gradient[3:5]
    del parameter, gradient
    rows += 1
    assert (rows.asnumpy() == 1).all()


def networks():
    """Two networks alike, with different values."""
    pair = []
    for value in (1.0, 2.0):
        net = nn.HybridSequential(prefix="net_")
        with net.name_scope():
            net.add(nn.Dense(5, in_units=3), nn.BatchNorm(in_channels=5))
        net.initialize(mx.init.Constant(value))
        pair.append(net)
    return pair


def test_dictionaries_are_whole_after_they_were_loaded():
    source, target = networks()
    structural = {n: p.data() for n, p in source._collect_params_with_prefix().items()}
    full = {n: p.data() for n, p in source.collect_params().items()}
    for values, load in (
        (structural, target.load_dict),
        (full, target.load_dict),
        (full, target.collect_params().load_dict),
    ):
        names = list(values)
        target.initialize(mx.init.Constant(2.0), force_reinit=True)
        load(values)
        assert list(values) == names
        for one, other in zip(
            source.collect_params().values(), target.collect_params().values(), strict=True
        ):
            np.testing.assert_array_equal(one.data().asnumpy(), other.data().asnumpy())
            assert other.data() is not values.get(one.name)
