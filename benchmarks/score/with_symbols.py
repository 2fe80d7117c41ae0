"""mxcy and MXNet 1.9.1, which run the same programs; the package is a class attribute."""

from pathlib import Path

import numpy as np

from benchmarks.score.quantized import quantize


class Contender:
    """See `worker.py`. The network as one executor of a package, `mx`."""

    mx, title = None, None

    def __init__(self, folder, threads):
        self._symbol = self.mx.sym.load(str(Path(folder, "symbol.json")))
        auxiliary = set(self._symbol.list_auxiliary_states())
        self._arguments, self._auxiliary = {}, {}
        with np.load(Path(folder, "weights.npz")) as weights:
            for name in weights.files:
                kind = self._auxiliary if name in auxiliary else self._arguments
                kind[name] = self.mx.nd.array(weights[name])
        self._executor = None

    def bind(self, data):
        self._executor = None
        # Executors keep their arguments; the label of the loss layer is not used in inference.
        given = {"data": self.mx.nd.array(data), "softmax_label": self.mx.nd.zeros(len(data))}
        arguments = {**self._arguments, **given}
        arguments = {name: arguments[name] for name in self._symbol.list_arguments()}
        self._executor = self._symbol.bind(
            self.mx.cpu(), arguments, grad_req="null", aux_states=self._auxiliary
        )

    def run(self):
        self._executor.forward(is_train=False)[0].wait_to_read()

    def output(self):
        return self._executor.outputs[0].asnumpy()

    def about(self):
        return f"{self.title} {self.mx.__version__}"


class Quantized(Contender):
    """The same in int8."""

    def __init__(self, folder, threads):
        super().__init__(folder, threads)
        self._symbol, self._arguments, self._auxiliary = quantize(
            self.mx, folder, self._symbol, self._arguments, self._auxiliary
        )

    def about(self):
        return f"{super().about()} int8, ranges of 8 images"
