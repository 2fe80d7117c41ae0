"""Functions in Python of which usual calls go to an operator without running them."""

import inspect

from mxcy._library import front
from mxcy.base import _Null
from mxcy.ops.core.record import find

__all__ = ["direct"]


def direct(operator, rename=None, joins=0, simple=True, **fixed):
    """Decorate a function that does, for arrays, what an operator does.

    Calls with arrays and plain values that the operator knows of do not run the function. What the
    operator lacks has to keep its default.

    Parameters
    ----------
    operator : str
        Its registered name.
    rename : dict of str to str, optional
        Parameters of the function whose attributes have other names; "" for those without.
    joins : int
        1: the first parameter is a sequence of arrays of one type, 2: and of one shape.
    simple : bool
        Whether arrays without dimensions or elements always run the function.
    **fixed
        Values of attributes where calls do not give them.
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
