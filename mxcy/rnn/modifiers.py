"""Cells that change what another cell takes or gives."""

from mxcy import symbol
from mxcy.base import MXNetError, numeric_types
from mxcy.rnn.cell import BaseRNNCell
from mxcy.rnn.sequences import as_steps, merged
from mxcy.symbol import Symbol

__all__ = ["DropoutCell", "ModifierCell", "ResidualCell", "ZoneoutCell"]


class DropoutCell(BaseRNNCell):
    """Drops part of its input while training.

    Parameters
    ----------
    dropout : float
        Which part.
    prefix : str
        Kept for the interface; there are no names.
    params : RNNParams, optional
        Kept for the interface.
    """

    def __init__(self, dropout, prefix="dropout_", params=None):
        super().__init__(prefix, params)
        if not isinstance(dropout, numeric_types):
            raise MXNetError(f"DropoutCell: dropout must be a number, got {dropout!r}")
        self.dropout = dropout

    @property
    def state_info(self):
        return []

    def __call__(self, inputs, states):
        if self.dropout > 0:
            inputs = symbol.Dropout(inputs, p=self.dropout)
        return inputs, states

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None):
        self.reset()
        if merge_outputs is not None:
            inputs = (merged if merge_outputs else as_steps)(length, inputs, layout)
        if isinstance(inputs, Symbol):
            return self(inputs, [])
        return super().unroll(length, inputs, begin_state, layout, merge_outputs)


class ModifierCell(BaseRNNCell):
    """Base of cells that change another cell, which must not be called itself any more.

    Parameters
    ----------
    base_cell : BaseRNNCell
        The cell to change.
    """

    def __init__(self, base_cell):
        super().__init__()
        base_cell._modified = True
        self.base_cell = base_cell

    @property
    def params(self):
        self._own_params = False
        return self.base_cell.params

    @property
    def state_info(self):
        return self.base_cell.state_info

    def begin_state(self, init_sym=symbol.zeros, **kwargs):
        """Make states for the first step; see `BaseRNNCell.begin_state`."""
        self._refuse_modified()
        self.base_cell._modified = False
        try:
            return self.base_cell.begin_state(**{"func": init_sym, **kwargs})
        finally:
            self.base_cell._modified = True

    def unpack_weights(self, args):
        return self.base_cell.unpack_weights(args)

    def pack_weights(self, args):
        return self.base_cell.pack_weights(args)


class ZoneoutCell(ModifierCell):
    """Keeps some outputs and states as they were in the step before, at random, while training.

    Parameters
    ----------
    base_cell : BaseRNNCell
        A cell that can be stepped.
    zoneout_outputs, zoneout_states : float
        Which part of outputs and of states is kept.

    Raises
    ------
    MXNetError
        When the cell cannot be stepped.
    """

    def __init__(self, base_cell, zoneout_outputs=0.0, zoneout_states=0.0):
        if not base_cell._has_steps:
            raise MXNetError(
                f"ZoneoutCell: {type(base_cell).__name__} has no steps; unfuse a FusedRNNCell, and "
                "put ZoneoutCells around the cells in a BidirectionalCell"
            )
        super().__init__(base_cell)
        self.zoneout_outputs = zoneout_outputs
        self.zoneout_states = zoneout_states
        self.prev_output = None

    def reset(self):
        super().reset()
        self.prev_output = None

    def __call__(self, inputs, states):
        output, next_states = self.base_cell(inputs, states)
        before = symbol.zeros((0, 0)) if self.prev_output is None else self.prev_output
        if self.zoneout_outputs:
            output = _kept(self.zoneout_outputs, output, before)
        if self.zoneout_states:
            next_states = [
                _kept(self.zoneout_states, new, old)
                for new, old in zip(next_states, states, strict=True)
            ]
        self.prev_output = output
        return output, next_states


def _kept(part, new, old):
    """`new`, but with some part of it `old`."""
    mask = symbol.Dropout(symbol.ones_like(new), p=part)
    return symbol.where(mask, new, old)


class ResidualCell(ModifierCell):
    """Adds the input to the output of a cell.

    Parameters
    ----------
    base_cell : BaseRNNCell
        A cell whose output is as wide as its input.
    """

    def __init__(self, base_cell):
        super().__init__(base_cell)

    def __call__(self, inputs, states):
        output, states = self.base_cell(inputs, states)
        return _sum(output, inputs), states

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None):
        self.reset()
        self.base_cell._modified = False
        try:
            outputs, states = self.base_cell.unroll(
                length, inputs, begin_state=begin_state, layout=layout, merge_outputs=merge_outputs
            )
        finally:
            self.base_cell._modified = True
        if isinstance(outputs, Symbol):
            return _sum(outputs, merged(length, inputs, layout)), states
        steps = as_steps(length, inputs, layout)
        return [_sum(*pair) for pair in zip(outputs, steps, strict=True)], states


def _sum(output, inputs):
    return symbol.elemwise_add(output, inputs, name=f"{output.name}_plus_residual")
