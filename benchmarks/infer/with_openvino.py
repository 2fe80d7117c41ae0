"""OpenVINO on the CPU: float32, latency hint, fixed batch size."""

from pathlib import Path

import numpy as np
import openvino

from benchmarks.infer.rows import ROWS
from benchmarks.score.with_openvino import Contender

__all__ = ["Contender", "Stepping"]


class Stepping(Contender):
    """A run hands its states to the next one."""

    def __init__(self, folder, threads):
        super().__init__(folder, threads)
        self._states = {
            f"state{number}": shape for number, shape in enumerate(ROWS[Path(folder).name].states)
        }

    def shapes(self, data):
        states = {
            name: (layers, len(data), units) for name, (layers, units) in self._states.items()
        }
        return {**super().shapes(data), **states}

    def bind(self, data):
        super().bind(data)
        for name, shape in self.shapes(data).items():
            if name in self._states:
                self._request.set_tensor(name, openvino.Tensor(np.zeros(shape, "float32")))

    def run(self):
        self._request.infer()
        for number, name in enumerate(self._states, 1):
            state = self._request.get_output_tensor(number).data
            self._request.get_tensor(name).data[:] = state
