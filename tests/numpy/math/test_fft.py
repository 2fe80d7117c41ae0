"""`mx.np.fft`: NumPy's values and types, gradients."""

import numpy as onp
import pytest

import mxcy as mx

np = mx.np
RNG = onp.random.default_rng(11)
REAL = RNG.normal(size=(3, 4, 5))
COMPLEX = REAL + 1j * RNG.normal(size=(3, 4, 5))
ONE_AXIS = "fft ifft rfft irfft hfft ihfft".split()
AXES = "fftn ifftn rfftn irfftn".split()


def of(name, dtype):
    """The input of a transform: real numbers only for `rfft` and the like."""
    complexes = dtype.startswith("c") and not name.startswith(("rfft", "ihfft"))
    return (
        COMPLEX.astype(dtype)
        if complexes
        else REAL.astype(dtype.replace("complex64", "float32").replace("complex128", "float64"))
    )


def check(actual, expected, tol=1e-5):
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    onp.testing.assert_allclose(actual.asnumpy(), expected, rtol=tol, atol=tol)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("name", ONE_AXIS)
def test_one_axis(name, dtype):
    values = of(name, dtype)
    array = np.array(values, dtype=values.dtype)
    function, expected = getattr(np.fft, name), getattr(onp.fft, name)
    for keywords in (
        {},
        {"axis": 0},
        {"n": 3, "axis": 1},
        {"n": 8},
        {"n": 7, "norm": "ortho"},
        {"axis": -2, "norm": "forward"},
        {"norm": "backward"},
    ):
        check(function(array, **keywords), expected(values, **keywords))
    out = np.zeros_like(function(array))
    assert function(array, out=out) is out
    check(out, expected(values))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("name", AXES)
def test_several_axes(name, dtype):
    values = of(name, dtype)
    array = np.array(values, dtype=values.dtype)
    function, expected = getattr(np.fft, name), getattr(onp.fft, name)
    for keywords in (
        {},
        {"axes": (0, 1)},
        {"axes": (2, 0), "norm": "ortho"},
        {"s": (2, 6), "axes": (0, 2)},
        {"s": (3, -1), "axes": (1, 2), "norm": "forward"},
        {"axes": (1,)},
    ):
        check(function(array, **keywords), expected(values, **keywords))
    check(function(array, s=(3, 6)), expected(values, s=(3, 6), axes=(1, 2)))
    flat = name.replace("n", "2")
    check(getattr(np.fft, flat)(array), getattr(onp.fft, flat)(values))


def test_types():
    for dtype in ("float16", "float32", "int32", "bool"):
        assert np.fft.fft(np.ones((4,), dtype=dtype)).dtype == "complex64"
        assert np.fft.irfft(np.ones((4,), dtype=dtype)).dtype == "float32"
    with mx.util.np_default_dtype():
        assert np.fft.fft(np.ones((4,), dtype="int32")).dtype == "complex128"
        assert np.fft.fft(np.ones((4,), dtype="float32")).dtype == "complex64"
        assert np.fft.rfftfreq(4).dtype == "float64"
    assert np.fft.fft([1, 2, 3]).shape == (3,)
    assert np.fft.fft(np.zeros((0, 4))).shape == (0, 4)
    assert np.fft.ifft(np.fft.fft(np.array(REAL))).real.shape == (3, 4, 5)


@pytest.mark.parametrize("n", [1, 4, 5])
def test_frequencies(n):
    for name in ("fftfreq", "rfftfreq"):
        expected = getattr(onp.fft, name)(n, 0.5)
        check(getattr(np.fft, name)(n, 0.5), expected.astype("float32"))
        check(getattr(np.fft, name)(n, d=0.5, dtype=np.float64), expected)
    with pytest.raises(ValueError, match="integer"):
        np.fft.fftfreq(2.5)


@pytest.mark.parametrize("dtype", ["float32", "complex64", "int32"])
def test_shifts(dtype):
    values = (10 * (REAL if dtype != "complex64" else COMPLEX)).astype(dtype)
    array = np.array(values, dtype=dtype)
    for axes in (None, 0, (1, 2), -1):
        for name in ("fftshift", "ifftshift"):
            check(
                getattr(np.fft, name)(array, axes=axes), getattr(onp.fft, name)(values, axes=axes)
            )
    assert np.fft.fftshift(np.array(3.0)).item() == 3


def test_refusals():
    array = np.array(COMPLEX)
    for call in (
        lambda: np.fft.fft(array, n=0),
        lambda: np.fft.fft(array, norm="none"),
        lambda: np.fft.fftn(array, s=(2,), axes=(0, 1)),
        lambda: np.fft.fft(np.zeros((2, 0))),
        lambda: np.fft.irfft(np.zeros((2, 1))),
        lambda: np.fft.fft(array, axis=3),
        lambda: np.fft.fft(np.array(1.0)),
        lambda: np.fft.fftn(np.array(1.0)),
    ):
        with pytest.raises((ValueError, IndexError)):
            call()
    for name in ("rfft", "ihfft", "rfftn"):
        with pytest.raises(TypeError, match="real"):
            getattr(np.fft, name)(array)
