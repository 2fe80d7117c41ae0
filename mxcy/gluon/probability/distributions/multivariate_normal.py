"""The normal distribution of vectors."""

import math

from mxcy import numpy as np
from mxcy.gluon.probability.distributions.constraint import LowerCholesky, PositiveDefinite, Real
from mxcy.gluon.probability.distributions.distribution import Distribution
from mxcy.gluon.probability.distributions.utils import cached_property

__all__ = ["MultivariateNormal"]


def _transposed(matrices):
    return np.swapaxes(matrices, -1, -2)


class MultivariateNormal(Distribution):
    """The normal distribution of vectors.

    Parameters
    ----------
    loc : ndarray
        The mean, along the last axis.
    cov, precision, scale_tril : ndarray
        The covariance matrix, its inverse, or its Cholesky factor; give exactly one.
    validate_args : bool, optional
        Check parameters and values.
    """

    has_grad = True
    support = Real()
    arg_constraints = {
        "loc": Real(),
        "cov": PositiveDefinite(),
        "precision": PositiveDefinite(),
        "scale_tril": LowerCholesky(),
    }
    _parameters = {"loc": 1, "cov": 2, "precision": 2, "scale_tril": 2}

    def __init__(self, loc, cov=None, precision=None, scale_tril=None, validate_args=None):
        parameter = self._take_one(cov=cov, precision=precision, scale_tril=scale_tril)
        self._take(loc=loc, **parameter)
        ((name, _),) = parameter.items()
        extents = (*self.loc.shape[-1:], *getattr(self, name).shape[-2:])
        if len(set(extents)) > 1:
            raise ValueError(
                f"MultivariateNormal: expected a vector `loc` and a square matrix `{name}` of the "
                f"same size, got {extents[0]} and {extents[1:]}"
            )
        super().__init__(event_dim=1, validate_args=validate_args)

    @cached_property
    def scale_tril(self):
        """The Cholesky factor of the covariance matrix."""
        if "cov" in self._taken:
            return np.linalg.cholesky(self.cov)
        return np.linalg.inv(self._whitener)

    @cached_property
    def cov(self):
        """The covariance matrix."""
        root = self.scale_tril
        return np.matmul(root, _transposed(root))

    @cached_property
    def precision(self):
        """The inverse of the covariance matrix."""
        root = self._whitener
        return np.matmul(_transposed(root), root)

    @cached_property
    def _whitener(self):
        """The inverse of `scale_tril`, which whitens deviations."""
        if "precision" not in self._taken:
            return np.linalg.inv(self.scale_tril)
        # P = U U^T (Cholesky from the lower right corner), and U^T whitens
        flipped = np.flip(self.precision, (-2, -1))
        return _transposed(np.flip(np.linalg.cholesky(flipped), (-2, -1)))

    @property
    def _log_volume(self):
        """The logarithm of the determinant of `scale_tril`."""
        known, sign = ("_whitener", -1) if "precision" in self._taken else ("scale_tril", 1)
        diagonal = np.diagonal(getattr(self, known), axis1=-2, axis2=-1)
        return sign * np.sum(np.log(diagonal), axis=-1)

    @property
    def _extent(self):
        return self.loc.shape[-1]

    def _draw(self, shape):
        noise = np.random.normal(0.0, 1.0, (*shape, self._extent), self._dtype)
        return self.loc + self._times(self.scale_tril, noise)

    @staticmethod
    def _times(matrices, vectors):
        """Batched matrix-vector products."""
        if matrices.ndim == 2:
            return np.matmul(vectors, _transposed(matrices))
        return np.squeeze(np.matmul(matrices, np.expand_dims(vectors, -1)), axis=-1)

    def _log_density(self, value):
        white = self._times(self._whitener, value - self.loc)
        square = np.sum(white * white, axis=-1)
        return -0.5 * (square + self._extent * math.log(2 * math.pi)) - self._log_volume

    @property
    def mean(self):
        return self._spread(self.loc, (*self._batch_shape, self._extent))

    @property
    def variance(self):
        squares = self.scale_tril * self.scale_tril
        return self._spread(np.sum(squares, axis=-1), (*self._batch_shape, self._extent))

    def entropy(self):
        constant = self._extent * (0.5 + 0.5 * math.log(2 * math.pi))
        return self._log_volume + constant  # per matrix, as in MXNet: not broadcast with `loc`
