"""Operator records by family: importing the package imports its modules, which register."""

import pkgutil
from importlib import import_module

for _module in sorted(module.name for module in pkgutil.iter_modules(__path__)):
    import_module(f"mxcy.ops.{_module}")
