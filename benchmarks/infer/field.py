"""The contenders of the inference table."""

from benchmarks.score import contenders
from benchmarks.score.contenders import OURS

__all__ = ["COLUMNS", "OURS", "Field"]

#: column -> environment (None for this one), class of the worker
COLUMNS = {
    OURS: (None, "with_mxcy:Contender"),
    "MXNet 1.9.1": ("mxnet", "with_mxnet:Contender"),
    "PyTorch script": ("torch", "with_torch:Scripted"),
    "PyTorch compile": ("torch", "with_torch:Compiled"),
    "ONNX Runtime": ("onnxruntime", "with_onnxruntime:Contender"),
    "OpenVINO": ("openvino", "with_openvino:Contender"),
}
#: the same for rows whose runs hand states to the next ones
STEPPING = {
    name: (environment, f"{kind.split(':')[0]}:Stepping")
    for name, (environment, kind) in COLUMNS.items()
    if name != "PyTorch compile"
}


class Field(contenders.Field):
    """All contenders with one row's network, each in a separate process; see the base class."""

    worker = "benchmarks.infer.worker"

    def __init__(self, material, peers, threads, only=None):
        self.tables = {"float32": STEPPING if material.row.states else COLUMNS}
        super().__init__(material, peers, threads, only)
