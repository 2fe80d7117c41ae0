"""Arithmetic between arrays and numbers: what the operators of NDArrayBase run."""

from mxcy._ctypes.invoke import bind, invoke
from mxcy._ctypes.ndarray import NDArrayBase, plug_arithmetic
from mxcy._ctypes.services import services

__all__ = ["set_operators"]

_handles = []


def set_operators(table):
    """Tell the operators behind +, -, *, ...; see `_cy/arithmetic.pyx`."""
    _handles[:] = [tuple(map(bind, row)) for row in table]


def _arithmetic(operation, lhs, rhs):
    both, number, number_first = _handles[operation]
    if isinstance(lhs, NDArrayBase):
        if isinstance(rhs, NDArrayBase):
            return invoke(both.known_variant(both.absent), (lhs, rhs), (), None)
        if type(rhs) in (float, int):
            return invoke(number.known_variant(number.absent), (lhs,), (float(rhs),), None)
    elif type(lhs) in (float, int):
        return invoke(number_first.known_variant(number_first.absent), (rhs,), (float(lhs),), None)
    return services.unusual_operands(operation, lhs, rhs)


plug_arithmetic(_arithmetic)
