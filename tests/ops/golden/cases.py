"""All cases by name, ``family/function/case``: those of every module here that has a FAMILY."""

from importlib import import_module
from pathlib import Path

_NAMES = sorted(path.stem for path in Path(__file__).parent.glob("*.py"))
_MODULES = {
    name: import_module(f"{__package__}.{name}")
    for name in _NAMES
    if name not in ("case", "cases", "make")
}

ALL = {
    f"{family}/{function.__name__}/{name}": case
    for family, module in _MODULES.items()
    for function in module.FAMILY
    for name, case in function()
}
