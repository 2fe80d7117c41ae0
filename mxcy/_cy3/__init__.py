"""The name that MXNet's documentation gives the Cython modules: these are those of `mxcy._cy`."""

import importlib
import pkgutil
import sys

from mxcy import _cy

for _module in pkgutil.walk_packages(_cy.__path__, f"{_cy.__name__}."):
    _name = _module.name.removeprefix(f"{_cy.__name__}.")
    sys.modules[f"{__name__}.{_name}"] = importlib.import_module(_module.name)
    if "." not in _name:
        globals()[_name] = sys.modules[_module.name]
