"""Callbacks for the first import of another library."""

import importlib.util
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

__all__ = ["when_imported"]


class _Finder:
    """Meta path finder that calls a function after one module was first executed."""

    def __init__(self, name: str, then: Callable[[ModuleType], object]) -> None:
        self.name, self.then = name, then

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                run(module)
                self.then(module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def when_imported(name: str, then: Callable[[ModuleType], object]) -> None:
    """Call a function with a module: at once if it is imported, else upon its import.

    Parameters
    ----------
    name : str
    then : callable
        Called once, even if registered again before the import.
    """
    module = sys.modules.get(name)
    if module is not None:
        then(module)
        return
    for finder in sys.meta_path:
        if isinstance(finder, _Finder) and (finder.name, finder.then) == (name, then):
            return
    sys.meta_path.insert(0, _Finder(name, then))
