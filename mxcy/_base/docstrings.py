"""Docstrings with shared or generated passages."""

import inspect
from collections.abc import Callable, Mapping

__all__ = ["fill_docstring"]


def fill_docstring(function: Callable, passages: Mapping[str, str]) -> None:
    """Replace placeholder lines of a function's docstring with passages.

    Parameters
    ----------
    function : callable
        Left alone if it has no docstring (``python -OO``).
    passages : mapping
        Placeholder line, without indentation -> its replacement, indented like a docstring.

    Raises
    ------
    ValueError
        When the docstring has no such line.
    """
    if function.__doc__ is None:
        return
    # Python 3.13 strips the indentation of docstrings, older ones keep it.
    lines = inspect.cleandoc(function.__doc__).split("\n")
    for line, text in passages.items():
        if line not in lines:
            raise ValueError(f"the docstring of {function.__name__} has no line {line!r}")
        lines[lines.index(line)] = inspect.cleandoc(text)
    function.__doc__ = "\n".join(lines)
