"""Operator records by family: importing the package imports its modules, which register."""

import pkgutil
from importlib import import_module

for _module in sorted(module.name for module in pkgutil.walk_packages(__path__, f"{__name__}.")):
    import_module(_module)
