"""Reinterpretation of batch dimensions as event dimensions."""

from mxcy import numpy as np
from mxcy.gluon.probability.distributions.constraint import dependent_property
from mxcy.gluon.probability.distributions.distribution import Distribution, extents
from mxcy.gluon.probability.functions import sum_right_most

__all__ = ["Independent"]


class Independent(Distribution):
    """Reinterpret the last batch dimensions of a distribution as event dimensions.

    Sizes passed to `sample` include these dimensions.

    Parameters
    ----------
    base_distribution : Distribution
    reinterpreted_batch_ndims : int
        Number of dimensions.
    validate_args : bool, optional
        Check parameters and values.
    """

    arg_constraints = {}

    def __init__(self, base_distribution, reinterpreted_batch_ndims, validate_args=None):
        shape = base_distribution._batch_shape
        if not 0 <= reinterpreted_batch_ndims <= len(shape):
            raise ValueError(
                f"Independent: `reinterpreted_batch_ndims` should be 0 to {len(shape)} for the "
                f"batch shape {shape}, got {reinterpreted_batch_ndims}"
            )
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        event_dim = base_distribution.event_dim + reinterpreted_batch_ndims
        super().__init__(event_dim, validate_args)

    @property
    def has_grad(self):
        """Whether gradients flow through samples of the base distribution."""
        return self.base_dist.has_grad

    @property
    def has_enumerate_support(self):
        """Whether `enumerate_support` is available, i.e. no dimension is reinterpreted."""
        return self.base_dist.has_enumerate_support and not self.reinterpreted_batch_ndims

    @dependent_property
    def support(self):
        """Constraint on samples."""
        return self.base_dist.support

    @property
    def _batch_shape(self):
        return self.base_dist._batch_shape

    def _draw(self, shape):
        return self.base_dist.sample(shape)

    def _log_density(self, value):
        return sum_right_most(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def broadcast_to(self, batch_shape):
        ndims = self.reinterpreted_batch_ndims
        event = self._batch_shape[len(self._batch_shape) - ndims :]
        base = self.base_dist.broadcast_to(extents(batch_shape) + event)
        return Independent(base, ndims, self._validate_args)

    def enumerate_support(self):
        if self.reinterpreted_batch_ndims:
            raise NotImplementedError("Independent: the values of joint events are not enumerated")
        return self.base_dist.enumerate_support()

    @property
    def mean(self):
        return self.base_dist.mean

    @property
    def stddev(self):
        return self.base_dist.stddev

    @property
    def variance(self):
        return self.base_dist.variance

    def entropy(self):
        entropy = np.broadcast_to(self.base_dist.entropy(), self._batch_shape)
        return sum_right_most(entropy, self.reinterpreted_batch_ndims)

    def __repr__(self):
        return f"Independent({self.base_dist!r}, {self.reinterpreted_batch_ndims})"
