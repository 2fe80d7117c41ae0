"""Student's t distribution."""

import math

from mxcy import numpy as np
from mxcy.gluon.probability.distributions.constraint import Positive, Real
from mxcy.gluon.probability.distributions.distribution import Distribution
from mxcy.gluon.probability.functions import digamma, lbeta, log, where

__all__ = ["StudentT"]


class StudentT(Distribution):
    """Student's t distribution.

    Samples are differentiable with respect to `loc` and `scale` only.

    Parameters
    ----------
    df : float or ndarray
        The degrees of freedom.
    loc, scale : float or ndarray
        Mean and scale.
    validate_args : bool, optional
        Check parameters and values.
    """

    support = Real()
    arg_constraints = {"df": Positive(), "loc": Real(), "scale": Positive()}
    _parameters = {"df": 0, "loc": 0, "scale": 0}

    def __init__(self, df, loc=0.0, scale=1.0, validate_args=None):
        self._take(df=df, loc=loc, scale=scale)
        super().__init__(event_dim=0, validate_args=validate_args)

    def _draw(self, shape):
        noise = np.random.normal(0.0, 1.0, shape, self._dtype)
        mean_square = np.random.gamma(self.df / 2, 2.0, shape, self._dtype) / self.df
        return self.loc + self.scale * (noise / np.sqrt(mean_square))

    def _log_density(self, value):
        df, z = self.df, (value - self.loc) / self.scale
        constant = lbeta(df / 2, 0.5) + 0.5 * log(df) + log(self.scale)
        return -(df + 1) / 2 * np.log1p(z * z / df) - constant

    @property
    def mean(self):
        return self._spread(where(self.df > 1, self.loc, math.nan))

    @property
    def variance(self):
        df = self.df
        finite = df / where(df > 2, df - 2, 1.0)
        ratio = where(df > 2, finite, where(df > 1, math.inf, math.nan))
        return self._spread(self.scale * self.scale * ratio)

    def entropy(self):
        df = self.df
        slope = (df + 1) / 2 * (digamma((df + 1) / 2) - digamma(df / 2))
        return self._spread(slope + 0.5 * log(df) + lbeta(df / 2, 0.5) + log(self.scale))
