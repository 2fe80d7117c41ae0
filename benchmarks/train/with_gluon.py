"""mxcy and MXNet 1.9.1, which run the same programs; the package is a class attribute."""

import json
from pathlib import Path

import numpy as np

from benchmarks.train.networks import loss_of, make, outputs_of
from benchmarks.train.rows import find


class Contender:
    """See `worker.py`. A program for one of the packages, `mx`."""

    mx = None

    def __init__(self, folder, threads):
        self.row = find(Path(folder).name)
        self.batches = [tuple(map(self.array, pair)) for pair in self.row.batches()]
        self.prepare(Path(folder))

    def array(self, values):
        """An array of the row's type."""
        return self.mx.nd.array(values, dtype=self.row.dtype)

    def weights(self, folder):
        """The initial weights by their names in the graph."""
        with np.load(folder / "weights.npz") as weights:
            return {name: self.array(weights[name]) for name in weights.files}

    def finish(self):
        self.mx.nd.waitall()

    def about(self):
        return f"{self.mx.__name__} {self.mx.__version__}"


class Gluon(Contender):
    """Blocks, hybridized unless the row is eager, and a Trainer."""

    def prepare(self, folder):
        mx, weights = self.mx, self.weights(folder)
        self._net, self._loss = make(mx, self.row), loss_of(mx, self.row)
        self._net.initialize()
        self._net.cast(self.row.dtype)
        self._net(self.batches[0][0][:2])  # infer the layers' shapes
        names = json.loads((folder / "names.json").read_text())
        for name, parameter in self._net._collect_params_with_prefix().items():
            parameter.set_data(weights[names[name]])
        if not self.row.eager:
            self._net.hybridize(static_alloc=True, static_shape=True)
            self._loss.hybridize(static_alloc=True, static_shape=True)
        self._trainer = mx.gluon.Trainer(self._net.collect_params(), *self.row.optimizer)

    def step(self, number):
        data, label = self.batches[number % len(self.batches)]
        with self.mx.autograd.record():
            self._losses = self._loss(self._net(data), label)
        self._losses.backward()
        self._trainer.step(label.shape[0])

    def loss(self):
        return self._losses.mean().asscalar()


class Module(Contender):
    """A symbol with an output layer, bound by a Module."""

    def prepare(self, folder):
        mx = self.mx
        symbol = outputs_of(mx, self.row, mx.sym.load(str(folder / "symbol.json")))
        weights, auxiliary = self.weights(folder), set(symbol.list_auxiliary_states())
        module = mx.mod.Module(symbol, ["data"], ["label"])
        # A sample may have many labels, but both arrays have as many rows.
        fed = [(data, label.reshape((len(data), -1))) for data, label in self.batches]
        if self.row.labels == 1:
            fed = self.batches
        data, label = fed[0]
        described = [
            [mx.io.DataDesc(name, array.shape, self.row.dtype)]
            for name, array in (("data", data), ("label", label))
        ]
        module.bind(*described)
        parts = ({}, {})
        for name, value in weights.items():
            parts[name in auxiliary][name] = value
        module.init_params(None, *parts)
        name, about = self.row.optimizer
        about = {**about, "rescale_grad": 1 / label.size}
        module.init_optimizer(optimizer=name, optimizer_params=about)
        self._module = module
        self._fed = [mx.io.DataBatch([one], [other]) for one, other in fed]

    def step(self, number):
        self._number = number % len(self._fed)
        self._module.forward_backward(self._fed[self._number])
        self._module.update()

    def loss(self):
        scores = self._module.get_outputs()[0].asnumpy()
        labels = self.batches[self._number][1].asnumpy()
        if self.row.classes:
            chosen = scores[np.arange(len(labels)), labels.astype(int)]
        else:
            chosen = np.abs(1 - labels - scores[:, 0])
        return -np.log(chosen).mean()


class Chain(Contender):
    """50 small operations on arrays, their gradients, and a descent step."""

    def prepare(self, folder):
        self._x, self._b = self.batches[0][0], self.batches[1][0]
        self._w = self.batches[2][0] * 0.1
        self._w.attach_grad()

    def step(self, number):
        x, w, b, tanh = self._x, self._w, self._b, self.mx.nd.tanh
        with self.mx.autograd.record():
            y = x
            for _ in range(10):
                y = tanh(y * w + b) * 0.5 - x
        y.backward()
        w -= 0.01 * w.grad
        self._y = y

    def loss(self):
        return self._y.mean().asscalar()
