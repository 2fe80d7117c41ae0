"""ONNX Runtime, all graph optimizations, batch size fixed."""

from pathlib import Path

import numpy as np
import onnxruntime

from benchmarks.score.onnx_graph import write_onnx
from benchmarks.score.quantized import CALIBRATING


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


class _Images:
    """One batch of calibration images."""

    def __init__(self, folder):
        images = np.load(Path(folder, "images.npy"))[:CALIBRATING]
        self._batches = iter([{"data": images}])

    def get_next(self):
        return next(self._batches, None)


class Quantized(Contender):
    """The same network quantized by ONNX Runtime's tool: a QDQ file with a scale per filter."""

    def __init__(self, folder, threads):
        super().__init__(folder, threads)
        plain, self._path = self._path, Path(folder, "network_int8.onnx")
        if not self._path.exists():
            from onnxruntime.quantization import QuantType, quantize_static
            from onnxruntime.quantization.shape_inference import quant_pre_process

            folded = Path(folder, "network_folded.onnx")
            quant_pre_process(str(plain), str(folded), skip_symbolic_shape=True)
            quantize_static(
                str(folded),
                str(self._path),
                _Images(folder),
                per_channel=True,
                activation_type=QuantType.QUInt8,
                weight_type=QuantType.QInt8,
            )

    def about(self):
        return f"{super().about()} int8 by QDQ file"
