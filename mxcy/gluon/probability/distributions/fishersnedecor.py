"""The F distribution."""

import math

from mxcy import numpy as np
from mxcy.gluon.probability.distributions.constraint import NonNegative, Positive
from mxcy.gluon.probability.distributions.distribution import Distribution
from mxcy.gluon.probability.functions import digamma, lbeta, log, times_log, where

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Distribution):
    """The F distribution: ratio of two mean squares.

    Parameters
    ----------
    df1, df2 : float or ndarray
        Degrees of freedom of numerator and denominator.
    validate_args : bool, optional
        Check parameters and values.
    """

    support = NonNegative()
    arg_constraints = {"df1": Positive(), "df2": Positive()}
    _parameters = {"df1": 0, "df2": 0}
    _inner = 1.0

    def __init__(self, df1, df2, validate_args=None):
        self._take(df1=df1, df2=df2)
        super().__init__(event_dim=0, validate_args=validate_args)

    def _draw(self, shape):
        one = np.random.gamma(self.df1 / 2, 2.0, shape, self._dtype) / self.df1
        other = np.random.gamma(self.df2 / 2, 2.0, shape, self._dtype) / self.df2
        return one / other

    def _log_density(self, value):
        one, other = self.df1 / 2, self.df2 / 2
        z = value * (self.df1 / self.df2)
        constant = log(self.df1) - log(self.df2) - lbeta(one, other)
        return constant + times_log(one - 1, z) - (one + other) * np.log1p(z)

    @property
    def mean(self):
        df2 = self.df2
        return self._spread(where(df2 > 2, df2 / where(df2 > 2, df2 - 2, 1.0), math.inf))

    @property
    def variance(self):
        df1, df2 = self.df1, where(self.df2 > 4, self.df2, 8.0)
        ratio = df2 / (df2 - 2)
        finite = 2 * ratio * ratio * (df1 + df2 - 2) / (df1 * (df2 - 4))
        return self._spread(where(self.df2 > 4, finite, math.inf))

    def entropy(self):
        one, other = self.df1 / 2, self.df2 / 2
        slopes = (1 - one) * digamma(one) - (1 + other) * digamma(other)
        most = slopes + (one + other) * digamma(one + other)
        return self._spread(most + lbeta(one, other) + log(self.df2) - log(self.df1))
