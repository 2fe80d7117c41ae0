"""Continuous distributions of `mx.np.random`."""

import math

import numpy as onp

from mxcy._base import dtypes
from mxcy.numpy._arrays.operators import function
from mxcy.numpy._calls.general import operate
from mxcy.numpy._calls.operands import as_array
from mxcy.numpy._random.discrete import poisson
from mxcy.numpy._random.draws import (
    common_extents,
    default_name,
    described,
    draw,
    draw_by_numpy,
    extents_of,
    name_of,
    parameters_of,
)

__all__ = [
    "beta",
    "chisquare",
    "dirichlet",
    "exponential",
    "f",
    "gamma",
    "gumbel",
    "laplace",
    "logistic",
    "lognormal",
    "multivariate_normal",
    "noncentral_chisquare",
    "noncentral_f",
    "normal",
    "pareto",
    "power",
    "rand",
    "randn",
    "random",
    "random_sample",
    "ranf",
    "rayleigh",
    "sample",
    "standard_cauchy",
    "standard_exponential",
    "standard_gamma",
    "standard_normal",
    "standard_t",
    "triangular",
    "uniform",
    "vonmises",
    "wald",
    "weibull",
]


@described("low high")
def uniform(low=0.0, high=1.0, size=None, dtype=None, device=None, out=None, ctx=None):
    """Draw samples from the uniform distribution on [low, high)."""
    return draw("uniform", {"low": low, "high": high}, size, dtype, device, ctx, out)


@described("loc scale")
def normal(loc=0.0, scale=1.0, size=None, dtype=None, device=None, out=None, ctx=None):
    """Draw samples from the normal distribution."""
    return draw("normal", {"loc": loc, "scale": scale}, size, dtype, device, ctx, out)


@described("mean sigma")
def lognormal(mean=0.0, sigma=1.0, size=None, dtype=None, device=None, out=None, ctx=None):
    """Draw samples from the log-normal distribution."""
    drawn = draw("normal", {"loc": mean, "scale": sigma}, size, dtype, device, ctx, None)
    return operate("_npi_exp", drawn, out=out)


@described("loc scale")
def laplace(loc=0.0, scale=1.0, size=None, dtype=None, device=None, out=None, ctx=None):
    """Draw samples from the Laplace distribution."""
    return draw("laplace", {"loc": loc, "scale": scale}, size, dtype, device, ctx, out)


@described("loc scale")
def gumbel(loc=0.0, scale=1.0, size=None, device=None, out=None, ctx=None, dtype=None):
    """Draw samples from the Gumbel distribution."""
    return draw("gumbel", {"loc": loc, "scale": scale}, size, dtype, device, ctx, out)


@described("loc scale")
def logistic(loc=0.0, scale=1.0, size=None, device=None, out=None, ctx=None, dtype=None):
    """Draw samples from the logistic distribution."""
    return draw("logistic", {"loc": loc, "scale": scale}, size, dtype, device, ctx, out)


@described("scale")
def exponential(scale=1.0, size=None, device=None, out=None, ctx=None, dtype=None):
    """Draw samples from the exponential distribution with mean `scale`."""
    return draw("exponential", {"scale": scale}, size, dtype, device, ctx, out)


@described("scale")
def rayleigh(scale=1.0, size=None, device=None, out=None, ctx=None, dtype=None):
    """Draw samples from the Rayleigh distribution."""
    return draw("rayleigh", {"scale": scale}, size, dtype, device, ctx, out)


@described("a")
def weibull(a, size=None, device=None, out=None, ctx=None, dtype=None):
    """Draw samples from the Weibull distribution with shape `a`."""
    return draw("weibull", {"a": a}, size, dtype, device, ctx, out)


@described("a")
def pareto(a, size=None, device=None, out=None, ctx=None, dtype=None):
    """Draw samples from the Pareto II (Lomax) distribution with shape `a`."""
    return draw("pareto", {"a": a}, size, dtype, device, ctx, out)


@described("a")
def power(a, size=None, device=None, out=None, ctx=None, dtype=None):
    """Draw samples in [0, 1] from the power distribution with exponent a - 1."""
    return draw("powerd", {"a": a}, size, dtype, device, ctx, out)


@described("shape scale")
def gamma(shape, scale=1.0, size=None, dtype=None, device=None, out=None, ctx=None):
    """Draw samples from the gamma distribution."""
    return draw("gamma", {"shape": shape, "scale": scale}, size, dtype, device, ctx, out)


@described("df")
def chisquare(df, size=None, dtype=None, device=None, ctx=None):
    """Draw samples from the chi-square distribution with `df` degrees of freedom."""
    (df,) = parameters_of(df)
    return gamma(df / 2, 2.0, size, dtype, device, None, ctx)


@described("a b")
def beta(a, b, size=None, dtype=None, device=None, ctx=None):
    """Draw samples from the beta distribution."""
    x = gamma(a, 1.0, size, "float64", device, None, ctx)
    y = gamma(b, 1.0, size, "float64", device, None, ctx)
    return operate("Cast", x / (x + y), dtype=name_of(dtype) or default_name())


@described("dfnum dfden")
def f(dfnum, dfden, size=None, device=None, ctx=None, dtype=None):
    """Draw samples from the F distribution."""
    dfnum, dfden = parameters_of(dfnum, dfden)
    x = chisquare(dfnum, size, dtype, device, ctx)
    y = chisquare(dfden, size, dtype, device, ctx)
    return (x * dfden) / (y * dfnum)


@described()
def rand(*size, **kwargs):
    """Draw samples from the uniform distribution on [0, 1); see `uniform`."""
    return uniform(0.0, 1.0, size=size, **kwargs)


@described()
def random(size=None, **kwargs):
    """Draw samples from the uniform distribution on [0, 1); see `uniform`."""
    return uniform(0.0, 1.0, size=size, **kwargs)


random_sample = ranf = sample = random


@described()
def randn(*size, **kwargs):
    """Draw samples from the standard normal distribution; see `normal`."""
    return normal(0.0, 1.0, size=size, **kwargs)


@described()
def standard_normal(size=None, **kwargs):
    """Draw samples from the standard normal distribution; see `normal`."""
    return normal(0.0, 1.0, size=size, **kwargs)


@described()
def standard_exponential(size=None, **kwargs):
    """Draw samples from the exponential distribution with mean 1; see `exponential`."""
    return exponential(1.0, size=size, **kwargs)


@described("shape")
def standard_gamma(shape, size=None, **kwargs):
    """Draw samples from the gamma distribution with scale 1; see `gamma`."""
    return gamma(shape, 1.0, size=size, **kwargs)


@described()
def standard_cauchy(size=None, dtype=None, device=None, ctx=None):
    """Draw samples from the standard Cauchy distribution."""
    half_turns = uniform(-0.5, 0.5, size, dtype, device, ctx=ctx)
    return function("tan")(half_turns * math.pi)


@described("df")
def standard_t(df, size=None, dtype=None, device=None, ctx=None):
    """Draw samples from Student's t distribution with `df` degrees of freedom."""
    (df,) = parameters_of(df)
    squares = chisquare(df, size, dtype, device, ctx)
    noise = normal(0.0, 1.0, squares.shape, dtype, device, ctx=ctx)
    return noise * function("sqrt")(df / squares)


@described("left mode right")
def triangular(left, mode, right, size=None, dtype=None, device=None, ctx=None):
    """Draw samples from the triangular distribution on [left, right] with its peak at `mode`."""
    left, mode, right = parameters_of(left, mode, right)
    size = common_extents(size, left, mode, right)
    share = uniform(0.0, 1.0, size, dtype, device, ctx=ctx)
    width, rising, falling = right - left, mode - left, right - mode
    sqrt = function("sqrt")
    below = left + sqrt(share * width * rising)
    above = right - sqrt((1 - share) * width * falling)
    return function("where")(share * width < rising, below, above)


@described("mean scale")
def wald(mean, scale, size=None, dtype=None, device=None, ctx=None):
    """Draw samples from the Wald (inverse Gaussian) distribution."""
    mean, scale = parameters_of(mean, scale)
    size = common_extents(size, mean, scale)
    noise = normal(0.0, 1.0, size, dtype, device, ctx=ctx)
    share = uniform(0.0, 1.0, size, dtype, device, ctx=ctx)
    spread = noise * noise * mean / (2 * scale)
    small = mean / (1 + spread + function("sqrt")(spread * (spread + 2)))
    return function("where")(share * (mean + small) <= mean, small, mean * mean / small)


@described("df nonc")
def noncentral_chisquare(df, nonc, size=None, dtype=None, device=None, ctx=None):
    """Draw samples from the noncentral chi-square distribution."""
    df, nonc = parameters_of(df, nonc)
    size = common_extents(size, df, nonc)
    more = poisson(nonc / 2, size, "float64", device, ctx)
    return chisquare(df + 2 * more, size, dtype, device, ctx)


@described("dfnum dfden nonc")
def noncentral_f(dfnum, dfden, nonc, size=None, dtype=None, device=None, ctx=None):
    """Draw samples from the noncentral F distribution."""
    dfnum, dfden, nonc = parameters_of(dfnum, dfden, nonc)
    size = common_extents(size, dfnum, dfden, nonc)
    x = noncentral_chisquare(dfnum, nonc, size, dtype, device, ctx)
    y = chisquare(dfden, size, dtype, device, ctx)
    return (x * dfden) / (y * dfnum)


@described("mu kappa")
def vonmises(mu, kappa, size=None, dtype=None, device=None, ctx=None):
    """Draw samples from the von Mises distribution on [-pi, pi], by NumPy."""
    return draw_by_numpy("vonmises", (mu, kappa), size, dtype, device, ctx)


def dirichlet(alpha, size=None, dtype=None, device=None, ctx=None):
    """Draw samples from the Dirichlet distribution.

    Parameters
    ----------
    alpha : array_like
        Concentration parameters.
    size : int or tuple of int, optional
        Leading dimensions, before the shape of `alpha`.
    dtype : dtype, optional
        Default floating-point type if omitted.
    device, ctx : Device, optional

    Returns
    -------
    ndarray
    """
    alpha = as_array(alpha)
    size = (*(extents_of(size) or ()), *alpha.shape)
    shares = gamma(alpha, 1.0, size, "float64", device, None, ctx)
    shares = shares / shares.sum(axis=-1, keepdims=True)
    return operate("Cast", shares, dtype=name_of(dtype) or default_name())


def multivariate_normal(mean, cov, size=None, check_valid=None, tol=None):
    """Draw samples from the multivariate normal distribution.

    Parameters
    ----------
    mean : array_like
        Shape ``(..., k)``.
    cov : array_like
        Positive definite covariance matrices, shape ``(..., k, k)``.
    size : int or tuple of int, optional
        Leading dimensions, before the shape of one draw.
    check_valid, tol : optional
        Ignored.

    Returns
    -------
    ndarray
    """
    mean, cov = as_array(mean), as_array(cov)
    kind = cov.dtype_code if dtypes.is_float(cov.dtype_code) else dtypes.CODES["float32"]
    half = dtypes.dtype_of(kind).itemsize < 4  # Cholesky needs at least 32 bits
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
        column = operate("expand_dims", noise, axis=-2)
        moved = operate("_npi_sum", root * column, axis=-1)
    return mean.as_np_ndarray() + operate("Cast", moved, dtype=dtypes.name_of(kind))
