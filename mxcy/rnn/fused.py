"""Recurrent layers as a single operator `RNN`, with packed weights."""

from mxcy import initializer, ndarray, symbol
from mxcy._base.warning import warn
from mxcy.base import MXNetError
from mxcy.ops.recurrent.packed import GATES, Packed
from mxcy.rnn.cell import BaseRNNCell
from mxcy.rnn.cells import GRUCell, LSTMCell, RNNCell
from mxcy.rnn.containers import BidirectionalCell, SequentialRNNCell
from mxcy.rnn.modifiers import DropoutCell
from mxcy.rnn.sequences import as_steps, merged, time_axis

__all__ = ["FusedRNNCell"]


class FusedRNNCell(BaseRNNCell):
    """Recurrent layers that run as one operator over the whole sequence.

    Parameters
    ----------
    num_hidden : int
        Size of each layer and direction.
    num_layers : int
    mode : {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'}
    bidirectional : bool
        Whether each layer also runs backwards, which doubles the output size.
    dropout : float
        Dropout rate between layers, in training.
    get_next_state : bool
        Whether `unroll` returns the states after the last step.
    forget_bias : float
        Initial value of an LSTM's forget gate bias.
    prefix : str, optional
        Prefix of names, the mode by default.
    params : RNNParams, optional
        Variables to share with other cells.
    """

    _has_steps = False

    def __init__(
        self,
        num_hidden,
        num_layers=1,
        mode="lstm",
        bidirectional=False,
        dropout=0.0,
        get_next_state=False,
        forget_bias=1.0,
        prefix=None,
        params=None,
    ):
        super().__init__(prefix=f"{mode}_" if prefix is None else prefix, params=params)
        if mode not in GATES:
            raise MXNetError(f"FusedRNNCell: mode must be one of {[*GATES]}, got {mode!r}")
        self._num_hidden = num_hidden
        self._num_layers = num_layers
        self._mode = mode
        self._bidirectional = bidirectional
        self._dropout = dropout
        self._get_next_state = get_next_state
        self._directions = ["l", "r"] if bidirectional else ["l"]
        self._gate_names = GATES[mode]
        filling = initializer.FusedRNN(
            None, num_hidden, num_layers, mode, bidirectional, forget_bias
        )
        self._parameter = self.params.get("parameters", init=filling)

    @property
    def _num_gates(self):
        """int: MXNet's programs size packed weights by it."""
        return len(self._gate_names)

    @property
    def state_info(self):
        shape = (len(self._directions) * self._num_layers, 0, self._num_hidden)
        states = 2 if self._mode == "lstm" else 1
        return [{"shape": shape, "__layout__": "LNC"} for _ in range(states)]

    def _packed(self):
        return Packed(
            self._num_hidden, self._num_layers, self._mode, self._bidirectional, self._prefix
        )

    def unpack_weights(self, args):
        args = dict(args)
        vector = args.pop(self._parameter.name)
        packed = self._packed()
        width = packed.width(vector.size, self._parameter.name)
        args.update((name, part.copy()) for name, part in packed.slices(vector, width))
        return args

    def pack_weights(self, args):
        args = dict(args)
        first = args[f"{self._prefix}l0_i2h{self._gate_names[0]}_weight"]
        packed, width = self._packed(), first.shape[1]
        vector = ndarray.zeros((packed.size(width),), ctx=first.context, dtype=first.dtype)
        for name, part in packed.slices(vector, width):
            part[:] = args.pop(name)
        args[self._parameter.name] = vector
        return args

    def __call__(self, inputs, states):
        raise NotImplementedError("FusedRNNCell cannot be stepped. Please use unroll")

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None):
        self.reset()
        axis = time_axis(layout)
        inputs = merged(length, inputs, layout)
        if axis == 1:
            warn("FusedRNNCell: the layout NTC costs two transpositions, TNC none")
            inputs = symbol.swapaxes(inputs, dim1=0, dim2=1)
        elif axis != 0:
            raise MXNetError(f"FusedRNNCell: layout must be NTC or TNC, got {layout!r}")
        states = self.begin_state() if begin_state is None else begin_state
        names = ("state", "state_cell") if self._mode == "lstm" else ("state",)
        result = symbol.RNN(
            data=inputs,
            parameters=self._parameter,
            state_size=self._num_hidden,
            num_layers=self._num_layers,
            bidirectional=self._bidirectional,
            p=self._dropout,
            state_outputs=self._get_next_state,
            mode=self._mode,
            name=f"{self._prefix}rnn",
            **dict(zip(names, states, strict=False)),
        )
        outputs, states = result, []
        if self._get_next_state:
            outputs, *states = list(result)
            for state in states:
                state._set_attr(__layout__="LNC")
        if axis == 1:
            outputs = symbol.swapaxes(outputs, dim1=0, dim2=1)
        if merge_outputs is False:
            outputs = as_steps(length, outputs, layout)
        return outputs, states

    def unfuse(self):
        """Convert to equivalent single cells.

        Returns
        -------
        SequentialRNNCell
            Cells that support stepping; they take this cell's weights from `unpack_weights`.
        """
        stack = SequentialRNNCell()
        for layer in range(self._num_layers):
            left = self._single_cell(f"{self._prefix}l{layer}_")
            if self._bidirectional:
                right = self._single_cell(f"{self._prefix}r{layer}_")
                prefix = f"{self._prefix}bi_l{layer}_"
                left = BidirectionalCell(left, right, output_prefix=prefix)
            stack.add(left)
            if self._dropout > 0 and layer != self._num_layers - 1:
                stack.add(DropoutCell(self._dropout, prefix=f"{self._prefix}_dropout{layer}_"))
        return stack

    def _single_cell(self, prefix):
        if self._mode == "lstm":
            return LSTMCell(self._num_hidden, prefix=prefix)
        if self._mode == "gru":
            return GRUCell(self._num_hidden, prefix=prefix)
        activation = self._mode.removeprefix("rnn_")
        return RNNCell(self._num_hidden, activation=activation, prefix=prefix)
