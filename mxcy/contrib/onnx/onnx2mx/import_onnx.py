"""Graphs as symbols; see `mxcy.onnx.onnx2mx.import_onnx`."""

from mxcy._base import older_paths

__getattr__ = older_paths.offer(__name__, "mxcy.onnx.onnx2mx.import_onnx")
