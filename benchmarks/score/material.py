"""The input of all contenders: a network's graph, weights and images, as files in a folder.

``symbol.json``, ``weights.npz`` (parameters by name) and ``images.npy``. They are generated once,
from a fixed seed, so that outputs are far from uniform and depend on every layer.
"""

import math
import shutil
import tempfile
from pathlib import Path

import numpy as np

import mxcy as mx
from examples.image_classification.symbols import get_network, image_shape

__all__ = ["Material", "MOST_IMAGES"]

MOST_IMAGES = 32
# Standard deviation of the scores before softmax, so that probabilities differ by factors.
SPREAD = 2.0
VERSION = "1"


class Material:
    """A network's files.

    Parameters
    ----------
    name : str
        See `examples.image_classification.symbols.get_network`.
    folder : str or Path
        Parent of the network's folder, which is created if missing or out of date.
    """

    def __init__(self, name, folder):
        self.name = name
        self.folder = Path(folder, name)
        self.image_shape = image_shape(name)
        stamp = self.folder / "version"
        if not stamp.exists() or stamp.read_text() != VERSION:
            self._make()

    @property
    def images(self):
        """Path of the image file."""
        return self.folder / "images.npy"

    def symbol(self):
        """The network."""
        return mx.sym.load(str(self.folder / "symbol.json"))

    def gflop(self):
        """GFLOP of one image's convolutions and dense layers, computed directly."""
        return _gflop(self.symbol(), (1, *self.image_shape))

    def _make(self):
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=self.folder.parent))
        symbol = get_network(self.name)
        images = np.random.RandomState(0).standard_normal((MOST_IMAGES, *self.image_shape))
        images = images.astype("float32")
        symbol.save(str(draft / "symbol.json"))
        np.save(draft / "images.npy", images)
        np.savez(draft / "weights.npz", **_weights(symbol, images[:2]))
        (draft / "version").write_text(VERSION)
        shutil.rmtree(self.folder, ignore_errors=True)
        draft.rename(self.folder)


def _weights(symbol, images):
    """Random parameters by name; the last layer is scaled to spread its outputs."""
    arguments, _, auxiliary = symbol.infer_shape(data=images.shape)
    shapes = dict(zip(symbol.list_arguments(), arguments, strict=True))
    shapes.update(zip(symbol.list_auxiliary_states(), auxiliary, strict=True))
    # Residual branches add up and must be scaled down; chains must not.
    residual = any("_plus" in name for name in symbol.get_internals().list_outputs())
    gamma = (0.3, 0.7) if residual else (0.8, 1.2)
    random = np.random.RandomState(1)
    weights = {}
    for name, shape in shapes.items():
        if name.endswith("weight"):
            values = random.standard_normal(shape) * math.sqrt(2 / math.prod(shape[1:]))
        elif name.endswith("gamma"):
            values = random.uniform(*gamma, shape)
        elif name.endswith("var"):
            values = random.uniform(0.8, 1.2, shape)
        elif name.endswith(("bias", "beta", "mean")):
            values = random.standard_normal(shape) * 0.1
        else:
            continue  # data and label
        weights[name] = values.astype("float32")
    head, scores = _scores(symbol, weights, images)
    weights[head] *= SPREAD / scores.std()
    return weights


def _scores(symbol, weights, images):
    """Return the name of the last layer's weight, and that layer's output."""
    internals = symbol.get_internals()
    head = [name for name in symbol.list_arguments() if name.endswith("weight")][-1]
    last = internals[internals.list_outputs().index(head) + 2]
    arrays = {name: mx.nd.array(value) for name, value in weights.items()}
    arguments = {name: arrays[name] for name in last.list_arguments() if name in arrays}
    auxiliary = {name: arrays[name] for name in last.list_auxiliary_states()}
    executor = last.bind(
        mx.cpu(), {**arguments, "data": mx.nd.array(images)}, None, "null", auxiliary
    )
    return head, executor.forward()[0].asnumpy()


def _gflop(symbol, shape):
    internals = symbol.get_internals()
    arguments, outputs, _ = internals.infer_shape(data=shape)
    outputs = dict(zip(internals.list_outputs(), outputs, strict=True))
    total = 0
    for name, weight in zip(symbol.list_arguments(), arguments, strict=True):
        layer = name.removesuffix("_weight")
        if layer != name:
            out = outputs.get(f"{layer}_output") or outputs[f"{layer}_fwd_output"]
            total += 2 * math.prod(weight[1:]) * math.prod(out)
    return total / 1e9
