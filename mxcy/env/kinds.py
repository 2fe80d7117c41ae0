"""Types of variables: descriptions of accepted values, and parsers that raise ValueError."""

import math
import os
import re
from collections.abc import Callable
from typing import Any

__all__ = [
    "Kind",
    "address",
    "anything",
    "count",
    "flag",
    "integer",
    "integers",
    "links",
    "number",
    "one_of",
    "path",
    "spins",
    "team",
    "tuned",
    "waiting",
    "words",
]


class Kind:
    """A type of variables.

    Attributes
    ----------
    accepts : str
        Description of accepted values, to follow "expected".
    parse : callable
        Converts a str to a value; raises ValueError or KeyError if it is invalid.
    """

    def __init__(self, accepts: str, parse: Callable[[str], Any]):
        self.accepts, self.parse = accepts, parse


def _parse_flag(text: str) -> bool:
    return {"0": False, "1": True, "false": False, "true": True}[text.strip().lower()]


def _parse_int(text: str) -> int:
    if not re.fullmatch(r"[+-]?[0-9]+", text.strip()):
        raise ValueError(text)
    return int(text)


flag = Kind("0, 1, true or false", _parse_flag)
path = Kind("a path", os.path.expanduser)
address = Kind("an address or a folder", str)
anything = Kind("any text", str)


def _range(low: int, high: int | None) -> str:
    return f"an integer, {low} or more" if high is None else f"{low} to {high}"


def _bounded(value: Any, low: Any, high: Any) -> Any:
    if value < low or (high is not None and value > high):
        raise ValueError(value)
    return value


def integer(low: int, high: int | None = None) -> Kind:
    """Integers from `low` to `high`, inclusive."""
    return Kind(_range(low, high), lambda text: _bounded(_parse_int(text), low, high))


def count(low: int) -> Kind:
    """Integers of at least `low`, which may be written like ``1e6``."""

    def parse(text: str) -> int:
        if re.fullmatch(r"\s*\+?[0-9]+[eE]\+?[0-9]{1,2}\s*", text):
            digits, _, exponent = text.strip().lower().partition("e")
            return int(_bounded(int(digits) * 10 ** int(exponent), low, None))
        return int(_bounded(_parse_int(text), low, None))

    return Kind(f"an integer, {low} or more, such as 1000000 or 1e6", parse)


def number(low: float, high: float | None = None, open_low: bool = False) -> Kind:
    """Numbers from `low` (exclusive with `open_low`) to `high`, inclusive."""

    def parse(text: str) -> float:
        value = float(text)
        if math.isnan(value) or (open_low and value == low):
            raise ValueError(text)
        return float(_bounded(value, low, high))

    above = f"above {low:g}" if open_low else f"from {low:g} on"
    return Kind(f"a number {above}" + ("" if high is None else f", at most {high:g}"), parse)


def integers(low: int) -> Kind:
    """A comma-separated list of integers of at least `low`, as a tuple."""

    def parse(text: str) -> tuple[int, ...]:
        return tuple(_bounded(_parse_int(part), low, None) for part in text.split(","))

    return Kind(f"a comma list of integers, {low} or more", parse)


def one_of(*choices: str) -> Kind:
    """One of several words."""
    return Kind("one of " + ", ".join(choices), lambda text: choices[choices.index(text)])


def words(*choices: str) -> Kind:
    """A comma-separated list of words, as a frozenset."""

    def parse(text: str) -> frozenset[str]:
        return frozenset(choices[choices.index(word.strip())] for word in text.split(","))

    return Kind("a comma list of " + ", ".join(choices), parse)


def _parse_team(text: str) -> int:
    """Parse the outermost level of OpenMP's list of team sizes."""
    sizes = [_parse_int(part) for part in text.split(",")]
    if min(sizes) < 1:
        raise ValueError(text)
    return sizes[0]


team = Kind("an integer, 1 or more, or a comma list of them", _parse_team)
waiting = Kind(
    "active or passive", lambda text: {"active": 1, "passive": 0}[text.strip().lower()] and text
)
spins = Kind("a number, which may end in k or M, or infinite", str)


def _parse_tuned(text: str) -> bool | frozenset[str]:
    try:
        return _parse_flag(text)
    except KeyError:
        return frozenset(word.strip() for word in text.split(",") if word.strip())


tuned = Kind("0, 1 or a comma list of element types", _parse_tuned)


def _parse_links(text: str) -> list[list[int]]:
    rows = [[int(digit) for digit in row] for row in text.split()]
    columns = [list(column) for column in zip(*rows, strict=True)]
    if rows != columns or any(row[i] for i, row in enumerate(rows)):
        raise ValueError(text)
    return rows


links = Kind(
    "rows of a symmetric matrix, a digit per device: 0 for itself, 1 through the host, more for "
    "faster links",
    _parse_links,
)
