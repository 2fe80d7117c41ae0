"""`mx.nd.random`: random arrays.

Parameters are numbers (one array of samples is drawn) or NDArrays of one shape (samples are drawn
for each element, and their shape is appended to that of the parameters).
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
        The shape of the samples: of all of them, by default one, for numbers; for each element of
        NDArrays, by default a single one.
    dtype : {'float16', 'float32', 'float64'}, optional
        The dtype of the samples; float32 by default.
    ctx : Context, optional
        Where the samples are put when the parameters are numbers; the current context by default.
    out : NDArray, optional
        The array that takes the samples; its shape and dtype are the defaults then.

    Returns
    -------
    NDArray

    Raises
    ------
    AssertionError
        When some parameters are numbers and some are NDArrays.
    ValueError
        When a parameter is neither.
    MXNetError
        When a number is not a parameter of the distribution, or shape or dtype are not possible."""


def _documented(function):
    """Complete a docstring with what all distributions share."""
    fill_docstring(function, {"{shared}": _PARAMETERS})
    return function


def _refuse_unknown(shape, name):
    """Raise MXNetError for a shape that MXNet's own shape semantics take for unknown."""
    extents = shape if isinstance(shape, (tuple, list)) else (shape,)
    if (not extents or 0 in extents) and not is_np_shape():
        raise MXNetError(
            f"Error in operator _random_{name}: shape {shape} is unknown; scalars and "
            "arrays without elements need mx.util.np_shape()"
        )


def _draw(name, parameters, shape, dtype, ctx, out, kwargs):
    """Call `_random_<name>` or `_sample_<name>`, depending on the kind of parameters."""
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
    """Draw samples from a normal distribution; the arguments by position are the shape.

    Parameters
    ----------
    *shape : int
        The shape of the samples.
    loc, scale : float or NDArray, optional
        The mean and the standard deviation; 0 and 1 by default.
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
    """Draw samples, floating-point numbers, from a Poisson distribution.

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
    """Draw samples, floating-point numbers, from a negative binomial distribution.

    Parameters
    ----------
    k : int or NDArray
        The number of successes at which counting failures ends.
    p : float or NDArray
        The probability of a success, in (0, 1].
    {shared}
    """
    return _draw("negative_binomial", [k, p], shape, dtype, ctx, out, kwargs)


@_documented
def generalized_negative_binomial(
    mu=1, alpha=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs
):
    """Draw samples, floating-point numbers, from a negative binomial distribution with a mean.

    Parameters
    ----------
    mu : float or NDArray
        The mean.
    alpha : float or NDArray
        The dispersion: the inverse of the number of successes, which need not be an integer.
    {shared}
    """
    return _draw("generalized_negative_binomial", [mu, alpha], shape, dtype, ctx, out, kwargs)


@_documented
def binomial(n=1, p=0.5, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Draw samples, floating-point numbers, from a binomial distribution.

    Parameters
    ----------
    n : int or NDArray
        The number of trials.
    p : float or NDArray
        The probability of a success in each of them.
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
        The shape of the array; one integer by default.
    dtype : {'int32', 'int64'}, optional
        int32 by default.
    ctx : Context, optional
        Where the array is put; the current context by default.
    out : NDArray, optional
        The array that takes the integers; its shape and dtype are the defaults then.

    Returns
    -------
    NDArray

    Raises
    ------
    MXNetError
        When `low` is not less than `high`, or a bound is not an integer.
    """
    return _draw("randint", [low, high], shape, dtype, ctx, out, kwargs)


def multinomial(
    data=None, shape=_Null, get_prob=False, out=None, dtype=None, *, n=None, p=None, **kwargs
):
    """Draw indices along the last axis of an array with the probabilities that stand there.

    With `n` and `p`, as in MXNet 2, the indices of each row are counted.

    Parameters
    ----------
    data : NDArray
        Probabilities, shape (..., k); they sum to one along the last axis.
    shape : int or tuple of ints, optional
        How many indices are drawn for each row; a single one by default.
    get_prob : bool
        Whether the logarithms of the chosen probabilities are returned, too; they carry a gradient.
    out : NDArray, optional
        The array that takes the indices.
    dtype : {'uint8', 'int32', 'float16', 'float32', 'float64'}
        The dtype of the indices, int32 by default; of counts float32.
    n : NDArray, optional
        How many draws are counted, for each row.
    p : NDArray, optional
        Probabilities as in `data`.

    Returns
    -------
    NDArray or list of NDArray
        Indices, shape (...) + `shape`; with `get_prob` also the logarithms, of `data`'s dtype.
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
    """Draw indices; another name of `multinomial`."""
    return multinomial(data, shape, get_prob, out, dtype, **kwargs)


def shuffle(data, **kwargs):
    """Shuffle an array along its first axis.

    Parameters
    ----------
    data : NDArray
    out : NDArray, optional
        The array that takes the result; it may be `data`.

    Returns
    -------
    NDArray
        Of the same shape and dtype.
    """
    return register.F._shuffle(data, **kwargs)


__getattr__, __dir__ = namespaces.offer(__name__, "random")
