"""Products of arrays, against NumPy's."""

import numpy as onp
import pytest

import mxcy as mx
from mxcy import autograd

np = mx.np
TYPES = ("bool", "int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64")


def draw(shape, dtype="float64", seed=0):
    actual = onp.random.RandomState(seed).randint(-3, 4, shape)
    return onp.asarray(abs(actual) if dtype.startswith("u") else actual).astype(dtype)


def arrays(*shapes, dtype="float64"):
    made = [draw(shape, dtype, seed) for seed, shape in enumerate(shapes)]
    return made, [np.array(x, dtype=dtype) for x in made]


def agree(actual, expected):
    assert isinstance(actual, np.ndarray)
    assert actual.shape == onp.shape(expected)
    onp.testing.assert_allclose(actual.asnumpy(), expected, rtol=1e-5, atol=1e-6)


def slopes(function, *inputs):
    """Gradients of a sum, and finite differences."""
    made = [np.array(x, dtype="float64") for x in inputs]
    for x in made:
        x.attach_grad()
    with autograd.record():
        actual = function(*made)
        weights = onp.cos(onp.arange(actual.size)).reshape(actual.shape)
        loss = (actual * np.array(weights, dtype="float64")).sum()
    loss.backward()
    for x, values in zip(made, inputs, strict=True):
        wanted = onp.zeros(values.shape)
        for at in onp.ndindex(*values.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = [onp.array(v, "float64") for v in inputs]
                moved[[v is values for v in inputs].index(True)][at] += step
                result = function(*(np.array(v, dtype="float64") for v in moved))
                ends.append((result.asnumpy() * weights).sum())
            wanted[at] = (ends[0] - ends[1]) / 2e-6
        onp.testing.assert_allclose(x.grad.asnumpy(), wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "shapes",
    [
        ((2, 3), (3, 4)),
        ((3,), (3,)),
        ((3,), (3, 4)),
        ((2, 3), (3,)),
        ((5, 2, 3), (3,)),
        ((5, 2, 3), (3, 4)),
        ((5, 1, 2, 3), (4, 3, 2)),
        ((2, 0), (0, 3)),
        ((0, 3), (3, 2)),
    ],
)
@pytest.mark.parametrize("dtype", TYPES)
def test_matmul(shapes, dtype):
    (a, b), (x, y) = arrays(*shapes, dtype=dtype)
    actual = x @ y
    assert actual.dtype == dtype
    agree(actual, a @ b)
    agree(np.linalg.matmul(x, y), a @ b)


@pytest.mark.parametrize(
    "shapes",
    [((2, 3), (3, 4)), ((3,), (3,)), ((2, 3, 4), (5, 4, 2)), ((), (2, 3)), ((2, 3), ()), ((), ())],
)
@pytest.mark.parametrize("dtype", TYPES)
def test_dot_and_inner(shapes, dtype):
    (a, b), (x, y) = arrays(*shapes, dtype=dtype)
    agree(np.dot(x, y), onp.dot(a, b))
    agree(x.dot(y), onp.dot(a, b))
    turned = b.swapaxes(-1, -2) if b.ndim > 1 else b
    agree(np.inner(x, np.array(turned, dtype=dtype)), onp.inner(a, turned))


@pytest.mark.parametrize(
    ("shapes", "axes"),
    [
        (((2, 3, 4), (3, 4, 5)), 2),
        (((2, 3), (4,)), 0),
        (((2, 3, 4), (4, 3, 5)), ((1, 2), (1, 0))),
        (((2, 3, 4), (4, 3, 2)), ([2], [0])),
        (((3, 4), (4, 3)), (1, 0)),
    ],
)
@pytest.mark.parametrize("dtype", ("float32", "float16", "int32"))
def test_tensordot(shapes, axes, dtype):
    (a, b), (x, y) = arrays(*shapes, dtype=dtype)
    agree(np.tensordot(x, y, axes), onp.tensordot(a, b, axes))


def test_outer_vdot_vecdot():
    (a, b), (x, y) = arrays((2, 3), (2, 3))
    agree(np.outer(x, y), onp.outer(a, b))
    agree(np.vdot(x, y), onp.vdot(a, b))
    agree(np.vecdot(x, y), (a * b).sum(-1))
    agree(np.vecdot(x, y, axis=0), (a * b).sum(0))
    with pytest.raises(ValueError, match="length"):
        np.vecdot(x, y[:, :2])


def test_products_of_pairs_keep_the_sign_of_zero():
    with mx.util.np_default_dtype():
        signs = onp.signbit(np.outer([0.0, -0.0, 2.0], [-0.0, 0.0]).asnumpy())
        assert signs.tolist() == [[True, False], [False, True], [True, False]]
        assert np.outer([], [1.0]).shape == (0, 1)


EINSUMS = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk", (2, 3), (3, 4)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)),
    ("bij,bjk->bik", (5, 2, 3), (5, 3, 4)),
    ("...ij,...jk->...ik", (5, 2, 3), (3, 4)),
    ("ii", (3, 3)),
    ("ii->i", (3, 3)),
    ("ij->ji", (2, 3)),
    ("i,j->ij", (3,), (4,)),
    ("i,i,i->", (3,), (3,), (3,)),
    ("ijk,ilm,njm,nlk,abc->", (2, 2, 2), (2, 2, 2), (2, 2, 2), (2, 2, 2), (1, 2, 3)),
    ("ij,kl->", (2, 3), (4, 5)),
    (",ij", (), (2, 3)),
    ("ij,j->i", (0, 3), (3,)),
    ("...->...", (2, 3)),
]


@pytest.mark.parametrize(("text", *["rest"]), [(case[0], case[1:]) for case in EINSUMS])
@pytest.mark.parametrize("dtype", ("float64", "float32", "float16", "int32", "int8"))
def test_einsum(text, rest, dtype):
    made, given = arrays(*rest, dtype=dtype)
    actual = np.einsum(text, *given)
    assert actual.dtype == dtype
    agree(actual, onp.einsum(text, *made))


@pytest.mark.parametrize(("text", *["rest"]), [(case[0], case[1:]) for case in EINSUMS[:10]])
def test_gradients_of_einsum(text, rest):
    slopes(lambda *x: np.einsum(text, *x), *arrays(*rest)[0])


def test_einsum_with_lists_of_axes():
    (a, b), (x, y) = arrays((2, 3), (3, 4))
    agree(np.einsum(x, [0, 1], y, [1, 2], [0, 2]), a @ b)
    agree(np.einsum(x, [0, 1], y, [1, 2]), a @ b)
    agree(np.einsum(x, [..., 0], [0, ...]), a.T)


@pytest.mark.parametrize("text", ["ij,jk", "ij->k", "ij->ii", "i", "i!->i"])
def test_einsum_refuses(text):
    with pytest.raises(mx.MXNetError, match="_npi_einsum.*subscripts"):
        np.einsum(text, np.ones((2, 3)))


@pytest.mark.parametrize(
    "shapes", [((3,), (3,)), ((3,), (3, 2)), ((2, 3), (3,)), ((5, 1, 2, 3), (4, 3, 2))]
)
def test_gradients_of_matmul(shapes):
    slopes(np.matmul, *arrays(*shapes)[0])


def test_second_gradients():
    (a, b), (x, y) = arrays((2, 3), (3, 2))
    x.attach_grad()
    for product in (np.matmul, np.dot, lambda x, y: np.einsum("ij,jk->ik", x, y)):
        with autograd.record():
            loss = (product(x, y) ** 2).sum()
            slope = autograd.grad(loss, x, create_graph=True)[0].sum()
        slope.backward()
        agree(x.grad, 2 * onp.ones((2, 3)) @ b @ b.T)


def test_mixed_types_and_out():
    whole, single = np.ones((2, 2), "int32"), np.ones((2, 2), "float32")
    assert (whole @ single).dtype == "float32"
    assert np.einsum("ij,jk", whole, single).dtype == "float32"
    out = np.zeros((2, 2))
    assert np.dot(single, single, out=out) is out
    assert out.tolist() == [[2, 2], [2, 2]]
    assert ([[1.0, 2.0]] @ np.ones((2, 2))).tolist() == [[3, 3]]


def test_refused_shapes():
    for call in (np.matmul, np.dot, np.inner):
        with pytest.raises(mx.MXNetError, match="sizes 3 and 2 differ"):
            call(np.ones((2, 3)), np.ones((2, 2)))
    with pytest.raises(mx.MXNetError, match="one dimension"):
        np.matmul(np.ones(()), np.ones((2, 2)))
    with pytest.raises(mx.MXNetError, match="axes"):
        np.tensordot(np.ones((2, 3)), np.ones((3, 2)), axes=3)


@pytest.mark.parametrize(
    "subscripts, shapes",
    [
        ("ij,jk->ik", [(2, 3), (3, 2)]),
        ("ii->i", [(3, 3)]),
        ("i,i", [(4,), (4,)]),
        ("...j", [(2, 3)]),
    ],
)
@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_integers_have_gradients_in_sums_of_products(subscripts, shapes, kind):
    _, whole = arrays(*shapes, dtype=kind)
    _, real = arrays(*shapes, dtype="float64")
    for operands in (whole, real):
        for x in operands:
            x.attach_grad()
        with autograd.record():
            actual = np.einsum(subscripts, *operands)
        actual.backward()
    for x, y in zip(whole, real, strict=True):
        assert x.grad.dtype == kind
        onp.testing.assert_array_equal(x.grad.asnumpy(), y.grad.asnumpy())


@pytest.mark.parametrize("name", ["cumsum", "trace"])
def test_integers_have_gradients_in_sums(name):
    _, (whole,) = arrays((3, 3), dtype="int64")
    whole.attach_grad()
    with autograd.record():
        actual = getattr(np, name)(whole)
    actual.backward()
    want = onp.arange(9, 0, -1).reshape(3, 3) if name == "cumsum" else onp.eye(3)
    onp.testing.assert_array_equal(whole.grad.asnumpy(), want)


def test_running_sums_of_half_precision_are_numpys():
    values = onp.random.RandomState(0).uniform(-1, 1, (3, 700)).astype("float16")
    for axis in (None, 0, 1):
        want = onp.cumsum(values, axis)
        onp.testing.assert_array_equal(np.cumsum(np.array(values, "float16"), axis).asnumpy(), want)
        if axis is not None:
            actual = mx.nd.array(values, dtype="float16")
            onp.testing.assert_array_equal(mx.nd.cumsum(actual, axis=axis).asnumpy(), want)


@pytest.mark.parametrize("name", ["inner", "vdot", "outer"])
@pytest.mark.parametrize("shapes", [((4,), (4,)), ((2, 3), (3, 2)), ((0,), (0,)), ((), ())])
@pytest.mark.parametrize("dtype", ["float32", "int32", "bool", "complex64"])
def test_products_of_flattened_arrays(name, shapes, dtype):
    if name == "inner" and shapes[0] == (2, 3):
        shapes = (2, 3), (5, 3)
    random = onp.random.RandomState(2)
    factor = 1 + 2j if dtype == "complex64" else 1
    values = [(random.randint(0, 5, shape) * factor).astype(dtype) for shape in shapes]
    products = getattr(np, name)(*(np.array(value, dtype) for value in values))
    assert products.tolist() == getattr(onp, name)(*values).tolist()


def test_matrices_and_vectors():
    m, v = onp.arange(24.0).reshape(2, 3, 4), onp.arange(8.0).reshape(2, 4)
    actual = np.matvec(np.array(m), np.array(v))
    assert actual.tolist() == onp.einsum("bij,bj->bi", m, v).tolist()
    w = onp.array([1.0, 2j, 3.0])
    expected = onp.einsum("i,bij->bj", w.conj(), m)
    assert np.vecmat(np.array(w), np.array(m)).tolist() == expected.tolist()
    assert np.einsum_path("ij,jk->ik", np.ones((2, 2)), np.ones((2, 2)))[0][0] == "einsum_path"
