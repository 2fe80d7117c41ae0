"""`mx.sym`: the classic symbolic interface.

Operators are functions of this module and its namespaces, as assigned by `mxcy.ops.core.homes`.
They are created at first access.
"""

from importlib import import_module

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

_operator, __dir__ = namespaces.offer(__name__, homes.MAIN)

#: name -> module that is imported at the first access
_LATER = {
    "np": "mxcy.symbol.numpy",
    "npx": "mxcy.symbol.numpy_extension",
    "numpy": "mxcy.symbol.numpy",
    "numpy_extension": "mxcy.symbol.numpy_extension",
}


def __getattr__(name):
    if name in _LATER:
        module = globals()[name] = import_module(_LATER[name])
        return module
    return _operator(name)


def _as_np_ndarray(self):
    """Return a symbol of `mx.sym.np` with the same outputs.

    Returns
    -------
    Symbol
    """
    return __getattr__("numpy")._Symbol(self._entries)


Symbol.as_np_ndarray = _as_np_ndarray
