"""Base class of the recurrent layers, which run operator RNN."""

import math

from mxcy import initializer, ndarray
from mxcy.base import MXNetError
from mxcy.gluon.block import HybridBlock
from mxcy.gluon.hybrid_block import calls_hybrid_forward
from mxcy.gluon.rnn.cell import begin_states
from mxcy.gluon.rnn.unfused import unfused
from mxcy.gluon.utils import rnn_shapes, split_rnn_params
from mxcy.ops.recurrent.cells import CELLS
from mxcy.symbol import Symbol
from mxcy.util import is_np_shape

__all__ = ["RecurrentLayer"]


class RecurrentLayer(HybridBlock):
    """A stack of recurrent layers; see the subclasses for the parameters."""

    def __init__(
        self,
        mode,
        hidden_size,
        num_layers,
        layout,
        dropout,
        bidirectional,
        input_size,
        initializers,
        dtype,
        projection_size=None,
        h2r_weight_initializer=None,
        clip=None,
        use_sequence_length=False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        assert layout in ("TNC", "NTC"), f"Invalid layout {layout}; must be one of ['TNC' or 'NTC']"
        self._mode, self._hidden_size, self._num_layers = mode, hidden_size, num_layers
        self._layout, self._dropout, self._dtype = layout, dropout, dtype
        self._dir, self._input_size = 2 if bidirectional else 1, input_size
        self._projection_size, self._clip = projection_size, clip or {}
        self._initializers, self._use_sequence_length = initializers, use_sequence_length
        self._gates = CELLS[mode].gates
        if self._follows_mxnet_2():
            self._enter_packed(h2r_weight_initializer)
            return
        rows, out = self._gates * hidden_size, projection_size or hidden_size
        source = input_size
        for layer in range(num_layers):
            for direction in ("l", "r")[: self._dir]:
                shapes = {
                    "i2h_weight": (rows, source),
                    "h2h_weight": (rows, out),
                    "i2h_bias": (rows,),
                    "h2h_bias": (rows,),
                }
                for (name, shape), init in zip(shapes.items(), initializers, strict=True):
                    self._enter(f"{direction}{layer}_{name}", shape, init)
                if projection_size:
                    shape = (projection_size, hidden_size)
                    self._enter(f"{direction}{layer}_h2r_weight", shape, h2r_weight_initializer)
            source = out * self._dir

    def _enter(self, name, shape, init):
        parameter = self.params.get(
            name, shape=shape, init=init, allow_deferred_init=True, dtype=self._dtype
        )
        setattr(self, name, parameter)

    def _enter_packed(self, h2r_weight_initializer):
        """Register all parameters as one vector, as in MXNet 2.x."""
        init = initializer.RNNFused(
            self._mode,
            self._num_layers,
            self._hidden_size,
            self._dir == 2,
            self._projection_size,
            *self._initializers,
            h2r_weight_initializer,
        )
        size = self._packed_size(self._input_size) if self._input_size else -1
        self._enter("rnn_param", (size,), init)

    def _packed_size(self, width):
        """Total number of parameter values for an input size."""
        return sum(map(math.prod, rnn_shapes(*self._options(width)).values()))

    def _options(self, width):
        """The arguments of `rnn_shapes`."""
        return (
            self._mode,
            self._num_layers,
            width,
            self._hidden_size,
            self._dir == 2,
            self._projection_size,
        )

    def infer_shape(self, inputs, *args):
        """Set the input size."""
        if "rnn_param" in self._reg_params:
            self.rnn_param.shape = (self._packed_size(inputs.shape[2]),)
            return
        for direction in ("l", "r")[: self._dir]:
            parameter = getattr(self, f"{direction}0_i2h_weight")
            parameter.shape = (parameter.shape[0], inputs.shape[2])

    def _structural_name(self, name):
        """Name as in a stack of cells, which MXNet 1.x uses in files."""
        if name == "rnn_param":
            return name
        direction, layer, parameter = name[0], *name[1:].split("_", 1)
        cell = f"{direction}_cell." if self._dir == 2 else ""
        return f"_unfused.{layer}.{cell}{parameter}"

    def _unpacked(self, loaded, prefix):
        """Accept the layer's own names, and MXNet 2.x's single array ``rnn_param``."""
        if "rnn_param" in self._reg_params:
            return self._packed(loaded, prefix)
        packed = loaded.get(f"{prefix}rnn_param")
        if packed is not None:
            mode, layers, _, *options = self._options(0)
            loaded = {name: array for name, array in loaded.items() if array is not packed}
            parts = _apart(packed, mode, layers, *options)
            loaded.update({prefix + name: array for name, array in parts.items()})
        renamed = {prefix + name: prefix + self._structural_name(name) for name in self._reg_params}
        return {renamed.get(name, name): array for name, array in loaded.items()}

    def _packed(self, loaded, prefix):
        """Merge separately loaded parameters of this layer into one array."""
        own = rnn_shapes(*self._options(0))
        names = [
            next((n for n in (prefix + self._structural_name(o), prefix + o) if n in loaded), None)
            for o in own
        ]
        if None in names:
            return loaded
        others = {name: array for name, array in loaded.items() if name not in names}
        parts = [loaded[name].reshape((-1,)) for name in names]
        return {**others, f"{prefix}rnn_param": ndarray.concat(*parts, dim=0)}

    def _unfuse(self):
        """Return an equivalent `HybridSequentialRNNCell` that shares the parameters."""
        assert not self._projection_size, "layers with a projection cannot be unfused"
        assert "rnn_param" not in self._reg_params, "layers of MXNet 2 cannot be unfused"
        assert self._clip.get("lstm_state_clip_min") is None, (
            "layers with bounds of the cell state cannot be unfused"
        )
        return unfused(self)

    def cast(self, dtype):
        """Change the dtype of the parameters and of new states."""
        super().cast(dtype)
        self._dtype = dtype

    def state_info(self, batch_size=0):
        """Shapes and layouts of the states.

        Parameters
        ----------
        batch_size : int

        Returns
        -------
        list of dict
        """
        count = self._num_layers * self._dir
        sizes = [self._projection_size or self._hidden_size]
        sizes += [self._hidden_size] if CELLS[self._mode].has_cell else []
        return [
            {"shape": (count, batch_size, size), "__layout__": "LNC", "dtype": self._dtype}
            for size in sizes
        ]

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
        return begin_states(self.state_info(batch_size), func, f"{self.prefix}h0_", **kwargs)

    def __call__(self, inputs=None, states=None, sequence_length=None, **kwargs):
        """Run the layers over sequences.

        Parameters
        ----------
        inputs : NDArray or Symbol
            Sequences in the layer's layout.
        states : NDArray, Symbol or list of them, optional
            Initial states; by default zeros, and no states are returned.
        sequence_length : NDArray or Symbol, optional
            Lengths, shape (batch,), beyond which outputs are zero. Required by a layer
            made with ``use_sequence_length=True``.

        Returns
        -------
        outputs : NDArray or Symbol
        states : list of NDArray or Symbol
            Unless `states` was None. Hybridized layers return a list of both, others a tuple.
        """
        if inputs is None:  # MXNet 2 programs access a child by calling it
            return super().__call__()
        if self._use_sequence_length and sequence_length is None:
            raise MXNetError(f"{self.name} needs sequence_length: it has use_sequence_length=True")
        returns_states = states is not None
        if states is None:
            if isinstance(inputs, Symbol):
                from mxcy import symbol

                states = self.begin_state(-1 if is_np_shape() else 0, symbol.zeros)
            else:
                batch = self._batch_of(inputs)
                states = self.begin_state(batch, ctx=inputs.context, dtype=inputs.dtype)
        elif not isinstance(states, (list, tuple)):
            states = [states]
        lengths = [] if sequence_length is None else [sequence_length]
        results = super().__call__(inputs, list(states), *lengths, **kwargs)
        return results if returns_states else results[0]

    @calls_hybrid_forward
    def forward(self, inputs, states, sequence_length=None):
        """Run the layers over sequences; see `__call__`."""
        lengths = [] if sequence_length is None else [sequence_length]
        return super().forward(inputs, states, *lengths)

    def hybrid_forward(self, F, inputs, states, sequence_length=None, **parameters):
        if not isinstance(inputs, Symbol):
            self._check(inputs, states)
        if self._layout == "NTC":
            inputs = F.swapaxes(inputs, dim1=0, dim2=1)
        joined = parameters.get("rnn_param")
        if joined is None:
            joined = self._joined(F, parameters)
        lengths = {}
        if sequence_length is not None:
            lengths = {"sequence_length": sequence_length, "use_sequence_length": True}
        out, *states = F.RNN(
            inputs,
            joined,
            *states,
            **lengths,
            state_size=self._hidden_size,
            num_layers=self._num_layers,
            p=self._dropout,
            bidirectional=self._dir == 2,
            state_outputs=True,
            mode=self._mode,
            projection_size=self._projection_size,
            **self._clip,
        )
        if self._layout == "NTC":
            out = F.swapaxes(out, dim1=0, dim2=1)
        return out, states

    def _joined(self, F, parameters):
        """Concatenate all parameters into the operator's vector."""
        weights, biases = [], []
        for layer in range(self._num_layers):
            for direction in ("l", "r")[: self._dir]:
                names = ["i2h_weight", "h2h_weight"]
                names += ["h2r_weight"] if self._projection_size else []
                prefix = f"{direction}{layer}_"
                weights += [F.reshape(parameters[prefix + name], shape=(-1,)) for name in names]
                biases += [parameters[prefix + name] for name in ("i2h_bias", "h2h_bias")]
        return F._internal._rnn_param_concat(*weights, *biases, dim=0)

    def _batch_of(self, inputs):
        """The batch size; ValueError if the inputs are not 3-dimensional."""
        if len(inputs.shape) != 3:
            raise ValueError(
                f"{type(self).__name__}: inputs: expected 3 dimensions in the layout "
                f"{self._layout}, got shape {inputs.shape}"
            )
        return inputs.shape[self._layout.index("N")]

    def _check(self, inputs, states):
        batch, expected = self._batch_of(inputs), len(self.state_info(0))
        if len(states) != expected:
            kind = type(self).__name__
            raise ValueError(f"{kind}: states: expected {expected} arrays, got {len(states)}")
        for state, info in zip(states, self.state_info(batch), strict=True):
            if state.shape != info["shape"]:
                raise ValueError(
                    f"Invalid recurrent state shape. Expecting {info['shape']}, got {state.shape}."
                )

    def __repr__(self):
        if "rnn_param" in self._reg_params:
            size = self.rnn_param.shape[0]
            source = self.rnn_param.init._input_size(size) if size > 0 else None
        else:
            source = self.l0_i2h_weight.shape[1] or None
        text = f"{source} -> {self._hidden_size}, {self._layout}"
        if self._num_layers != 1:
            text += f", num_layers={self._num_layers}"
        if self._dropout != 0:
            text += f", dropout={self._dropout}"
        if self._dir == 2:
            text += ", bidirectional"
        return f"{type(self).__name__}({text})"


def _apart(packed, mode, num_layers, hidden_size, bidirectional, projection_size):
    """Split a packed parameter array, whose length determines the input size."""
    options = hidden_size, bidirectional, projection_size
    known = sum(map(math.prod, rnn_shapes(mode, num_layers, 0, *options).values()))
    rows = CELLS[mode].gates * hidden_size * (2 if bidirectional else 1)
    width, remainder = divmod(packed.size - known, rows)
    if remainder or width <= 0:
        raise ValueError(
            f"rnn_param has {packed.size} values, which does not fit {num_layers} layers of "
            f"{mode} with {hidden_size} units"
        )
    return split_rnn_params(packed, mode, num_layers, width, *options)
