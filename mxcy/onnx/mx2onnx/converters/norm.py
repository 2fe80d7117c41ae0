"""Normalization layers."""

import numpy as np

from mxcy.onnx.mx2onnx.registry import convert

__all__ = []


@convert("BatchNorm", "BatchNorm_v1", "_contrib_SyncBatchNorm", "_contrib_BatchNormWithReLU")
def batch_norm(a, G, x, gamma, beta, mean, variance):
    """Use the running statistics, for prediction."""
    if a.fix_gamma:
        gamma = (
            G.const(np.ones(gamma.shape, gamma.dtype))
            if gamma.static
            else G.full(G.dims(gamma), 1, gamma.dtype)
        )
    if G.opset < 15:  # earlier opsets require the same dtype for all inputs
        gamma, beta, mean, variance = (G.cast(v, x.dtype) for v in (gamma, beta, mean, variance))
    axis = getattr(a, "axis", 1) % x.ndim
    order = list(range(x.ndim))
    if axis != 1 and x.ndim > 1:
        order[axis], order[1] = order[1], order[axis]
    whole = G.transpose(x, order)
    single = x.ndim == 1
    if single:
        whole = G.unsqueeze(whole, (0,))
    normalized = G.BatchNormalization(
        whole, gamma, beta, mean, variance, epsilon=a.eps, momentum=a.momentum, shape=whole.shape
    )
    if single:
        normalized = G.squeeze(normalized, (0,))
    normalized = G.transpose(normalized, order)
    if G.node.op.name.endswith("ReLU"):
        normalized = G.Relu(normalized)
    if not a.output_mean_var:
        return [normalized, None, None]
    return [normalized, mean, G.Reciprocal(G.Sqrt(variance + a.eps))]


def _moments(G, x, axes):
    """Mean, deviations and variance over axes, which are kept with extent 1."""
    mean = G.reduce("Mean", x, axes, True)
    away = G.Sub(x, mean)
    return mean, away, G.reduce("Mean", away * away, axes, True)


def _along(G, vector, ndim, axis):
    """Reshape a vector for broadcasting along an axis."""
    behind = ndim - 1 - axis % ndim
    return G.unsqueeze(vector, tuple(range(1, 1 + behind))) if behind else vector


@convert("LayerNorm")
def layer_norm(a, G, x, gamma, beta):
    """Convert to LayerNormalization from opset 17 on, if the axis is the last."""
    axis = a.axis % x.ndim
    if G.opset >= 17 and axis == x.ndim - 1 and not a.output_mean_var:
        return [G.LayerNormalization(x, gamma, beta, axis=-1, epsilon=a.eps), None, None]
    mean, away, variance = _moments(G, x, (axis,))
    deviation = G.Sqrt(variance + a.eps)
    normalized = G.Div(away, deviation)
    normalized = G.Add(
        G.Mul(normalized, _along(G, gamma, x.ndim, axis)), _along(G, beta, x.ndim, axis)
    )
    return [normalized, mean, deviation]


@convert("InstanceNorm")
def instance_norm(a, G, x, gamma, beta):
    """Convert to InstanceNormalization."""
    return [G.InstanceNormalization(x, gamma, beta, epsilon=a.eps), None, None]


@convert("GroupNorm")
def group_norm(a, G, x, gamma, beta):
    """Normalize groups of channels; gamma and beta are per group or per channel."""
    if x.shape[1] == -1:
        G.unsupported("a free number of channels")
    batch, *extents = G.dims(x)
    groups = a.num_groups
    grouped = G.reshape(x, [batch, groups, -1])
    mean, away, variance = _moments(G, grouped, (2,))
    deviation = G.Sqrt(variance + a.eps)
    normalized = G.Div(away, deviation)
    if gamma.shape[0] == x.shape[1] and gamma.shape[0] != groups:
        normalized, ndim = G.reshape(normalized, [batch, *extents]), x.ndim
    else:
        ndim = 3
    normalized = G.Add(G.Mul(normalized, _along(G, gamma, ndim, 1)), _along(G, beta, ndim, 1))
    normalized = G.reshape(normalized, [batch, *extents])
    return [normalized, G.squeeze(mean, (2,)), G.squeeze(deviation, (2,))]


@convert("L2Normalization")
def l2_normalization(a, G, x):
    """Divide by sqrt(sum of squares + eps) of samples, channels or positions."""
    axes = {
        "instance": tuple(range(1, x.ndim)),
        "channel": (1,),
        "spatial": tuple(range(2, x.ndim)),
    }
    squares = G.reduce("SumSquare", x, axes[a.mode], True)
    return [G.Div(x, G.Sqrt(squares + a.eps)), None]


@convert("LRN")
def lrn(a, G, x):
    """Convert to LRN, for odd sizes."""
    if a.nsize % 2 == 0:
        G.unsupported(f"nsize={a.nsize}, an even number")
    return [G.op("LRN", x, alpha=a.alpha, beta=a.beta, bias=a.knorm, size=a.nsize), None]


@convert("moments")
def moments(a, G, x):
    """Compute mean and variance over axes."""
    axes = tuple(range(x.ndim)) if not a.axes else tuple(axis % x.ndim for axis in a.axes)
    mean, _, variance = _moments(G, x, axes)
    if a.keepdims:
        return [mean, variance]
    return [
        _without(G, value, axes, out) for value, out in zip((mean, variance), G.outs, strict=True)
    ]


def _without(G, value, axes, out):
    value = G.squeeze(value, axes)
    return G.reshape(value, [1]) if value.ndim == 0 and len(out.shape) == 1 else value
