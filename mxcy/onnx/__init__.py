"""Export to and import from ONNX.

The package `onnx` is optional (``pip install 'mxcy[onnx]'``), and imported when first needed.
"""

from importlib import import_module

from mxcy._base.listing import listing
from mxcy._base.suggestions import no_attribute

__all__ = ["export_model", "get_operator_support"]

#: name -> its module (or the module itself), imported on first access
_LATER = {
    "export_model": "mxcy.onnx.mx2onnx",
    "get_operator_support": "mxcy.onnx.mx2onnx",
    "mx2onnx": "mxcy.onnx.mx2onnx",
}


def __getattr__(name):
    if name not in _LATER:
        raise no_attribute(__name__, name)
    module = import_module(_LATER[name])
    value = module if module.__name__.endswith(f".{name}") else getattr(module, name)
    globals()[name] = value
    return value


__dir__ = listing(__name__, _LATER)
