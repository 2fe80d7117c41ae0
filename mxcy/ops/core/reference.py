"""Execution of an operator's reference on a front's arrays, through NumPy views.

The caller must hold the arrays; see `held` of the fronts.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mxcy._base.dtypes import BFLOAT16
from mxcy._base.errors import MXNetError

__all__ = ["compute", "run", "store"]


def widen(bits: Any, xp: Any = np) -> Any:
    """Convert bfloat16 bits (uint16) to float32, in an array module."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def narrow(values: Any, xp: Any = np) -> Any:
    """Convert float32 to bfloat16 bits, rounding to nearest even; NaN stays NaN."""
    bits = xp.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)
    return xp.where(xp.isnan(values), np.uint16(0x7FC0), rounded)


def _read(array: Any) -> np.ndarray:
    view = array.held_read_view()
    return widen(view) if array.dtype_code == BFLOAT16 else view


def store(target: Any, values: Any, add: bool = False) -> None:
    """Write or add values, a NumPy or front array, to a front array."""
    values = values if isinstance(values, (np.ndarray, np.generic)) else _read(values)
    view = target.held_view()
    if add:
        values = _read(target) + values
    view[...] = narrow(np.asarray(values)) if target.dtype_code == BFLOAT16 else values


def compute(op: Any, attrs: Any, inputs: Sequence[Any], xp: Any = np) -> Sequence[Any]:
    """Evaluate an operator's definition on arrays of a module, by default NumPy.

    Raises
    ------
    MXNetError, IndexError
        Errors of the definition, and an MXNetError for other errors.
    """
    try:
        with np.errstate(all="ignore"):
            results = op.ref(attrs, xp, inputs) if op.variadic else op.ref(attrs, xp, *inputs)
    except (MXNetError, IndexError) as error:
        raise type(error)(f"Error in operator {op.name}: {error}") from error
    except Exception as error:  # for dtypes or sizes that only kernels support
        shown = ", ".join(f"{x.dtype}{x.shape}" for x in map(xp.asarray, inputs))
        raise MXNetError(
            f"Error in operator {op.name}: its definition cannot work with inputs ({shown}) "
            f"({type(error).__name__}: {error})"
        ) from error
    return results if isinstance(results, (tuple, list)) else (results,)


def run(call: Any, attrs: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
    """Compute `call` by its reference and store the results.

    A reference returns the outputs, followed by the new values of mutated inputs.
    """
    op = call.op
    results = compute(op, attrs, [_read(array) for array in inputs])
    targets = [*outputs, *(inputs[i] for i in op.mutated(len(inputs)))]
    if len(results) != len(targets):
        raise MXNetError(
            f"Error in operator {op.name}: the reference returned {len(results)} arrays, "
            f"expected {len(targets)}"
        )
    with np.errstate(all="ignore"):
        for target, values in zip(targets, results, strict=True):
            if np.shape(values) != target.shape:
                raise MXNetError(
                    f"Error in operator {op.name}: the reference returned shape "
                    f"{np.shape(values)}, "
                    f"inference gave {target.shape}"
                )
            if values is not None:
                store(target, values)
