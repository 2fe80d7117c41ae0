"""`mx.nd.random`: random arrays.

With numbers as parameters one array of samples is drawn. With NDArrays of equal shape samples are
drawn per element, and the shape of the samples is appended to that of the parameters.
"""

from mxcy._base.docstrings import fill_docstring
from mxcy._semantics.switches import is_np_shape
from mxcy.base import MXNetError, _Null, numeric_types
from mxcy.ndarray import namespaces, register
from mxcy.ndarray.ndarray import NDArray

__all__ = [
    "binomial",
    "categorical",
    "exponential",
    "gamma",
    "generalized_negative_binomial",
    "multinomial",
    "negative_binomial",
    "normal",
    "poisson",
    "randint",
    "randn",
    "shuffle",
    "uniform",
]

_PARAMETERS = """
    shape : int or tuple of ints, optional
        The shape of the samples, by default (1,) for numbers; for NDArrays, the shape per element,
        by default a single sample.
    dtype : {'float16', 'float32', 'float64'}, optional
        The dtype of the samples, by default float32.
    ctx : Context, optional
        Context of the samples if the parameters are numbers, by default the current one.
    out : NDArray, optional
        Array to write the samples to, which determines default shape and dtype.

    Returns
    -------
    NDArray

    Raises
    ------
    AssertionError
        If some parameters are numbers and some are NDArrays.
    ValueError
        If a parameter is neither.
    MXNetError
        If a parameter is invalid for the distribution, or shape or dtype are invalid."""


def _documented(function):
    """Fill in the passages of a docstring shared by all distributions."""
    fill_docstring(function, {"{shared}": _PARAMETERS})
    return function


def _refuse_unknown(shape, name):
    """Raise MXNetError if a shape is unknown under MXNet's own shape semantics."""
    extents = shape if isinstance(shape, (tuple, list)) else (shape,)
    if (not extents or 0 in extents) and not is_np_shape():
        raise MXNetError(
            f"Error in operator _random_{name}: shape {shape} is unknown; scalars and "
            "empty arrays need mx.util.np_shape()"
        )


def _draw(name, parameters, shape, dtype, ctx, out, kwargs):
    """Call `_random_<name>` or `_sample_<name>`, depending on the types of the parameters."""
    first = parameters[0]
    kind = NDArray if isinstance(first, NDArray) else numeric_types
    if not isinstance(first, kind):
        raise ValueError(
            f"Distribution parameters must be either NDArray or numbers, but got {type(first)}."
        )
    for other in parameters[1:]:
        assert isinstance(other, kind), (
            "Distribution parameters must all have the same type, but got both "
            f"{type(first)} and {type(other)}."
        )
    kwargs.update(shape=shape, dtype=dtype, out=out)
    if kind is NDArray:
        return getattr(register.F, f"_sample_{name}")(*parameters, **kwargs)
    if shape is _Null and out is None:
        kwargs["shape"] = 1
    elif shape is not _Null:
        _refuse_unknown(shape, name)
    if ctx is not None:
        kwargs["ctx"] = ctx
    return getattr(register.F, f"_random_{name}")(*parameters, **kwargs)


@_documented
def uniform(low=0, high=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Draw samples from the uniform distribution on [low, high).

    Parameters
    ----------
    low, high : float or NDArray
        The bounds.
    {shared}
    """
    return _draw("uniform", [low, high], shape, dtype, ctx, out, kwargs)


@_documented
def normal(loc=0, scale=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Draw samples from a normal distribution.

    Parameters
    ----------
    loc : float or NDArray
        The mean.
    scale : float or NDArray
        The standard deviation.
    {shared}
    """
    return _draw("normal", [loc, scale], shape, dtype, ctx, out, kwargs)


def randn(*shape, **kwargs) -> NDArray:
    """Draw samples from a normal distribution; positional arguments are the shape.

    Parameters
    ----------
    *shape : int
        The shape of the samples.
    loc, scale : float or NDArray, optional
        The mean and the standard deviation, by default 0 and 1.
    dtype, ctx, out
        As for `normal`.
    """
    arguments = {"loc": 0, "scale": 1, "dtype": _Null, "ctx": None, "out": None}
    arguments.update((name, kwargs.pop(name)) for name in tuple(arguments) if name in kwargs)
    loc, scale, dtype, ctx, out = arguments.values()
    for name, value in (("loc", loc), ("scale", scale)):
        kinds = (int, float, NDArray)
        assert isinstance(value, kinds), f"{name} must be a number or an NDArray, got {type(value)}"
    return _draw("normal", [loc, scale], shape, dtype, ctx, out, kwargs)


@_documented
def poisson(lam=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Draw samples from a Poisson distribution, as floating-point numbers.

    Parameters
    ----------
    lam : float or NDArray
        The rate, at least 0.
    {shared}
    """
    return _draw("poisson", [lam], shape, dtype, ctx, out, kwargs)


@_documented
def exponential(scale=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Draw samples from an exponential distribution.

    Parameters
    ----------
    scale : float or NDArray
        The mean, the inverse of the rate.
    {shared}
    """
    return _draw("exponential", [1.0 / scale], shape, dtype, ctx, out, kwargs)


@_documented
def gamma(alpha=1, beta=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Draw samples from a gamma distribution.

    Parameters
    ----------
    alpha : float or NDArray
        The shape of the distribution, positive.
    beta : float or NDArray
        The scale of the distribution, positive.
    {shared}
    """
    return _draw("gamma", [alpha, beta], shape, dtype, ctx, out, kwargs)


@_documented
def negative_binomial(k=1, p=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Draw samples from a negative binomial distribution, as floating-point numbers.

    Parameters
    ----------
    k : int or NDArray
        The number of successes until counting failures stops.
    p : float or NDArray
        The probability of a success, in (0, 1].
    {shared}
    """
    return _draw("negative_binomial", [k, p], shape, dtype, ctx, out, kwargs)


@_documented
def generalized_negative_binomial(
    mu=1, alpha=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs
):
    """Draw samples from a negative binomial distribution parametrized by its mean.

    Parameters
    ----------
    mu : float or NDArray
        The mean.
    alpha : float or NDArray
        The dispersion, the inverse of the (not necessarily integer) number of successes.
    {shared}
    """
    return _draw("generalized_negative_binomial", [mu, alpha], shape, dtype, ctx, out, kwargs)


@_documented
def binomial(n=1, p=0.5, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Draw samples from a binomial distribution, as floating-point numbers.

    Parameters
    ----------
    n : int or NDArray
        The number of trials.
    p : float or NDArray
        The success probability of each trial.
    {shared}
    """
    return _draw("binomial", [n, p], shape, dtype, ctx, out, kwargs)


def randint(low, high, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Draw integers from the uniform distribution on [low, high).

    Parameters
    ----------
    low, high : int
        The bounds.
    shape : int or tuple of ints, optional
        The shape of the array, by default one integer.
    dtype : {'int32', 'int64'}, optional
        The dtype, by default int32.
    ctx : Context, optional
        Context of the array, by default the current one.
    out : NDArray, optional
        Array to write the integers to, which determines default shape and dtype.

    Returns
    -------
    NDArray

    Raises
    ------
    MXNetError
        If `low` is not less than `high`, or a bound is not an integer.
    """
    return _draw("randint", [low, high], shape, dtype, ctx, out, kwargs)


def multinomial(
    data=None, shape=_Null, get_prob=False, out=None, dtype=None, *, n=None, p=None, **kwargs
):
    """Draw indices along the last axis of an array of probabilities.

    With `n` and `p`, as in MXNet 2, count how often each index is drawn.

    Parameters
    ----------
    data : NDArray
        Probabilities, shape (..., k); they sum to one along the last axis.
    shape : int or tuple of ints, optional
        Shape of the draws per row, by default a single one.
    get_prob : bool
        Whether to return the (differentiable) log-probabilities of the draws as well.
    out : NDArray, optional
        Array to write the indices to.
    dtype : {'uint8', 'int32', 'float16', 'float32', 'float64'}
        The dtype of the indices, by default int32; of counts, float32.
    n : NDArray, optional
        Number of draws per row.
    p : NDArray, optional
        Probabilities as in `data`.

    Returns
    -------
    NDArray or list of NDArray
        Indices, shape (...) + `shape`; with `get_prob` also log-probabilities, with `data`'s dtype.
        Counts have shape (...) + `shape` + (k,).
    """
    if data is None:
        draws = counted_draws(n, p, shape, dtype or "float32")
        return draws if out is None else draws.copyto(out)
    return register.F._sample_multinomial(
        data, shape, get_prob, out=out, dtype=dtype or "int32", **kwargs
    )


def counted_draws(n, p, shape, dtype):
    """Count how often each index is drawn; see `multinomial`.

    Parameters
    ----------
    n, p : NDArray
    shape : int or tuple of int
    dtype : str

    Returns
    -------
    NDArray
    """
    if n.shape != p.shape[:-1]:
        raise MXNetError(f"multinomial: n has shape {n.shape}, but p {p.shape}")
    functions = register.F
    shape = () if shape in (_Null, None) else (shape,) if isinstance(shape, int) else tuple(shape)
    most = int(n.asnumpy().max(initial=0))
    drawn = functions._sample_multinomial(p, (*shape, max(most, 1)))
    number = functions._arange(start=0, stop=max(most, 1), dtype="float32", ctx=str(p.context))
    limit = functions.Cast(n, dtype="float32")
    limit = functions._backward_reshape(limit, shape=n.shape + (1,) * (len(shape) + 1))
    number = functions._backward_reshape(number, shape=(1,) * (n.ndim + len(shape)) + number.shape)
    counts = functions.broadcast_lesser(number, limit)
    ones = functions.one_hot(drawn, depth=p.shape[-1])
    counts = functions.broadcast_mul(ones, functions.expand_dims(counts, axis=-1))
    return functions.Cast(functions.sum(counts, axis=-2), dtype=dtype)


def categorical(data, shape=_Null, get_prob=False, out=None, dtype="int32", **kwargs):
    """Draw indices; alias of `multinomial`."""
    return multinomial(data, shape, get_prob, out, dtype, **kwargs)


def shuffle(data, **kwargs):
    """Shuffle an array along its first axis.

    Parameters
    ----------
    data : NDArray
    out : NDArray, optional
        Array to write the result to; may be `data`.

    Returns
    -------
    NDArray
        The shuffled array, of the same shape and dtype.
    """
    return register.F._shuffle(data, **kwargs)


__getattr__, __dir__ = namespaces.offer(__name__, "random")
