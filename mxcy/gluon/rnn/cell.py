"""Base classes of recurrent cells."""

from mxcy import ndarray
from mxcy.gluon.block import Block, HybridBlock
from mxcy.gluon.hybrid_block import calls_hybrid_forward
from mxcy.gluon.rnn import sequences
from mxcy.symbol import Symbol

__all__ = [
    "HybridRecurrentCell",
    "RecurrentCell",
    "StepCell",
    "begin_states",
    "cells_info",
    "finished",
]


def begin_states(infos, func, prefix, **kwargs):
    """Create states by ``func(name=..., shape=..., **kwargs)``, one per info.

    They are named by the prefix and their index.
    """
    states = []
    for number, info in enumerate(infos):
        options = {} if info is None else dict(info)
        options.update(kwargs)
        if func is ndarray.zeros:  # accepts neither a name nor a layout
            options.pop("__layout__", None)
            states.append(func(**options))
        else:
            states.append(func(name=f"{prefix}{number}", **options))
    return states


def cells_info(cells, batch_size):
    """Concatenate the state infos of several cells."""
    return [info for cell in cells for info in cell.state_info(batch_size)]


class RecurrentCell(Block):
    """A block that computes one time step: ``output, new_states = cell(input, states)``.

    Parameters
    ----------
    prefix, params
        See `Block`.
    """

    def __init__(self, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)
        self._modified = False
        self.reset()

    def reset(self):
        """Clear per-sequence state in this cell and its children."""
        self._steps = 0
        for child in self._children.values():
            if hasattr(child, "reset"):
                child.reset()

    def state_info(self, batch_size=0):
        """Return the shapes and layouts of the states.

        Parameters
        ----------
        batch_size : int

        Returns
        -------
        list of dict
        """
        raise NotImplementedError(f"{type(self).__name__} does not define state_info")

    def begin_state(self, batch_size=0, func=ndarray.zeros, **kwargs):
        """Return the initial states.

        Parameters
        ----------
        batch_size : int
            Batch size; 0 for symbols, which infer it later.
        func : callable
            Creates a state, such as `mx.nd.zeros` or `mx.sym.zeros`.
        **kwargs
            Arguments of `func`, such as ``ctx`` or ``dtype``.

        Returns
        -------
        list of NDArray or Symbol
        """
        if self._modified:
            raise AssertionError(
                "After applying modifier cells (e.g. ZoneoutCell) the base cell cannot be called "
                "directly. Call the modifier cell instead."
            )
        return begin_states(
            self.state_info(batch_size), func, f"{self.prefix}begin_state_", **kwargs
        )

    def forward(self, inputs, states):
        """Compute one step.

        Parameters
        ----------
        inputs : NDArray or Symbol
            Inputs of the step, (batch, channels).
        states : list of NDArray or Symbol
            States before the step.

        Returns
        -------
        output : NDArray or Symbol
        states : list of NDArray or Symbol
            States after the step.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define forward")

    def unroll(
        self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None, valid_length=None
    ):
        """Compute all steps of a sequence.

        Parameters
        ----------
        length : int
            Number of steps.
        inputs : NDArray, Symbol or list of them
            One array in `layout`, or a list with one array (batch, channels) per step.
        begin_state : list of NDArray or Symbol, optional
            Initial states; zeros by default.
        layout : str
            ``NTC`` or ``TNC``.
        merge_outputs : bool, optional
            Return the outputs as one array (True) or a list (False); None leaves the form open.
        valid_length : NDArray or Symbol, optional
            Sequence lengths, shape (batch,): outputs beyond them are zero, and the states are
            those of the last valid step.

        Returns
        -------
        outputs : NDArray, Symbol or list of them
        states : list of NDArray or Symbol
        """
        self.reset()
        steps = sequences.as_steps(inputs, length, layout)
        states = self._first_states(inputs, begin_state, layout)
        outputs, all_states = [], []
        for step in steps:
            output, states = self(step, states)
            outputs.append(output)
            all_states.append(states)
        if valid_length is not None:
            states = sequences.last_states(all_states, valid_length)
            outputs = sequences.masked(outputs, valid_length, layout)
        return finished(outputs, length, layout, merge_outputs), states

    def _first_states(self, inputs, states, layout):
        """The initial states: those given, or zeros like the inputs."""
        if states is not None:
            return states
        F = sequences.operators_of(inputs)
        first = inputs[0] if isinstance(inputs, (list, tuple)) else inputs
        like = {} if isinstance(first, Symbol) else {"ctx": first.context, "dtype": first.dtype}
        return self.begin_state(sequences.batch_size_of(inputs, layout), F.zeros, **like)


def finished(outputs, length, layout, merge):
    """Return the outputs as one array, as a list, or (`merge` None) unchanged."""
    if merge is None:
        return outputs
    if merge:
        return sequences.as_array(outputs, layout)
    return sequences.as_steps(outputs, length, layout)


class HybridRecurrentCell(RecurrentCell, HybridBlock):
    """A recurrent cell that can run as a graph.

    Parameters
    ----------
    prefix, params
        See `Block`.
    """

    def __init__(self, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)

    @calls_hybrid_forward
    def forward(self, x, *args):
        """Compute one step with `hybrid_forward`; see `RecurrentCell.forward`."""
        self._steps += 1
        return HybridBlock.forward(self, x, *args)

    @property
    def _step_prefix(self):
        """Prefix of the step's operator names in graphs: ``t0_``, ``t1_``, ..."""
        return f"t{self._steps - 1}_"

    def infer_shape(self, i, x, is_bidirect):
        """Set unknown shapes of parameters; by default there are none.

        Parameters
        ----------
        i : int
            Index of the cell in a stack.
        x : NDArray
            Inputs of the stack.
        is_bidirect : bool
            Whether the cells below are bidirectional.
        """

    def _infer_from_inputs(self, args):
        if type(self).infer_shape is HybridRecurrentCell.infer_shape:
            return not self._computes_in_hybrid
        self.infer_shape(0, args[0], False)
        return True

    def hybrid_forward(self, F, x, *args, **kwargs):
        """Compute one step with the operators of `F`; see `RecurrentCell.forward`."""
        raise NotImplementedError(f"{type(self).__name__} does not define hybrid_forward")


class StepCell(HybridRecurrentCell):
    """A hybrid cell whose only arguments are inputs and states.

    Parameters
    ----------
    prefix, params
        See `Block`.
    """

    @calls_hybrid_forward
    def forward(self, inputs, states):
        return super().forward(inputs, states)

    forward.__doc__ = RecurrentCell.forward.__doc__
