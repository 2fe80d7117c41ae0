"""Finds ``horovod.mxnet`` where no horovod is installed: it is `mxcy.horovod`."""

import importlib
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["HorovodFinder"]


class HorovodFinder:
    """Finder for the end of `sys.meta_path`: a horovod that is installed comes first."""

    def find_spec(self, fullname, path=None, target=None):
        """Tell how to import ``horovod`` and ``horovod.mxnet``; None for all others."""
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
        """Nothing is to be run; `mxcy.horovod` keeps the name that it had."""
        if module.__spec__.loader_state is not None:
            module.__spec__ = module.__spec__.loader_state
