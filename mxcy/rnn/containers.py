"""Stacked and bidirectional cells."""

from mxcy import symbol
from mxcy.base import MXNetError
from mxcy.rnn.cell import BaseRNNCell
from mxcy.rnn.sequences import as_steps, time_axis
from mxcy.symbol import Symbol

__all__ = ["BidirectionalCell", "SequentialRNNCell"]


class _Cells(BaseRNNCell):
    """Base class of cells composed of others."""

    def __init__(self, params):
        super().__init__(prefix="", params=params)
        self._override_cell_params = params is not None
        self._cells = []

    def _enter(self, cell):
        if self._override_cell_params:
            if not cell._own_params:
                raise MXNetError(
                    f"{type(self).__name__}: pass params to it or to its cells, not to both"
                )
            cell.params._params.update(self.params._params)
        self.params._params.update(cell.params._params)
        self._cells.append(cell)

    @property
    def state_info(self):
        return [info for cell in self._cells for info in cell.state_info]

    def begin_state(self, **kwargs):
        self._refuse_modified()
        return [state for cell in self._cells for state in cell.begin_state(**kwargs)]

    def unpack_weights(self, args):
        for cell in self._cells:
            args = cell.unpack_weights(args)
        return args

    def pack_weights(self, args):
        for cell in self._cells:
            args = cell.pack_weights(args)
        return args

    def _divided(self, states):
        """Pair each cell with its states."""
        begin = 0
        for cell in self._cells:
            count = len(cell.state_info)
            yield cell, states[begin : begin + count]
            begin += count


class SequentialRNNCell(_Cells):
    """A stack of cells, each taking the previous one's output as input.

    Parameters
    ----------
    params : RNNParams, optional
        Variables of all cells.
    """

    def __init__(self, params=None):
        super().__init__(params)

    def add(self, cell):
        """Append a cell.

        Parameters
        ----------
        cell : BaseRNNCell
        """
        self._enter(cell)

    @property
    def _has_steps(self):
        return all(cell._has_steps for cell in self._cells)

    def __call__(self, inputs, states):
        self._counter += 1
        next_states = []
        for cell, own in self._divided(states):
            inputs, own = cell(inputs, own)
            next_states += own
        return inputs, next_states

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None):
        self.reset()
        begin_state = self.begin_state() if begin_state is None else begin_state
        next_states = []
        for number, (cell, own) in enumerate(self._divided(begin_state), 1):
            merge = merge_outputs if number == len(self._cells) else None
            inputs, own = cell.unroll(
                length, inputs=inputs, begin_state=own, layout=layout, merge_outputs=merge
            )
            next_states.extend(own)
        return inputs, next_states


class BidirectionalCell(_Cells):
    """Two cells, one of them processing the sequence backwards, with concatenated outputs.

    Parameters
    ----------
    l_cell, r_cell : BaseRNNCell
        Forward and backward cell.
    params : RNNParams, optional
        Variables of both.
    output_prefix : str
        Prefix of the names of concatenated outputs.
    """

    _has_steps = False

    def __init__(self, l_cell, r_cell, params=None, output_prefix="bi_"):
        super().__init__(params)
        self._output_prefix = output_prefix
        self._enter(l_cell)
        self._enter(r_cell)

    def __call__(self, inputs, states):
        raise NotImplementedError("Bidirectional cannot be stepped. Please use unroll")

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None):
        """Add all steps of a sequence to the graph; see `BaseRNNCell.unroll`.

        Returns
        -------
        outputs : Symbol or list of Symbol
        states : list of list of Symbol
            States of each direction.
        """
        self.reset()
        axis = time_axis(layout)
        steps = as_steps(length, inputs, layout)
        begin_state = self.begin_state() if begin_state is None else begin_state
        outputs, states = [], []
        for (cell, own), sequence in zip(
            self._divided(begin_state), (steps, steps[::-1]), strict=True
        ):
            output, after = cell.unroll(
                length, inputs=sequence, begin_state=own, layout=layout, merge_outputs=merge_outputs
            )
            outputs.append(output)
            states.append(after)
        if merge_outputs is None:
            merge_outputs = all(isinstance(output, Symbol) for output in outputs)
        name = self._output_prefix
        left, right = outputs
        if merge_outputs:
            right = symbol.reverse(right, axis=axis)
            return symbol.Concat(left, right, dim=2, name=f"{name}out"), states
        left = as_steps(length, left, layout)
        right = as_steps(length, right, layout)[::-1]
        joined = [
            symbol.Concat(*pair, dim=1, name=f"{name}t{step}")
            for step, pair in enumerate(zip(left, right, strict=True))
        ]
        return joined, states
