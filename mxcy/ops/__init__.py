"""Operator records by family. Importing the package registers them all."""

from importlib import import_module

#: modules of this package that register operators
FAMILIES = (
    "creation",
    "histogram",
    "elemwise",
    "broadcast",
    "reduce",
    "shape",
    "matrix",
    "dot",
    "expand",
    "concat",
    "slicing",
    "conv",
    "pool",
    "nn",
    "norm",
    "norm_sample",
    "norm_scale",
    "softmax",
    "loss",
    "loss_output",
    "optimizer",
    "random",
)

for _family in FAMILIES:
    import_module(f"mxcy.ops.{_family}")
