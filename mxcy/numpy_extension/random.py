"""`mx.npx.random`: random arrays with what NumPy lacks."""

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
    """A size: batches of the parameters' common shape, for which -2 stands."""
    if shape is None:
        return None
    return (-2, *((shape,) if isinstance(shape, integer_types) else shape))


def uniform_n(low=0.0, high=1.0, batch_shape=None, dtype=None, device=None, ctx=None):
    """Batches of samples of the uniform distribution on [low, high).

    Parameters
    ----------
    low, high : float or ndarray
    batch_shape : int or tuple of int, optional
        What stands before the parameters' shape.
    dtype : dtype, optional
    device, ctx : Device, optional

    Returns
    -------
    ndarray
    """
    return uniform(low, high, _batch(batch_shape), dtype, device, ctx=ctx)


def normal_n(loc=0.0, scale=1.0, batch_shape=None, dtype=None, device=None, ctx=None):
    """Batches of samples of the normal distribution.

    Parameters
    ----------
    loc, scale : float or ndarray
    batch_shape : int or tuple of int, optional
        What stands before the parameters' shape.
    dtype : dtype, optional
    device, ctx : Device, optional

    Returns
    -------
    ndarray
    """
    return normal(loc, scale, _batch(batch_shape), dtype, device, ctx=ctx)


def categorical(data, shape=(), get_prob=False, dtype="int32"):
    """Indices drawn with the probabilities along the last axis.

    Parameters
    ----------
    data : array_like
    shape : int or tuple of int
        How many for each row.
    get_prob : bool
        Whether to return the logarithms of their probabilities as well.
    dtype : dtype

    Returns
    -------
    ndarray, or list of two
    """
    shape = (shape,) if isinstance(shape, integer_types) else tuple(shape)
    attrs = {"shape": shape, "get_prob": get_prob, "dtype": dtype}
    return operate("_sample_multinomial", as_array(data), **attrs)


def multinomial(n, p, shape=(), dtype="float32"):
    """How often each index is drawn with the probabilities along the last axis.

    Parameters
    ----------
    n : array_like
        How many draws, for each row.
    p : array_like
        Probabilities, shape (..., k), where n has shape (...).
    shape : int or tuple of int
        How many counts for each row.
    dtype : dtype

    Returns
    -------
    ndarray
        Shape (...) + `shape` + (k,).
    """
    draws = counted_draws(as_array(n), as_array(p), shape, dtypes.name_of(dtypes.code_of(dtype)))
    return draws.as_np_ndarray()


def seed(seed, device="all", ctx=None):
    """Start all random streams of a device afresh, as `mx.random.seed` does.

    Parameters
    ----------
    seed : int
    device, ctx : Device or str, default 'all'
    """
    streams.seed(seed, device if ctx is None else ctx)
