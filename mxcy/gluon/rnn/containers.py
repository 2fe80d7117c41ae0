"""Recurrent cells composed of other cells."""

from mxcy import ndarray
from mxcy.gluon.rnn import sequences
from mxcy.gluon.rnn.cell import HybridRecurrentCell, RecurrentCell, StepCell, cells_info, finished

__all__ = ["BidirectionalCell", "HybridSequentialRNNCell", "SequentialRNNCell"]


class _Stack:
    """Mixin of `SequentialRNNCell` and `HybridSequentialRNNCell`."""

    def add(self, cell):
        """Append a cell.

        Parameters
        ----------
        cell : RecurrentCell
        """
        self.register_child(cell)

    @property
    def _cells(self):
        return list(self._children.values())

    def __call__(self, *args):
        """Compute one step; see `RecurrentCell.forward`."""
        return super().__call__(*args)

    def infer_shape(self, _, x, is_bidirect):
        """Set the shapes of all cells; see `HybridRecurrentCell.infer_shape`."""
        for number, cell in enumerate(self._cells):
            cell.infer_shape(number, x, is_bidirect)

    def state_info(self, batch_size=0):
        return cells_info(self._cells, batch_size)

    def begin_state(self, batch_size=0, func=ndarray.zeros, **kwargs):
        if self._modified:
            return super().begin_state(batch_size, func, **kwargs)  # which raises
        return [
            state for cell in self._cells for state in cell.begin_state(batch_size, func, **kwargs)
        ]

    def _shares(self, states):
        """Pair each cell with its part of a list of states."""
        at = 0
        for cell in self._cells:
            count = len(cell.state_info())
            yield cell, states[at : at + count]
            at += count

    def _step(self, inputs, states):
        after = []
        for cell, share in self._shares(states):
            if isinstance(cell, BidirectionalCell):
                raise TypeError("a BidirectionalCell needs whole sequences: use unroll")
            inputs, new = cell(inputs, share)
            after.extend(new)
        return inputs, after

    def unroll(
        self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None, valid_length=None
    ):
        self.reset()
        states = self._first_states(inputs, begin_state, layout)
        after, last = [], len(self._cells) - 1
        for number, (cell, share) in enumerate(self._shares(states)):
            inputs, new = cell.unroll(
                length,
                inputs,
                begin_state=share,
                layout=layout,
                merge_outputs=merge_outputs if number == last else None,
                valid_length=valid_length,
            )
            after.extend(new)
        return inputs, after

    def __getitem__(self, i):
        return self._cells[i]

    def __len__(self):
        return len(self._children)

    def _listed_children(self):
        return self._children.items()


class SequentialRNNCell(_Stack, RecurrentCell):
    """A stack of cells.

    Parameters
    ----------
    prefix, params
        See `Block`.
    """

    def __init__(self, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)

    def forward(self, inputs, states):
        return self._step(inputs, states)


class HybridSequentialRNNCell(_Stack, StepCell):
    """A stack of hybrid cells.

    Parameters
    ----------
    prefix, params
        See `Block`.
    """

    def __init__(self, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)

    def hybrid_forward(self, F, inputs, states):
        return self._step(inputs, states)


class BidirectionalCell(HybridRecurrentCell):
    """Two cells, one per direction, whose outputs are concatenated.

    Parameters
    ----------
    l_cell, r_cell : RecurrentCell
        Cells of the forward and the backward direction.
    output_prefix : str
        Prefix of the names of concatenated outputs.
    """

    def __init__(self, l_cell, r_cell, output_prefix="bi_"):
        super().__init__(prefix="", params=None)
        self.register_child(l_cell, "l_cell")
        self.register_child(r_cell, "r_cell")
        self._output_prefix = output_prefix

    def infer_shape(self, i, x, is_bidirect):
        """Set the shapes of both cells; see `HybridRecurrentCell.infer_shape`."""
        for cell in self._children.values():
            cell.infer_shape(i, x, True)

    def __call__(self, inputs, states):
        raise NotImplementedError("Bidirectional cannot be stepped. Please use unroll")

    def state_info(self, batch_size=0):
        return cells_info(self._children.values(), batch_size)

    def begin_state(self, batch_size=0, func=ndarray.zeros, **kwargs):
        if self._modified:
            return super().begin_state(batch_size, func, **kwargs)  # which raises
        return [
            state
            for cell in self._children.values()
            for state in cell.begin_state(batch_size, func, **kwargs)
        ]

    def unroll(
        self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None, valid_length=None
    ):
        self.reset()
        steps = sequences.as_steps(inputs, length, layout)
        states = self._first_states(inputs, begin_state, layout)
        there, back = self._children.values()
        count = len(there.state_info())
        outputs, states_there = there.unroll(
            length, steps, states[:count], layout, merge_outputs=False, valid_length=valid_length
        )
        reversed_outputs, states_back = back.unroll(
            length,
            _reversed(steps, valid_length),
            states[count:],
            layout,
            merge_outputs=False,
            valid_length=valid_length,
        )
        reversed_outputs = _reversed(reversed_outputs, valid_length)
        merge = merge_outputs or (merge_outputs is None and valid_length is not None)
        joined = self._joined(outputs, reversed_outputs, layout if merge else None)
        if valid_length is not None:
            joined = sequences.masked(joined, valid_length, layout)
        return finished(joined, length, layout, merge_outputs), [*states_there, *states_back]

    def _joined(self, outputs, reversed_outputs, layout):
        """Concatenate both directions' outputs: as one array in a layout, or as steps."""
        F = sequences.operators_of(outputs)
        if layout is not None:
            both = [sequences.as_array(steps, layout) for steps in (outputs, reversed_outputs)]
            return F.concat(*both, dim=2, name=f"{self._output_prefix}out")
        return [
            F.concat(*both, dim=1, name=f"{self._output_prefix}t{number}")
            for number, both in enumerate(zip(outputs, reversed_outputs, strict=True))
        ]

    def __repr__(self):
        there, back = self._children.values()
        return f"{type(self).__name__}(forward={there!r}, backward={back!r})"


def _reversed(steps, valid_length):
    """The steps from the last valid one to the first."""
    if valid_length is None:
        return steps[::-1]
    F = sequences.operators_of(steps)
    reversed_steps = F.SequenceReverse(
        F.stack(*steps, axis=0), sequence_length=valid_length, use_sequence_length=True
    )
    return sequences.as_steps(reversed_steps, len(steps), "TNC")
