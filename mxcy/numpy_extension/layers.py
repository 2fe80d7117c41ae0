"""Neural network layers whose parameters differ from their operators'."""

from functools import cache

from mxcy.numpy import register
from mxcy.numpy._calls.general import call, operate
from mxcy.numpy._calls.handlers import handles
from mxcy.numpy._calls.operands import as_array

__all__ = ["fully_connected"]


def fully_connected(x, weight, bias=None, num_hidden=None, no_bias=True, flatten=True, **kwargs):
    """Apply an affine map to the last axis: ``x . weight^T + bias``.

    Parameters
    ----------
    x : ndarray
        Shape (batch, ...), flattened to (batch, n), or with ``flatten=False`` (..., n).
    weight : ndarray
        Shape (num_hidden, n).
    bias : ndarray, optional
        Shape (num_hidden,); ignored unless ``no_bias=False``.
    num_hidden : int
    no_bias : bool, default True
    flatten : bool, default True
    **kwargs
        ``out``: array to write the result to.

    Returns
    -------
    ndarray
    """
    used = None if no_bias else bias
    return _affine()(x, weight, used, num_hidden, no_bias, flatten, **kwargs)


@cache
def _affine():
    """Return the operator's function, which rejects an unused bias."""
    return register.function("npx", "fully_connected")


@handles("npx.log_softmax")
def _log_softmax(called, inputs, raw, out, keywords):
    """Handle `log_softmax` with lengths, which its operator lacks."""
    length = keywords.pop("length", None)
    if length is None:
        return call(called, inputs, raw, out, keywords)
    data, attrs = as_array(inputs[0]), dict(zip(called.record.schema.names, raw, strict=True))
    if attrs.pop("use_length") is not True:
        raise ValueError("npx.log_softmax: length is given, but use_length is not True")
    axis = attrs["axis"]
    places = operate("_contrib_arange_like", data, axis=axis)
    around = [1] * data.ndim
    around[axis] = data.shape[axis]
    mask = places.reshape(around) < operate("expand_dims", as_array(length), axis=axis)
    attrs["temperature"] = 1.0 if attrs["temperature"] is None else attrs["temperature"]
    dtype = attrs.pop("dtype")
    result = operate(
        "masked_log_softmax",
        data,
        operate("_npi_broadcast_to", mask, shape=data.shape),
        out=out,
        **attrs,
    )
    return result if dtype is None else result.astype(dtype)
