"""Activations, the softmax family, and output layers."""

import math

import numpy as np

from mxcy.onnx.mx2onnx.registry import convert

__all__ = ["length_mask"]

_ACTIVATIONS = {
    "relu": "Relu",
    "sigmoid": "Sigmoid",
    "tanh": "Tanh",
    "softrelu": "Softplus",
    "softsign": "Softsign",
}


@convert("Activation")
def activation(a, G, x):
    """Convert by `act_type`."""
    if a.act_type in _ACTIVATIONS:
        return G.op(_ACTIVATIONS[a.act_type], x)
    if a.act_type == "log_sigmoid":
        return G.Neg(G.Softplus(G.Neg(x)))
    if a.act_type == "mish":
        return G.op("Mish", x) if G.opset >= 18 else x * G.Tanh(G.Softplus(x))
    return G.unsupported(f"act_type={a.act_type!r}")


@convert("LeakyReLU")
def leaky(a, G, x, gamma=None):
    """Convert by `act_type`; for prediction rrelu uses its mean slope."""
    kind = a.act_type
    if kind == "leaky":
        return [G.LeakyRelu(x, alpha=a.slope), None]
    if kind == "elu":
        return [G.Elu(x, alpha=a.slope), None]
    if kind == "selu":
        return [G.Selu(x), None]
    if kind == "rrelu":
        return [G.LeakyRelu(x, alpha=(a.lower_bound + a.upper_bound) / 2), None]
    if kind == "prelu":
        return [G.PRelu(x, _slope(G, x, gamma), shape=x.shape), None]
    if kind == "gelu":
        if G.opset >= 20:
            return [G.Gelu(x, approximate="none"), None]
        return [x * 0.5 * (G.Erf(x / math.sqrt(2)) + 1), None]
    if kind == "gelu_tanh":
        if G.opset >= 20:
            return [G.Gelu(x, approximate="tanh"), None]
        inner = (x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)
        return [x * 0.5 * (G.Tanh(inner) + 1), None]
    return G.unsupported(f"act_type={kind!r}")


def _slope(G, x, gamma):
    """Reshape slopes, whose axes match the data's first two, for broadcasting."""
    extents, left, known = [1] * x.ndim, G.dims(gamma), list(gamma.shape)
    for axis in range(min(1, x.ndim - 1), -1, -1):
        if left and (known[-1] in (1, -1, x.shape[axis]) or x.shape[axis] == -1):
            if known.pop() == x.shape[axis] == -1:
                G.unsupported("prelu with a free number of slopes")
            extents[axis] = left.pop()
    return G.reshape(gamma, extents)


# --- softmax -------------------------------------------------------------------------------------


def length_mask(G, length, extent, ndim, axis, batch_axis=None):
    """Mask of the positions along an axis that are within sequence lengths, for broadcasting.

    Parameters
    ----------
    G : Builder
    length : Value
        One integer per sequence: over all axes but `axis`, or over `batch_axis` only.
    extent : int or Value
    ndim, axis : int
    batch_axis : int, optional
    """
    places = G.arange(0, extent)
    shape = [1] * ndim
    shape[axis] = -1
    places = G.reshape(places, shape)
    length = G.cast(length, np.int64)
    if batch_axis is None:
        length = G.unsqueeze(length, (axis,))
    else:
        shape = [1] * ndim
        shape[batch_axis] = -1
        length = G.reshape(length, shape)
    return G.Less(places, length)


def _softmax(a, G, x, length=None, kind="Softmax", sign=1):
    if x.ndim == 0:
        row = _softmax(a, G, G.reshape(x, [1]), length, kind, sign)
        return G.reshape(row, [])
    axis = a.axis % x.ndim
    x = G.cast(x, G.out.dtype) if not G.is_float(x) else x
    if sign < 0:
        x = G.Neg(x)
    if a.temperature not in (None, 1):
        x = x / a.temperature
    if length is None:
        return G.softmax(x, axis, kind)
    inside = length_mask(G, length, G.dim(x, axis), x.ndim, axis)
    lowest = G.like(x, np.finfo(x.dtype).min)
    probabilities = G.softmax(G.Where(inside, x, lowest), axis, kind)
    return G.Where(inside, probabilities, G.like(x, 0))


@convert("softmax")
def softmax(a, G, x, length=None):
    """Support temperature and lengths, beyond which the result is 0."""
    return _softmax(a, G, x, length)


@convert("log_softmax")
def log_softmax(a, G, x, length=None):
    """Convert to LogSoftmax, which is stable."""
    return _softmax(a, G, x, length, "LogSoftmax")


@convert("softmin")
def softmin(a, G, x, length=None):
    """Convert to the softmax of the negation."""
    return _softmax(a, G, x, length, sign=-1)


def _masked(a, G, x, mask, kind, beyond):
    axis = a.axis % x.ndim
    if a.temperature not in (None, 1):
        x = x / a.temperature
    inside = G.to_bool(mask)
    probabilities = G.softmax(G.Where(inside, x, G.like(x, np.finfo(x.dtype).min)), axis, kind)
    return G.Where(inside, probabilities, G.like(x, beyond))


@convert("masked_softmax")
def masked_softmax(a, G, x, mask):
    """The result is 0 where the mask is 0."""
    return _masked(a, G, x, mask, "Softmax", 0)


@convert("masked_log_softmax")
def masked_log_softmax(a, G, x, mask):
    """The result is -inf where the mask is 0."""
    return _masked(a, G, x, mask, "LogSoftmax", -np.inf)


# --- outputs -------------------------------------------------------------------------------------


@convert("SoftmaxOutput")
def softmax_output(a, G, x, label):
    """Softmax over the channels, the last axis, or whole samples."""
    if a.multi_output:
        return G.softmax(x, 1)
    if a.preserve_shape or x.ndim <= 2:
        return G.softmax(x, -1)
    return _of_samples(G, x)


def _of_samples(G, x):
    rows = G.reshape(x, [G.dim(x, 0), -1])
    return G.reshape(G.softmax(rows, -1), G.dims(x))


@convert("SoftmaxActivation")
def softmax_activation(a, G, x):
    """Softmax over the channels or the last axis."""
    return G.softmax(x, 1 if a.mode == "channel" else -1)


@convert("LinearRegressionOutput", "MAERegressionOutput", "SVMOutput")
def regression_output(a, G, x, label):
    """The identity; only the gradient differs."""
    return x


@convert("LogisticRegressionOutput")
def logistic_output(a, G, x, label):
    """A sigmoid."""
    return G.Sigmoid(x)


@convert("softmax_cross_entropy")
def softmax_cross_entropy(a, G, x, label):
    """Sum of the negative log-probabilities of the labels."""
    places = G.unsqueeze(G.cast(label, np.int64), (1,))
    chosen = G.op("GatherElements", G.softmax(x, -1, "LogSoftmax"), places, axis=1)
    chosen.shape = (x.shape[0], 1)
    return G.reshape(G.Neg(G.reduce("Sum", chosen)), [1])
