"""MXNet's modules of mx.np and mx.npx, and functions that describe arrays."""

import importlib

import numpy as onp
import pytest

import mxcy as mx

np, npx = mx.np, mx.npx


@pytest.mark.parametrize(
    "module, names",
    [
        ("multiarray", "exp ndarray zeros result_type"),
        ("type_functions", "can_cast finfo iinfo result_type"),
        ("set_functions", "unique_all unique_inverse unique_values"),
        ("stride_tricks", "broadcast_arrays"),
        ("function_base", "meshgrid"),
        ("arrayprint", "set_printoptions"),
        ("io", "genfromtxt"),
        ("utils", "float32 int8 bool_ pi newaxis numeric_dtypes"),
    ],
)
def test_modules_of_mxnet(module, names):
    actual = importlib.import_module(f"mxcy.numpy.{module}")
    assert getattr(np, module) is actual
    for name in names.split():
        assert getattr(actual, name) == getattr(np, name)


def test_types_by_their_names():
    names, kinds = np.utils._STR_2_DTYPE_, np.utils._DTYPE_2_STR_
    assert names["int8"] == names[kinds[np.utils.int8]] == onp.int8 and names["None"] is None
    assert kinds[bool] == "bool" and kinds[None] == "None"
    assert np.utils._type_promotion_table[np.utils.int64, np.utils.float16] == onp.float16
    assert np.utils._type_promotion_table[np.utils.bool_, np.utils.int8] == onp.int8
    assert np.dtype("int8") == onp.int8
    assert npx.utils.load is npx.load
    with pytest.raises(AttributeError):
        np.no_such_module  # noqa: B018  what is tested
    with pytest.raises(AttributeError):
        np.linalg.no_such_function  # noqa: B018


def test_what_arrays_are():
    array = np.ones((2, 3))
    assert np.shape(array) == (2, 3) and np.shape([[1], [2]]) == (2, 1) and np.shape(3) == ()
    assert np.ndim(array) == 2 and np.ndim(2.5) == 0
    assert np.size(array) == 6 and np.size(array, 1) == 3 and np.size([1, 2]) == 2
    assert np.min_scalar_type(200) == onp.uint8 and np.min_scalar_type(-200) == onp.int16
    assert np.min_scalar_type(array) == onp.float32
    assert np.min_scalar_type(np.array(3, dtype="int64")) == onp.uint8


def test_text_becomes_an_array():
    actual = np.genfromtxt(["1,2", "3,x"], delimiter=",")
    assert type(actual) is np.ndarray and actual.dtype == onp.float64
    onp.testing.assert_array_equal(actual.asnumpy(), [[1, 2], [3, onp.nan]])
    assert np.genfromtxt(["1 2"], dtype="int32").dtype == onp.int32


def test_arguments_in_the_order_of_mxnet():
    assert np.array([1, 2], "int8", mx.cpu()).tolist() == [1, 2]
    assert np.empty_like(np.ones((2, 0)), "int8", mx.cpu()).shape == (2, 0)
    out = np.zeros((2, 3))
    assert np.copy(np.ones((2, 3)), out=out) is out and out.sum().item() == 6
    assert np.squeeze(np.ones((1, 2)), out=np.zeros(2)).tolist() == [1, 1]
    assert np.average(np.ones((2, 3)), 1, None, False, np.zeros(2)).tolist() == [1, 1]
    a = np.array([[2.0, 1.0], [5.0, 2.0]])
    onp.testing.assert_allclose(np.linalg.eigvalsh(a, UPLO="U").asnumpy(), [1, 3], rtol=1e-5)
    assert np.linalg.matrix_rank(np.eye(2) * 0.01, tol=0.1).item() == 0
    actual = np.linalg.pinv(np.array([[2.0, 0], [0, 1e-3]]), rcond=0.1)
    onp.testing.assert_allclose(actual.asnumpy(), [[0.5, 0], [0, 0]], atol=1e-6)


def test_full_like_takes_part_in_graphs():
    x = np.ones((2, 3))
    x.attach_grad()
    with mx.autograd.record():
        actual = np.full_like(x, 2)
    actual.backward()
    assert actual.tolist() == [[2] * 3] * 2 and x.grad.tolist() == [[0] * 3] * 2


def test_types_follow_mxnet():
    flags, numbers = np.array([True, False], dtype=bool), np.array([3, -4])
    small = numbers.astype("int8")
    assert np.floor(flags).dtype == np.trunc(flags).dtype == onp.float16
    assert np.fix(small).dtype == onp.float16 and np.fix(small.astype("int64")).dtype == onp.float32
    assert np.copysign(small, small).dtype == np.ldexp(small, 2).dtype == onp.int8
    assert np.ldexp(small, 2).tolist() == [12, -16] and np.copysign(2, small).tolist() == [2, -2]
    assert (flags - 2).tolist() == [-1, -2] and (flags - 2).dtype == onp.int64
    assert (3 // flags).tolist() == [3, 0] and np.fmod(flags, 2).dtype == onp.int64
    assert np.where(flags, flags, 0).dtype == onp.bool_
    assert np.frexp(small)[0].dtype == onp.float16
    assert np.correlate(flags, flags).dtype == onp.bool_
    with mx.util.np_default_dtype(True):
        assert np.floor(flags).dtype == onp.bool_ and np.copysign(small, small).dtype == onp.float16
        assert np.where(flags, flags, 0).dtype == onp.int64


def test_bounds_beyond_int64():
    least, most = onp.iinfo("int64").min, onp.iinfo("int64").max
    array = np.array([least, 1, most], dtype="int64")
    assert np.clip(array, 0, None).tolist() == [0, 1, most]
    assert np.clip(array, None, 3).tolist() == [least, 1, 3]
    assert mx.nd.clip(array.as_nd_ndarray(), -1e30, 1e30).asnumpy().tolist() == [least, 1, most]


def test_multivariate_normal_of_halves():
    mean, cov = np.zeros(2, dtype="float16"), np.eye(2, dtype="float16")
    assert np.random.multivariate_normal(mean, cov, 3).dtype == onp.float16


def test_like_an_array_into_another():
    out = np.zeros((2, 3))
    assert np.ones_like(out, out=out) is out and out.sum().item() == 6
    assert np.zeros_like(out, out=out) is out and out.sum().item() == 0
