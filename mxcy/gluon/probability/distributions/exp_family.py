"""Exponential families."""

from mxcy import autograd
from mxcy import numpy as np
from mxcy.gluon.probability.distributions.distribution import Distribution
from mxcy.gluon.probability.functions import sum_right_most
from mxcy.numpy._calls.operands import as_np_array

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """Base class of exponential families, with density ``h(x) exp(<T(x), eta> - A(eta))``.

    Subclasses define `_natural_params`, the arrays eta, and `_log_normalizer`, the function A,
    from which the entropy follows. Our own subclasses define the entropy directly, so that it can
    be part of a graph.

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
        """The log normalizer A as a function of the natural parameters."""
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
    """A copy of an array that gradients can be taken with respect to."""
    origin = np.zeros_like(array)
    origin.attach_grad()
    return array + origin
