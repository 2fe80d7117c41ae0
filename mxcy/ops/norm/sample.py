"""Layer, group and instance normalisation."""

import math

from mxcy.ops.core.attrs import Bool, Float, Int
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec, back_data, normal_axis, require
from mxcy.ops.core.params import ROW_NORM
from mxcy.ops.core.record import by_onednn, native, op, sample, values
from mxcy.ops.norm.batch import along, only_visible, other_axes, require_float
from mxcy.ops.norm.curvature import Curvature
from mxcy.ops.reduce.float16_sum import narrow_first

__all__ = []

_FLOATS = ("float32", "float64", "float16", "bfloat16")


def _kernel(name, first, rows, per_layer, when=None, mixed=False):
    """Return the native kernel `name`, whose data is input `first` and whose gamma is the next.

    ``rows(a, shape)`` is the number of separately normalised rows for data of that shape.
    """

    def params(a, ins, outs):
        data, gamma = ins[first], ins[first + 1]
        n = rows(a, data.shape)
        block = 1 if per_layer else data.size // max(data.shape[0] * gamma.size, 1)
        eps = getattr(a, "eps", 0)
        return {
            "rows": n,
            "length": data.size // max(n, 1),
            "block": block,
            "count": gamma.size,
            "eps": eps,
        }

    return native(name, struct=ROW_NORM, params=params, when=when, mixed=mixed)


def layer_kernel(name, first, mixed=False):
    """Return the kernel for rows that are normalised as a whole; see `_kernel`."""

    def when(a, ins, outs):
        last = normal_axis(a.axis, ins[first].ndim) == ins[first].ndim - 1
        return None if last else "axis is not the last"

    return _kernel(name, first, lambda a, shape: Spec(shape[:-1]).size, True, when, mixed)


def _group_kernel(name, first, groups):
    return _kernel(name, first, lambda a, shape: shape[0] * groups(a, shape), False)


def _infer_layer_norm(a, data, gamma):
    """Return (axis, spec of the statistics); infer gamma."""
    require_float(data)
    gamma.fill("gamma", dtype=data.dtype)
    if data.shape is None:
        return Spec(None, data.dtype)
    axis = normal_axis(a.axis, data.ndim)
    gamma.fill("gamma", (data.shape[axis],))
    return Spec(tuple(1 if i == axis else n for i, n in enumerate(data.shape)), data.dtype)


@op(
    "LayerNorm",
    aliases=("_npx_layer_norm",),
    inputs="data gamma beta",
    outputs="output mean std",
    visible=lambda a: 3 if a.output_mean_var else 1,
    in_symbols=InSymbols(named=True),
    amp="fp32",
)
class LayerNorm:
    """Apply layer normalisation: normalise along one axis, then scale and shift.

    ``out = gamma * (data - mean) / std + beta`` with ``std = sqrt(var + eps)`` and the biased
    variance. Shapes: gamma and beta (n,) for n the extent of `axis`; mean and std, returned with
    `output_mean_var`, keep the axis with extent 1.
    """

    axis: Int = -1
    eps: Float = 9.99999975e-06
    output_mean_var: Bool = False

    dtypes = _FLOATS
    samples = (
        sample((2, 3, 4), (4,), (4,), tol=4),
        sample((2, 3, 4), (3,), (3,), axis=1, tol=4),
        sample((5, 17), (17,), (17,), eps=1e-3, tol=4),
        sample((3, 4), (4,), (4,), output_mean_var=True, grad=False, tol=4),
    )

    kernels = narrow_first(by_onednn(layer_kernel("row_norm", 0)), layer_kernel("row_norm", 0))

    def infer(a, data, gamma, beta):
        stats = _infer_layer_norm(a, data, gamma)
        beta.fill("beta", gamma.shape, gamma.dtype)
        return Spec(data.shape, data.dtype), stats, Spec(stats.shape, stats.dtype)

    infer_back = back_data

    def grad(a, F, g, data, gamma, mean, std):
        only_visible("LayerNorm", g, 3 if a.output_mean_var else 1)
        return F._layer_norm_grad(g[0], data, gamma, mean, std, axis=a.axis)

    def ref(a, xp, data, gamma, beta):
        axis, ndim = a.axis % data.ndim, data.ndim
        mean = data.mean(axis, keepdims=True)
        std = xp.sqrt(data.var(axis, keepdims=True) + a.eps)
        out = (data - mean) / std * along(gamma, axis, ndim) + along(beta, axis, ndim)
        return out, mean, std


def _layer_norm_curvature(a, F, g, grad, data, gamma, mean, std, specs):
    """Return second-order gradients, with mean and std as functions of the data."""
    (by_data, by_gamma, by_beta), ndim = g, specs[1].ndim
    axis = normal_axis(a.axis, ndim)
    shape = tuple(-1 if i == axis else 1 for i in range(ndim))
    gamma, by_gamma, by_beta = (F.reshape(v, shape=shape) for v in (gamma, by_gamma, by_beta))
    scaled = F.broadcast_div(F.broadcast_sub(data, mean), std)
    curvature = Curvature(F, scaled, 1 / std, lambda v: F.mean(v, axis=axis, keepdims=True))
    to_grad, to_data, to_gamma = curvature.gradients(by_data, by_gamma, by_beta, grad, gamma)
    return to_grad, to_data, F.sum(to_gamma, axis=axis, exclude=True)


@op("_layer_norm_grad", inputs="grad data gamma mean std", outputs="data_grad gamma_grad beta_grad")
class _LayerNormGrad:
    """Gradients of LayerNorm, from its saved mean and standard deviation."""

    axis: Int

    dtypes = _FLOATS
    samples = (
        sample(
            (2, 3, 4),
            (2, 3, 4),
            (4,),
            (2, 3, 1),
            values(0.5, 2, (2, 3, 1)),
            axis=-1,
            grad=False,
            tol=4,
        ),
        sample(
            (2, 3, 4),
            (2, 3, 4),
            (3,),
            (2, 1, 4),
            values(0.5, 2, (2, 1, 4)),
            axis=1,
            grad=False,
            tol=4,
        ),
    )

    grad = _layer_norm_curvature
    kernels = (layer_kernel("row_norm_grad", 1), by_onednn(layer_kernel("row_norm_grad", 1)))

    def infer(a, grad, data, gamma, mean, std):
        stats = _infer_layer_norm(a, data, gamma)
        grad.fill("grad", data.shape, data.dtype)
        mean.fill("mean", stats.shape, stats.dtype)
        std.fill("std", stats.shape, stats.dtype)
        return (
            Spec(data.shape, data.dtype),
            Spec(gamma.shape, gamma.dtype),
            Spec(gamma.shape, gamma.dtype),
        )

    def ref(a, xp, grad, data, gamma, mean, std):
        axis, ndim = a.axis % data.ndim, data.ndim
        scaled = (data - mean) / std
        by_gamma = (grad * scaled).sum(other_axes(axis, ndim))
        by_beta = grad.sum(other_axes(axis, ndim))
        inner = grad * along(gamma, axis, ndim)
        by_data = inner - inner.mean(axis, keepdims=True)
        by_data = (by_data - scaled * (inner * scaled).mean(axis, keepdims=True)) / std
        return by_data, by_gamma, by_beta


def _infer_groups(a, data, gamma, groups):
    """Return the spec of the statistics, (batch, groups); infer gamma."""
    require_float(data)
    gamma.fill("gamma", dtype=data.dtype)
    if data.shape is None:
        return Spec(None, data.dtype)
    require(data.ndim >= 3, f"data: expected at least 3 dimensions, got {data.shape}")
    batch, channels = data.shape[:2]
    require(groups > 0 or channels == 0, f"num_groups: must be positive, got {groups}")
    divides = channels == -1 or (channels % groups if groups else channels) == 0
    require(divides, f"data: {channels} channels cannot form {groups} groups")
    if gamma.shape != (channels,) and not (channels == 0 and gamma.shape == (1,)):
        gamma.fill("gamma", (groups,))
    return Spec((batch, groups), data.dtype)


def _grouped(array, groups):
    """Reshape `array` to (batch, groups, elements of a group)."""
    return array.reshape(array.shape[0], groups, -1)


def _spread(gamma, shape):
    """Reshape gamma, per group or per channel, to broadcast to (batch, channel, ...) data."""
    repeated = gamma.repeat(shape[1] // max(gamma.size, 1))
    return repeated.reshape(1, -1, *[1] * (len(shape) - 2))


def _normalise_groups(xp, data, gamma, beta, groups, eps):
    """Return the normalised data, and the means and standard deviations (batch, groups)."""
    grouped = _grouped(data, groups)
    mean = grouped.mean(2, keepdims=True)
    std = xp.sqrt(grouped.var(2, keepdims=True) + eps)
    scaled = ((grouped - mean) / std).reshape(data.shape)
    return (
        scaled * _spread(gamma, data.shape) + _spread(beta, data.shape),
        mean[..., 0],
        std[..., 0],
    )


@op(
    "GroupNorm",
    aliases=("_npx_group_norm",),
    numpy=(
        "npx.group_norm(data, gamma, beta, num_groups=1, eps=0.001, output_mean_var=False, "
        "out=None, name=None)"
    ),
    inputs="data gamma beta",
    outputs="output mean std",
    visible=lambda a: 3 if a.output_mean_var else 1,
    in_symbols=InSymbols(named=True),
    amp="fp32",
)
class GroupNorm:
    """Apply group normalisation: normalise groups of channels per sample, then scale and shift.

    ``out = gamma * (data - mean) / sqrt(var + eps) + beta`` with the biased variance. Shapes: data
    (batch, channel, ...) with at least three dimensions; gamma and beta have one value per group,
    or one per channel; mean and std, returned with `output_mean_var`, are (batch, num_groups).
    """

    num_groups: Int = 1
    eps: Float = 9.99999975e-06
    output_mean_var: Bool = False

    dtypes = _FLOATS
    samples = (
        sample((2, 4, 3), (2,), (2,), num_groups=2, tol=4),
        sample((2, 4, 3, 2), (4,), (4,), num_groups=2, eps=1e-3, tol=4),
        sample((2, 4, 3), (1,), (1,), output_mean_var=True, grad=False, tol=4),
    )

    kernels = (_group_kernel("row_norm", 0, lambda a, shape: a.num_groups),)

    def infer(a, data, gamma, beta):
        stats = _infer_groups(a, data, gamma, a.num_groups)
        beta.fill("beta", gamma.shape, gamma.dtype)
        return Spec(data.shape, data.dtype), stats, Spec(stats.shape, stats.dtype)

    infer_back = back_data

    def grad(a, F, g, data, gamma, mean, std):
        only_visible("GroupNorm", g, 3 if a.output_mean_var else 1)
        return F._group_norm_grad(g[0], data, gamma, mean, std, num_groups=a.num_groups)

    def ref(a, xp, data, gamma, beta):
        return _normalise_groups(xp, data, gamma, beta, a.num_groups, a.eps)


@op(
    "InstanceNorm",
    aliases=("_npx_instance_norm",),
    inputs="data gamma beta",
    outputs="output mean std",
    visible=1,
    in_symbols=InSymbols(named=True),
    amp="fp32",
)
class InstanceNorm:
    """Apply instance normalisation: normalise each channel per sample, then scale and shift.

    ``out = gamma * (data - mean) / sqrt(var + eps) + beta`` with the biased variance. Shapes: data
    (batch, channel, ...) with at least three dimensions, gamma and beta (channel,).
    """

    eps: Float = 0.00100000005

    dtypes = _FLOATS
    samples = (
        sample((2, 4, 3), (4,), (4,), tol=4),
        sample((2, 3, 2, 4), (3,), (3,), eps=0.1, tol=4),
        sample((2, 4, 4), (4,), (4,), tol=4),
    )

    kernels = (_group_kernel("row_norm", 0, lambda a, shape: shape[1]),)

    def infer(a, data, gamma, beta):
        channels = (
            1 if data.shape is None or data.ndim < 2 or data.shape[1] == -1 else data.shape[1]
        )
        stats = _infer_groups(a, data, gamma, channels)
        beta.fill("beta", gamma.shape, gamma.dtype)
        return Spec(data.shape, data.dtype), stats, Spec(stats.shape, stats.dtype)

    infer_back = back_data

    def grad(a, F, g, data, gamma, mean, std, specs):
        only_visible("InstanceNorm", g)
        channels = specs[0].shape[1]
        return F._group_norm_grad(g[0], data, gamma, mean, std, num_groups=channels)

    def ref(a, xp, data, gamma, beta):
        return _normalise_groups(xp, data, gamma, beta, data.shape[1], a.eps)


def _group_norm_curvature(a, F, g, grad, data, gamma, mean, std, specs):
    """Return second-order gradients, with mean and std as functions of the data."""
    shape, count = specs[1].shape, specs[2].shape[0]
    batch, channels = shape[:2]
    flat = (batch, channels, math.prod(shape[2:]))
    grad, data, by_data = (F.reshape(v, shape=flat) for v in (grad, data, g[0]))

    def by_channel(v):
        return F.reshape(F.repeat(v, repeats=channels // count), shape=(1, channels, 1))

    def by_sample(v):
        v = F.repeat(F.reshape(v, shape=(-1,)), repeats=channels // a.num_groups)
        return F.reshape(v, shape=(batch, channels, 1))

    def means(v):
        return by_sample(F.mean(F.reshape(v, shape=(batch, a.num_groups, -1)), axis=2))

    inverse = by_sample(1 / std)
    scaled = F.broadcast_mul(F.broadcast_sub(data, by_sample(mean)), inverse)
    gamma, by_gamma, by_beta = map(by_channel, (gamma, g[1], g[2]))
    curvature = Curvature(F, scaled, inverse, means)
    to_grad, to_data, to_gamma = curvature.gradients(by_data, by_gamma, by_beta, grad, gamma)
    to_gamma = F.reshape(F.sum(to_gamma, axis=(0, 2)), shape=(count, channels // count))
    to_grad, to_data = (F.reshape(v, shape=shape) for v in (to_grad, to_data))
    return to_grad, to_data, F.sum(to_gamma, axis=1)


@op("_group_norm_grad", inputs="grad data gamma mean std", outputs="data_grad gamma_grad beta_grad")
class _GroupNormGrad:
    """Gradients of GroupNorm and InstanceNorm, from the saved mean and standard deviation."""

    num_groups: Int
    dtypes = _FLOATS
    samples = (
        sample(
            (2, 4, 3),
            (2, 4, 3),
            (2,),
            (2, 2),
            values(0.5, 2, (2, 2)),
            num_groups=2,
            grad=False,
            tol=4,
        ),
        sample(
            (2, 4, 3),
            (2, 4, 3),
            (4,),
            (2, 4),
            values(0.5, 2, (2, 4)),
            num_groups=4,
            grad=False,
            tol=4,
        ),
        sample(
            (2, 4, 3, 2),
            (2, 4, 3, 2),
            (4,),
            (2, 2),
            values(0.5, 2, (2, 2)),
            num_groups=2,
            grad=False,
            tol=4,
        ),
    )

    grad = _group_norm_curvature
    kernels = (_group_kernel("row_norm_grad", 1, lambda a, shape: a.num_groups),)

    def infer(a, grad, data, gamma, mean, std):
        stats = _infer_groups(a, data, gamma, a.num_groups)
        grad.fill("grad", data.shape, data.dtype)
        mean.fill("mean", stats.shape, stats.dtype)
        std.fill("std", stats.shape, stats.dtype)
        return (
            Spec(data.shape, data.dtype),
            Spec(gamma.shape, gamma.dtype),
            Spec(gamma.shape, gamma.dtype),
        )

    def ref(a, xp, grad, data, gamma, mean, std):
        scaled = (_grouped(data, a.num_groups) - mean[..., None]) / std[..., None]
        inner = _grouped(grad * _spread(gamma, data.shape), a.num_groups)
        by_data = inner - inner.mean(2, keepdims=True)
        by_data = (by_data - scaled * (inner * scaled).mean(2, keepdims=True)) / std[..., None]
        by_gamma = _grouped(grad * scaled.reshape(data.shape), gamma.size).sum((0, 2))
        by_beta = _grouped(grad, gamma.size).sum((0, 2))
        return by_data.reshape(data.shape), by_gamma, by_beta
