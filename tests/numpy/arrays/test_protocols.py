"""NumPy functions on `mx.np` arrays, and functions that fall back to NumPy."""

import logging

import numpy as onp
import pytest

import mxcy as mx

np = mx.np


@pytest.fixture(autouse=True)
def quiet(caplog):
    with caplog.at_level(logging.ERROR):
        yield


def test_ufuncs_give_arrays_of_mx():
    array, source = np.array([1.0, 4]), onp.array([1.0, 4])
    for actual in (onp.sqrt(array), onp.add(array, 1), source * array, array * source):
        assert type(actual) is np.ndarray
    assert onp.sqrt(array).dtype == "float32" and (source + array).dtype == "float64"
    assert (onp.float64(2) * array).dtype == "float32"


def test_in_place_keeps_the_class():
    array, source = np.array([1.0, 4]), onp.array([1.0, 4])
    source += array
    assert type(source) is onp.ndarray and source.tolist() == [2, 8]
    same = array
    array += source
    assert array is same and array.tolist() == [3, 12] and array.dtype == "float32"
    onp.multiply(source, 2, out=array)
    assert array.tolist() == [4, 16]


def test_functions_of_numpy():
    array = np.array([[1.0, 2], [3, 4]])
    assert type(onp.sum(array, axis=0)) is np.ndarray
    assert onp.concatenate([array, array]).shape == (4, 2)
    assert onp.add.reduce(array, axis=1).tolist() == [3, 7]
    assert type(onp.modf(array)[0]) is np.ndarray


def test_gradients_flow_through_functions_of_numpy():
    array = np.array([1.0, 4])
    array.attach_grad()
    with mx.autograd.record():
        loss = onp.sum(onp.square(array))
    loss.backward()
    assert array.grad.tolist() == [2, 8]


def test_functions_that_fall_back_to_numpy():
    line = np.polyfit(np.array([0.0, 1, 2]), np.array([1.0, 3, 5]), 1)
    onp.testing.assert_allclose(line.asnumpy(), [2, 1], atol=1e-6)
    assert type(line) is np.ndarray
    public = {name for name in np.fallback.__all__ if not name.startswith("_")}
    assert public <= set(dir(np)) and np.fallback.roots is np.roots
    assert np.fallback.__version__ == onp.__version__
    assert {"cond", "multi_dot"} <= set(np.fallback_linalg.__all__) <= set(dir(np.linalg))
    with mx.autograd.record(), pytest.raises(ValueError, match="cannot be recorded"):
        np.roots(np.array([1.0, -1]))


def test_each_fallback_warns_once(caplog):
    with caplog.at_level(logging.WARNING):
        onp.nextafter.outer(np.ones(1), np.ones(1))
        onp.nextafter.outer(np.ones(1), np.ones(1))
    assert len([r for r in caplog.records if "nextafter" in r.getMessage()]) <= 1


def test_which_functions_are_answered():
    from mxcy import numpy_dispatch_protocol as protocol

    assert "exp" in protocol._NUMPY_ARRAY_UFUNC_LIST
    assert "concatenate" in protocol._NUMPY_ARRAY_FUNCTION_LIST


def test_decorators_of_programs_leave_functions_as_they_are():
    from mxcy import numpy_dispatch_protocol as protocol

    for decorate in (protocol.with_array_function_protocol, protocol.with_array_ufunc_protocol):
        assert decorate(onp.dot) is onp.dot


def test_functions_are_found_by_the_names_of_their_operators():
    from mxcy.numpy_op_signature import _get_builtin_op

    assert _get_builtin_op("_npi_add")(np.ones(2), 1).tolist() == [2, 2]
    assert _get_builtin_op("_npx_relu")(np.full(2, -1.0)).tolist() == [0, 0]
    assert _get_builtin_op("_npi_no_such_operator") is None


def test_names_that_mxnet_answers_are_there():
    from mxcy import numpy_dispatch_protocol as protocol

    for name in [*protocol._NUMPY_ARRAY_UFUNC_LIST, *protocol._NUMPY_ARRAY_FUNCTION_LIST]:
        home, _, own = name.rpartition(".")
        assert callable(getattr(np.linalg if home else np, own)), name


def test_what_programs_of_numpy_use_is_named_where_it_is_missing():
    with pytest.raises(AttributeError, match=r"default_rng'; np.random.seed\(n\) seeds"):
        np.random.default_rng(0)
    with pytest.raises(AttributeError, match="'reduce'"):
        np.add.reduce(np.ones(2))
    with pytest.raises(AttributeError, match="'something'"):
        np.add.something(1)
    with pytest.raises(TypeError, match="got numpy.ndarray"):
        np.add(np.ones(2), np.ones(2), out=onp.ones(2))
    with pytest.raises(mx.MXNetError, match=r"in \[0, 1\], got 1.5"):
        np.quantile(np.ones(2), 1.5)
