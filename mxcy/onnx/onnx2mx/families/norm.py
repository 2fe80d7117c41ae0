"""Normalization layers."""

import numpy as np

from mxcy.base import MXNetError
from mxcy.onnx.onnx2mx.table import row

__all__ = []


def _spread(value, ndim):
    """Reshape a channel vector for broadcasting with data with channels in axis 1."""
    return value.reshape(1, -1, *(1,) * (ndim - 2))


@row("BatchNormalization")
def batch_norm(F, a, x, scale, bias, mean, var):
    training = bool(a.training_mode)
    if training or a.opset < 7 and not a.is_test and a.wants(1):
        return _trained(F, a, x, scale, bias, mean, var)
    own = mean.spec.dtype == x.spec.dtype == scale.spec.dtype
    known = mean.array is not None and var.array is not None
    per_channel = a.spatial is None or a.spatial
    if x.ndim > 1 and own and known and per_channel:
        for part in (scale, bias):
            if part.array is not None:
                F.parameter(part)
        # Files may share a tensor of zeros between parameters and states.
        mean, var = (
            F.parameter(F.constant(part.array, part.spec.dtype, part.name)) for part in (mean, var)
        )
        return F(
            "BatchNorm",
            x,
            scale,
            bias,
            mean,
            var,
            eps=a.epsilon,
            momentum=a.momentum,
            fix_gamma=False,
        )
    if not per_channel:
        raise NotImplementedError("attribute spatial: 0 is not implemented")
    return _scaled(F, x, scale, bias, mean, var, a.epsilon)


def _scaled(F, x, scale, bias, mean, var, epsilon):
    if x.ndim > 1:
        scale, bias, mean, var = (_spread(v, x.ndim) for v in (scale, bias, mean, var))
    dtype = mean.dtype
    normal = (x.astype(dtype) - mean) / F("sqrt", var + epsilon)
    return (normal * scale.astype(dtype) + bias.astype(dtype)).astype(x.dtype)


def _trained(F, a, x, scale, bias, mean, var):
    axes = tuple(i for i in range(x.ndim) if i != 1)
    data = x.astype(mean.dtype)
    current = F.mean(data, axes)
    centred = data - _spread(current, x.ndim)
    spread = F.mean(F.binary("multiply", centred, centred), axes)
    keep = a.momentum
    return (
        _scaled(F, x, scale, bias, current, spread, a.epsilon),
        mean * keep + current * (1 - keep),
        var * keep + spread * (1 - keep),
    )


@row("InstanceNormalization")
def instance_norm(F, a, x, scale, bias):
    return F("InstanceNorm", x, scale, bias, eps=a.epsilon)


@row("LayerNormalization", since=17)
def layer_norm(F, a, x, scale, bias=None):
    axis = a.axis % x.ndim
    if axis == x.ndim - 1 and not a.wants(1) and x.kind == "f" and scale.ndim == 1:
        if bias is None:
            bias = F.constant(np.zeros(scale.full_shape, scale.dtype))
        return F("LayerNorm", x, scale, bias, axis=-1, eps=a.epsilon)
    axes = tuple(range(axis, x.ndim))
    data = x.astype("float32") if a.stash_type == 1 else x
    mean = F.mean(data, axes, True)
    centred = data - mean
    var = F.mean(F.binary("multiply", centred, centred), axes, True)
    inverse = F("rsqrt", var + a.epsilon)
    normalized = (centred * inverse).astype(x.dtype) * scale
    return (normalized if bias is None else normalized + bias), mean, inverse


@row("LRN")
def lrn(F, a, x):
    if a.size % 2 and x.ndim == 4:
        return F("LRN", x, alpha=a.alpha, beta=a.beta, knorm=a.bias, nsize=a.size)
    before = (a.size - 1) // 2
    after, squares = a.size - 1 - before, F.binary("multiply", x, x)
    width = ((0, 0), (before, after), *((0, 0),) * (x.ndim - 2))
    squares = F("_npi_pad", squares, pad_width=width, mode="constant", constant_values=0.0)
    total = None
    for i in range(a.size):
        part = F.part(squares, 1, i, i + x.full_shape[1])
        total = part if total is None else total + part
    return x / F.binary("power", total * (a.alpha / a.size) + a.bias, a.beta)


@row("LpNormalization")
def lp_norm(F, a, x):
    axis = a.axis % x.ndim
    if a.p not in (1, 2):
        raise MXNetError(f"attribute p: expected 1 or 2, got {a.p}")
    if a.p == 1:
        norm = F.sum(F("_npi_absolute", x), axis, True)
    else:
        norm = F("sqrt", F.sum(F.binary("multiply", x, x), axis, True))
    zero = F("_npi_equal", norm, F.like(0, norm))
    return F.where(zero, F.like(0, x), x / F.where(zero, F.like(1, norm), norm))
