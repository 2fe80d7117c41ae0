"""mx.util's decorators for parameters of NumPy, and its switch for denormal numbers."""

import numpy as onp
import pytest

import mxcy as mx
from mxcy import np, util


def test_names_of_parameters():
    told = {}
    tell = lambda *args, **kwargs: told.update(kwargs) or args  # noqa: E731
    util.wrap_data_api_statical_func(tell)(1, ddof=2)
    assert told == {"correction": 2}
    told.clear()
    util.wrap_data_api_linalg_func(tell)(UPLO="U", tol=0.5)
    assert told == {"upper": True, "rtol": 0.5}
    told.clear()
    util.wrap_sort_functions(tell)(kind="stable")
    assert told == {"stable": True}
    with pytest.raises(NotImplementedError):
        util.wrap_sort_functions(tell)(order="x")
    assert util.wrap_ctx_to_device_func(lambda device: device)(ctx=3) == 3


def test_numpy_computes_a_decorated_function():
    @util.numpy_fallback
    def masked(a, b=None, *, parts=()):
        """What it does."""
        assert isinstance(a, onp.ndarray) and np is onp
        return [a[:, a[1] > 0], np.nonzero(b), {"parts": np.split(*parts)}["parts"]]

    actual = masked(
        np.array([[1, 2, 3], [3, 0, 5]]), b=np.array([1, 0, 2]), parts=(np.arange(4), [1])
    )
    assert masked.__doc__ == "What it does."
    assert type(actual[0]) is mx.np.ndarray and actual[0].tolist() == [[1, 3], [3, 5]]
    assert [part.tolist() for part in actual[2]] == [[0], [1, 2, 3]]
    with pytest.raises(ValueError, match="returned None"):
        util.numpy_fallback(lambda a: None)(np.ones(1))


def test_default_array():
    assert type(util.default_array([1, 2])) is mx.nd.NDArray
    with util.np_array():
        assert type(util.default_array([1, 2], mx.cpu(), "int8")) is mx.np.ndarray


@pytest.mark.parametrize("size", [1, 300_000])
def test_denormal_numbers(size):
    tiny = np.full(size, 1e-40)
    before = util.set_flush_denorms(True)
    try:
        assert not before and (tiny * 0.5).max().item() == 0
        assert util.set_flush_denorms(False)
        assert (tiny * 0.5).min().item() > 0
    finally:
        util.set_flush_denorms(before)
