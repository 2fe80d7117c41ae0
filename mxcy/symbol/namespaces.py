"""Lazy namespaces of `mx.sym`: operators are created at first access."""

from mxcy.ndarray.namespaces import lazy_operators
from mxcy.symbol import register

__all__ = ["offer"]


def offer(module, namespace):
    """Make ``__getattr__`` and ``__dir__`` of a module with the operators of a namespace.

    Parameters
    ----------
    module, namespace : str
        See `mxcy.ndarray.namespaces.lazy_operators`.
    """
    return lazy_operators(module, namespace, register.function)
