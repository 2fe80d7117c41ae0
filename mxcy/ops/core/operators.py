"""Operators of Python's ``+ - * / % ** == != > >= < <=``, in the order of the fronts' numbering.

Used by arrays, graph values and symbols.
"""

__all__ = ["TABLE", "METHODS"]

#: records for (array, array), (array, scalar), (scalar, array)
TABLE = (
    ("broadcast_add", "_plus_scalar", "_plus_scalar"),
    ("broadcast_sub", "_minus_scalar", "_rminus_scalar"),
    ("broadcast_mul", "_mul_scalar", "_mul_scalar"),
    ("broadcast_div", "_div_scalar", "_rdiv_scalar"),
    ("broadcast_mod", "_mod_scalar", "_rmod_scalar"),
    ("broadcast_power", "_power_scalar", "_rpower_scalar"),
    ("broadcast_equal", "_equal_scalar", "_equal_scalar"),
    ("broadcast_not_equal", "_not_equal_scalar", "_not_equal_scalar"),
    ("broadcast_greater", "_greater_scalar", "_lesser_scalar"),
    ("broadcast_greater_equal", "_greater_equal_scalar", "_lesser_equal_scalar"),
    ("broadcast_lesser", "_lesser_scalar", "_greater_scalar"),
    ("broadcast_lesser_equal", "_lesser_equal_scalar", "_greater_equal_scalar"),
)

#: special methods of the same operations: (normal, reflected or None)
METHODS = (
    ("__add__", "__radd__"),
    ("__sub__", "__rsub__"),
    ("__mul__", "__rmul__"),
    ("__truediv__", "__rtruediv__"),
    ("__mod__", "__rmod__"),
    ("__pow__", "__rpow__"),
    ("__eq__", None),
    ("__ne__", None),
    ("__gt__", None),
    ("__ge__", None),
    ("__lt__", None),
    ("__le__", None),
)
