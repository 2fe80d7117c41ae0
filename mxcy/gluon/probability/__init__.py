"""Probability distributions, transformations, divergences and stochastic blocks."""

from mxcy._base.listing import listing
from mxcy.gluon.probability import block, distributions
from mxcy.gluon.probability.block import *  # noqa: F403
from mxcy.gluon.probability.block import __all__ as _blocks
from mxcy.gluon.probability.distributions import *  # noqa: F403
from mxcy.gluon.probability.distributions import __all__ as _distributions
from mxcy.gluon.probability.distributions import constraint  # noqa: F401
from mxcy.gluon.probability.transformation import *  # noqa: F403
from mxcy.gluon.probability.transformation import __all__ as _transformations

__all__ = ["block", "distributions", *_blocks, *_distributions, *_transformations]

__dir__ = listing(__name__)
