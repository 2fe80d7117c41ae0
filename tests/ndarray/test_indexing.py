"""Indexing of NDArray: beyond the golden results."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd
from mxcy.base import MXNetError

nd = mx.nd


def grid(*shape, dtype="float32"):
    return nd.arange(int(np.prod(shape))).reshape(shape).astype(dtype)


# --- reading -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "int8", "int64", "uint8", "bool", "float64"])
def test_every_type_can_be_indexed(dtype):
    x = grid(3, 4, dtype=dtype)
    for key in (
        1,
        (1, 2),
        slice(0, 2),
        (slice(None), 1),
        ([0, 2], [1, 3]),
        (slice(None, None, -1),),
    ):
        got = x[key]
        assert got.dtype is x.dtype
        np.testing.assert_array_equal(got.asnumpy().squeeze(), x.asnumpy()[key].squeeze())


def test_bfloat16_can_be_indexed():
    x = nd.array([1.5, 2.5, 3.5], dtype="bfloat16")
    x[1] = -4.25
    x[[0, 2]] = nd.array([8.0, 9.0])
    assert str(x[::-1]) == "\n[ 9.   -4.25  8.  ]\n<NDArray 3 @cpu(0)>"


def test_views_of_views_share_memory():
    x = grid(4, 3, 2)
    x[1:3][1].reshape((-1,))[4:6][:] = -1
    assert x[2, 2].asnumpy().tolist() == [-1, -1]
    assert x.asnumpy().min() == -1
    assert (x.asnumpy() == -1).sum() == 2


def test_a_view_keeps_its_memory_alive():
    row = grid(1000, 1000)[999]
    assert row[0].asscalar() == 999000


def test_a_view_of_a_read_only_array_is_read_only():
    x = nd.NDArray(grid(2, 3).handle, writable=False)
    for view in (x[0], x[0:1], x.reshape((3, 2)), x[1, 1:2]):
        assert not view.writable
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 1
    with pytest.raises(ValueError, match="readonly"):
        x += 1


def test_slices_without_elements_are_empty_arrays():
    x = grid(3, 4)
    for key in (slice(1, 1), (slice(0, 2), slice(3, 3)), [], (slice(None), []), slice(5, None)):
        assert x[key].shape == x.asnumpy()[key].shape
        assert x[key].size == 0


def test_an_index_array_without_dimensions_is_an_int():
    x = grid(3, 4)
    assert x[nd.array(2)].asnumpy().tolist() == x[np.array(2)].asnumpy().tolist() == [8, 9, 10, 11]
    assert x[np.int8(1), nd.array(1)].shape == (1,)


def test_an_index_out_of_bounds_writes_nothing():
    x = grid(4)
    for key in ([5], [-5], nd.array([0, 4])):
        with pytest.raises(IndexError, match="out of bounds for axis 0 with size 4"):
            x[key] = 9
    assert x.asnumpy().tolist() == [0, 1, 2, 3]


def test_negative_indices_in_arrays_count_from_the_end():
    x = grid(4)
    x[[-1, -4]] = [7, 8]
    assert x.asnumpy().tolist() == [8, 1, 2, 7]


def test_boolean_masks_need_numpy_semantics():
    x = grid(2, 3)
    mask = (x > 2).astype("bool")
    with pytest.raises(ValueError, match="set_np"):
        x[mask]
    with mx.util.np_shape(), mx.util.np_array():
        assert x[mask].asnumpy().tolist() == [3, 4, 5]
        x[mask] = 0
    assert x.asnumpy().tolist() == [[0, 1, 2], [0, 0, 0]]


def test_elements_have_no_dimensions_under_np_shape():
    x = grid(2, 3)
    with mx.util.np_shape():
        assert x[1, 2].shape == x[1][2].shape == x[..., 1, 2].shape == ()
    assert x[1, 2].shape == x[1][2].shape == x[..., 1, 2].shape == (1,)


def test_subclasses_stay_what_they_are_only_where_arrays_do():
    assert type(grid(3)[0]) is nd.NDArray


# --- writing -------------------------------------------------------------------------------------


def test_overlapping_rows_are_moved_as_if_copied_first():
    x = grid(6)
    x[2:] = x[:4]
    assert x.asnumpy().tolist() == [0, 1, 0, 1, 2, 3]
    y = grid(6)
    y[:] = y[::-1]
    assert y.asnumpy().tolist() == [5, 4, 3, 2, 1, 0]
    z = grid(2, 2)
    z[:] = z.T
    assert z.asnumpy().tolist() == [[0, 2], [1, 3]]


def test_a_list_of_arrays_can_be_assigned():
    x = nd.zeros((2, 3))
    x[:] = [grid(3), grid(3) + 1]
    assert x.asnumpy().tolist() == [[0, 1, 2], [1, 2, 3]]


def test_arrays_of_other_devices_and_types_can_be_assigned():
    x = nd.zeros((2, 3), dtype="int32")
    x[1] = nd.array([1.9, -1.9, 2.0], ctx=mx.cpu(1))
    assert x.asnumpy().tolist() == [[0, 0, 0], [1, -1, 2]]


def test_assigning_nothing_array_like_names_the_type():
    with pytest.raises(TypeError, match="non-array-like object .* of type <class 'dict'>"):
        grid(3)[:] = {}
    with pytest.raises(TypeError, match="non-array-like"):
        grid(3)[:] = [1, [2, 3], 4]


# --- while recording -----------------------------------------------------------------------------


def test_views_share_memory_while_recording():
    x = grid(4, 3)
    x.attach_grad()
    with autograd.record():
        parts = [x[1:3], x[2], x[2, 1], x[1:3, :], x[None], x.reshape((3, 4)), x[2, 0:2]]
    for part in parts:
        part[:] = -1
    assert (x.asnumpy() == -1).all()


def test_a_variable_cannot_be_written_while_recording():
    x = grid(2, 3)
    x.attach_grad()
    for key in (0, slice(None), (0, 1), [0], (slice(None), 1)):
        with autograd.record(), pytest.raises(MXNetError, match="computational graph"):
            x[key] = 1
    with autograd.record(), pytest.raises(MXNetError, match="not supported when recording"):
        x += 1
    assert x.asnumpy().tolist() == [[0, 1, 2], [3, 4, 5]]


def test_a_numpy_array_may_replace_a_variable_while_recording():
    x = grid(2)
    x.attach_grad()
    with autograd.record():
        x[:] = np.array([3.0, 4.0])
        y = x * x
    y.backward()
    assert x.grad.asnumpy().tolist() == [6, 8]


def test_a_plain_array_takes_all_of_a_recorded_one():
    v = nd.array([1, 2, 3])
    v.attach_grad()
    x = nd.zeros((2, 3))
    with autograd.record():
        x[1] = 7
        x[:] = v * 2
        y = x * x
    y.backward()
    assert x.asnumpy().tolist() == [[2, 4, 6], [2, 4, 6]]
    assert v.grad.asnumpy().tolist() == [16, 32, 48]


def test_a_plain_array_does_not_take_a_part_of_a_recorded_one():
    v = nd.array([1, 2, 3])
    v.attach_grad()
    for key in (0, slice(0, 1), [1], (slice(None), slice(0, 1))):
        x = nd.zeros((2, 3))
        with autograd.record(), pytest.raises(MXNetError, match="Inplace operations"):
            x[key] = v[:1]


def test_second_derivatives_pass_through_indexing():
    x = grid(5)
    x.attach_grad()
    with autograd.record():
        y = x[1:4] ** 3
        (first,) = autograd.grad(y, x, create_graph=True)
    first.backward()
    assert x.grad.asnumpy().tolist() == [0, 6, 12, 18, 0]


def test_gradients_of_elements_under_np_shape():
    x = grid(2, 3)
    x.attach_grad()
    with mx.util.np_shape(), autograd.record():
        y = x[1, 2] * x[0][1]
    y.backward()
    assert y.shape == ()
    assert x.grad.asnumpy().tolist() == [[0, 5, 0], [0, 0, 1]]


def test_gradients_of_slices_without_elements_are_zero():
    x = grid(3, 2)
    x.attach_grad()
    with autograd.record():
        y = (x[1:1] * 2).sum() + (x[1:2] * 3).sum() + x[3:].sum(axis=0).sum()
    y.backward()
    assert x.grad.asnumpy().tolist() == [[0, 0], [3, 3], [0, 0]]


def test_rules_of_keys():
    assert nd.get_indexing_dispatch_code((1, slice(None), None)) == 0
    assert nd.get_indexing_dispatch_code((1, [0, 2])) == 1
    assert nd.get_indexing_dispatch_code((nd.array([1]),)) == 1
    assert nd.get_indexing_dispatch_code(((),)) == 2
    with pytest.raises(ValueError, match="does not support slicing with key a"):
        nd.get_indexing_dispatch_code(("a",))
    assert nd.get_oshape_of_gather_nd_op((5, 6, 7), (2, 3)) == (3, 7)
    assert nd.get_oshape_of_gather_nd_op((5, 6), (2, 3, 4)) == (3, 4)
    whole = slice(None)
    assert nd.indexing_key_expand_implicit_axes((0, ...), (3, 4, 5)) == (0, whole, whole)
    nd.ndarray.check_boolean_array_dimension((3, 4, 5), 1, (4, 5))
    with pytest.raises(IndexError, match="along axis 1; size is 4 but .* is 3"):
        nd.ndarray.check_boolean_array_dimension((3, 4, 5), 1, (3,))
