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
        numerator = np.random.gamma(self.df1 / 2, 2.0, shape, self._dtype) / self.df1
        denominator = np.random.gamma(self.df2 / 2, 2.0, shape, self._dtype) / self.df2
        return numerator / denominator

    def _log_density(self, value):
        half1, half2 = self.df1 / 2, self.df2 / 2
        z = value * (self.df1 / self.df2)
        constant = log(self.df1) - log(self.df2) - lbeta(half1, half2)
        return constant + times_log(half1 - 1, z) - (half1 + half2) * np.log1p(z)

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
        half1, half2 = self.df1 / 2, self.df2 / 2
        slopes = (1 - half1) * digamma(half1) - (1 + half2) * digamma(half2)
        most = slopes + (half1 + half2) * digamma(half1 + half2)
        return self._spread(most + lbeta(half1, half2) + log(self.df2) - log(self.df1))
