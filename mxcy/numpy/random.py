"""`mx.np.random`: random arrays out of the current device's serial engine, MXNet 2's for a seed."""

import math

import numpy as onp

from mxcy import random as streams
from mxcy._base import dtypes
from mxcy._library import front
from mxcy.base import integer_types
from mxcy.numpy._calls.draws import described, draw, extents_of, name_of
from mxcy.numpy._calls.general import operate
from mxcy.numpy._calls.operands import as_array, from_onp, is_array
from mxcy.numpy._creation.rules import place

__all__ = [
    "bernoulli",
    "beta",
    "chisquare",
    "choice",
    "exponential",
    "f",
    "gamma",
    "gumbel",
    "laplace",
    "logistic",
    "lognormal",
    "multinomial",
    "multivariate_normal",
    "normal",
    "pareto",
    "permutation",
    "power",
    "rand",
    "randint",
    "randn",
    "random",
    "rayleigh",
    "seed",
    "shuffle",
    "standard_normal",
    "uniform",
    "weibull",
]


def __dir__():
    return __all__


@described("low high")
def uniform(low=0.0, high=1.0, size=None, dtype=None, device=None, out=None, ctx=None):
    """Samples of the uniform distribution on [low, high)."""
    return draw("uniform", {"low": low, "high": high}, size, dtype, device, ctx, out)


@described("loc scale")
def normal(loc=0.0, scale=1.0, size=None, dtype=None, device=None, out=None, ctx=None):
    """Samples of the normal distribution."""
    return draw("normal", {"loc": loc, "scale": scale}, size, dtype, device, ctx, out)


@described("mean sigma")
def lognormal(mean=0.0, sigma=1.0, size=None, dtype=None, device=None, out=None, ctx=None):
    """Samples whose logarithm is normally distributed."""
    drawn = draw("normal", {"loc": mean, "scale": sigma}, size, dtype, device, ctx, None)
    return operate("_npi_exp", drawn, out=out)


@described("loc scale")
def laplace(loc=0.0, scale=1.0, size=None, dtype=None, device=None, out=None, ctx=None):
    """Samples of the Laplace distribution."""
    return draw("laplace", {"loc": loc, "scale": scale}, size, dtype, device, ctx, out)


@described("loc scale")
def gumbel(loc=0.0, scale=1.0, size=None, device=None, out=None, ctx=None, dtype=None):
    """Samples of the Gumbel distribution."""
    return draw("gumbel", {"loc": loc, "scale": scale}, size, dtype, device, ctx, out)


@described("loc scale")
def logistic(loc=0.0, scale=1.0, size=None, device=None, out=None, ctx=None, dtype=None):
    """Samples of the logistic distribution."""
    return draw("logistic", {"loc": loc, "scale": scale}, size, dtype, device, ctx, out)


@described("scale")
def exponential(scale=1.0, size=None, device=None, out=None, ctx=None, dtype=None):
    """Samples of the exponential distribution with mean `scale`."""
    return draw("exponential", {"scale": scale}, size, dtype, device, ctx, out)


@described("scale")
def rayleigh(scale=1.0, size=None, device=None, out=None, ctx=None, dtype=None):
    """Samples of the Rayleigh distribution."""
    return draw("rayleigh", {"scale": scale}, size, dtype, device, ctx, out)


@described("a")
def weibull(a, size=None, device=None, out=None, ctx=None, dtype=None):
    """Samples of the Weibull distribution of shape `a`."""
    return draw("weibull", {"a": a}, size, dtype, device, ctx, out)


@described("a")
def pareto(a, size=None, device=None, out=None, ctx=None, dtype=None):
    """Samples of the Pareto II (Lomax) distribution of shape `a`."""
    return draw("pareto", {"a": a}, size, dtype, device, ctx, out)


@described("a")
def power(a, size=None, device=None, out=None, ctx=None, dtype=None):
    """Samples on [0, 1] of the power distribution with exponent a - 1."""
    return draw("powerd", {"a": a}, size, dtype, device, ctx, out)


@described("shape scale")
def gamma(shape, scale=1.0, size=None, dtype=None, device=None, out=None, ctx=None):
    """Samples of the gamma distribution."""
    return draw("gamma", {"shape": shape, "scale": scale}, size, dtype, device, ctx, out)


@described("df")
def chisquare(df, size=None, dtype=None, device=None, ctx=None):
    """Samples of the chi-square distribution with `df` degrees of freedom."""
    return gamma(df / 2, 2.0, size, dtype, device, None, ctx)


@described("a b")
def beta(a, b, size=None, dtype=None, device=None, ctx=None):
    """Samples of the beta distribution."""
    x = gamma(a, 1.0, size, "float64", device, None, ctx)
    y = gamma(b, 1.0, size, "float64", device, None, ctx)
    default = "float64" if front.has_numpy_types() else "float32"
    return operate("Cast", x / (x + y), dtype=name_of(dtype) or default)


@described("dfnum dfden")
def f(dfnum, dfden, size=None, device=None, ctx=None, dtype=None):
    """Samples of the F distribution."""
    x = chisquare(dfnum, size, dtype, device, ctx)
    y = chisquare(dfden, size, dtype, device, ctx)
    return (x * dfden) / (y * dfnum)


def rand(*size, **kwargs):
    """Samples of the uniform distribution on [0, 1).

    Parameters
    ----------
    *size : int
        The result's shape.
    **kwargs
        As `uniform` has them.

    Returns
    -------
    ndarray
    """
    return uniform(0.0, 1.0, size=size, **kwargs)


def random(size=None, **kwargs):
    """Samples of the uniform distribution on [0, 1).

    Parameters
    ----------
    size : int or tuple of int, optional
        The result's shape.
    **kwargs
        As `uniform` has them.

    Returns
    -------
    ndarray
    """
    return uniform(0.0, 1.0, size=size, **kwargs)


def standard_normal(size=None, **kwargs):
    """Samples of the standard normal distribution.

    Parameters
    ----------
    size : int or tuple of int, optional
        The result's shape.
    **kwargs
        As `normal` has them.

    Returns
    -------
    ndarray
    """
    return normal(0.0, 1.0, size=size, **kwargs)


def randn(*size, **kwargs):
    """Samples of the standard normal distribution.

    Parameters
    ----------
    *size : int
        The result's shape.
    **kwargs
        As `normal` has them.

    Returns
    -------
    ndarray
    """
    return normal(0.0, 1.0, size=size, **kwargs)


def bernoulli(prob=None, logit=None, size=None, dtype=None, device=None, out=None, ctx=None):
    """Samples that are one with a probability, else zero.

    Parameters
    ----------
    prob, logit : float or ndarray, optional
        The probability or its log odds: one of them.
    size : int or tuple of int, optional
        The result's shape; by default that of the parameter.
    dtype : dtype, optional
        The default floating type unless given.
    device, ctx : Device, optional
    out : ndarray, optional
        The array that takes the result.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        When not just one parameter is given, or `prob` is no probability.
    """
    if (prob is None) == (logit is None):
        raise ValueError(f"bernoulli: expected prob or logit, got prob={prob}, logit={logit}")
    value, is_logit = (prob, False) if logit is None else (logit, True)
    return draw("bernoulli", {"prob": value}, size, dtype, device, ctx, out, is_logit=is_logit)


def randint(low, high=None, size=None, dtype=None, device=None, out=None, ctx=None):
    """Integers of the uniform distribution on [low, high), or [0, low).

    Parameters
    ----------
    low, high : int
    size : int or tuple of int, optional
        The result's shape.
    dtype : dtype, optional
        int64 unless given.
    device, ctx : Device, optional
    out : ndarray, optional
        The array that takes the result.

    Returns
    -------
    ndarray

    Raises
    ------
    MXNetError
        When `low` is not less than `high`.
    """
    low, high = (0, low) if high is None else (low, high)
    name = name_of(dtype) or "int64"
    drawn = name if name in ("int32", "int64") else "int64"
    shape, context = extents_of(() if size is None else size), str(place(ctx, device))
    options = {"low": low, "high": high, "shape": shape, "ctx": context, "dtype": drawn}
    if name == drawn:
        return operate("_random_randint", out=out, **options)
    return operate("Cast", operate("_random_randint", **options), dtype=name, out=out)


def choice(a, size=None, replace=True, p=None, device=None, out=None, ctx=None):
    """Elements of an array along its first axis, or integers below `a`.

    Parameters
    ----------
    a : int or array_like
    size : int or tuple of int, optional
        How many; one by default.
    replace : bool
        Whether one may come twice.
    p : array_like, optional
        Their probabilities; equal ones by default.
    device, ctx : Device, optional
    out : ndarray, optional
        The array that takes the result.

    Returns
    -------
    ndarray

    Raises
    ------
    MXNetError
        When there are too few elements.
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
    """How many of n draws fall to each class.

    Parameters
    ----------
    n : int
    pvals : array_like
        The probabilities of the classes.
    size : int or tuple of int, optional
        How many experiments; one by default.

    Returns
    -------
    ndarray
        int64, of shape ``size + (classes,)``.

    Raises
    ------
    ValueError
        When the probabilities exceed one.
    """
    listed = not is_array(pvals)
    if listed:
        pvals = from_onp(onp.asarray(pvals, "float64"))
    return operate("_npi_multinomial", pvals, n=n, size=extents_of(size), listed=listed)


def multivariate_normal(mean, cov, size=None, check_valid=None, tol=None):
    """Samples of the normal distribution with a vector of means and a covariance matrix.

    Parameters
    ----------
    mean : array_like
        Of shape ``(..., k)``.
    cov : array_like
        Positive definite, of shape ``(..., k, k)``.
    size : int or tuple of int, optional
        What stands before the shape of one draw.
    check_valid, tol : optional
        Not used.

    Returns
    -------
    ndarray
    """
    mean, cov = as_array(mean), as_array(cov)
    kind = cov.dtype_code if dtypes.is_float(cov.dtype_code) else dtypes.CODES["float32"]
    half = dtypes.dtype_of(kind).itemsize < 4  # which has no factors
    cov = operate("Cast", cov, dtype="float32" if half else dtypes.name_of(kind))
    batch = onp.broadcast_shapes(mean.shape[:-1], cov.shape[:-2])
    shape = (*(extents_of(size) or ()), *batch, mean.shape[-1])
    root = operate("_linalg_potrf", cov).as_np_ndarray()
    noise = normal(0.0, 1.0, shape, dtypes.name_of(cov.dtype_code), ctx=cov.context)
    if cov.ndim == 2:
        rows = math.prod(shape[:-1])
        flat = operate("_backward_reshape", noise, shape=(rows, shape[-1]))
        moved = operate("dot", flat, root, transpose_b=True)
        moved = operate("_backward_reshape", moved, shape=shape)
    else:
        wide = operate("expand_dims", noise, axis=-2)
        moved = operate("_npi_sum", root * wide, axis=-1)
    return mean.as_np_ndarray() + operate("Cast", moved, dtype=dtypes.name_of(kind))


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
    """An array shuffled along its first axis, or the integers below a number in random order.

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


def seed(seed_state, device="all"):
    """Start all random streams of a device afresh, as `mx.random.seed` does.

    Parameters
    ----------
    seed_state : int
    device : Device or str, default 'all'
    """
    streams.seed(seed_state, device)
