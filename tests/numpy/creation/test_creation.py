"""Creation functions: element types in both policies, shapes and devices."""

import numpy as onp
import pytest

import mxcy as mx

np = mx.np


@pytest.mark.parametrize(
    ("expression", "usual", "numpys"),
    [
        ("np.array([1, 2])", "float32", "float64"),
        ("np.array([True])", "float32", "float64"),
        ("np.array(onp.ones(2))", "float32", "float64"),
        ("np.array(onp.ones(2, 'int8'))", "float32", "int8"),
        ("np.array(onp.int32(3))", "int32", "int32"),
        ("np.array(mx.nd.ones(2, dtype='int32'))", "int32", "int32"),
        ("np.asarray([1, 2])", "int64", "int64"),
        ("np.asarray([True])", "bool", "bool"),
        ("np.zeros((2, 3))", "float32", "float64"),
        ("np.ones(())", "float32", "float64"),
        ("np.empty(3)", "float32", "float64"),
        ("np.eye(3)", "float32", "float64"),
        ("np.identity(2)", "float32", "float64"),
        ("np.linspace(0, 1)", "float32", "float64"),
        ("np.logspace(0, 1, 5)", "float32", "float64"),
        ("np.geomspace(1, 8, 4)", "float32", "float64"),
        ("np.hanning(5)", "float32", "float64"),
        ("np.blackman(5)", "float32", "float64"),
        ("np.hamming(5, dtype='float16')", "float16", "float16"),
        ("np.arange(5)", "float32", "int64"),
        ("np.arange(5.0)", "float32", "float64"),
        ("np.full(2, 3)", "int64", "int64"),
        ("np.full(2, True)", "bool", "bool"),
        ("np.full(2, 1.5)", "float32", "float64"),
        ("np.zeros_like(np.ones(2, 'int8'))", "int8", "int8"),
        ("np.ones_like(np.ones(2), dtype='int32')", "int32", "int32"),
        ("np.full_like(np.ones(2, 'int8'), 3)", "int8", "int8"),
        ("np.empty_like(np.ones(2, 'int8'))", "int8", "int8"),
        ("np.empty_like(np.ones(2, 'int8'), ctx=np.zeros(2).ctx)", "int8", "int8"),
    ],
)
def test_element_types(expression, usual, numpys):
    names = {"np": np, "onp": onp, "mx": mx}
    assert eval(expression, names).dtype == usual
    with mx.util.np_default_dtype(True):
        assert eval(expression, names).dtype == numpys


@pytest.mark.parametrize(
    "call",
    [
        "zeros((2, 3))",
        "zeros(4)",
        "ones(())",
        "ones((0, 2), 'int8')",
        "eye(3)",
        "eye(2, 4, -1)",
        "arange(3, 9, 2)",
        "arange(0)",
        "arange(2, -1, -0.5)",
        "linspace(1, 2, 7)",
        "linspace(0, 1, 4, False)",
        "linspace(0, 1, 0)",
        "full((2, 2), 2.5)",
        "identity(3)",
        "identity(0)",
        "logspace(0, 2, 5)",
        "logspace(0, 2, 5, endpoint=False, base=2)",
        "logspace(0, [1, 2], 3)",
        "geomspace(1, 16, 5)",
        "geomspace(-1, -16, 4, endpoint=False)",
        "geomspace([1, 2], [4, 8], 3, axis=-1)",
        "geomspace(1, 2, 0)",
        "hanning(7)",
        "hamming(1)",
        "blackman(6)",
        "hanning(0)",
        "zeros(3, dtype='uint16')",
    ],
)
def test_values(call):
    actual, expected = eval(f"np.{call}", {"np": np}), eval(f"np.{call}", {"np": onp})
    assert type(actual) is np.ndarray and actual.shape == expected.shape
    onp.testing.assert_allclose(actual.asnumpy(), expected, rtol=1e-6)


def test_places():
    assert np.zeros(2, ctx=mx.cpu(1)).context == mx.cpu(1)
    assert np.array([1], device=mx.cpu(1)).device == mx.cpu(1)
    with mx.cpu(1):
        assert np.ones(2).context == mx.cpu(1)


def test_invalid_arguments():
    for wrong in (["a"], object(), [[1], [1, 2]]):
        with pytest.raises(TypeError):
            np.array(wrong)
    for name in ("zeros", "empty"):
        with pytest.raises(NotImplementedError):
            getattr(np, name)((2, 3), order="F")
    with pytest.raises(ValueError):
        np.geomspace(0, 1)
    with pytest.raises(mx.MXNetError):
        np.zeros((-1,))
    with pytest.raises(mx.MXNetError):
        np.arange(1, 2, 0)


def test_arrays_of_arrays():
    assert np.array([np.ones(2), np.zeros(2)]).tolist() == [[1, 1], [0, 0]]
    source = np.ones(2)
    assert np.asarray(source) is source and np.array(source) is not source
    assert np.array([]).shape == (0,) and np.array(3.0).shape == ()


def test_joining_and_shapes():
    a, b = np.arange(6).reshape(2, 3), np.ones((2, 3), "int32")
    assert np.concatenate([a, b]).dtype == "float32"
    assert np.concatenate([a, b], axis=None).shape == (12,)
    assert np.stack([a, b], axis=-1).shape == (2, 3, 2)
    assert np.concatenate((np.zeros((0, 3)), a)).shape == (2, 3)
    assert np.reshape(a, (-1,), order="F").tolist() == [0, 3, 1, 4, 2, 5]
    assert a.reshape(3, -1).shape == (3, 2) and a.reshape(6).ndim == 1
    x = np.arange(24).reshape(2, 3, 4)
    codes = {(-2, -2, 2, -1): (2, 3, 2, 2), (-5, 4): (6, 4), (-6, 1, -1, -4): (1, 2, 3, 4)}
    for shape, extents in codes.items():  # MXNet 2's, as those of npx.reshape
        assert x.reshape(shape).shape == np.reshape(x, shape).shape == extents
        assert np.reshape(x, shape, order="F").shape == extents
    for wrong in ((-1, -2, 3), (-2, -2, -2, -2), (-7,)):
        with pytest.raises(ValueError):
            x.reshape(wrong)
    assert np.transpose(a, (1, 0)).shape == (3, 2)
    assert np.squeeze(np.ones((1, 2, 1))).shape == (2,)
    assert np.squeeze(np.ones((1, 1))).shape == ()
    assert np.broadcast_to(np.ones(3), (2, 3)).shape == (2, 3)
    view = a.reshape(3, 2)
    view[0, 0] = 7
    assert a[0, 0].item() == 7
    with pytest.raises(ValueError):
        a.reshape(4)
    for wrong in ([], [np.array(1.0)]):
        with pytest.raises(ValueError):
            np.concatenate(wrong)


def test_defaults_may_be_given():
    array = np.ones((0, 2), None, "C", None, None)
    assert array.shape == (0, 2) and array.dtype == onp.float32
    with pytest.raises(TypeError, match="dtype"):
        np.identity(2, None, dtype=None)


def test_attributes_may_be_arrays_of_a_number():
    x = np.array([[1.0, 3.0, 2.0]])
    two, axis = np.array(2, dtype="int32"), np.array(1, dtype="int64")
    assert np.zeros(two).shape == (2,)
    assert np.zeros((two, 3)).shape == (2, 3)
    assert np.tile(np.ones(2), two).shape == (4,)
    assert np.random.uniform(size=(two, two)).shape == (2, 2)
    assert x.sum(axis=axis).tolist() == [6.0]
    assert np.expand_dims(x, axis).shape == (1, 1, 3)
    assert mx.npx.one_hot(two, np.array(3, dtype="uint8")).tolist() == [0, 0, 1]
    assert mx.npx.topk(x, k=two, dtype="int32").tolist() == [[1, 2]]
    leaky = mx.npx.leaky_relu(-x, act_type="leaky", slope=np.array(0.5))
    assert leaky.tolist() == [[-0.5, -1.5, -1.0]]
    assert mx.nd.clip(mx.nd.array([1, 9]), 0, np.array(3.0)).asnumpy().tolist() == [1, 3]
    for again in range(3):  # a value is read each time, not cached with the array
        two[()] = again
        assert np.zeros(two).shape == (again,)
    with pytest.raises(mx.MXNetError, match="k=array.*topk: expected an integer"):
        mx.npx.topk(x, k=np.array(1.5))


def test_genfromtxt(tmp_path):
    path = tmp_path / "table.txt"
    path.write_text("a,b\n1,2.5\n3,\n", encoding="utf-8")
    table = np.genfromtxt(path, delimiter=",", skip_header=1)
    assert type(table) is np.ndarray and table.dtype == "float64"
    assert onp.array_equal(table.asnumpy(), [[1, 2.5], [3, onp.nan]], equal_nan=True)
    counts = np.genfromtxt(["1 2", "3 4"], dtype="int32", device=mx.cpu(0))
    assert counts.dtype == "int32" and counts.tolist() == [[1, 2], [3, 4]]
    first, second = np.genfromtxt(["1 .5", "2 1.5"], dtype=None, unpack=True)
    assert first.dtype == "int64" and second.tolist() == [0.5, 1.5]
    for lines in (["1 .5", "2 1.5"], ["a", "b"]):
        with pytest.raises(TypeError):
            np.genfromtxt(lines, dtype=None, encoding="utf-8")


def test_dtype_of_fill_values():
    assert np.full((2, 3), 7).dtype == onp.int64 and np.full(2, 2.5).dtype == onp.float32
    assert np.full(2, True).dtype == onp.bool_ and np.full((), -3).item() == -3
    assert np.full(2, 3, dtype=bool).tolist() == [True, True]
    with mx.util.np_default_dtype():
        assert np.full((2, 3), 7).dtype == onp.int64 and np.full(2, 2.5).dtype == onp.float64
    assert mx.nd.full((2,), 3).dtype == onp.float32
    assert np.array([0, 2.5, onp.nan]).astype(bool).tolist() == [False, True, True]
