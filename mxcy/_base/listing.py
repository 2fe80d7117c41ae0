"""What completion shows of a module: what it offers, and not what it imports."""

import sys
from collections.abc import Callable, Iterable
from types import ModuleType

__all__ = ["listing", "own_names"]


def own_names(module: str) -> set[str]:
    """The names that a module offers: what it imports for itself is left out.

    These are the names of its ``__all__``, its submodules, and the functions and classes that it
    defines itself; of a package without ``__all__`` also those that its modules define.

    Parameters
    ----------
    module : str
        The module's name.
    """
    content = dict(vars(sys.modules[module]))  # looking at lazy ones may add others
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
        Names that exist once they are requested.
    """
    return lambda: sorted({*own_names(module), *later})
