"""Complex numbers: arrays, promotion, elementwise functions, and functions that reject them."""

import pickle

import numpy as onp
import pytest

import mxcy as mx

np = mx.np
Z = onp.array([[1 + 2j, -3 - 1j, 0.5j], [2, -1.5, 0]])
X = onp.array([[0.5, -2, 3], [1, 0, -1.5]])


def arrays(dtype="complex64"):
    return np.array(Z, dtype=dtype)


def check(actual, expected, dtype=None, rtol=1e-5):
    """The result has NumPy's values, and its type unless another is named."""
    expected = onp.asarray(expected)
    assert actual.dtype == (expected.dtype if dtype is None else dtype)
    assert actual.shape == expected.shape
    onp.testing.assert_allclose(actual.asnumpy(), expected, rtol=rtol, atol=1e-6)


# --- arrays --------------------------------------------------------------------------------------


def test_creation():
    assert np.array(Z).dtype == np.array([1j]).dtype == np.asarray(3j).dtype == "complex64"
    assert np.array(Z, dtype="complex128").dtype == np.complex128
    assert np.full((2,), 1 + 1j).tolist() == [1 + 1j] * 2
    assert np.linspace(0, 1j, 3).dtype == np.logspace(0, 1j, 3).dtype == "complex64"
    for dtype in (np.complex64, "complex128", complex):
        check(np.zeros((2, 3), dtype=dtype), onp.zeros((2, 3), dtype))
        check(np.ones((), dtype=dtype), onp.ones((), dtype))
        check(np.eye(2, 3, 1, dtype=dtype), onp.eye(2, 3, 1, dtype))
        check(np.arange(4, dtype=dtype), onp.arange(4, dtype=dtype))
        check(np.linspace(0, 1, 5, dtype=dtype), onp.linspace(0, 1, 5, dtype=dtype))
        check(np.identity(2, dtype=dtype), onp.identity(2, dtype))
        check(np.linspace(0, 1j, 3, dtype=dtype), onp.linspace(0, 1j, 3, dtype=dtype))
        check(np.full((2,), 2.5, dtype=dtype), onp.full((2,), 2.5, dtype))
        assert np.empty((2, 3), dtype=dtype).dtype == dtype
    like = arrays()
    assert np.empty_like(like).dtype == "complex64"
    for made in (np.zeros_like(like), np.full_like(like, 0)):
        check(made, onp.zeros((2, 3), "complex64"))
    check(np.ones_like(like), onp.ones((2, 3), "complex64"))
    with mx.util.np_default_dtype():
        assert np.array(Z).dtype == np.array([1j]).dtype == np.asarray(3j).dtype == "complex128"
        assert np.array(Z.astype("complex64")).dtype == np.complex64


def test_numbers_and_text():
    array = arrays()
    assert array.tolist() == Z.tolist() and array.item(1) == -3 - 1j
    assert complex(array[0, 0]) == 1 + 2j and array[0, 0].item() == 1 + 2j
    row = Z[0].astype("complex64")
    assert repr(array[0]) == repr(row) and "dtype=complex64" in repr(row)
    assert str(array[0]) == str(row) and f"{array[0, 0]}" == "(1+2j)"
    assert bool(array[0, 0]) and not array[1, 2]
    assert array.itemsize == 8 and array.nbytes == 48
    with pytest.raises(TypeError):
        float(array[0, 0])
    with pytest.raises(TypeError):
        int(array[0, 0])


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_files_pickles_and_other_libraries(dtype, tmp_path):
    array = arrays(dtype)
    again = pickle.loads(pickle.dumps(array))
    assert type(again) is np.ndarray
    check(again, Z.astype(dtype))
    mx.npx.savez(str(tmp_path / "z.npz"), z=array)
    check(mx.npx.load(str(tmp_path / "z.npz"))["z"], Z.astype(dtype))
    mx.npx.save(str(tmp_path / "z.npy"), array)
    check(np.array(onp.load(tmp_path / "z.npy"), dtype=dtype), Z.astype(dtype))
    with pytest.raises(mx.MXNetError, match=dtype):
        mx.nd.save(str(tmp_path / "z.params"), [array])
    onp.testing.assert_array_equal(onp.from_dlpack(array), Z.astype(dtype))
    source = Z.astype(dtype)
    shared = np.from_dlpack(source)
    check(shared, source)
    check(mx.npx.from_dlpack(mx.npx.to_dlpack_for_read(array)), source)
    check(mx.npx.from_numpy(source), source)
    onp.testing.assert_array_equal(onp.asarray(array), source)
    onp.testing.assert_allclose(onp.exp(array).asnumpy(), onp.exp(source), rtol=1e-6)


def test_casts():
    array = arrays()
    check(array.astype("complex128"), Z.astype("complex64").astype("complex128"))
    for dtype in ("int8", "uint16", "float16", "float64", "bool"):
        assert np.ones((2,), dtype=dtype).astype("complex64").tolist() == [1, 1]
    for dtype in ("float32", "int32", "bool"):
        with pytest.raises(TypeError, match="real"):
            array.astype(dtype)
        with pytest.raises(TypeError, match="real"):
            np.array(Z, dtype=dtype)
    target = np.zeros((2, 3))
    with pytest.raises(TypeError):
        target[:] = Z
    with pytest.raises(TypeError):
        target[0] = 1j
    with pytest.raises(mx.MXNetError, match="same_kind"):
        np.exp(array, out=target)
    out = np.zeros((2, 3), dtype="complex128")
    assert np.exp(np.array(X), out=out) is out
    check(out, onp.exp(X.astype("float32")).astype("complex128"))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_indexing(dtype):
    array, values = arrays(dtype), Z.astype(dtype)
    mask = onp.array([[True, False, True], [False, False, True]])
    for key in (
        0,
        (1, 2),
        (slice(None), 1),
        (slice(None), slice(None, None, 2)),
        ...,
        None,
        [1, 0],
    ):
        check(array[key], values[key])
    check(array[:, 1:], values[:, 1:])
    check(array[np.array(mask, dtype="bool")], values[mask])
    wide, large = np.ones((7, 40, 3), dtype=dtype) * 1j, onp.ones((7, 40, 3), dtype) * 1j
    wide[:, 1:39:2, ::2], large[:, 1:39:2, ::2] = 2 - 1j, 2 - 1j
    check(wide, large)
    for key, value in (
        (0, 1j),
        ((1, 1), -2.5),
        ((slice(None), 2), X[:, 0]),
        ((slice(None), slice(0, 3, 2)), Z[:, :2].astype(dtype)),
        ([0, 1], Z[::-1]),
        (mask, 7j),
    ):
        array[key if key is not mask else np.array(mask, dtype="bool")] = value
        values[key] = value
        check(array, values)
    array[0] = np.array([1, 2, 3], dtype="int32")
    assert array[0].tolist() == [1, 2, 3]


# --- promotion -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lhs", "rhs", "mxnet", "numpy"),
    [
        ("complex64", "complex128", "complex128", "complex128"),
        ("complex64", "float16", "complex64", "complex64"),
        ("complex64", "float64", "complex128", "complex128"),
        ("complex64", "int64", "complex64", "complex128"),
        ("complex64", "bool", "complex64", "complex64"),
        ("complex128", "uint8", "complex128", "complex128"),
        ("complex64", "bfloat16", "complex64", "complex64"),
    ],
)
def test_arrays_meet(lhs, rhs, mxnet, numpy):
    for policy, expected in ((False, mxnet), (True, numpy)):
        with mx.util.np_default_dtype(policy):
            one, other = np.ones((2,), dtype=lhs), np.ones((2,), dtype=rhs)
            assert (one + other).dtype == (other * one).dtype == expected
            assert np.concatenate([one, other]).dtype == expected
            assert np.where(other == 1, one, other).dtype == expected
            if rhs != "bfloat16":
                assert np.result_type(one, other) == expected
    assert np.can_cast(np.float32, np.complex64) and not np.can_cast(np.complex64, np.float64)
    assert np.promote_types(np.float64, np.complex64) == np.complex128


@pytest.mark.parametrize(
    ("own", "mxnet", "numpy"),
    [
        ("float32", "complex64", "complex64"),
        ("float16", "complex64", "complex64"),
        ("float64", "complex128", "complex128"),
        ("int32", "complex64", "complex128"),
        ("bool", "complex64", "complex128"),
        ("complex64", "complex64", "complex64"),
    ],
)
def test_numbers_meet_arrays(own, mxnet, numpy):
    for policy, expected in ((False, mxnet), (True, numpy)):
        with mx.util.np_default_dtype(policy):
            array = np.ones((2,), dtype=own)
            for actual in (array + 1j, 1j - array, array * (1 + 1j), np.add(array, 2j), array**1j):
                assert actual.dtype == expected
            assert np.result_type(array, 1j) == np.result_type(array.dtype, 1j) == expected
    array = arrays()
    for number in (2, 2.5, True, onp.float32(2), onp.int8(3)):
        assert (array + number).dtype == (number * array).dtype == "complex64"
    with mx.util.np_default_dtype():
        assert (array + onp.complex128(1j)).dtype == (array * onp.float64(1)).dtype == "complex128"


# --- functions of elements -----------------------------------------------------------------------

UNARY = (
    "absolute negative positive square sqrt reciprocal exp expm1 log log2 log10 log1p sin cos tan "
    "sinh cosh tanh arcsin arccos arctan arcsinh arccosh arctanh sign conj conjugate isnan isinf "
    "isfinite logical_not real imag angle zeros_like ones_like round rint nan_to_num"
).split()


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", UNARY)
def test_unary(name, dtype):
    values = (Z + 0.25 - 0.5j).astype(dtype)
    with onp.errstate(all="ignore"):
        expected = getattr(onp, name)(values)
    check(getattr(np, name)(np.array(values, dtype=dtype)), expected)
    empty = getattr(np, name)(np.zeros((0, 2), dtype=dtype))
    assert empty.shape == (0, 2) and empty.dtype == expected.dtype


@pytest.mark.parametrize(
    "name",
    "add subtract multiply true_divide power equal not_equal logical_and logical_or logical_xor"
    "".split(),
)
def test_binary(name):
    one, other = Z + 0.5, Z[::-1] - 1j
    for lhs, rhs in ((one, other), (one, X), (X, one), (one, 2 - 1j), (2 - 1j, one), (one, 1.5)):
        operands = [
            np.array(v, dtype=v.dtype) if isinstance(v, onp.ndarray) else v for v in (lhs, rhs)
        ]
        with onp.errstate(all="ignore"):
            expected = getattr(onp, name)(lhs, rhs)
        check(getattr(np, name)(*operands), expected)
    assert (arrays() == arrays()).all() and (arrays() == 1j).dtype == "bool"


def test_float_power():
    check(np.float_power(arrays(), 2), onp.float_power(Z.astype("complex64"), 2))
    refused(np.heaviside, arrays(), 0.5)


def test_operators_in_place():
    array, values = arrays("complex128"), Z.copy()
    array += 1j
    array *= np.array(X, dtype="float64")
    array /= 2 - 1j
    array **= 2
    values = ((values + 1j) * X / (2 - 1j)) ** 2
    check(array, values)
    check(+array, values)
    check(-array, -values)
    check(abs(array), abs(values))
    real = np.ones((2,))
    with pytest.raises(mx.MXNetError, match="same_kind"):
        real += 1j


def test_parts():
    array = arrays()
    check(array.real, Z.real.astype("float32"))
    check(array.imag, Z.imag.astype("float32"))
    check(array.conj(), Z.conj().astype("complex64"))
    check(np.angle(array, deg=True), onp.angle(Z.astype("complex64"), deg=True), rtol=1e-4)
    check(np.angle(np.array(X)), onp.angle(X.astype("float32")))
    real = np.array(X)
    assert real.real is real and real.conj() is real and real.imag.tolist() == (X * 0).tolist()


# --- shapes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_shapes(dtype):
    array, values = arrays(dtype), Z.astype(dtype)
    for name, *arguments in (
        ("reshape", (3, 2)),
        ("transpose",),
        ("ravel",),
        ("squeeze",),
        ("flip", 1),
        ("roll", 2, 1),
        ("rot90",),
        ("tile", (2, 1)),
        ("repeat", 2, 0),
        ("expand_dims", 1),
        ("broadcast_to", (4, 2, 3)),
        ("moveaxis", 0, 1),
        ("swapaxes", 0, 1),
        ("diagonal",),
        ("diag",),
        ("tril",),
        ("triu",),
        ("trace",),
        ("pad", ((1, 0), (0, 2))),
        ("atleast_3d",),
        ("take", onp.array([1, 0, 2]), 1),
        ("nonzero",),
        ("delete", 1, 0),
        ("copy",),
    ):
        actual, expected = (
            getattr(np, name)(array, *arguments),
            getattr(onp, name)(values, *arguments),
        )
        if not isinstance(actual, (tuple, list)):
            actual, expected = [actual], [expected]
        for one, other in zip(actual, expected, strict=True):
            check(one, other)
    for name in ("concatenate", "stack", "vstack", "hstack", "dstack", "column_stack"):
        check(getattr(np, name)([array, array]), getattr(onp, name)([values, values]))
    check(np.concatenate([array, np.array(X)]), onp.concatenate([values, X.astype("f4")]), dtype)
    check(np.split(array, 3, axis=1)[1], values[:, 1:2])
    check(
        np.append(array, 1j), onp.append(values, dtype == "complex64" and onp.complex64(1j) or 1j)
    )
    check(np.where(array.real > 0, array, 0), onp.where(values.real > 0, values, 0))
    check(array.T, values.T)
    order = np.array([[0, 2, 1]], dtype="int64")
    taken = onp.take_along_axis(values, onp.array([[0, 2, 1]]), 1)
    check(np.take_along_axis(array, order, 1), taken)


# --- functions without complex numbers -----------------------------------------------------------


def refused(function, *arguments, **keywords):
    with pytest.raises((mx.MXNetError, TypeError, ValueError), match="complex"):
        function(*arguments, **keywords)


@pytest.mark.parametrize(
    "name",
    "cbrt degrees radians floor ceil trunc fix signbit isposinf isneginf invert sort argsort max "
    "min argmax argmin median".split(),
)
def test_refusals_of_one_array(name):
    refused(getattr(np, name), arrays())


@pytest.mark.parametrize(
    "name",
    "less less_equal greater greater_equal maximum minimum fmax fmin floor_divide mod fmod arctan2 "
    "hypot copysign logaddexp ldexp bitwise_and left_shift gcd lcm".split(),
)
def test_refusals_of_two_operands(name):
    for operands in (
        (arrays(), arrays()),
        (arrays(), np.array(X)),
        (arrays(), 2),
        (np.array(X), 1j),
    ):
        refused(getattr(np, name), *operands)


def test_classic_functions_refuse_them():
    for function in (
        lambda: mx.nd.zeros((2,), dtype="complex64"),
        lambda: mx.nd.ones((2,), dtype=onp.complex64),
        lambda: mx.nd.empty((2,), dtype="complex128"),
        lambda: mx.nd.full((2,), 1, dtype="complex64"),
        lambda: mx.nd.array([1], dtype="complex64"),
        lambda: mx.nd.ones((2,)).astype("complex64"),
        lambda: mx.nd.cast(mx.nd.ones((2,)), dtype="complex64"),
        lambda: mx.nd.from_numpy(onp.ones(2, "complex64")),
        lambda: mx.nd.from_dlpack(onp.ones(2, "complex64")),
        lambda: mx.sym.var("x", dtype="complex64"),
    ):
        refused(function)
    array = arrays()
    for name in (
        "relu",
        "softmax",
        "log_softmax",
        "layer_norm",
        "one_hot",
        "topk",
        "sigmoid",
        "erf",
    ):
        extra = {"depth": 3} if name == "one_hot" else {}
        more = (np.ones((3,)), np.ones((3,))) if name == "layer_norm" else ()
        refused(getattr(mx.npx, name), array, *more, **extra)
    refused(mx.nd.softmax, array.as_nd_ndarray())
    refused(mx.npx.fully_connected, array, array, num_hidden=2, no_bias=True)


def test_a_graph_of_complex_numbers():
    class Net(mx.gluon.HybridBlock):
        def forward(self, x):
            return np.exp(x * 1j) + x

    net = Net()
    x = np.array(X)
    plain = net(x)
    net.hybridize()
    with mx.util.np_shape(), mx.util.np_array():
        check(net(x), plain.asnumpy())
        check(net(x), plain.asnumpy())
