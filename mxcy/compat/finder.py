"""Import finder that provides mxcy's modules under the name mxnet.

For ``mxnet`` and everything below it, the finder returns the module of mxcy itself, which Python
then also registers under the second name.
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
        """Return the spec of a module of ``mxnet``; None for others and those mxcy lacks."""
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
        """Whether a module belongs to mxcy."""
        return getattr(module, "__name__", "").partition(".")[0] == "mxcy"


def _own_name(fullname):
    """The name of the corresponding module of mxcy, or None."""
    parent, _, name = fullname.rpartition(".")
    if not parent:
        return "mxcy"
    package = importlib.import_module(parent)
    own = f"{package.__name__}.{name}"
    if importlib.util.find_spec(own) is not None:
        return own
    value = getattr(package, name, None)  # aliases: mx.nd is the module mxcy.ndarray
    return value.__name__ if isinstance(value, ModuleType) and MxnetFinder.owns(value) else None


class _Loader:
    """Loader that returns a module of mxcy instead of creating one."""

    def __init__(self, own, fullname):
        self._own, self._fullname = own, fullname
        self._spec = None

    def create_module(self, spec):
        module = importlib.import_module(self._own)
        self._spec = module.__spec__
        return module

    def exec_module(self, module):
        module.__spec__ = self._spec  # Python has just set the second name's spec
        # Register loaded submodules under their second names now: importing them by these,
        # Python would set them as attributes of the package, over functions of the same name.
        for name, loaded in list(sys.modules.items()):
            if name.startswith(f"{self._own}."):
                sys.modules.setdefault(self._fullname + name[len(self._own) :], loaded)

    def get_code(self, fullname):
        """Return the module's code, for ``python -m``."""
        return importlib.util.find_spec(self._own).loader.get_code(self._own)
