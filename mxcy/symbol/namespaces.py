"""The lazy namespaces of `mx.sym`: each operator appears in its home when it is first asked for."""

import sys

from mxcy._base.suggestions import no_attribute
from mxcy.ops.core import homes
from mxcy.symbol import register

__all__ = ["offer"]


def offer(module, namespace):
    """``__getattr__`` and ``__dir__`` of a module that offers the operators of a namespace.

    Parameters
    ----------
    module : str
        The module's name.
    namespace : str
        As `mxcy.ops.core.homes` names it.
    """

    def lookup(name):
        record = homes.registered(namespace, name)
        if record is None:
            raise no_attribute(module, name)
        function = register.function(record, name)
        setattr(sys.modules[module], name, function)
        return function

    def listing():
        return sorted({*vars(sys.modules[module]), *homes.names(namespace)})

    return lookup, listing
