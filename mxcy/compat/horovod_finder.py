"""Import finder that provides `mxcy.horovod` as ``horovod.mxnet`` if no horovod is installed."""

import importlib
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["HorovodFinder"]


class HorovodFinder:
    """Finder for the end of `sys.meta_path`: an installed horovod takes precedence."""

    def find_spec(self, fullname, path=None, target=None):
        """Return the spec of ``horovod`` or ``horovod.mxnet``; None for others."""
        if fullname not in ("horovod", "horovod.mxnet"):
            return None
        return ModuleSpec(fullname, self, is_package=fullname == "horovod")

    def create_module(self, spec):
        """The module."""
        if spec.name == "horovod":
            return ModuleType("horovod", __doc__)
        module = importlib.import_module("mxcy.horovod")
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module):
        """Execute nothing; `mxcy.horovod` keeps its name."""
        if module.__spec__.loader_state is not None:
            module.__spec__ = module.__spec__.loader_state
