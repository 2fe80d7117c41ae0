"""Operators as methods: ``a.exp()`` is ``mx.nd.exp(a)``.

Every operator with a lower-case public name and a fixed number of inputs is a method of its first
input. The underlying function is created at first access.
"""

from mxcy.ndarray import register
from mxcy.ops.core import record

__all__ = ["LazyMethod", "add_methods", "is_method"]


class LazyMethod:
    """Descriptor that creates an operator's function at first access.

    Parameters
    ----------
    name : str
        The method's name.
    make : callable
        ``make(*arguments)`` returns the function.
    """

    __slots__ = ("_arguments", "_make", "_name")

    def __init__(self, name, make, *arguments):
        self._name, self._make, self._arguments = name, make, arguments

    def __get__(self, instance, owner):
        function = self._make(*self._arguments)
        for cls in owner.__mro__:
            if cls.__dict__.get(self._name) is self:
                setattr(cls, self._name, function)
        return function if instance is None else function.__get__(instance, owner)


def is_method(name, record):
    """Whether the operator is offered as a method under this name."""
    return name[0].isalpha() and name.islower() and record.inputs and not record.variadic


def add_methods(cls):
    """Add the operators to a class as methods, except those it defines itself."""
    for name, operator in record.REGISTRY.all_known():
        if is_method(name, operator) and not hasattr(cls, name):
            setattr(cls, name, LazyMethod(name, register.function, operator))
