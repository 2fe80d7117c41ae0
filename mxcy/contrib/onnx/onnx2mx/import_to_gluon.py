"""Import a model file as a block; see `mxcy.onnx.onnx2mx.import_to_gluon`."""

from mxcy._base import older_paths

__getattr__ = older_paths.offer(__name__, "mxcy.onnx.onnx2mx.import_to_gluon")
