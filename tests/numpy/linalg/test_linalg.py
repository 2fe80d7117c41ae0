"""`mx.np.linalg` against NumPy's."""

import numpy as onp
import pytest

import mxcy as mx
from mxcy import autograd

np = mx.np
linalg = np.linalg


def draw(*shape, seed=0):
    actual = onp.random.RandomState(seed).standard_normal(shape) * 0.3
    if len(shape) > 1:
        actual += onp.eye(*shape[-2:]) * onp.arange(1, shape[-1] + 1)
    return actual


def positive(*batch):
    root = draw(*batch, 3, 3)
    return root @ root.swapaxes(-1, -2) + onp.eye(3)


def given(values, dtype="float64"):
    return np.array(values, dtype=dtype)


def agree(actual, expected, rtol=1e-8):
    assert isinstance(actual, np.ndarray)
    assert actual.shape == onp.shape(expected)
    onp.testing.assert_allclose(actual.asnumpy(), expected, rtol=rtol, atol=rtol)


def check_slopes(function, *inputs):
    """Gradients of a weighted sum against finite differences."""
    made = [given(x) for x in inputs]
    for x in made:
        x.attach_grad()
    with autograd.record():
        actual = function(*made)
        weights = given(onp.cos(onp.arange(actual.size)).reshape(actual.shape))
        loss = (actual * weights).sum()
    loss.backward()
    for i, x in enumerate(made):
        wanted = onp.zeros(x.shape)
        for at in onp.ndindex(*x.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = [v.copy() for v in inputs]
                moved[i][at] += step
                ends.append((function(*map(given, moved)) * weights).sum().item())
            wanted[at] = (ends[0] - ends[1]) / 2e-6
        onp.testing.assert_allclose(x.grad.asnumpy(), wanted, rtol=1e-5, atol=1e-6)


CALLS = {
    "cholesky": (lambda la, a: la.cholesky((a + a.swapaxes(-1, -2)) / 2), positive(2)),
    "cholesky_upper": (lambda la, a: la.cholesky((a + a.T) / 2, upper=True), positive()),
    "det": (lambda la, a: la.det(a), draw(2, 3, 3)),
    "det_of_one": (lambda la, a: la.det(a), draw(3, 3)),
    "logabsdet": (lambda la, a: la.slogdet(a)[1], draw(2, 3, 3)),
    "inv": (lambda la, a: la.inv(a), draw(2, 3, 3)),
    "solve": (lambda la, a, b: la.solve(a, b), draw(2, 3, 3), draw(2, 3, 2, seed=1)),
    "solve_vector": (lambda la, a, b: la.solve(a, b), draw(3, 3), draw(3, seed=1)),
    "tensorinv": (lambda la, a: la.tensorinv(a, ind=1), draw(4, 4).reshape(4, 2, 2)),
    "tensorsolve": (
        lambda la, a, b: la.tensorsolve(a, b),
        draw(4, 4).reshape(2, 2, 2, 2),
        draw(2, 2, seed=1),
    ),
    "tensorsolve_axes": (
        lambda la, a, b: la.tensorsolve(a, b, axes=(1,)),
        draw(6, 6).reshape(2, 6, 3),
        draw(2, 3, seed=1),
    ),
    "qr": (lambda la, a: la.qr(a)[1] ** 2, draw(4, 3)),
    "qr_wide": (lambda la, a: la.qr(a)[1] ** 2, draw(2, 2, 3)),
    "qr_r": (lambda la, a: la.qr(a, mode="r") ** 2, draw(3, 3)),
    "svdvals": (lambda la, a: la.svdvals(a), draw(2, 2, 3)),
    "svd": (lambda la, a: la.svd(a, full_matrices=False)[0] ** 2, draw(4, 2)),
    "svd_wide": (lambda la, a: la.svd(a, full_matrices=False)[2] ** 2, draw(2, 4)),
    "eigvalsh": (lambda la, a: la.eigvalsh(a + a.swapaxes(-1, -2)), draw(2, 3, 3)),
    "eigh": (lambda la, a: la.eigh(a + a.swapaxes(-1, -2))[1] ** 2, draw(3, 3)),
    "pinv": (lambda la, a: la.pinv(a), draw(2, 4, 3)),
    "pinv_wide": (lambda la, a: la.pinv(a), draw(2, 3)),
    "lstsq": (lambda la, a, b: la.lstsq(a, b, rcond=None)[0], draw(4, 3), draw(4, 2, seed=1)),
    "lstsq_vector": (lambda la, a, b: la.lstsq(a, b, rcond=None)[0], draw(4, 3), draw(4, seed=1)),
    "lstsq_wide": (lambda la, a, b: la.lstsq(a, b, rcond=None)[0], draw(2, 3), draw(2, seed=1)),
    "residuals": (lambda la, a, b: la.lstsq(a, b, rcond=None)[1], draw(4, 3), draw(4, 2, seed=1)),
    "matrix_power": (lambda la, a: la.matrix_power(a, 5), draw(2, 2)),
    "matrix_power_inverse": (lambda la, a: la.matrix_power(a, -2), draw(2, 2)),
    "multi_dot": (
        lambda la, a, b, c: la.multi_dot([a, b, c]),
        draw(2, 3),
        draw(3, 4, seed=1),
        draw(4, 2, seed=2),
    ),
    "multi_dot_vectors": (
        lambda la, a, b, c: la.multi_dot([a, b, c]),
        draw(3),
        draw(3, 4, seed=1),
        draw(4, seed=2),
    ),
    "cond": (lambda la, a: la.cond(a), draw(3, 3)),
    "cond_fro": (lambda la, a: la.cond(a, "fro"), draw(3, 3)),
    "trace": (lambda la, a: la.trace(a, offset=1), draw(2, 3, 4)),
    "diagonal": (lambda la, a: la.diagonal(a, offset=-1), draw(2, 3, 4)),
    "vector_norm": (lambda la, a: la.vector_norm(a, ord=3, axis=1), draw(3, 4)),
    "vector_norm_inf": (lambda la, a: la.vector_norm(a, ord=onp.inf), draw(3, 4)),
    "matrix_norm": (lambda la, a: la.matrix_norm(a), draw(2, 3, 4)),
    **{
        f"norm_{order}": (lambda la, a, order=order: la.norm(a, order), draw(3, 4))
        for order in (None, "fro", "nuc", 1, -1, 2, -2, onp.inf, -onp.inf)
    },
    "norm_axis": (lambda la, a: la.norm(a, axis=0, keepdims=True), draw(3, 4)),
    "norm_axes": (lambda la, a: la.norm(a, 1, axis=(2, 0), keepdims=True), draw(2, 3, 4)),
}


@pytest.mark.parametrize("name", CALLS)
def test_values(name):
    function, *inputs = CALLS[name]
    expected = function(onp.linalg, *inputs)
    agree(function(linalg, *map(given, inputs)), expected)
    single = function(linalg, *(given(x, "float32") for x in inputs))
    assert single.dtype == "float32"
    agree(single, expected, 2e-3)


@pytest.mark.parametrize("name", CALLS)
def test_gradients(name):
    function, *inputs = CALLS[name]
    check_slopes(lambda *x: function(linalg, *x), *inputs)


@pytest.mark.parametrize(
    ("function", "fields"),
    [
        (linalg.slogdet, ("sign", "logabsdet")),
        (linalg.qr, ("Q", "R")),
        (linalg.svd, ("U", "S", "Vh")),
        (linalg.eigh, ("eigenvalues", "eigenvectors")),
        (linalg.eig, ("eigenvalues", "eigenvectors")),
        (lambda a: linalg.lstsq(a, a), ("x", "residuals", "rank", "s")),
    ],
)
def test_results_of_several_arrays_have_names(function, fields):
    actual = function(given(positive()))
    assert isinstance(actual, tuple)
    assert actual._fields == fields


@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (2, 3, 3), (0, 3), (3, 0), (2, 0, 0)])
def test_svd_of_any_shape(shape):
    a = given(draw(*shape))
    for full in (False, True):
        u, s, v = linalg.svd(a, full)
        k = s.shape[-1]
        assert u.shape[-1] == (shape[-2] if full else min(shape[-2:]))
        agree((u[..., :k] * s.reshape((*s.shape[:-1], 1, k))) @ v[..., :k, :], a.asnumpy())
    assert linalg.svd(a).U.shape == linalg.svd(a, False).U.shape
    with mx.util.np_default_dtype(True):
        assert linalg.svd(a).U.shape == linalg.svd(a, True).U.shape


@pytest.mark.parametrize("dtype", ["int32", "uint8", "bool", "float16"])
def test_other_types(dtype):
    a = np.eye(3, dtype=dtype)
    expected = "float16" if dtype == "float16" else "float64"
    for function in (linalg.inv, linalg.det, linalg.svdvals, linalg.eigvalsh):
        assert function(a).dtype == expected
    assert linalg.norm(a).dtype == ("float16" if dtype == "float16" else "float32")
    agree(linalg.inv(a), onp.eye(3))
    assert linalg.norm(np.array([3, 4], dtype="int32")).item() == 5
    if dtype != "float16":
        with mx.util.np_default_dtype(True):
            assert linalg.inv(a).dtype == linalg.norm(a).dtype == "float64"


def test_rank_and_eigenvalues():
    singular = onp.array([[1.0, 2], [2, 4]])
    a = given([singular, onp.eye(2), 0 * singular])
    rank = linalg.matrix_rank(a)
    assert rank.dtype == "int64"
    assert rank.tolist() == linalg.matrix_rank(a, hermitian=True).tolist() == [1, 2, 0]
    assert linalg.matrix_rank(a, rtol=2.0).tolist() == [0, 0, 0]
    assert linalg.matrix_rank(given([0, 1.0])).item() == 1
    agree(linalg.eigvals(given([[2.0, 1], [0, 3]])), [2, 3])
    with pytest.raises(mx.MXNetError, match="complex"):
        linalg.eigvals(given([[0, 1.0], [-1, 0]])).wait_to_read()
    actual = linalg.lstsq(given(singular), given([1.0, 2]))
    assert actual.rank.item() == 1
    assert actual.residuals.shape == (0,)


def test_norms_of_zeros():
    x = np.zeros(3)
    x.attach_grad()
    for order in (None, 1, 3, onp.inf):
        with autograd.record():
            y = linalg.norm(x, order)
        y.backward()
        assert x.grad.tolist() == [0, 0, 0]
    assert linalg.norm(np.zeros(0)).item() == 0
    assert linalg.norm([3.0, 4.0]).item() == 5


@pytest.mark.parametrize(
    "call",
    [
        lambda: linalg.inv(np.zeros((2, 2))),
        lambda: linalg.solve(np.zeros((2, 2)), np.ones(2)),
        lambda: linalg.cholesky(-np.eye(2)),
        lambda: linalg.inv(np.ones((2, 3))),
        lambda: linalg.solve(np.eye(2), np.ones(3)),
        lambda: linalg.svd(np.ones(3))[0],
        lambda: linalg.svd(np.array([[onp.nan]]))[0],
    ],
)
def test_invalid_matrices_raise(call):
    with pytest.raises(mx.MXNetError):
        call().wait_to_read()


@pytest.mark.parametrize(
    "call",
    [
        lambda a: linalg.matrix_norm(a, axis=(0,)),
        lambda a: linalg.matrix_norm(a, axis=None),
        lambda a: linalg.matrix_norm(a, axis=(0, 0)),
        lambda a: linalg.matrix_norm(a, ord=3),
        lambda a: linalg.norm(a, "abc"),
        lambda a: linalg.norm(a, axis=2),
        lambda a: linalg.norm(a[0], "fro"),
        lambda a: linalg.matrix_power(a, 2),
        lambda a: linalg.multi_dot([a]),
        lambda a: linalg.diagonal(a[0]),
        lambda a: linalg.tensorinv(a, ind=0),
    ],
)
def test_refused_arguments(call):
    with pytest.raises(ValueError):
        call(np.ones((2, 3)))


def test_vecdot_by_policy():
    a = np.ones((2, 3))
    assert linalg.vecdot(a, a).item() == 6
    with mx.util.np_default_dtype(True):
        assert linalg.vecdot(a, a).tolist() == [3, 3]
    assert linalg.vecdot(a, a, axis=0).tolist() == [2, 2, 2]


def test_matrix_transpose():
    assert linalg.matrix_transpose(np.ones((2, 3, 4))).shape == (2, 4, 3)
    with pytest.raises(ValueError, match="two dimensions"):
        linalg.matrix_transpose(np.ones(3))


def test_singular_values_alone():
    x = onp.arange(6.0).reshape(2, 3)
    expected = onp.linalg.svd(x, compute_uv=False)
    for actual in (np.linalg.svd(np.array(x), compute_uv=False), np.linalg.svdvals(np.array(x))):
        onp.testing.assert_allclose(actual.asnumpy(), expected, rtol=1e-5)
    onp.testing.assert_allclose(
        onp.linalg.svd(np.array(x), compute_uv=False).asnumpy(), expected, rtol=1e-5
    )


@pytest.mark.parametrize("shape", [(), (2,), (1, 2)])
def test_pseudo_inverses_with_a_threshold_each(shape):
    x = onp.array([onp.diag([4.0, 2.0, 0.5]), onp.diag([8.0, 2.0, 1.0])])
    threshold = onp.resize(onp.array([0.2, 0.3]), shape)
    if len(shape) == 2:
        x = x[None]
    actual = np.linalg.pinv(np.array(x), np.array(threshold))
    onp.testing.assert_allclose(
        actual.asnumpy(), onp.linalg.pinv(x, threshold), rtol=1e-5, atol=1e-6
    )


def test_tensorsolve_of_one_element():
    for a, b in (((), ()), ((1, 1, 1), (1, 1, 1)), ((1, 1), (1,)), ((1, 1, 1), ())):
        x, y = onp.full(a, 2.0), onp.full(b, 3.0)
        expected = onp.linalg.tensorsolve(x, y)
        actual = np.linalg.tensorsolve(np.array(x), np.array(y))
        assert actual.shape == expected.shape and float(actual.sum()) == 1.5


@pytest.mark.parametrize("value", [onp.inf, onp.nan])
@pytest.mark.parametrize(
    "function",
    [
        linalg.svd,
        linalg.pinv,
        linalg.eigvalsh,
        linalg.matrix_rank,
        lambda a: linalg.lstsq(a, a),
        lambda a: linalg.norm(a, "nuc"),
    ],
)
def test_singular_values_of_nonfinite_matrices(function, value):
    matrix = onp.eye(3, dtype="float32")
    matrix[0, 0] = value  # LAPACK may never end with it
    with pytest.raises(mx.MXNetError, match="finite"):
        function(np.array(matrix))
        mx.nd.waitall()


@pytest.mark.parametrize("shape, axes", [((), (0,)), ((2, 3, 6), (3,)), ((2, 3, 6), (1, 1))])
def test_tensorsolve_refuses_missing_or_repeated_axes(shape, axes):
    with pytest.raises(mx.MXNetError, match="a_axes"):
        np.linalg.tensorsolve(np.ones(shape), np.ones(shape[:2]), axes)


@pytest.mark.parametrize(
    "a, b, axes",
    [
        ((1, 1), (1, 1, 1, 1, 1), None),
        ((1,), (1, 1), None),
        ((1, 1, 1), (1, 1, 1), (2, 0, 1)),
        ((1, 1, 1), (), (0, 1, 2)),
        ((3, 2, 6), (6,), (0, 1)),
    ],
)
def test_tensorsolve_of_any_numbers_of_axes(a, b, axes):
    left, right = draw(*a, seed=3) + 1.0, draw(*b, seed=4) + 2.0
    if axes == (0, 1):
        left = left.reshape(6, 6) + 4 * onp.eye(6)
        left = left.reshape(3, 2, 6)
    want = onp.linalg.tensorsolve(left, right, axes)
    left, right = np.array(left, dtype="float64"), np.array(right, dtype="float64")
    right.attach_grad()
    with autograd.record():
        actual = linalg.tensorsolve(left, right, axes)
    actual.backward()
    assert actual.shape == want.shape and right.grad.shape == b
    onp.testing.assert_allclose(actual.asnumpy(), want, rtol=1e-8)


@pytest.mark.parametrize(
    ("axis", "shape"), [(None, (1,)), (1, (2, 1, 4)), ((0, 2), (1, 3)), ((-1,), (1, 2, 3))]
)
def test_axes_that_vector_norm_keeps(axis, shape):
    ones = np.ones((2, 3, 4))
    assert np.linalg.vector_norm(ones, axis=axis, keepdims=True).shape == shape
    with mx.util.np_default_dtype():
        kept = onp.ones((2, 3, 4)).sum(axis, keepdims=True).shape
        assert np.linalg.vector_norm(ones, axis=axis, keepdims=True).shape == kept
    assert np.linalg.norm(ones, keepdims=True).shape == (1, 1, 1)
