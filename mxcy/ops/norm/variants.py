"""Variants of BatchNorm: version 1, synchronised across devices, and with relu."""

from mxcy.ops.core.attrs import Bool, Field, Float, Int, Str
from mxcy.ops.core.in_symbols import STATISTICS, InSymbols
from mxcy.ops.core.infer import back_data
from mxcy.ops.core.record import register, sample, values
from mxcy.ops.norm.batch import BatchNorm

__all__ = []

_STATES = (values(-1, 1, (3,)),) * 3 + (values(0.5, 2, (3,)),)
_SHARED = {
    "inputs": "data gamma beta moving_mean moving_var",
    "outputs": "output mean var",
    "visible": lambda a: 3 if a.output_mean_var else 1,
    "mutates": ("gamma", "moving_mean", "moving_var"),
    "aux": ("moving_mean", "moving_var"),
    "uses_mode": True,
    "infer_back": back_data,
    "repeatable": True,
    "in_symbols": InSymbols(STATISTICS, named=True),
}


def _samples(**attrs):
    return tuple(
        sample((4, 3, 2, 5), *_STATES, train=train, fix_gamma=fix_gamma, tol=4, **attrs)
        for train in (False, True)
        for fix_gamma in (False, True)
    )


def _with_axis(a):
    return a.with_values(("axis",), (1,))


def _infer(a, *specs):
    return BatchNorm.infer(_with_axis(a), specs)


def _ref(a, xp, *arrays):
    out, mean, inverse, *states = BatchNorm.ref(_with_axis(a), xp, *arrays)
    return out, mean, 1 / (inverse * inverse) - a.eps, *states


def _grads(a, F, g, data, gamma, mean, inverse, moving_mean, moving_var, axis):
    return tuple(
        F._batch_norm_grad(
            g,
            data,
            gamma,
            mean,
            inverse,
            moving_mean,
            moving_var,
            momentum=a.momentum,
            axis=axis,
            fix_gamma=a.fix_gamma,
            use_global_stats=a.use_global_stats,
            eps=a.eps,
        )
    )


def _grad(a, F, g, data, gamma, mean, var, moving_mean, moving_var):
    return _grads(a, F, g[0], data, gamma, mean, F.rsqrt(var + a.eps), moving_mean, moving_var, 1)


_FIELDS = (
    Field("eps", Float, 0.00100000005),
    Field("momentum", Float, 0.899999976),
    Field("fix_gamma", Bool, True),
    Field("use_global_stats", Bool, False),
    Field("output_mean_var", Bool, False),
)

register(
    "BatchNorm_v1",
    fields=_FIELDS,
    infer=_infer,
    grad=_grad,
    ref=_ref,
    samples=_samples(),
    doc="""Apply batch normalisation over axis 1, as older models do.

    `output_mean_var` also returns the mean and the variance.
    """,
    **_SHARED,
)
register(
    "_contrib_SyncBatchNorm",
    aliases=("_npx_sync_batch_norm",),
    fields=(*_FIELDS, Field("ndev", Int, 1), Field("key", Str)),
    infer=_infer,
    grad=_grad,
    ref=_ref,
    samples=_samples(key="a"),
    doc="""Apply batch normalisation over axis 1, synchronised across devices.

    On CPU there is one device: `ndev` and `key` are ignored. `output_mean_var` returns also the
    mean and the variance.
    """,
    **_SHARED,
    amp="fp32",
)


def _rectified_ref(a, xp, *arrays):
    out, *others = BatchNorm.ref(a, xp, *arrays)
    return xp.maximum(out, 0), *others


def _rectified_grad(a, F, g, data, gamma, output, mean, var, moving_mean, moving_var):
    passed = g[0] * (output > 0)
    return _grads(a, F, passed, data, gamma, mean, var, moving_mean, moving_var, a.axis)


register(
    "_contrib_BatchNormWithReLU",
    aliases=("_npx_batch_norm_with_relu",),
    fields=BatchNorm.schema.fields,
    infer=lambda a, *specs: BatchNorm.infer(a, specs),
    grad=_rectified_grad,
    ref=_rectified_ref,
    samples=_samples(),
    doc="""Apply batch normalisation followed by ``max(x, 0)``; see BatchNorm.""",
    **{**_SHARED, "in_symbols": InSymbols(STATISTICS, named=True, listed=4)},
)
