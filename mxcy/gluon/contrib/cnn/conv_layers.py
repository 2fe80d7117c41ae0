"""Convolutions whose taps move, which `mxcy.gluon.nn` has as well."""

from mxcy.gluon.nn import DeformableConvolution, ModulatedDeformableConvolution

__all__ = ["DeformableConvolution", "ModulatedDeformableConvolution"]
