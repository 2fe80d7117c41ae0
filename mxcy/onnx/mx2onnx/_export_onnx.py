"""MXNet's path to the class with which users register converters."""

from mxcy.onnx.mx2onnx.custom import MXNetGraph

__all__ = ["MXNetGraph"]
