"""Names that MXNet has in one module and mxcy defines in another.

Programs import them from MXNet's module, and pickles written by MXNet refer to it.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from mxcy._base.suggestions import no_attribute

__all__ = ["offer"]


def offer(
    module: str, package: str | tuple[str, ...], names: tuple[str, ...] | None = None
) -> Callable[[str], Any]:
    """Make a module's ``__getattr__`` that forwards names to one or more packages.

    Parameters
    ----------
    module : str
        The module's name, for messages.
    package : str or tuple of str
        The packages that define the names.
    names : tuple of str, optional
        The names to forward, by default all.

    Returns
    -------
    callable
        The module's ``__getattr__``.
    """
    packages = (package,) if isinstance(package, str) else package

    def find(name: str) -> Any:
        for source in map(import_module, packages):
            if name in (source.__all__ if names is None else names):
                return getattr(source, name)
        raise no_attribute(module, name)

    return find
