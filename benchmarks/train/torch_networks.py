"""The networks in PyTorch; image networks are built from their graphs."""

import json
import re
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from benchmarks.score.with_torch import MAKERS, build

__all__ = ["make"]

# Parameter names in Gluon and in PyTorch.
RENAMES = (
    (r"_unfused\.(\d+)\.i2h_(weight|bias)$", r"\2_ih_l\1"),
    (r"_unfused\.(\d+)\.h2h_(weight|bias)$", r"\2_hh_l\1"),
    (r"gamma$", "weight"),
    (r"beta$", "bias"),
)


def make(folder, row):
    """Create the network of a row with its initial weights, ready for training."""
    if row.image:
        return build(folder).train().requires_grad_(True)
    net = NETWORKS[row.network](row)
    names = json.loads(Path(folder, "names.json").read_text())
    state = {}
    with np.load(Path(folder, "weights.npz")) as weights:
        for name, key in names.items():
            for pattern, text in RENAMES:
                name = re.sub(pattern, text, name)
            state[name] = torch.from_numpy(weights[key])
    net.load_state_dict(state)
    return net


def _clip(node):
    return {(0.0, 6.0): nn.ReLU6}[float(node.get("a_min")), float(node.get("a_max"))]()


MAKERS["clip"] = _clip


class Language(nn.Module):
    """Embedding, two layers of LSTM, scores of the next word at every position."""

    def __init__(self, row):
        super().__init__()
        units = row.about["units"]
        self.words = nn.Embedding(row.words, units)
        self.rnn = nn.LSTM(units, units, 2, batch_first=True)
        self.head = nn.Linear(units, row.classes)

    def forward(self, data):
        return self.head(self.rnn(self.words(data))[0]).flatten(0, 1)


class Recurrent(nn.Module):
    """Two layers of GRU; the last position is classified."""

    def __init__(self, row):
        super().__init__()
        units = row.about["units"]
        self.rnn = nn.GRU(row.shape[1], units, 2, batch_first=True)
        self.head = nn.Linear(units, row.classes)

    def forward(self, data):
        return self.head(self.rnn(data)[0][:, -1])


class Layer(nn.Module):
    """Attention and two dense layers, with residual connections and normalisation."""

    def __init__(self, units, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(units, 3 * units)
        self.mix = nn.Linear(units, units)
        self.norm1 = nn.LayerNorm(units)
        self.wide = nn.Linear(units, 4 * units)
        self.narrow = nn.Linear(4 * units, units)
        self.norm2 = nn.LayerNorm(units)

    def forward(self, data):
        batch, length, units = data.shape
        parts = self.qkv(data).view(batch, length, self.heads, 3, -1).permute(3, 0, 2, 1, 4)
        mixed = functional.scaled_dot_product_attention(*parts.unbind(0))
        mixed = mixed.transpose(1, 2).reshape(batch, length, units)
        data = self.norm1(data + self.mix(mixed))
        return self.norm2(data + self.narrow(functional.gelu(self.wide(data))))


class Encoder(nn.Module):
    """A BERT; the first position is classified."""

    def __init__(self, row):
        super().__init__()
        units, heads, layers = map(row.about.get, ("units", "heads", "layers"))
        self.words = nn.Embedding(row.words, units)
        self.places = nn.Parameter(torch.zeros(row.about["length"], 1, units))
        self.norm = nn.LayerNorm(units)
        self.layers = nn.Sequential(*(Layer(units, heads) for _ in range(layers)))
        self.head = nn.Linear(units, row.classes)

    def forward(self, data):
        words = self.words(data) + self.places.transpose(0, 1)
        return self.head(self.layers(self.norm(words))[:, 0])


class Recommender(nn.Module):
    """Four ids of one embedding, two dense layers."""

    def __init__(self, row):
        super().__init__()
        width = row.about["width"]
        children = (
            nn.Embedding(row.words, width, sparse=row.about["sparse"]),
            nn.Linear(width * row.shape[0], 128),
            nn.Linear(128, 1),
        )
        for number, child in enumerate(children):
            self.add_module(str(number), child)

    def forward(self, data):
        words, hidden, head = self.children()
        return head(functional.relu(hidden(words(data).flatten(1))))[:, 0]


class Perceptron(nn.Module):
    """Three dense layers."""

    def __init__(self, row):
        super().__init__()
        sizes = (row.shape[0], 128, 64, row.classes)
        for number in range(3):
            self.add_module(str(number), nn.Linear(sizes[number], sizes[number + 1]))

    def forward(self, data):
        first, second, head = self.children()
        return head(functional.relu(second(functional.relu(first(data)))))


NETWORKS = {
    "language": Language,
    "recurrent": Recurrent,
    "bert": Encoder,
    "recommender": Recommender,
    "perceptron": Perceptron,
}
