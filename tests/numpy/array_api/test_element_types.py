"""Element types in the array API standard: promotion, casts, limits."""

import numpy as onp
import pytest

import mxcy as mx
from tests.numpy.array_api.standard import ALL, COMPLEX, FLOATS, INTEGERS, REAL, named

np = mx.np


def meeting(first, second):
    """The standard's promotion of two types, None if undefined."""
    kinds = {onp.dtype(name).kind for name in (first, second)}
    actual = onp.result_type(first, second)
    if kinds not in ({"b"}, {"i"}, {"u"}, {"i", "u"}, {"f"}) or kinds == {"i", "u"} > {actual.kind}:
        return None
    return None if actual.kind == "f" and "f" not in kinds else actual


@pytest.mark.parametrize("first", ALL)
def test_promotion(first):
    for second in ALL:
        wanted = meeting(first, second)
        if wanted is None:
            continue
        x, y = np.ones((2, 1), dtype=first), np.ones(3, dtype=second)
        assert np.result_type(x, y.dtype) == wanted
        for actual in (np.concat([np.ravel(x), y]), np.where(np.asarray(True), x, y)):
            assert actual.dtype == wanted
        names = (
            "logical_and equal" if first == "bool" else "add multiply subtract maximum remainder"
        )
        for name in names.split():
            actual = named(name)(x, y)
            assert actual.shape == (2, 3)
            assert actual.dtype == (wanted if first != "bool" else onp.bool_)
        assert (x == y).dtype == onp.bool_
        if wanted.kind in "biu":
            assert (x & y).dtype == np.bitwise_xor(x, y).dtype == wanted
        if wanted.kind == "f":
            for name in "divide atan2 hypot copysign nextafter logaddexp".split():
                assert named(name)(x, y).dtype == wanted


@pytest.mark.parametrize("kind", ALL)
def test_python_numbers_are_weak(kind):
    array = np.ones(3, dtype=kind)
    if kind == "bool":
        assert (array & True).dtype == (True | array).dtype == np.bool
        return
    for actual in (array + 1, 2 * array, array - True, np.maximum(array, 1), np.clip(array, 0, 1)):
        assert actual.dtype == kind
    for actual in (np.where(array > 0, array, 1), np.where(array > 0, 1, array)):
        assert actual.dtype == kind
    assert np.result_type(array, 1) == kind
    if kind in FLOATS:
        assert (array / 2.5).dtype == np.pow(2, array).dtype == np.atan2(array, 1.0).dtype == kind


@pytest.mark.parametrize("kind", REAL)
def test_in_place_keeps_the_type(kind):
    array = same = np.asarray([[6, 7], [8, 9]], dtype=kind)
    array += np.asarray([1, 1], dtype=kind)
    array *= 3
    array //= 2
    array -= True
    assert array is same and array.dtype == kind and array.tolist() == [[9, 11], [12, 14]]
    with pytest.raises(mx.MXNetError):
        array += np.ones((3, 2, 2), dtype=kind)
    if kind in INTEGERS:
        with pytest.raises(mx.MXNetError, match="same_kind"):
            array += 0.5


@pytest.mark.parametrize("kind", REAL)
def test_accumulation(kind):
    array = np.ones((2, 3), dtype=kind)
    whole = {"i": np.int64, "u": np.uint64, "f": getattr(np, kind)}
    wanted = whole[onp.dtype(kind).kind]
    assert np.sum(array).dtype == np.prod(array, axis=0).dtype == wanted
    assert np.cumulative_sum(array, axis=1).dtype == np.linalg.trace(array).dtype == wanted
    assert np.sum(array, dtype=np.float32).dtype == np.float32
    assert np.linalg.trace(array, dtype=np.float32).tolist() == 2
    assert np.max(array).dtype == kind and np.argmax(array).dtype == np.int64
    assert np.count_nonzero(array, axis=(0, 1), keepdims=True).tolist() == [[6]]


def test_isdtype():
    kinds = {
        "bool": "bool",
        "signed integer": "int8 int16 int32 int64",
        "unsigned integer": "uint8 uint16 uint32 uint64",
        "integral": " ".join(INTEGERS),
        "real floating": "float16 float32 float64",
        "numeric": " ".join((*REAL, "float16", *COMPLEX)),
        "complex floating": "complex64 complex128",
    }
    for kind, names in kinds.items():
        for name in (*ALL, "float16", *COMPLEX):
            assert np.isdtype(getattr(np, name), kind) is (name in names.split())
    assert np.isdtype(np.int8, ("bool", np.int8)) and not np.isdtype(np.int8, (np.int16,))
    with pytest.raises(ValueError, match="kind is one of"):
        np.isdtype(np.int8, "integer")


def test_astype():
    array = np.asarray([0.5, -1.5, 3])
    assert np.astype(array, np.int8).tolist() == [0, -1, 3]
    assert np.astype(array, np.float64, copy=False) is array
    copied = np.astype(array, np.float64, device=mx.cpu())
    copied[0] = 9
    assert array.tolist() == [0.5, -1.5, 3]
    for kind in INTEGERS:
        assert np.astype(np.asarray([1, 0]), getattr(np, kind)).dtype == kind


def test_limits():
    limits = np.finfo(np.float32)
    for name in ("eps", "max", "min", "smallest_normal"):
        assert type(getattr(limits, name)) is float
        assert getattr(limits, name) == getattr(onp.finfo("float32"), name)
    assert (limits.bits, limits.dtype, limits.nmant) == (32, np.float32, 23)
    assert np.finfo(np.ones(1)) == np.finfo("float64") != limits
    assert np.iinfo(np.uint8).max == np.iinfo(np.ones(1, dtype=np.uint8)).max == 255
    with pytest.raises(ValueError):
        np.finfo(np.int8)
