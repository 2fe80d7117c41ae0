"""Transformations of random variables, and maps to constrained domains."""

from mxcy.gluon.probability.transformation.domain_map import biject_to, domain_map, transform_to
from mxcy.gluon.probability.transformation.transformation import *  # noqa: F403
from mxcy.gluon.probability.transformation.transformation import __all__ as _transformations

__all__ = ["biject_to", "domain_map", "transform_to", *_transformations]
