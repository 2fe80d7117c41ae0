"""The Weibull distribution."""

import numpy as onp

from mxcy import numpy as np
from mxcy.gluon.probability.distributions.constraint import NonNegative, Positive
from mxcy.gluon.probability.distributions.exponential import Exponential
from mxcy.gluon.probability.distributions.transformed_distribution import TransformedDistribution
from mxcy.gluon.probability.functions import exp, gammaln, log, times_log
from mxcy.gluon.probability.transformation.transformation import AffineTransform, PowerTransform

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """The Weibull distribution: power of an exponential variable.

    Parameters
    ----------
    concentration : float or ndarray
        1 / the power.
    scale : float or ndarray
        The scale.
    validate_args : bool, optional
        Check parameters and values.
    """

    has_grad = True
    support = NonNegative()
    arg_constraints = {"concentration": Positive(), "scale": Positive()}
    _parameters = {"concentration": 0, "scale": 0}
    _inner = 1.0

    def __init__(self, concentration, scale=1.0, validate_args=None):
        self._take(concentration=concentration, scale=scale)
        power, scale = PowerTransform(1 / self.concentration), AffineTransform(0, self.scale)
        super().__init__(Exponential(), [power, scale], validate_args)

    def _log_density(self, value):
        shape, z = self.concentration, value / self.scale
        return log(shape) - log(self.scale) + times_log(shape - 1, z) - np.power(z, shape)

    def _cumulative(self, value):
        return super()._cumulative(np.maximum(value, 0.0))

    def _moment(self, order):
        """The moment of an order for scale 1."""
        return exp(gammaln(1 + order / self.concentration))

    @property
    def mean(self):
        return self._spread(self.scale * self._moment(1))

    @property
    def variance(self):
        mean = self._moment(1)
        return self._spread(self.scale * self.scale * (self._moment(2) - mean * mean))

    def entropy(self):
        shape = self.concentration
        return self._spread(onp.euler_gamma * (1 - 1 / shape) + log(self.scale) - log(shape) + 1)
