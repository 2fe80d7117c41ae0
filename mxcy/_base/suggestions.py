"""Spelling suggestions for error messages about unknown names."""

import sys
from collections.abc import Callable, Iterable
from typing import NoReturn

__all__ = ["did_you_mean", "kind_of", "module_getattr", "nearest", "no_attribute"]


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name with the smallest edit distance from `name`; None if none is close.

    For a long prefix it is the shortest name that continues it. Names with a leading underscore
    are suggested only for names that have one.
    """
    from difflib import get_close_matches  # slow to import and rarely needed

    names: dict[str, list[str]] = {}
    for candidate in known:
        if candidate.startswith("_") <= name.startswith("_"):
            names.setdefault(candidate.lower(), []).append(candidate)
    longer = [lower for lower in names if lower.startswith(name.lower() + "_")]
    if len(name) >= 8 and name.lower() not in names and longer:
        return names[min(longer, key=len)][0]
    alike = get_close_matches(name.lower(), names, n=5)
    candidates = [candidate for lower in alike for candidate in names[lower]]
    slips = [(_slips(name.lower(), c.lower()), _slips(name, c)) for c in candidates]
    if not slips or min(slips)[0] > max(2, len(name) // 2):
        return None
    return candidates[slips.index(min(slips))]


def _slips(a: str, b: str) -> int:
    """The edit distance: letters inserted, deleted, replaced or swapped with the next one."""
    before, row = [0] * (len(b) + 1), list(range(len(b) + 1))
    for i, letter in enumerate(a):
        earlier, before, row = before, row, [i + 1]
        for j, other in enumerate(b):
            least = min(before[j] + (letter != other), before[j + 1] + 1, row[j] + 1)
            if i and j and a[i - 1] == other and letter == b[j - 1]:
                least = min(least, earlier[j - 1] + 1)
            row.append(least)
    return row[-1]


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """The suffix of an error about an unknown name: ``"; did you mean 'adam'?"`` or ``""``."""
    near = nearest(name, known) if isinstance(name, str) else None
    return f"; did you mean {near!r}?" if near else ""


def kind_of(value: object) -> str:
    """The name of a value's type in messages, with its module where that is not Python's own."""
    kind = type(value)
    return f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")


class _NoAttribute(AttributeError):
    """An AttributeError that searches for the nearest name only when shown: ``hasattr`` stays fast.

    Tracebacks and pickles present it as a plain AttributeError.
    """

    module: str
    sibling: str | None
    instead: str | None

    def __str__(self) -> str:
        text, sibling = super().__str__(), sys.modules.get(self.sibling or "")
        if self.instead:
            return f"{text}; {self.instead}"
        if sibling is not None and self.name in dir(sibling):
            return f"{text}; {self.sibling} has it"
        return f"{text}{did_you_mean(self.name, dir(sys.modules.get(self.module)))}"

    def __reduce__(self) -> tuple[type[AttributeError], tuple[str]]:
        return AttributeError, (str(self),)


_NoAttribute.__name__ = _NoAttribute.__qualname__ = "AttributeError"
_NoAttribute.__module__ = "builtins"


def no_attribute(
    module: str, name: str, sibling: str | None = None, instead: str | None = None
) -> AttributeError:
    """Make the error of a module's ``__getattr__``, suggesting a name in ``dir(module)``.

    Parameters
    ----------
    module : str
        The module's name.
    name : str
        The missing attribute.
    sibling : str, optional
        A module to point to if it has this name.
    instead : str, optional
        Advice to give instead of a suggestion.
    """
    # Python would add a hint of its own if it knew the object.
    error = _NoAttribute(f"module {module!r} has no attribute {name!r}", name=name, obj=None)
    error.module, error.sibling, error.instead = module, sibling, instead
    return error


def module_getattr(module: str) -> Callable[[str], NoReturn]:
    """Make a module's ``__getattr__`` that only raises an error with a suggestion.

    Parameters
    ----------
    module : str
        The module's name.
    """

    def refuse(name: str) -> NoReturn:
        raise no_attribute(module, name)

    return refuse
