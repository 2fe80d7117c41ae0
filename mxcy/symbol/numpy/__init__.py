"""`mx.sym.np`: the functions of `mx.np` for symbols.

They are created at first access from the records and composite functions of `mx.np`; those that
need shapes there are reimplemented in modules of this package.
"""

from mxcy.symbol.numpy import _internal, linalg, random, register  # noqa: F401
from mxcy.symbol.numpy.choosing import *  # noqa: F403
from mxcy.symbol.numpy.creation import *  # noqa: F403
from mxcy.symbol.numpy.products import *  # noqa: F403
from mxcy.symbol.numpy.shapes import *  # noqa: F403
from mxcy.symbol.numpy.symbol import _Symbol  # noqa: F401

__getattr__, __dir__ = register.offer(__name__, "", "mxcy.numpy")
