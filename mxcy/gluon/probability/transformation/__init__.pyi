"""Transformations of random variables, and maps to constrained domains."""

# Written by `python -m tools.stubs --write`.

from typing import Any
from mxcy.gluon.probability.transformation.domain_map import (
    domain_map as domain_map,
)
from mxcy.gluon.probability.transformation.transformation import (
    AbsTransform as AbsTransform, AffineTransform as AffineTransform,
    ComposeTransform as ComposeTransform, ExpTransform as ExpTransform,
    PowerTransform as PowerTransform, SigmoidTransform as SigmoidTransform,
    SoftmaxTransform as SoftmaxTransform, TransformBlock as TransformBlock,
    Transformation as Transformation,
)

biject_to: Any
transform_to: Any
