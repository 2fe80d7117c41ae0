"""Every function implemented by an operator, against NumPy's function of the same name.

Driven by the records: a new function with a known signature needs no line here.
"""

import itertools

import numpy as onp
import pytest

import mxcy as mx
from mxcy.ops.core import homes
from mxcy.ops.core.public import parameters

np = mx.np
TYPES = ("bool", "int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64")
VALUES = (-3, -1, 0, 1, 2, 5)
LETTERS = {"i": "int32", "b": "bool", "h": "float16", "f": "float32", "d": "float64"}
#: functions that NumPy names differently or lacks (`fix` is deprecated)
RENAMED = {"bitwise_invert": "invert", "alltrue": "all", "sometrue": "any", "product": "prod"}
RENAMED["fix"] = "trunc"


def family(names):
    """(name, numpy function) of the functions with exactly these parameters."""
    for (home, name), (_, public) in homes.numpy_homes().items():
        if home == "" and [n for n, _ in parameters(public.signature)][: len(names)] == names:
            function = getattr(onp, RENAMED.get(name, name), None)
            if function is not None:
                yield name, function


UNARY = dict(family(["x", "out"]))
BINARY = dict(family(["x1", "x2", "out"]))
REDUCTIONS = dict(family(["a", "axis"]))
for _name in ("squeeze", "transpose", "permute_dims"):
    REDUCTIONS.pop(_name, None)


@pytest.fixture
def numpy_types():
    before = mx.util.set_np_default_dtype(True)
    yield
    mx.util.set_np_default_dtype(before)


def values(dtype, seed=0):
    kind = onp.dtype(dtype)
    source = onp.random.RandomState(seed).choice(VALUES, (3, 4))
    if kind.kind == "u":
        source = abs(source)
    return (source + (0.25 if kind.kind == "f" else 0)).astype(kind)


def tolerance(dtype):
    return {"e": 2e-3, "f": 2e-6}.get(onp.dtype(dtype).char, 1e-12)


def agree(actual, expected, types=True):
    assert isinstance(actual, np.ndarray)
    expected = onp.asarray(expected)
    assert actual.shape == expected.shape
    if types:
        assert actual.dtype == expected.dtype
    rtol = tolerance(actual.dtype)
    onp.testing.assert_allclose(actual.asnumpy(), expected, rtol=rtol, atol=rtol)


def by_numpy(function, *arrays, **keywords):
    """NumPy's result; None if it rejects these types."""
    with onp.errstate(all="ignore"):
        try:
            return function(*arrays, **keywords)
        except TypeError:
            return None


def test_there_are_functions_of_all_families():
    assert len(UNARY) > 40 and len(BINARY) > 30 and len(REDUCTIONS) >= 7


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", TYPES)
def test_functions_of_one_array(numpy_types, name, dtype):
    array = values(dtype)
    expected = by_numpy(UNARY[name], array)
    if expected is None or onp.dtype(dtype) == bool:
        return
    if onp.dtype(dtype).kind in "iu" and name in ("fabs", "fix", "isposinf", "isneginf", "signbit"):
        return agree(getattr(np, name)(np.array(array)), expected, types=False)
    agree(getattr(np, name)(np.array(array)), expected)


@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_arrays(numpy_types, name):
    for left, right in itertools.product(TYPES, TYPES):
        lhs, rhs = values(left), values(right, 1)
        if name in ("ldexp", "power", "pow") and onp.dtype(right).kind not in "u":
            rhs = onp.abs(rhs) if rhs.dtype.kind == "i" else rhs
        expected = by_numpy(BINARY[name], lhs, rhs)
        with mx.util.np_default_dtype(True):
            try:
                actual = getattr(np, name)(np.array(lhs), np.array(rhs))
            except mx.MXNetError:
                assert expected is None or "b" in lhs.dtype.kind + rhs.dtype.kind
                continue
        if expected is None:
            continue
        if name in DIVISIONS or expected.dtype.kind in "biu" and "b" in (lhs.dtype.kind,):
            picked = onp.isfinite(onp.asarray(rhs, float)) & (onp.asarray(rhs) != 0)
            rtol = tolerance(actual.dtype)
            onp.testing.assert_allclose(
                actual.asnumpy()[picked], expected[picked], rtol=rtol, atol=rtol
            )
        elif name == "ldexp":
            agree(actual, expected, types=False)
        else:
            agree(actual, expected)


DIVISIONS = ("floor_divide", "mod", "remainder", "fmod", "true_divide", "divide", "copysign")


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize(
    "shapes", [((3, 1), (4,)), ((), (2, 3)), ((2, 0), (1,)), ((5, 1, 3), (4, 3))]
)
def test_broadcasting(name, shapes):
    lhs, rhs = (onp.random.RandomState(7).randint(1, 6, shape) for shape in shapes)
    expected = BINARY[name](lhs, rhs)
    agree(getattr(np, name)(np.array(lhs, "int64"), np.array(rhs, "int64")), expected, types=False)


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("dtype", ["int32", "float32"])
@pytest.mark.parametrize("number", [3, 2.5])
def test_scalar_and_array_operands(name, dtype, number):
    array = abs(values(dtype)) + onp.dtype(dtype).type(1)
    for order in (1, -1):
        expected = by_numpy(BINARY[name], *(array, number)[::order])
        if expected is None:
            continue
        actual = getattr(np, name)(*(np.array(array, dtype), number)[::order])
        assert isinstance(actual, np.ndarray)
        onp.testing.assert_allclose(actual.asnumpy(), expected, rtol=1e-5)


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1), ()])
def test_reductions(numpy_types, name, dtype, axis):
    array = values(dtype)
    function = REDUCTIONS[name]
    for keepdims in (False, True):
        expected = by_numpy(function, array, axis=axis, keepdims=keepdims)
        if expected is None:
            continue
        actual = getattr(np, name)(np.array(array), axis=axis, keepdims=keepdims)
        agree(actual, expected)


def test_types_of_sums_of_arrays():
    """A floating type takes precedence over integer types."""
    rows = {
        "bool": "bool int8 uint8 int16 int32 int64 float16 float32 float64",
        "int8": "int8 int8 int16 int16 int32 int64 float16 float32 float64",
        "uint8": "uint8 int16 uint8 int16 int32 int64 float16 float32 float64",
        "int16": "int16 int16 int16 int16 int32 int64 float16 float32 float64",
        "int32": "int32 int32 int32 int32 int32 int64 float16 float32 float64",
        "int64": "int64 int64 int64 int64 int64 int64 float16 float32 float64",
        "float16": "float16 float16 float16 float16 float16 float16 float16 float32 float64",
        "float32": "float32 float32 float32 float32 float32 float32 float32 float32 float64",
        "float64": " ".join(["float64"] * 9),
    }
    for left, row in rows.items():
        for right, expected in zip(TYPES, row.split(), strict=True):
            total = np.ones(2, left) + np.ones(2, right)
            assert total.dtype == expected, (left, right)


@pytest.mark.parametrize(
    ("expression", "dtype"),
    [
        ("i + 2", "int32"),
        ("i + True", "int32"),
        ("i + 2.5", "float64"),
        ("i / 2", "float32"),
        ("i / i", "float32"),
        ("b + 2", "int64"),
        ("b + b", "bool"),
        ("h + 2.5", "float16"),
        ("f + onp.float64(2.5)", "float32"),
        ("2.5 * f", "float32"),
        ("i > 2.5", "bool"),
        ("b & True", "bool"),
        ("np.exp(i)", "float32"),
        ("np.exp(b)", "float16"),
        ("np.floor(i)", "int32"),
        ("np.sum(b)", "int64"),
        ("np.sum(i)", "int32"),
        ("np.mean(i)", "float32"),
        ("np.mean(d)", "float64"),
    ],
)
def test_types_of_mxnet(expression, dtype):
    names = {"np": np, "onp": onp}
    names.update({letter: np.ones(3, kind) for letter, kind in LETTERS.items()})
    assert eval(expression, names).dtype == dtype


@pytest.mark.parametrize(
    ("expression", "dtype"),
    [
        ("i + 2.5", "float64"),
        ("i / 2", "float64"),
        ("f + onp.float64(2.5)", "float64"),
        ("b + True", "bool"),
        ("i + f", "float64"),
        ("np.exp(i)", "float64"),
        ("np.sum(i)", "int64"),
        ("np.mean(i)", "float64"),
        ("np.zeros(2)", "float64"),
    ],
)
def test_types_of_numpy(numpy_types, expression, dtype):
    names = {"np": np, "onp": onp}
    names.update({letter: np.ones(3, kind) for letter, kind in LETTERS.items()})
    assert eval(expression, names).dtype == dtype


def test_division_by_zero_and_infinity():
    zeros = np.array([0, 0, 0], "int32")
    assert (np.array([3, -3, 0], "int32") // zeros).tolist() == [0, 0, 0]
    assert (np.array([3, -3, 0], "int32") % zeros).tolist() == [0, 0, 0]
    actual = np.floor_divide(np.array([1.0, -1, 3, -3]), np.array([onp.inf, onp.inf, 0, 0]))
    assert actual.tolist() == [0, -1, onp.inf, -onp.inf]
    assert onp.isnan((np.array([1.0]) % 0).item())
    assert (np.array([2, 1, -1, -1], "int32") ** np.array([-1, -1, -1, -2], "int32")).tolist() == [
        0,
        1,
        -1,
        1,
    ]
    assert (np.array([1, -1], "int8") << 9).tolist() == [0, 0]
    assert (np.array([1, -1], "int8") >> 9).tolist() == [0, -1]
    assert np.sign(np.array([onp.nan, -2, 0])).tolist()[1:] == [-1, 0]


def test_out_takes_results():
    array = np.array([1.0, 2, 3])
    out = np.zeros(3)
    assert np.exp(array, out=out) is out and np.exp(array, out=(out,)) is out
    onp.testing.assert_allclose(out.asnumpy(), onp.exp([1, 2, 3]), rtol=1e-6)
    wide = np.zeros(3, "float64")
    np.add(array, 1, out=wide)
    assert wide.tolist() == [2, 3, 4] and wide.dtype == "float64"
    with pytest.raises(mx.MXNetError):
        np.add(array, 1.5, out=np.zeros(3, "int32"))
    with pytest.raises(mx.MXNetError):
        np.add(array, 1, out=np.zeros(4))
    np.add(array, array, out=array)
    assert array.tolist() == [2, 4, 6]


def test_where_picks_elements():
    array, mask = np.array([1.0, 4, 9]), np.array([1.0, 0, 1]) > 0
    out = np.array([7.0, 7, 7])
    np.sqrt(array, out=out, where=mask)
    assert out.tolist() == [1, 7, 3]
    assert np.sum(array, where=mask).item() == 10
    assert np.sum(array, initial=5).item() == 19
    assert np.max(array, where=mask, initial=2).item() == 9
    assert np.mean(array, where=mask).item() == 5


@pytest.mark.parametrize(
    ("keywords", "error"),
    [
        ({"where": False}, NotImplementedError),
        ({"subok": False}, NotImplementedError),
        ({"dtype": "int8"}, NotImplementedError),
        ({"casting": "safe"}, NotImplementedError),
        ({"casting": "mxnet"}, TypeError),
        ({"dtype": "abcdefg"}, TypeError),
        ({"anything": 1}, TypeError),
    ],
)
def test_keywords_that_are_refused(keywords, error):
    with pytest.raises(error):
        np.exp(np.ones(3), **keywords)
    with pytest.raises(error):
        np.add(np.ones(3), np.ones(3), **keywords)


def test_dtype_computes_in_another_type():
    assert np.exp(np.ones(3), dtype="float64").dtype == "float64"
    assert np.add(np.ones(3, "int8"), 1, dtype="float32").dtype == "float32"


def test_numbers_alone_are_numpys():
    assert type(np.exp(2.0)) is onp.float64 and np.add(2, 3) == 5


@pytest.mark.parametrize("name", ["relu", "sigmoid", "erf", "digamma", "log_softmax"])
def test_numbers_that_numpy_has_no_function_for_are_arrays(name):
    function = getattr(mx.npx, name)
    assert function(0.25).item() == function(np.array(0.25)).item()


def test_operands_of_other_types():
    array = np.array([1.0, 2])
    assert (array + [1, 2]).tolist() == [2, 4]
    assert (onp.array([1.0, 2]) * array).tolist() == [1, 4]
    assert isinstance(onp.array([1.0, 2]) * array, np.ndarray)
    assert isinstance(mx.nd.ones(2) + array, np.ndarray)
    assert isinstance(array + mx.nd.ones(2), np.ndarray)
    assert isinstance(np.exp(mx.nd.ones(2)), np.ndarray)
    assert isinstance(mx.nd.exp(array), np.ndarray)
    assert (array == None).tolist() == [False, False]  # noqa: E711  what is tested
    assert (array != "a").tolist() == [True, True]
    with pytest.raises(TypeError):
        array + object()
    big = np.array([1], "int64") + (2**60 + 1)
    assert big.item() == 2**60 + 2
    assert divmod(np.array([7.0]), 2)[1].item() == 1


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_floors_of_the_least_integer(dtype):
    least = onp.iinfo(dtype).min
    actual = np.floor_divide(np.array([least] * 4, dtype), np.array([1, 2, 3, -3], dtype))
    assert actual.asnumpy().tolist() == [least // 1, least // 2, least // 3, least // -3]
