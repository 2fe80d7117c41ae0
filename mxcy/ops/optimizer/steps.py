"""Training steps of any number of weights in one call.

Inputs are grouped by weight, as in `multi`; the last input holds their rates, float64 rows of
learning rates, weight decays, and for AdamW etas.
"""

from mxcy._base import dtypes
from mxcy.ops.core.params import STEP_ALL
from mxcy.ops.core.record import native
from mxcy.ops.optimizer.definitions import BETAS, CLIP, MOMENTUM, RESCALE
from mxcy.ops.optimizer.multi import multi
from mxcy.ops.optimizer.updates import (
    SMALL,
    adam_step,
    adamw_step,
    nag_step,
    sgd_mom_step,
    sgd_step,
)

_DOUBLE = dtypes.CODES["float64"]


def _kernel(name, fields):
    """Return the kernel of a step with some attributes, for `multi`."""

    def when(a, ins, outs):
        if ins[-1].dtype != _DOUBLE:
            return "the rates are not float64"
        return None if len({out.dtype for out in outs}) == 1 else "weights of different dtypes"

    others = {"momentum", "beta1", "beta2", "epsilon"}.difference(f.name for f in fields)

    def params(a, ins, outs, per):
        return {"weights": len(outs), "per": per, **dict.fromkeys(others, 0)}

    return lambda mixed, per: native(
        f"_{'mp_' if mixed else ''}{name}_all",
        struct=STEP_ALL,
        params=lambda a, ins, outs: params(a, ins, outs, per),
        when=when,
        work=lambda a, ins, outs: sum(out.size for out in outs),
        mixed=True,
        turns=per,
    )


def _with_rates(step, names, rescales):
    """Return a single weight's step with rates from the rows at the end."""

    def run(a, xp, i, *arrays):
        *arrays, rates = arrays
        rates = rates.reshape(len(names), -1)
        a = a.with_values(names, tuple(float(row[i]) for row in rates))
        more = (xp.full((1,), a.rescale_grad, "float32"),) if rescales else ()
        return step(a, xp, *arrays, *more)

    return run


_TWO, _THREE = ("lr", "wd"), ("lr", "wd", "eta")

for _name, _states, _fields, _step, _rates in (
    ("sgd", "", (), sgd_step, _TWO),
    ("sgd_mom", "mom", (MOMENTUM,), sgd_mom_step, _TWO),
    ("nag_mom", "mom", (MOMENTUM,), nag_step, _TWO),
    ("adam", "mean var", (*BETAS, SMALL), adam_step, _TWO),
    ("adamw", "mean var", (*BETAS, SMALL), adamw_step, _THREE),
):
    multi(
        f"_{{}}{_name}_all",
        _states,
        (*_fields, RESCALE, CLIP),
        _with_rates(_step, _rates, _step is adamw_step),
        f"Update all weights in one step of {_name}.",
        extra=("rates" if _rates is _TWO else "three_rates",),
        tries=(
            {"rescale_grad": 2.0, "clip_gradient": 0.4},
            {"rescale_grad": 0.5, **({"momentum": 0.9} if MOMENTUM in _fields else {})},
        ),
        kernel=_kernel(_name, _fields),
    )
