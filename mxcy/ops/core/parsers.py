"""Parsers that validate and normalise attribute values."""

import ast
import ctypes
import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = [
    "boolean",
    "extent",
    "int32",
    "int64",
    "integer",
    "literal",
    "number",
    "or_none",
    "real",
    "saturated",
    "single",
    "shape",
    "text",
    "tuple_of",
    "uint32",
    "uint64",
]


def literal(value: Any) -> Any:
    """Evaluate a str as a Python literal, and a 0-d array as its number."""
    if not isinstance(value, str):
        return value.item() if getattr(value, "shape", None) == () else value
    try:
        return ast.literal_eval(value.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise ValueError("cannot parse it") from None


def integer(low: int, high: int, wanted: str = "an integer") -> Callable[[Any], int]:
    """Make a parser of integers from `low` to `high`, inclusive."""

    def parse(value: Any) -> int:
        """Parse an integer within the bounds."""
        if type(value) is not int:  # by far the most frequent type
            value = literal(value)
            if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
                raise TypeError("expected an integer")
            value = int(value)
        if low <= value <= high:
            return value
        raise ValueError(f"expected {wanted} from {low} to {high}")

    return parse


_INT32, _INT64 = (1 << 31) - 1, (1 << 63) - 1
int32, int64 = integer(-_INT32 - 1, _INT32), integer(-_INT64 - 1, _INT64)
uint32 = integer(0, (1 << 32) - 1, "a non-negative integer")
uint64 = integer(0, (1 << 64) - 1, "a non-negative integer")


def real(value: Any) -> float:
    """Parse a float, including ``"inf"`` and ``"nan"``."""
    if isinstance(value, str) and value.strip().lstrip("+-").lower() in ("inf", "nan", "infinity"):
        return float(value)
    value = literal(value)
    if isinstance(value, (bool, np.bool_)):
        return float(value)
    if isinstance(value, numbers.Real):
        return float(value)
    raise TypeError("expected a number")


def single(value: Any) -> float:
    """Parse a number rounded to float32, infinite if out of range."""
    return ctypes.c_float(real(value)).value


def saturated(value: Any) -> int:
    """Parse a diagonal's index, saturated beyond the size of any matrix."""
    value = literal(value)
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        value = max(-_INT32, min(int(value), _INT32))
    return int32(value)


def number(value: Any) -> int | float:
    """Parse a number, keeping integers as int, as in MXNet's files."""
    value = real(value)
    return int(value) if value.is_integer() else value


def boolean(value: Any) -> bool:
    """Parse a bool, also given as str, 0 or 1."""
    if value is True or value is False:
        return value
    if isinstance(value, str):
        lowered = value.strip().lower()
        if lowered in ("true", "1"):
            return True
        if lowered in ("false", "0"):
            return False
    elif isinstance(value, (bool, np.bool_)):
        return bool(value)
    elif isinstance(value, numbers.Integral) and value in (0, 1):
        return bool(value)
    raise TypeError("expected True, False, 1 or 0")


def text(value: Any) -> str:
    """Convert any value to str."""
    if value is None:
        return "None"
    return str(value)


def tuple_of(parse: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, ...]]:
    """Make a parser of sequences with elements for `parse`; a single value is a 1-tuple."""

    def parse_tuple(value: Any) -> tuple[Any, ...]:
        """Parse a sequence to a tuple."""
        if type(value) is tuple:
            return tuple([parse(v) for v in value])
        value = literal(value)
        if isinstance(value, (tuple, list, np.ndarray)):
            return tuple(parse(v) for v in value)
        return (parse(value),)

    return parse_tuple


def or_none(parse: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Make a parser that also accepts None."""
    return lambda value: None if value is None or value == "None" else parse(value)


def extent(value: Any) -> int:
    """Parse a dimension; None means unknown, -1."""
    return -1 if value is None or value == "None" else int64(value)


#: parser of shapes
shape = tuple_of(extent)
