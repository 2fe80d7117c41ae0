"""Operators that move elements reject what real MXNet rejects, with precise errors."""

import numpy as np
import pytest

import mxcy as mx

nd = mx.nd
A = nd.array(np.arange(12).reshape(3, 4))
CUBE = nd.array(np.arange(24).reshape(2, 3, 4))
IMAGE = nd.array(np.arange(6).reshape(1, 1, 2, 3))
INT = nd.array([0, 1], dtype="int32")


def zeros(*shape, **kwargs):
    return nd.zeros(shape, **kwargs)


REFUSED = {
    "reshape to other size": (lambda: nd.Reshape(CUBE, shape=(5, -1)), "shape"),
    "reshape without shape": (lambda: nd.Reshape(CUBE), "shape"),
    "reshape two unknown": (lambda: nd.Reshape(CUBE, shape=(-1, -1)), "one dimension"),
    "reshape copies too many": (lambda: nd.Reshape(CUBE, shape=(0, 0, 0, 0)), "code 0"),
    "reshape joins too many": (lambda: nd.Reshape(CUBE, shape=(0, -3, -3)), "code -3"),
    "reshape splits wrongly": (lambda: nd.Reshape(CUBE, shape=(-4, 5, 2, -2)), "split"),
    "reshape splits twice": (lambda: nd.Reshape(CUBE, shape=(-4, -1, -1, -2)), "-4"),
    "reshape splits nothing": (lambda: nd.Reshape(CUBE, shape=(0, 0, 0, -4, 1)), "-4"),
    "reshape unknown code": (lambda: nd.Reshape(CUBE, shape=(-5,)), "-5"),
    "reshape_like sizes": (lambda: nd.reshape_like(zeros(6), zeros(2, 4)), "lhs"),
    "reshape_like range": (lambda: nd.reshape_like(A, A, lhs_begin=0, lhs_end=5), "lhs"),
    "reshape_like empty": (lambda: nd.reshape_like(A, A, lhs_begin=1, lhs_end=1), "empty"),
    "expand_dims": (lambda: nd.expand_dims(A, axis=3), "axis"),
    "squeeze extent": (lambda: nd.squeeze(IMAGE, axis=2), "axis"),
    "squeeze twice": (lambda: nd.squeeze(IMAGE, axis=(0, 0)), "repeated"),
    "squeeze axis": (lambda: nd.squeeze(IMAGE, axis=5), "axis"),
    "transpose negative": (lambda: nd.transpose(CUBE, axes=(-1, 0, 1)), "axes"),
    "transpose short": (lambda: nd.transpose(CUBE, axes=(1, 0)), "axes"),
    "transpose twice": (lambda: nd.transpose(CUBE, axes=(1, 1, 0)), "axes"),
    "swapaxes": (lambda: nd.SwapAxis(CUBE, dim1=0, dim2=3), "dim2"),
    "reverse negative": (lambda: nd.reverse(A, axis=-1), "axis"),
    "depth_to_space depth": (lambda: nd.depth_to_space(zeros(1, 3, 2, 2), 2), "block_size"),
    "depth_to_space zero": (lambda: nd.depth_to_space(IMAGE, 0), "block_size"),
    "space_to_depth space": (lambda: nd.space_to_depth(IMAGE, 2), "block_size"),
    "space_to_depth rank": (lambda: nd.space_to_depth(A, 2), "4 dimensions"),
    "diag beyond": (lambda: nd.diag(A, k=5), "k: "),
    "diag axes": (lambda: nd.diag(CUBE, axis1=0, axis2=0), "axis1"),
    "tile negative": (lambda: nd.tile(A, reps=(-1,)), "reps"),
    "tile zero": (lambda: nd.tile(A, reps=(2, 0)), "reps: expected 1 or more"),
    "repeat negative": (lambda: nd.repeat(A, repeats=-1), "repeats"),
    "repeat axis": (lambda: nd.repeat(A, repeats=2, axis=2), "axis"),
    "broadcast_to rank": (lambda: nd.broadcast_to(zeros(3), shape=(2, 3)), "shape"),
    "broadcast_to extent": (lambda: nd.broadcast_to(A, shape=(3, 8)), "shape"),
    "broadcast_to unknown": (lambda: nd.broadcast_to(zeros(1, 3), shape=(2, -1)), "shape"),
    "broadcast_axis extent": (lambda: nd.broadcast_axis(A, axis=1, size=4), "axis"),
    "broadcast_axis lists": (lambda: nd.broadcast_axis(IMAGE, axis=(0, 1), size=3), "size"),
    "broadcast_like rank": (lambda: nd.broadcast_like(zeros(9), A), "lhs"),
    "broadcast_like lists": (
        lambda: nd.broadcast_like(A, A, lhs_axes=(0,), rhs_axes=(0, 1)),
        "rhs_axes",
    ),
    "pad rank": (lambda: nd.Pad(A, mode="edge", pad_width=(0, 0, 0, 0)), "4 or 5"),
    "pad batch": (lambda: nd.Pad(IMAGE, mode="edge", pad_width=(1,) * 8), "first two"),
    "pad far reflection": (
        lambda: nd.Pad(IMAGE, mode="reflect", pad_width=(0, 0, 0, 0, 2, 1, 2, 0)),
        "reflected",
    ),
    "concat axis": (lambda: nd.Concat(A, A, dim=2), "dim"),
    "concat extents": (lambda: nd.Concat(A, zeros(3, 3), dim=0), "data1"),
    "concat dtypes": (lambda: nd.Concat(A, A.astype("int32")), "data1"),
    "concat ranks": (lambda: nd.Concat(A, zeros(3, 4, 1)), "data1"),
    "concat nothing": (lambda: nd.Concat(), "at least one"),
    "concat count": (lambda: nd.Concat(A, A, num_args=3), "num_args=3 arrays, got 2"),
    "stack extents": (lambda: nd.stack(A, zeros(3, 3)), "data1"),
    "stack axis": (lambda: nd.stack(A, A, axis=3), "axis"),
    "add_n shapes": (lambda: nd.add_n(A, zeros(4)), "args1"),
    "split uneven": (lambda: nd.SliceChannel(A, num_outputs=3), "num_outputs"),
    "split squeezed": (lambda: nd.SliceChannel(A, num_outputs=2, squeeze_axis=True), "squeeze"),
    "split nothing": (lambda: nd.SliceChannel(A, num_outputs=0), "num_outputs"),
    "split_v2 order": (lambda: nd._internal._split_v2(A, indices=(0, 3, 1), axis=0), "indices"),
    "split_v2 beyond": (lambda: nd._internal._split_v2(A, indices=(0, 9), axis=0), "indices"),
    "split_v2 start": (lambda: nd._internal._split_v2(A, indices=(1, 2), axis=0), "indices"),
    "slice lists": (lambda: nd.slice(A, begin=(1,), end=(2, 3)), "end"),
    "slice steps": (lambda: nd.slice(A, begin=(1,), end=(2,), step=(1, 1)), "step"),
    "slice no step": (lambda: nd.slice(A, begin=(0,), end=(2,), step=(0,)), "step"),
    "slice rank": (lambda: nd.slice(A, begin=(0, 0, 0), end=(1, 1, 1)), "begin"),
    "slice_axis beyond": (lambda: nd.slice_axis(A, axis=0, begin=0, end=9), "end"),
    "slice_axis empty": (lambda: nd.slice_axis(A, axis=0, begin=1, end=1), "begin"),
    "slice_axis before": (lambda: nd.slice_axis(A, axis=0, begin=-9, end=2), "begin"),
    "slice_axis axis": (lambda: nd.slice_axis(A, axis=2, begin=0, end=1), "axis"),
    "slice_axis without end": (lambda: nd.slice_axis(A, axis=0, begin=0), "end"),
    "slice_like larger": (lambda: nd.slice_like(A, zeros(4, 3)), "shape_like"),
    "slice_like rank": (lambda: nd.slice_like(A, CUBE), "shape_like"),
    "assign shape": (
        lambda: nd._internal._slice_assign(A, zeros(1, 2), begin=(0, 1), end=(2, 3)),
        "rhs",
    ),
    "crop size": (lambda: nd.Crop(IMAGE, num_args=1, h_w=(5, 2)), "h_w"),
    "crop rank": (lambda: nd.Crop(A, num_args=1, h_w=(2, 2)), "4 dimensions"),
    "where condition": (lambda: nd.where(zeros(4), A, A), "condition"),
    "where shapes": (lambda: nd.where(A, A, zeros(4, 3)), r"argument y: expected shape \(3, 4\)"),
    "where dtypes": (lambda: nd.where(A, A, A.astype("int32")), "argument y"),
    "take axis": (lambda: nd.take(A, INT, axis=2), "axis"),
    "take outside": (lambda: nd.take(A, nd.array([0, 3]), mode="raise"), "out of bounds"),
    "take negative": (lambda: nd.take(A, nd.array([-1]), mode="raise"), "out of bounds"),
    "pick no axis": (lambda: nd.pick(A, INT, axis=None), "axis"),
    "pick shape": (lambda: nd.pick(A, INT), "index"),
    "pick mode": (lambda: nd.pick(A, zeros(3), mode="raise"), "mode"),
    "batch_take dtype": (lambda: nd.batch_take(A, zeros(3)), "indices"),
    "batch_take shape": (lambda: nd.batch_take(A, INT), "indices"),
    "one_hot depth": (lambda: nd.one_hot(INT, depth=-1), "depth"),
    "gather_nd rank": (lambda: nd.gather_nd(A, INT), "indices"),
    "gather_nd many": (lambda: nd.gather_nd(A, zeros(3, 1)), "indices"),
    "scatter_nd shape": (lambda: nd.scatter_nd(zeros(2, 3), zeros(1, 2), shape=(3, 4)), "data"),
    "index_copy shape": (lambda: nd.contrib.index_copy(A, INT, zeros(2, 3)), "new_tensor"),
    "boolean_mask axis": (lambda: nd.contrib.boolean_mask(A, zeros(4), axis=1), "axis"),
    "boolean_mask shape": (lambda: nd.contrib.boolean_mask(A, zeros(4)), "index"),
    "ravel rank": (lambda: nd.ravel_multi_index(zeros(2), shape=(7, 6)), "data"),
    "ravel no shape": (lambda: nd.ravel_multi_index(zeros(2, 3)), "shape"),
    "unravel no shape": (lambda: nd.unravel_index(zeros(2)), "shape"),
    "topk k": (lambda: nd.topk(A, k=5), "k: "),
    "topk axis": (lambda: nd.topk(A, axis=2), "axis"),
    "sort axis": (lambda: nd.sort(A, axis=-3), "axis"),
    "mask lengths": (
        lambda: nd.SequenceMask(CUBE, zeros(2), use_sequence_length=True),
        "sequence_length",
    ),
    "mask axis": (
        lambda: nd.SequenceMask(CUBE, zeros(3), use_sequence_length=True, axis=2),
        "axis",
    ),
    "mask rank": (lambda: nd.SequenceMask(zeros(3)), "2 dimensions"),
    "mask unused lengths": (lambda: nd.SequenceMask(CUBE, zeros(3)), "1 input"),
    "mask missing lengths": (lambda: nd.SequenceMask(CUBE, use_sequence_length=True), "length"),
    "reverse axis": (lambda: nd.SequenceReverse(CUBE, axis=1), "axis"),
    "cumsum axis": (lambda: nd.cumsum(A, axis=2), "axis"),
    "array as parameter": (
        lambda: nd.softmax(A, A, A),
        r"axis=<NDArray 3x4 @cpu\(0\)> in operator",
    ),
    "khatri_rao columns": (lambda: nd.khatri_rao(A, zeros(3, 3)), "args1"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refuses(name):
    call, told = REFUSED[name]
    with pytest.raises(mx.base.MXNetError, match=told) as caught:
        call()
        nd.waitall()
    assert "perator" in str(caught.value)


@pytest.mark.parametrize("indices", [[[5, 1], [2, 3]], [[0], [-5]]])
def test_coordinates_out_of_bounds(indices):
    with pytest.raises(IndexError, match=r"index -?5 is out of bounds for axis \d with size"):
        nd.gather_nd(A, nd.array(indices)).asnumpy()
