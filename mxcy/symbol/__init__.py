"""`mx.sym`: the classic symbolic interface.

Operators are functions of this module and of its namespaces, by the rule of `mxcy.ops.core.homes`;
they are made when first asked for.
"""

from mxcy.ops.core import homes
from mxcy.symbol import (  # noqa: F401
    _internal,
    arithmetic,
    contrib,
    fluent,
    image,
    linalg,
    namespaces,
    op,
    random,
    sparse,
)
from mxcy.symbol.arithmetic import hypot, maximum, minimum, pow, power  # noqa: F401
from mxcy.symbol.creation import *  # noqa: F403
from mxcy.symbol.custom import Custom  # noqa: F401
from mxcy.symbol.symbol import Group, Symbol  # noqa: F401

arithmetic.add_operators(Symbol)
fluent.add_methods(Symbol)

__getattr__, __dir__ = namespaces.offer(__name__, homes.MAIN)
