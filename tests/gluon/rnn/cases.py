"""Recurrent layers and cells whose outputs must be those of real MXNet 1.9.1.

``python -m tests.gluon.rnn.cases``, run with a Python that has MXNet 1.9.1, writes the file.
"""

import sys
from pathlib import Path

import numpy as np

__all__ = ["CASES", "FILE", "run"]

FILE = Path(__file__).parents[2] / "data" / "gluon_rnn_1.npz"
STEPS, BATCH, WIDTH = 4, 3, 5


def _stack(rnn):
    stack = rnn.HybridSequentialRNNCell()
    stack.add(rnn.LSTMCell(6))
    stack.add(rnn.ResidualCell(rnn.GRUCell(6)))
    stack.add(rnn.BidirectionalCell(rnn.RNNCell(3), rnn.LSTMCell(2)))
    return stack


_SIZES = {1: (6,), 2: (6, 5), 3: (4, 3, 5)}


def _conv(name, **more):
    """A convolutional cell, and the shape of its inputs."""
    size = _SIZES[int(name[4])]

    def make(mx):
        cells = mx.gluon.contrib.rnn if hasattr(mx.gluon, "contrib") else mx.gluon.rnn
        inner = (3, 1, 3)[: len(size)]
        return getattr(cells, name)((2, *size), 3, (3,) * len(size), inner, **more)

    return make, (BATCH, 2, *size)


#: name -> (maker of the block, arguments of `unroll`, or None for one call, or the inputs' shape)
CASES = {
    "LSTM": (lambda mx: mx.gluon.rnn.LSTM(6, 2, bidirectional=True, layout="NTC"), None),
    "GRU": (lambda mx: mx.gluon.rnn.GRU(6, 2), None),
    "RNN": (lambda mx: mx.gluon.rnn.RNN(6, 1, activation="tanh"), None),
    "projected": (lambda mx: mx.gluon.rnn.LSTM(6, 2, projection_size=3), None),
    "RNNCell": (lambda mx: mx.gluon.rnn.RNNCell(6, activation="relu"), {}),
    "LSTMCell": (lambda mx: mx.gluon.rnn.LSTMCell(6), {"merge_outputs": True}),
    "GRUCell": (lambda mx: mx.gluon.rnn.GRUCell(6), {"layout": "TNC"}),
    "stack": (lambda mx: _stack(mx.gluon.rnn), {"merge_outputs": True}),
    "lengths": (lambda mx: _stack(mx.gluon.rnn), {"merge_outputs": True, "valid_length": True}),
    "Conv2DRNNCell": _conv("Conv2DRNNCell", activation="relu"),
    "Conv2DLSTMCell": _conv("Conv2DLSTMCell", i2h_pad=1),
    "Conv2DGRUCell": _conv("Conv2DGRUCell", h2h_dilate=(1, 2)),
    **{
        f"Conv{dims}D{kind}Cell": _conv(f"Conv{dims}D{kind}Cell", i2h_pad=dims // 2)
        for dims in (1, 3)
        for kind in ("RNN", "LSTM", "GRU")
    },
}


def run(mx, name):
    """The outputs and states of a case by name."""
    make, how = CASES[name]
    rng = np.random.RandomState(3)
    block = make(mx)
    block.initialize()
    one_step = isinstance(how, tuple)
    data = mx.nd.array(rng.uniform(-1, 1, how if one_step else (BATCH, STEPS, WIDTH)))

    def compute():
        if how is None:
            return block(data, block.begin_state(BATCH if name == "LSTM" else STEPS))
        if one_step:
            out, states = block(data, block.begin_state(BATCH))
            return block(data, states)
        keywords = dict(how)
        if keywords.pop("valid_length", False):
            keywords["valid_length"] = mx.nd.array([4, 1, 3])
        length = BATCH if keywords.get("layout") == "TNC" else STEPS
        return block.unroll(length, data, **keywords)

    compute()  # makes the parameters
    # The names end alike in all versions; their beginnings count the blocks made before.
    for parameter in block.collect_params().values():
        parameter.set_data(mx.nd.array(rng.uniform(-0.5, 0.5, parameter.shape)))
    out, states = compute()
    outs = list(out) if isinstance(out, (list, tuple)) else [out]
    actual = {f"out{i}": x.asnumpy() for i, x in enumerate(outs)}
    return actual | {f"state{i}": x.asnumpy() for i, x in enumerate(states)}


if __name__ == "__main__":
    import mxnet

    made = {}
    for case in CASES:
        made.update({f"{case}/{part}": x for part, x in run(mxnet, case).items()})
    np.savez_compressed(FILE, **made)
    print(FILE, len(made), file=sys.stderr)
