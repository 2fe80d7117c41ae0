"""Batch normalisation of blocked arrays by batch statistics, for training plans.

It corresponds to BatchNorm and `_batch_norm_relu` and their gradients on plain arrays, and to relu
of the sum of a BatchNorm and another array, as at the end of residual blocks.
"""

from types import SimpleNamespace

from mxcy._base.dtypes import CODES
from mxcy.ops.core.attrs import Bool, Double, Enum, Float
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.params import BATCH_NORM
from mxcy.ops.core.record import find, native, no_rule, op, sample, values
from mxcy.ops.fused.blocked import blocked, plain, plain_shape
from mxcy.ops.norm.batch import infer_vectors

__all__ = []

_ACTS = ("none", "relu", "relu6")
_OCTET = CODES["uint8"]
_NAMES = ("eps", "momentum", "fix_gamma")
_SUM_INPUTS = ("grad", "data", "gamma", "mean", "inverse", "moving_mean", "moving_var", "positive")


def _plain_attrs(a):
    """Return the attributes of the operators on plain arrays."""
    own = {name: getattr(a, name) for name in _NAMES}
    return SimpleNamespace(**own, act=a.act, axis=1, train=True, use_global_stats=False)


def _plain_op(a, suffix=""):
    """Return the record of the operator on plain arrays."""
    if a.act == "none":
        return find(f"_batch_norm{suffix}" if suffix else "BatchNorm")
    return find(f"_batch_norm_relu{suffix}")


def _kernel(ending, data):
    """Return the native kernel; `data` is the index of the data."""

    def name(a, ins, outs):
        act = "" if a.act == "none" else f"_{a.act}"
        return f"blocked_batch_norm{act}{ending}"

    return _native(name, data, (0,))


def _native(name, data, overwritten):
    """Return a native kernel whose first output may overwrite some inputs."""

    def params(a, ins, outs):
        batch, blocks, *spatial, block = ins[data].shape
        return {
            "outer": batch,
            "channels": blocks * block,
            "inner": Spec(tuple(spatial)).size,
            "eps": a.eps,
            "momentum": a.momentum,
            "fix_gamma": a.fix_gamma,
            "batch_stats": True,
        }

    return native(
        name,
        struct=BATCH_NORM,
        params=params,
        asks=True,
        mixed=True,
        inplace=lambda a, ins, outs: [i for i in overwritten if i < len(ins)],
    )


def _infer(a, data, vectors):
    shape = plain_shape(data.shape)
    return infer_vectors(SimpleNamespace(axis=1), Spec(shape, data.dtype), vectors)


def _attributes():
    for act in _ACTS:
        for fix_gamma in (False, True):
            yield {"eps": 1e-3, "momentum": 0.9, "fix_gamma": fix_gamma, "act": act}


#: block sizes of all CPUs; the second has more pixels than are summed at once
_SHAPES = ((3, 2, 3, 5, 8), (2, 1, 17, 18, 8), (3, 2, 3, 5, 16), (2, 1, 17, 18, 16))
_SHARED = {"dtypes": ("float32",), "grad": False, "tol": 8}
_NARROW = {**_SHARED, "dtypes": ("bfloat16",)}


def _float_vectors(shape, count):
    """Return `count` positive vectors, which are float32 beside bfloat16 data."""
    return [values(0.5, 2, (shape[1] * shape[-1],), "float32")] * count


@op(
    "_blocked_batch_norm",
    inputs="data gamma beta moving_mean moving_var",
    outputs="output mean inverse",
    visible=1,
    mutates=("gamma", "moving_mean", "moving_var"),
    repeatable=True,
)
class _BlockedBatchNorm:
    """BatchNorm of a blocked array by batch statistics, and an activation."""

    eps: Double
    momentum: Float
    fix_gamma: Bool
    act: Enum(*_ACTS)

    grad = no_rule
    dtypes = ("float32", "bfloat16")
    kernels = (_kernel("", 0),)

    def samples():
        for attrs in _attributes():
            for shape in _SHAPES:
                n = (shape[1] * shape[-1],)
                vectors = (values(2, 5, n), *[values(-1, 1, n)] * 2, values(0.5, 2, n))
                yield sample(shape, *vectors, **attrs, **_SHARED)
        yield sample(_SHAPES[1], *_float_vectors(_SHAPES[1], 4), **attrs, **_NARROW)
        yield sample(_SHAPES[3], *_float_vectors(_SHAPES[3], 4), **attrs, **_NARROW)

    def infer(a, data, gamma, beta, moving_mean, moving_var):
        vectors = {"gamma": gamma, "beta": beta}
        vectors |= {"moving_mean": moving_mean, "moving_var": moving_var}
        vector = _infer(a, data, vectors)
        return Spec(data.shape, data.dtype), vector, Spec(vector.shape, vector.dtype)

    def ref(a, xp, data, *vectors):
        out, *others = _plain_op(a).ref(_plain_attrs(a), xp, plain(xp, data), *vectors)
        return blocked(xp, out, data.shape[-1]), *others


def _gradient_inputs(a):
    """Return the inputs; beta is needed to recompute the clipping."""
    names = ("grad", "data", "gamma", "mean", "inverse", "moving_mean", "moving_var")
    return names if a.act == "none" else (*names, "beta")


@op(
    "_blocked_batch_norm_grad",
    arguments=_gradient_inputs,
    inputs="grad data gamma mean inverse moving_mean moving_var beta?",
    outputs="data_grad gamma_grad beta_grad",
    mutates=("moving_mean", "moving_var"),
)
class _BlockedBatchNormGrad:
    """Gradients of _blocked_batch_norm; the clipping is recomputed."""

    eps: Double
    momentum: Float
    fix_gamma: Bool
    act: Enum(*_ACTS)

    grad = no_rule
    dtypes = ("float32", "bfloat16")
    kernels = (_kernel("_grad", 1),)

    def samples():
        for attrs in _attributes():
            for shape in _SHAPES:
                n = (shape[1] * shape[-1],)
                states = [values(-1, 1, n), *[values(0.5, 2, n)] * 3, values(-1, 1, n)]
                # A fixed gamma was overwritten by the forward pass.
                gamma = values(1, 1, n) if attrs["fix_gamma"] else values(2, 5, n)
                arrays = states[: 4 if attrs["act"] == "none" else 5]
                yield sample(shape, shape, gamma, *arrays, **attrs, **_SHARED)
        attrs["act"] = "none"  # roundings of the data decide what is clipped
        for shape in (_SHAPES[1], _SHAPES[3]):
            yield sample(shape, shape, *_float_vectors(shape, 5), **attrs, **_NARROW)

    def infer(a, grad, data, gamma, mean, inverse, moving_mean, moving_var, beta=None):
        vectors = {"gamma": gamma, "mean": mean, "inverse": inverse}
        if beta is not None:
            vectors["beta"] = beta
        vectors |= {"moving_mean": moving_mean, "moving_var": moving_var}
        vector = _infer(a, data, vectors)
        grad.fill("grad", data.shape, data.dtype)
        return Spec(data.shape, data.dtype), vector, Spec(vector.shape, vector.dtype)

    def ref(a, xp, grad, data, *vectors):
        grad_op = _plain_op(a, "_grad")
        parts = grad_op.ref(_plain_attrs(a), xp, plain(xp, grad), plain(xp, data), *vectors)
        by_data, *others = parts
        return blocked(xp, by_data, data.shape[-1]), *others


# --- relu of a sum -------------------------------------------------------------------------------


def _bits_shape(shape):
    """Return the shape of one bit for each element, in octets."""
    return None if shape is None else (*shape[:-1], shape[-1] // 8)


def _sum_attributes():
    for fix_gamma in (False, True):
        yield {"eps": 1e-3, "momentum": 0.9, "fix_gamma": fix_gamma}


def _unclipped(a):
    """Return the attributes of BatchNorm and its gradient on plain arrays."""
    return _plain_attrs(SimpleNamespace(**{name: getattr(a, name) for name in _NAMES}, act="none"))


@op(
    "_blocked_norm_sum",
    inputs="data gamma beta moving_mean moving_var other",
    outputs="output mean inverse positive",
    visible=1,
    mutates=("gamma", "moving_mean", "moving_var"),
    repeatable=True,
)
class _BlockedNormSum:
    """relu of the sum of a BatchNorm by batch statistics and another array, in blocks.

    `positive` tells by one bit for each element whether relu passes its gradient.
    """

    eps: Double
    momentum: Float
    fix_gamma: Bool

    grad = no_rule
    dtypes = ("float32",)
    kernels = (_native("blocked_norm_sum", 0, (0, 5)),)

    def samples():
        for attrs in _sum_attributes():
            for shape in _SHAPES:
                n = (shape[1] * shape[-1],)
                vectors = (values(2, 5, n), *[values(-1, 1, n)] * 2, values(0.5, 2, n))
                yield sample(shape, *vectors, shape, **attrs, **_SHARED)

    def infer(a, data, gamma, beta, moving_mean, moving_var, other):
        vectors = {"gamma": gamma, "beta": beta}
        vectors |= {"moving_mean": moving_mean, "moving_var": moving_var}
        vector = _infer(a, data, vectors)
        other.fill("other", data.shape, data.dtype)
        own = vector, Spec(vector.shape, vector.dtype)
        return Spec(data.shape, data.dtype), *own, Spec(_bits_shape(data.shape), _OCTET)

    def ref(a, xp, data, gamma, beta, moving_mean, moving_var, other):
        vectors = gamma, beta, moving_mean, moving_var
        parts = find("BatchNorm").ref(_unclipped(a), xp, plain(xp, data), *vectors)
        out, mean, inverse, *others = parts
        out = blocked(xp, out, data.shape[-1]) + other
        lanes = (out > 0).reshape(*_bits_shape(data.shape), 8)
        positive = (lanes << xp.arange(8)).sum(-1).astype("uint8")
        return xp.maximum(out, 0), mean, inverse, positive, *others


@op(
    "_blocked_norm_sum_grad",
    arguments=lambda a: (*_SUM_INPUTS, "other_grad") if a.joined else _SUM_INPUTS,
    inputs=" ".join((*_SUM_INPUTS, "other_grad?")),
    outputs="data_grad gamma_grad beta_grad sum_grad",
    mutates=("moving_mean", "moving_var"),
)
class _BlockedNormSumGrad:
    """Gradients of _blocked_norm_sum, given where relu passes that of its output.

    `sum_grad` is that of the other array. If `joined`, the output's gradient is the sum of two.
    """

    eps: Double
    momentum: Float
    fix_gamma: Bool
    joined: Bool

    grad = no_rule
    dtypes = ("float32",)
    kernels = (_native("blocked_norm_sum_grad", 1, (0, 8)),)

    def samples():
        for attrs in _sum_attributes():
            for shape in _SHAPES:
                n = (shape[1] * shape[-1],)
                gamma = values(1, 1, n) if attrs["fix_gamma"] else values(2, 5, n)
                vectors = (gamma, values(-1, 1, n), *[values(0.5, 2, n)] * 3)
                bits = values(0, 255, _bits_shape(shape), "uint8")
                yield sample(shape, shape, *vectors, bits, joined=False, **attrs, **_SHARED)
                arrays = (*vectors, bits, shape)
                yield sample(shape, shape, *arrays, joined=True, **attrs, **_SHARED)

    def infer(
        a, grad, data, gamma, mean, inverse, moving_mean, moving_var, positive, other_grad=None
    ):
        vectors = {"gamma": gamma, "mean": mean, "inverse": inverse}
        vectors |= {"moving_mean": moving_mean, "moving_var": moving_var}
        vector = _infer(a, data, vectors)
        positive.fill("positive", _bits_shape(data.shape), _OCTET)
        others = {"grad": grad}
        if other_grad is not None:
            others["other_grad"] = other_grad
        for name, spec in others.items():
            spec.fill(name, data.shape, data.dtype)
        own = [Spec(vector.shape, vector.dtype) for _ in range(2)]
        return Spec(data.shape, data.dtype), *own, Spec(data.shape, data.dtype)

    def ref(
        a, xp, grad, data, gamma, mean, inverse, moving_mean, moving_var, positive, other_grad=None
    ):
        passes = (positive[..., None] >> xp.arange(8) & 1).reshape(data.shape)
        total = (grad if other_grad is None else grad + other_grad) * passes.astype(grad.dtype)
        states = gamma, mean, inverse, moving_mean, moving_var
        arrays = plain(xp, total), plain(xp, data), *states
        by_data, by_gamma, by_beta, *moved = find("_batch_norm_grad").ref(
            _unclipped(a), xp, *arrays
        )
        return blocked(xp, by_data, data.shape[-1]), by_gamma, by_beta, total, *moved
