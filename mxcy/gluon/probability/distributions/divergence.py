"""The Kullback-Leibler divergence."""

import math

import numpy as onp

from mxcy import numpy as np
from mxcy.gluon.probability.distributions.bernoulli import Bernoulli
from mxcy.gluon.probability.distributions.beta import Beta
from mxcy.gluon.probability.distributions.binomial import Binomial
from mxcy.gluon.probability.distributions.categorical import Categorical
from mxcy.gluon.probability.distributions.cauchy import Cauchy
from mxcy.gluon.probability.distributions.dirichlet import Dirichlet
from mxcy.gluon.probability.distributions.exponential import Exponential
from mxcy.gluon.probability.distributions.gamma import Gamma
from mxcy.gluon.probability.distributions.geometric import Geometric
from mxcy.gluon.probability.distributions.gumbel import Gumbel
from mxcy.gluon.probability.distributions.half_normal import HalfNormal
from mxcy.gluon.probability.distributions.independent import Independent
from mxcy.gluon.probability.distributions.laplace import Laplace
from mxcy.gluon.probability.distributions.multivariate_normal import MultivariateNormal
from mxcy.gluon.probability.distributions.normal import Normal
from mxcy.gluon.probability.distributions.one_hot_categorical import OneHotCategorical
from mxcy.gluon.probability.distributions.pareto import Pareto
from mxcy.gluon.probability.distributions.poisson import Poisson
from mxcy.gluon.probability.distributions.uniform import Uniform
from mxcy.gluon.probability.functions import (
    absolute,
    digamma,
    exp,
    gammaln,
    lbeta,
    log,
    sum_right_most,
    where,
)
from mxcy.numpy._calls.operands import is_array

__all__ = ["empirical_kl", "kl_divergence", "register_kl"]

#: (type of p, type of q) -> function of p and q
_CLOSED_FORMS = {}


def register_kl(typeP, typeQ):  # noqa: N803 - their names in MXNet
    """Decorator that registers the KL divergence of two distribution types.

    Parameters
    ----------
    typeP, typeQ : type
        Types of the arguments `p` and `q`, including subclasses.

    Returns
    -------
    callable
        The decorator.
    """

    def register(function):
        _CLOSED_FORMS[typeP, typeQ] = function
        return function

    return register


def _closed_form(p, q):
    """The function registered for the nearest base classes of two types, or None."""
    ways_p, ways_q = type(p).__mro__, type(q).__mro__
    pairs = [pair for pair in _CLOSED_FORMS if pair[0] in ways_p and pair[1] in ways_q]
    pairs.sort(key=lambda pair: ways_p.index(pair[0]) + ways_q.index(pair[1]))
    return _CLOSED_FORMS[pairs[0]] if pairs else None


def kl_divergence(p, q):
    """Return the Kullback-Leibler divergence, the mean of log p - log q under p.

    Parameters
    ----------
    p, q : Distribution

    Returns
    -------
    ndarray
        Of their common batch shape; infinite where q is zero but p is not.

    Raises
    ------
    NotImplementedError
        If no closed form is registered for these types; see `empirical_kl`.
    """
    function = _closed_form(p, q)
    if function is None:
        raise NotImplementedError(
            f"KL divergence between {type(p).__name__} and {type(q).__name__} is not implemented."
        )
    return function(p, q)


def empirical_kl(p, q, n_samples=1):
    """Estimate the Kullback-Leibler divergence from samples.

    Parameters
    ----------
    p, q : Distribution
    n_samples : int
        Number of samples of `p` per element of the batch.

    Returns
    -------
    ndarray
    """
    samples = p.sample_n(n_samples)
    return np.mean(p.log_prob(samples) - q.log_prob(samples), axis=0)


def _register(of_p, of_q=None):
    """Like `register_kl`, but also broadcast the result to the batch shape."""

    def register(function):
        def divergence(p, q):
            values = function(p, q)
            shape = onp.broadcast_shapes(p._batch_shape, q._batch_shape)
            if not is_array(values):
                dtypes = [d._dtype for d in (p, q) if d._dtype is not None]
                return np.full(shape, values, dtype=dtypes[0] if dtypes else None)
            return values if values.shape == shape else np.broadcast_to(values, shape)

        register_kl(of_p, of_q or of_p)(divergence)
        return function

    return register


def _square(x):
    return x * x


# --- same type ---------------------------------------------------------------------------------


def _of_odds(p, q):
    ones, zeros = p.prob, p._failure
    of_p = p._log_of_one(ones) + p._log_of_zero(zeros)
    return of_p - (q._log_of_one(ones) + q._log_of_zero(zeros))


_register(Bernoulli)(_of_odds)


@_register(Geometric)
def _geometric(p, q):
    return _of_odds(p, q) / p.prob


@_register(Binomial)
def _binomial(p, q):
    same = p.n * _of_odds(p, q)
    if is_array(p.n) or is_array(q.n):
        return where(p.n == q.n, same, where(p.n > q.n, math.inf, math.nan))
    if p.n >= q.n:
        return same if p.n == q.n else math.inf
    same = same - q._log_of_zero(q.n - p.n)
    for count in range(p.n + 1):  # the log binomial coefficients differ
        ratio = math.log(math.comb(p.n, count) / math.comb(q.n, count))
        same = same + ratio * exp(p._log_density(count))
    return same


@_register(Categorical)
def _categorical(p, q):
    return p._expected_log(p.prob) - q._expected_log(p.prob)


_register(OneHotCategorical)(_categorical)


@_register(Poisson)
def _poisson(p, q):
    return p.rate * (log(p.rate) - log(q.rate)) - (p.rate - q.rate)


@_register(Uniform)
def _uniform(p, q):
    inside = (p.low >= q.low) & (p.high <= q.high)
    return where(inside, log(q._width) - log(p._width), math.inf)


@_register(Normal)
def _normal(p, q):
    ratio, shift = p.scale / q.scale, (p.loc - q.loc) / q.scale
    return 0.5 * (_square(ratio) + _square(shift) - 1) - log(ratio)


@_register(HalfNormal)
def _half_normal(p, q):
    ratio = p.scale / q.scale
    return 0.5 * (_square(ratio) - 1) - log(ratio)


@_register(Laplace)
def _laplace(p, q):
    ratio, distance = p.scale / q.scale, absolute(p.loc - q.loc)
    return ratio * exp(-distance / p.scale) + distance / q.scale - 1 - log(ratio)


@_register(Cauchy)
def _cauchy(p, q):
    squares = _square(p.scale + q.scale) + _square(p.loc - q.loc)
    return log(squares / (4 * p.scale * q.scale))


@_register(Gumbel)
def _gumbel(p, q):
    ratio, shift = p.scale / q.scale, (p.loc - q.loc) / q.scale
    moment = exp(gammaln(1 + ratio) - shift)
    return shift + (ratio - 1) * onp.euler_gamma + moment - 1 - log(ratio)


@_register(Exponential)
def _exponential(p, q):
    ratio = p.scale / q.scale
    return ratio - 1 - log(ratio)


@_register(Pareto)
def _pareto(p, q):
    ratio, above = q.alpha / p.alpha, log(p.scale) - log(q.scale)
    return where(p.scale >= q.scale, q.alpha * above + ratio - 1 - log(ratio), math.inf)


@_register(Gamma)
def _gamma(p, q):
    ratio = p.scale / q.scale
    shapes = (p.shape - q.shape) * digamma(p.shape) - gammaln(p.shape) + gammaln(q.shape)
    return shapes - q.shape * log(ratio) + p.shape * (ratio - 1)


@_register(Beta)
def _beta(p, q):
    total = (p.alpha + p.beta) - (q.alpha + q.beta)
    slopes = (p.alpha - q.alpha) * digamma(p.alpha) + (p.beta - q.beta) * digamma(p.beta)
    constant = lbeta(q.alpha, q.beta) - lbeta(p.alpha, p.beta)
    return constant + slopes - total * digamma(p.alpha + p.beta)


@_register(Dirichlet)
def _dirichlet(p, q):
    slopes = (p.alpha - q.alpha) * (digamma(p.alpha) - digamma(p._total))
    return q._log_normalizer(q.alpha) - p._log_normalizer(p.alpha) + np.sum(slopes, axis=-1)


@_register(MultivariateNormal)
def _multivariate_normal(p, q):
    whitened = np.matmul(q._whitener, p.scale_tril)
    shift = q._times(q._whitener, p.loc - q.loc)
    squares = np.sum(_square(whitened), axis=(-2, -1)) + np.sum(_square(shift), axis=-1)
    return 0.5 * (squares - p._extent) + q._log_volume - p._log_volume


@register_kl(Independent, Independent)
def _independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError(
            "KL divergence between joint distributions with events of different dimensions"
        )
    return sum_right_most(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


# --- different types ----------------------------------------------------------------------------


@_register(Uniform, Normal)
def _uniform_normal(p, q):
    squares = _square(p._width) / 12 + _square((p.low + p.high) / 2 - q.loc)
    constant = log(q.scale) + 0.5 * math.log(2 * math.pi) - log(p._width)
    return constant + squares / (2 * _square(q.scale))


@_register(Uniform, Gumbel)
def _uniform_gumbel(p, q):
    low, high = (p.low - q.loc) / q.scale, (p.high - q.loc) / q.scale
    moment = (exp(-low) - exp(-high)) / (high - low)
    return (low + high) / 2 + moment - log(high - low)


@_register(Exponential, Normal)
def _exponential_normal(p, q):
    squares = _square(p.scale) + _square(p.scale - q.loc)
    constant = log(q.scale) + 0.5 * math.log(2 * math.pi) - log(p.scale) - 1
    return constant + squares / (2 * _square(q.scale))


@_register(Exponential, Gumbel)
def _exponential_gumbel(p, q):
    ratio, shift = p.scale / q.scale, q.loc / q.scale
    return ratio - shift + exp(shift) / (1 + ratio) - 1 - log(ratio)


@_register(Exponential, Gamma)
def _exponential_gamma(p, q):
    ratio = p.scale / q.scale
    mean_log = log(ratio) - onp.euler_gamma
    return gammaln(q.shape) + ratio - (q.shape - 1) * mean_log - 1 - log(ratio)
