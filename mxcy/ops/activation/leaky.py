"""LeakyReLU: rectifiers with nonzero output for negative inputs."""

import math

from mxcy.ops.core.attrs import Enum, Float
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec, back_data, like_inputs, require, same_specs
from mxcy.ops.core.params import PRELU, SCALAR2
from mxcy.ops.core.precision import Precision
from mxcy.ops.core.record import native, op, sample
from mxcy.ops.elementwise.unary import by_element
from mxcy.ops.random.distributions import generator

_SELU = (1.0507009873554804934, 1.6732632423543772848)  # scale, slope
_erf = by_element(math.erf)


def _expanded(gamma, data):
    """Return the shape in which prelu's gamma broadcasts to the data; None if it cannot.

    Its axes are matched with the first two of the data, the last one with the channels if it fits.
    """
    shape, left = [1] * len(data), list(gamma)
    for axis in range(min(1, len(data) - 1), -1, -1):
        if left and left[-1] in (1, data[axis]):
            shape[axis] = left.pop()
    return None if left else tuple(shape)


_CURVED = {"gelu": "gelu_erf", "gelu_tanh": "gelu_tanh"}
_ROWS = {"leaky": "leaky", "elu": "elu", "selu": "elu", **_CURVED}


def _row_params(a, ins, outs):
    """Return the slope and scale of the negative side."""
    scale, slope = _SELU if a.act_type == "selu" else (1.0, a.slope)
    return {"p": slope, "q": scale}


def _row_kernel(curved):
    """Return the kernel of gelu (`curved`), or of the types with a slope."""

    def applies(a):
        return a.act_type in _ROWS and (a.act_type in _CURVED) == curved

    return native(
        lambda a, ins, outs: _ROWS.get(a.act_type, ""),
        struct=None if curved else SCALAR2,
        params=None if curved else _row_params,
        when=lambda a, ins, outs: None if applies(a) else "the slopes are arrays",
        inplace=True,
        pointwise=applies,
    )


def _channel_kernel(name, first):
    """Return a kernel with one slope per channel; inputs from `first` on are data and gamma."""

    def params(a, ins, outs):
        data, gamma = ins[first].shape, ins[first + 1].shape
        slopes = _expanded(gamma, data)
        if math.prod(slopes) == 1:
            return {"outer": data[0], "channels": 1, "inner": math.prod(data[1:])}
        outer = data[0] if slopes[0] == 1 else 1
        channels = math.prod(slopes)
        return {
            "outer": outer,
            "channels": channels,
            "inner": math.prod(data) // (outer * channels),
        }

    def when(a, ins, outs):
        if getattr(a, "act_type", "prelu") != "prelu":
            return "the slope is a number"
        data, gamma = ins[first : first + 2]
        if 0 in data.shape or not data.shape:
            return "no elements along a dimension"
        return None if data.dtype == gamma.dtype else "the types differ"

    return native(name, struct=PRELU, params=params, when=when)


def _check_gamma(data, gamma):
    """Check gamma: one slope per channel, or broadcastable to the first two axes of the data."""
    if gamma.dtype is None:
        gamma.dtype = data.dtype
    if data.shape is None:
        return
    require(data.ndim > 0, "data: expected at least one dimension, got a scalar")
    channels = data.shape[min(1, data.ndim - 1)]
    if gamma.shape is None:
        gamma.fill("gamma", (channels,))
    known = -1 not in (*gamma.shape, *data.shape)
    require(
        not known or _expanded(gamma.shape, data.shape) is not None,
        f"gamma: expected shape (1,), ({channels},) or one that broadcasts to the first two axes "
        f"of {data.shape}, got {gamma.shape}",
    )


@op(
    "LeakyReLU",
    aliases=("_npx_leaky_relu",),
    numpy=(
        "npx.leaky_relu(data=None, gamma=None, act_type='leaky', slope=0.25, "
        "lower_bound=0.125, upper_bound=0.334, out=None, name=None)"
    ),
    inputs="data gamma?",
    outputs="output mask",
    visible=1,
    uses_mode=True,
    in_symbols=InSymbols(
        {"gamma": '["Constant", {"value": 0.25}]'},
        named=True,
        listed=lambda a: 2 if a.act_type == "rrelu" else 1,
    ),
    amp=Precision("either", "either", fp32_when=("act_type", ("elu", "selu"))),
)
class LeakyReLU:
    """Apply a leaky rectifier: elementwise, with nonzero output for negative inputs.

    leaky
        ``slope * x`` for negative x.
    prelu
        ``gamma * x`` for negative x; gamma is learned: (channels,), (1,), or of a shape that
        broadcasts to the first two axes of the data.
    elu, selu
        ``slope * (exp(x) - 1)`` for negative x; selu has fixed constants that keep mean and
        variance.
    gelu
        ``x * Phi(x)`` for all x, with Phi the standard normal distribution function.
    gelu_tanh
        gelu with Phi approximated by ``(1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))) / 2``; only
        in MXNet's last sources.
    rrelu
        ``slope * x`` for negative x, the slope drawn per element from [lower_bound, upper_bound] in
        training, else their mean. The hidden second output holds the slopes.
    """

    act_type: Enum("elu", "gelu", "leaky", "prelu", "rrelu", "selu", beyond=("gelu_tanh",)) = (
        "leaky"
    )
    slope: Float = 0.25
    lower_bound: Float = 0.125
    upper_bound: Float = 0.333999991

    def epilogue(a):
        epilogues = {
            "leaky": ("leaky", a.slope),
            "elu": ("elu", a.slope),
            **{kind: (row, 0.0) for kind, row in _CURVED.items()},
        }
        return (*epilogues[a.act_type], 0.0) if a.act_type in epilogues else None

    domain = (-2.0, 2.0)
    kernels = (_row_kernel(curved=True), _row_kernel(curved=False), _channel_kernel("prelu", 0))
    samples = (
        sample((3, 4), act_type="leaky", slope=0.1),
        sample((2, 3, 4), (3,), act_type="prelu"),
        sample((2, 3, 4), (1,), act_type="prelu"),
        sample((5,), (5,), act_type="prelu"),
        sample((2, 3, 4), (2, 3), act_type="prelu"),
        sample((2, 3, 4), (2, 1), act_type="prelu"),
        sample((3, 4), (3,), act_type="prelu"),
        sample((3, 4), act_type="elu", slope=0.7),
        sample((3, 4), act_type="selu"),
        sample((3, 4), act_type="gelu"),
        sample((3, 4), act_type="gelu_tanh"),
        sample((3, 4), act_type="rrelu"),
    )

    def arguments(a):
        return ("data", "gamma") if a.act_type == "prelu" else ("data",)

    def infer(a, data, gamma=None):
        if gamma is not None:
            _check_gamma(data, gamma)
        mask = data.shape if a.act_type == "rrelu" else (0,)
        return Spec(data.shape, data.dtype), Spec(mask, data.dtype)

    infer_back = back_data

    def grad(a, F, g, data, gamma, mask):
        g = g[0]
        if a.act_type in _ROWS:
            return F._leaky_grad(g, data, act_type=a.act_type, slope=a.slope)
        if a.act_type == "rrelu":
            positive = data > 0
            return g * (positive + (1 - positive) * mask)
        return F._prelu_grad(g, data, gamma)

    def ref(a, xp, data, gamma=None):
        mask = xp.zeros(0, data.dtype)
        if a.act_type == "gelu":
            out = data * 0.5 * (1 + _erf(xp, data * math.sqrt(0.5)))
        elif a.act_type == "gelu_tanh":
            out = data * 0.5 * (1 + _bend(xp, data)[0])
        elif a.act_type in ("elu", "selu"):
            scale, slope = (1.0, a.slope) if a.act_type == "elu" else _SELU
            out = scale * xp.where(data > 0, data, slope * xp.expm1(xp.minimum(data, 0)))
        else:
            slopes = a.slope
            if a.act_type == "prelu":
                slopes = gamma.reshape(_expanded(gamma.shape, data.shape))
            elif a.act_type == "rrelu":
                mask = xp.full(data.shape, (a.lower_bound + a.upper_bound) / 2)
                if a.train:
                    mask = generator(xp).uniform(a.lower_bound, a.upper_bound, data.shape)
                slopes = mask
            out = xp.where(data > 0, data, slopes * data)
        return out.astype(data.dtype), mask.astype(data.dtype)


def _bend(xp, x):
    """Return the tanh in gelu_tanh, and the derivative of its argument."""
    steep, cubic = math.sqrt(2 / math.pi), 0.044715
    return xp.tanh(steep * (x + cubic * x * x * x)), steep * (1 + 3 * cubic * x * x)


def _density(xp, x):
    """Return the standard normal density."""
    return xp.exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi))


def _grad_kernel(curved):
    """Return the gradient kernel of gelu (`curved`), or of the types with a slope."""
    forward = _row_kernel(curved)
    return native(
        lambda a, ins, outs: f"{forward.name(a, ins, outs)}_grad",
        forward.struct,
        forward.params,
        when=forward.when,
        inplace=True,
        pointwise=forward.pointwise if curved else False,
    )


@op("_leaky_grad", inputs="grad data")
class _LeakyGrad:
    """Gradient of LeakyReLU with a fixed slope: the head gradient times the derivative.

    Shapes: grad, data and out have the same shape.
    """

    act_type: Enum("elu", "gelu", "gelu_tanh", "leaky", "selu")
    slope: Float = 0.25

    dtypes = ("float32", "float64", "float16", "bfloat16")
    domain = (-2.0, 2.0)
    kernels = (_grad_kernel(curved=True), _grad_kernel(curved=False))

    def samples():
        for act_type in _ROWS:
            yield sample((3, 7), (3, 7), act_type=act_type, slope=0.6)

    def infer(a, grad, data):
        return same_specs((grad, data), ("grad", "data"))

    def grad(a, F, g, grad, data):
        by_grad = F._leaky_grad(g, data, act_type=a.act_type, slope=a.slope)
        if a.act_type == "leaky":
            return by_grad, F.zeros_like(data)
        if a.act_type == "gelu":
            return by_grad, g * grad * _density(F, data) * (2 - data * data)
        if a.act_type == "gelu_tanh":
            bent, slope = _bend(F, data)
            curvature = 6 * 0.044715 * math.sqrt(2 / math.pi) * data
            second = slope - data * bent * slope * slope + data * curvature * 0.5
            return by_grad, g * grad * (1 - bent * bent) * second
        scale, slope = (1.0, a.slope) if a.act_type == "elu" else _SELU
        return by_grad, g * grad * (data <= 0) * F.exp(data) * (scale * slope)

    def ref(a, xp, grad, data):
        if a.act_type == "gelu":
            area = (1 + _erf(xp, data * math.sqrt(0.5))) * 0.5
            return grad * (area + data * _density(xp, data))
        if a.act_type == "gelu_tanh":
            bent, slope = _bend(xp, data)
            return (grad * 0.5 * (1 + bent + data * slope * (1 - bent * bent))).astype(data.dtype)
        if a.act_type == "leaky":
            return grad * xp.where(data > 0, 1, a.slope).astype(data.dtype)
        scale, slope = (1.0, a.slope) if a.act_type == "elu" else _SELU
        return grad * scale * xp.where(data > 0, 1, slope * xp.exp(xp.minimum(data, 0)))


@op("_prelu_grad", inputs="grad data gamma", outputs="data_grad gamma_grad")
class _PreluGrad:
    """Gradients of prelu with respect to data and slopes.

    Shapes: the first output is like grad and data, the second like gamma.
    """

    dtypes = ("float32", "float64", "float16", "bfloat16")
    domain = (-2.0, 2.0)
    kernels = (_channel_kernel("prelu_grad", 1),)
    samples = (
        sample((2, 3, 4), (2, 3, 4), (3,)),
        sample((2, 3, 4), (2, 3, 4), (1,)),
        sample((5, 9), (5, 9), (9,)),
        sample((5,), (5,), (5,)),
        sample((2, 3, 4), (2, 3, 4), (2, 3)),
        sample((2, 3, 4), (2, 3, 4), (1, 3)),
        sample((2, 3, 4), (2, 3, 4), (2, 1)),
    )

    def infer(a, grad, data, gamma):
        same_specs((grad, data), ("grad", "data"))
        _check_gamma(data, gamma)
        return like_inputs(data, gamma)

    def grad(a, F, g, grad, data, gamma, specs):
        by_data, by_gamma = g
        shape = _expanded(specs[2].shape, specs[1].shape)
        below = data <= 0
        by_slope = F.broadcast_mul(below, F.Reshape(by_gamma, shape=shape))
        from_data, _ = F._prelu_grad(by_data, data, gamma)
        # With -1 as data on the negative side, the kernel sums the elements there, negated.
        _, summed = F._prelu_grad(by_data * grad, -below, gamma)
        return from_data + by_slope * data, by_slope * grad, -summed

    def ref(a, xp, grad, data, gamma):
        shape = _expanded(gamma.shape, data.shape)
        negative = (data <= 0).astype(data.dtype)
        by_data = grad * (1 - negative + negative * gamma.reshape(shape))
        axes = tuple(i for i, extent in enumerate(shape) if extent == 1)
        return by_data, (grad * negative * data).sum(axes).reshape(gamma.shape)
