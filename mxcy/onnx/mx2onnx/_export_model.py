"""MXNet's path to the functions of export."""

from mxcy.onnx.mx2onnx.export import export_model, get_operator_support

__all__ = ["export_model", "get_operator_support"]
