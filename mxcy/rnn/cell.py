"""Base class of symbolic cells: variables, initial states, packed weights, unrolling.

A cell computes one step; each call adds nodes named after the step to the graph. Weights are
variables created once and shared by all steps.
"""

from mxcy import ndarray, symbol
from mxcy.base import MXNetError
from mxcy.rnn.sequences import as_steps, merged

__all__ = ["BaseRNNCell", "RNNParams"]


class RNNParams:
    """Variables by name, created on first access; cells with the same RNNParams share weights.

    Parameters
    ----------
    prefix : str
        Prefix of all names.
    """

    def __init__(self, prefix=""):
        self._prefix = prefix
        self._params = {}

    def get(self, name, **kwargs):
        """Return a variable.

        Parameters
        ----------
        name : str
            Name without the prefix.
        **kwargs
            Arguments of `mx.sym.var` for a new variable.

        Returns
        -------
        Symbol
        """
        name = self._prefix + name
        if name not in self._params:
            self._params[name] = symbol.var(name, **kwargs)
        return self._params[name]


class BaseRNNCell:
    """Base class of cells.

    A subclass defines `__call__` and `state_info`. If `unpack_weights` can split its weights, it
    also defines `_gate_names`, the gates' suffixes in the order of the rows, and `_num_hidden`.

    Parameters
    ----------
    prefix : str
        Prefix of the names of nodes and, unless `params` is given, of weights.
    params : RNNParams, optional
        Variables to share with other cells.
    """

    _gate_names = ()
    _has_steps = True  # whether it can be called for a single step

    def __init__(self, prefix="", params=None):
        self._own_params = params is None
        self._prefix = prefix
        self._params = RNNParams(prefix) if params is None else params
        self._modified = False
        self.reset()

    def reset(self):
        """Reset the counters of steps and states, for a new graph."""
        self._init_counter = -1
        self._counter = -1
        for cell in getattr(self, "_cells", ()):
            cell.reset()

    def __call__(self, inputs, states):
        """Add one step to the graph.

        Parameters
        ----------
        inputs : Symbol
            Shape (batch, channels).
        states : list of Symbol
            States of the previous step, or of `begin_state`.

        Returns
        -------
        output : Symbol
        states : list of Symbol
        """
        raise NotImplementedError(f"{type(self).__name__} does not define a step")

    @property
    def params(self):
        """RNNParams: the variables."""
        self._own_params = False
        return self._params

    @property
    def state_info(self):
        """list of dict: shape and layout of each state, with 0 for the batch size."""
        raise NotImplementedError(f"{type(self).__name__} does not define state_info")

    @property
    def state_shape(self):
        """list of tuple: shape of each state."""
        return [info["shape"] for info in self.state_info]

    def begin_state(self, func=symbol.zeros, **kwargs):
        """Create the initial states.

        Parameters
        ----------
        func : callable
            Creates a symbol from name and shape: `mx.sym.zeros`, `mx.sym.uniform`, or `mx.sym.var`
            for states that are bound like data.
        **kwargs
            Further arguments of `func`.

        Returns
        -------
        list of Symbol
        """
        self._refuse_modified()
        states = []
        for info in self.state_info:
            self._init_counter += 1
            name = f"{self._prefix}begin_state_{self._init_counter}"
            kwargs.update(info or {})
            states.append(func(name=name, **kwargs))
        return states

    def _refuse_modified(self):
        if self._modified:
            raise MXNetError(
                f"{type(self).__name__} is modified by another cell (ZoneoutCell, ResidualCell, "
                "...); call that one instead"
            )

    def unpack_weights(self, args):
        """Split packed weights into one per gate.

        Parameters
        ----------
        args : dict of str to NDArray
            All parameters of a network; those of other layers are passed through.

        Returns
        -------
        dict of str to NDArray
            Parameters with ``lstm_i2h_i_weight`` etc. instead of ``lstm_i2h_weight``.
        """
        args = dict(args)
        units = self._num_hidden if self._gate_names else 0
        for group in ("i2h", "h2h") if self._gate_names else ():
            for kind in ("weight", "bias"):
                packed = args.pop(f"{self._prefix}{group}_{kind}")
                for row, gate in enumerate(self._gate_names):
                    part = packed[row * units : (row + 1) * units]
                    args[f"{self._prefix}{group}{gate}_{kind}"] = part.copy()
        return args

    def pack_weights(self, args):
        """Undo `unpack_weights`.

        Parameters
        ----------
        args : dict of str to NDArray

        Returns
        -------
        dict of str to NDArray
        """
        args = dict(args)
        for group in ("i2h", "h2h") if self._gate_names else ():
            for kind in ("weight", "bias"):
                names = [f"{self._prefix}{group}{gate}_{kind}" for gate in self._gate_names]
                packed = ndarray.concatenate([args.pop(name) for name in names])
                args[f"{self._prefix}{group}_{kind}"] = packed
        return args

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None):
        """Add all steps of a sequence to the graph.

        Parameters
        ----------
        length : int
            Number of steps.
        inputs : Symbol or list of Symbol
            One symbol with a time axis, or one per step, (batch, ...).
        begin_state : list of Symbol, optional
            Initial states; by default those of `begin_state`.
        layout : str
            ``'NTC'`` or ``'TNC'``, which determines the time axis.
        merge_outputs : bool, optional
            Return one symbol, or one per step; None leaves it to the cell.

        Returns
        -------
        outputs : Symbol or list of Symbol
        states : list of Symbol
            States after the last step.
        """
        self.reset()
        steps = as_steps(length, inputs, layout)
        states = self.begin_state() if begin_state is None else begin_state
        outputs = []
        for step in range(length):
            output, states = self(steps[step], states)
            outputs.append(output)
        return merged(length, outputs, layout) if merge_outputs else outputs, states

    def _get_activation(self, inputs, activation, **kwargs):
        if isinstance(activation, str):
            return symbol.Activation(inputs, act_type=activation, **kwargs)
        return activation(inputs, **kwargs)
