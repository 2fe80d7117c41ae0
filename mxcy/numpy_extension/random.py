"""`mx.npx.random`: random sampling beyond NumPy's interface."""

from mxcy import random as streams
from mxcy._base import dtypes
from mxcy.base import integer_types
from mxcy.ndarray.random import counted_draws
from mxcy.numpy._calls.general import operate
from mxcy.numpy._calls.operands import as_array
from mxcy.numpy.random import bernoulli, normal, uniform

__all__ = ["bernoulli", "categorical", "multinomial", "normal_n", "seed", "uniform_n"]


def __dir__():
    return __all__


def _batch(shape):
    """Return a `size` for batches of the parameters' common shape, denoted by -2."""
    if shape is None:
        return None
    return (-2, *((shape,) if isinstance(shape, integer_types) else shape))


def uniform_n(low=0.0, high=1.0, batch_shape=None, dtype=None, device=None, ctx=None):
    """Draw batches of samples from the uniform distribution on [low, high).

    Parameters
    ----------
    low, high : float or ndarray
    batch_shape : int or tuple of int, optional
        Leading dimensions, before the parameters' shape.
    dtype : dtype, optional
    device, ctx : Device, optional

    Returns
    -------
    ndarray
    """
    return uniform(low, high, _batch(batch_shape), dtype, device, ctx=ctx)


def normal_n(loc=0.0, scale=1.0, batch_shape=None, dtype=None, device=None, ctx=None):
    """Draw batches of samples from the normal distribution.

    Parameters
    ----------
    loc, scale : float or ndarray
    batch_shape : int or tuple of int, optional
        Leading dimensions, before the parameters' shape.
    dtype : dtype, optional
    device, ctx : Device, optional

    Returns
    -------
    ndarray
    """
    return normal(loc, scale, _batch(batch_shape), dtype, device, ctx=ctx)


def categorical(data, shape=(), get_prob=False, dtype="int32"):
    """Draw indices from the categorical distributions along the last axis.

    Parameters
    ----------
    data : array_like
        Probabilities along the last axis.
    shape : int or tuple of int
        Shape of the samples for each row.
    get_prob : bool
        Whether to return the log-probabilities of the samples as well.
    dtype : dtype

    Returns
    -------
    ndarray, or list of two
    """
    shape = (shape,) if isinstance(shape, integer_types) else tuple(shape)
    attrs = {"shape": shape, "get_prob": get_prob, "dtype": dtype}
    return operate("_sample_multinomial", as_array(data), **attrs)


def multinomial(n, p, shape=(), dtype="float32"):
    """Draw counts from the multinomial distributions along the last axis.

    Parameters
    ----------
    n : array_like
        Number of draws for each row.
    p : array_like
        Probabilities, shape (..., k) for `n` of shape (...).
    shape : int or tuple of int
        Shape of the samples for each row.
    dtype : dtype

    Returns
    -------
    ndarray
        Shape (...) + `shape` + (k,).
    """
    draws = counted_draws(as_array(n), as_array(p), shape, dtypes.name_of(dtypes.code_of(dtype)))
    return draws.as_np_ndarray()


def seed(seed, device="all", ctx=None):
    """Seed all random streams of a device, as `mx.random.seed` does.

    Parameters
    ----------
    seed : int
    device, ctx : Device or str, default 'all'
    """
    streams.seed(seed, device if ctx is None else ctx)
