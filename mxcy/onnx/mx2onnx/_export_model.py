"""Export functions under MXNet's module path."""

from mxcy.onnx.mx2onnx.export import export_model, get_operator_support

__all__ = ["export_model", "get_operator_support"]
