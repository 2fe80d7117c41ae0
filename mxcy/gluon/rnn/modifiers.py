"""Recurrent cells that modify the inputs, states or outputs of another cell."""

from mxcy import ndarray
from mxcy.gluon.rnn import sequences
from mxcy.gluon.rnn.cell import StepCell, finished
from mxcy.gluon.rnn.containers import BidirectionalCell

__all__ = ["DropoutCell", "ModifierCell", "ResidualCell", "VariationalDropoutCell", "ZoneoutCell"]


class DropoutCell(StepCell):
    """Dropout on the inputs, without a state.

    Parameters
    ----------
    rate : float
        Fraction of elements set to 0.
    axes : tuple of int
        Axes along which the mask is broadcast.
    prefix, params
        See `Block`.
    """

    def __init__(self, rate, axes=(), prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)
        assert isinstance(rate, (int, float)), f"rate must be a number, got {type(rate).__name__}"
        self._rate, self._axes = rate, axes

    def _alias(self):
        return "dropout"

    def state_info(self, batch_size=0):
        return []

    def hybrid_forward(self, F, inputs, states):
        if self._rate > 0:
            name = f"{self._step_prefix}fwd"
            inputs = F.Dropout(data=inputs, p=self._rate, axes=self._axes, name=name)
        return inputs, states

    def unroll(
        self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None, valid_length=None
    ):
        if merge_outputs:
            inputs = sequences.as_array(inputs, layout)
        if isinstance(inputs, (list, tuple)) or merge_outputs is False:
            return super().unroll(length, inputs, begin_state, layout, merge_outputs, valid_length)
        self.reset()
        outputs, states = self(inputs, begin_state or [])
        return finished(outputs, length, layout, merge_outputs), states

    def __repr__(self):
        return f"{type(self).__name__}(rate={self._rate}, axes={self._axes})"


class ModifierCell(StepCell):
    """Base class of cells that wrap another cell and share its parameters.

    Parameters
    ----------
    base_cell : RecurrentCell
        The wrapped cell, which can no longer be called directly.
    """

    def __init__(self, base_cell):
        if base_cell._modified:
            raise AssertionError(
                f"Cell {base_cell.name} is already modified. One cell cannot be modified twice"
            )
        base_cell._modified = True
        super().__init__(prefix=base_cell.prefix + self._alias(), params=None)
        self.base_cell = base_cell

    @property
    def params(self):
        """The parameters of the wrapped cell."""
        return self.base_cell.params

    def state_info(self, batch_size=0):
        return self.base_cell.state_info(batch_size)

    def begin_state(self, batch_size=0, func=ndarray.zeros, **kwargs):
        if self._modified:
            return super().begin_state(batch_size, func, **kwargs)  # which raises
        self.base_cell._modified = False
        try:
            return self.base_cell.begin_state(batch_size, func, **kwargs)
        finally:
            self.base_cell._modified = True

    def infer_shape(self, i, x, is_bidirect):
        """Set the shapes of the wrapped cell; see `HybridRecurrentCell.infer_shape`."""
        self.base_cell.infer_shape(i, x, is_bidirect)

    def hybrid_forward(self, F, inputs, states):
        raise NotImplementedError(f"{type(self).__name__} does not define hybrid_forward")

    def __repr__(self):
        return f"{type(self).__name__}({self.base_cell!r})"


class ZoneoutCell(ModifierCell):
    """Zoneout: in training, random outputs and states keep their previous values.

    Definition: Krueger et al. (2017), https://arxiv.org/abs/1606.01305.

    Parameters
    ----------
    base_cell : RecurrentCell
    zoneout_outputs, zoneout_states : float
        Fractions of outputs and states that keep their values.
    """

    def __init__(self, base_cell, zoneout_outputs=0.0, zoneout_states=0.0):
        if isinstance(base_cell, BidirectionalCell):
            raise TypeError(
                "BidirectionalCell doesn't support zoneout since it doesn't support step. "
                "Please add ZoneoutCell to the cells underneath instead."
            )
        super().__init__(base_cell)
        self._zoneout_outputs, self._zoneout_states = zoneout_outputs, zoneout_states
        self._before = None

    def _alias(self):
        return "zoneout"

    def reset(self):
        super().reset()
        self._before = None

    def hybrid_forward(self, F, inputs, states):
        output, new_states = self.base_cell(inputs, states)

        def mixed(rate, new, old):
            return F.where(F.Dropout(F.ones_like(new), p=rate), new, old) if rate else new

        before = F.zeros_like(output) if self._before is None else self._before
        output = mixed(self._zoneout_outputs, output, before)
        new_states = [
            mixed(self._zoneout_states, new, old)
            for new, old in zip(new_states, states, strict=True)
        ]
        self._before = output
        return output, new_states

    def __repr__(self):
        return (
            f"{type(self).__name__}(p_out={self._zoneout_outputs}, "
            f"p_state={self._zoneout_states}, {self.base_cell!r})"
        )


class ResidualCell(ModifierCell):
    """Add the input to the output, which has the same size.

    Parameters
    ----------
    base_cell : RecurrentCell
    """

    def hybrid_forward(self, F, inputs, states):
        output, states = self.base_cell(inputs, states)
        return F.elemwise_add(output, inputs, name=f"{self._step_prefix}fwd"), states

    def unroll(
        self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None, valid_length=None
    ):
        self.reset()
        self.base_cell._modified = False
        try:
            outputs, states = self.base_cell.unroll(
                length,
                inputs,
                begin_state=begin_state,
                layout=layout,
                merge_outputs=merge_outputs,
                valid_length=valid_length,
            )
        finally:
            self.base_cell._modified = True
        if valid_length is not None:
            inputs = sequences.masked(inputs, valid_length, layout)
        F = sequences.operators_of(inputs)
        if not isinstance(outputs, list):
            return F.elemwise_add(outputs, sequences.as_array(inputs, layout)), states
        steps = sequences.as_steps(inputs, length, layout)
        return [F.elemwise_add(*pair) for pair in zip(outputs, steps, strict=True)], states


class VariationalDropoutCell(ModifierCell):
    """Dropout with the same mask at all steps of a sequence.

    Definition: Gal and Ghahramani (2016), https://arxiv.org/abs/1512.05287.

    Parameters
    ----------
    base_cell : RecurrentCell
    drop_inputs, drop_states, drop_outputs : float
        Dropout rates of the inputs, the first state, and the outputs.
    """

    def __init__(self, base_cell, drop_inputs=0.0, drop_states=0.0, drop_outputs=0.0):
        if drop_states and isinstance(base_cell, BidirectionalCell):
            raise TypeError(
                "BidirectionalCell doesn't support variational state dropout. "
                "Please add VariationalDropoutCell to the cells underneath instead."
            )
        super().__init__(base_cell)
        self.drop_inputs, self.drop_states = drop_inputs, drop_states
        self.drop_outputs = drop_outputs
        self._masks = {}

    def _alias(self):
        return "vardrop"

    def reset(self):
        super().reset()
        self._masks = {}

    def _dropped(self, F, which, rate, x):
        if not rate:
            return x
        if which not in self._masks:
            self._masks[which] = F.Dropout(F.ones_like(x), p=rate)
        return x * self._masks[which]

    def hybrid_forward(self, F, inputs, states):
        if self.drop_states:
            first = self._dropped(F, "states", self.drop_states, states[0])
            states = [first, *states[1:]]
        inputs = self._dropped(F, "inputs", self.drop_inputs, inputs)
        output, states = self.base_cell(inputs, states)
        return self._dropped(F, "outputs", self.drop_outputs, output), states

    def unroll(
        self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None, valid_length=None
    ):
        if self.drop_states:
            return super().unroll(length, inputs, begin_state, layout, merge_outputs, valid_length)
        # Without state dropout the base cell can unroll the sequence itself, even bidirectionally.
        self.reset()
        steps = sequences.as_steps(inputs, length, layout)
        F = sequences.operators_of(steps)
        steps = [self._dropped(F, "inputs", self.drop_inputs, step) for step in steps]
        self.base_cell._modified = False
        try:
            outputs, states = self.base_cell.unroll(
                length,
                steps,
                begin_state=begin_state,
                layout=layout,
                merge_outputs=False,
                valid_length=valid_length,
            )
        finally:
            self.base_cell._modified = True
        outputs = [self._dropped(F, "outputs", self.drop_outputs, output) for output in outputs]
        # MXNet leaves no form open here: without a wish, the outputs are one array.
        return finished(outputs, length, layout, merge_outputs is None or merge_outputs), states

    def __repr__(self):
        return f"{type(self).__name__}(p_out = {self.drop_outputs}, p_state = {self.drop_states})"
