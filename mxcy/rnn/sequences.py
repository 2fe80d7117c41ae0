"""Conversion of sequences between one symbol with a time axis and a list of steps."""

from mxcy import symbol
from mxcy.base import MXNetError
from mxcy.symbol import Symbol

__all__ = ["as_steps", "merged", "time_axis"]


def time_axis(layout):
    """Return the position of the time axis in a layout such as ``'NTC'``."""
    if "T" not in layout:
        raise MXNetError(f"unroll: layout must contain the time axis T, got {layout!r}")
    return layout.index("T")


def as_steps(length, inputs, layout):
    """Convert a sequence to a list of `length` steps.

    Raises
    ------
    MXNetError
        If there is no sequence, its length differs, or it is a group of symbols.
    """
    axis = time_axis(layout)
    if isinstance(inputs, Symbol):
        if len(inputs.list_outputs()) != 1:
            raise MXNetError(
                "unroll: inputs is a group of symbols; pass list(inputs), or one symbol to split"
            )
        return list(symbol.split(inputs, axis=axis, num_outputs=length, squeeze_axis=1))
    return _checked(length, inputs)


def merged(length, inputs, layout):
    """Convert a sequence to one symbol; see `as_steps`."""
    axis = time_axis(layout)
    if isinstance(inputs, Symbol):
        return inputs
    steps = [symbol.expand_dims(step, axis=axis) for step in _checked(length, inputs)]
    return symbol.Concat(*steps, dim=axis)


def _checked(length, steps):
    if steps is None:
        raise MXNetError("unroll: inputs are required; create variables for them outside of unroll")
    if length is not None and len(steps) != length:
        raise MXNetError(f"unroll: expected {length} steps, got {len(steps)}")
    return list(steps)
