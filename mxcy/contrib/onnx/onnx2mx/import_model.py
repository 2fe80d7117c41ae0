"""Import a model file; see `mxcy.onnx.onnx2mx.import_model`."""

from mxcy._base import older_paths

__getattr__ = older_paths.offer(__name__, "mxcy.onnx.onnx2mx.import_model")
