"""Operator records by family; importing the package imports and registers them.

Modules named ``numpy_...``, with the records of `mx.np`, and rarely used families are loaded when
one of their records is requested.
"""

import gc
from importlib import import_module
from pathlib import Path

from mxcy.ops.core.record import REGISTRY


def _load(modules):
    """Import modules with garbage collection off, as records are never freed."""
    collects = gc.isenabled()
    gc.disable()
    try:
        for module in modules:
            import_module(module)
    finally:
        if not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()  # moves records to the permanent generation unscanned
        if collects:
            gc.enable()


_RARE = ("attention", "detection", "image")


def _listed():
    """Return the modules of all families, sorted by name."""
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
