"""Finds modules of mxcy under the name mxnet.

Python's import asks finders for a module it has not got. This one answers for ``mxnet`` and
whatever is below it with the module of mxcy itself, which Python then enters under the second name
as well.
"""

import importlib
import importlib.util
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["MxnetFinder"]


class MxnetFinder:
    """Finder for `sys.meta_path`."""

    def find_spec(self, fullname, path=None, target=None):
        """Tell how to import a module of ``mxnet``; None for all others and those mxcy lacks."""
        if fullname.partition(".")[0] != "mxnet":
            return None
        own = _own_name(fullname)
        if own is None:
            return None
        original = importlib.util.find_spec(own)
        spec = ModuleSpec(fullname, _Loader(own, fullname), origin=original.origin)
        spec.has_location = original.has_location
        spec.submodule_search_locations = original.submodule_search_locations
        return spec

    @staticmethod
    def owns(module):
        """Whether a module is mxcy's."""
        return getattr(module, "__name__", "").partition(".")[0] == "mxcy"


def _own_name(fullname):
    """The name of the module of mxcy that is meant, or None."""
    parent, _, name = fullname.rpartition(".")
    if not parent:
        return "mxcy"
    package = importlib.import_module(parent)
    own = f"{package.__name__}.{name}"
    if importlib.util.find_spec(own) is not None:
        return own
    value = getattr(package, name, None)  # short names: mx.nd is the module mxcy.ndarray
    return value.__name__ if isinstance(value, ModuleType) and MxnetFinder.owns(value) else None


class _Loader:
    """Hands out a module of mxcy instead of making one."""

    def __init__(self, own, fullname):
        self._own, self._fullname = own, fullname
        self._spec = None

    def create_module(self, spec):
        module = importlib.import_module(self._own)
        self._spec = module.__spec__
        return module

    def exec_module(self, module):
        module.__spec__ = self._spec  # Python has just put the second name's there
        # What is loaded already gets its second name now. Were it imported by that name, Python
        # would make it an attribute of its package again, in place of a function called like it.
        for name, loaded in list(sys.modules.items()):
            if name.startswith(f"{self._own}."):
                sys.modules.setdefault(self._fullname + name[len(self._own) :], loaded)

    def get_code(self, fullname):
        """The module's code, for ``python -m``."""
        return importlib.util.find_spec(self._own).loader.get_code(self._own)
