"""PyTorch: eager, with images in channels_last, or compiled."""

from pathlib import Path

import torch
from torch.nn import functional

from benchmarks.train.rows import ROWS
from benchmarks.train.torch_networks import make


class Eager:
    """See `worker.py`."""

    channels_last = False

    def __init__(self, folder, threads):
        torch.set_num_threads(threads)
        self._row = ROWS[Path(folder).name]
        self._net = make(folder, self._row)
        if self.channels_last:
            self._net.to(memory_format=torch.channels_last)
        self._batches = [self._tensors(*pair) for pair in self._row.batches()]
        self._forward = self._net
        self._optimizers = self._make_optimizers(*self._row.optimizer)

    def _tensors(self, data, label):
        data, label = torch.from_numpy(data), torch.from_numpy(label)
        if self._row.words:
            data = data.long()
        if self.channels_last:
            data = data.contiguous(memory_format=torch.channels_last)
        return data, label.long() if self._row.classes else label

    def _make_optimizers(self, name, about):
        about = {"lr" if key == "learning_rate" else key: value for key, value in about.items()}
        sparse = [
            module.weight for module in self._net.modules() if getattr(module, "sparse", False)
        ]
        dense = [p for p in self._net.parameters() if all(p is not one for one in sparse)]
        kind = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[name]
        optimizers = [kind(dense, fused=True, **about)]
        if sparse:
            optimizers.append(torch.optim.SparseAdam(sparse, **about))
        return optimizers

    def step(self, number):
        data, label = self._batches[number % len(self._batches)]
        for optimizer in self._optimizers:
            optimizer.zero_grad(set_to_none=True)
        scores = self._forward(data)
        if self._row.classes:
            self._loss = functional.cross_entropy(scores, label)
        else:
            self._loss = functional.binary_cross_entropy_with_logits(scores, label)
        self._loss.backward()
        for optimizer in self._optimizers:
            optimizer.step()

    def loss(self):
        return self._loss.item()

    def finish(self):
        """Do nothing: steps are synchronous."""

    def about(self):
        return f"PyTorch {torch.__version__}"


class Last(Eager):
    """Images in channels_last."""

    channels_last = True


class Compiled(Last):
    """torch.compile of the network; images in channels_last."""

    def __init__(self, folder, threads):
        self.channels_last = ROWS[Path(folder).name].image
        super().__init__(folder, threads)
        self._forward = torch.compile(self._net)


class Chain(Eager):
    """50 small operations on tensors, their gradients, and a descent step."""

    def __init__(self, folder, threads):
        torch.set_num_threads(threads)
        x, b, w = (torch.from_numpy(data) for data, _ in ROWS[Path(folder).name].batches())
        self._x, self._b, self._w = x, b, (w * 0.1).requires_grad_()
        self._head = torch.ones_like(x)

    def step(self, number):
        x, w, b, tanh = self._x, self._w, self._b, torch.tanh
        w.grad = None
        y = x
        for _ in range(10):
            y = tanh(y * w + b) * 0.5 - x
        y.backward(self._head)
        with torch.no_grad():
            w.sub_(w.grad, alpha=0.01)
        self._loss = y

    def loss(self):
        return self._loss.mean().item()
