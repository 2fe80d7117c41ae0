"""Functions of `mx.sym.np` and `mx.sym.npx`, created from records at first access.

A function runs the same Python code as in `mx.np`, in a scope in which operators are recorded
symbolically.
"""

import functools
import inspect
import sys
from importlib import import_module

from mxcy._base.suggestions import no_attribute
from mxcy.numpy import register as of_arrays
from mxcy.numpy._calls import symbolic
from mxcy.ops.core import homes
from mxcy.ops.core.public import Public
from mxcy.symbol.numpy.describe import named
from mxcy.symbol.symbol import Symbol

__all__ = ["describing", "offer"]

_UNKNOWN = ("dtype", "dtype_code", "ndim", "shape", "size")
_BESIDE = [
    inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=None) for n in ("name", "attr")
]


def _from_record(namespace, name):
    """Make an operator's function with argument `name`; None if there is no such record."""
    entry = homes.numpy_homes().get((namespace, name))
    if entry is None:
        return None
    record, public = entry
    hint = None
    if not record.name.startswith("_np"):
        hint, public = name.lower(), _with_variables(record, public)
    function = of_arrays.plain(namespace, name, record, public)

    def over_symbols(*args, name=None, attr=None, **kwargs):
        with symbolic.scope(), named(name, attr, hint):
            return function(*args, **kwargs)

    functools.update_wrapper(over_symbols, function)
    signature = inspect.signature(function)
    own = [p for p in signature.parameters.values() if p.name not in ("name", "attr")]
    keywords = [own.pop()] if own and own[-1].kind is inspect.Parameter.VAR_KEYWORD else []
    over_symbols.__signature__ = signature.replace(parameters=[*own, *_BESIDE, *keywords])
    over_symbols.__doc__ = function.__doc__.replace("ndarray", "Symbol")
    over_symbols.__module__ = "mxcy.symbol.numpy"
    return over_symbols


def _with_variables(record, public):
    """Make the inputs of a signature optional: missing ones become variables."""
    parts, inputs = public.signature.split(","), len(record.inputs)
    listed = [
        f"{part}=None" if 0 < place < inputs and part.strip().isidentifier() else part
        for place, part in enumerate(parts)
    ]
    return Public(f"{public.text.partition('(')[0]}({','.join(listed)})", rename=public.rename)


def describing(function):
    """Wrap a composite function of `mx.np` for symbols."""

    @functools.wraps(function)
    def over_symbols(*args, **kwargs):
        with symbolic.scope():
            try:
                return function(*args, **kwargs)
            except AttributeError as error:
                if error.name not in _UNKNOWN or not isinstance(error.obj, Symbol):
                    raise
                raise NotImplementedError(
                    f"{function.__name__}: it requires {error.name}, which symbols do not have"
                ) from None

    over_symbols.__module__ = "mxcy.symbol.numpy"
    return over_symbols


def _computes(value):
    """Whether a value is a function of arrays rather than one of NumPy's settings."""
    return inspect.isfunction(value) and value.__module__.startswith("mxcy")


def offer(module, namespace, arrays):
    """Make ``__getattr__`` and ``__dir__`` of the symbolic counterpart of a module.

    Parameters
    ----------
    module : str
    namespace : str
        The namespace's name in `mxcy.ops.core.homes.numpy_homes`.
    arrays : str
        The module with the same functions for arrays.
    """

    def lookup(name):
        result = _from_record(namespace, name)
        if result is None:
            above = import_module(arrays)
            if name.startswith("__") or not hasattr(above, name):
                raise no_attribute(module, name)
            value = getattr(above, name)
            result = describing(value) if _computes(value) else value
        setattr(sys.modules[module], name, result)
        return result

    def listing():
        offered = [name for home, name in homes.numpy_homes() if home == namespace]
        composed = [n for n in dir(import_module(arrays)) if not n.startswith("_")]
        return sorted({*vars(sys.modules[module]), *offered, *composed})

    return lookup, listing
