"""What mixed precision does with the inputs of eager calls."""

from mxcy._base.dtypes import CODES
from mxcy._library import front
from mxcy.ndarray.register import F
from mxcy.ops.core.precision import casts, mixed

__all__ = ["inputs_of"]

_ON_CPU = tuple(CODES[name] for name in ("bfloat16", "float32"))
_ON_GPU = tuple(CODES[name] for name in ("float16", "float32"))
_NAMES = {CODES[name]: name for name in ("bfloat16", "float16", "float32")}


def inputs_of(op, attrs, inputs):
    """The inputs of a call, cast where the policy in force says so.

    On CPUs float16 stays as it is, and on GPUs bfloat16.

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
    if policy is None:  # another thread has just switched it off
        return inputs, 1.0
    floats = _ON_GPU if inputs and inputs[0].context.device_type == "gpu" else _ON_CPU
    codes = [array.dtype_code for array in inputs]
    goals = casts(policy, op, attrs, codes, floats)
    if goals is not None:
        inputs = tuple(
            array if goal is None else F.amp_cast(array, dtype=_NAMES[goal])
            for array, goal in zip(inputs, goals, strict=True)
        )
    scaled = op.amp.loss and mixed.scaler is not None and not front.is_deferred()
    return inputs, float(mixed.scaler.loss_scale) if scaled else 1.0
