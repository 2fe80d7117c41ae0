"""ONNX Runtime, all graph optimizations, batch size fixed."""

from pathlib import Path

import numpy as np

from benchmarks.infer.rows import ROWS
from benchmarks.score.with_onnxruntime import Contender

__all__ = ["Contender", "Stepping"]


class Stepping(Contender):
    """A run hands its states to the next one."""

    def __init__(self, folder, threads):
        super().__init__(folder, threads)
        self._states = ROWS[Path(folder).name].states

    def bind(self, data):
        super().bind(data)
        for number, (layers, units) in enumerate(self._states):
            self._input[f"state{number}"] = np.zeros((layers, len(data), units), "float32")

    def run(self):
        self._out, *states = self._session.run(None, self._input)
        for number, state in enumerate(states):
            self._input[f"state{number}"] = state
