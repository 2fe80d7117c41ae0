"""Discrete distributions, choices and permutations of `mx.np.random`."""

import math

import numpy as onp

from mxcy.base import integer_types
from mxcy.numpy._arrays.operators import function
from mxcy.numpy._calls.by_numpy import as_onp
from mxcy.numpy._calls.general import operate
from mxcy.numpy._calls.operands import as_array, from_onp, is_array
from mxcy.numpy._creation.rules import place
from mxcy.numpy._random.draws import (
    common_extents,
    described,
    draw,
    draw_by_numpy,
    draw_counts,
    extents_of,
    name_of,
    parameters_of,
)

__all__ = [
    "bernoulli",
    "binomial",
    "bytes",
    "choice",
    "geometric",
    "hypergeometric",
    "logseries",
    "multinomial",
    "negative_binomial",
    "permutation",
    "poisson",
    "randint",
    "shuffle",
    "zipf",
]


def bernoulli(prob=None, logit=None, size=None, dtype=None, device=None, out=None, ctx=None):
    """Draw samples from the Bernoulli distribution: 1 with a given probability, else 0.

    Parameters
    ----------
    prob, logit : float or ndarray, optional
        Probability of 1, or its log-odds; exactly one must be given.
    size : int or tuple of int, optional
        Shape of the result; by default that of the parameter.
    dtype : dtype, optional
        Default floating-point type if omitted.
    device, ctx : Device, optional
    out : ndarray, optional
        Array to write the result to.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If not exactly one of them is given, or `prob` is not in [0, 1].
    """
    if (prob is None) == (logit is None):
        raise ValueError(f"bernoulli: expected prob or logit, got prob={prob}, logit={logit}")
    value, is_logit = (prob, False) if logit is None else (logit, True)
    return draw("bernoulli", {"prob": value}, size, dtype, device, ctx, out, is_logit=is_logit)


def randint(low, high=None, size=None, dtype=None, device=None, out=None, ctx=None):
    """Draw integers from the uniform distribution on [low, high), or [0, low).

    Parameters
    ----------
    low, high : int
    size : int or tuple of int, optional
        Shape of the result.
    dtype : dtype, optional
        int64 if omitted.
    device, ctx : Device, optional
    out : ndarray, optional
        Array to write the result to.

    Returns
    -------
    ndarray

    Raises
    ------
    MXNetError
        If `low` is not less than `high`.
    """
    low, high = (0, low) if high is None else (low, high)
    name = name_of(dtype) or "int64"
    drawn = name if name in ("int32", "int64") else "int64"
    shape, context = extents_of(() if size is None else size), str(place(ctx, device))
    options = {"low": low, "high": high, "shape": shape, "ctx": context, "dtype": drawn}
    if name == drawn:
        return operate("_random_randint", out=out, **options)
    return operate("Cast", operate("_random_randint", **options), dtype=name, out=out)


@described("lam")
def poisson(lam=1.0, size=None, dtype=None, device=None, ctx=None):
    """Draw samples from the Poisson distribution with mean `lam`."""
    return draw_counts("poisson", {"lam": lam}, size, dtype, device, ctx)


@described("n p")
def binomial(n, p, size=None, dtype=None, device=None, ctx=None):
    """Draw samples from the binomial distribution: successes in `n` trials of probability `p`."""
    return draw_counts("binomial", {"n": n, "p": p}, size, dtype, device, ctx)


@described("n p")
def negative_binomial(n, p, size=None, dtype=None, device=None, ctx=None):
    """Draw samples from the negative binomial distribution: failures before `n` successes."""
    n, p = parameters_of(n, p)
    size = common_extents(size, n, p)
    rates = draw("gamma", {"shape": n, "scale": (1 - p) / p}, size, "float64", device, ctx, None)
    return draw_counts("poisson", {"lam": rates}, size, dtype, device, ctx)


@described("p")
def geometric(p, size=None, dtype=None, device=None, ctx=None):
    """Draw samples from the geometric distribution: trials up to the first success."""
    (p,) = parameters_of(p)
    if isinstance(p, float):
        if not 0 < p <= 1:
            raise ValueError(f"np.random.geometric: expected 0 < p <= 1, got {p}")
        scale = -1 / math.log1p(-p) if p < 1 else 0.0
    else:
        scale = -1 / function("log1p")(-p)
    waits = draw("exponential", {"scale": scale}, size, "float64", device, ctx, None)
    return operate("Cast", function("floor")(waits) + 1, dtype=name_of(dtype) or "int64")


@described("ngood nbad nsample")
def hypergeometric(ngood, nbad, nsample, size=None, dtype=None, device=None, ctx=None):
    """Draw samples from the hypergeometric distribution, by NumPy."""
    counts = [onp.asarray(as_onp(count)).astype("int64") for count in (ngood, nbad, nsample)]
    return draw_by_numpy("hypergeometric", counts, size, dtype, device, ctx)


@described("p")
def logseries(p, size=None, dtype=None, device=None, ctx=None):
    """Draw samples from the logarithmic series distribution, by NumPy."""
    return draw_by_numpy("logseries", (p,), size, dtype, device, ctx)


@described("a")
def zipf(a, size=None, dtype=None, device=None, ctx=None):
    """Draw samples from the Zipf distribution with exponent `a`, by NumPy."""
    return draw_by_numpy("zipf", (a,), size, dtype, device, ctx)


def bytes(length):
    """Return random bytes.

    Parameters
    ----------
    length : int

    Returns
    -------
    bytes
    """
    return randint(0, 256, length, "uint8").asnumpy().tobytes()


def choice(a, size=None, replace=True, p=None, device=None, out=None, ctx=None):
    """Draw random elements of an array along its first axis, or integers below `a`.

    Parameters
    ----------
    a : int or array_like
    size : int or tuple of int, optional
        Shape of the result; a single element by default.
    replace : bool
        Whether to sample with replacement.
    p : array_like, optional
        Probabilities of the elements; uniform by default.
    device, ctx : Device, optional
    out : ndarray, optional
        Array to write the result to.

    Returns
    -------
    ndarray

    Raises
    ------
    MXNetError
        If there are too few elements.
    """
    array = None if isinstance(a, integer_types) else as_array(a)
    weights = () if p is None else (as_array(p),)
    places = operate(
        "_npi_choice",
        *weights,
        a=int(a) if array is None else array.shape[0],
        size=extents_of(() if size is None else size),
        replace=bool(replace),
        weighted=p is not None,
        ctx=str(place(ctx, device)),
        out=out if array is None else None,
    )
    return places if array is None else operate("take", array, places, axis=0, out=out)


def multinomial(n, pvals, size=None):
    """Draw samples from the multinomial distribution: the counts of each class in `n` draws.

    Parameters
    ----------
    n : int
    pvals : array_like
        Probabilities of the classes.
    size : int or tuple of int, optional
        Number of experiments; one by default.

    Returns
    -------
    ndarray
        int64, of shape ``size + (classes,)``.

    Raises
    ------
    ValueError
        If the probabilities sum to more than one.
    """
    listed = not is_array(pvals)
    if listed:
        pvals = from_onp(onp.asarray(pvals, "float64"))
    return operate("_npi_multinomial", pvals, n=n, size=extents_of(size), listed=listed)


def shuffle(x):
    """Shuffle an array in place along its first axis.

    Parameters
    ----------
    x : ndarray
    """
    if not is_array(x):
        raise TypeError(f"shuffle: expected an array, got {type(x).__name__}")
    operate("_shuffle", x, out=x)


def permutation(x):
    """Return an array shuffled along its first axis, or a random permutation of ``arange(x)``.

    Parameters
    ----------
    x : int or array_like

    Returns
    -------
    ndarray
    """
    if isinstance(x, integer_types):
        x = from_onp(onp.arange(x))
    return operate("_shuffle", as_array(x))
