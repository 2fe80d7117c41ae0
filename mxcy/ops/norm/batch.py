"""Batch normalisation."""

import itertools

from mxcy._base import dtypes
from mxcy._base.errors import MXNetError
from mxcy.ops.core.attrs import Bool, Double, Float, FloatOrNone, Int
from mxcy.ops.core.in_symbols import STATISTICS, InSymbols
from mxcy.ops.core.infer import Spec, back_data, normal_axis, require
from mxcy.ops.core.params import BATCH_NORM
from mxcy.ops.core.precision import Precision
from mxcy.ops.core.quantized import Quantized
from mxcy.ops.core.record import by_onednn, native, op, sample, values
from mxcy.ops.core.stypes import refuse
from mxcy.ops.norm.curvature import Curvature

__all__ = ["along", "infer_vectors", "norm_kernels", "only_visible", "other_axes", "require_float"]


def only_visible(name, g, visible=1):
    """Raise for gradients of hidden statistics, as third derivatives would need them."""
    if any(part is not None for part in g[visible:]):
        raise MXNetError(f"Error in operator {name}: its hidden statistics have no gradient")


def require_float(spec, name="data"):
    """Raise if a known dtype is not floating-point."""
    if spec.dtype is not None:
        require(dtypes.is_float(spec.dtype), f"{name}: expected a floating dtype, got {spec}")


def _parameter_dtype(dtype):
    """Return the dtype of parameters and statistics: float32 for half-precision data."""
    return 0 if dtype in (2, 12) else dtype


def along(array, axis, ndim):
    """Reshape a vector to broadcast along one axis."""
    return array.reshape([-1 if i == axis else 1 for i in range(ndim)])


def other_axes(axis, ndim):
    """Return all axes but one."""
    return tuple(i for i in range(ndim) if i != axis)


def infer_vectors(a, data, vectors):
    """Infer the vectors, a dict of specs by name; return the spec of a vector."""
    require_float(data)
    vector = Spec(None, None if data.dtype is None else _parameter_dtype(data.dtype))
    if data.shape is not None:
        vector.shape = (data.shape[normal_axis(a.axis, data.ndim)],)
    for name, spec in vectors.items():
        spec.fill(name, vector.shape, vector.dtype)
    return vector


def _uses_batch(a):
    """Return whether batch statistics are used, not the running ones."""
    return a.train and not a.use_global_stats


def _refuse_running(a, ins, outs):
    return None if _uses_batch(a) else "the statistics are the running ones"


def norm_kernels(name, data, batch_stats, when=None, ours=None):
    """Return the native kernel `name` and oneDNN's.

    `data` is the index of the data; ``batch_stats(a)`` returns a bool; `when` and `ours` are the
    conditions of oneDNN's kernel and of the native one.
    """

    def params(a, ins, outs):
        shape = ins[data].shape
        axis = normal_axis(a.axis, len(shape))
        return {
            "outer": Spec(shape[:axis]).size,
            "channels": shape[axis],
            "inner": Spec(shape[axis + 1 :]).size,
            "eps": a.eps,
            "momentum": a.momentum,
            "fix_gamma": a.fix_gamma,
            "batch_stats": batch_stats(a),
        }

    kernel = native(name, struct=BATCH_NORM, params=params, mixed=True, when=ours)
    return kernel, by_onednn(kernel, when)


_STATES = (values(-1, 1, (3,)), values(-1, 1, (3,)), values(-1, 1, (3,)), values(0.5, 2, (3,)))


def _sparse_gammas():
    """Return rules that reject sparse inputs with fix_gamma: gamma of a copy would be written."""
    for stypes in itertools.product(("default", "row_sparse"), repeat=5):
        if "row_sparse" in stypes:
            yield refuse(
                " ".join(stypes),
                "fix_gamma=True is not supported for sparse arrays",
                lambda a, *specs: a.fix_gamma,
            )


@op(
    "BatchNorm",
    aliases=("_npx_batch_norm",),
    numpy=(
        "npx.batch_norm(x, gamma, beta, running_mean, running_var, eps=0.001, momentum=0.9, "
        "fix_gamma=True, use_global_stats=False, output_mean_var=False, axis=1, "
        "cudnn_off=False, min_calib_range=None, max_calib_range=None, out=None, name=None)"
    ),
    inputs="data gamma beta moving_mean moving_var",
    outputs="output mean var",
    visible=lambda a: 3 if a.output_mean_var else 1,
    mutates=("gamma", "moving_mean", "moving_var"),
    aux=("moving_mean", "moving_var"),
    in_symbols=InSymbols(STATISTICS, named=True),
    uses_mode=True,
    repeatable=True,
    stypes=tuple(_sparse_gammas()),
    amp=Precision("either", "either", fp32_inputs=("gamma", "beta", "moving_mean", "moving_var")),
)
class BatchNorm:
    """Apply batch normalisation: normalise each channel over the batch, then scale and shift.

    ``out = gamma * (data - mean) / sqrt(var + eps) + beta`` with one gamma and beta per index of
    `axis`. In training mode, mean and (biased) variance are those of the batch, and the backward
    pass updates the running statistics: ``moving = momentum * moving + (1 - momentum) * batch``.
    Otherwise, or with `use_global_stats`, the running statistics are used and not updated. With
    `fix_gamma`, gamma is overwritten by ones and has no gradient, and sparse inputs raise.

    Shapes: data any, the others (channels,); their dtype is float32 for half-precision data, else
    the data's. `output_mean_var` also returns the mean and ``1 / sqrt(var + eps)``. `cudnn_off` and
    the calibration ranges are ignored on CPU.
    """

    eps: Double = 0.0010000000474974513
    momentum: Float = 0.899999976
    fix_gamma: Bool = True
    use_global_stats: Bool = False
    output_mean_var: Bool = False
    axis: Int = 1
    cudnn_off: Bool = False
    min_calib_range: FloatOrNone = None
    max_calib_range: FloatOrNone = None

    quantized = Quantized(
        "_contrib_quantized_batch_norm",
        ranged=("data",),
        refusal=lambda a: "output_mean_var" if a.output_mean_var else None,
        calibrates=True,
    )

    def samples():
        half = ("float16", "bfloat16")
        states = [values(-1, 1, (3,), "float32")] * 3 + [values(0.5, 2, (3,), "float32")]
        for train in (False, True):
            yield sample((4, 3, 2, 5), *_STATES, train=train, fix_gamma=False, tol=4)
            yield sample((4, 3, 2, 5), *_STATES, train=train, fix_gamma=True, tol=4)
            yield sample(
                (2, 5, 3),
                *_STATES,
                train=train,
                fix_gamma=False,
                axis=-1,
                output_mean_var=True,
                grad=False,
                tol=4,
            )
            yield sample((4, 3, 5), *states, train=train, dtypes=half, fix_gamma=False, eps=1e-5)
        yield sample((7, 3), *_STATES, train=True, fix_gamma=False, use_global_stats=True)

    kernels = norm_kernels("batch_norm", 0, _uses_batch)

    def batched(a, ins):
        return () if _uses_batch(a) or not normal_axis(a.axis, ins[0].ndim) else (0,)

    def infer(a, data, gamma, beta, moving_mean, moving_var):
        vectors = {
            "gamma": gamma,
            "beta": beta,
            "moving_mean": moving_mean,
            "moving_var": moving_var,
        }
        vector = infer_vectors(a, data, vectors)
        return Spec(data.shape, data.dtype), vector, Spec(vector.shape, vector.dtype)

    infer_back = back_data

    def grad(a, F, g, data, gamma, mean, var, moving_mean, moving_var):
        only_visible("BatchNorm", g, 3 if a.output_mean_var else 1)
        by_data, by_gamma, by_beta = F._batch_norm_grad(
            g[0],
            data,
            gamma,
            mean,
            var,
            moving_mean,
            moving_var,
            momentum=a.momentum,
            axis=a.axis,
            fix_gamma=a.fix_gamma,
            use_global_stats=a.use_global_stats,
            eps=a.eps,
        )
        return by_data, by_gamma, by_beta

    def ref(a, xp, data, gamma, beta, moving_mean, moving_var):
        axis, ndim = a.axis % data.ndim, data.ndim
        gamma = xp.ones_like(gamma) if a.fix_gamma else gamma
        values = data.astype(gamma.dtype)
        mean, var = moving_mean, moving_var
        if _uses_batch(a):
            mean, var = values.mean(other_axes(axis, ndim)), values.var(other_axes(axis, ndim))
        inverse = 1 / xp.sqrt(var + a.eps)
        out = (values - along(mean, axis, ndim)) * along(gamma * inverse, axis, ndim)
        out = (out + along(beta, axis, ndim)).astype(data.dtype)
        return out, mean, inverse, gamma, moving_mean, moving_var


def _batch_norm_curvature(
    a, F, g, grad, data, gamma, mean, inverse, moving_mean, moving_var, specs
):
    """Return second-order gradients, with batch statistics as functions of the data."""
    ndim, data_dtype, dtype = specs[1].ndim, specs[1].dtype, specs[2].dtype
    axis = normal_axis(a.axis, ndim)
    shape = tuple(-1 if i == axis else 1 for i in range(ndim))
    if not _uses_batch(a):
        mean, inverse = moving_mean, F.rsqrt(moving_var + a.eps)
    operands = grad, data, g[0]
    if dtype != data_dtype:
        operands = (F.Cast(v, dtype=dtypes.name_of(dtype)) for v in operands)
    grad, data, by_data = operands
    gamma, mean, inverse, by_gamma, by_beta = (
        F.reshape(v, shape=shape) for v in (gamma, mean, inverse, g[1], g[2])
    )
    if a.fix_gamma:
        gamma = by_gamma = None
    others = other_axes(axis, ndim)

    def means(v):
        return F.mean(v, axis=others, keepdims=True) if others else v

    scaled = F.broadcast_mul(F.broadcast_sub(data, mean), inverse)
    curvature = Curvature(F, scaled, inverse, means if _uses_batch(a) else None)
    gradients = list(curvature.gradients(by_data, by_gamma, by_beta, grad, gamma))
    if dtype != data_dtype:
        gradients[:2] = [
            v if v is None else F.Cast(v, dtype=dtypes.name_of(data_dtype)) for v in gradients[:2]
        ]
    if gradients[2] is not None and others:
        gradients[2] = F.sum(gradients[2], axis=others)
    return gradients


@op(
    "_batch_norm_grad",
    inputs="grad data gamma mean inverse moving_mean moving_var",
    outputs="data_grad gamma_grad beta_grad",
    mutates=("moving_mean", "moving_var"),
    uses_mode=True,
)
class _BatchNormGrad:
    """Gradients of BatchNorm, in the mode of the backward pass.

    In training mode they use the saved batch statistics and update the running ones; otherwise, or
    with `use_global_stats`, they use the running statistics.
    """

    momentum: Float
    axis: Int
    fix_gamma: Bool
    use_global_stats: Bool
    eps: Double

    def samples():
        shared = {"eps": 1e-3, "momentum": 0.9, "grad": False, "tol": 4}
        states = [values(-1, 1, (3,)), values(-1, 1, (3,)), *[values(0.5, 2, (3,))] * 3]
        for fix_gamma in (False, True):
            for train, use_global in ((False, False), (True, False), (True, True)):
                yield sample(
                    (4, 3, 2, 5),
                    (4, 3, 2, 5),
                    *states,
                    axis=1,
                    fix_gamma=fix_gamma,
                    train=train,
                    use_global_stats=use_global,
                    **shared,
                )
                yield sample(
                    (6, 3),
                    (6, 3),
                    *states,
                    axis=-1,
                    fix_gamma=fix_gamma,
                    train=train,
                    use_global_stats=use_global,
                    **shared,
                )

    grad = _batch_norm_curvature
    kernels = norm_kernels("batch_norm_grad", 1, _uses_batch, _refuse_running)

    def infer(a, grad, data, gamma, mean, inverse, moving_mean, moving_var):
        vectors = {
            "gamma": gamma,
            "mean": mean,
            "inverse": inverse,
            "moving_mean": moving_mean,
            "moving_var": moving_var,
        }
        vector = infer_vectors(a, data, vectors)
        grad.fill("grad", data.shape, data.dtype)
        return Spec(data.shape, data.dtype), vector, Spec(vector.shape, vector.dtype)

    def ref(a, xp, grad, data, gamma, mean, inverse, moving_mean, moving_var):
        axis, ndim = a.axis % data.ndim, data.ndim
        others, upstream = other_axes(axis, ndim), grad.astype(gamma.dtype)
        batch_stats = _uses_batch(a)
        if not batch_stats:
            mean, inverse = moving_mean, 1 / xp.sqrt(moving_var + a.eps)
        scaled = (data.astype(gamma.dtype) - along(mean, axis, ndim)) * along(inverse, axis, ndim)
        by_beta, by_gamma = upstream.sum(others), (upstream * scaled).sum(others)
        by_data = upstream
        if batch_stats:
            n = max(data.size // max(data.shape[axis], 1), 1)
            by_data = (
                upstream - along(by_beta / n, axis, ndim) - scaled * along(by_gamma / n, axis, ndim)
            )
            var = 1 / (inverse * inverse) - a.eps
            moving_mean = a.momentum * moving_mean + (1 - a.momentum) * mean
            moving_var = a.momentum * moving_var + (1 - a.momentum) * var
        scale = inverse if a.fix_gamma else gamma * inverse
        by_data = (by_data * along(scale, axis, ndim)).astype(data.dtype)
        by_gamma = xp.zeros_like(by_gamma) if a.fix_gamma else by_gamma
        return by_data, by_gamma, by_beta, moving_mean, moving_var
