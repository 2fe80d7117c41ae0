"""Run an operator's reference on arrays of a front, through NumPy views of their memory.

Who calls this holds the arrays; see `held` of the fronts.
"""

import numpy as np

from mxcy.base import MXNetError

__all__ = ["run"]

_BF16 = 12


def widen(bits):
    """bfloat16 bits (uint16) as float32."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def narrow(values):
    """float32 as bfloat16 bits, rounded to nearest even; NaN stays NaN."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(values), np.uint16(0x7FC0), rounded)


def _read(array):
    view = array.held_view()
    return widen(view) if array.dtype_code == _BF16 else view


def store(target, values, add=False):
    """Write (or add) values, a NumPy array or another front array, to a front array."""
    values = values if isinstance(values, (np.ndarray, np.generic)) else _read(values)
    view = target.held_view()
    if add:
        values = _read(target) + values
    view[...] = narrow(np.asarray(values)) if target.dtype_code == _BF16 else values


def run(call, attrs, inputs, outputs):
    """Compute `call` by its reference and store the results.

    A reference returns the outputs, followed by the new values of mutated inputs, if any.
    """
    op = call.op
    views = [_read(array) for array in inputs]
    try:
        with np.errstate(all="ignore"):
            found = op.ref(attrs, np, views) if op.variadic else op.ref(attrs, np, *views)
    except (MXNetError, IndexError) as error:
        raise type(error)(f"Error in operator {op.name}: {error}") from error
    found = found if isinstance(found, (tuple, list)) else (found,)
    targets = [*outputs, *(inputs[i] for i in op.mutated(len(inputs)))]
    if len(found) != len(targets):
        raise MXNetError(
            f"Error in operator {op.name}: the reference returned {len(found)} arrays, "
            f"expected {len(targets)}"
        )
    with np.errstate(all="ignore"):
        for target, values in zip(targets, found, strict=True):
            if np.shape(values) != target.shape:
                raise MXNetError(
                    f"Error in operator {op.name}: the reference returned shape "
                    f"{np.shape(values)}, "
                    f"inference said {target.shape}"
                )
            if values is not None:
                store(target, values)


run.store = store  # type: ignore[attr-defined]  # the fronts get both as one
