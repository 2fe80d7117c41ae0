"""Batch normalisation, relu and a depthwise convolution in one pass over memory, for training.

It corresponds to `_batch_norm_relu` and a Convolution whose groups are single channels.
"""

from types import SimpleNamespace

from mxcy.ops.convolution.conv import conv_attrs, conv_shapes, data_ref, forward_ref, weight_ref
from mxcy.ops.convolution.windows import Filters, Window, resolve
from mxcy.ops.core.attrs import Bool, Double, Enum, Float
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.params import NORM_DEPTHWISE
from mxcy.ops.core.record import find, native, no_rule, op, sample, values
from mxcy.ops.norm.batch import infer_vectors

__all__ = ["refusal"]

_NORM_ATTRS = ("eps", "momentum", "fix_gamma", "act")


def refusal(a, channels):
    """Return why the kernels do not support a convolution of that many channels, or None."""
    kernel, stride, dilate, pad = resolve(a)
    if not channels == a.num_group == a.num_filter:
        return "there is not one filter for each channel"
    if kernel not in ((3, 3), (5, 5)) or stride not in ((1, 1), (2, 2)) or dilate != (1, 1):
        return "the windows are not square and dense, 3 or 5 wide, in steps of 1 or 2"
    return "the padding is as wide as the filter" if max(pad) >= kernel[0] else None


class _NormDepthwise(Window, Filters):
    """Attributes of the normalisation, the activation and the convolution."""

    eps: Double
    momentum: Float
    fix_gamma: Bool
    act: Enum("relu", "relu6")

    dtypes = ("float32", "float64")


def _norm(a):
    """Return the attributes of the normalisation with activation."""
    return SimpleNamespace(**{name: getattr(a, name) for name in _NORM_ATTRS}, axis=1)


def _kernel(ending, data, out):
    """Return the native kernel; `out` picks the convolution's output from inputs and outputs."""

    def params(a, ins, outs):
        kernel, stride, dilate, pad = resolve(a)
        shape = ins[data].shape
        return {
            "batch": shape[0],
            "groups": shape[1],
            "channels": 1,
            "filters": 1,
            "source": (1, *shape[2:]),
            "target": (1, *out(ins, outs).shape[2:]),
            "kernel": (1, *kernel),
            "stride": (1, *stride),
            "dilate": (1, *dilate),
            "pad": (0, *pad),
            "eps": a.eps,
            "momentum": a.momentum,
            "fix_gamma": a.fix_gamma,
        }

    def supported(a, ins, outs):
        return refusal(a, ins[data].shape[1])

    def name(a, ins, outs):
        return f"norm_depthwise_{a.act}{ending}"

    return native(name, struct=NORM_DEPTHWISE, params=params, when=supported)


def _infer(a, data, weight, vectors):
    """Infer the shape of the convolution's output, its dtype, and the spec of a vector."""
    vector = infer_vectors(SimpleNamespace(axis=1), data, vectors)
    return *conv_shapes(a, data, weight), vector


def _cases():
    """Yield (attributes, shape of the data, of the weight, and of the output)."""
    norm = {"eps": 1e-3, "momentum": 0.9}
    for kernel, stride, pad, shape, out in (
        (3, 1, 1, (3, 4, 5, 19), (3, 4, 5, 19)),
        (3, 2, 1, (2, 3, 8, 9), (2, 3, 4, 5)),
        (5, 1, 2, (2, 2, 7, 6), (2, 2, 7, 6)),
        (5, 2, 2, (1, 5, 11, 8), (1, 5, 6, 4)),
    ):
        channels = shape[1]
        window = {"kernel": (kernel,) * 2, "stride": (stride,) * 2, "pad": (pad,) * 2}
        window |= {"num_filter": channels, "num_group": channels}
        for act, fix_gamma in (("relu", False), ("relu6", True)):
            yield (
                norm | window | {"act": act, "fix_gamma": fix_gamma},
                shape,
                (channels, 1, kernel, kernel),
                out,
            )


@op(
    "_norm_depthwise",
    inputs="data gamma beta moving_mean moving_var weight",
    outputs="output mean inverse",
    visible=1,
    mutates=("gamma", "moving_mean", "moving_var"),
    repeatable=True,
)
class _NormDepthwiseForward(_NormDepthwise):
    """Depthwise convolution of relu or relu6 of BatchNorm by batch statistics."""

    kernels = (_kernel("", 0, lambda ins, outs: outs[0]),)

    def samples():
        for attrs, shape, weight, _ in _cases():
            n = shape[1:2]
            vectors = (values(2, 5, n), *[values(-1, 1, n)] * 2, values(0.5, 2, n))
            yield sample(shape, *vectors, weight, **attrs, tol=8)

    def infer(a, data, gamma, beta, moving_mean, moving_var, weight):
        vectors = {"gamma": gamma, "beta": beta}
        vectors |= {"moving_mean": moving_mean, "moving_var": moving_var}
        shape, dtype, vector = _infer(a, data, weight, vectors)
        return Spec(shape, dtype), vector, Spec(vector.shape, vector.dtype)

    def grad(a, F, g, data, gamma, beta, mean, inverse, moving_mean, moving_var, weight):
        attrs = conv_attrs(a) | {name: getattr(a, name) for name in _NORM_ATTRS}
        states = (gamma, mean, inverse, moving_mean, moving_var, beta, weight)
        *norm, by_weight = F._norm_depthwise_grad(g[0], data, *states, **attrs)
        return *norm, None, None, by_weight

    def ref(a, xp, data, gamma, beta, moving_mean, moving_var, weight):
        states = (gamma, beta, moving_mean, moving_var)
        out, *others = find("_batch_norm_relu").ref(_norm(a), xp, data, *states)
        return forward_ref(a, xp, out, weight), *others


@op(
    "_norm_depthwise_grad",
    inputs="grad data gamma mean inverse moving_mean moving_var beta weight",
    outputs="data_grad gamma_grad beta_grad weight_grad",
    mutates=("moving_mean", "moving_var"),
)
class _NormDepthwiseGrad(_NormDepthwise):
    """Gradients of _norm_depthwise; the normalised array is recomputed."""

    grad = no_rule
    kernels = (_kernel("_grad", 1, lambda ins, outs: ins[0]),)

    def samples():
        for attrs, shape, weight, out in _cases():
            n = shape[1:2]
            states = [values(-1, 1, n), *[values(0.5, 2, n)] * 3, values(-1, 1, n)]
            # A fixed gamma was overwritten by the forward pass.
            gamma = values(1, 1, n) if attrs["fix_gamma"] else values(2, 5, n)
            yield sample(out, shape, gamma, *states, weight, **attrs, grad=False, tol=8)

    def infer(a, grad, data, gamma, mean, inverse, moving_mean, moving_var, beta, weight):
        vectors = {"gamma": gamma, "mean": mean, "inverse": inverse, "beta": beta}
        vectors |= {"moving_mean": moving_mean, "moving_var": moving_var}
        shape, dtype, vector = _infer(a, data, weight, vectors)
        grad.fill("grad", shape, dtype)
        own = [Spec(vector.shape, vector.dtype) for _ in range(2)]
        return Spec(data.shape, data.dtype), *own, Spec(weight.shape, weight.dtype)

    def ref(a, xp, grad, data, gamma, mean, inverse, moving_mean, moving_var, beta, weight):
        along = (None, slice(None), None, None)
        out = (data - mean[along]) * (gamma * inverse)[along] + beta[along]
        out = xp.clip(out, 0, 6 if a.act == "relu6" else None)
        by_weight = weight_ref(a, xp, out, grad)
        passed = data_ref(a, xp, grad, weight, data.shape[2:])
        states = (gamma, mean, inverse, moving_mean, moving_var, beta)
        norm = find("_batch_norm_relu_grad").ref(_norm(a), xp, passed, data, *states)
        return *norm[:3], by_weight, *norm[3:]
