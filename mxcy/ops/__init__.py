"""Operator records by family: importing the package imports its modules, which register.

Modules called ``numpy_...``, which have the records of `mx.np`, and families that few programs use
come when a record of theirs is requested.
"""

import gc
from importlib import import_module
from pathlib import Path

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


_RARE = ("attention", "detection", "image")


def _listed():
    """The modules of all families, in the order of their names."""
    home = Path(__file__).parent
    for path in sorted(home.glob("*/*.py")):
        family, stem = path.parent.name, path.stem
        if family != "core":
            yield f"{__name__}.{family}" + ("" if stem == "__init__" else f".{stem}")


def _is_late(module):
    _, _, family, *stem = module.split(".")
    return family in _RARE or (stem and stem[0].startswith("numpy_"))


_modules = list(_listed())
_later = list(filter(_is_late, _modules))
_load([name for name in _modules if not _is_late(name)])
REGISTRY.load_rest = lambda: _load(_later)
