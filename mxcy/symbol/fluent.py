"""Operators as methods: `a.exp()` is `mx.sym.exp(a)`."""

from mxcy.ops.core import record
from mxcy.symbol import register
from mxcy.symbol.creation import split_v2

__all__ = ["add_methods"]


class _Method:
    """Stands for an operator's function in a class until the function is wanted."""

    __slots__ = ("_name", "_record")

    def __init__(self, name, record):
        self._name, self._record = name, record

    def __get__(self, instance, owner):
        function = register.function(self._record, self._name)
        for cls in owner.__mro__:
            if cls.__dict__.get(self._name) is self:
                setattr(cls, self._name, function)
        return function if instance is None else function.__get__(instance, owner)


def _ignoring_inplace(name):
    """A method whose argument `inplace`, a wish that symbols cannot grant, is ignored."""

    def method(self, *args, inplace=False, **kwargs):
        return getattr(register.F, name)(self, *args, **kwargs)

    method.__name__, method.__doc__ = name, f"`mx.sym.{name}` of this symbol."
    return method


def add_methods(cls):
    """Give a class the operators as methods, besides those it defines itself."""
    for name in ("flatten", "expand_dims", "squeeze"):
        setattr(cls, name, _ignoring_inplace(name))
    cls.split_v2 = split_v2
    cls.astype = _Method("cast", record.find("cast"))
    for name, operator in record.REGISTRY.items():
        plain = name[0].isalpha() and name.islower() and operator.inputs and not operator.variadic
        if plain and not hasattr(cls, name):
            setattr(cls, name, _Method(name, operator))
