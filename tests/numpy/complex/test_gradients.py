"""Gradients through complex numbers: of real losses, dL/dx + i dL/dy for z = x + iy."""

import numpy as onp
import pytest

import mxcy as mx

np = mx.np
RNG = onp.random.default_rng(5)
Z = RNG.normal(size=(3, 4)) + 1j * RNG.normal(size=(3, 4))
W = RNG.normal(size=(3, 4)) + 1j * RNG.normal(size=(3, 4)) + 2
X = RNG.normal(size=(3, 4))
STEP = 1e-6


def loss_of(function, arrays):
    """A real number that depends on real and imaginary parts in different ways."""
    actual = function(*arrays)
    weights = np.array(onp.linspace(0.5, 1.5, actual.size).reshape(actual.shape), dtype="float64")
    if actual.dtype.kind == "c":
        return (np.real(actual) * weights + np.imag(actual) ** 2).sum()
    return (actual * weights).sum()


def slopes(function, values, which):
    """Finite differences by the real and by the imaginary parts."""
    actual = onp.zeros(values[which].shape, values[which].dtype)
    units = (1, 1j) if actual.dtype.kind == "c" else (1,)
    for place in onp.ndindex(actual.shape):
        for unit in units:
            ends = []
            for sign in (1, -1):
                moved = [v.copy() for v in values]
                moved[which][place] += sign * unit * STEP
                arrays = [np.array(v, dtype=v.dtype) for v in moved]
                ends.append(loss_of(function, arrays).item())
            actual[place] += unit * (ends[0] - ends[1]) / (2 * STEP)
    return actual


def check(function, *values):
    arrays = [np.array(v, dtype=v.dtype) for v in values]
    for array in arrays:
        array.attach_grad()
    with mx.autograd.record():
        loss = loss_of(function, arrays)
    loss.backward()
    for i, array in enumerate(arrays):
        assert array.grad.dtype == array.dtype
        expected = slopes(function, list(values), i)
        onp.testing.assert_allclose(array.grad.asnumpy(), expected, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize(
    "name",
    "absolute negative positive square sqrt reciprocal exp expm1 log log2 log10 log1p sin cos tan "
    "sinh cosh tanh arcsin arccos arctan arcsinh arccosh arctanh sign conj real imag angle".split(),
)
def test_unary(name):
    check(getattr(np, name), Z * 0.7 + 0.2 - 0.4j)


@pytest.mark.parametrize("name", "add subtract multiply true_divide power".split())
def test_binary(name):
    for values in ((Z, W), (W, X), (X, W), (Z[0], W), (Z[:, :1], X)):
        if name == "power" and values[0] is X:
            values = (onp.abs(X) + 0.3, W)
        check(getattr(np, name), *values)
    check(lambda z: getattr(np, name)(z, 1.5), W)
    check(lambda z: getattr(np, name)(2.5, z), W)
    check(lambda z: getattr(np, name)(z, 1.5 - 2j), W)
    check(lambda x: getattr(np, name)(x, 1.5 - 2j), onp.abs(X) + 0.5)


@pytest.mark.parametrize(
    "function",
    [
        lambda z: z.sum(axis=1),
        lambda z: z.mean(axis=0),
        lambda z: z.prod(axis=1),
        lambda z: z.var(axis=1),
        lambda z: z.std(),
        lambda z: z.cumsum(axis=0),
        lambda z: np.cumprod(z, axis=1),
        lambda z: np.linalg.norm(z, axis=1),
        lambda z: np.linalg.norm(z, 1, axis=0),
        lambda z: np.linalg.norm(z, 3, axis=0),
        lambda z: np.average(z, axis=0),
        lambda z: z.reshape(4, 3).T[1:, ::2],
        lambda z: np.concatenate([z, z * 1j], axis=1),
        lambda z: np.where(z.real > 0, z, z * z),
        lambda z: np.pad(z, 1),
        lambda z: np.roll(z, 2, axis=1) + np.flip(z),
        lambda z: z[np.array([0, 2, 0], dtype="int64")],
        lambda z: np.trace(z),
        lambda z: z.real.astype("complex128") * z.astype("complex128"),
        lambda z: np.stack([z.real, z.imag]),
        lambda z: np.diff(z),
    ],
)
def test_others(function):
    check(function, Z)


def test_products():
    square = Z[:, :3] + 3 * onp.eye(3)
    check(lambda a, b: a @ b, Z, W.T)
    check(lambda a, b: a @ b, X, W.T)
    check(np.vdot, Z, W)
    check(np.vecdot, Z, W)
    check(lambda a, b: np.einsum("ij,kj->ik", a, b), Z, W)
    check(lambda a, b: np.tensordot(a, b, ((1,), (1,))), Z, X)
    check(np.outer, Z[0], W[1])
    check(np.linalg.solve, square, W)
    check(np.linalg.inv, square)
    check(np.linalg.det, square)


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize("n", [None, 3, 7])
def test_transforms(n, norm):
    for name in ("fft", "ifft", "irfft", "hfft"):
        check(lambda z, name=name: getattr(np.fft, name)(z, n, norm=norm), Z)
        check(lambda z, name=name: getattr(np.fft, name)(z, n, norm=norm), X)
    for name in ("rfft", "ihfft"):
        check(lambda z, name=name: getattr(np.fft, name)(z, n, axis=0, norm=norm), X)


def test_transforms_over_axes():
    for name in ("fftn", "ifftn", "irfftn"):
        check(lambda z, name=name: getattr(np.fft, name)(z), Z)
        check(lambda z, name=name: getattr(np.fft, name)(z, s=(5, 2), axes=(1, 0)), Z)
    check(np.fft.rfftn, X)
    check(lambda x: abs(np.fft.rfft2(x)), X)
    check(np.fft.fftshift, Z)


def test_functions_without_complex_gradients():
    array = np.array(Z[:, :3])
    for function in (
        lambda z: np.linalg.svd(z).S,
        lambda z: np.linalg.eigh(z).eigenvalues,
        lambda z: abs(np.linalg.qr(z).Q),
        lambda z: np.linalg.slogdet(z).logabsdet,
    ):
        array.attach_grad()
        with mx.autograd.record():
            loss = function(array).sum()
        with pytest.raises(mx.MXNetError, match="gradients of complex numbers are not supported"):
            loss.backward()


def test_a_spectrum_in_a_block():
    class Spectrum(mx.gluon.HybridBlock):
        def forward(self, x):
            return abs(np.fft.rfft(np.tanh(x)))

    with mx.util.np_shape(), mx.util.np_array():
        x, net = np.array(X), Spectrum()
        collected = []
        for hybrid in (False, True):
            net.hybridize(hybrid)
            x.attach_grad()
            with mx.autograd.record():
                y = net(x)
            y.backward()
            collected.append((y.asnumpy(), x.grad.asnumpy()))
        for one, other in zip(*collected, strict=True):
            onp.testing.assert_allclose(one, other, rtol=1e-5)
