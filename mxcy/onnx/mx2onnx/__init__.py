"""Export of networks to ONNX files."""

from mxcy.onnx.mx2onnx.export import export_model, get_operator_support

__all__ = ["export_model", "get_operator_support"]
