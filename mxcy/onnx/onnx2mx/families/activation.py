"""Activations and softmax."""

import math

from mxcy.onnx.onnx2mx.table import row

__all__ = []


def _direct(onnx_name, operator, **attrs):
    def function(F, a, x):
        return F(operator, x, **attrs)

    row(onnx_name)(function)


_direct("Sigmoid", "sigmoid")
_direct("Softplus", "Activation", act_type="softrelu")
_direct("Softsign", "softsign")
_direct("Tanh", "tanh")
_direct("Mish", "mish")


@row("Relu")
def relu(F, a, x):
    return F("relu", x) if x.kind == "f" else F.binary("maximum", x, 0)


@row("LeakyRelu")
def leaky(F, a, x):
    return F("LeakyReLU", x, act_type="leaky", slope=a.alpha)


@row("Elu")
def elu(F, a, x):
    return F("LeakyReLU", x, act_type="elu", slope=a.alpha)


_SELU = 1.67326319217681884765625, 1.05070102214813232421875  # alpha and gamma


@row("Selu", since=6)
def selu(F, a, x):
    if math.isclose(a.alpha, _SELU[0], rel_tol=1e-6) and math.isclose(
        a.gamma, _SELU[1], rel_tol=1e-6
    ):
        return F("LeakyReLU", x, act_type="selu")
    return F("LeakyReLU", x, act_type="elu", slope=a.alpha) * a.gamma


@row("PRelu")
def prelu(F, a, x, slope):
    extents = slope.full_shape
    channels = x.shape[1] if x.ndim > 1 else -1
    if a.opset < 7 and slope.ndim == 1 and x.ndim > 1:
        return F("LeakyReLU", x, slope, act_type="prelu")
    if (
        x.kind == "f"
        and x.ndim > 1
        and len(extents) == x.ndim - 1
        and extents[0] == channels
        and math.prod(extents) == channels
    ):
        return F("LeakyReLU", x, slope.reshape(channels), act_type="prelu")
    return F.where(F("_npi_less", x, F.like(0, x)), x * slope, x)


@row("HardSigmoid")
def hard_sigmoid(F, a, x):
    return F("hard_sigmoid", x, alpha=a.alpha, beta=a.beta)


@row("HardSwish", since=14)
def hard_swish(F, a, x):
    return x * F("hard_sigmoid", x, alpha=1 / 6, beta=0.5)


@row("ThresholdedRelu")
def thresholded(F, a, x):
    return F.where(F("_npi_greater", x, F.like(a.alpha, x)), x, F.like(0, x))


@row("Shrink", since=9)
def shrink(F, a, x):
    zero, low, high = F.like(0, x), F.like(-a.lambd, x), F.like(a.lambd, x)
    above = F.where(F("_npi_greater", x, high), F.binary("subtract", x, a.bias), zero)
    return F.where(F("_npi_less", x, low), F.binary("add", x, a.bias), above)


@row("Gelu", since=20)
def gelu(F, a, x):
    if a.approximate == "tanh":
        inner = (x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)
        return x * 0.5 * (F("tanh", inner) + 1.0)
    return F("LeakyReLU", x, act_type="gelu")


# --- along an axis -------------------------------------------------------------------------------


def _as_rows(F, a, x):
    """Flatten to the matrix whose rows opsets before 13 normalize; None if it is the last axis."""
    axis = a.axis % x.ndim if x.ndim else 0
    if all(extent == 1 for extent in x.shape[axis + 1 :]):
        return None
    if -1 in x.shape[axis:]:
        x.full_shape  # noqa: B018  raises
    before = -1 if -1 in x.shape[:axis] else math.prod(x.shape[:axis])
    return x.reshape(before, math.prod(x.shape[axis:]))


def _old(function):
    def coerced(F, a, x):
        rows = _as_rows(F, a, x)
        if rows is None:
            return function(F, x, a.axis)
        return F("reshape_like", function(F, rows, 1), x)

    return coerced


def _new(function):
    return lambda F, a, x: function(F, x, a.axis)


def _softmax(F, x, axis):
    return F("softmax", x, axis=axis)


def _log_softmax(F, x, axis):
    return F("log_softmax", x, axis=axis)


def _hardmax(F, x, axis):
    axis %= x.ndim
    places = F("_npi_argmax", x, axis=axis, keepdims=True)
    extents = [1] * x.ndim
    extents[axis] = x.shape[axis]
    counted = F("_npi_arange", start=0, stop=x.shape[axis], dtype="int64").reshape(*extents)
    return F("_npi_equal", counted, places).astype(x.dtype)


for _name, _function in (
    ("Softmax", _softmax),
    ("LogSoftmax", _log_softmax),
    ("Hardmax", _hardmax),
):
    row(_name)(_old(_function))
    row(_name, since=13)(_new(_function))
