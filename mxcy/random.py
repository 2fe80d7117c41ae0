"""`mx.random`: seeding and random sampling."""

from mxcy._base.listing import listing
from mxcy._devices.streams import get_state, seed, set_state
from mxcy.ndarray.random import *  # noqa: F403
from mxcy.ndarray.random import __all__ as _drawing

__all__ = [*_drawing, "get_state", "seed", "set_state"]

__dir__ = listing(__name__)
