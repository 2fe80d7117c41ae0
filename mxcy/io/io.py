"""The names of `mxcy.io` under MXNet's longer path."""

from mxcy.io import *  # noqa: F403
from mxcy.io import __all__ as __all__
from mxcy.io.utils import _init_data  # noqa: F401  iterators of users' own
