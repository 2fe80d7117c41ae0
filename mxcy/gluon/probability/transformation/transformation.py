"""Invertible transformations of random variables."""

import weakref

import numpy as onp

from mxcy import numpy as np
from mxcy import numpy_extension as npx
from mxcy.gluon.block import HybridBlock
from mxcy.gluon.probability.functions import absolute, as_parameter, log, softplus, sum_right_most
from mxcy.numpy._calls.operands import is_array

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "ComposeTransform",
    "ExpTransform",
    "PowerTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "TransformBlock",
    "Transformation",
]


class Transformation:
    """An invertible function with the log-determinant of its Jacobian.

    Subclasses define `_forward_compute`, `_inverse_compute` and `log_det_jacobian`.

    Attributes
    ----------
    bijective : bool
        Whether the inverse is unique.
    event_dim : int
        Number of last dimensions that form one event.
    """

    bijective = False
    event_dim = 0

    _inverse = None  # a weak reference

    @property
    def parameter_shape(self):
        """The shape of the parameters, with which arguments broadcast."""
        return ()

    @property
    def sign(self):
        """1 where the function is increasing, -1 where it is decreasing."""
        raise NotImplementedError(f"{type(self).__name__} is not monotonic")

    @property
    def inv(self):
        """The inverse."""
        inverse = None if self._inverse is None else self._inverse()
        if inverse is None:
            inverse = self._make_inverse()
            self._inverse = weakref.ref(inverse)
        return inverse

    def _make_inverse(self):
        return _InverseTransformation(self)

    def __call__(self, x):
        """Apply the transformation.

        Parameters
        ----------
        x : ndarray

        Returns
        -------
        ndarray
        """
        return self._forward_compute(x)

    def _inv_call(self, y):
        return self._inverse_compute(y)

    def _forward_compute(self, x):
        raise NotImplementedError(f"{type(self).__name__} does not define _forward_compute")

    def _inverse_compute(self, y):
        raise NotImplementedError(f"{type(self).__name__} does not define _inverse_compute")

    def log_det_jacobian(self, x, y):
        """Return the log absolute determinant of the Jacobian.

        Parameters
        ----------
        x, y : ndarray
            Arguments and transformed values.

        Returns
        -------
        ndarray
        """
        raise NotImplementedError(f"{type(self).__name__} does not define log_det_jacobian")


class _InverseTransformation(Transformation):
    """The inverse of another transformation, which it keeps alive."""

    def __init__(self, forward):
        self._forward = forward
        self.bijective, self.event_dim = forward.bijective, forward.event_dim

    @property
    def parameter_shape(self):
        return self._forward.parameter_shape

    @property
    def sign(self):
        return self._forward.sign

    @property
    def inv(self):
        return self._forward

    def __call__(self, x):
        return self._forward._inv_call(x)

    def _inv_call(self, y):
        return self._forward(y)

    def log_det_jacobian(self, x, y):
        return -self._forward.log_det_jacobian(y, x)


class TransformBlock(Transformation, HybridBlock):
    """A transformation that is a block and can have learnable parameters.

    Parameters
    ----------
    *args, **kwargs
        See `HybridBlock`.
    """

    def __init__(self, *args, **kwargs):
        HybridBlock.__init__(self, *args, **kwargs)


class ComposeTransform(Transformation):
    """A composition of transformations.

    Parameters
    ----------
    parts : list of Transformation
    """

    def __init__(self, parts):
        self._parts = list(parts)

    @property
    def bijective(self):
        """Whether the inverse is unique."""
        return all(part.bijective for part in self._parts)

    @property
    def event_dim(self):
        """Number of last dimensions that form one event."""
        return max((part.event_dim for part in self._parts), default=0)

    @property
    def parameter_shape(self):
        shapes = [part.parameter_shape for part in self._parts if part.event_dim == 0]
        return onp.broadcast_shapes(*shapes)

    @property
    def sign(self):
        sign = 1
        for part in self._parts:
            sign = sign * part.sign
        return sign

    def _make_inverse(self):
        inverse = ComposeTransform([part.inv for part in reversed(self._parts)])
        inverse._forward = self  # keeps it alive, like other inverses
        inverse._inverse = weakref.ref(self)
        return inverse

    def _forward_compute(self, x):
        for part in self._parts:
            x = part(x)
        return x

    def _inv_call(self, y):
        for part in reversed(self._parts):
            y = part.inv(y)
        return y

    def log_det_jacobian(self, x, y):
        total = sum_right_most(np.zeros_like(x), self.event_dim)
        for part in self._parts:
            image = part(x)
            slope = part.log_det_jacobian(x, image)
            total = total + sum_right_most(slope, self.event_dim - part.event_dim)
            x = image
        return total


class ExpTransform(Transformation):
    """The exponential."""

    bijective = True
    sign = 1

    def _forward_compute(self, x):
        return np.exp(x)

    def _inverse_compute(self, y):
        return np.log(y)

    def log_det_jacobian(self, x, y):
        return x


class AffineTransform(Transformation):
    """``loc + scale * x``.

    Parameters
    ----------
    loc, scale : float or ndarray
    event_dim : int
        Number of last dimensions that form one event.
    """

    bijective = True

    def __init__(self, loc, scale, event_dim=0):
        self._loc = as_parameter(loc, "AffineTransform: loc")
        self._scale = as_parameter(scale, "AffineTransform: scale")
        self.event_dim = event_dim

    @property
    def parameter_shape(self):
        return onp.broadcast_shapes(*(a.shape for a in (self._loc, self._scale) if is_array(a)))

    @property
    def sign(self):
        return np.sign(self._scale) if is_array(self._scale) else int(onp.sign(self._scale))

    def _forward_compute(self, x):
        return self._loc + self._scale * x

    def _inverse_compute(self, y):
        return (y - self._loc) / self._scale

    def log_det_jacobian(self, x, y):
        slope = np.zeros_like(y) + log(absolute(self._scale))
        return sum_right_most(slope, self.event_dim)


class PowerTransform(Transformation):
    """``x ** exponent`` for non-negative numbers.

    Parameters
    ----------
    exponent : float or ndarray
    """

    bijective = True

    def __init__(self, exponent):
        self._exponent = as_parameter(exponent, "PowerTransform: exponent")

    @property
    def parameter_shape(self):
        return self._exponent.shape if is_array(self._exponent) else ()

    @property
    def sign(self):
        exponent = self._exponent
        return np.sign(exponent) if is_array(exponent) else int(onp.sign(exponent))

    def _forward_compute(self, x):
        return np.power(x, self._exponent)

    def _inverse_compute(self, y):
        return np.power(y, 1 / self._exponent)

    def log_det_jacobian(self, x, y):
        return log(absolute(self._exponent)) + (self._exponent - 1) * np.log(x)


class SigmoidTransform(Transformation):
    """``1 / (1 + exp(-x))``."""

    bijective = True
    sign = 1

    def _forward_compute(self, x):
        return npx.sigmoid(x)

    def _inverse_compute(self, y):
        info = onp.finfo(y.dtype)  # 0 and 1 are replaced by their neighbours
        y = np.clip(y, float(info.tiny), 1 - float(info.epsneg))
        return np.log(y) - np.log1p(-y)

    def log_det_jacobian(self, x, y):
        return -softplus(-x) - softplus(x)


class SoftmaxTransform(Transformation):
    """Softmax along the last axis."""

    event_dim = 1

    def _forward_compute(self, x):
        return npx.softmax(x, axis=-1)

    def _inverse_compute(self, y):
        return np.log(y)


class AbsTransform(Transformation):
    """The absolute value; the inverse is the identity."""

    def _forward_compute(self, x):
        return np.abs(x)

    def _inverse_compute(self, y):
        return y
