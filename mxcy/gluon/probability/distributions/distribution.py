"""Base class of distributions."""

from numbers import Number

import numpy as onp

from mxcy import numpy as np
from mxcy.gluon.probability.distributions.constraint import is_dependent
from mxcy.gluon.probability.functions import as_parameter, exp, sqrt
from mxcy.numpy._calls.general import operate
from mxcy.numpy._calls.operands import is_array

__all__ = ["Distribution", "extents"]


def extents(size):
    """Convert a size to a tuple.

    Parameters
    ----------
    size : int or tuple of int, optional
    """
    if size is None:
        return ()
    return (int(size),) if isinstance(size, (Number, onp.generic)) else tuple(map(int, size))


class Distribution:
    """Base class of distributions.

    An event is a number or an array of `event_dim` dimensions. Parameters are numbers or arrays,
    whose shapes without the event dimensions broadcast to the batch shape.

    A subclass stores its parameters in attributes and defines `log_prob`, `sample` and further
    methods. Alternatively it lists its parameters in `_parameters`, passes them to `_take`, and
    defines the hooks `_log_density`, `_cumulative`, `_quantile` and `_draw`.

    Parameters
    ----------
    event_dim : int, optional
    validate_args : bool, optional
        Check parameters and values; see `set_default_validate_args`.

    Attributes
    ----------
    has_grad : bool
        Whether samples are differentiable with respect to all parameters.
    has_enumerate_support : bool
        Whether `enumerate_support` is available.
    """

    has_grad = False
    has_enumerate_support = False

    _validate_args = False
    _parameters = {}  # name -> number of event dimensions of the parameter
    _taken = ()  # names of the parameters that were given
    _inner = None  # a value inside the support, substituted where the density is zero

    def __init__(self, event_dim=None, validate_args=None):
        self.event_dim = event_dim
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            for name, constraint in self._constraints().items():
                if name in self.__dict__ and not is_dependent(constraint):
                    checked = constraint.check_named(self.__dict__[name], self._called(name))
                    setattr(self, name, checked)

    @staticmethod
    def set_default_validate_args(value):
        """Set the default of `validate_args`.

        Parameters
        ----------
        value : bool
        """
        if value not in (True, False):
            raise ValueError(f"set_default_validate_args: expected True or False, got {value!r}")
        Distribution._validate_args = bool(value)

    @property
    def arg_constraints(self):
        """dict: constraints on the parameters, by name."""
        raise NotImplementedError(f"{type(self).__name__} does not define arg_constraints")

    @property
    def support(self):
        """Constraint on samples."""
        raise NotImplementedError(f"{type(self).__name__} does not define its support")

    def log_prob(self, value):
        """Return the log-density, or log-probability, of values.

        Parameters
        ----------
        value : ndarray
            Values, whose shape broadcasts with the batch and event shape.

        Returns
        -------
        ndarray
        """
        value = self._checked_value(value)
        if self._inner is None:
            return self._log_density(value)
        inside = self.support.holds(value)
        density = self._log_density(np.where(inside, value, self._inner))
        return np.where(inside, density, -onp.inf)

    def pdf(self, value):
        """Return the density, or probability, of values.

        Parameters
        ----------
        value : ndarray

        Returns
        -------
        ndarray
        """
        return np.exp(self.log_prob(value))

    def cdf(self, value):
        """Return the cumulative distribution function at values.

        Parameters
        ----------
        value : ndarray

        Returns
        -------
        ndarray
        """
        return self._cumulative(self._checked_value(value))

    def icdf(self, value):
        """Return the inverse of `cdf`.

        Parameters
        ----------
        value : ndarray
            Probabilities.

        Returns
        -------
        ndarray
        """
        return self._quantile(self._as_value(value))

    def sample(self, size=None):
        """Draw samples.

        Parameters
        ----------
        size : int or tuple of int, optional
            Shape without the event dimensions, to which the batch shape must broadcast; the batch
            shape by default.

        Returns
        -------
        ndarray
        """
        return self._draw(self._batch_shape if size is None else extents(size))

    def sample_n(self, size=None):
        """Draw samples for each element of the batch.

        Parameters
        ----------
        size : int or tuple of int, optional
            Shape prepended to the batch shape.

        Returns
        -------
        ndarray
        """
        return self.sample(extents(size) + self._batch_shape)

    def broadcast_to(self, batch_shape):
        """Return the distribution with its parameters broadcast.

        Parameters
        ----------
        batch_shape : int or tuple of int

        Returns
        -------
        Distribution
        """
        if not self._taken:
            raise NotImplementedError(f"{type(self).__name__} does not define broadcast_to")
        batch_shape, broadcast = extents(batch_shape), {}
        for name in self._taken:
            value = getattr(self, name)
            ndim = self._parameters[name]
            event = value.shape[value.ndim - ndim :] if ndim else ()
            broadcast[name] = self._spread(value, batch_shape + event)
        return type(self)(**broadcast, **self._settings(), validate_args=self._validate_args)

    def enumerate_support(self):
        """Return all possible samples, along a new first axis.

        Returns
        -------
        ndarray
        """
        raise NotImplementedError(f"{type(self).__name__} does not enumerate its support")

    @property
    def mean(self):
        """The mean."""
        raise NotImplementedError(f"{type(self).__name__} does not define its mean")

    @property
    def variance(self):
        """The variance."""
        raise NotImplementedError(f"{type(self).__name__} does not define its variance")

    @property
    def stddev(self):
        """The standard deviation."""
        return sqrt(self.variance)

    def entropy(self):
        """Return the entropy in nats.

        Returns
        -------
        ndarray
        """
        raise NotImplementedError(f"{type(self).__name__} does not define its entropy")

    def perplexity(self):
        """Return the exponential of the entropy.

        Returns
        -------
        ndarray
        """
        return exp(self.entropy())

    def __repr__(self):
        shown = []
        for name in self._taken:
            value = getattr(self, name)
            shown.append(f"{name}={f'{value.shape}' if is_array(value) else value}")
        shown += [f"{name}={value}" for name, value in self._settings().items()]
        return f"{type(self).__name__}({', '.join(shown)})"

    # --- hooks of subclasses ---------------------------------------------------------------------

    def _log_density(self, value):
        """The log-density of values in the support."""
        raise NotImplementedError(f"{type(self).__name__} does not define log_prob")

    def _cumulative(self, value):
        """The cumulative distribution function."""
        raise NotImplementedError(f"{type(self).__name__} does not define cdf")

    def _quantile(self, value):
        """The inverse of `_cumulative`."""
        raise NotImplementedError(f"{type(self).__name__} does not define icdf")

    def _draw(self, shape):
        """Draw samples of a shape that ends in the batch shape."""
        raise NotImplementedError(f"{type(self).__name__} does not define sample")

    def _settings(self):
        """Constructor arguments that are not parameters."""
        return {}

    # --- helpers ---------------------------------------------------------------------------------

    def _take(self, **parameters):
        """Store parameters as attributes."""
        self._taken = tuple(parameters)
        for name, value in parameters.items():
            value = as_parameter(value, self._called(name))
            ndim = self._parameters[name]
            if ndim and (not is_array(value) or value.ndim < ndim):
                shape = value.shape if is_array(value) else ()
                raise ValueError(
                    f"{self._called(name)}: expected an array of at least {ndim} dimensions, "
                    f"got the shape {shape}"
                )
            setattr(self, name, value)

    def _take_one(self, **parameters):
        """Store the one of several alternative parameters that was given.

        Raises
        ------
        ValueError
            If none or more than one was given.
        """
        present = {name: value for name, value in parameters.items() if value is not None}
        if len(present) != 1:
            names = ", ".join(f"`{name}`" for name in parameters)
            got = ", ".join(present) or "none"
            raise ValueError(
                f"{type(self).__name__}: exactly one of {names} must be specified, got {got}"
            )
        return present

    def _called(self, name):
        return f"{type(self).__name__}: {name}"

    def _constraints(self):
        try:
            return self.arg_constraints
        except NotImplementedError:
            return {}

    @property
    def _batch_shape(self):
        shapes = []
        for name in self._taken:
            value = getattr(self, name)
            if is_array(value):
                shapes.append(value.shape[: value.ndim - self._parameters[name]])
        return onp.broadcast_shapes(*shapes)

    @property
    def _dtype(self):
        """The floating dtype of the parameters; None if all are numbers."""
        for name in self._taken:
            value = getattr(self, name)
            if is_array(value) and onp.issubdtype(value.dtype, onp.floating):
                return value.dtype
        return None

    def _spread(self, value, shape=None):
        """Broadcast a moment, computed from some parameters, to the batch shape."""
        shape = self._batch_shape if shape is None else shape
        if not is_array(value):
            return np.full(shape, value, dtype=self._dtype)
        return value if value.shape == shape else np.broadcast_to(value, shape)

    def _as_value(self, value):
        value = as_parameter(value, self._called("value"))
        return value if is_array(value) else np.full((), value, dtype=self._dtype)

    def _checked_value(self, value):
        value = self._as_value(value)
        if self._validate_args:
            return self.support.check_named(value, self._called("value"))
        return value

    def _drawn_by(self, name, parameters, shape):
        """Draw samples with an operator that draws per element of its parameters."""
        batch = self._batch_shape
        lead = len(shape) - len(batch)
        if lead < 0:
            raise ValueError(
                f"{type(self).__name__}: the batch shape {batch} does not broadcast to {shape}"
            )
        dtype, rows = str(self._dtype or np.zeros(()).dtype), []
        for value in parameters:
            row = self._spread(value, shape[lead:])
            rows.append(row if row.dtype == dtype else row.astype(dtype))
        drawn = operate(name, *rows, shape=shape[:lead], dtype=dtype)
        if not lead or len(shape) == lead:
            return drawn
        return np.moveaxis(drawn, tuple(range(len(batch), len(shape))), tuple(range(lead)))
