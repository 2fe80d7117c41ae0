"""Descriptors for methods that forward to module functions, and for hidden methods."""

import sys

__all__ = ["FunctionMethod", "Hidden"]


class FunctionMethod:
    """Method that forwards to the module function of the same name, looked up on access."""

    def __set_name__(self, owner, name):
        self._owner, self._name = owner, name

    def __get__(self, instance, owner):
        home = sys.modules[self._owner._functions_of]
        function = getattr(home, self._name, None)
        if function is None:
            raise AttributeError(f"'{owner.__name__}' object has no attribute '{self._name}'")
        setattr(self._owner, self._name, function)
        return function if instance is None else function.__get__(instance, owner)


class Hidden:
    """Hide an inherited method: accessing it raises AttributeError."""

    def __init__(self, name):
        self._name = name

    def __get__(self, instance, owner):
        if instance is None:
            return self
        raise AttributeError(f"'{owner.__name__}' object has no attribute '{self._name}'")
