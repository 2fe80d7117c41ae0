"""Arithmetic between arrays and numbers: what the operators of NDArrayBase run."""

from mxcy._ctypes.invoke import invoke
from mxcy._ctypes.ndarray import NDArrayBase, Operations, class_of, in_numpy
from mxcy._ctypes.services import services
from mxcy._ctypes.variants import bind

__all__ = ["numpy_arithmetic", "numpy_operator", "set_operators", "use_numpy"]

_handles = []
_numpy_handles, _unusual = [], []
_MOST_EXACT = 1 << 53  # the largest integer up to which doubles are exact


def set_operators(table):
    """Set the operators of +, -, *, ...; see `_cy/arithmetic.pyx`."""
    _handles[:] = [tuple(map(bind, row)) for row in table]


def use_numpy(cls, table, unusual, store):
    """Tell what arrays of `mx.np` do; see `_cy/arithmetic.pyx`."""
    _numpy_handles[:] = [tuple(map(bind, row)) for row in table]
    _unusual[:] = [unusual]
    in_numpy.cls, in_numpy.store = cls, store


def _is_number(value):
    """Whether a value is a float, or an int exactly representable as a double."""
    return type(value) is float or (type(value) is int and -_MOST_EXACT <= value <= _MOST_EXACT)


def with_number(handle, array, number, out):
    """Call an operator of an array and a number."""
    variant = handle.known_variant((number, type(number) is int))
    return invoke(variant, (array,), (float(number),), out, in_numpy.cls)


def numpy_arithmetic(operation, lhs, rhs):
    """Apply an operator, given by its number, to arrays of `mx.np`."""
    both, number, number_first = _numpy_handles[operation]
    if isinstance(lhs, NDArrayBase):
        if isinstance(rhs, NDArrayBase):
            return invoke(both.known_variant(both.absent), (lhs, rhs), (), None, in_numpy.cls)
        if _is_number(rhs):
            return with_number(number, lhs, rhs, None)
    elif _is_number(lhs):
        return with_number(number_first, rhs, lhs, None)
    return _unusual[0](operation, lhs, rhs)


def numpy_operator(operation, reflected=False):
    """Make a method for `numpy_arithmetic` with an operator's number."""
    if reflected:
        return lambda array, other: numpy_arithmetic(operation, other, array)
    return lambda array, other: numpy_arithmetic(operation, array, other)


def _arithmetic(operation, lhs, rhs):
    if in_numpy.cls is not None and in_numpy.cls in (class_of(lhs), class_of(rhs)):
        return numpy_arithmetic(operation, lhs, rhs)
    both, number, number_first = _handles[operation]
    if isinstance(lhs, NDArrayBase):
        if isinstance(rhs, NDArrayBase):
            return invoke(both.known_variant(both.absent), (lhs, rhs), (), None)
        if type(rhs) in (float, int):
            return invoke(number.known_variant(number.absent), (lhs,), (float(rhs),), None)
    elif type(lhs) in (float, int):
        return invoke(number_first.known_variant(number_first.absent), (rhs,), (float(lhs),), None)
    return services.unusual_operands(operation, lhs, rhs)


Operations.calculate = staticmethod(_arithmetic)
