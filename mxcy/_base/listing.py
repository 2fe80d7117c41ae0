"""``dir()`` of modules: public names without those that a module merely imports."""

import sys
from collections.abc import Callable, Iterable
from types import ModuleType

__all__ = ["listing", "own_names"]


def own_names(module: str) -> set[str]:
    """The names that a module provides, without those it imports for its own use.

    These are the names in its ``__all__``, its submodules, and the functions and classes it
    defines; for a package without ``__all__`` also those that its modules define.

    Parameters
    ----------
    module : str
        The module's name.
    """
    content = dict(vars(sys.modules[module]))  # accessing lazy names may add others
    offered = content.get("__all__")
    below = f"{module}." if offered is None else None
    own = {name for name, value in content.items() if _is_own(module, below, name, value)}
    return own | set(offered or ())


def _is_own(module: str, below: str | None, name: str, value: object) -> bool:
    if name.startswith("_"):
        return True
    if isinstance(value, ModuleType):
        return value.__name__ == f"{module}.{name}"
    home = str(getattr(value, "__module__", None))
    return home == module or (below is not None and home.startswith(below))


def listing(module: str, later: Iterable[str] = ()) -> Callable[[], list[str]]:
    """Make the ``__dir__`` of a module.

    Parameters
    ----------
    module : str
        The module's name.
    later : iterable of str
        Names that are created when first requested.
    """
    return lambda: sorted({*own_names(module), *later})
