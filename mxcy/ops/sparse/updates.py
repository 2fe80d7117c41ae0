"""Optimizer updates by row_sparse gradients.

Lazy updates touch only the rows of the gradient, weight decay and states included. Standard updates
equal the dense update with a gradient whose other rows are zero. The weight has all its rows.
"""

from mxcy._base import dtypes
from mxcy.ops.core.infer import Spec, require, same_dtype
from mxcy.ops.core.params import ADAGRAD, ADAM, FTRL, SGD, SGD_MOM
from mxcy.ops.core.record import register, sample, values
from mxcy.ops.optimizer.adaptive import adagrad_step, ftrl_step, group_adagrad_step
from mxcy.ops.optimizer.definitions import (
    BETAS,
    CLIP,
    LAZY,
    LR,
    MOMENTUM,
    RESCALE,
    WD,
    number,
    tries_with,
    widened,
)
from mxcy.ops.optimizer.updates import SMALL, adam_step, sgd_mom_step, sgd_step
from mxcy.ops.sparse.parts import check_rows, fill_rows, row_sparse_sample, sparse_native

__all__ = []


def _infer(names, per_row):
    """Return the inference rule; state `per_row` has one element per row."""

    def infer(a, *specs):
        dense = [spec for name, spec in zip(names, specs, strict=True) if name not in _GRADIENT]
        dense_names = [name for name in names if name not in _GRADIENT]
        weight, grad, indices = specs[:3]
        if weight.shape is not None:
            require(weight.ndim > 0, "weight: needs at least one dimension")
            grad.fill("grad", (-1, *weight.shape[1:]))
        row = fill_rows(grad, indices)
        if row is not None:
            weight.fill("weight", (-1, *row))
        for name, spec in zip(dense_names[1:], dense[1:], strict=True):
            shape = weight.shape
            if name == per_row and shape is not None:
                shape = (shape[0], *(1 for _ in shape[1:]))
            spec.fill(name, shape)
        dtype = same_dtype((grad, *dense), ("grad", *dense_names))
        floating = dtype is None or dtypes.is_float(dtype)
        require(floating, f"weight: expected a floating dtype, got {weight}")
        return Spec(weight.shape, dtype)

    return infer


_GRADIENT = ("grad", "indices")


def _reference(step):
    def ref(a, xp, weight, grad, indices, *states):
        check_rows(xp, indices, len(weight))
        if getattr(a, "lazy_update", True):
            rows = indices
        else:
            rows, dense = slice(None), xp.zeros(weight.shape, grad.dtype)
            dense[indices] = grad
            grad = dense
        updated = [xp.array(array) for array in (weight, *states)]
        moved = step(
            a,
            xp,
            *(widened(xp, x) for x in (weight[rows], grad)),
            *(widened(xp, state[rows]) for state in states),
        )
        for array, new in zip(updated, moved, strict=True):
            array[rows] = new
        return updated if states else updated[0]

    return ref


def _kernels(name, struct, params):
    """Return the kernels of the lazy update and, under its own name, the standard one."""

    def named(a, ins, outs):
        return name[1:] if getattr(a, "lazy_update", True) else f"{name[1:]}_standard"

    def work(a, ins, outs):
        return 4 * (ins[1] if getattr(a, "lazy_update", True) else ins[0]).size

    def takes_over(a, ins, outs):
        return (0,)

    return (sparse_native(named, struct, params, inplace=takes_over, work=work),)


def _row_update(
    name, states, fields, step, doc, struct, params=None, positive=(), per_row=None, tries=({},)
):
    """Register an optimizer's row-wise update; parameters as in `optimizer`."""
    states = tuple(states.split())
    names = ("weight", *_GRADIENT, *states)

    def draw(shape, name):
        shape = (shape[0], *(1 for _ in shape[1:])) if name == per_row else shape
        return values(0.1 if name in positive else -1, 1, shape)

    def samples():
        for (rows, stored, *row), kinds in (
            ((9, 4, 3), ("float32", "float64", "float16", "bfloat16")),
            ((60, 50, 35), ("float32", "float64")),
            ((5, 5), ("float32",)),
            ((5, 0, 2), ("float32",)),
            ((4, 2, 3, 2), ("float32",)),
        ):
            drawn = [draw((rows, *row), state) for state in states]
            for attrs in tries:
                grad = row_sparse_sample(rows, stored, *row)
                yield sample((rows, *row), *grad, *drawn, dtypes=kinds, tol=4, **attrs)

    register(
        name,
        inputs=" ".join(names),
        fields=fields,
        mutates=states,
        infer=_infer(names, per_row),
        ref=_reference(step),
        kernels=_kernels(name, struct, params),
        doc=doc,
        dtypes=("float32", "float64"),
        samples=samples,
    )


def _lazily_or_not(**more):
    """Return the usual attributes of samples, lazy and standard."""
    return tuple(
        {**attrs, "lazy_update": lazy} for attrs in tries_with(**more) for lazy in (True, False)
    )


_row_update(
    "_row_sgd_update",
    "",
    (LR, WD, RESCALE, CLIP, LAZY),
    sgd_step,
    "Apply sgd_update with a row_sparse gradient: rows `grad` at `indices`.",
    SGD,
    tries=_lazily_or_not(),
)
_row_update(
    "_row_sgd_mom_update",
    "mom",
    (LR, MOMENTUM, WD, RESCALE, CLIP, LAZY),
    sgd_mom_step,
    "Apply sgd_mom_update with a row_sparse gradient: rows `grad` at `indices`.",
    SGD_MOM,
    tries=_lazily_or_not(momentum=0.9),
)
_row_update(
    "_row_adam_update",
    "mean var",
    (LR, *BETAS, SMALL, WD, RESCALE, CLIP, LAZY),
    adam_step,
    "Apply adam_update with a row_sparse gradient: rows `grad` at `indices`.",
    ADAM,
    positive=("var",),
    tries=_lazily_or_not(),
)
_row_update(
    "_row_ftrl_update",
    "z n",
    (LR, number("lamda1", 0.00999999978), number("beta", 1.0), WD, RESCALE, CLIP),
    ftrl_step,
    "Apply ftrl_update with a row_sparse gradient: rows `grad` at `indices`, lazily.",
    FTRL,
    positive=("n",),
    tries=tries_with(lamda1=0.3),
)
_row_update(
    "_row_adagrad_update",
    "history",
    (LR, number("epsilon", 1.00000001e-07), WD, RESCALE, CLIP),
    adagrad_step,
    """Update a weight by AdaGrad with a row_sparse gradient: rows `grad` at `indices`, lazily.

    `history` accumulates the squared gradients, and the new weight is
    ``weight - lr * (grad / sqrt(history + epsilon) + wd * weight)``.
    """,
    ADAGRAD,
    positive=("history",),
    tries=tries_with(epsilon=1e-3),
)
_row_update(
    "_row_group_adagrad_update",
    "history",
    (LR, number("epsilon", 9.99999975e-06), RESCALE, CLIP),
    group_adagrad_step,
    """Update a weight by row-wise AdaGrad: `history` accumulates mean squared gradients of rows.

    The gradient is row_sparse, rows `grad` at `indices`, and the update lazy. Shapes: weight
    (M, ...), history (M, 1, ...).
    """,
    ADAGRAD,
    lambda a, ins, outs: {"wd": 0.0},
    positive=("history",),
    per_row="history",
    tries=({"lr": 0.1}, {"lr": 0.1, "rescale_grad": 0.5, "clip_gradient": 0.2}),
)
