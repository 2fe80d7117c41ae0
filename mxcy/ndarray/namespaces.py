"""Lazy namespaces of `mx.nd`: operators are created at first access."""

import sys

from mxcy._base.listing import own_names
from mxcy._base.suggestions import no_attribute
from mxcy.ndarray import register
from mxcy.ops.core import homes

__all__ = ["lazy_operators", "offer"]


def offer(module, namespace):
    """Make ``__getattr__`` and ``__dir__`` of a module with the operators of a namespace.

    Parameters
    ----------
    module, namespace : str
        See `lazy_operators`.
    """
    return lazy_operators(module, namespace, register.function)


def lazy_operators(module, namespace, function_of):
    """Make ``__getattr__`` and ``__dir__`` of a module of operators, on arrays or symbols.

    Parameters
    ----------
    module : str
        The module's name.
    namespace : str
        The namespace's name in `mxcy.ops.core.homes`.
    function_of : callable
        ``function_of(record, name)`` creates an operator's function.
    """

    def lookup(name):
        record = homes.registered(namespace, name)
        if record is None:
            raise no_attribute(module, name)
        function = function_of(record, name)
        setattr(sys.modules[module], name, function)
        return function

    def listing():
        return sorted({*own_names(module), *homes.names(namespace)})

    return lookup, listing
