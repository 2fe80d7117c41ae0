"""Automatic mixed precision of eager calls."""

import contextlib
import threading

from mxcy._base.dtypes import CODES
from mxcy._library import front
from mxcy.ndarray.register import F
from mxcy.ops.core.precision import casts, mixed
from mxcy.ops.core.record import REGISTRY

__all__ = ["exempt", "forget_calls", "inputs_of"]

_ON_CPU = tuple(CODES[name] for name in ("bfloat16", "float32"))
_ON_GPU = tuple(CODES[name] for name in ("float16", "float32"))
_NAMES = {CODES[name]: name for name in ("bfloat16", "float16", "float32")}


class _Here(threading.local):
    exempt = False  # whether this thread's calls stay in float32


_here = _Here()


def forget_calls():
    """Discard the prepared eager calls."""
    for op in {id(op): op for _, op in list(REGISTRY.all_known())}.values():
        for handle in list(op.handles.values()):
            handle.forget()


@contextlib.contextmanager
def exempt():
    """A scope exempt from mixed precision: calls run in float32."""
    if not mixed.has_exemptions:
        mixed.has_exemptions = True
        if mixed.policy is not None:
            forget_calls()
    before, _here.exempt = _here.exempt, True
    try:
        yield
    finally:
        _here.exempt = before


def inputs_of(op, attrs, inputs):
    """Cast the inputs of a call according to the current policy.

    On CPUs float16 is not cast, on GPUs bfloat16.

    Parameters
    ----------
    op : Op
    attrs : Attrs
    inputs : tuple of NDArray

    Returns
    -------
    (tuple of NDArray, float)
        The inputs, and the factor of attribute `grad_scale`.
    """
    policy = mixed.policy
    if policy is None:  # just switched off by another thread
        return inputs, 1.0
    floats = _ON_GPU if inputs and inputs[0].context.device_type == "gpu" else _ON_CPU
    codes = [array.dtype_code for array in inputs]
    goals = casts(policy, op, attrs, codes, floats, _here.exempt)
    if goals is not None:
        inputs = tuple(
            array if goal is None else F.amp_cast(array, dtype=_NAMES[goal])
            for array, goal in zip(inputs, goals, strict=True)
        )
    scaled = op.amp.loss and mixed.scaler is not None and not front.is_deferred()
    return inputs, float(mixed.scaler.loss_scale) if scaled else 1.0
