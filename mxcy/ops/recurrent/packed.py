"""Layout of operator RNN's parameter vector, with the cells' names of its parts."""

from mxcy._base.errors import MXNetError

__all__ = ["GATES", "Packed"]

#: mode -> gate name suffixes, in row order
GATES = {
    "rnn_relu": ("",),
    "rnn_tanh": ("",),
    "lstm": ("_i", "_f", "_c", "_o"),
    "gru": ("_r", "_z", "_o"),
}


class Packed:
    """Positions of each gate's weights and biases in the vector.

    Parameters
    ----------
    num_hidden, num_layers : int
        Units per layer and direction; number of layers.
    mode : {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'}
    bidirectional : bool
    prefix : str
        Prefix of the parts' names.
    """

    def __init__(self, num_hidden, num_layers, mode, bidirectional=False, prefix=""):
        self.num_hidden, self.num_layers, self.prefix = num_hidden, num_layers, prefix
        self.gates = GATES[mode]
        self.directions = ("l", "r") if bidirectional else ("l",)

    def _parts(self, width):
        """Yield name and shape of every part, for inputs of a given width."""
        units, directions = self.num_hidden, len(self.directions)
        for kind in ("weight", "bias"):
            for layer in range(self.num_layers):
                source = directions * units if layer else width
                for direction in self.directions:
                    for group, columns in (("i2h", source), ("h2h", units)):
                        shape = (units, columns) if kind == "weight" else (units,)
                        for gate in self.gates:
                            name = f"{self.prefix}{direction}{layer}_{group}{gate}_{kind}"
                            yield name, shape

    def size(self, width):
        """Return the vector's size for inputs of a given width."""
        rows = self.num_hidden * len(self.gates) * len(self.directions)
        upper = (len(self.directions) + 1) * self.num_hidden + 2
        return rows * (width + self.num_hidden + 2 + (self.num_layers - 1) * upper)

    def width(self, size, name="parameters"):
        """Return the input width of a vector of a given size.

        Raises
        ------
        MXNetError
            If the size is invalid; the message names the vector.
        """
        rows = self.num_hidden * len(self.gates) * len(self.directions)
        width = (size - self.size(0)) // rows
        if width <= 0 or self.size(width) != size:
            raise MXNetError(
                f"FusedRNNCell: {name} of size {size} does not fit {self.num_layers} layers of "
                f"{self.num_hidden} units"
            )
        return width

    def slices(self, vector, width):
        """Yield name and view of every part of a vector, for inputs of a given width."""
        begin = 0
        for name, shape in self._parts(width):
            size = shape[0] * (shape[1] if len(shape) == 2 else 1)
            yield name, vector[begin : begin + size].reshape(shape)
            begin += size
