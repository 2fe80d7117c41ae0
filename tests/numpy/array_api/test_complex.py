"""Complex numbers in the array API standard."""

import math

import numpy as onp
import pytest

import mxcy as mx
from tests.numpy.array_api.standard import COMPLEX, named

np = mx.np
inf, nan = float("inf"), float("nan")


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
    for actual in (array + 1, 2.5 * array, array / 1j, array**2, np.pow(array, 1j)):
        assert actual.dtype == kind
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
        ("sign", complex(inf, nan), complex(nan, nan)),
        ("sign", complex(nan, -inf), complex(nan, nan)),
        ("sqrt", complex(-inf, nan), None),
        ("log", complex(-0.0, 0.0), complex(-inf, math.pi)),
        ("exp", complex(-inf, inf), 0j),
    ],
)
def test_special_complex_numbers(name, values, wanted, kind):
    actual = named(name)(np.asarray([values] * 3, dtype=kind)).asnumpy()
    assert actual.dtype == kind and actual.shape == (3,)
    if wanted is None:  # NaN with an infinity of either sign
        assert onp.isnan(actual.real).all() and onp.isinf(actual.imag).all()
        return
    for part, expected in ((actual.real, wanted.real), (actual.imag, wanted.imag)):
        onp.testing.assert_allclose(part, [expected] * 3, rtol=1e-5, atol=0)
