"""L2Normalization, LRN and moments."""

import math

from mxcy.ops.core.attrs import Bool, Enum, Float, ShapeOrNone, UInt
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec, back_data, normal_axes, require
from mxcy.ops.core.params import L2_NORMALIZE
from mxcy.ops.core.params import LRN as LRN_PARAMS
from mxcy.ops.core.record import native, no_rule, op, sample, values
from mxcy.ops.norm.batch import require_float
from mxcy.ops.reduce.reduce import reduced_shape

__all__ = []

_FLOATS = ("float32", "float64", "float16", "bfloat16")


def _length_axes(mode, ndim):
    """Return the axes over which L2Normalization sums."""
    return {"instance": tuple(range(1, ndim)), "channel": (1,), "spatial": tuple(range(2, ndim))}[
        mode
    ]


def _length_params(a, ins, outs):
    shape = ins[0].shape
    axes = _length_axes(a.mode, len(shape))
    first, end = (axes[0], axes[-1] + 1) if axes else (len(shape), len(shape))
    return {
        "outer": math.prod(shape[:first]),
        "extent": math.prod(shape[first:end]),
        "inner": math.prod(shape[end:]),
        "eps": a.eps,
    }


@op(
    "L2Normalization",
    outputs="output norm",
    visible=1,
    in_symbols=InSymbols(named=True, named_input=True),
    amp="fp32",
)
class L2Normalization:
    """Apply L2 normalisation: ``data / sqrt(sum(data ** 2) + eps)``.

    The sum runs over each sample (`mode` 'instance'), over the channels of each position
    ('channel') or over the positions of each channel ('spatial'); data is (batch, channel, ...),
    with at least three dimensions for the latter two.
    """

    eps: Float = 1.00000001e-10
    mode: Enum("channel", "instance", "spatial") = "instance"

    dtypes = _FLOATS
    samples = (
        sample((2, 3, 4), eps=0.1, tol=4),
        sample((2, 3, 4, 2), mode="channel", tol=4),
        sample((2, 3, 4), mode="spatial", tol=4),
        sample((2, 5), tol=4),
        sample((2, 3, 37), mode="channel", tol=4),
    )
    kernels = (native("l2_normalize", struct=L2_NORMALIZE, params=_length_params),)

    def infer(a, data):
        require_float(data)
        if data.shape is None:
            return Spec(None, data.dtype), Spec(None, data.dtype)
        if a.mode != "instance":
            require(
                data.ndim >= 3, f"data: mode {a.mode} needs at least 3 dimensions, got {data.shape}"
            )
        norm = reduced_shape(data.shape, _length_axes(a.mode, data.ndim), True)
        return Spec(data.shape, data.dtype), Spec(norm, data.dtype)

    infer_back = back_data

    def grad(a, F, g, output, norm, specs):
        axes = _length_axes(a.mode, specs[0].ndim)
        along = g[0] * output
        along = F.sum(along, axis=axes, keepdims=True) if axes else along
        by_data = F.broadcast_div(g[0] - F.broadcast_mul(output, along), norm)
        if g[1] is None:
            return by_data
        # Second-order gradients need the gradient of the norm.
        return by_data + F.broadcast_mul(output, g[1])

    def ref(a, xp, data):
        values = data.astype(xp.float32) if data.dtype == xp.float16 else data
        norm = xp.sqrt(
            (values * values).sum(_length_axes(a.mode, data.ndim), keepdims=True) + a.eps
        )
        return (values / norm).astype(data.dtype), norm.astype(data.dtype)


def _window_sum(xp, array, nsize):
    """Sum each channel and (nsize - 1) // 2 channels on either side."""
    channels = array.shape[1]
    half = min((nsize - 1) // 2, channels)  # the widest possible window
    padded = xp.pad(array, [(0, 0), (half, half), *[(0, 0)] * (array.ndim - 2)])
    return sum(padded[:, i : i + channels] for i in range(2 * half + 1))


def _infer_lrn(a, data):
    require_float(data)
    require(a.nsize > 0, f"nsize: must be positive, got {a.nsize}")
    if data.shape is not None:
        require(data.ndim == 4, f"data: expected 4 dimensions, got {data.shape}")
    return Spec(data.shape, data.dtype)


def _lrn_kernel(name):
    def params(a, ins, outs):
        outer, channels, *inner = ins[0].shape
        return {
            "outer": outer,
            "channels": channels,
            "inner": math.prod(inner),
            "nsize": a.nsize,
            "alpha": a.alpha,
            "beta": a.beta,
            "knorm": getattr(a, "knorm", 0.0),
        }

    def work(a, ins, outs):
        return ins[0].size * (a.nsize + 20)

    return native(name, struct=LRN_PARAMS, params=params, work=work)


@op(
    "LRN",
    outputs="output tmp_norm",
    visible=1,
    in_symbols=InSymbols(named=True, named_input=True),
    amp="fp32/either",
)
class LRN:
    """Apply local response normalisation across channels.

    ``data * norm ** -beta`` with ``norm = knorm + alpha / nsize * sum(data ** 2)`` over each
    channel and ``(nsize - 1) // 2`` on either side; data is (batch, channel, height, width).
    """

    alpha: Float = 9.99999975e-05
    beta: Float = 0.75
    knorm: Float = 2.0
    nsize: UInt

    dtypes = _FLOATS
    samples = (
        sample((2, 5, 3, 2), nsize=3, alpha=0.5, tol=4),
        sample((2, 4, 2, 3), nsize=5, alpha=0.1, beta=0.6, knorm=1.5, tol=4),
        sample((2, 3, 5, 7), nsize=2, alpha=0.1, tol=4),
    )
    kernels = (_lrn_kernel("lrn"),)

    def infer(a, data):
        return _infer_lrn(a, data), _infer_lrn(a, data)

    def grad(a, F, g, data, tmp_norm):
        return F._lrn_grad(g[0], data, tmp_norm, alpha=a.alpha, beta=a.beta, nsize=a.nsize)

    def ref(a, xp, data):
        norm = a.knorm + a.alpha / a.nsize * _window_sum(xp, data * data, a.nsize)
        return data * norm**-a.beta, norm


@op("_lrn_grad", inputs="grad data norm")
class _LrnGrad:
    """Gradient of LRN, from its saved norm."""

    alpha: Float
    beta: Float
    nsize: UInt

    dtypes = _FLOATS
    samples = (
        sample(
            (2, 5, 3, 2),
            (2, 5, 3, 2),
            values(1, 2, (2, 5, 3, 2)),
            nsize=3,
            alpha=0.5,
            beta=0.75,
            grad=False,
            tol=4,
        ),
    )

    grad = no_rule
    kernels = (_lrn_kernel("lrn_grad"),)

    def infer(a, grad, data, norm):
        for name, spec in (("grad", grad), ("norm", norm)):
            spec.fill(name, data.shape, data.dtype)
        return _infer_lrn(a, data)

    def ref(a, xp, grad, data, norm):
        spread = _window_sum(xp, grad * data * norm ** (-a.beta - 1), a.nsize)
        return grad * norm**-a.beta - 2 * a.alpha * a.beta / a.nsize * data * spread


@op("moments", outputs="mean var", amp="fp32", in_symbols=InSymbols(named_input=True))
class Moments:
    """Compute the mean and the biased variance over `axes`, which must be given."""

    axes: ShapeOrNone = None
    keepdims: Bool = False

    dtypes = _FLOATS
    samples = (
        sample((3, 4), axes=(0,), tol=4),
        sample((2, 3, 4), axes=(0, 2), tol=4),
        sample((2, 3, 4), axes=(-1,), keepdims=True, tol=4),
    )

    def infer(a, data):
        require(a.axes, "axes: must be given and not be empty")
        require_float(data)
        shape = None
        if data.shape is not None:
            shape = reduced_shape(data.shape, normal_axes(a.axes, data.ndim), a.keepdims)
        return Spec(shape, data.dtype), Spec(shape, data.dtype)

    def grad(a, F, g, data, specs):
        shape = specs[0].shape
        axes = normal_axes(a.axes, len(shape))
        kept = reduced_shape(shape, axes, True)
        n = max(math.prod(shape[axis] for axis in axes), 1)
        by_mean, by_var = (F.Reshape(part, shape=kept) / n for part in g)
        centred = F.broadcast_sub(data, F.mean(data, axis=axes, keepdims=True))
        return F.broadcast_add(F.broadcast_mul(centred * 2, by_var), by_mean)

    def ref(a, xp, data):
        axes = normal_axes(a.axes, data.ndim)
        shape = reduced_shape(data.shape, axes, a.keepdims)
        return data.mean(axes).reshape(shape), data.var(axes).reshape(shape)
