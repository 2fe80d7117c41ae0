"""Batch normalisation fused with relu, for training plans."""

from types import SimpleNamespace

from mxcy.ops.core.attrs import Bool, Double, Enum, Float, Int
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.record import find, no_rule, op, sample, values
from mxcy.ops.norm.batch import along, infer_vectors, norm_kernels

__all__ = []

_NORM, _NORM_GRAD = find("BatchNorm"), find("_batch_norm_grad")
_FLOATS = ("float32", "float64")
_ATTRIBUTES = ("eps", "momentum", "fix_gamma", "axis")


def _plain(a):
    """Return the attributes without the activation, for the references of the plain operators."""
    own = {name: getattr(a, name) for name in _ATTRIBUTES}
    return SimpleNamespace(**own, train=True, use_global_stats=False)


def _kernels(ending, data):
    """Return the native kernels of all activations; `data` is the index of the data."""

    def only(act):
        return lambda a, ins, outs: None if a.act == act else f"act={a.act}"

    return tuple(
        norm_kernels(f"batch_norm_{act}{ending}", data, lambda a: True, ours=only(act))[0]
        for act in ("relu", "relu6")
    )


def _attributes():
    for act in ("relu", "relu6"):
        for fix_gamma in (False, True):
            yield {"eps": 1e-3, "momentum": 0.9, "fix_gamma": fix_gamma, "axis": 1, "act": act}


@op(
    "_batch_norm_relu",
    inputs="data gamma beta moving_mean moving_var",
    outputs="output mean inverse",
    visible=1,
    mutates=("gamma", "moving_mean", "moving_var"),
    repeatable=True,
)
class _BatchNormRelu:
    """BatchNorm by batch statistics, then relu or relu6."""

    eps: Double
    momentum: Float
    fix_gamma: Bool
    axis: Int
    act: Enum("relu", "relu6")

    dtypes = _FLOATS
    kernels = _kernels("", 0)

    def samples():
        vectors = (values(2, 5, (3,)), *[values(-1, 1, (3,))] * 2, values(0.5, 2, (3,)))
        for attrs in _attributes():
            for shape in ((4, 3, 2, 5), (3, 3, 37), (6, 3)):
                yield sample(shape, *vectors, **attrs, grad=len(shape) == 4, tol=8)

    def infer(a, data, gamma, beta, moving_mean, moving_var):
        vectors = {"gamma": gamma, "beta": beta}
        vectors |= {"moving_mean": moving_mean, "moving_var": moving_var}
        vector = infer_vectors(a, data, vectors)
        return Spec(data.shape, data.dtype), vector, Spec(vector.shape, vector.dtype)

    def grad(a, F, g, data, gamma, beta, mean, inverse, moving_mean, moving_var):
        attrs = {name: getattr(a, name) for name in (*_ATTRIBUTES, "act")}
        inputs = (g[0], data, gamma, mean, inverse, moving_mean, moving_var, beta)
        return F._batch_norm_relu_grad(*inputs, **attrs)

    def ref(a, xp, data, *vectors):
        out, *others = _NORM.ref(_plain(a), xp, data, *vectors)
        out = xp.maximum(out, 0)
        return (out if a.act == "relu" else xp.minimum(out, 6)).astype(data.dtype), *others


@op(
    "_batch_norm_relu_grad",
    inputs="grad data gamma mean inverse moving_mean moving_var beta",
    outputs="data_grad gamma_grad beta_grad",
    mutates=("moving_mean", "moving_var"),
)
class _BatchNormReluGrad:
    """Gradients of _batch_norm_relu; the clipping is recomputed."""

    eps: Double
    momentum: Float
    fix_gamma: Bool
    axis: Int
    act: Enum("relu", "relu6")

    dtypes = _FLOATS
    grad = no_rule
    kernels = _kernels("_grad", 1)

    def samples():
        states = [values(-1, 1, (3,)), *[values(0.5, 2, (3,))] * 3, values(-1, 1, (3,))]
        for attrs in _attributes():
            # A fixed gamma was overwritten by the forward pass.
            gamma = values(1, 1, (3,)) if attrs["fix_gamma"] else values(2, 5, (3,))
            for shape in ((4, 3, 2, 5), (3, 3, 37), (6, 3)):
                yield sample(shape, shape, gamma, *states, **attrs, grad=False, tol=8)

    def infer(a, grad, data, gamma, mean, inverse, moving_mean, moving_var, beta):
        vectors = {"gamma": gamma, "mean": mean, "inverse": inverse, "beta": beta}
        vectors |= {"moving_mean": moving_mean, "moving_var": moving_var}
        vector = infer_vectors(a, data, vectors)
        grad.fill("grad", data.shape, data.dtype)
        return Spec(data.shape, data.dtype), vector, Spec(vector.shape, vector.dtype)

    def ref(a, xp, grad, data, gamma, mean, inverse, moving_mean, moving_var, beta):
        axis, ndim = a.axis % data.ndim, data.ndim
        out = (data - along(mean, axis, ndim)) * along(gamma * inverse, axis, ndim)
        out = out + along(beta, axis, ndim)
        within = out > 0 if a.act == "relu" else ~(out < 0) & ~(out > 6)
        passed = xp.where(within, grad, xp.zeros_like(grad))
        states = (gamma, mean, inverse, moving_mean, moving_var)
        return _NORM_GRAD.ref(_plain(a), xp, passed, data, *states)
