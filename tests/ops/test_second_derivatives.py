"""Gradients of operators that move elements can be differentiated again.

For a linear operator L the function f(x) = sum((L x)^2) has the gradient 2 L'L x. Differentiating
its product with v once more gives 2 L'L v, the gradient of f at v.
"""

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd

nd = mx.nd
ROWS = nd.array([2, 0, 2], dtype="int32")
PAIRS = nd.array([[0, 2, 0], [3, 1, 3]], dtype="int32")
LENGTHS = nd.array([2, 1, 3, 3], dtype="int32")
WIDTHS = (0, 0, 0, 0, 1, 1, 2, 0)

#: the shape of x, and an operator that is linear in it
LINEAR = {
    "Reshape": ((3, 4), lambda x: nd.Reshape(x, shape=(-4, 1, 3, 2, -1))),
    "reshape_like": ((3, 4), lambda x: nd.reshape_like(x, nd.zeros((2, 6)))),
    "expand_dims": ((3, 4), lambda x: nd.expand_dims(x, axis=1)),
    "squeeze": ((3, 1, 4), lambda x: nd.squeeze(x)),
    "Flatten": ((3, 2, 2), lambda x: nd.Flatten(x)),
    "identity": ((3, 4), lambda x: nd.identity(x)),
    "transpose": ((2, 3, 4), lambda x: nd.transpose(x, axes=(1, 2, 0))),
    "SwapAxis": ((2, 3, 4), lambda x: nd.SwapAxis(x, dim1=0, dim2=2)),
    "reverse": ((3, 4), lambda x: nd.reverse(x, axis=(0, 1))),
    "depth_to_space": ((1, 4, 2, 3), lambda x: nd.depth_to_space(x, block_size=2)),
    "space_to_depth": ((1, 1, 4, 2), lambda x: nd.space_to_depth(x, block_size=2)),
    "diag": ((3, 4), lambda x: nd.diag(x, k=1)),
    "diag of vector": ((3,), lambda x: nd.diag(x, k=-1)),
    "tile": ((2, 3), lambda x: nd.tile(x, reps=(2, 1, 3))),
    "repeat": ((2, 3), lambda x: nd.repeat(x, repeats=3, axis=0)),
    "broadcast_to": ((1, 3), lambda x: nd.broadcast_to(x, shape=(4, 0))),
    "broadcast_axis": ((1, 3), lambda x: nd.broadcast_axis(x, axis=0, size=4)),
    "broadcast_like": ((1, 3), lambda x: nd.broadcast_like(x, nd.zeros((4, 3)))),
    "Pad constant": ((1, 1, 3, 4), lambda x: nd.Pad(x, mode="constant", pad_width=WIDTHS)),
    "Pad edge": ((1, 1, 3, 4), lambda x: nd.Pad(x, mode="edge", pad_width=WIDTHS)),
    "Pad reflect": ((1, 1, 3, 4), lambda x: nd.Pad(x, mode="reflect", pad_width=WIDTHS)),
    "Concat": ((3, 4), lambda x: nd.Concat(x, nd.reverse(x, axis=0), dim=1)),
    "stack": ((3, 4), lambda x: nd.stack(x, x, axis=1)),
    "add_n": ((3, 4), lambda x: nd.add_n(x, x, nd.reverse(x, axis=0))),
    "SliceChannel": ((3, 4), lambda x: nd.SliceChannel(x, num_outputs=2)[1]),
    "_split_v2": ((3, 4), lambda x: nd._internal._split_v2(x, indices=(0, 3))[0]),
    "slice": ((3, 4), lambda x: nd.slice(x, begin=(None, 1), end=(None, 4), step=(-1, 2))),
    "slice_axis": ((3, 4), lambda x: nd.slice_axis(x, axis=1, begin=1, end=3)),
    "slice_like": ((3, 4), lambda x: nd.slice_like(x, nd.zeros((2, 3)))),
    "where": ((3, 4), lambda x: nd.where(nd.array([1, 0, 1]), x, 2 * x)),
    "take": ((3, 4), lambda x: nd.take(x, ROWS)),
    "pick": ((3, 4), lambda x: nd.pick(x, ROWS)),
    "gather_nd": ((3, 4), lambda x: nd.gather_nd(x, PAIRS)),
    "scatter_nd": ((2, 4), lambda x: nd.scatter_nd(x, nd.array([[2, 0]]), shape=(3, 4))),
    "index_copy": ((3, 4), lambda x: nd.contrib.index_copy(x, nd.array([2]), nd.zeros((1, 4)))),
    "SequenceMask": ((3, 4), lambda x: nd.SequenceMask(x, LENGTHS, use_sequence_length=True)),
    "SequenceLast": ((3, 4), lambda x: nd.SequenceLast(x, LENGTHS, use_sequence_length=True)),
    "SequenceReverse": ((3, 4), lambda x: nd.SequenceReverse(x, LENGTHS, use_sequence_length=True)),
    "cumsum": ((3, 4), lambda x: nd.cumsum(x, axis=1)),
    "im2col": ((1, 2, 4, 5), lambda x: nd.im2col(x, kernel=(2, 3), stride=(2, 1), pad=(1, 0))),
    "col2im": ((1, 8, 6), lambda x: nd.col2im(x, kernel=(2, 2), output_size=(3, 4))),
    "GridGenerator": (
        (2, 6),
        lambda x: nd.GridGenerator(x, transform_type="affine", target_shape=(3, 4)),
    ),
}


def gradient(operator, x, create_graph=False):
    with autograd.record():
        y = operator(x)
        total = (y * y).sum()
        return autograd.grad(total, x, create_graph=create_graph)[0]


@pytest.mark.parametrize("name", LINEAR)
def test_second_derivative(name):
    shape, operator = LINEAR[name]
    rng = np.random.default_rng(len(name))
    x, v = (nd.array(rng.normal(size=shape)) for _ in range(2))
    x.attach_grad()
    v.attach_grad()
    expected = gradient(operator, v).asnumpy()
    with autograd.record():
        first = gradient(operator, x, create_graph=True)
        product = (first * v).sum()
    (actual,) = autograd.grad(product, x)
    np.testing.assert_allclose(actual.asnumpy(), expected, rtol=1e-5, atol=1e-6)
