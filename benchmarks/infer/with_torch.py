"""PyTorch: as a frozen, optimized script, or compiled; images in channels_last."""

from pathlib import Path

import torch

from benchmarks.infer.rows import ROWS
from benchmarks.score import with_torch
from benchmarks.train import torch_networks

__all__ = ["Compiled", "Scripted", "Stepping"]


class LanguageStep(torch_networks.Language):
    """One step of a language model: scores of the next word, and the states of two layers."""

    def forward(self, data, state0, state1):
        out, states = self.rnn(self.words(data), (state0, state1))
        return self.head(out[:, 0]), *states


torch_networks.NETWORKS["lstm_step"] = LanguageStep


class _Prepared:
    """Mixed into a contender: its network may be no image classifier."""

    def __init__(self, folder, threads):
        self._row = ROWS[Path(folder).name]
        super().__init__(folder, threads)

    def make(self, folder):
        if self._row.image:
            return super().make(folder)
        return torch_networks.make(folder, self._row).eval()

    def tensor(self, data):
        if self._row.image:
            return super().tensor(data)
        return torch.from_numpy(data).long() if self._row.words else torch.from_numpy(data)


class Scripted(_Prepared, with_torch.Scripted):
    pass


class Compiled(_Prepared, with_torch.Compiled):
    pass


class Stepping(_Prepared, with_torch.Contender):
    """A run hands its states to the next one; eager, as oneDNN's steps are not compiled."""

    def optimize(self):
        self._states = [
            torch.zeros(layers, len(self._data), units) for layers, units in self._row.states
        ]

    def run(self):
        self._out, *self._states = self._module(self._data, *self._states)
