"""mxcy and MXNet 1.9.1 when a run hands its states to the next one."""

from pathlib import Path

from benchmarks.infer.rows import ROWS


class Stepping:
    """Mixed into a contender of `benchmarks.score.with_symbols`."""

    def __init__(self, folder, threads):
        super().__init__(folder, threads)
        self._states = ROWS[Path(folder).name].states

    def bind(self, data):
        for number, (layers, units) in enumerate(self._states):
            self._arguments[f"state{number}"] = self.mx.nd.zeros((layers, len(data), units))
        super().bind(data)

    def run(self):
        scores, *states = self._executor.forward(is_train=False)
        for number, state in enumerate(states):
            state.copyto(self._executor.arg_dict[f"state{number}"])
        scores.wait_to_read()
