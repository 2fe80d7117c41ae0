"""ONNX under MXNet 1.x's module path; see `mxcy.onnx`."""

from importlib import import_module

from mxcy._base.listing import listing
from mxcy._base.suggestions import no_attribute

__all__ = ["export_model", "get_model_metadata", "import_model", "import_to_gluon"]

#: submodule -> its module, imported on first access
_MODULES = {"mx2onnx": "mxcy.onnx.mx2onnx", "onnx2mx": "mxcy.contrib.onnx.onnx2mx"}


def __getattr__(name):
    if name in _MODULES:
        value = import_module(_MODULES[name])
    elif name in __all__:
        value = getattr(import_module("mxcy.onnx"), name)
    else:
        raise no_attribute(__name__, name)
    globals()[name] = value
    return value


__dir__ = listing(__name__, _MODULES)
