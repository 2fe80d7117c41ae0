"""NumPy's distributions that MXNet lacks: moments, types, shapes, seeds, errors."""

import numpy as onp
import pytest

from mxcy import autograd, gluon, np, npx
from mxcy.base import MXNetError

COUNT = 20000
WHOLE = {
    "poisson": (3.5,),
    "binomial": (10, 0.3),
    "negative_binomial": (2.5, 0.4),
    "geometric": (0.3,),
    "hypergeometric": (10, 20, 7),
    "logseries": (0.6,),
    "zipf": (4.5,),
}
FLOATING = {
    "standard_t": (7,),
    "standard_exponential": (),
    "standard_gamma": (2.0,),
    "triangular": (-1.0, 0.0, 4.0),
    "wald": (2.0, 3.0),
    "noncentral_chisquare": (3.0, 2.0),
    "noncentral_f": (4.0, 12.0, 2.0),
    "vonmises": (1.0, 2.0),
    "random_sample": (),
}
SOME = sorted({**WHOLE, **FLOATING}.items())


@pytest.mark.parametrize(("name", "parameters"), SOME)
def test_samples_are_distributed_as_numpys(name, parameters):
    np.random.seed(11)
    drawn = getattr(np.random, name)(*parameters, size=COUNT).asnumpy()
    other = getattr(onp.random.RandomState(11), name)(*parameters, size=COUNT)
    shares = onp.linspace(0.02, 0.98, 25)
    levels = onp.quantile(other, shares)
    ours, theirs = (onp.searchsorted(onp.sort(x), levels, "right") / COUNT for x in (drawn, other))
    assert onp.abs(ours - theirs).max() < 0.02


@pytest.mark.parametrize(("name", "parameters"), SOME)
def test_types_shapes_and_seeds(name, parameters):
    draw = getattr(np.random, name)
    for size in (None, (), 3, (2, 0), (2, 3)):
        np.random.seed(5)
        first = draw(*parameters, size=size)
        np.random.seed(5)
        again = draw(*parameters, size=size)
        assert first.shape == onp.empty(() if size is None else size).shape
        assert first.tolist() == again.tolist()
        assert first.dtype == (onp.int64 if name in WHOLE else onp.float32)
    assert draw(*parameters, size=2, dtype="float64").dtype == onp.float64
    if parameters:
        arrays = [np.array([[value], [value]]) for value in parameters]
        assert draw(*arrays).shape == (2, 1)
        assert draw(*arrays, size=(3, 2, 4)).shape == (3, 2, 4)
        assert draw(*([value, value] for value in parameters)).shape == (2,)


def test_shares_have_the_sum_one():
    shares = np.random.dirichlet([1.0, 2.0, 3.0], (400, 2))
    assert shares.shape == (400, 2, 3) and shares.dtype == onp.float32
    onp.testing.assert_allclose(shares.asnumpy().sum(-1), 1, rtol=1e-5)
    onp.testing.assert_allclose(shares.asnumpy().mean((0, 1)), [1 / 6, 1 / 3, 1 / 2], atol=0.04)


def test_quartiles_of_cauchy():
    np.random.seed(2)
    drawn = np.random.standard_cauchy(COUNT).asnumpy()
    onp.testing.assert_allclose(onp.quantile(drawn, [0.25, 0.5, 0.75]), [-1, 0, 1], atol=0.06)


def test_bytes_and_states():
    state = np.random.get_state()
    first = np.random.bytes(7)
    np.random.set_state(state)
    assert np.random.bytes(7) == first and len(first) == 7


def test_certain_success():
    assert np.random.geometric(1.0, 3).tolist() == [1, 1, 1]
    assert np.random.geometric(np.array([1.0])).tolist() == [1]
    assert np.random.binomial([3, 0], 1.0).tolist() == [3, 0]


def test_gradients_flow_through_formulas():
    left, mode, right = (np.array(value) for value in (-1.0, 0.5, 2.0))
    left.attach_grad()
    right.attach_grad()
    with autograd.record():
        np.random.triangular(left, mode, right, 50).sum().backward()
    assert left.grad.item() > 0 and right.grad.item() > 0


class Noisy(gluon.HybridBlock):
    def __init__(self, draw):
        super().__init__()
        self.draw = draw

    def forward(self, x):
        return x + self.draw(size=x.shape)


@pytest.mark.parametrize("name", ["poisson", "standard_t", "vonmises"])
def test_hybridized_blocks_draw_anew(name):
    npx.set_np()
    try:
        parameters = {**WHOLE, **FLOATING}[name]
        block = Noisy(lambda size: getattr(np.random, name)(*parameters, size=size))
        block.hybridize()
        x = np.zeros((5, 40))
        assert block(x).tolist() != block(x).tolist()
    finally:
        npx.reset_np()


@pytest.mark.parametrize(
    "call",
    [
        lambda: np.random.poisson(-1.0).asnumpy(),
        lambda: np.random.binomial(3, 1.5).asnumpy(),
        lambda: np.random.geometric(0.0),
        lambda: np.random.hypergeometric(1, 1, 5),
        lambda: np.random.standard_gamma(-1.0),
    ],
)
def test_bad_parameters(call):
    with pytest.raises((ValueError, MXNetError)):
        call()
