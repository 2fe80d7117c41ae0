"""Docstrings that share passages, or whose passages are generated."""

import inspect
from collections.abc import Callable, Mapping

__all__ = ["fill_docstring"]


def fill_docstring(function: Callable, passages: Mapping[str, str]) -> None:
    """Replace lines of a function's docstring by passages.

    Parameters
    ----------
    function : callable
        Under ``python -OO`` it has no docstring, and gets none.
    passages : mapping
        The line, without indentation, and the text in its place, indented as a docstring is.

    Raises
    ------
    ValueError
        When the docstring has no such line.
    """
    if function.__doc__ is None:
        return
    # Python 3.13 takes the indentation away itself, older ones leave it in.
    lines = inspect.cleandoc(function.__doc__).split("\n")
    for line, text in passages.items():
        if line not in lines:
            raise ValueError(f"the docstring of {function.__name__} has no line {line!r}")
        lines[lines.index(line)] = inspect.cleandoc(text)
    function.__doc__ = "\n".join(lines)
