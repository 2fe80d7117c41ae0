"""Distributions of transformed samples."""

import numpy as onp

from mxcy.gluon.probability.distributions.distribution import Distribution
from mxcy.gluon.probability.functions import sum_right_most, where
from mxcy.gluon.probability.transformation.transformation import Transformation

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """The distribution of transformed samples of a base distribution.

    Parameters
    ----------
    base_dist : Distribution
        Base distribution.
    transforms : Transformation or list of Transformation
        Transformations, applied in order.
    validate_args : bool, optional
        Check values.
    """

    def __init__(self, base_dist, transforms, validate_args=None):
        if isinstance(transforms, Transformation):
            transforms = [transforms]
        self._base_dist, self._transforms = base_dist, list(transforms)
        event_dims = [transform.event_dim for transform in self._transforms]
        super().__init__(max([base_dist.event_dim, *event_dims]), validate_args)

    @property
    def has_grad(self):
        """Whether gradients flow through samples of the base distribution."""
        return self._base_dist.has_grad

    @property
    def _batch_shape(self):
        """The base's batch shape, broadcast with the transformations' parameters."""
        if self._taken:
            return super()._batch_shape
        shapes = [t.parameter_shape for t in self._transforms if t.event_dim == 0]
        return onp.broadcast_shapes(self._base_dist._batch_shape, *shapes)

    def _draw(self, shape):
        drawn = self._base_dist.sample(shape)
        for transform in self._transforms:
            drawn = transform(drawn)
        return drawn

    def _checked_value(self, value):
        try:
            return super()._checked_value(value)
        except NotImplementedError:  # without a defined support
            return self._as_value(value)

    def _log_density(self, value):
        log_density, y = 0.0, value
        for transform in reversed(self._transforms):
            x = transform.inv(y)
            slope = transform.log_det_jacobian(x, y)
            log_density = log_density - sum_right_most(slope, self.event_dim - transform.event_dim)
            y = x
        of_base = self._base_dist.log_prob(y)
        return log_density + sum_right_most(of_base, self.event_dim - self._base_dist.event_dim)

    def _sign(self):
        """1 where the transformation is increasing, -1 where it is decreasing."""
        sign = 1
        for transform in self._transforms:
            sign = sign * transform.sign
        return sign

    def _cumulative(self, value):
        for transform in reversed(self._transforms):
            value = transform.inv(value)
        below = self._base_dist.cdf(value)
        return where(self._sign() > 0, below, 1 - below)

    def _quantile(self, value):
        value = self._base_dist.icdf(where(self._sign() > 0, value, 1 - value))
        for transform in self._transforms:
            value = transform(value)
        return value

    def broadcast_to(self, batch_shape):
        if self._taken:
            return super().broadcast_to(batch_shape)
        base = self._base_dist.broadcast_to(batch_shape)
        return TransformedDistribution(base, self._transforms, self._validate_args)

    def __repr__(self):
        if self._taken:
            return super().__repr__()
        names = ", ".join(type(transform).__name__ for transform in self._transforms)
        return f"{type(self).__name__}({self._base_dist!r}, [{names}])"
