"""Values that the array API standard specifies, for elementwise and other functions."""

import math

import numpy as onp
import pytest

import mxcy as mx
from tests.numpy.array_api.standard import FLOATS, INTEGERS, named

np = mx.np


inf, nan = math.inf, math.nan


REAL_FUNCTIONS = """abs acos acosh asin asinh atan atanh ceil cos cosh exp expm1 floor log log10
    log1p log2 reciprocal round sign sin sinh sqrt square tan tanh trunc"""


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("count", [1, 7])
@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("name", REAL_FUNCTIONS.split())
def test_ends_of_the_numbers(name, kind, count):
    ends = onp.asarray([inf, -inf, nan, 0.0, -0.0, 1.0, -1.0, 1e30, -1e30], kind)
    ends = onp.repeat(ends, count)
    if name in ("sin", "cos", "tan"):
        ends = ends[abs(ends) != onp.asarray(1e30, kind)]
    actual, wanted = named(name)(np.asarray(ends)).asnumpy(), getattr(onp, name)(ends)
    onp.testing.assert_allclose(actual, wanted, rtol=4 * onp.finfo(kind).eps)
    exact = onp.isin(wanted, [inf, -inf, 1, 0, -1])
    onp.testing.assert_array_equal(actual[exact], wanted[exact])
    assert (onp.signbit(actual) == onp.signbit(wanted))[wanted == 0].all()


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize(
    ("name", "x1", "x2", "wanted"),
    [
        ("floor_divide", 3.0, inf, 0.0),
        ("floor_divide", -3.0, inf, -1.0),
        ("floor_divide", 3.0, -inf, -1.0),
        ("floor_divide", -3.0, -inf, 0.0),
        ("floor_divide", inf, -2.0, -inf),
        ("floor_divide", inf, inf, nan),
        ("floor_divide", 0.0, -2.0, -0.0),
        ("floor_divide", -2.0, 0.0, -inf),
        ("floor_divide", 0.0, 0.0, nan),
        ("remainder", 3.0, -inf, -inf),
        ("remainder", -0.0, 2.0, 0.0),
        ("remainder", inf, 2.0, nan),
        ("remainder", 2.0, 0.0, nan),
        ("pow", nan, 0.0, 1.0),
        ("pow", 1.0, nan, 1.0),
        ("pow", -1.0, inf, 1.0),
        ("pow", -0.0, -1.0, -inf),
        ("pow", -inf, -3.0, -0.0),
        ("pow", -2.0, 0.5, nan),
        ("atan2", 0.0, -0.0, math.pi),
        ("atan2", -0.0, -1.0, -math.pi),
        ("atan2", inf, -inf, 3 * math.pi / 4),
        ("hypot", nan, inf, inf),
        ("hypot", 3.0, 4.0, 5.0),
        ("copysign", 3.0, -0.0, -3.0),
        ("maximum", nan, 1.0, nan),
        ("minimum", 1.0, nan, nan),
        ("logaddexp", nan, inf, nan),
        ("nextafter", 2.0, 2.0, 2.0),
        ("nextafter", 1.0, nan, nan),
        ("divide", 1.0, -0.0, -inf),
        ("multiply", inf, -0.0, nan),
    ],
)
def test_special_cases(name, x1, x2, wanted, kind):
    function = named(name)
    x, y = np.asarray([[x1]] * 5, dtype=kind), np.asarray(x2, dtype=kind)
    for actual in (function(x, y), function(x, x2), function(x1, np.full((5, 1), x2, dtype=kind))):
        assert actual.shape == (5, 1) and actual.dtype == kind
        tolerance = 4 * onp.finfo(kind).eps
        onp.testing.assert_allclose(actual.asnumpy(), onp.full((5, 1), wanted), rtol=tolerance)
        assert math.isnan(wanted) or (onp.signbit(actual.asnumpy()) == onp.signbit(wanted)).all()


def test_neighbours():
    for kind, bits in (("float32", "int32"), ("float64", "int64"), ("float16", "int16")):
        values = onp.asarray([1.5, -1.5, 0.0, -0.0, 1e-7, 6e4], kind)
        for towards in (-inf, 0.25, inf):
            actual = np.nextafter(np.asarray(values, dtype=kind), towards).asnumpy()
            wanted = onp.nextafter(values, onp.asarray(towards, kind))
            assert actual.view(bits).tolist() == wanted.view(bits).tolist()


def test_unsigned_numbers_of_64_bits():
    most = 2**64 - 1
    array = np.asarray([0, 3, most], dtype=np.uint64)
    assert (array >> 1).tolist() == np.bitwise_right_shift(array, 1).tolist() == [0, 1, most >> 1]
    assert (array > 3).tolist() == (3 < array).tolist() == [False, False, True]
    assert (array >= -1).all() and (array + 0).tolist() == [0, 3, most]
    assert np.bitwise_invert(array).tolist() == [most, most - 3, 0]
    assert np.clip(array, 1, None).tolist() == [1, 3, most]
    assert np.clip(np.asarray([-(2**63), 2**63 - 1]), None, None).tolist() == [-(2**63), 2**63 - 1]


def test_integers_compare_with_numbers_beyond_them():
    array = np.asarray([-1, 1], dtype=np.int8)
    assert (array < 2**70).all() and (array > -(2**70)).all() and not (array == 2**70).any()
    assert (2**70 > array).all() and (array != -(2**70)).all()
    with pytest.raises(OverflowError):
        array + 2**70


def test_large_integers_are_exact():
    start = 2**60 + 1
    assert np.arange(start, start + 9, 3).tolist() == [start, start + 3, start + 6]
    assert np.arange(start, start - 5, -(2**54), dtype=np.int64).tolist() == [start]
    assert np.arange(2**63 - 2, 2**63, dtype=np.uint64).tolist() == [2**63 - 2, 2**63 - 1]
    assert np.asarray([0, 2**64 - 1], dtype=np.uint64).tolist() == [0, 2**64 - 1]
    assert np.full((2,), 2**63 - 1).tolist() == [2**63 - 1] * 2
    assert np.linspace(-(2**62), 2**63, 2).tolist() == [-(2.0**62), 2.0**63]


def test_bits_of_booleans():
    array = np.asarray([True, False])
    assert (~array).tolist() == np.bitwise_invert(array).tolist() == [False, True]
    assert (array ^ True).tolist() == [False, True] and (array ^ True).dtype == np.bool
    with pytest.raises(mx.MXNetError, match="floating"):
        array & 1.5
    with pytest.raises(mx.MXNetError, match="no integer type"):
        np.asarray([1]) & np.asarray([1], dtype=np.uint64)


@pytest.mark.parametrize("correction", [0, 1, 1.0, 0.5, 2.5])
def test_corrections(correction):
    values = onp.asarray([[1.0, 2, 4], [3, 3, 7]])
    for name in ("std", "var"):
        wanted = getattr(onp, name)(values, axis=1, ddof=correction)
        actual = named(name)(np.asarray(values), axis=1, correction=correction)
        onp.testing.assert_allclose(actual.asnumpy(), wanted)
    assert np.var(np.asarray([1.0, 2]), correction=2).tolist() in (inf, nan)


def test_unique():
    array = np.asarray([[3, 1], [1, 2]])
    actual = np.unique_all(array)
    assert actual._fields == ("values", "indices", "inverse_indices", "counts")
    assert actual.values.tolist() == [1, 2, 3] and actual.counts.tolist() == [2, 1, 1]
    assert actual.values[actual.inverse_indices].tolist() == array.tolist()
    assert np.unique_counts(array)._fields == ("values", "counts")
    assert np.unique_inverse(array).inverse_indices.shape == (2, 2)
    assert np.unique_values(np.asarray([nan, nan])).shape == (2,)


def test_sums_so_far():
    array = np.asarray([[1, 2], [3, 4]], dtype=np.int8)
    assert np.cumulative_sum(array, axis=0, include_initial=True).tolist() == [
        [0, 0],
        [1, 2],
        [4, 6],
    ]
    actual = np.cumulative_prod(array, axis=-1, dtype=np.float32)
    assert actual.tolist() == [[1, 2], [3, 12]] and actual.dtype == np.float32


def test_choices_keep_booleans():
    mask = np.asarray([True, False])
    assert np.where(mask, mask, True).tolist() == [True, True]
    assert np.where(mask, mask, True).dtype == np.bool
    big = np.asarray([2**63 - 1, 5])
    assert np.where(mask, big, 2**62).tolist() == [2**63 - 1, 2**62]
    assert np.where(mask, 1, 0).dtype == np.int64


@pytest.mark.parametrize("kind", INTEGERS)
def test_small_integers_sort_and_join(kind):
    array = np.asarray([[3, 1, 2]], dtype=kind)
    assert np.sort(array, descending=True).tolist() == [[3, 2, 1]]
    assert np.argsort(array, stable=False).tolist() == [[1, 2, 0]]
    assert np.sort(np.zeros((0,), dtype=kind)).dtype == kind
    assert np.stack([array, array], axis=-1).shape == (1, 3, 2)
    assert np.repeat(array, np.asarray([0, 1, 2]), axis=1).tolist() == [[1, 2, 2]]
    assert np.repeat(array[:, :0], np.zeros(0, dtype=np.int64), axis=1).shape == (1, 0)
    assert np.take_along_axis(array, np.asarray([[2, 0]]), axis=1).tolist() == [[2, 3]]


def test_diagonals_beyond_any_matrix():
    matrix = np.ones((2, 3))
    for far in (2**31, 10**30):
        for k, lower in ((far, 1), (-far, 0)):
            assert (np.tril(matrix, k=k) == lower).all() and (np.triu(matrix, k=k) != lower).all()
            assert not np.eye(2, 3, k=k).any()
            assert np.linalg.trace(matrix, offset=k).item() == 0


def test_axes_beyond_the_last():
    for name in ("cumulative_sum", "cumulative_prod", "diff", "sort", "flip", "sum", "argmax"):
        for axis in (2, -3):
            with pytest.raises(IndexError, match="axis"):
                named(name)(np.ones((2, 3)), axis=axis)
            with pytest.raises(mx.MXNetError, match="axis"):
                named(name)(np.ones((2, 3)), axis=axis)
    for axis in (3, -4):
        with pytest.raises(IndexError, match="axis"):
            np.expand_dims(np.ones((2, 3)), axis=axis)
    with pytest.raises(ValueError, match="size not equal to one"):
        np.squeeze(np.ones((2, 3)), 0)
