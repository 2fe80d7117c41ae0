"""Names that MXNet offers in a module, though they are made in its neighbours here.

Programs import them from there, and pickles that MXNet has written name them so.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from mxcy._base.suggestions import no_attribute

__all__ = ["offer"]


def offer(
    module: str, package: str | tuple[str, ...], names: tuple[str, ...] | None = None
) -> Callable[[str], Any]:
    """Make the function that finds a module's further names in a package, or in several.

    Parameters
    ----------
    module : str
        The module's name, for messages.
    package : str or tuple of str
        Where the names are public.
    names : tuple of str, optional
        Which of them; all by default.

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
