"""LeakyReLU: the rectifiers that let something of negative elements through."""

import math

from mxcy.ops.attrs import Enum, Float
from mxcy.ops.elemwise import by_element
from mxcy.ops.in_symbols import InSymbols
from mxcy.ops.infer import Spec, back_data, require, same_dtype
from mxcy.ops.params import SCALAR2
from mxcy.ops.random import generator
from mxcy.ops.record import native, op, sample

_SELU = (1.0507009873554804934, 1.6732632423543772848)  # scale, slope
_erf = by_element(math.erf)


def _per_channel(gamma_size, ndim):
    """The shape in which prelu's gamma goes with axis 1 of data with `ndim` dimensions."""
    if gamma_size == 1 or ndim == 1:
        return (gamma_size,) + (1,) * (ndim - 1)
    return (1, gamma_size) + (1,) * (ndim - 2)


_ROWS = {"leaky": "leaky", "elu": "elu", "selu": "elu", "gelu": "gelu_erf"}


def _row_params(a, ins, outs):
    """Slope and scale of the negative side's row."""
    scale, slope = _SELU if a.act_type == "selu" else (1.0, a.slope)
    return {"p": slope, "q": scale}


def _row_kernel(curved):
    """The kernel of gelu (`curved`), or of the kinds with a slope."""

    def applies(a):
        return a.act_type in _ROWS and (a.act_type == "gelu") == curved

    return native(
        lambda a, ins, outs: _ROWS.get(a.act_type, ""),
        struct=None if curved else SCALAR2,
        params=None if curved else _row_params,
        when=lambda a, ins, outs: None if applies(a) else "the slopes are arrays",
        inplace=True,
        pointwise=applies,
    )


@op(
    "LeakyReLU",
    aliases=("_npx_leaky_relu",),
    inputs="data gamma?",
    outputs="output mask",
    visible=1,
    uses_mode=True,
    in_symbols=InSymbols(
        {"gamma": '["Constant", {"value": 0.25}]'},
        named=True,
        listed=lambda a: 2 if a.act_type == "rrelu" else 1,
    ),
)
class LeakyReLU:
    """Rectifiers that let something of negative elements through.

    leaky
        ``slope * x`` for negative x.
    prelu
        ``gamma * x`` for negative x; gamma (channels,) or (1,) is learned.
    elu, selu
        ``slope * (exp(x) - 1)`` for negative x; selu has fixed constants that keep mean and
        variance.
    gelu
        ``x * Phi(x)`` for all x, with the normal distribution's Phi.
    rrelu
        A slope drawn for each element from [lower_bound, upper_bound] in training, else their mean.
        The hidden second output holds the slopes.
    """

    act_type: Enum("elu", "gelu", "leaky", "prelu", "rrelu", "selu") = "leaky"
    slope: Float = 0.25
    lower_bound: Float = 0.125
    upper_bound: Float = 0.333999991

    def epilogue(a):
        found = {"leaky": ("leaky", a.slope), "elu": ("elu", a.slope), "gelu": ("gelu_erf", 0.0)}
        return (*found[a.act_type], 0.0) if a.act_type in found else None

    domain = (-2.0, 2.0)
    kernels = (_row_kernel(curved=True), _row_kernel(curved=False))
    samples = (
        sample((3, 4), act_type="leaky", slope=0.1),
        sample((2, 3, 4), (3,), act_type="prelu"),
        sample((2, 3, 4), (1,), act_type="prelu"),
        sample((5,), (5,), act_type="prelu"),
        sample((3, 4), act_type="elu", slope=0.7),
        sample((3, 4), act_type="selu"),
        sample((3, 4), act_type="gelu"),
        sample((3, 4), act_type="rrelu"),
    )

    def arguments(a):
        return ("data", "gamma") if a.act_type == "prelu" else ("data",)

    def infer(a, data, gamma=None):
        if gamma is not None and gamma.dtype is None:
            gamma.dtype = data.dtype
        if gamma is not None and data.shape is not None:
            channels = data.shape[min(1, data.ndim - 1)]
            if gamma.shape is None:
                gamma.fill("gamma", (channels,))
            require(
                gamma.ndim == 1 and gamma.shape[0] in (1, channels, -1),
                f"gamma: expected shape (1,) or ({channels},), got {gamma.shape}",
            )
        mask = data.shape if a.act_type == "rrelu" else (0,)
        return Spec(data.shape, data.dtype), Spec(mask, data.dtype)

    infer_back = back_data

    def grad(a, F, g, data, gamma, mask, specs):
        g = g[0]
        if a.act_type in _ROWS:
            return F._leaky_grad(g, data, act_type=a.act_type, slope=a.slope)
        positive = data > 0
        if a.act_type == "rrelu":
            return g * (positive + (1 - positive) * mask)
        shape = _per_channel(specs[1].shape[0], len(specs[0].shape))
        slopes = F.broadcast_mul(1 - positive, F.Reshape(gamma, shape=shape))
        spread = g * (1 - positive) * data
        kept = [i for i, extent in enumerate(shape) if extent != 1]
        by_gamma = F.sum(spread, axis=kept[0], exclude=True) if kept else F.sum(spread)
        return g * (positive + slopes), by_gamma

    def ref(a, xp, data, gamma=None):
        mask = xp.zeros(0, data.dtype)
        if a.act_type == "gelu":
            out = data * 0.5 * (1 + _erf(xp, data * math.sqrt(0.5)))
        elif a.act_type in ("elu", "selu"):
            scale, slope = (1.0, a.slope) if a.act_type == "elu" else _SELU
            out = scale * xp.where(data > 0, data, slope * xp.expm1(xp.minimum(data, 0)))
        else:
            slopes = a.slope
            if a.act_type == "prelu":
                slopes = gamma.reshape(_per_channel(gamma.size, data.ndim))
            elif a.act_type == "rrelu":
                mask = xp.full(data.shape, (a.lower_bound + a.upper_bound) / 2)
                if a.train:
                    mask = generator(xp).uniform(a.lower_bound, a.upper_bound, data.shape)
                slopes = mask
            out = xp.where(data > 0, data, slopes * data)
        return out.astype(data.dtype), mask.astype(data.dtype)


def _density(xp, x):
    """The normal distribution's density."""
    return xp.exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi))


def _grad_kernel(curved):
    """The kernel of gelu's gradient (`curved`), or of those of the kinds with a slope."""
    forward = _row_kernel(curved)
    return native(
        lambda a, ins, outs: f"{forward.name(a, ins, outs)}_grad", forward.struct, forward.params,
        when=forward.when, inplace=True, pointwise=forward.pointwise if curved else False,
    )  # fmt: skip


@op("_leaky_grad", inputs="grad data")
class _LeakyGrad:
    """The gradient of LeakyReLU with a fixed slope: the head gradient times the slope at the data.

    Shapes: grad, data and out are alike.
    """

    act_type: Enum("elu", "gelu", "leaky", "selu")
    slope: Float = 0.25

    dtypes = ("float32", "float64", "float16", "bfloat16")
    domain = (-2.0, 2.0)
    kernels = (_grad_kernel(curved=True), _grad_kernel(curved=False))

    def samples():
        for act_type in _ROWS:
            yield sample((3, 7), (3, 7), act_type=act_type, slope=0.6)

    def infer(a, grad, data):
        dtype = same_dtype((grad, data), ("grad", "data"))
        return Spec(data.shape if data.shape is not None else grad.shape, dtype)

    def grad(a, F, g, grad, data):
        by_grad = F._leaky_grad(g, data, act_type=a.act_type, slope=a.slope)
        if a.act_type == "leaky":
            return by_grad, F.zeros_like(data)
        if a.act_type == "gelu":
            return by_grad, g * grad * _density(F, data) * (2 - data * data)
        scale, slope = (1.0, a.slope) if a.act_type == "elu" else _SELU
        return by_grad, g * grad * (data <= 0) * F.exp(data) * (scale * slope)

    def ref(a, xp, grad, data):
        if a.act_type == "gelu":
            area = (1 + _erf(xp, data * math.sqrt(0.5))) * 0.5
            return grad * (area + data * _density(xp, data))
        if a.act_type == "leaky":
            return grad * xp.where(data > 0, 1, a.slope).astype(data.dtype)
        scale, slope = (1.0, a.slope) if a.act_type == "elu" else _SELU
        return grad * scale * xp.where(data > 0, 1, slope * xp.exp(xp.minimum(data, 0)))
