"""Convolutions under their MXNet 1.x names."""

# Written by `python -m tools.stubs --write`.

from mxcy.gluon.contrib.cnn import (
    conv_layers as conv_layers,
)
from mxcy.gluon.nn.deformable_layers import (
    DeformableConvolution as DeformableConvolution,
    ModulatedDeformableConvolution as ModulatedDeformableConvolution,
)
