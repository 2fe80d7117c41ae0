"""Comparing arrays."""

import functools

import numpy as np

from mxcy.ndarray import NDArray
from mxcy.test_utils.tolerances import get_tols

__all__ = [
    "almost_equal",
    "assert_allclose",
    "assert_almost_equal",
    "assert_almost_equal_ignore_nan",
    "assert_almost_equal_with_err",
    "assert_exception",
    "checkShapes",
    "compare_ndarray_tuple",
    "locationError",
    "retry",
    "same",
    "same_array",
]


def _plain(value):
    return value.asnumpy() if hasattr(value, "asnumpy") else np.asarray(value)


def same(a, b):
    """Return whether two arrays have the same shape and elements."""
    return np.array_equal(_plain(a), _plain(b))


def same_array(array1, array2):
    """Return whether two NDArrays share memory."""
    if array1.shape != array2.shape or array1.size == 0:
        return False
    before = array1.asnumpy()
    array1[:] = before + 1
    shared = np.array_equal(array2.asnumpy(), before + 1)
    array1[:] = before
    return shared and np.array_equal(array2.asnumpy(), before)


def checkShapes(a, b):
    """Raise AssertionError unless two arrays have the same shape."""
    if a.shape != b.shape:
        raise AssertionError(
            f"Items are not equal: a.shape = {a.shape} and b.shape = {b.shape} are not equal"
        )


def almost_equal(a, b, rtol=None, atol=None, equal_nan=False, use_broadcast=True):
    """Return whether two arrays are equal within tolerances; see `assert_almost_equal`."""
    a, b = _plain(a), _plain(b)
    if not use_broadcast:
        checkShapes(a, b)
    rtol, atol = get_tols(a, b, rtol, atol)
    return np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)


def _violations(a, b, rtol, atol):
    """Return each element's difference as a multiple of its tolerance."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        return np.abs(a - b) / (atol + rtol * np.abs(b) + 1e-20)


def locationError(a, b, index, names, maxError=False):
    """Describe one element of two arrays in text."""
    which = " maximum" if maxError else ""
    return (
        f"Location of{which} error: {index}, {names[0]}={a[index]:.8f}, {names[1]}={b[index]:.8f}"
    )


def _report(a, b, rtol, atol, names, mismatches, wrong):
    """Return the message of `assert_almost_equal`; print the largest errors first."""
    a, b = np.broadcast_arrays(a, b)
    a64, b64 = (np.asarray(x, np.float64) for x in (a, b))
    violation = _violations(a64, b64, rtol, atol)
    order = np.argsort(-np.nan_to_num(violation, nan=np.inf), axis=None, kind="stable")
    places = [tuple(map(int, np.unravel_index(i, a.shape))) for i in order]
    print(f"\n*** Maximum errors for vector of size {a.size}:  rtol={rtol}, atol={atol}\n")
    for number, place in enumerate(places[: min(mismatches[1], wrong)], 1):
        where = locationError(a64, b64, place, names)
        print(f"{number:3d}: Error {violation[place]:f}  {where}")
    with np.printoptions(threshold=4, suppress=True):
        return (
            f"\nItems are not equal:\nError {violation[places[0]]:f} exceeds tolerance "
            f"rtol={rtol:e}, atol={atol:e} (mismatch {100 * wrong / a.size:f}%).\n"
            f"{locationError(a64, b64, places[0], names, maxError=True)}\n"
            f" ACTUAL: {a!r}\n DESIRED: {b!r}"
        )


def assert_almost_equal(
    a,
    b,
    rtol=None,
    atol=None,
    names=("a", "b"),
    equal_nan=False,
    use_broadcast=True,
    mismatches=(10, 10),
):
    """Assert that two arrays are equal within tolerances: ``|a - b| <= atol + rtol * |b|``.

    Parameters
    ----------
    a, b : NDArray, numpy.ndarray or number
        Arrays to compare; `b` is the expected one.
    rtol, atol : float or dict of numpy.dtype to float, optional
        Tolerances; by default those of the less precise dtype.
    names : tuple of str
        Names of the arrays in messages.
    equal_nan : bool
        Whether NaNs are equal.
    use_broadcast : bool
        Whether the arrays may broadcast.
    mismatches : tuple of int
        The second number is the maximum number of differences to print.

    Raises
    ------
    AssertionError
        If they differ.
    """
    assert_almost_equal_with_err(
        a, b, rtol, atol, None, names, equal_nan, mismatches, use_broadcast=use_broadcast
    )


def assert_almost_equal_with_err(
    a,
    b,
    rtol=None,
    atol=None,
    etol=None,
    names=("a", "b"),
    equal_nan=False,
    mismatches=(10, 10),
    use_broadcast=True,
):
    """Assert as `assert_almost_equal`, but let a fraction `etol` of the elements differ."""
    a, b = _plain(a), _plain(b)
    if not use_broadcast:
        checkShapes(a, b)
    rtol, atol = get_tols(a, b, rtol, atol)
    close = np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)
    wrong = close.size - int(np.count_nonzero(close))
    if wrong > (etol or 0) * close.size:
        raise AssertionError(_report(a, b, rtol, atol, names, mismatches, wrong))


def assert_allclose(a, b, rtol=1e-07, atol=0, equal_nan=True):
    """Assert as `assert_almost_equal`, with NumPy's default tolerances."""
    assert_almost_equal(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)


def assert_almost_equal_ignore_nan(a, b, rtol=None, atol=None, names=("a", "b")):
    """Assert as `assert_almost_equal` for the elements that are NaN in neither array."""
    a, b = _plain(a).copy(), _plain(b).copy()
    unknown = np.logical_or(np.isnan(a), np.isnan(b))
    a[unknown] = b[unknown] = 0
    assert_almost_equal(a, b, rtol, atol, names)


def compare_ndarray_tuple(t1, t2, rtol=None, atol=None):
    """Assert as `assert_almost_equal` for arrays in nested tuples; None equals anything."""
    if t1 is None or t2 is None:
        return
    if isinstance(t1, tuple):
        for item1, item2 in zip(t1, t2, strict=True):
            compare_ndarray_tuple(item1, item2, rtol, atol)
    else:
        assert isinstance(t1, NDArray), f"expected an NDArray, got {type(t1).__name__}"
        assert_almost_equal(t1, t2, rtol=rtol, atol=atol)


def assert_exception(f, exception_type, *args, **kwargs):
    """Assert that a call raises an exception.

    Parameters
    ----------
    f : callable
        Function to call with ``*args, **kwargs``.
    exception_type : type
        Expected exception.
    """
    try:
        f(*args, **kwargs)
    except exception_type:
        return
    raise AssertionError(f"{exception_type.__name__} was not raised")


def retry(n):
    """Return a decorator that retries a failing test, up to `n` runs."""
    assert n > 0, "a test has to run at least once"

    def decorate(test):
        @functools.wraps(test)
        def repeated(*args, **kwargs):
            for _ in range(n - 1):
                try:
                    return test(*args, **kwargs)
                except AssertionError:
                    continue
            return test(*args, **kwargs)

        return repeated

    return decorate
