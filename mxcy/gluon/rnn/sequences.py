"""Conversion of sequences between one array and a list of steps, and masking by length."""

from mxcy import ndarray, symbol
from mxcy.symbol import Symbol

__all__ = ["as_array", "as_steps", "batch_size_of", "last_states", "masked", "operators_of"]


def operators_of(inputs):
    """Return `mx.nd` for arrays, `mx.sym` for symbols."""
    first = inputs[0] if isinstance(inputs, (list, tuple)) else inputs
    return symbol if isinstance(first, Symbol) else ndarray


def _axes(layout):
    assert sorted(layout) == ["C", "N", "T"], (
        f"layout: expected the letters N, T and C in some order, got {layout!r}"
    )
    return layout.index("T"), layout.index("N")


def batch_size_of(inputs, layout):
    """The batch size; 0 (to be inferred) for symbols."""
    batch = _axes(layout)[1]
    if isinstance(inputs, (list, tuple)):
        first, batch = inputs[0], batch - (_axes(layout)[0] < batch)
    else:
        first = inputs
    return 0 if isinstance(first, Symbol) else first.shape[batch]


def as_steps(inputs, length, layout):
    """Split a sequence into a list of steps, each (batch, channels) in the layout's order.

    Raises
    ------
    AssertionError
        If there are not `length` steps.
    """
    time = _axes(layout)[0]
    if isinstance(inputs, (list, tuple)):
        assert length is None or len(inputs) == length, (
            f"unroll: expected {length} steps, got a list of {len(inputs)}"
        )
        return list(inputs)
    if isinstance(inputs, Symbol):
        if len(inputs.list_outputs()) != 1:
            raise ValueError(
                "unroll doesn't allow grouped symbol as input. Please convert to list with "
                "list(inputs) first or let unroll handle splitting."
            )
    else:
        assert length is None or inputs.shape[time] == length, (
            f"unroll: expected {length} steps along axis {time} of layout {layout}, got shape "
            f"{inputs.shape}"
        )
    F = operators_of(inputs)
    count = length if length is not None else inputs.shape[time]
    steps = F.split(inputs, axis=time, num_outputs=count, squeeze_axis=1)
    return [steps] if count == 1 else list(steps)


def as_array(steps, layout):
    """Stack the steps of a sequence into one array."""
    if not isinstance(steps, (list, tuple)):
        return steps
    return operators_of(steps).stack(*steps, axis=_axes(layout)[0])


def masked(sequence, valid_length, layout):
    """Set a sequence, given as one array, to zero beyond the valid lengths."""
    F, time = operators_of(sequence), _axes(layout)[0]
    return F.SequenceMask(
        as_array(sequence, layout),
        sequence_length=valid_length,
        use_sequence_length=True,
        axis=time,
    )


def last_states(states, valid_length):
    """Select the states at each sequence's last step from a list of the states at every step."""
    F = operators_of(states[0]) if states[0] else None
    return [
        F.SequenceLast(
            F.stack(*each, axis=0), sequence_length=valid_length, use_sequence_length=True, axis=0
        )
        for each in zip(*states, strict=True)
    ]
