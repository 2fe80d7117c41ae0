"""Operator records by family: importing the package imports its modules, which register.

Modules called ``numpy_...`` have the records of `mx.np`, and come when one is asked for.
"""

import gc
import pkgutil
from importlib import import_module

from mxcy.ops.core.record import REGISTRY


def _load(modules):
    """Import modules; records stay for good, so nobody looks for garbage among them meanwhile."""
    collects = gc.isenabled()
    gc.disable()
    try:
        for module in modules:
            import_module(module)
    finally:
        if not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()  # now they are of the oldest generation, without a look at each
        if collects:
            gc.enable()


_modules = sorted(found.name for found in pkgutil.walk_packages(__path__, f"{__name__}."))
_for_numpy = [name for name in _modules if name.rpartition(".")[2].startswith("numpy_")]
_load([name for name in _modules if name not in _for_numpy])
REGISTRY.load_rest = lambda: _load(_for_numpy)
