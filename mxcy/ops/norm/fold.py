"""Folding of batch normalisation into other layers for inference.

With running statistics it is ``data * scale + shift`` per channel, which weight and bias of the
preceding layer can absorb.
"""

import math

from mxcy.ops.core.attrs import Bool, Double, Int, UInt
from mxcy.ops.core.infer import Spec, normal_axis, require, same_dtype
from mxcy.ops.core.params import FOLD
from mxcy.ops.core.record import native, op, sample, values
from mxcy.ops.norm.batch import require_float

__all__ = []

_VECTORS = ("gamma", "beta", "mean", "var")


def _fill_vectors(vectors, names, shape=(-1,)):
    """Unify vectors of one length and element type, and return their spec."""
    dtype = same_dtype(vectors, names)
    for _ in range(2):  # unify in both directions
        for name, spec in zip(names, vectors, strict=True):
            shape = spec.fill(name, shape).shape
    return Spec(shape, dtype)


def _scale_shift(a, xp, gamma, beta, mean, var):
    scale = (1 if a.fix_gamma else gamma) / xp.sqrt(var + a.eps)
    return scale, beta - mean * scale


def _fold(a, vector, groups=1, **extents):
    channels = vector.shape[0] // groups
    numbers = {"eps": a.eps, "fix_gamma": a.fix_gamma}
    return {"groups": groups, "channels": channels, **numbers, **extents}


_STATISTICS = (values(0.5, 2, (3,)), (3,), (3,), values(0.5, 2, (3,)))


@op("_batch_norm_scale", inputs="gamma beta mean var", outputs="scale shift", aux=("mean", "var"))
class BatchNormScale:
    """Compute scale and shift per channel of a BatchNorm in inference.

    Shapes: all (channels,). See `BatchNorm` for `eps` and `fix_gamma`.
    """

    eps: Double = 0.0010000000474974513
    fix_gamma: Bool = True

    samples = (sample(*_STATISTICS), sample(*_STATISTICS, fix_gamma=False, eps=1e-5))
    kernels = (
        native(
            "batch_norm_scale",
            struct=FOLD,
            params=lambda a, ins, outs: _fold(a, ins[0], outer=0, inner=0),
        ),
    )

    def infer(a, gamma, beta, mean, var):
        require_float(gamma, "gamma")
        vector = _fill_vectors((gamma, beta, mean, var), _VECTORS)
        return vector, Spec(vector.shape, vector.dtype)

    def ref(a, xp, gamma, beta, mean, var):
        return _scale_shift(a, xp, gamma, beta, mean, var)


def _require_groups(groups, axis, rows):
    require(groups >= 1, f"num_group: must be positive, got {groups}")
    require(groups == 1 or axis > 0, "axis: the first one holds the groups")
    require(rows % groups == 0 or rows == -1, f"weight: {rows} rows cannot form {groups} groups")


def _fold_names(a):
    return ("weight", *(() if a.no_bias else ("bias",)), *_VECTORS)


@op(
    "_fold_batch_norm",
    inputs="weight bias? gamma beta mean var",
    outputs="folded_weight folded_bias",
    aux=("mean", "var"),
)
class FoldBatchNorm:
    """Fold a BatchNorm in inference into weight and bias of the preceding layer.

    Shapes: weight any, with the output channels along `axis`; the others, without `bias` if
    `no_bias`, (channels,). With `num_group`, the first axis is divided into groups, and `axis`,
    which must differ from it, holds a group's channels. See `BatchNorm` for `eps` and `fix_gamma`.
    """

    eps: Double = 0.0010000000474974513
    fix_gamma: Bool = True
    no_bias: Bool = False
    axis: Int = 0
    num_group: UInt = 1

    arguments = _fold_names

    samples = (
        sample((3, 2, 3, 3), (3,), *_STATISTICS, fix_gamma=False),
        sample((3, 4), *_STATISTICS, no_bias=True),
        sample((2, 3, 5), *_STATISTICS, no_bias=True, fix_gamma=False, axis=1, eps=1e-5),
        sample((6, 1, 2), *_STATISTICS, no_bias=True, fix_gamma=False, axis=1, num_group=3),
    )

    def _params(a, ins, outs):
        shape = ins[0].shape
        axis = normal_axis(a.axis, len(shape))
        return _fold(
            a,
            outs[1],
            a.num_group,
            outer=math.prod(shape[:axis]) // a.num_group,
            inner=math.prod(shape[axis + 1 :]),
        )

    kernels = (native("fold_batch_norm", struct=FOLD, params=_params),)

    def infer(a, weight, *vectors):
        require_float(weight, "weight")
        names = _fold_names(a)
        same_dtype((weight, *vectors), names)
        shape = (-1,)
        if weight.shape is not None:
            axis = normal_axis(a.axis, weight.ndim)
            known = weight.shape[axis]
            shape = (known * a.num_group if known != -1 else -1,)
            _require_groups(a.num_group, axis, weight.shape[0])
        vector = _fill_vectors(vectors, names[1:], shape)
        return Spec(weight.shape, vector.dtype), vector

    def infer_back(a, ins, outs):
        ins[0].fill("weight", outs[0].shape, outs[0].dtype)

    def ref(a, xp, weight, *vectors):
        scale, shift = _scale_shift(a, xp, *vectors[-4:])
        axis = a.axis % weight.ndim
        grouped = weight.reshape(a.num_group, -1, *weight.shape[1:])
        factors = scale.reshape(a.num_group, *[1] * axis, -1, *[1] * (weight.ndim - axis - 1))
        folded = (grouped * factors).reshape(weight.shape)
        return folded, shift if a.no_bias else vectors[0] * scale + shift
