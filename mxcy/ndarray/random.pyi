"""`mx.nd.random`: random arrays."""

# Written by `python -m tools.stubs --write`.

from typing import TypeAlias
from mxcy.ndarray.ndarray import (
    NDArray as NDArray,
)

_Out: TypeAlias = NDArray | list[NDArray] | None

def binomial(n=1, p=0.5, shape=..., dtype=..., ctx=None, out=None, **kwargs) -> NDArray:
    """Draw samples from a binomial distribution, as floating-point numbers."""
def categorical(data, shape=..., get_prob=False, out=None, dtype="int32", **kwargs):
    """Draw indices; alias of `multinomial`."""
def counted_draws(n, p, shape, dtype) -> NDArray:
    """Count how often each index is drawn; see `multinomial`."""
def exponential(scale=1, shape=..., dtype=..., ctx=None, out=None, **kwargs) -> NDArray:
    """Draw samples from an exponential distribution."""
def exponential_like(
    data: NDArray, lam: float = 1.0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Draw samples with the shape and dtype of an array from the exponential ..."""
def gamma(alpha=1, beta=1, shape=..., dtype=..., ctx=None, out=None, **kwargs) -> NDArray:
    """Draw samples from a gamma distribution."""
def gamma_like(
    data: NDArray, alpha: float = 1.0, beta: float = 1.0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Draw samples with the shape and dtype of an array from the gamma distribution with ..."""
def generalized_negative_binomial(
    mu=1, alpha=1, shape=..., dtype=..., ctx=None, out=None, **kwargs,
) -> NDArray:
    """Draw samples from a negative binomial distribution parametrized by its mean."""
def generalized_negative_binomial_like(
    data: NDArray, mu: float = 1.0, alpha: float = 1.0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Draw samples with the shape and dtype of an array from the generalized negative ..."""
def multinomial(
    data=None, shape=..., get_prob=False, out=None, dtype=None, *, n=None, p=None, **kwargs,
):
    """Draw indices along the last axis of an array of probabilities."""
def negative_binomial(k=1, p=1, shape=..., dtype=..., ctx=None, out=None, **kwargs) -> NDArray:
    """Draw samples from a negative binomial distribution, as floating-point numbers."""
def negative_binomial_like(
    data: NDArray, k: int = 1, p: float = 1.0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Draw samples with the shape and dtype of an array from the negative binomial ..."""
def normal(loc=0, scale=1, shape=..., dtype=..., ctx=None, out=None, **kwargs) -> NDArray:
    """Draw samples from a normal distribution."""
def normal_like(
    data: NDArray, loc: float = 0.0, scale: float = 1.0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Draw samples with the shape and dtype of an array from the normal distribution ..."""
def poisson(lam=1, shape=..., dtype=..., ctx=None, out=None, **kwargs) -> NDArray:
    """Draw samples from a Poisson distribution, as floating-point numbers."""
def poisson_like(
    data: NDArray, lam: float = 1.0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Draw samples with the shape and dtype of an array from the Poisson distribution ..."""
def randint(low, high, shape=..., dtype=..., ctx=None, out=None, **kwargs) -> NDArray:
    """Draw integers from the uniform distribution on [low, high)."""
def randn(*shape, **kwargs) -> NDArray:
    """Draw samples from a normal distribution; positional arguments are the shape."""
def shuffle(data, **kwargs) -> NDArray:
    """Shuffle an array along its first axis."""
def uniform(low=0, high=1, shape=..., dtype=..., ctx=None, out=None, **kwargs) -> NDArray:
    """Draw samples from the uniform distribution on [low, high)."""
def uniform_like(
    data: NDArray, low: float = 0.0, high: float = 1.0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Draw samples with the shape and dtype of an array from the uniform distribution on ..."""
