"""Operators as methods: ``a.exp()`` is ``mx.sym.exp(a)``."""

from mxcy.ndarray.fluent import LazyMethod, is_method
from mxcy.ops.core import record
from mxcy.symbol import register
from mxcy.symbol.creation import split_v2

__all__ = ["add_methods"]


def _ignoring_inplace(name):
    """Make a method that ignores argument `inplace`, which has no meaning for symbols."""

    def method(self, *args, inplace=False, **kwargs):
        return getattr(register.F, name)(self, *args, **kwargs)

    method.__name__, method.__doc__ = name, f"Apply `mx.sym.{name}` to this symbol."
    return method


def add_methods(cls):
    """Add the operators to a class as methods, except those it defines itself."""
    for name in ("flatten", "expand_dims", "squeeze"):
        setattr(cls, name, _ignoring_inplace(name))
    cls.split_v2 = split_v2
    cls.astype = LazyMethod("astype", register.function, record.find("cast"), "cast")
    for name, operator in record.REGISTRY.all_known():
        if is_method(name, operator) and not hasattr(cls, name):
            setattr(cls, name, LazyMethod(name, register.function, operator, name))
