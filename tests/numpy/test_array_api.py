"""The array API standard 2024.12: names, signatures, element types, and what arrays must do."""

import inspect
import itertools
import math

import numpy as onp
import pytest

import mxcy as mx

np = mx.np

#: the standard's parameters -> its functions that have them
SIGNATURES = {
    "x, /": """abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1
        floor imag isfinite isinf isnan log log1p log2 log10 logical_not matrix_transpose
        negative nonzero positive real reciprocal round sign signbit sin sinh sqrt square
        tan tanh trunc unique_all unique_counts unique_inverse unique_values linalg.det
        linalg.eigh linalg.eigvalsh linalg.inv linalg.matrix_transpose linalg.slogdet
        linalg.svdvals finfo iinfo""",
    "x1, x2, /": """add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift
        bitwise_xor can_cast copysign divide equal floor_divide greater greater_equal hypot isdtype
        less less_equal logaddexp logical_and logical_or logical_xor matmul maximum minimum multiply
        nextafter not_equal pow remainder repeat subtract tile linalg.matmul linalg.matrix_power
        linalg.outer linalg.solve""",
    "x, /, *, axis, keepdims": "all any argmax argmin count_nonzero max mean min",
    "x, /, *, axis, dtype, keepdims": "prod sum",
    "x, /, *, axis, correction, keepdims": "std var",
    "x, /, *, axis, dtype, include_initial": "cumulative_prod cumulative_sum",
    "x, /, *, axis, descending, stable": "argsort sort",
    "x, /, *, axis": "concat flip stack unstack",
    "x1, x2, /, *, axis": "take take_along_axis vecdot linalg.cross linalg.vecdot",
    "x1, x2, /, *, axes": "tensordot linalg.tensordot",
    "x, /, *, axis, n, prepend, append": "diff",
    "x, /, shape": "broadcast_to",
    "x, /, shape, *, copy": "reshape",
    "x, /, axis": "expand_dims squeeze",
    "x, /, axes": "permute_dims",
    "x, /, shift, *, axis": "roll",
    "x, /, min, max": "clip",
    "x, /, *, k": "tril triu",
    "x, source, destination, /": "moveaxis where",
    "x1, x2, /, *, side, sorter": "searchsorted",
    "x, dtype, /, *, copy, device": "astype",
    "obj, /, *, dtype, device, copy": "asarray",
    "start, /, stop, step, *, dtype, device": "arange",
    "start, stop, /, num, *, dtype, device, endpoint": "linspace",
    "shape, *, dtype, device": "empty ones zeros",
    "x, /, *, dtype, device": "empty_like ones_like zeros_like",
    "shape, fill_value, *, dtype, device": "full",
    "x, /, fill_value, *, dtype, device": "full_like",
    "n_rows, n_cols, /, *, k, dtype, device": "eye",
    "x, /, *, device, copy": "from_dlpack",
    "*arrays": "broadcast_arrays result_type",
    "*arrays, indexing": "meshgrid",
    "x, /, *, upper": "linalg.cholesky",
    "x, /, *, offset": "linalg.diagonal",
    "x, /, *, offset, dtype": "linalg.trace",
    "x, /, *, keepdims, ord": "linalg.matrix_norm",
    "x, /, *, axis, keepdims, ord": "linalg.vector_norm",
    "x, /, *, rtol": "linalg.matrix_rank linalg.pinv",
    "x, /, *, mode": "linalg.qr",
    "x, /, *, full_matrices": "linalg.svd",
    "x, /, *, n, axis, norm": "fft.fft fft.ifft fft.rfft fft.irfft fft.hfft fft.ihfft",
    "x, /, *, s, axes, norm": "fft.fftn fft.ifftn fft.rfftn fft.irfftn",
    "n, /, *, d, dtype, device": "fft.fftfreq fft.rfftfreq",
    "x, /, *, axes": "fft.fftshift fft.ifftshift",
}
METHODS = """abs add and array_namespace bool complex dlpack dlpack_device eq float floordiv ge
    getitem gt index int invert le len lshift lt matmul mod mul ne neg or pos pow rshift
    setitem sub truediv xor iadd isub imul itruediv ifloordiv ipow imatmul imod iand ior
    ixor ilshift irshift radd rsub rmul rtruediv rfloordiv rpow rmatmul rmod rand ror
    rxor rlshift rrshift"""
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
REAL = (*INTEGERS, *FLOATS)
ALL = ("bool", *REAL)


@pytest.fixture(autouse=True)
def numpy_types():
    """NumPy's element types, which the standard wants."""
    with mx.util.np_default_dtype(True):
        yield


def named(name):
    found = np
    for part in name.split("."):
        found = getattr(found, part)
    return found


# --- names and signatures ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "wanted"),
    [(name, wanted) for wanted, names in SIGNATURES.items() for name in names.split()],
)
def test_signature(name, wanted):
    scope = {}
    exec(f"def f({wanted}): pass", scope)
    own = list(inspect.signature(named(name)).parameters.values())
    by_name = {parameter.name: parameter for parameter in own}
    for place, parameter in enumerate(inspect.signature(scope["f"]).parameters.values()):
        if parameter.kind is parameter.VAR_POSITIONAL:
            assert own[0].kind is parameter.VAR_POSITIONAL
        elif parameter.kind is parameter.POSITIONAL_ONLY:
            assert own[place].kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        elif parameter.kind is parameter.KEYWORD_ONLY:
            assert by_name[parameter.name].kind is not parameter.POSITIONAL_ONLY
        else:
            assert own[place].name == parameter.name
            assert own[place].kind is parameter.POSITIONAL_OR_KEYWORD


def test_constants_and_types():
    assert (np.e, np.pi, np.inf, np.newaxis) == (math.e, math.pi, math.inf, None)
    assert math.isnan(np.nan)
    for name in ALL:
        assert np.zeros(1, dtype=getattr(np, name)).dtype == getattr(np, name)


def test_methods_and_attributes():
    array = np.ones((2, 2))
    for name in METHODS.split():
        assert callable(getattr(array, f"__{name}__"))
    for name in ("dtype", "device", "mT", "ndim", "shape", "size", "T", "to_device"):
        assert hasattr(array, name)


def test_namespace():
    array = np.ones(2)
    assert np.__array_api_version__ == "2024.12"
    for version in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
        assert array.__array_namespace__(api_version=version) is np
    with pytest.raises(ValueError, match=r"2020\.01"):
        array.__array_namespace__(api_version="2020.01")


def test_info():
    info = np.__array_namespace_info__()
    assert info.default_device() in info.devices() and mx.cpu() in info.devices()
    assert info.capabilities()["boolean indexing"] is True
    assert info.capabilities()["data-dependent shapes"] is True
    most = info.capabilities()["max dimensions"]
    assert (np.ones((1,) * most) + 1).sum().item() == 2
    assert info.default_dtypes(device=mx.cpu())["real floating"] == np.float64
    assert info.default_dtypes()["integral"] == info.default_dtypes()["indexing"] == np.int64
    with mx.util.np_default_dtype(False):
        assert info.default_dtypes()["real floating"] == np.float32 == np.ones(1).dtype
    assert set(ALL) <= set(info.dtypes()) and "float16" not in info.dtypes()
    assert info.dtypes(kind="bool") == {"bool": np.bool}
    assert set(info.dtypes(kind=("unsigned integer", "real floating"))) == {*INTEGERS[4:], *FLOATS}
    with pytest.raises(ValueError, match="kind is one of"):
        info.dtypes(kind="quaternion")


# --- element types -------------------------------------------------------------------------------


def meeting(first, second):
    """Where the standard lets two types meet, None where it does not say."""
    kinds = {onp.dtype(name).kind for name in (first, second)}
    found = onp.result_type(first, second)
    if kinds not in ({"b"}, {"i"}, {"u"}, {"i", "u"}, {"f"}) or kinds == {"i", "u"} > {found.kind}:
        return None
    return None if found.kind == "f" and "f" not in kinds else found


@pytest.mark.parametrize("first", ALL)
def test_promotion(first):
    for second in ALL:
        wanted = meeting(first, second)
        if wanted is None:
            continue
        x, y = np.ones((2, 1), dtype=first), np.ones(3, dtype=second)
        assert np.result_type(x, y.dtype) == wanted
        for found in (np.concat([np.ravel(x), y]), np.where(np.asarray(True), x, y)):
            assert found.dtype == wanted
        names = (
            "logical_and equal" if first == "bool" else "add multiply subtract maximum remainder"
        )
        for name in names.split():
            found = named(name)(x, y)
            assert found.shape == (2, 3)
            assert found.dtype == (wanted if first != "bool" else onp.bool_)
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
    for found in (array + 1, 2 * array, array - True, np.maximum(array, 1), np.clip(array, 0, 1)):
        assert found.dtype == kind
    for found in (np.where(array > 0, array, 1), np.where(array > 0, 1, array)):
        assert found.dtype == kind
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


# --- values that the standard fixes --------------------------------------------------------------

inf, nan = math.inf, math.nan


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
    for found in (function(x, y), function(x, x2), function(x1, np.full((5, 1), x2, dtype=kind))):
        assert found.shape == (5, 1) and found.dtype == kind
        tolerance = 4 * onp.finfo(kind).eps
        onp.testing.assert_allclose(found.asnumpy(), onp.full((5, 1), wanted), rtol=tolerance)
        assert math.isnan(wanted) or (onp.signbit(found.asnumpy()) == onp.signbit(wanted)).all()


def test_neighbours():
    for kind, bits in (("float32", "int32"), ("float64", "int64"), ("float16", "int16")):
        values = onp.asarray([1.5, -1.5, 0.0, -0.0, 1e-7, 6e4], kind)
        for towards in (-inf, 0.25, inf):
            found = np.nextafter(np.asarray(values, dtype=kind), towards).asnumpy()
            wanted = onp.nextafter(values, onp.asarray(towards, kind))
            assert found.view(bits).tolist() == wanted.view(bits).tolist()


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
        found = named(name)(np.asarray(values), axis=1, correction=correction)
        onp.testing.assert_allclose(found.asnumpy(), wanted)
    assert np.var(np.asarray([1.0, 2]), correction=2).tolist() in (inf, nan)


def test_unique():
    array = np.asarray([[3, 1], [1, 2]])
    found = np.unique_all(array)
    assert found._fields == ("values", "indices", "inverse_indices", "counts")
    assert found.values.tolist() == [1, 2, 3] and found.counts.tolist() == [2, 1, 1]
    assert found.values[found.inverse_indices].tolist() == array.tolist()
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
    found = np.cumulative_prod(array, axis=-1, dtype=np.float32)
    assert found.tolist() == [[1, 2], [3, 12]] and found.dtype == np.float32


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


# --- complex numbers -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", COMPLEX)
def test_complex_numbers(kind):
    values = onp.asarray([1.5 + 2.5j, -0.5j, complex(inf, nan)], kind)
    array = np.asarray(values, dtype=kind)
    part = onp.real(values).dtype
    for name in ("abs", "real", "imag"):
        assert named(name)(array).dtype == part
    for name in ("conj", "exp", "sign", "sqrt", "tanh", "round", "square", "log1p"):
        assert named(name)(array).dtype == kind
    assert np.round(array[:2]).tolist() == [2 + 2j, -0j]
    for found in (array + 1, 2.5 * array, array / 1j, array**2, np.pow(array, 1j)):
        assert found.dtype == kind
    assert np.result_type(np.float32, array) == np.result_type(array, 1j) == kind
    assert (np.ones(3, dtype=np.float32) * 1j).dtype == np.complex64
    assert array.__array_namespace__().finfo(array.dtype).dtype == part
    assert np.linspace(0, 1j, 3).tolist() == [0, 0.5j, 1j]
    assert type(complex(array[0])) is complex and complex(array[0]) == 1.5 + 2.5j
    assert np.vecdot(array[:2], array[:2]).item() == 8.75
    assert np.from_dlpack(array)[0].item() == 1.5 + 2.5j
    assert np.__array_namespace_info__().dtypes(kind="complex floating")[kind] == kind


@pytest.mark.parametrize("kind", COMPLEX)
@pytest.mark.parametrize(
    ("name", "values", "wanted"),
    [
        ("expm1", complex(-0.0, 0.0), 0j),
        ("expm1", complex(inf, 0.0), complex(inf, 0.0)),
        ("expm1", complex(-inf, 2.0), complex(-1.0, 0.0)),
        ("expm1", complex(nan, 0.0), complex(nan, 0.0)),
        ("expm1", complex(inf, nan), complex(inf, nan)),
        ("expm1", complex(1e-9, 0.0), complex(1e-9, 0.0)),
        ("tanh", complex(inf, 2.0), complex(1.0, 0.0)),
        ("tanh", complex(-inf, -2.0), complex(-1.0, -0.0)),
        ("tanh", complex(0.0, inf), complex(0.0, nan)),
        ("tanh", complex(nan, 0.0), complex(nan, 0.0)),
        ("sign", complex(-0.0, -0.0), 0j),
        ("sqrt", complex(-inf, nan), None),
        ("log", complex(-0.0, 0.0), complex(-inf, math.pi)),
        ("exp", complex(-inf, inf), 0j),
    ],
)
def test_special_complex_numbers(name, values, wanted, kind):
    found = named(name)(np.asarray([values] * 3, dtype=kind)).asnumpy()
    assert found.dtype == kind and found.shape == (3,)
    if wanted is None:  # NaN with an infinity of either sign
        assert onp.isnan(found.real).all() and onp.isinf(found.imag).all()
        return
    for part, expected in ((found.real, wanted.real), (found.imag, wanted.imag)):
        onp.testing.assert_allclose(part, [expected] * 3, rtol=1e-5, atol=0)


# --- linear algebra ------------------------------------------------------------------------------


def test_norms_of_empty_matrices():
    for shape in ((0, 3), (3, 0), (2, 0, 3)):
        for order in ("fro", "nuc", 1, 2, inf):
            found = np.linalg.matrix_norm(np.zeros(shape), ord=order, keepdims=True)
            assert found.tolist() == onp.zeros((*shape[:-2], 1, 1)).tolist()
        for order in (-1, -2, -inf):
            found = np.linalg.matrix_norm(np.zeros(shape), ord=order)
            assert found.shape == shape[:-2] and all(x in (0, inf) for x in found.ravel().tolist())


def test_tolerances_for_each_matrix():
    values = onp.asarray([[[1.0, 0], [0, 1e-3]], [[1.0, 0], [0, 1e-3]]])
    rtol = np.asarray([1e-2, 1e-6])
    found = np.linalg.pinv(np.asarray(values), rtol=rtol)
    wanted = onp.linalg.pinv(values, rtol=rtol.asnumpy())
    onp.testing.assert_allclose(found.asnumpy(), wanted, atol=1e-9)
    assert np.linalg.matrix_rank(np.asarray(values), rtol=rtol).tolist() == [1, 2]


def test_cross_products_of_three_components():
    x = np.asarray([[1.0, 0, 0], [0, 1, 0]])
    assert np.linalg.cross(x, x[::-1]).tolist() == [[0, 0, 1], [0, 0, -1]]
    for a, b in ((x[:, :2], x[:, :2]), (x, x[:, :2]), (x, x[:, :1])):
        with pytest.raises(ValueError, match="components"):
            np.linalg.cross(a, b)


def test_named_results():
    matrix = np.asarray([[2.0, 1], [1, 3]])
    assert np.linalg.eigh(matrix)._fields == ("eigenvalues", "eigenvectors")
    assert np.linalg.qr(matrix)._fields == ("Q", "R")
    assert np.linalg.slogdet(matrix)._fields == ("sign", "logabsdet")
    assert np.linalg.svd(matrix)._fields == ("U", "S", "Vh")
    assert np.linalg.svd(np.ones((2, 5))).Vh.shape == (5, 5)
    assert np.matrix_transpose(np.ones((2, 5, 3))).shape == (2, 3, 5)


# --- other devices and other libraries' memory ---------------------------------------------------


def test_devices():
    array = np.ones(2)
    assert array.to_device(array.device) is array
    for made in (np.zeros(2, device=array.device), np.asarray([1], device=array.device)):
        assert made.device == array.device
    with pytest.raises(ValueError, match="no streams"):
        array.to_device(array.device, stream=1)


@pytest.mark.parametrize("kind", ALL)
def test_dlpack(kind):
    array = np.asarray([[1, 0], [0, 1]], dtype=kind)
    assert array.__dlpack_device__() == (1, 0)
    shared, copied = np.from_dlpack(array), np.from_dlpack(array, copy=True)
    foreign = onp.from_dlpack(array)
    array[0, 0] = 0
    assert shared[0, 0].item() == foreign[0, 0] == 0 and copied[0, 0].item() == 1
    assert np.from_dlpack(array, device=array.device).device == array.device
    for version, device, copy in itertools.product(
        (None, (0, 8), (1, 0), (2, 0)), (None, (1, 0)), (None, True, False)
    ):
        array.__dlpack__(max_version=version, dl_device=device, copy=copy)
    with pytest.raises(BufferError):
        array.__dlpack__(dl_device=(2, 0))
    with pytest.raises(ValueError, match="streams"):
        array.__dlpack__(stream=1)


def test_dlpack_without_a_copy():
    values = onp.arange(6.0).reshape(2, 3)
    shared = np.from_dlpack(values, copy=False)
    values[0, 0] = 7
    assert shared[0, 0].item() == 7
    assert np.from_dlpack(values.T).tolist() == values.T.tolist()
    with pytest.raises(BufferError, match="copied"):
        np.from_dlpack(values.T, copy=False)


def test_asarray_copies_as_told():
    array = np.ones(2)
    assert np.asarray(array, copy=False) is np.asarray(array) is array
    assert np.asarray(array, copy=True) is not array
    with pytest.raises(ValueError, match="copy"):
        np.asarray(array, dtype=np.float32, copy=False)
    with pytest.raises(ValueError, match="copy"):
        np.asarray([1], copy=False)
    with pytest.raises(ValueError, match="copy"):
        np.reshape(np.ones((2, 3)), (3, 2), order="F", copy=False)


def test_indices():
    array = np.reshape(np.arange(24), (2, 3, 4))
    assert array[np.asarray(True)].shape == (1, 2, 3, 4)
    assert array[np.asarray(False)].shape == (0, 2, 3, 4)
    places = np.asarray([1, 0], dtype=np.uint8)
    assert array[places, :].tolist() == array.asnumpy()[[1, 0]].tolist()
    assert array[places, :, places].shape == (2, 3) and array[places, places, 0].tolist() == [16, 0]
    point = np.asarray(5.0)
    point[np.asarray(True)] = 6.0
    assert point[()].item() == point[...].item() == 6
    assert [10, 11, 12][np.asarray(1)] == 11
    for index in (float, int, bool):
        assert type(index(np.asarray(1))) is index
    with pytest.raises(IndexError):
        array[np.asarray([True, False, True])]
