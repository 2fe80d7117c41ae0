"""Optimizer updates of several weights in one call.

Inputs are grouped by weight: weight, gradient and states of the first, then of the second, ... The
outputs are the new weights.
"""

import numpy as np

from mxcy.ops.core.attrs import Bool, DynamicTuple, Field, FloatTuple, Int, Shape
from mxcy.ops.core.infer import numbered, require
from mxcy.ops.core.params import MULTI_ADAMW, MULTI_LAMB, MULTI_SGD
from mxcy.ops.core.record import native, register, sample, values
from mxcy.ops.optimizer.definitions import (
    BETAS,
    CLIP,
    MOMENTUM,
    RESCALE,
    infer_update,
    number,
    require_size,
    widened,
)
from mxcy.ops.optimizer.layerwise import adam_direction, bounded, lamb_direction
from mxcy.ops.optimizer.updates import adabelief_step, adamw_step, sgd_mom_step, sgd_step

__all__ = ["multi"]

#: elements per weight of inputs at the end; others have a single element
_PER_WEIGHT = {"lrs": 1, "wds": 1, "rates": 2, "three_rates": 3}


def multi(
    name,
    states,
    fields,
    step,
    doc,
    tuples=(),
    count="num_weights",
    extra=(),
    tries=({},),
    kernel=None,
):
    """Register a multi-weight update and its multi-precision form.

    Parameters
    ----------
    name : str
        Operator name with one ``{}``, which becomes ``mp_`` in the multi-precision form.
    states : str
        Names of the states per weight.
    fields : tuple of Field
        Attributes except for the number of weights.
    step : callable
        ``step(a, xp, i, weight, grad, *states, *extra)`` returns the new weight `i` and states.
    doc : str
    tuples : tuple of str
        Attributes with one value per weight.
    count : str
        Attribute with the number of weights.
    extra : tuple of str
        Names of inputs at the end shared by all weights.
    tries : tuple of dict
        Attributes of the samples, for two weights.
    kernel : callable, optional
        ``kernel(mixed, per)`` returns the native kernel for `per` inputs per weight.
    """
    fields = (*fields, Field(count, Int, 1))
    for mixed in (False, True):
        kept = (*states.split(), *(("weight32",) if mixed else ()))
        _register_one(
            name.format("mp_" if mixed else ""),
            kept,
            mixed,
            fields,
            step,
            doc,
            tuples,
            count,
            extra,
            tries,
            kernel,
        )


def _register_one(name, states, mixed, fields, step, doc, tuples, count, extra, tries, kernel):
    names = ("weight", "grad", *states)
    per, rule = len(names), infer_update(names, 2 if mixed else 2 + len(states), 0)

    def turns(arrays):
        """Group the inputs by weight."""
        n = (len(arrays) - len(extra)) // per
        return [arrays[i * per : (i + 1) * per] for i in range(n)]

    def infer(a, ins):
        n = getattr(a, count)
        expected = n * per + len(extra)
        require(n > 0, f"{count}: must be positive, got {n}")
        require(
            len(ins) == expected,
            f"data: expected {expected} arrays for {n} weights, got {len(ins)}",
        )
        for attribute in tuples:
            actual = len(getattr(a, attribute))
            require(actual == n, f"{attribute}: expected {n} values, got {actual}")
        for input_name, spec in zip(extra, ins[n * per :], strict=True):
            require_size(spec, input_name, n * _PER_WEIGHT.get(input_name, 0) or 1)
        return [rule(a, *specs) for specs in turns(ins)]

    def ref(a, xp, arrays):
        outs, moved = [], []
        shared = arrays[len(arrays) - len(extra) :]
        for i, (weight, grad, *kept) in enumerate(turns(arrays)):
            if mixed:
                weight = kept.pop()
            new, *after = step(a, xp, i, widened(xp, weight), widened(xp, grad), *kept, *shared)
            outs.append(new)
            moved += [*after, new] if mixed else after
        return [*outs, *moved]

    def written(n):
        return [i for i in range(n - len(extra)) if i % per >= 2]

    ending = f"; at the end come {' and '.join(extra)}." if extra else "."
    arrays = _sample_arrays(len(states), "float32" if mixed else None, extra)
    register(
        name,
        variadic="data",
        inputs="",
        fields=fields,
        mutates=written,
        infer=infer,
        ref=ref,
        kernels=() if kernel is None else (kernel(mixed, per),),
        outputs=lambda a: numbered(getattr(a, count), count, "weight"),
        dtypes=("float16", "bfloat16") if mixed else ("float32", "float64", "float16"),
        doc=f"{doc}\n\nThe inputs of each weight are {', '.join(names)}{ending}",
        samples=tuple(sample(*arrays, tol=8, **{count: 2}, **attrs) for attrs in tries),
    )


def _sample_arrays(states, state_dtype, extra):
    """Return inputs for two weights, with states of dtype `state_dtype`."""

    def of_weight(shape):
        drawn = [values(-1, 1, shape), values(-1, 1, shape)]
        return drawn + [values(0.1, 1, shape, state_dtype) for _ in range(states)]

    def shared(name):
        if name.endswith("rates"):
            return np.linspace(0.1, 0.5, 2 * _PER_WEIGHT[name])
        return values(0.1, 0.5, (2 * _PER_WEIGHT.get(name, 0) or 1,), "float32")

    return [*of_weight((3, 4)), *of_weight((5,)), *map(shared, extra)]


def _with_rates(step):
    """Return a single weight's step with learning rate and weight decay from `lrs` and `wds`."""

    def run(a, xp, i, *arrays):
        return step(a.with_values(("lr", "wd"), (a.lrs[i], a.wds[i])), xp, *arrays)

    return run


def _with_preloaded_rates(step):
    """Return a single weight's step with rates from the arrays at the end."""

    def run(a, xp, i, *arrays):
        *arrays, lrs, wds = arrays
        return step(a.with_values(("lr", "wd"), (float(lrs[i]), float(wds[i]))), xp, *arrays)

    return run


def _kernel(momentum, preloaded):
    """Return the kernel of multi-weight SGD, for `multi`."""

    def params(a, ins, outs, per):
        rates = {"lrs": (), "wds": ()} if preloaded else {}
        fixed = {"weights": len(outs), "per": per, "preloaded": preloaded, **rates}
        return fixed if momentum else {**fixed, "momentum": 0}

    def when(a, ins, outs):
        if preloaded and {ins[-1].dtype, ins[-2].dtype} != {0}:
            return "the rates are not float32"
        return None if len({out.dtype for out in outs}) == 1 else "weights of different dtypes"

    return lambda mixed, per: native(
        f"multi_{'mp_' if mixed else ''}sgd_{momentum}update",
        struct=MULTI_SGD,
        params=lambda a, ins, outs: params(a, ins, outs, per),
        when=when,
        work=lambda a, ins, outs: sum(out.size for out in outs),
        mixed=True,
        turns=per,
    )


_RATES = (Field("lrs", DynamicTuple(FloatTuple)), Field("wds", DynamicTuple(FloatTuple)))
_TRIES = ({"lrs": (0.1, 0.2), "wds": (0.3, 0.4), "rescale_grad": 2.0, "clip_gradient": 0.4},)
_PRELOADED_TRIES = ({"rescale_grad": 2.0, "clip_gradient": 0.4},)

for _momentum, _states, _step in (("", "", sgd_step), ("mom_", "mom", sgd_mom_step)):
    _fields = (MOMENTUM, RESCALE, CLIP) if _momentum else (RESCALE, CLIP)
    _more = {"momentum": 0.9} if _momentum else {}
    multi(
        f"multi_{{}}sgd_{_momentum}update",
        _states,
        (*_RATES, *_fields),
        _with_rates(_step),
        f"Update several weights as sgd_{_momentum}update, each with its own lr and wd.",
        tuples=("lrs", "wds"),
        tries=tuple({**attrs, **_more} for attrs in _TRIES),
        kernel=_kernel(_momentum, False),
    )
    multi(
        f"preloaded_multi_{{}}sgd_{_momentum}update",
        _states,
        _fields,
        _with_preloaded_rates(_step),
        f"Update several weights as sgd_{_momentum}update, with lrs and wds in arrays.",
        extra=("lrs", "wds"),
        tries=tuple({**attrs, **_more} for attrs in _PRELOADED_TRIES),
        kernel=_kernel(_momentum, True),
    )


def _scaled_kernel(name):
    """Return the kernel of multi-weight AdamW or AdaBelief, for `multi`."""

    def when(a, ins, outs):
        if ins[-1].dtype != 0:
            return "the scale of the gradient is not float32"
        return None if len({out.dtype for out in outs}) == 1 else "weights of different dtypes"

    return lambda mixed, per: native(
        f"_multi_{'mp_' if mixed else ''}{name}_update",
        struct=MULTI_ADAMW,
        params=lambda a, ins, outs: {"weights": len(outs), "per": per},
        when=when,
        work=lambda a, ins, outs: sum(out.size for out in outs),
        mixed=True,
        turns=per,
    )


def _with_etas(step):
    def run(a, xp, i, *arrays):
        rates = (a.lrs[i], a.wds[i], a.etas[i])
        return step(a.with_values(("lr", "wd", "eta"), rates), xp, *arrays)

    return run


for _name, _step in (("adamw", adamw_step), ("adabelief", adabelief_step)):
    multi(
        f"_multi_{{}}{_name}_update",
        "mean var",
        (
            Field("lrs", DynamicTuple(FloatTuple)),
            *BETAS,
            number("epsilon", 9.99999994e-09),
            Field("wds", DynamicTuple(FloatTuple)),
            Field("etas", DynamicTuple(FloatTuple)),
            CLIP,
        ),
        _with_etas(_step),
        f"Update several weights as _{_name}_update, each with its own lr, wd and eta.",
        tuples=("lrs", "wds", "etas"),
        extra=("rescale_grad",),
        tries=({"lrs": (0.1, 0.2), "wds": (0.3, 0.4), "etas": (0.7, 0.6), "clip_gradient": 0.4},),
        kernel=_scaled_kernel(_name),
    )


def _norm(xp, x):
    return xp.sqrt((x.astype("float64") ** 2).sum())


def _trusted(a, xp, weight, direction):
    """Scale a direction by the trust ratio: the bounded weight norm over its own norm."""
    norm, length = bounded(a, xp, _norm(xp, weight)), _norm(xp, direction)
    if norm == 0 or length == 0:
        return direction
    return direction * (norm / length).astype(direction.dtype)


def _lamb(a, xp, i, weight, grad, mean, var):
    direction, mean, var = lamb_direction(a, xp, weight, grad, mean, var, a.step_count[i], a.wds[i])
    return weight - a.learning_rates[i] * _trusted(a, xp, weight, direction), mean, var


def _lans(a, xp, i, weight, grad, mean, var):
    length = _norm(xp, grad)
    grad = grad / (length if length > 0 else 1).astype(grad.dtype)
    if a.clip_gradient >= 0:
        grad = xp.clip(grad, -a.clip_gradient, a.clip_gradient)
    mean, var, top, bottom = adam_direction(a, xp, grad, mean, var, a.step_count[i])
    decay = a.wds[i] * weight
    along_mean = _trusted(a, xp, weight, top / bottom + decay)
    along_grad = _trusted(a, xp, weight, grad / bottom + decay)
    step = a.beta1 * along_mean + (1 - a.beta1) * along_grad
    return weight - a.learning_rates[i] * step, mean, var


def _layer_kernel(name):
    """Return the kernel of multi-weight LAMB or LANS, for `multi`."""

    def params(a, ins, outs, per):
        corrects = getattr(a, "bias_correction", True)
        return {"weights": len(outs), "per": per, "bias_correction": corrects}

    def when(a, ins, outs):
        return None if len({out.dtype for out in outs}) == 1 else "weights of different dtypes"

    return lambda mixed, per: native(
        f"_multi_{'mp_' if mixed else ''}{name}_update",
        struct=MULTI_LAMB,
        params=lambda a, ins, outs: params(a, ins, outs, per),
        when=when,
        work=lambda a, ins, outs: 4 * sum(out.size for out in outs),
        mixed=True,
        turns=per,
    )


_NORM_TRY = {"learning_rates": (0.1, 0.2), "wds": (0.3, 0.4), "epsilon": 1e-3}

for _name, _step, _correction, _doc in (
    (
        "lamb",
        _lamb,
        (Field("bias_correction", Bool, True),),
        "Update several weights by LAMB: Adam's direction scaled to the norm of each weight.",
    ),
    (
        "lans",
        _lans,
        (),
        "Update several weights by LANS: LAMB with normalised gradients and Nesterov's momentum.",
    ),
):
    multi(
        f"_multi_{{}}{_name}_update",
        "mean var",
        (
            Field("learning_rates", DynamicTuple(FloatTuple)),
            *BETAS,
            number("epsilon", 9.99999997e-07),
            Field("wds", DynamicTuple(FloatTuple)),
            RESCALE,
            number("lower_bound", -1.0),
            number("upper_bound", -1.0),
            CLIP,
            *_correction,
            Field("step_count", DynamicTuple(Shape)),
        ),
        _step,
        f"{_doc}\n\nWeight norms are clipped to the bounds that are non-negative;\n"
        "`step_count` counts the updates of each weight from 1.",
        tuples=("learning_rates", "wds", "step_count"),
        count="num_tensors",
        kernel=_layer_kernel(_name),
        tries=(
            {**_NORM_TRY, "step_count": (1, 3)},
            {
                **_NORM_TRY,
                "step_count": (2, 3),
                "lower_bound": 0.5,
                "upper_bound": 1.0,
                "rescale_grad": 2.0,
                "clip_gradient": 0.4,
            },
        ),
    )
