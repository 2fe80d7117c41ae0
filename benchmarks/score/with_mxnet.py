"""MXNet 1.9.1 with oneDNN, with its fused subgraphs (its default)."""

from pathlib import Path

import mxnet as mx
import numpy as np


class Contender:
    """See `worker.py`."""

    def __init__(self, folder, threads):
        self._symbol = mx.sym.load(str(Path(folder, "symbol.json")))
        self._arguments, self._auxiliary = {}, {}
        auxiliary = set(self._symbol.list_auxiliary_states())
        with np.load(Path(folder, "weights.npz")) as weights:
            for name in weights.files:
                kind = self._auxiliary if name in auxiliary else self._arguments
                kind[name] = mx.nd.array(weights[name])
        self._executor = None

    def bind(self, data):
        self._executor = None
        # Executors keep their arguments; the label of the loss layer is not used in inference.
        arguments = {"data": mx.nd.array(data), "softmax_label": mx.nd.zeros(len(data))}
        self._executor = self._symbol.bind(
            mx.cpu(), {**self._arguments, **arguments}, grad_req="null", aux_states=self._auxiliary
        )

    def run(self):
        self._executor.forward(is_train=False)[0].wait_to_read()

    def output(self):
        return self._executor.outputs[0].asnumpy()

    def about(self):
        return f"MXNet {mx.__version__}"
