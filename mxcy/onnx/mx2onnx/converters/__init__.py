"""Converters from mxcy operators to ONNX, by the families of `mxcy.ops`."""
