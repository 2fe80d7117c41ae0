"""The half-Cauchy distribution."""

import math

from mxcy.gluon.probability.distributions.cauchy import Cauchy
from mxcy.gluon.probability.distributions.half_normal import Halved
from mxcy.gluon.probability.functions import log

__all__ = ["HalfCauchy"]


class HalfCauchy(Halved):
    """The half-Cauchy distribution, whose mean and variance are infinite.

    Parameters
    ----------
    scale : float or ndarray
        The median.
    validate_args : bool, optional
        Check parameters and values.
    """

    def __init__(self, scale=1.0, validate_args=None):
        super().__init__(Cauchy, scale, validate_args)

    @property
    def mean(self):
        return self._spread(math.inf)

    @property
    def variance(self):
        return self._spread(math.inf)

    def entropy(self):
        return self._spread(log(2 * math.pi * self.scale))
