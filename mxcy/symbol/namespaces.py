"""The lazy namespaces of `mx.sym`: each operator appears in its home when it is first asked for."""

from mxcy.ndarray.namespaces import lazy_operators
from mxcy.symbol import register

__all__ = ["offer"]


def offer(module, namespace):
    """``__getattr__`` and ``__dir__`` of a module that offers the operators of a namespace.

    Parameters
    ----------
    module, namespace : str
        See `mxcy.ndarray.namespaces.lazy_operators`.
    """
    return lazy_operators(module, namespace, register.function)
