"""Transformations of random numbers, and those that obey constraints."""

from mxcy.gluon.probability.transformation.domain_map import biject_to, domain_map, transform_to
from mxcy.gluon.probability.transformation.transformation import *  # noqa: F403
from mxcy.gluon.probability.transformation.transformation import __all__ as _transformations

__all__ = ["biject_to", "domain_map", "transform_to", *_transformations]
