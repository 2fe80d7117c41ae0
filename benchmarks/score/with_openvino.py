"""OpenVINO on the CPU: float32 by default, latency hint, fixed batch size."""

from pathlib import Path

import openvino


class Contender:
    """See `worker.py`."""

    file = "network.onnx"
    hint = "f32"

    def __init__(self, folder, threads):
        self._threads = threads
        self._core = openvino.Core()
        self._model = self._core.read_model(Path(folder, self.file))

    def shapes(self, data):
        return {"data": data.shape}

    def bind(self, data):
        self._request = None
        self._model.reshape(self.shapes(data))
        compiled = self._core.compile_model(
            self._model,
            "CPU",
            {
                "PERFORMANCE_HINT": "LATENCY",
                "INFERENCE_PRECISION_HINT": self.hint,
                "INFERENCE_NUM_THREADS": self._threads,
            },
        )
        self._request = compiled.create_infer_request()
        self._request.set_tensor("data", openvino.Tensor(data, shared_memory=True))
        self._data = data

    def run(self):
        self._request.infer()

    def output(self):
        return self._request.get_output_tensor(0).data.copy()

    def about(self):
        return f"OpenVINO {openvino.__version__.split('-')[0]}"


class Quantized(Contender):
    """ONNX Runtime's quantized file; float layers run in float32."""

    file = "network_int8.onnx"

    def about(self):
        return f"{super().about()} int8 by QDQ file, hint f32"


class Narrow(Contender):
    """The float file, run in bfloat16."""

    hint = "bf16"

    def about(self):
        return f"{super().about()} hint bf16"
