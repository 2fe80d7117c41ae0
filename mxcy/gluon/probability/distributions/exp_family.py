"""Exponential families."""

from mxcy import autograd
from mxcy import numpy as np
from mxcy.gluon.probability.distributions.distribution import Distribution
from mxcy.gluon.probability.functions import sum_right_most
from mxcy.numpy._calls.operands import as_np_array

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """Distributions with the density ``h(x) exp(<T(x), eta> - A(eta))``.

    Subclasses define `_natural_params`, a tuple of the arrays eta, and `_log_normalizer`, the
    function A of them, which give the entropy. Those here have entropies of their own, which
    blocks can compute as part of a graph.

    Parameters
    ----------
    event_dim : int, optional
    validate_args : bool, optional
    """

    @property
    def _natural_params(self):
        """The natural parameters, a tuple."""
        raise NotImplementedError(f"{type(self).__name__} does not define its natural parameters")

    def _log_normalizer(self, *natural_params):
        """The logarithm of what the density is divided by, a function of these."""
        raise NotImplementedError(f"{type(self).__name__} does not define its log normalizer")

    def _mean_carrier_measure(self, x):
        """The mean of log h."""
        return 0.0

    def entropy(self):
        with autograd.record(train_mode=autograd.is_training()):
            etas = [_variable(as_np_array(eta)) for eta in self._natural_params]
            normalizer = self._log_normalizer(*etas)
            slopes = autograd.grad(np.sum(normalizer), etas, create_graph=True)
            entropy = normalizer - self._mean_carrier_measure(etas[0])
            for eta, slope in zip(etas, slopes, strict=True):
                products = eta * slope
                entropy = entropy - sum_right_most(products, products.ndim - normalizer.ndim)
        return entropy if autograd.is_recording() else entropy.detach()


def _variable(array):
    """An array with a place of its own in the record."""
    origin = np.zeros_like(array)
    origin.attach_grad()
    return array + origin
