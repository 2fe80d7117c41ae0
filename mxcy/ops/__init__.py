"""Operator records by family. Importing the package imports all its modules, which registers them."""

import pkgutil
from importlib import import_module

for _module in sorted(module.name for module in pkgutil.iter_modules(__path__)):
    import_module(f"mxcy.ops.{_module}")
