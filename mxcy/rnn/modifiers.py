"""Cells that modify the inputs, outputs or states of another cell."""

from mxcy import symbol
from mxcy.base import MXNetError, numeric_types
from mxcy.rnn.cell import BaseRNNCell
from mxcy.rnn.sequences import as_steps, merged
from mxcy.symbol import Symbol

__all__ = ["DropoutCell", "ModifierCell", "ResidualCell", "ZoneoutCell"]


class DropoutCell(BaseRNNCell):
    """Dropout on the input, in training.

    Parameters
    ----------
    dropout : float
        Dropout rate.
    prefix : str
        Accepted for the common interface; there are no names.
    params : RNNParams, optional
        Accepted for the common interface.
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
    """Base class of cells that wrap another cell, which can no longer be called directly.

    Parameters
    ----------
    base_cell : BaseRNNCell
        The wrapped cell.
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
        """Create the initial states; see `BaseRNNCell.begin_state`."""
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
    """Zoneout: in training, random outputs and states keep their previous values.

    Parameters
    ----------
    base_cell : BaseRNNCell
        A cell that supports stepping.
    zoneout_outputs, zoneout_states : float
        Fractions of outputs and states that keep their values.

    Raises
    ------
    MXNetError
        If the cell does not support stepping.
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
    """Replace a random fraction of `new` by `old`."""
    mask = symbol.Dropout(symbol.ones_like(new), p=part)
    return symbol.where(mask, new, old)


class ResidualCell(ModifierCell):
    """Add the input of a cell to its output.

    Parameters
    ----------
    base_cell : BaseRNNCell
        A cell whose output has the size of its input.
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
