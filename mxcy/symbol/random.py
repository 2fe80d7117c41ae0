"""`mx.sym.random`: random numbers.

With numbers as parameters one array of samples is drawn. With symbols of equal shape samples are
drawn per element, and the shape of the samples is appended to that of the parameters.
"""

from mxcy._base.docstrings import fill_docstring
from mxcy.base import _Null, numeric_types
from mxcy.symbol import namespaces
from mxcy.symbol.register import F
from mxcy.symbol.symbol import Symbol

__all__ = [
    "binomial",
    "categorical",
    "exponential",
    "gamma",
    "generalized_negative_binomial",
    "multinomial",
    "negative_binomial",
    "normal",
    "poisson",
    "randint",
    "randn",
    "shuffle",
    "uniform",
]

_PARAMETERS = """
    shape : int or tuple of ints, optional
        The shape of the samples: in total for numbers, per element for symbols.
    dtype : {'float16', 'float32', 'float64'}, optional
        The dtype of the samples, by default float32.
    **kwargs
        `name` and attributes of the symbol.

    Returns
    -------
    Symbol

    Raises
    ------
    AssertionError
        If some parameters are numbers and some are symbols.
    ValueError
        If a parameter is neither."""


def _documented(function):
    """Fill in the passages of a docstring shared by all distributions."""
    fill_docstring(function, {"{shared}": _PARAMETERS})
    return function


def _draw(name, shape, dtype, kwargs, **parameters):
    """Call `_random_<name>` or `_sample_<name>`, depending on the types of the parameters."""
    first = next(iter(parameters.values()))
    kind = Symbol if isinstance(first, Symbol) else numeric_types
    if not isinstance(first, kind):
        raise ValueError(
            f"Distribution parameters must be either Symbol or numbers, but got {type(first)}."
        )
    for other in parameters.values():
        assert isinstance(other, kind), (
            "Distribution parameters must all have the same type, but got both "
            f"{type(first)} and {type(other)}."
        )
    form = "sample" if kind is Symbol else "random"
    return getattr(F, f"_{form}_{name}")(*parameters.values(), shape=shape, dtype=dtype, **kwargs)


@_documented
def uniform(low=0, high=1, shape=_Null, dtype=_Null, **kwargs):
    """Draw samples from the uniform distribution on [low, high).

    Parameters
    ----------
    low, high : float or Symbol
        The bounds.
    {shared}
    """
    return _draw("uniform", shape, dtype, kwargs, low=low, high=high)


@_documented
def normal(loc=0, scale=1, shape=_Null, dtype=_Null, **kwargs):
    """Draw samples from a normal distribution.

    Parameters
    ----------
    loc : float or Symbol
        The mean.
    scale : float or Symbol
        The standard deviation.
    {shared}
    """
    return _draw("normal", shape, dtype, kwargs, loc=loc, scale=scale)


def randn(*shape, **kwargs):
    """Draw samples from a normal distribution; positional arguments are the shape.

    Parameters
    ----------
    *shape : int
        The shape of the samples.
    loc, scale : float or Symbol, optional
        The mean and the standard deviation, by default 0 and 1.
    dtype
        As for `normal`.
    """
    loc, scale = kwargs.pop("loc", 0), kwargs.pop("scale", 1)
    dtype = kwargs.pop("dtype", _Null)
    for name, value in (("loc", loc), ("scale", scale)):
        kinds = (int, float, Symbol)
        assert isinstance(value, kinds), f"{name} must be a number or a Symbol, got {type(value)}"
    return _draw("normal", shape, dtype, kwargs, loc=loc, scale=scale)


@_documented
def poisson(lam=1, shape=_Null, dtype=_Null, **kwargs):
    """Draw samples from a Poisson distribution, as floating-point numbers.

    Parameters
    ----------
    lam : float or Symbol
        The rate, at least 0.
    {shared}
    """
    return _draw("poisson", shape, dtype, kwargs, lam=lam)


@_documented
def exponential(scale=1, shape=_Null, dtype=_Null, **kwargs):
    """Draw samples from an exponential distribution.

    Parameters
    ----------
    scale : float or Symbol
        The mean, the inverse of the rate.
    {shared}
    """
    return _draw("exponential", shape, dtype, kwargs, lam=1.0 / scale)


@_documented
def gamma(alpha=1, beta=1, shape=_Null, dtype=_Null, **kwargs):
    """Draw samples from a gamma distribution.

    Parameters
    ----------
    alpha : float or Symbol
        The shape of the distribution, positive.
    beta : float or Symbol
        The scale of the distribution, positive.
    {shared}
    """
    return _draw("gamma", shape, dtype, kwargs, alpha=alpha, beta=beta)


@_documented
def negative_binomial(k=1, p=1, shape=_Null, dtype=_Null, **kwargs):
    """Draw samples from a negative binomial distribution, as floating-point numbers.

    Parameters
    ----------
    k : int or Symbol
        The number of successes until counting failures stops.
    p : float or Symbol
        The probability of a success, in (0, 1].
    {shared}
    """
    return _draw("negative_binomial", shape, dtype, kwargs, k=k, p=p)


@_documented
def generalized_negative_binomial(mu=1, alpha=1, shape=_Null, dtype=_Null, **kwargs):
    """Draw samples from a negative binomial distribution parametrized by its mean.

    Parameters
    ----------
    mu : float or Symbol
        The mean.
    alpha : float or Symbol
        The dispersion, the inverse of the (not necessarily integer) number of successes.
    {shared}
    """
    return _draw("generalized_negative_binomial", shape, dtype, kwargs, mu=mu, alpha=alpha)


@_documented
def binomial(n=1, p=0.5, shape=_Null, dtype=_Null, **kwargs):
    """Draw samples from a binomial distribution, as floating-point numbers.

    Parameters
    ----------
    n : int or Symbol
        The number of trials.
    p : float or Symbol
        The success probability of each trial.
    {shared}
    """
    return _draw("binomial", shape, dtype, kwargs, n=n, p=p)


def randint(low, high, shape=_Null, dtype=_Null, **kwargs):
    """Draw integers from the uniform distribution on [low, high).

    Parameters
    ----------
    low, high : int
        The bounds.
    shape : int or tuple of ints, optional
        The shape of the array.
    dtype : {'int32', 'int64'}, optional
        The dtype, by default int32.
    **kwargs
        `name` and attributes of the symbol.

    Returns
    -------
    Symbol
    """
    return F._random_randint(low, high, shape=shape, dtype=dtype, **kwargs)


def multinomial(data, shape=_Null, get_prob=True, dtype="int32", **kwargs):
    """Draw indices along the last axis of an array of probabilities.

    Parameters
    ----------
    data : Symbol
        Probabilities, shape (..., k); they sum to one along the last axis.
    shape : int or tuple of ints, optional
        Shape of the draws per row, by default a single one.
    get_prob : bool
        Whether to return the log-probabilities of the draws as well.
    dtype : {'uint8', 'int32', 'float16', 'float32', 'float64'}
        The dtype of the indices.
    **kwargs
        `name` and attributes of the symbol.

    Returns
    -------
    Symbol
        Indices, shape (...) + `shape`; with `get_prob` a second output of `data`'s dtype.
    """
    return F._sample_multinomial(data, shape, get_prob, dtype=dtype, **kwargs)


def categorical(data, shape=_Null, get_prob=True, dtype="int32", **kwargs):
    """Draw indices; alias of `multinomial`."""
    return multinomial(data, shape, get_prob, dtype, **kwargs)


def shuffle(data, **kwargs):
    """Shuffle an array along its first axis.

    Parameters
    ----------
    data : Symbol
    **kwargs
        `name` and attributes of the symbol.

    Returns
    -------
    Symbol
        The shuffled array, of the same shape and dtype.
    """
    return F._shuffle(data, **kwargs)


__getattr__, __dir__ = namespaces.offer(__name__, "random")
