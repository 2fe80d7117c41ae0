"""The registry of users' converters under MXNet's module path."""

from mxcy.onnx.mx2onnx.custom import MXNetGraph

__all__ = ["MXNetGraph"]
