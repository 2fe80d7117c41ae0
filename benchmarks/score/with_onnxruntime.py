"""ONNX Runtime, all graph optimizations, batch size fixed."""

from pathlib import Path

import onnxruntime

from benchmarks.score.onnx_graph import write_onnx


class Contender:
    """See `worker.py`."""

    def __init__(self, folder, threads):
        self._path, self._threads = Path(folder, "network.onnx"), threads
        if not self._path.exists():
            write_onnx(folder, self._path)
        self._session = None

    def bind(self, data):
        self._session = None
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.add_free_dimension_override_by_name("N", len(data))
        self._session = onnxruntime.InferenceSession(
            str(self._path), options, providers=["CPUExecutionProvider"]
        )
        self._input = {"data": data}

    def run(self):
        self._out = self._session.run(None, self._input)[0]

    def output(self):
        return self._out

    def about(self):
        return f"ONNX Runtime {onnxruntime.__version__}"
