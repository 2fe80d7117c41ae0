"""Alias of the deformable convolutions of `mxcy.gluon.nn`."""

from mxcy.gluon.nn import DeformableConvolution, ModulatedDeformableConvolution

__all__ = ["DeformableConvolution", "ModulatedDeformableConvolution"]
