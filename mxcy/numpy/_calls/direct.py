"""Decorator that dispatches common calls of a Python function straight to an operator."""

import inspect

from mxcy._library import front
from mxcy.base import _Null
from mxcy.ops.core.record import find

__all__ = ["direct"]


def direct(operator, rename=None, joins=0, simple=True, **fixed):
    """Dispatch common calls of the decorated function directly to an operator.

    Calls whose arguments are arrays and plain values known to the operator bypass the function;
    parameters unknown to the operator must then have their defaults.

    Parameters
    ----------
    operator : str
        Registered name of the operator.
    rename : dict of str to str, optional
        Attribute names of parameters named differently; "" for parameters without attribute.
    joins : int
        1: the first parameter is a sequence of arrays of one dtype; 2: also of one shape.
    simple : bool
        Whether 0-d and empty arrays always run the function.
    **fixed
        Attribute values that calls cannot set.
    """
    record, rename = find(operator), rename or {}
    inputs, fields = 1 if joins else len(record.inputs), record.schema.names

    def decorate(plain):
        places, defaults = [], []
        for i, parameter in enumerate(inspect.signature(plain).parameters.values()):
            name = rename.get(parameter.name, parameter.name)
            if i < inputs:
                place = i
            elif name == "out":
                place = inputs + len(fields)
            else:
                place = inputs + fields.index(name) if name in fields else -1
            places.append(place)
            defaults.append(parameter.default)
        names = list(inspect.signature(plain).parameters)
        return front.numpy_function(
            plain,
            front.bind(record),
            names,
            places,
            defaults,
            [fixed.get(name, _Null) for name in fields],
            joins=joins,
            simple=simple,
        )

    return decorate
