"""mxcy, the network as one plan."""

from pathlib import Path

import numpy as np

import mxcy as mx
from benchmarks.score.quantized import quantize


class Contender:
    """See `worker.py`."""

    def __init__(self, folder, threads):
        self._symbol = mx.sym.load(str(Path(folder, "symbol.json")))
        auxiliary = set(self._symbol.list_auxiliary_states())
        self._arguments, self._auxiliary = {}, {}
        with np.load(Path(folder, "weights.npz")) as weights:
            for name in weights.files:
                kind = self._auxiliary if name in auxiliary else self._arguments
                kind[name] = mx.nd.array(weights[name])
        self._executor = None

    def bind(self, data):
        self._executor = None
        # The loss layer's label is not used in inference.
        given = {"data": mx.nd.array(data), "softmax_label": mx.nd.zeros(len(data))}
        arguments = {**self._arguments, **given}
        arguments = {name: arguments[name] for name in self._symbol.list_arguments()}
        self._executor = self._symbol.bind(
            mx.cpu(), arguments, grad_req="null", aux_states=self._auxiliary
        )

    def run(self):
        self._executor.forward(is_train=False)[0].wait_to_read()

    def output(self):
        return self._executor.outputs[0].asnumpy()

    def about(self):
        return f"mxcy {mx.__version__}"


class Quantized(Contender):
    """The same in int8."""

    def __init__(self, folder, threads):
        super().__init__(folder, threads)
        self._symbol, self._arguments, self._auxiliary = quantize(
            mx, folder, self._symbol, self._arguments, self._auxiliary
        )

    def about(self):
        return f"{super().about()} int8, ranges of 8 images"


class Narrow(Contender):
    """The same in bfloat16, converted by `amp`."""

    def __init__(self, folder, threads):
        super().__init__(folder, threads)
        self._symbol, self._arguments, self._auxiliary = mx.amp.convert_model(
            self._symbol,
            self._arguments,
            self._auxiliary,
            target_dtype="bfloat16",
            cast_optional_params=True,
        )

    def output(self):
        return self._executor.outputs[0].astype("float32").asnumpy()

    def about(self):
        return f"{super().about()} bf16 by amp"
