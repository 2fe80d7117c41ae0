"""How operators are written in those of ONNX, by family, as in `mxcy.ops`."""
