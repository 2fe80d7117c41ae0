"""The array API standard 2024.12: names, signatures, constants, methods."""

import inspect
import math

import pytest

import mxcy as mx
from tests.numpy.array_api.standard import ALL, FLOATS, INTEGERS, named

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
