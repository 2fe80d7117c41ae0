"""Unrolling of cells with `foreach`, so that graphs are independent of the sequence length."""

from mxcy.gluon.rnn import sequences

__all__ = ["dynamic_unroll"]


def dynamic_unroll(
    cell, inputs, begin_state, drop_inputs=0, drop_outputs=0, layout="TNC", valid_length=None
):
    """Unroll a cell by `foreach`, so that one graph works for any sequence length.

    Parameters
    ----------
    cell : RecurrentCell
        The cell.
    inputs : NDArray or Symbol
        The sequences, in `layout`.
    begin_state : list of NDArray or Symbol
        Initial states.
    drop_inputs, drop_outputs : float
        Dropout rates, with the same mask at all steps.
    layout : {'TNC', 'NTC'}
        Layout of inputs and outputs.
    valid_length : NDArray or Symbol, optional
        Sequence lengths, shape (batch,): outputs beyond them are zero, and the states are those
        of the last valid step.

    Returns
    -------
    outputs : NDArray or Symbol
        In `layout`.
    states : list of NDArray or Symbol
        States after the last step.
    """
    F, time_first = sequences.operators_of(inputs), layout.index("T") == 0
    if not time_first:
        inputs = F.swapaxes(inputs, dim1=0, dim2=1)
    if drop_inputs:
        inputs = F.Dropout(inputs, p=drop_inputs, axes=(0,))
    states = list(begin_state) if isinstance(begin_state, (list, tuple)) else [begin_state]

    def step(element, states):
        return cell(element, states)

    def counted_step(element, states):
        *before, number = states
        output, after = cell(element, before)
        goes_on = F.broadcast_greater(valid_length, number)
        after = [F.where(goes_on, new, old) for new, old in zip(after, before, strict=True)]
        return output, [*after, number + 1]

    if valid_length is None:
        outputs, states = F.contrib.foreach(step, inputs, states)
    else:
        start = F.zeros(shape=(1,))
        outputs, states = F.contrib.foreach(counted_step, inputs, [*states, start])
        states = states[:-1]
    if drop_outputs:
        outputs = F.Dropout(outputs, p=drop_outputs, axes=(0,))
    if valid_length is not None:
        outputs = F.SequenceMask(
            outputs, sequence_length=valid_length, use_sequence_length=True, axis=0
        )
    if not time_first:
        outputs = F.swapaxes(outputs, dim1=0, dim2=1)
    return outputs, states
