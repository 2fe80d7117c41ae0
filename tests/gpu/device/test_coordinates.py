"""Indexing by coordinates on gpu(0) against the CPU, and errors of indices out of bounds."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.base import MXNetError

GPU = mx.gpu(0)
CONTEXTS = mx.cpu(), GPU


def both(function):
    """Return a function's results on the CPU and on the device as NumPy arrays."""
    results = [function(ctx) for ctx in CONTEXTS]
    for ctx, arrays in zip(CONTEXTS, results, strict=True):
        assert all(array.context == ctx for array in arrays)
    return [[array.asnumpy() for array in arrays] for arrays in results]


def same(function):
    for wanted, result in zip(*both(function), strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-6)


@pytest.fixture
def coordinates():
    """Coordinates of more rows than a block has threads, with duplicates and negative ones."""
    rng = np.random.default_rng(0)
    return np.stack([rng.integers(-7, 7, 700), rng.integers(0, 5, 700)])


@pytest.mark.parametrize("inner", [(), (3,), (300,)])
def test_gathering_and_its_gradient(coordinates, inner):
    x = np.random.default_rng(1).standard_normal((7, 5, *inner)).astype("float32")

    def function(ctx):
        data = mx.nd.array(x, ctx=ctx)
        data.attach_grad()
        with mx.autograd.record():
            out = mx.nd.gather_nd(data, mx.nd.array(coordinates, ctx=ctx))
            out = out * out
        out.backward()
        return out, data.grad

    same(function)


@pytest.mark.parametrize("inner", [(), (3,)])
def test_the_last_of_equal_coordinates_remains(coordinates, inner):
    rng = np.random.default_rng(2)
    x, base = rng.standard_normal((700, *inner)), rng.standard_normal((7, 6, *inner))

    def function(ctx):
        data, index = mx.nd.array(x, ctx=ctx), mx.nd.array(coordinates, ctx=ctx)
        array = mx.nd.array(base, ctx=ctx)
        array[coordinates[0] % 7, coordinates[1]] = data
        out = mx.nd.scatter_nd(data, index, shape=base.shape)
        return out, mx.nd._internal._scatter_set_nd(
            mx.nd.array(base, ctx=ctx), data, index, shape=base.shape
        )

    same(function)


def test_rows_replaced():
    def function(ctx):
        old, new = mx.nd.zeros((4, 3), ctx=ctx), mx.nd.ones((2, 3), ctx=ctx)
        return (mx.nd.contrib.index_copy(old, mx.nd.array([3, 0], ctx=ctx), new),)

    same(function)


CALLS = {
    "gather_nd": lambda x, i: mx.nd.gather_nd(x, i.reshape((1, -1))),
    "scatter_nd": lambda x, i: mx.nd.scatter_nd(x, i.reshape((1, -1)), shape=(3, 4)),
    "take": lambda x, i: mx.nd.take(x, i, mode="raise"),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("wait", ["wait_to_read", "asnumpy", "waitall"])
def test_out_of_bounds(name, wait):
    """The next wait raises the CPU's error; waitall raises it once."""
    texts = []
    for ctx in CONTEXTS:
        x, index = mx.nd.ones((3, 4), ctx=ctx), mx.nd.array([0, 7, 1], ctx=ctx)
        with pytest.raises((IndexError, MXNetError), match="out of bounds") as caught:
            out = CALLS[name](x, index)
            mx.nd.waitall() if wait == "waitall" else getattr(out, wait)()
        texts.append((caught.type, str(caught.value).partition(" (called")[0]))
    assert texts[0] == texts[1]
    mx.nd.waitall()
    assert CALLS[name](x, mx.nd.array([0, 2, 1], ctx=GPU)).asnumpy().max() == 1


def test_an_alarm_of_a_graph():
    """A hybridized block raises the error, too, also in further runs."""

    class Rows(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x, index):
            return F.gather_nd(x * 2, index) + 1

    block = Rows()
    block.hybridize()
    x = mx.nd.ones((3, 4), ctx=GPU)
    assert (block(x, mx.nd.array([[0, 2]], ctx=GPU)).asnumpy() == 3).all()
    for _ in range(3):
        with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with size 3"):
            block(x, mx.nd.array([[0, 3]], ctx=GPU)).asnumpy()


def test_errors_stay():
    """A failed array and results of it raise on each wait, until they are overwritten."""
    x = mx.nd.ones((3, 4), ctx=GPU)
    out = mx.nd.gather_nd(x, mx.nd.array([[0, 3]], ctx=GPU))
    for _ in range(3):
        with pytest.raises(IndexError, match="out of bounds"):
            out.asnumpy()
        with pytest.raises(IndexError, match="out of bounds"):
            out.wait_to_read()
    more = out * 2 + 1
    out += 1
    for failed in (more, out, more.copy()):
        with pytest.raises((IndexError, MXNetError), match="out of bounds"):
            failed.asnumpy()
    mx.nd.waitall()
    assert (x.asnumpy() == 1).all()
    assert ((x + 1).asnumpy() == 2).all()
    more[:] = 3
    mx.nd.exp(x[:2], out=out)
    assert (more.asnumpy() == 3).all()
    assert (out.asnumpy() > 2).all()


def test_memory_that_failed_is_used_again():
    """A new array in the memory of a failed one has no error."""
    x = mx.nd.ones((3, 4), ctx=GPU)
    for _ in range(4):
        out = mx.nd.gather_nd(x, mx.nd.array([[0, 3]], ctx=GPU))
        with pytest.raises(IndexError, match="out of bounds"):
            out.wait_to_read()
        del out
        assert ((x[:2] * 2).asnumpy() == 2).all()
        assert (mx.nd.array(np.full((2, 4), 5), ctx=GPU).asnumpy() == 5).all()
