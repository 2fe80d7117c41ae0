"""Convolutions under their MXNet 1.x names."""

from mxcy.gluon.contrib.cnn import conv_layers
from mxcy.gluon.contrib.cnn.conv_layers import DeformableConvolution, ModulatedDeformableConvolution

__all__ = ["DeformableConvolution", "ModulatedDeformableConvolution", "conv_layers"]
