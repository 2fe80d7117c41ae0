"""`mx.sym.random`: random numbers."""

# Written by `python -m tools.stubs --write`.

from mxcy.symbol.symbol import (
    Symbol as Symbol,
)

def binomial(n=1, p=0.5, shape=..., dtype=..., **kwargs) -> Symbol:
    """Draw samples from a binomial distribution, as floating-point numbers."""
def categorical(data, shape=..., get_prob=True, dtype="int32", **kwargs):
    """Draw indices; alias of `multinomial`."""
def exponential(scale=1, shape=..., dtype=..., **kwargs) -> Symbol:
    """Draw samples from an exponential distribution."""
def exponential_like(
    data: Symbol | None = None, lam: float = 1.0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Draw samples with the shape and dtype of an array from the exponential ..."""
def gamma(alpha=1, beta=1, shape=..., dtype=..., **kwargs) -> Symbol:
    """Draw samples from a gamma distribution."""
def gamma_like(
    data: Symbol | None = None, alpha: float = 1.0, beta: float = 1.0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Draw samples with the shape and dtype of an array from the gamma distribution with ..."""
def generalized_negative_binomial(mu=1, alpha=1, shape=..., dtype=..., **kwargs) -> Symbol:
    """Draw samples from a negative binomial distribution parametrized by its mean."""
def generalized_negative_binomial_like(
    data: Symbol | None = None, mu: float = 1.0, alpha: float = 1.0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Draw samples with the shape and dtype of an array from the generalized negative ..."""
def multinomial(data, shape=..., get_prob=True, dtype="int32", **kwargs) -> Symbol:
    """Draw indices along the last axis of an array of probabilities."""
def negative_binomial(k=1, p=1, shape=..., dtype=..., **kwargs) -> Symbol:
    """Draw samples from a negative binomial distribution, as floating-point numbers."""
def negative_binomial_like(
    data: Symbol | None = None, k: int = 1, p: float = 1.0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Draw samples with the shape and dtype of an array from the negative binomial ..."""
def normal(loc=0, scale=1, shape=..., dtype=..., **kwargs) -> Symbol:
    """Draw samples from a normal distribution."""
def normal_like(
    data: Symbol | None = None, loc: float = 0.0, scale: float = 1.0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Draw samples with the shape and dtype of an array from the normal distribution ..."""
def poisson(lam=1, shape=..., dtype=..., **kwargs) -> Symbol:
    """Draw samples from a Poisson distribution, as floating-point numbers."""
def poisson_like(
    data: Symbol | None = None, lam: float = 1.0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Draw samples with the shape and dtype of an array from the Poisson distribution ..."""
def randint(low, high, shape=..., dtype=..., **kwargs) -> Symbol:
    """Draw integers from the uniform distribution on [low, high)."""
def randn(*shape, **kwargs):
    """Draw samples from a normal distribution; positional arguments are the shape."""
def shuffle(data, **kwargs) -> Symbol:
    """Shuffle an array along its first axis."""
def uniform(low=0, high=1, shape=..., dtype=..., **kwargs) -> Symbol:
    """Draw samples from the uniform distribution on [low, high)."""
def uniform_like(
    data: Symbol | None = None, low: float = 0.0, high: float = 1.0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Draw samples with the shape and dtype of an array from the uniform distribution on ..."""
