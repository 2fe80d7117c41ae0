"""Deprecation of mxcy's own names and arguments, under the policy of `docs/releases.md`.

A deprecated name keeps working, warns naming its replacement, and is documented as deprecated.
"""

import functools
import inspect
import re
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["deprecated", "renamed_argument"]

Kind = TypeVar("Kind", bound=Callable[..., Any])


def deprecated(since: str, instead: str) -> Callable[[Kind], Kind]:
    """Decorate a function or class to warn when it is called.

    Parameters
    ----------
    since : str
        The release that deprecated it, such as ``"0.3.0"``.
    instead : str
        The replacement as programs write it: ``"mx.nd.exp"``.

    Returns
    -------
    callable
        A decorator.
    """
    _check_version(since)

    def decorate(kind: Kind) -> Kind:
        text = f"{kind.__qualname__} is deprecated since mxcy {since}: use {instead}"
        if inspect.isclass(kind):
            initialize = kind.__init__  # type: ignore[misc]

            @functools.wraps(initialize)
            def init(self: Any, *args: Any, **kwargs: Any) -> None:
                if type(self) is kind:  # a subclass's users cannot change its base
                    warnings.warn(text, DeprecationWarning, stacklevel=2)
                initialize(self, *args, **kwargs)

            setattr(kind, "__init__", init)  # noqa: B010 - mypy refuses to assign to it
            kind.__doc__ = _with_note(kind.__doc__, since, f"Use {instead}.")
            return kind

        @functools.wraps(kind)
        def call(*args: Any, **kwargs: Any) -> Any:
            warnings.warn(text, DeprecationWarning, stacklevel=2)
            return kind(*args, **kwargs)

        call.__doc__ = _with_note(kind.__doc__, since, f"Use {instead}.")
        return call  # type: ignore[return-value]

    return decorate


def renamed_argument(since: str, old: str, new: str) -> Callable[[Kind], Kind]:
    """Decorate a function to accept an argument under its former name, with a warning.

    Parameters
    ----------
    since : str
        The release that renamed it.
    old, new : str
        The former and the current name; the function has only the latter.

    Returns
    -------
    callable
        A decorator.

    Raises
    ------
    TypeError
        When the function lacks an argument named `new` or still has one named `old`; calls raise
        it when both are passed.
    """
    _check_version(since)

    def decorate(function: Kind) -> Kind:
        parameters = inspect.signature(function).parameters
        if new not in parameters or old in parameters:
            raise TypeError(f"{function.__qualname__}: expected an argument {new!r} and no {old!r}")
        where = f"{function.__qualname__}: argument {old!r}"

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if old in kwargs:
                if new in kwargs:
                    raise TypeError(f"{where} is the former name of {new!r}, which was also passed")
                text = f"{where} is deprecated since mxcy {since}: use {new!r}"
                warnings.warn(text, DeprecationWarning, stacklevel=2)
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return call  # type: ignore[return-value]

    return decorate


def _check_version(since: str) -> None:
    if not re.fullmatch(r"\d+\.\d+\.0", since):
        raise ValueError(f"since: expected a minor release such as '0.3.0', got {since!r}")


def _with_note(doc: str | None, since: str, text: str) -> str:
    """Insert numpydoc's deprecation note after a docstring's first paragraph."""
    lines = inspect.cleandoc(doc or "").split("\n\n", 1)
    note = f".. deprecated:: {since}\n   {text}"
    return "\n\n".join([lines[0], note, *lines[1:]]).strip()
